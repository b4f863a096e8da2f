"""The elements of a view that a call is given, of which any may be read or written.

sort(a[i, lo : lo + n])        a[i, k]  for a k with lo <= k < lo + n
"""

from __future__ import annotations

from collections.abc import Callable

from appyc.analysis.sets.lazy_isl import isl
from appyc.ir.nodes import Const, Expr, View
from appyc.ir.types import DType


def region_of(
    view: View, value: Callable[[Expr], isl.PwAff], somewhere: Callable[[], isl.PwAff]
) -> tuple[list[isl.PwAff], list[isl.Set]]:
    """The index of the elements on each axis of the array, and what restricts it. Exact where at most one axis of the
    view goes along an axis of the array, from element to element.

    somewhere: a new index of which nothing is known.
    """
    index: list[isl.PwAff] = []
    inside: list[isl.Set] = []
    zero, one = (Const(number, DType.INT64, loc=view.loc) for number in (0, 1))
    rank = view.array.array.ndim
    for axis in range(rank):
        steps = view.steps[axis::rank]
        moving = [n for n, step in enumerate(steps) if step != zero]
        where = somewhere() if moving or not view.shape else value(view.first[axis])
        if len(moving) == 1 and steps[moving[0]] == one:
            first, length = value(view.first[axis]), value(view.shape[moving[0]])
            inside.append(first.le_set(where).intersect(where.lt_set(first.add(length))))
        index.append(where)
    return index, inside
