"""The boxes of each array that a piece of a program reads and writes, for given sizes and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from appyc.analysis.accesses.access_relations import accesses_of
from appyc.analysis.accesses.accesses import Access, CheckedIndex
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
    """The hull of what is touched of one array; None where nothing is. is_overwritten: surely every element of it is
    written, and none is read."""

    touched: Box | None = None
    written: Box | None = None
    is_overwritten: bool = False


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
        parameters = {
            name: int(evaluate(known.origin, values))
            for name, known in self._found.affine.names.items()
            if known.origin is not None and not known.depth
        }
        key = tuple(parameters.values())
        if key not in self._known:
            self._sets.start_again()
            self._known[key] = self._boxes(values, self._at(parameters))
        return self._known[key]

    def _boxes(self, values: Mapping[Symbol, Any], here: isl.Set) -> dict[Symbol, Region]:
        """here: the point at which the parameters of the sets have their values."""
        for checked in self._found.checked_indices:
            self._refuse_outside(checked, here)
        out: dict[Symbol, Region] = {}
        kept = {a.array for a in self._found.accesses if a.op != "write" or a.approximate}
        elements: dict[Symbol, isl.Set] = {}
        for access in self._found.accesses:
            if access.array not in values:
                continue  # local to an iteration
            box = self._box(access, values, here)
            if box is not None:
                region = out.setdefault(access.array, Region())
                region.touched = joined(region.touched, box)
                if access.writes:
                    region.written = joined(region.written, box)
                if access.array not in kept:
                    known = elements.get(access.array, self._sets.nothing)
                    elements[access.array] = known.union(self._elements(access, here))
        for array, stored in elements.items():
            touched = out[array].touched
            assert touched is not None, "it has an access"
            out[array].is_overwritten = self._inside(touched).is_subset(stored)
        return out

    def _elements(self, access: Access, here: isl.Set) -> isl.Set:
        """The elements of an access, each axis a parameter."""
        points, marks = access.domain.intersect(here), _marks(len(access.index))
        for mark, index in zip(marks, access.index, strict=True):
            points = points.intersect(self._sets.parameter(mark).eq_set(index))
        return self._sets.project_out(points, [n for n in self._sets.names(points) if n not in marks])

    def _inside(self, box: Box) -> isl.Set:
        points = self._sets.everything
        for mark, (low, high) in zip(_marks(len(box)), box, strict=True):
            axis = self._sets.parameter(mark)
            points = points.intersect(axis.ge_set(self._sets.constant(low)))
            points = points.intersect(axis.lt_set(self._sets.constant(high)))
        return points

    def _box(self, access: Access, values: Mapping[Symbol, Any], here: isl.Set) -> Box | None:
        domain = access.domain.intersect(here)
        if domain.is_empty():
            return None
        sides = []
        for axis, index in enumerate(access.index):
            points = domain.intersect(self._sets.parameter(_MARK).eq_set(index))
            low, high = self._sets.value_range(points, _MARK)
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

    def _refuse_outside(self, checked: CheckedIndex, here: isl.Set) -> None:
        """Raises where an index of a view is out of bounds in some iteration."""
        index, extent = checked.index, checked.extent
        outside = index.ge_set(extent).union(index.add(extent).lt_set(self._sets.constant(0)))
        if outside.intersect(checked.domain.intersect(here)).is_empty():
            return
        text = f"an index of {checked.node.name!r} is out of bounds for axis {checked.node.axis}"
        if checked.approximate:
            raise UnsupportedError(text, checked.node.loc)
        raise IndexError(f"{checked.node.loc}: {text}")

    def _at(self, parameters: Mapping[str, int]) -> isl.Set:
        """The one point at which the parameters have these values."""
        points = self._sets.everything
        for name, value in parameters.items():
            points = points.intersect(self._sets.parameter(name).eq_set(self._sets.constant(value)))
        return points


def _marks(axes: int) -> list[str]:
    return [f"{_MARK} {axis}" for axis in range(axes)]
