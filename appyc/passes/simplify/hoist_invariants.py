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

`hoist_loads` moves the loads of loops that become lanes, where only the active lanes would execute them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.intrinsics import VECTOR_FUNCTIONS
from appyc.ir.invariance import changed_in, evaluated_always
from appyc.ir.names import NameSupply
from appyc.ir.raising import may_leave, may_raise
from appyc.ir.visit import (
    arrays_written,
    loops_of,
    map_loops,
    map_operands,
    scalars_read,
    scalars_written,
    walk,
)
from appyc.passes.node_builders import has_iterations, with_private
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

        def name_of(e: ir.Expr, is_certain: bool) -> str | None:
            nodes = list(walk(e))
            is_wanted = (
                any(_stays(n) for n in nodes)
                and not changing & {s for n in nodes if (s := _read(n)) is not None}
                and not may_raise(nodes)
                and (is_certain or not any(isinstance(n, ir.Load) for n in nodes))
            )
            return "ahead" if is_wanted else None

        *ahead, new = _hoisted(loop, name_of, names)
        made.update(scalars_written(ahead))
        return (*ahead, new)

    return map_loops(fn, rule)


def hoist_loads(body: tuple[ir.Stmt, ...], written: set[ir.Symbol], names: NameSupply) -> tuple[ir.Stmt, ...]:
    """The statements, with loads of arrays that are not in `written` before the loops in them, if the first iteration
    executes them in any case."""
    out: list[ir.Stmt] = []
    for stmt in body:
        inner = map_blocks(stmt, lambda block: hoist_loads(block, written, names))
        if isinstance(inner, ir.For | ir.While):
            changing = changed_in(inner)

            def name_of(e: ir.Expr, is_certain: bool, changing: set[ir.Symbol] = changing) -> str | None:
                if not isinstance(e, ir.Load) or e.mask is not None or e.array in written:
                    return None
                is_wanted = is_certain and bool(e.index) and not scalars_read(e) & changing
                return f"{e.array.name}_ahead" if is_wanted else None

            out += _hoisted(inner, name_of, names)
        else:
            out.append(inner)
    return tuple(out)


def _hoisted(
    loop: ir.For | ir.While, name_of: Callable[[ir.Expr, bool], str | None], names: NameSupply
) -> list[ir.Stmt]:
    """A loop behind the assignments of expressions to scalars. name_of: the name for the scalar of an expression, which
    the first iteration evaluates in any case or not; None for one that stays."""
    certain = {id(n) for n in evaluated_always(loop)}
    for stmt in loop.body:
        certain.update(id(n) for n in evaluated_always(stmt))
        if may_leave(stmt):
            break
    values: dict[ir.Expr, ir.Symbol] = {}

    def expression(e: ir.Expr) -> ir.Expr:
        known = values.get(e) if values else None
        if known is None and (name := name_of(e, id(e) in certain)) is not None:
            known = values[e] = names.fresh(name, e.dtype)
        return map_operands(e, expression) if known is None else ir.Var(known, loc=e.loc)

    def block(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        return tuple(map_operands(map_blocks(stmt, block), expression) for stmt in body)

    if isinstance(loop, ir.While):
        loop = replace(loop, cond=expression(loop.cond))
    asked = len(values)
    new = replace(loop, body=block(loop.body))
    ahead = [ir.Assign(symbol, e, loc=e.loc) for e, symbol in values.items()]
    out: list[ir.Stmt] = [*ahead[:asked]]
    if ahead[asked:]:
        runs = loop.cond if isinstance(loop, ir.While) else has_iterations(loop)
        out.append(ir.If(runs, tuple(ahead[asked:]), loc=loop.loc))
    return [*out, new if values else loop]


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
