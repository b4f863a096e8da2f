"""The values of a loop's variable between its bounds.

for i in range(max(a, 0), n, 2)         i >= a, i >= 0, i <= n - 1, and i - max(a, 0) is even
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from appyc.analysis.sets.lazy_isl import isl
from appyc.analysis.sets.presburger import Presburger
from appyc.ir.affine import operands
from appyc.ir.nodes import Expr, For

Limits: TypeAlias = "tuple[list[isl.PwAff], list[isl.PwAff]]"
"""The values that a variable is at least, each of them, and those that it is at most."""


def values_between(
    loop: For,
    lo: isl.PwAff,
    hi: isl.PwAff,
    var: isl.PwAff,
    sets: Presburger,
    value: Callable[[Expr], isl.PwAff],
) -> tuple[Limits, isl.Set]:
    """The limits of the variable of a loop with these bounds, and the set of its values."""
    one = sets.constant(1)
    low, high = (lo, hi.sub(one)) if loop.step > 0 else (hi.add(one), lo)
    lows, highs = sets.all_of(low, above=False), sets.all_of(high, above=True)
    first, last = ((loop.lo, 0), (loop.hi, -1)) if loop.step > 0 else ((loop.hi, 1), (loop.lo, 0))
    inside = sets.everything
    for least in lows:
        inside = inside.intersect(least.le_set(var))
    for greatest in highs:
        inside = inside.intersect(var.le_set(greatest))
    if abs(loop.step) > 1:
        inside = inside.intersect(sets.modulo(var.sub(lo), abs(loop.step)).eq_set(sets.constant(0)))

    def limits(found: list[isl.PwAff], end: Expr, added: int, op: str) -> list[isl.PwAff]:
        """The values that bound the variable on one side. Of a single one that has cases, they are the operands of the
        `min` or `max` that it is, plus a constant."""
        parts = operands(end, op)
        if len(parts) == 1 or len(found) > 1 or found[0].n_piece() == 1:
            return found
        return [value(part).add(sets.constant(added)) for part in parts]

    return (limits(lows, *first, "max"), limits(highs, *last, "min")), inside
