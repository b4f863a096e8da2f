"""Wavefront parallelism: the skewing factor of a loop nest of depth two.

    for i:
        for j:
            a[i, j] = a[i - 1, j + 1] + a[i, j - 1]

Both loops carry a dependence: an iteration depends on the previous one, and on one in the row above.
The iterations with one value of `j + 2 * i` form a wavefront and are independent: each depends
on iterations with smaller values only.
"""

from __future__ import annotations

from functools import partial

from appyc.analysis.algebra.linear_subscripts import SECOND
from appyc.analysis.dependences.dependences import Conflict
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Verdict
from appyc.analysis.sets.lazy_isl import isl
from appyc.ir.nodes import For

FACTORS = (1, 2, 3, 4)

MAX_CONFLICTS = 48
"""The most dependences of a nest; one with more is not transformed."""

NEAR = 4
"""The least distance of a flow dependence at which the inner loop can be vectorised on its own."""


def skew_factor(legality: Legality, outer: For, inner: For, *, integers: bool = False) -> int | None:
    """The skewing factor: the least of FACTORS such that iterations with equal `inner + factor * outer`
    are independent; None where there is none, or no need. integers: recurrences of integers need one, too.
    """
    if legality.judge(outer).verdict not in (Verdict.CARRIED, Verdict.UNKNOWN):
        return None
    if not _is_chain(legality, inner, integers=integers):
        return None
    crossing = legality.dependences.all_conflicts(outer, MAX_CONFLICTS)
    if crossing is None:
        return None
    ways = (f for f in FACTORS if all(_leads_on(legality, outer, inner, c, f) for c in crossing))
    return next(ways, None)


def _is_chain(legality: Legality, inner: For, *, integers: bool) -> bool:
    """Whether the loop carries a flow dependence, of a distance too short for vector lanes.

    In vector lanes a recurrence of integers does not count: it is faster than gathering the columns of several rows.
    """
    order = {id(access): at for at, access in enumerate(legality.dependences.found.within(inner))}
    for count, conflict in enumerate(legality.dependences.conflicts(inner)):
        if conflict.instances is None or count > MAX_CONFLICTS:
            return False
        fast = conflict.source.array.dtype.is_integer and not integers
        if conflict.kind == "flow" and not fast and order[id(conflict.source)] > order[id(conflict.sink)]:
            low, _ = legality.dependences.distances(conflict)
            if low is not None and low < NEAR:
                return True
    return False


def _leads_on(legality: Legality, outer: For, inner: For, conflict: Conflict, factor: int) -> bool:
    """Whether the sink of the dependence is always in a later wavefront than its source."""
    assert conflict.instances is not None
    question = partial(_is_never_behind, legality, outer, inner, conflict.instances, factor)
    return legality.dependences.sets.bounded(question, False)


def _is_never_behind(legality: Legality, outer: For, inner: For, pairs: isl.Set, factor: int) -> bool:
    found, sets = legality.dependences.found, legality.dependences.sets

    def total(mark: str) -> isl.PwAff:
        rows = sets.parameter(found.variables[outer.var] + mark)
        return sets.parameter(found.variables[inner.var] + mark).add(sets.scale(rows, factor))

    return bool(pairs.intersect(total(SECOND).le_set(total(""))).is_empty())
