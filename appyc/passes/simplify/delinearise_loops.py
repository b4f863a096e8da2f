"""Delinearisation: a loop over positions in C order becomes a nest over rows, without divisions.

    for i in range(0, n * m):                              for row in range(0, n):
        b[i] = a[i // m, i % m]                    ->          for i in range(0, m):
                                                                   b[row * m + i] = a[row, i]

    for j in range(0, k):                                  for row in range(p // m, (p + k - 1) // m + 1):
        c[i, j] = a[(p + j) // m, (p + j) % m]     ->          p_2 = row * m - p
                                                               for j in range(max(0, p_2), min(k, p_2 + m)):
                                                                   c[i, j] = a[row, j - p_2]

Such loops come from `ravel` and `reshape` beside other arrays, from `np.repeat` and `np.tile`, and from programs that
number the pixels of an image. A division takes as long as ten additions, and no C compiler vectorises a loop whose
indices are quotients or remainders.

The iterations keep their order, so the transformation is legal for any loop. Positions that several lengths divide,
such as those in a stack of matrices, are delinearised once for each length. Runs after loop fusion and the other passes
that move loops, and before the verdicts of the dependence analysis.

Requires: divisors that are lengths, at least 1.

Does not handle: positions with a stride other than 1; rows and loops that are known to be short; loops with a pragma,
or with a `break`; loops around a product of matrices; GPUs, whose lanes divide while they wait for memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.ir import nodes as ir
from appyc.ir.affine import NO_TERMS, offset_from, terms_with, written
from appyc.ir.invariance import changed_in, is_invariant
from appyc.ir.names import NameSupply
from appyc.ir.types import DType
from appyc.ir.visit import contains, loops_of, map_loops, rewrite_all, substitute, walk
from appyc.passes.node_builders import conjunction, copy_of, counting, integer, most_trips
from appyc.passes.pass_context import PassContext

SHORT = 16
"""Rows and loops with a known length of at most this do not pay for another loop."""

MAX_LENGTHS = 4
"""The most lengths by which one loop is delinearised: each adds a loop to the nest."""


def delinearise_loops(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with its loops over divided positions delinearised."""
    if ctx.options.on_gpu or not ctx.options.auto:
        return fn
    if not any(isinstance(n, ir.Binary) and n.op in ("//", "%") for n in walk(fn.body)):
        return fn
    loops = loops_of(fn)
    products = {inner.var for loop in loops if loop.product is not None for inner in loops_of(loop)}
    names = NameSupply.after(fn)

    def rule(loop: ir.For) -> ir.For | ir.If:
        return loop if loop.var in products else _in_rows(loop, names, MAX_LENGTHS)

    return map_loops(fn, rule)


@dataclass(frozen=True, slots=True)
class _Quotient:
    """`start + i` for the variable i of a loop, divided by `length`. start: None for 0."""

    start: ir.Expr | None
    length: ir.Expr


def _in_rows(loop: ir.For, names: NameSupply, lengths: int) -> ir.For | ir.If:
    """The loop delinearised by its first length and then by the others; the original loop where it has none."""
    found = _quotients(loop) if lengths > 0 else []
    if not found:
        return loop
    first = found[0]
    if first.start is not None or loop.lo != integer(0, loop.loc):
        return _nested(*_from_anywhere(loop, first, names), names, lengths)
    others = [other.length for other in found[1:] if other.start is None]
    if not others:
        return _nested(*_from_the_start(loop, first, names), names, lengths)
    # Arrays that are traversed together nearly always have rows of one length.
    same = conjunction([ir.Compare("==", other, first.length, loc=loop.loc) for other in others])
    body = rewrite_all(loop.body, lambda node: first.length if node in others else node)
    rows = _nested(*_from_the_start(replace(loop, body=body), first, names), names, lengths)
    apart = copy_of(loop, names)
    return ir.If(
        same, (rows,), (_nested(*_from_the_start(apart, first, names), names, lengths),), loc=loop.loc
    )


def _nested(rows: ir.For, inner: ir.For, names: NameSupply, lengths: int) -> ir.For | ir.If:
    return _in_rows(replace(rows, body=(_in_rows(inner, names, lengths - 1),)), names, lengths - 1)


