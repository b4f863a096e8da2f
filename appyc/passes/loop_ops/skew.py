"""Skewing: a nest of two loops becomes a loop over wavefronts, and a loop over the iterations of one.

    for i in range(n):                        for front in range(0, m + 2 * (n - 1)):
        for j in range(m):           ->           for i in range(max(0, (front - m + 2) // 2), min(n, front // 2 + 1)):
            f(i, j)                                   f(i, front - 2 * i)

The wavefront of an iteration is `j + factor * i`. Legal where each dependence leads from a wavefront to a later one
(`skew_factor`); the iterations of a wavefront are then independent.

Does not handle: inner bounds that depend on the outer loop; steps other than 1.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.blocks import perfect_nest
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Expr, For, Var
from appyc.ir.types import DType
from appyc.ir.visit import scalars_read, substitute
from appyc.passes.node_builders import binary, integer, scaled, shifted
from appyc.passes.parallelise.plain_loops import has_fixed_bounds, is_plain


def why_not_skew(outer: For, inner: For) -> str | None:
    """The reason, apart from dependences, why a nest cannot be skewed; None where there is none."""
    if (outer.step, inner.step) != (1, 1):
        return "a step is not 1"
    if outer.var in scalars_read(inner.bounds):
        return "the bounds of the inner loop depend on the outer one"
    if not (has_fixed_bounds(inner) and has_fixed_bounds(replace(outer, body=inner.body))):
        return "the bounds change while the loops run"
    return (
        None
        if is_plain(perfect_nest(inner)[-1])
        else "an iteration may raise, or has loops beside other statements"
    )


def skew(outer: For, inner: For, factor: int, names: NameSupply) -> For:
    """The loop over wavefronts; the loop in it keeps the outer variable."""
    front = names.fresh("front", DType.INT64)
    now, row = Var(front, loc=outer.loc), Var(outer.var, loc=inner.loc)
    column = binary("-", now, scaled(row, factor))
    least = _quotient(binary("-", now, shifted(inner.hi, -1)), factor, up=True)
    most = shifted(_quotient(binary("-", now, inner.lo), factor, up=False), 1)
    rows = replace(
        outer,
        lo=binary("max", outer.lo, least),
        hi=binary("min", outer.hi, most),
        body=substitute(inner.body, {inner.var: column}),
    )
    start = binary("+", inner.lo, binary("*", outer.lo, integer(factor, outer.lo.loc)))
    last = shifted(outer.hi, -1)
    end = binary("+", inner.hi, binary("*", last, integer(factor, last.loc)))
    return For(front, start, end, 1, (rows,), loc=inner.loc)


def _quotient(value: Expr, divisor: int, *, up: bool) -> Expr:
    if divisor == 1:
        return value
    return binary("//", shifted(value, divisor - 1) if up else value, integer(divisor, value.loc))
