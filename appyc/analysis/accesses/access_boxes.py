"""The boxes of each array that a piece of a program reads and writes, for given sizes and bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from appyc.analysis.accesses.access_relations import accesses_of
from appyc.analysis.accesses.accesses import Access, CheckedIndex
from appyc.analysis.sets.evaluate import evaluate
from appyc.analysis.sets.lazy_isl import isl
from appyc.analysis.sets.presburger import Presburger
from appyc.errors import Note, UnsupportedError
from appyc.ir.nodes import Function, Symbol

Box: TypeAlias = tuple[tuple[int, int], ...]
"""A box of array indices: for each axis the first index and the one after the last."""

_MARK = "the index"

_MOST_KNOWN = 1 << 14
"""Answers that are kept."""


WHOLE = 128 << 20
"""Bytes of the largest array that a block takes whole, where its indices are elements of arrays."""


@dataclass(slots=True)
class Region:
    """The parts of one array that are accessed. boxes: of each access. parts: fewer boxes, which hold all of
    these. touched: a box around them, that of whole axes along which an index may be negative; None where
    nothing is accessed. written: the same of the writes. named: axes along which elements of arrays are
    indices, of an array of more than WHOLE bytes that is only read. is_overwritten: surely every element of
    it is written, and none is read."""

    parts: list[Box] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    named: set[int] = field(default_factory=set)
    touched: Box | None = None
    written: Box | None = None
    is_overwritten: bool = False

    def add(self, box: Box) -> None:
        """Another part, together with those that a box around both holds no more elements than."""
        for other in self.parts:
            both = joined(other, box)
            if volume(both) <= volume(other) + volume(box):
                self.parts.remove(other)
                self.add(both)
                return
        self.parts.append(box)


def joined(one: Box | None, other: Box) -> Box:
    """The smallest box around two, the first of which may be empty."""
    if one is None or any(low >= high for low, high in one):
        return other
    return tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(one, other, strict=True))


def volume(box: Box) -> int:
    return math.prod(high - low for low, high in box)


def without(box: Box, hole: Box) -> list[Box]:
    """Boxes of the elements of one that another has not."""
    out, left = list[Box](), box
    for axis, (low, high) in enumerate(hole):
        first, end = left[axis]
        sides = (first, min(max(low, first), end)), (max(min(high, end), first), end)
        out += [(*left[:axis], side, *left[axis + 1 :]) for side in sides if side[0] < side[1]]
        left = (*left[:axis], (sides[0][1], sides[1][0]), *left[axis + 1 :])
    return out


def overlap(one: Box, other: Iterable[tuple[int, int]]) -> Box:
    """The elements that two boxes have in common."""
    return tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other, strict=True))


def meet(one: Box, other: Box | None) -> bool:
    """Whether two boxes have an element in common."""
    return other is not None and all(low < high for low, high in overlap(one, other))


class Regions:
    """The accesses of a function, of which boxes are asked for one block of iterations after another."""

    def __init__(self, fn: Function) -> None:
        self._found = accesses_of(fn, Presburger())
        self._sets = self._found.sets
        self._needs = [self._names(a.domain, *a.index) for a in self._found.accesses]
        self._needs_of_checks = [
            self._names(c.domain, *c.index, *c.extents) for c in self._found.checked_indices
        ]
        names = self._found.affine.names.items()
        self._origins = [
            (n, known.origin) for n, known in names if known.origin is not None and not known.depth
        ]
        self._wrapped: dict[Symbol, set[int]] = {}
        self._gathered: dict[Symbol, set[int]] = {}
        self._known: dict[tuple[object, ...], dict[Symbol, Region]] = {}
        """The answers, by the values of what the sets depend on: time steps ask the same again."""

    def boxes(self, values: Mapping[Symbol, Any]) -> dict[Symbol, Region]:
        """The region of each parameter that is accessed. values: the scalar parameters, and arrays by their shapes.

        Raises UnsupportedError for a write without a bound to an array of more than WHOLE bytes, IndexError for an
        access outside its array.
        """
        parameters = {}
        for name, origin in self._origins:
            with suppress(LookupError):  # a scalar that a task computes
                parameters[name] = int(evaluate(origin, values))
        key = (*parameters, *parameters.values())
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._sets.start_again()
            self._known[key] = self._boxes(values, self._at(parameters), parameters.keys())
        return self._known[key]

    def _names(self, *things: isl.Set) -> frozenset[str]:
        """The names in some sets that are not loop variables."""
        names = {name for thing in things for name in self._sets.names(thing)}
        return frozenset(name for name in names if self._found.affine.names[name].loop is None)

    def _boxes(
        self, values: Mapping[Symbol, Any], here: isl.Set, known_names: Set[str]
    ) -> dict[Symbol, Region]:
        """here: where the parameters of the sets have their values. What depends on others is approximate."""
        for checked, needs in zip(self._found.checked_indices, self._needs_of_checks, strict=True):
            self._refuse_outside(
                checked if needs <= known_names else replace(checked, approximate=True), here
            )
        accesses = [
            access if needs <= known_names else replace(access, approximate=True)
            for access, needs in zip(self._found.accesses, self._needs, strict=True)
        ]
        out: dict[Symbol, Region] = {}
        self._wrapped.clear()
        self._gathered.clear()
        kept = {a.array for a in accesses if a.op != "write" or a.approximate}
        elements: dict[Symbol, isl.Set] = {}
        for access in accesses:
            if access.array not in values:
                continue  # local to an iteration
            boxes = self._parts(access, values[access.array].shape, here)
            for box in boxes:
                region = out.setdefault(access.array, Region())
                region.boxes.append(box)
                region.add(box)
                region.touched = joined(region.touched, box)
                if access.writes:
                    region.written = joined(region.written, box)
            if boxes and access.array not in kept:
                known = elements.get(access.array, self._sets.nothing)
                elements[access.array] = known.union(self._elements(access, here))
        for array, stored in elements.items():
            touched = out[array].touched
            assert touched is not None, "it has an access"
            out[array].is_overwritten = self._inside(touched).is_subset(stored)
        for array, region in out.items():
            assert region.touched is not None, "it has an access"
            region.named = self._gathered.get(array, set())
            if region.written is not None:
                region.add(region.written)
            region.touched = tuple(
                (0, extent) if axis in self._wrapped.get(array, ()) else side
                for axis, (side, extent) in enumerate(zip(region.touched, values[array].shape, strict=True))
            )
        return out

    def _elements(self, access: Access, here: isl.Set) -> isl.Set:
        """The elements of an access, each axis a parameter."""
        points, marks = access.domain.intersect(here), _marks(len(access.index))
        for mark, index in zip(marks, access.index, strict=True):
            points = points.intersect(self._sets.parameter(mark).eq_set(index))
        return self._sets.forget(points, lambda name: name not in marks)

    def _inside(self, box: Box) -> isl.Set:
        points = self._sets.everything
        for mark, (low, high) in zip(_marks(len(box)), box, strict=True):
            axis = self._sets.parameter(mark)
            points = points.intersect(axis.ge_set(self._sets.constant(low)))
            points = points.intersect(axis.lt_set(self._sets.constant(high)))
        return points

    def _parts(self, access: Access, shape: tuple[int, ...], here: isl.Set) -> list[Box]:
        """The elements of an access as boxes: several where some indices count from the end."""
        domain = access.domain.intersect(here)
        if domain.is_empty():
            return []
        sides = [self._sides(access, axis, extent, domain, shape) for axis, extent in enumerate(shape)]
        return list(itertools.product(*sides))

    def _sides(
        self, access: Access, axis: int, extent: int, domain: isl.Set, shape: tuple[int, ...]
    ) -> list[tuple[int, int]]:
        points = domain.intersect(self._sets.parameter(_MARK).eq_set(access.index[axis]))
        low, high = self._sets.value_range(points, _MARK)
        if low is None or high is None:
            is_large = math.prod(shape) * access.array.dtype.itemsize > WHOLE
            if is_large:
                self._gathered.setdefault(access.array, set()).add(axis)
            if is_large and access.writes:
                other = next(
                    (a for a in self._found.accesses if a.array == access.array and a.loc != access.loc),
                    access,
                )
                raise UnsupportedError(
                    f"which elements of {access.array.name!r} a block touches is not known before it runs", access.loc,
                    "in this loop let all accesses of it be stores, with one operator or none",
                    label="one block writes here",
                    related=(Note(other.loc, f"another may {'write' if other.writes else 'read'} the same element"),),
                )  # fmt: skip
            low, high = -extent, extent - 1
        if low < -extent or high >= extent:
            if not access.approximate:
                text = f"{access.array.name!r} has length {extent} along axis {axis}; a block touches {low} to {high}"
                raise IndexError(f"{access.loc}: {text}")
            low, high = -extent, extent - 1  # the block tests them
        if low >= 0:
            return [(low, high + 1)]
        self._wrapped.setdefault(access.array, set()).add(axis)
        zero = self._sets.constant(0)
        below = self._sets.value_range(points.intersect(self._sets.parameter(_MARK).lt_set(zero)), _MARK)[1]
        above = self._sets.value_range(points.intersect(self._sets.parameter(_MARK).ge_set(zero)), _MARK)[0]
        sides = [(low + extent, (-1 if below is None else below) + extent + 1)]
        if high >= 0:
            sides.append((0 if above is None else above, high + 1))
        return [(0, extent)] if low + extent <= high else sides

    def _refuse_outside(self, checked: CheckedIndex, here: isl.Set) -> None:
        """Raises where an index of a view is out of bounds in some iteration."""
        (index,), (extent,) = checked.index, checked.extents
        outside = index.ge_set(extent).union(index.lt_set(self._sets.constant(0)))
        if outside.intersect(checked.domain.intersect(here)).is_empty():
            return
        text = f"an index of {checked.name!r} is out of bounds for axis {checked.axis}"
        if checked.approximate:
            raise UnsupportedError(text, checked.loc)
        raise IndexError(f"{checked.loc}: {text}")

    def _at(self, parameters: Mapping[str, int]) -> isl.Set:
        """The one point at which the parameters have these values."""
        points = self._sets.everything
        for name, value in parameters.items():
            points = points.intersect(self._sets.parameter(name).eq_set(self._sets.constant(value)))
        return points


def _marks(axes: int) -> list[str]:
    return [f"{_MARK} {axis}" for axis in range(axes)]
