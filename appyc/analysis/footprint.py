"""How much memory a loop nest touches, each place counted once.

for i in range(n):
    for j in range(m):                      once: m * 8         (c)
        b[i, j] = a[i, j] + c[j]            each: m * 8 + m * 16 (a, and b, which is written)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from appyc.analysis.amounts import NONE, as_amount, number, product, total
from appyc.analysis.strides import Strides
from appyc.errors import GENERATED
from appyc.ir.nodes import Alloc, Expr, Extent, For, Symbol
from appyc.ir.visit import walk


@dataclass(frozen=True, slots=True)
class Touched:
    """An access in the nest."""

    array: Symbol
    index: tuple[Expr, ...]
    writes: bool


def footprint(
    loop: For, touched: Sequence[Touched], trips: Mapping[Symbol, Expr], strides: Strides
) -> tuple[Expr, Expr]:
    """Bytes that are touched once for the whole loop, and those that each iteration adds.

    trips: of the loops in the nest, where they are known before it. A written place counts twice:
    it comes from memory and goes back.
    """
    variables = frozenset({loop.var, *(n.var for n in walk(loop.body) if isinstance(n, For))})
    own = {n.array for n in walk(loop.body) if isinstance(n, Alloc)}
    once: Expr = NONE
    each: Expr = NONE
    for array in dict.fromkeys(t.array for t in touched if t.array not in own):
        accesses = [t for t in touched if t.array == array]
        size: Expr = number(array.dtype.itemsize * (2 if any(t.writes for t in accesses) else 1))
        grows = False
        for axis in range(array.array.ndim):
            moved_by = {s for t in accesses for s in strides.depends_on(t.index[axis], variables)}
            if not moved_by:
                continue
            only = next(iter(moved_by)) if len(moved_by) == 1 else None
            steady = only is not None and all(
                strides.coefficient(t.index[axis], only) in (0, 1, -1) for t in accesses
            )
            if steady and only == loop.var and not grows:
                grows = True
            elif steady and only in trips and only is not None:
                size = product(trips[only], size)
            else:
                size = product(as_amount(Extent(array, axis, loc=GENERATED)), size)
        if grows:
            each = total(each, size)
        else:
            once = total(once, size)
    return once, each
