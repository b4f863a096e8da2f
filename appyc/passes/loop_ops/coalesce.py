"""Coalescing: the loops of a perfect nest over adjacent elements become one loop over their positions.

    for i in range(m):                        for at in range(m * n):
        for k in range(n):           ->           a[at // n, at % n] = 0.0
            a[i, k] = 0.0

The order of the iterations stays as it was. The quotients and remainders cost nothing where the code generator
composes them to the position again.

Legal where each inner loop starts at 0 and has the same iterations each time; the body names the variables only in
indices of the last axes, in their order, and in sums that are the position.

Does not handle: other uses of the variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.ir.affine import NO_TERMS, LinearForm, linear_form, written
from appyc.ir.nodes import Binary, Expr, Extent, For, Load, LoopMode, Node, Store, Symbol, Var
from appyc.ir.visit import rewrite_all, scalars_read
from appyc.passes.node_builders import integer


def coalesce(run: Sequence[For], at: Symbol, equal: EqualExtents, mode: LoopMode) -> For | None:
    """The loop over positions in C order; None where a variable of the loops is read for itself."""
    first, last = run[0], run[-1]
    variables = frozenset(loop.var for loop in run)

    def rule(node: Node) -> Node:
        if isinstance(node, Load | Store) and any(set(scalars_read(i)) & variables for i in node.index):
            return replace(node, index=_delinearised(node, run, at))
        return Var(at, loc=node.loc) if isinstance(node, Binary) and _is_position(node, run, equal) else node

    body = rewrite_all(last.body, rule)
    if variables & set(scalars_read(body)):
        return None
    row: Expr = reduce(lambda a, b: Binary("*", a, b, loc=first.loc), [loop.hi for loop in run[1:]])
    at_start = first.lo == integer(0, first.loc)
    return replace(
        last,
        var=at,
        lo=first.lo if at_start else Binary("*", first.lo, row, loc=first.loc),
        hi=Binary("*", first.hi, row, loc=first.loc),
        body=body,
        mode=mode,
        private=tuple(dict.fromkeys(symbol for loop in run for symbol in loop.private)),
        loc=first.loc,
    )


def _is_position(expr: Expr, run: Sequence[For], equal: EqualExtents) -> bool:
    """Whether it is the position in C order that the loops have reached: (i * rows + j) * columns + k."""
    if len(run) == 1:
        return isinstance(expr, Var) and expr.symbol == run[0].var
    match expr:
        case Binary("+", Binary("*", rows, width), Var(symbol=symbol)):
            last = run[-1]
            return symbol == last.var and equal.same(width, last.hi) and _is_position(rows, run[:-1], equal)
        case _:
            return False


def _delinearised(access: Load | Store, run: Sequence[For], at: Symbol) -> tuple[Expr, ...]:
    """The index of the element at a position in C order: its quotients and remainders by the lengths of the axes."""
    rest: Expr = Var(at, loc=access.loc)
    out: list[Expr] = []
    start = len(access.index) - len(run)
    for axis in range(len(access.index) - 1, start, -1):
        extent = Extent(access.array, axis, loc=access.loc)
        out.insert(0, Binary("%", rest, extent, loc=access.loc))
        rest = Binary("//", rest, extent, loc=access.loc)
    offset = linear_form(access.index[start]).plus(LinearForm({Var(run[0].var, loc=access.loc): 1}), -1)
    if offset != NO_TERMS:
        rest = Binary("+", rest, written(offset, access.loc), loc=access.loc)
    return (*access.index[:start], rest, *out)
