"""The boxes of each array that a piece of a program reads and writes, for given sizes and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from appyc.analysis.accesses.accesses import Access, accesses_of
from appyc.analysis.sets.evaluate import evaluate
from appyc.analysis.sets.presburger import Presburger
from appyc.errors import UnsupportedError
from appyc.ir.nodes import Function, Symbol

if TYPE_CHECKING:
    import islpy as isl

Box: TypeAlias = tuple[tuple[int, int], ...]
"""For each axis the first index and the one after the last."""

_MARK = "the index"


@dataclass(slots=True)
class Region:
    """The hull of what is touched of one array; None where nothing is."""

    touched: Box | None = None
    written: Box | None = None


def joined(one: Box | None, other: Box) -> Box:
    """The smallest box around two."""
    if one is None:
        return other
    return tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(one, other, strict=True))


class Regions:
    """The accesses of a function, of which boxes are asked for one block of iterations after another."""

    def __init__(self, fn: Function) -> None:
        self._found = accesses_of(fn, Presburger())
        self._sets = self._found.sets
        self._known: dict[tuple[int, ...], dict[Symbol, Region]] = {}
        """The answers, by the values of what the sets depend on: time steps ask the same again."""

    def boxes(self, values: Mapping[Symbol, Any]) -> dict[Symbol, Region]:
        """The region of each parameter that is accessed. values: the scalar parameters, and arrays by their shapes.

        Raises UnsupportedError for an access without a bound, IndexError for one outside its array.
        """
        key = tuple(
            int(evaluate(name.origin, values))
            for name in self._found.affine.names.values()
            if name.origin is not None and not name.depth
        )
        if key not in self._known:
            self._sets.start_again()
            self._known[key] = self._boxes(values)
        return self._known[key]

    def _boxes(self, values: Mapping[Symbol, Any]) -> dict[Symbol, Region]:
        out: dict[Symbol, Region] = {}
        for access in self._found.accesses:
            if access.array not in values:
                continue  # local to an iteration
            box = self._box(access, values)
            if box is not None:
                region = out.setdefault(access.array, Region())
                region.touched = joined(region.touched, box)
                if access.writes:
                    region.written = joined(region.written, box)
        return out

    def _box(self, access: Access, values: Mapping[Symbol, Any]) -> Box | None:
        domain = self._fixed(access.domain, values)
        if domain.is_empty():
            return None
        sides = []
        for axis, index in enumerate(access.index):
            points = domain.intersect(self._sets.parameter(_MARK).eq_set(index))
            low, high = self._sets.value_range(self._fixed(points, values), _MARK)
            if low is None or high is None:
                raise UnsupportedError(
                    f"which elements of {access.array.name!r} a block touches is not known before it runs",
                    access.loc,
                    hints=("index the arrays with linear expressions of loop variables",),
                )
            extent = values[access.array].shape[axis]
            if low < 0 or high >= extent:
                text = f"{access.array.name!r} has length {extent} along axis {axis}; a block touches {low} to {high}"
                if access.approximate or low < 0:
                    raise UnsupportedError(text, access.loc)
                raise IndexError(f"{access.loc}: {text}")
            sides.append((low, high + 1))
        return tuple(sides)

    def _fixed(self, points: isl.Set, values: Mapping[Symbol, Any]) -> isl.Set:
        """The points for which the parameters have their values."""
        for name in self._sets.names(points):
            known = self._found.affine.names.get(name)
            if known is None or known.origin is None or known.depth:
                continue
            value = self._sets.constant(int(evaluate(known.origin, values)))
            points = points.intersect(self._sets.parameter(name).eq_set(value))
        return points
