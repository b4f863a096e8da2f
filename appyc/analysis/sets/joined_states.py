"""Joins the states of scalars and lengths at the end of the two branches of a condition.

if c:
    j = i               # where c is affine, j is  i if c else n;
else:                   # else it is a value of its own
    j = n
"""

from __future__ import annotations

from appyc.analysis.sets.affine_values import Affine
from appyc.analysis.sets.lazy_isl import isl
from appyc.analysis.sets.symbol_table import State, Truth, Value
from appyc.ir.names import ordered
from appyc.ir.nodes import Symbol


def joined(
    affine: Affine, truth: Truth, branches: tuple[State, State], written: set[Symbol], depth: int
) -> State:
    """The state after both branches. written: scalars that may differ. depth: the number of enclosing
    loops."""
    then, orelse = branches
    out = then.copy()
    out.allocated = {
        array: min(loops, orelse.allocated[array])
        for array, loops in then.allocated.items()
        if array in orelse.allocated
    }
    for symbol in ordered(written):
        one, other = then.scalars.get(symbol), orelse.scalars.get(symbol)
        if one is None or other is None or one.version != other.version:
            mine, others = affine.held(symbol, then), affine.held(symbol, orelse)
            out.scalars[symbol] = _chosen(affine, truth, mine, others, depth)
    for key in then.extents | orelse.extents:
        one, other = then.extents.get(key), orelse.extents.get(key)
        if one is None or other is None:
            out.extents[key] = affine.unknown(depth)
        elif one.version != other.version:
            mine, others = affine.extent(*key, then), affine.extent(*key, orelse)
            out.extents[key] = _chosen(affine, truth, mine, others, depth)
    return out


def _chosen(
    affine: Affine, truth: Truth, then: isl.PwAff | None, orelse: isl.PwAff | None, depth: int
) -> Value:
    """The one value or the other; one of which nothing is known where that is too much for what is asked of it."""
    sets, new = affine.sets, affine.unknown(depth)
    if not truth.exact or then is None or orelse is None:
        return new

    def choice() -> isl.PwAff | None:
        pieces = sets.choose(truth.may_hold, then, orelse)
        return pieces if sets.is_simple(pieces) else None

    pieces = sets.bounded(choice, None)
    return new if pieces is None else Value(new.version, affine.depth_of(pieces), pieces)
