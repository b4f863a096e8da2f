"""The version of a nest with triangular products in which each panel of rows is one product.

for i in range(n):                      for first in range(0, n, PANEL):
    for j in range(m):                      T = np.empty((PANEL or remainder, m))
        s = 0.0                             # a product of matrices: T = A B, k from 0 to first
        for k in range(i):                  ...
            s += A[i, k] * B[k, j]  ->      for i in range(first, min(first + PANEL, n)):
        C[i, j] = s                             for j in range(m):
                                                    s = 0.0
                                                    s += T[i - first, j]
                                                    for k in range(first, i):
                                                        s += A[i, k] * B[k, j]
                                                    C[i, j] = s
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.patterns.panel_pattern import Panels, slope_of
from appyc.analysis.patterns.product_sums import ProductSum
from appyc.ir.machine_model import FEWEST
from appyc.ir.nodes import Assign, Binary, Expr, For, If, Stmt, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import substitute
from appyc.passes import node_builders as build
from appyc.passes.locality.product_versions import ProductVersions, from_memory

PANEL = 128
"""Rows of a panel: with fewer rows, the library packs the other matrix too often; with more, the residual triangles
are too large. (At 1000 rows each costs about an eighth.)"""

WIDE_PANEL = 2048
"""Rows of a panel whose products are triangles, without a residual: a bound on the memory, since each edge
between panels costs. (Measured on a Xeon: of 1200 rows, panels of 512 cost an eighth, and their elements did
not stay in a core's cache either.)"""

WORTH = 2 * PANEL
"""The least number of rows for which the rectangles are larger than the residual triangles."""


@dataclass(frozen=True, slots=True)
class _Panel:
    """One panel. first: the variable that holds its first row. ends: the row after its last one."""

    panels: Panels
    first: Symbol
    end: Expr

    def lowest(self, bound: Expr, *, of_all: bool) -> Expr:
        """A lower bound where it is lowest among the panel's rows (the reach of all of them), or highest (what they
        have in common)."""
        slope = slope_of(bound, self.panels.cut)
        return self._at(bound, first=(slope >= 0) == of_all)

    def highest(self, bound: Expr, *, of_all: bool) -> Expr:
        """The greatest value of an upper bound among the panel's rows (`of_all`: their union), or its least
        (their intersection)."""
        slope = slope_of(bound, self.panels.cut)
        return self._at(bound, first=(slope < 0) == of_all)

    def _at(self, bound: Expr, *, first: bool) -> Expr:
        loc = bound.loc
        row = Var(self.first, loc=loc) if first else Binary("-", self.end, build.integer(1, loc), loc=loc)
        return substitute(bound, {self.panels.cut.var: row})


def of_panels(panels: Panels, versions: ProductVersions) -> If:
    """The nest as it was for small products, and in panels for large ones."""
    cut, loc = panels.cut, panels.outer.loc
    first = versions.names.fresh("first", DType.INT64)
    size = WIDE_PANEL if panels.leaves_nothing else PANEL
    end = build.smaller(build.shifted(Var(first, loc=loc), size), cut.hi)
    last = versions.names.fresh("end", DType.INT64)
    panel = _Panel(panels, first, Var(last, loc=loc))
    body: list[Stmt] = [Assign(last, end, loc=loc)]
    inner = list(panels.inner.body)
    replaced: dict[int, tuple[Stmt, ...]] = {}
    for found in panels.sums:
        apart, instead = _panel_sum(panel, found, versions)
        body += apart
        replaced[found.at] = replaced.get(found.at, ()) + instead
    statements = tuple(s for at, stmt in enumerate(inner) for s in replaced.get(at, (stmt,)))
    body.append(versions.copy(_rows_of(panel, panels.outer, panels.inner, statements)))
    loop = For(first, cut.lo, cut.hi, size, tuple(body), loc=loc)
    return If(are_large(panels), (loop,), (panels.outer,), loc=loc)


def _rows_of(panel: _Panel, outer: For, inner: For, body: tuple[Stmt, ...]) -> For:
    """The nest, for a panel's rows only."""
    lo, cut = Var(panel.first, loc=outer.loc), panel.panels.cut
    if cut is inner:
        return replace(outer, body=(replace(inner, lo=lo, hi=panel.end, body=body),))
    statements = tuple(replace(inner, body=body) if stmt is inner else stmt for stmt in outer.body)
    return replace(outer, lo=lo, hi=panel.end, body=statements)


def _panel_sum(
    panel: _Panel, found: ProductSum, versions: ProductVersions
) -> tuple[list[Stmt], tuple[Stmt, ...]]:
    """The statements that compute a panel's part of a sum in memory, and those that replace the sum's
    loop."""
    panels, loop, loc = panel.panels, found.loop, found.loop.loc
    across = panels.across
    lo, hi = panel.lowest(across.lo, of_all=True), panel.highest(across.hi, of_all=True)
    start = panel.lowest(loop.lo, of_all=False)
    stop = panel.highest(loop.hi, of_all=False)
    if slope_of(loop.lo, panels.cut) or slope_of(loop.hi, panels.cut):
        stop = build.larger(start, stop)  # where nothing is common, nothing is left out or done twice
    first = Var(panel.first, loc=loc)
    here, across_it = (Var(loop.var, loc=loc) for loop in (panels.cut, across))
    index = (build.binary("-", here, first), build.trip_count(lo, across_it, 1))
    shape = (
        build.binary("-", panel.end, first),
        build.larger(build.trip_count(lo, hi, 1), build.integer(0, loc)),
    )
    apart: list[Stmt] = []
    memory = versions.memory(found, index, shape, apart)
    whole = replace(panels.cut, lo=first, hi=panel.end)
    wide = across if panels.is_triangle else replace(across, lo=lo, hi=hi)
    common = replace(found, loop=replace(loop, lo=start, hi=stop))
    apart += versions.computed(whole, wide, common, memory)
    instead: list[Stmt] = []
    if slope_of(loop.lo, panels.cut):
        instead.append(replace(loop, hi=build.smaller(start, loop.hi)))
    instead.append(from_memory(found.update, memory))
    if slope_of(loop.hi, panels.cut):
        instead.append(replace(loop, lo=build.larger(stop, loop.lo)))
    return apart, tuple(instead)


def are_large(panels: Panels) -> Expr:
    """Whether there are panels enough, and their products are worth a call."""
    cut = panels.cut
    everything = _Panel(panels, cut.var, cut.hi)
    sides = [
        build.trip_count(
            substitute(everything.lowest(loop.lo, of_all=True), {cut.var: cut.lo}),
            substitute(everything.highest(loop.hi, of_all=True), {cut.var: cut.lo}),
            1,
        )
        for loop in (panels.across, *(one.loop for one in panels.sums))
    ]
    rows = build.at_least(build.trip_count(cut.lo, cut.hi, 1), WORTH)
    return build.conjunction([rows, *(build.at_least(side, FEWEST) for side in sides)])
