"""Loop-invariant code motion of what C compilers leave in loops in lanes: calls of mathematical functions, and choices.

    for j in range(n):  # simd                          c = cos(a[i])
        o[i, j] = cos(a[i]) * cos(a[j])       ->        for j in range(n):  # simd
                                                            o[i, j] = c * cos(a[j])

A C compiler moves the call, but leaves what follows it, the bounds of a cosine, as a condition in the loop that vectors
have no form of (gcc 12), and then makes no lanes. So it is with the row that a select chooses:

    for j in range(n):  # simd                              row = i - 1 if i >= 1 else m - 1
        o[i, j] = a[i - 1 if i >= 1 else m - 1, j]    ->    for j in range(n):  # simd
                                                                o[i, j] = a[row, j]

Requires: modes are chosen. Does not handle: calls in loops with inner loops; elements that are read under conditions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.intrinsics import VECTOR_FUNCTIONS
from appyc.ir.invariance import changed_in
from appyc.ir.names import NameSupply
from appyc.ir.raising import may_leave, may_raise
from appyc.ir.visit import arrays_written, loops_of, map_loops, map_operands, walk
from appyc.passes.node_builders import if_it_runs, with_private
from appyc.passes.pass_context import PassContext


def hoist_invariants(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with such calls and selects before the loops."""
    names = NameSupply.after(fn)
    made: set[ir.Symbol] = set()

    def rule(loop: ir.For) -> ir.For | tuple[ir.Stmt, ...]:
        loop = with_private(loop, made)
        if loop.mode is ir.LoopMode.SEQUENTIAL or len(loops_of(loop)) > 1:
            return loop
        changing = {loop.var, *changed_in(loop.body), *arrays_written(loop.body)}
        values: dict[ir.Expr, ir.Symbol] = {}

        def expression(e: ir.Expr, is_certain: bool) -> ir.Expr:
            nodes = list(walk(e))
            if (
                any(_stays(n) for n in nodes)
                and not changing & {s for n in nodes if (s := _read(n)) is not None}
                and not may_raise(nodes)
                and (is_certain or not any(isinstance(n, ir.Load) for n in nodes))
            ):
                if e not in values:
                    values[e] = names.fresh("ahead", e.dtype)
                return ir.Var(values[e], loc=e.loc)
            is_lazy = isinstance(e, ir.Select | ir.Logical)
            return map_operands(e, lambda operand: expression(operand, is_certain and not is_lazy))

        def block(body: tuple[ir.Stmt, ...], is_certain: bool) -> tuple[ir.Stmt, ...]:
            out = list[ir.Stmt]()
            for stmt in body:
                new = map_blocks(stmt, lambda inner: block(inner, False))
                out.append(map_operands(new, partial(expression, is_certain=is_certain)))
                is_certain &= not may_leave(stmt)
            return tuple(out)

        new = replace(loop, body=block(loop.body, True))
        if not values:
            return loop
        made.update(values.values())
        ahead = tuple(ir.Assign(symbol, e, loc=e.loc) for e, symbol in values.items())
        return if_it_runs(loop, ahead), new

    return map_loops(fn, rule)


def _stays(node: ir.Node) -> bool:
    """Whether C compilers do not move a loop-invariant expression with such a node."""
    return isinstance(node, ir.Select) or (isinstance(node, ir.Intrinsic) and node.name in VECTOR_FUNCTIONS)


def _read(node: ir.Node) -> ir.Symbol | None:
    """The scalar or the array that a node reads itself."""
    match node:
        case ir.Var(symbol=symbol):
            return symbol
        case ir.Load(array=array) | ir.Extent(array=array):
            return array
        case _:
            return None
