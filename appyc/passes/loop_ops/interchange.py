"""Interchange: permutes the loops of a perfect nest, and computes their new bounds.

    for i in range(n):                        for j in range(n - 1):
        for j in range(i):           ->           for i in range(j + 1, n):
            ...                                       ...

The iterations of the nest are one set of integers. The range of a loop, for given values of
the enclosing loops, is the projection of the set: the variables of inner loops are existentially quantified.
Bounds that depend only on loops which still enclose theirs keep their expressions.

Legal where every direction vector stays lexicographically positive (`analysis/dependences/bands.py`), and where no
iteration raises, leaves the nest, or carries a scalar to the next.

Does not handle: statements between the loops; steps other than 1 and -1 where bounds depend on a loop that is moved
inwards; bounds that are not a single polyhedron, such as `range(max(i, j))`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from appyc.analysis.dependences.bands import Order
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Refusal
from appyc.analysis.sets.conditions import bounds_of
from appyc.ir.blocks import nested
from appyc.ir.nodes import Expr, For, Function
from appyc.ir.visit import scalars_read, scalars_written
from appyc.passes.loop_ops.nests import why_not_reorder
from appyc.passes.node_builders import shifted

Bounds = list[tuple[Expr, Expr]]


def why_not_interchange(
    loops: tuple[For, ...], order: Order, legality: Legality, *, exact: bool
) -> Refusal | None:
    """exact: sums of floats keep their order."""
    return why_not_reorder(loops, legality, lambda direction: not direction.is_kept(order), exact=exact)


def interchange(fn: Function, loops: tuple[For, ...], order: Order, legality: Legality) -> For | None:
    """The nest in that order, whether that is legal or not; None where its bounds cannot be written."""
    bounds = _bounds(fn, loops, order, legality)
    if bounds is None:
        return None
    ordered = [replace(loops[n], lo=lo, hi=hi) for n, (lo, hi) in zip(order, bounds, strict=True)]
    return nested(ordered, loops[-1].body)


def _bounds(fn: Function, loops: tuple[For, ...], order: Order, legality: Legality) -> Bounds | None:
    """The bounds of each loop of the new order, outside first."""
    inside = {loop.var for loop in loops}
    as_written = True
    for number in order:
        inside.discard(loops[number].var)
        as_written = as_written and not scalars_read((loops[number].lo, loops[number].hi)) & inside
    if as_written:
        return [(loops[number].lo, loops[number].hi) for number in order]
    if any(abs(loop.step) != 1 for loop in loops):
        return None
    new = legality.dependences.sets.bounded(lambda: _shadows(loops, order, legality), None)
    if new is None or scalars_read([b for pair in new for b in pair]) & scalars_written(fn):
        return None  # a name stands for what the parameter was when the function began
    return new


def _shadows(loops: tuple[For, ...], order: Order, legality: Legality) -> Bounds | None:
    """The bounds of each loop as projections of the iteration set onto the loops that now enclose it."""
    found, sets = legality.dependences.found, legality.dependences.sets
    points = reduce(lambda a, b: a.intersect(b), (found.ranges[loop.var] for loop in loops))
    demanded = sets.everything
    out: Bounds = []
    for level, number in enumerate(order):
        loop = loops[number]
        name = found.variables[loop.var]
        inner = [found.variables[loops[other].var] for other in order[level + 1 :]]
        demands = sets.constraints_on(sets.project_out(points, inner), name)
        bounds = None if demands is None else bounds_of(demands, name, found.affine, loop.loc)
        if demands is None or bounds is None:
            return None
        demanded = demanded.intersect(demands.to_set())
        lo, end = bounds
        out.append((lo, end) if loop.step > 0 else (shifted(end, -1), shifted(lo, -1)))
    # A shadow may have holes, or demand something of the parameters alone: bounds say neither.
    return out if demanded.is_equal(points) else None