def _from_the_start(loop: ir.For, found: _Quotient, names: NameSupply) -> tuple[ir.For, ir.For]:
    """The loop over rows and the loop over the columns of a row, where the first iteration is at column 0."""
    loc = loop.loc
    row, column = (
        ir.Var(names.fresh("row", DType.INT64), loc=loc),
        ir.Var(names.fresh(loop.var.name, DType.INT64), loc=loc),
    )
    length = found.length
    above = ir.Binary("+", loop.hi, ir.Binary("-", length, integer(1, loc), loc=loc), loc=loc)
    rows: ir.Expr = ir.Binary("//", above, length, loc=loc)
    before = ir.Binary("*", row, length, loc=loc)
    last: ir.Expr = ir.Binary("min", length, ir.Binary("-", loop.hi, before, loc=loc), loc=loc)
    match loop.hi, length:
        case (ir.Binary("*", count, ir.Extent() | ir.Const() as exact), ir.Binary("max", end) | end) if (
            end == exact
        ):
            rows, last, before = count, exact, ir.Binary("*", row, exact, loc=loc)
    body = _divided(loop, found, row, column)
    position = ir.Binary("+", before, column, loc=loc)
    body = substitute(body, {loop.var: position})
    inner = replace(loop, var=column.symbol, hi=last, body=body)
    return counting(row.symbol, rows, (inner,), loc=loc), inner


def _from_anywhere(loop: ir.For, found: _Quotient, names: NameSupply) -> tuple[ir.For, ir.For]:
    """The loop over rows and the loop over the columns of a row, which keeps the variable of the original loop."""
    loc = loop.loc
    row, length, here = (
        ir.Var(names.fresh("row", DType.INT64), loc=loc),
        found.length,
        ir.Var(loop.var, loc=loc),
    )

    def position(bound: ir.Expr) -> ir.Expr:
        return bound if found.start is None else ir.Binary("+", found.start, bound, loc=loc)

    first = ir.Binary("//", position(loop.lo), length, loc=loc)
    last = ir.Binary("//", ir.Binary("-", position(loop.hi), integer(1, loc), loc=loc), length, loc=loc)
    before: ir.Expr = ir.Binary("*", row, length, loc=loc)
    if found.start is not None:
        before = ir.Binary("-", before, found.start, loc=loc)
    low = ir.Binary("max", loop.lo, before, loc=loc)
    high = ir.Binary("min", loop.hi, ir.Binary("+", before, length, loc=loc), loc=loc)
    body = _divided(loop, found, row, ir.Binary("-", here, before, loc=loc))
    inner = replace(loop, lo=low, hi=high, body=body)
    return ir.For(
        row.symbol, first, ir.Binary("+", last, integer(1, loc), loc=loc), 1, (inner,), loc=loc
    ), inner


def _divided(loop: ir.For, found: _Quotient, row: ir.Expr, column: ir.Expr) -> tuple[ir.Stmt, ...]:
    """The loop's body with the row instead of quotients of the position, and the column instead of remainders."""

    def rule(node: ir.Node) -> ir.Node:
        match node:
            case ir.Binary(op="//" | "%" as op, rhs=found.length) if _quotient_of(node, loop.var) == found:
                return row if op == "//" else column
            case _:
                return node

    return rewrite_all(loop.body, rule)


def _quotients(loop: ir.For) -> list[_Quotient]:
    """The positions that the loop divides by lengths; none where delinearisation does not pay, or is not handled."""
    trips = most_trips(loop)
    is_short = trips is not None and trips <= SHORT
    if loop.step != 1 or loop.clauses is not None or is_short:
        return []
    if contains(loop, ir.Break):
        return []
    moving = changed_in(loop)
    out: list[_Quotient] = []
    for node in walk(loop.body):
        if isinstance(node, ir.Binary) and node.op in ("//", "%") and node.dtype is DType.INT64:
            if not _is_length(node.rhs, loop.hi) or not is_invariant(node.rhs, moving):
                continue
            found = _quotient_of(node, loop.var)
            if found is not None and (found.start is None or is_invariant(found.start, moving)):
                out += [found] if found not in out else []
    return out


def _is_length(divisor: ir.Expr, end: ir.Expr) -> bool:
    """Whether a divisor is at least 1, and either may be large or cuts the loop into rows of just that length."""
    match divisor:
        case ir.Const(value=int(value)):
            return value > SHORT or (
                value > 1 and isinstance(end, ir.Binary) and end.op == "*" and end.rhs == divisor
            )
        case ir.Binary(op="max", rhs=ir.Const(value=1)):
            return True
        case _:
            return False


def _quotient_of(node: ir.Binary, var: ir.Symbol) -> _Quotient | None:
    """The offset from the loop variable and the divisor of a division; None where the dividend is not the
    variable plus an offset."""
    rest = offset_from(node.lhs, var)
    if rest is None or terms_with(rest, frozenset({var})):
        return None
    return _Quotient(None if rest == NO_TERMS else written(rest, node.lhs.loc), node.rhs)
