"""Tiling: strip-mines the loops of a perfect nest, and moves the loops over strips outwards.

    for i in range(n):                        for i_tile in range(0, n, 32):
        for j in range(m):           ->           for j_tile in range(0, m, 64):
            ...                                       for i in range(i_tile, min(i_tile + 32, n)):
                                                          for j in range(j_tile, min(j_tile + 64, m)):
                                                              ...

Where a bound of `j` moves with `i`, the tiles cover all values that it has in a strip of `i`, and the loop over `j`
keeps its own bound beside that of the tile.

Legal where no dependence leads backwards in any of the loops, so that each tile may run as a whole.

Does not handle: bounds that are not sums, multiples, minima and maxima of outer variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Refusal
from appyc.ir.blocks import nested
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Binary, Const, Expr, For, Symbol, Var
from appyc.ir.visit import scalars_read
from appyc.passes.loop_ops.nests import why_not_reorder
from appyc.passes.loop_ops.strip_mine import strip_mine, why_not_strip_mine
from appyc.passes.node_builders import binary, larger, shifted, smaller

Range = tuple[Expr, Expr]
"""The least and the greatest value of a variable."""


def why_not_tile(loops: tuple[For, ...], legality: Legality, *, exact: bool) -> Refusal | None:
    """exact: sums of floats keep their order."""
    if len(loops) == 1:
        reason = why_not_strip_mine(loops[0])
        return None if reason is None else Refusal(reason)
    return why_not_reorder(loops, legality, lambda direction: min(direction.signs) < 0, exact=exact)


def tile(loops: tuple[For, ...], sizes: Sequence[int], names: NameSupply) -> For | None:
    """The nest in tiles of these sizes; None where the range of tiles cannot be written."""
    strips: list[For] = []
    points: list[For] = []
    within: dict[Symbol, Range] = {}
    for loop, size in zip(loops, sizes, strict=True):
        hull = _hull(loop, within)
        if hull is None:
            return None
        strip = strip_mine(replace(loop, lo=hull[0], hi=hull[1]), size, names, f"{loop.var.name}_tile")
        (point,) = strip.body
        assert isinstance(point, For)
        lo, hi = point.lo, point.hi
        if loop.step > 0:
            least = lo if loop.lo == hull[0] else larger(lo, loop.lo)
            point = replace(point, lo=least, hi=hi if loop.hi == hull[1] else smaller(hi, loop.hi))
            within[loop.var] = (lo, shifted(hi, -1))
        elif loop.bounds == hull:
            within[loop.var] = (shifted(hi, 1), lo)
        else:
            return None
        strips.append(strip)
        points.append(point)
    return nested([*strips, *points], loops[-1].body)


def _hull(loop: For, within: Mapping[Symbol, Range]) -> Range | None:
    """Bounds of the loop that hold for all values of the outer variables in a tile."""
    if not scalars_read(loop.bounds) & within.keys():
        return loop.lo, loop.hi
    if loop.step != 1:
        return None
    lo, hi = _extreme(loop.lo, within, greatest=False), _extreme(loop.hi, within, greatest=True)
    return None if lo is None or hi is None else (lo, hi)


def _extreme(value: Expr, within: Mapping[Symbol, Range], *, greatest: bool) -> Expr | None:
    """A bound of a value over all values of the variables."""
    if not scalars_read(value) & within.keys():
        return value
    match value:
        case Var(symbol=symbol):
            return within[symbol][greatest]
        case Binary("+" | "-" | "min" | "max" as op, lhs, rhs):
            sides = (lhs, greatest), (rhs, greatest != (op == "-"))
        case Binary("*", Const(value=int(factor)), _) | Binary("*", _, Const(value=int(factor))):
            sides = (value.lhs, greatest == (factor > 0)), (value.rhs, greatest == (factor > 0))
        case _:
            return None
    ends = [_extreme(side, within, greatest=top) for side, top in sides]
    if ends[0] is None or ends[1] is None:
        return None
    return binary(value.op, ends[0], ends[1])
