"""Value numbering of integers: equal expressions get one name.

    count = min(r ** i, n)                      count = min(r ** i, n)
    more = min(r ** i, n)                ->     more = count
    if not likely(count == more): fail          if not likely(count == count): fail
    for j in range(more):                       for j in range(count):

Two slices with the same bounds have the same length. If that length is not affine in parameters and loop variables
(a power, an element of an index array), no other analysis can prove that the two are equal. The guard for equality
would then fail in every call except for empty arrays, and a select for broadcasting would stay in every loop.

Requires: written arrays share no memory with others, as a value may be read from an array. The assignments stay as
copies; `dead_code_elimination` removes the dead ones.

Does not handle: values of other types than integers and bools (-0.0 and 0.0 are equal floats); values that are equal
but have different expressions; scalars with several definitions; elements of arrays that the function writes.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.accesses.set_once import set_once
from appyc.ir import nodes as ir
from appyc.ir.blocks import blocks_of
from appyc.ir.invariance import arrays_made
from appyc.ir.visit import (
    arrays_written,
    loops_of,
    rewrite_all,
    scalars_written,
    substitute,
    symbols_of,
    walk,
)
from appyc.passes.pass_context import PassContext

_PURE = (
    ir.Var
    | ir.Extent
    | ir.Load
    | ir.Const
    | ir.Cast
    | ir.Unary
    | ir.Binary
    | ir.Compare
    | ir.Logical
    | ir.Select
    | ir.Intrinsic
    | ir.Likely
)


def common_subexpressions(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with later scalars read from the first one that has their value."""
    private = {s for loop in loops_of(fn.body) if loop.clauses is not None for s in loop.clauses.private}
    once = set_once(fn.body) - {*fn.params} - private
    varying = (scalars_written(fn.body) - once) | arrays_written(fn.body) | arrays_made(fn.body)
    names: dict[ir.Symbol, ir.Expr] = {}

    def look(body: tuple[ir.Stmt, ...], known: dict[ir.Expr, ir.Symbol]) -> None:
        """known: the scalars with the values of the blocks around."""
        for stmt in body:
            if isinstance(stmt, ir.Assign) and stmt.target in once and _is_of_integers(stmt.value):
                value = substitute(stmt.value, names)
                if varying.isdisjoint(symbols_of(value)):
                    first = known.setdefault(value, stmt.target)
                    if first != stmt.target and first.type == stmt.target.type:
                        names[stmt.target] = ir.Var(first, loc=stmt.loc)
            for block in blocks_of(stmt):
                look(block, dict(known))

    look(fn.body, {})
    asked: dict[ir.Likely, ir.Likely] = {}

    def rule(node: ir.Node) -> ir.Node:
        match node:
            case ir.Var(symbol=symbol):
                return names.get(symbol, node)
            case ir.Assign(target=target) if target in names:
                return replace(node, value=names[target])
            case ir.Likely():
                return asked.setdefault(node, node)  # as one decision is made for each node
            case _:
                return node

    return replace(fn, body=rewrite_all(fn.body, rule)) if names else fn


def _is_of_integers(value: ir.Expr) -> bool:
    """Whether it is an integer that takes computing, of integers."""
    if isinstance(value, ir.Const | ir.Var | ir.Extent):
        return False
    return all(isinstance(n, _PURE) and n.dtype.kind in "iub" for n in walk(value))
