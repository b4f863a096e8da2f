"""How far a loop has to be skewed for a wave to run through its nest.

    for i:
        for j:
            a[i, j] = a[i - 1, j + 1] + a[i, j - 1]

Neither loop is free: an iteration waits for the one before it, and for one in the row above.
Of those with the same `j + 2 * i` none waits for another: what it needs has a smaller number.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from appyc.analysis.accesses.access_pairs import SECOND
from appyc.analysis.dependences.dependences import Conflict
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Verdict
from appyc.ir.nodes import For

if TYPE_CHECKING:
    import islpy as isl

FACTORS = (1, 2, 3, 4)

MAX_CONFLICTS = 48
"""A nest with more is left as it is."""

NEAR = 4
"""A value that is handed on over fewer iterations leaves the loop no lanes of its own."""


def skew_factor(legality: Legality, outer: For, inner: For) -> int | None:
    """The least factor of FACTORS by which the outer loop's number has to count, so that of the
    iterations with equal sums none depends on another; None where there is none, or no need.
    """
    if legality.judge(outer).verdict not in (Verdict.CARRIED, Verdict.UNKNOWN):
        return None
    if not _is_chain(legality, inner):
        return None
    crossing: list[Conflict] = []
    for conflict in legality.dependences.conflicts(outer):
        crossing.append(conflict)
        if conflict.instances is None or len(crossing) > MAX_CONFLICTS:
            return None
    for factor in FACTORS:
        if all(_leads_on(legality, outer, inner, conflict, factor) for conflict in crossing):
            return factor
    return None


def _is_chain(legality: Legality, inner: For) -> bool:
    """Whether iterations hand on floats to others so near that lanes cannot follow them.

    Integers are handed on faster than the columns of several rows are gathered.
    """
    order = {id(access): at for at, access in enumerate(legality.dependences.found.within(inner))}
    for count, conflict in enumerate(legality.dependences.conflicts(inner)):
        if conflict.instances is None or count > MAX_CONFLICTS:
            return False
        fast = conflict.source.array.dtype.is_integer
        if conflict.kind == "flow" and not fast and order[id(conflict.source)] > order[id(conflict.sink)]:
            low, _ = legality.dependences.distances(conflict)
            if low is not None and low < NEAR:
                return True
    return False


def _leads_on(legality: Legality, outer: For, inner: For, conflict: Conflict, factor: int) -> bool:
    """Whether the later iteration of the conflict has the greater sum, always."""
    assert conflict.instances is not None
    question = partial(_is_never_behind, legality, outer, inner, conflict.instances, factor)
    return legality.dependences.sets.bounded(question, False)


def _is_never_behind(legality: Legality, outer: For, inner: For, pairs: isl.Set, factor: int) -> bool:
    found, sets = legality.dependences.found, legality.dependences.sets

    def total(mark: str) -> isl.PwAff:
        rows = sets.parameter(found.variables[outer.var] + mark)
        return sets.parameter(found.variables[inner.var] + mark).add(sets.scale(rows, factor))

    return bool(pairs.intersect(total(SECOND).le_set(total(""))).is_empty())
