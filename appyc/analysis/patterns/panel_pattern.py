"""Triangular matrix products, cut into panels of rows: most of a panel is a rectangle, a product for a library.

    for i in range(n):                              # columns depend on the row: the panel's product is a triangle
        for j in range(i + 1):                      # too, or has a few elements that are never used
            s = 0.0
            for k in range(m):
                s += a[i, k] * b[j, k]

    for i in range(n):                              # the sum depends on the row: the panel's product is the part
        for j in range(m):                          # that all its rows have in common, and the rest is added
            s = b[i, j]                             # row by row
            for k in range(i + 1, n):
                s += a[k, i] * b[k, j]
            b[i, j] = s

In the second, what the product reads the same nest writes. That is no matter where the panel's product reads
other rows than those that the panel writes. Nor is it then, what else an iteration of the outer loop does, if that
is the one that is cut:

    for k in range(n):                              # a panel's product is what the columns before the panel
        for i in range(k, n):                       # take from all of its columns
            s = 0.0
            for j in range(k):
                s += a[i, j] * a[k, j]
            a[i, k] -= s
        a[k, k] = sqrt(a[k, k])
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
"""

from __future__ import annotations

from dataclasses import dataclass

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.patterns.product_sums import ProductSum, is_still, sums_at
from appyc.analysis.patterns.product_terms import is_fixed
from appyc.ir.affine import coefficient, distance
from appyc.ir.array_accesses import accesses_in
from appyc.ir.invariance import is_invariant
from appyc.ir.nodes import Expr, For, Load, Var
from appyc.ir.visit import arrays_written, walk


@dataclass(frozen=True, slots=True)
class Panels:
    """Two loops whose iterations add up products, one among what the other does.

    cut: the loop that is cut into panels, `outer` or `inner`. Bounds of the other one, if it is
    inside, and of the sums may depend on it: one bound of each, by a constant factor.
    """

    outer: For
    inner: For
    cut: For
    sums: tuple[ProductSum, ...]

    @property
    def across(self) -> For:
        return self.outer if self.cut is self.inner else self.inner

    @property
    def is_triangle(self) -> bool:
        """Whether the products of a panel are triangles, which can be had without what lies beside them."""
        slopes = [slope_of(bound, self.cut) for bound in (self.inner.lo, self.inner.hi)]
        return self.cut is self.outer and slopes in ([0, 1], [1, 0])

    @property
    def leaves_nothing(self) -> bool:
        """Whether the products are triangles, and whole sums."""
        bounds = [bound for one in self.sums for bound in (one.loop.lo, one.loop.hi)]
        return self.is_triangle and not any(slope_of(bound, self.cut) for bound in bounds)


def panels_of(outer: For, legality: Legality) -> Panels | None:
    """The division of a triangular nest into panels; None where it is not triangular or cannot be divided."""
    if not is_still(outer) or not is_fixed(outer.bounds, (outer,)):
        return None
    for inner in outer.body:
        if isinstance(inner, For):
            nest = (outer, inner)
            sums = tuple(one for at in range(len(inner.body)) for one in sums_at(inner, at, nest))
            for cut in nest if len(outer.body) == 1 else (outer,):
                panels = Panels(outer, inner, cut, sums)
                in_order = cut is outer or legality.judge(outer).may_run_in_any_order
                if sums and in_order and _are_panels(panels):
                    return panels
    return None


def _are_panels(panels: Panels) -> bool:
    cut, nest = panels.cut, (panels.outer, panels.inner)
    loops = [panels.inner] if cut is panels.outer else []
    if cut is panels.inner and not is_fixed(cut.bounds, nest):
        return False
    loops += [one.loop for one in panels.sums]
    if not all(_is_straight(loop, cut, (*nest, loop)) for loop in loops):
        return False
    if not any(slope_of(bound, cut) for loop in loops for bound in loop.bounds):
        return False
    return _read_other_rows(panels)


def slope_of(bound: Expr, cut: For) -> int:
    """The coefficient of a loop's variable in a linear bound."""
    return coefficient(bound, cut.var) or 0


def _is_straight(loop: For, cut: For, nest: tuple[For, ...]) -> bool:
    """Whether one bound at most depends on the loop that is cut, in a straight line, and none on anything else. Where
    other steps than 1 go on behind a cut would depend on the row."""
    slopes = [coefficient(bound, cut.var) for bound in loop.bounds]
    if loop.step != 1 or None in slopes or all(slopes):
        return False
    changing = {n.var for n in nest if n is not cut}
    return is_invariant(loop.bounds, changing) and is_fixed(_without(loop.bounds, cut), nest)


def _without(bounds: tuple[Expr, ...], cut: For) -> list[Expr]:
    """The variables in some bounds other than that of the loop that is cut."""
    return [n for n in walk(bounds) if isinstance(n, Var) and n.symbol != cut.var]


def may_be_first(panels: Panels) -> bool:
    """Whether whole sums may be computed before everything else: alone in the nest, in rectangles, they read nothing
    that the nest has written before."""
    if len(panels.outer.body) != 1 or any(
        slope_of(b, panels.cut) for b in (panels.across.lo, panels.across.hi)
    ):
        return False
    return _read_other_rows(panels, only_later=True)


def _read_other_rows(panels: Panels, *, only_later: bool = False) -> bool:
    """`_reads_other_rows` for all loads in the products whose arrays the nest writes."""
    written = arrays_written(panels.outer.body)
    return all(
        load.array not in written or _reads_other_rows(load, one.loop, panels, only_later=only_later)
        for one in panels.sums
        for term in one.terms
        for load in (term.left, term.right)
    )


def _reads_other_rows(load: Load, summed: For, panels: Panels, *, only_later: bool) -> bool:
    """Whether all that a panel's product reads of an array lies in rows that the panel does not write, or that only
    later panels write.

    The part of a sum that all rows of a panel have in common ends where the first row's ends, or begins
    where the last row's does.
    """
    writes = [
        index for array, index, writes in accesses_in(panels.outer.body) if writes and array == load.array
    ]
    for axis, index in enumerate(load.index):
        read = distance(index, summed.var)
        if read is None:
            continue
        rows = [distance(there[axis], panels.cut.var) for there in writes]
        if any(row is None for row in rows):
            continue
        below, above = distance(summed.hi, panels.cut.var), distance(summed.lo, panels.cut.var)
        if (
            not only_later
            and below is not None
            and all(below + read <= row for row in rows if row is not None)
        ):
            return True
        if above is not None and all(above + read >= row + 1 for row in rows if row is not None):
            return True
    return False
