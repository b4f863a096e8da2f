"""Describes how overlapping arguments alias: the same elements, or views of one base at constant offsets.

    f(x, x)            both are one array
    f(x[1:], x[:-1])   element i of the first is element i + 1 of the second
    f(u[1:-1, 1:-1], u[:-2, 1:-1], u[2:, 1:-1])       the same in two dimensions

Arrays of one type with the same strides are described as parts of a base, the smallest box
that holds them all. Where that is not possible (other strides, another dtype, an array that
meets itself) there is no description, and the version runs that is valid for any arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from appyc.ir.aliasing import SharedArray, Sharing
from appyc.runtime import overlap
from appyc.runtime.signature import layout_of

Array: TypeAlias = np.ndarray[Any, Any]

MAX_BUILT_IN = 64
"""Offsets up to that are part of the code: a small distance decides how many lanes there may be."""


@dataclass(frozen=True, slots=True)
class Described:
    """sharing: what a version is compiled for. hidden: its additional arguments at this call."""

    sharing: Sharing
    hidden: tuple[object, ...]


def describe_sharing(
    values: Sequence[object], written: frozenset[int], *, any_distance: bool
) -> Described | None:
    """The sharing of memory between arguments; None where it cannot be described.

    any_distance: all offsets are hidden arguments, so that one version serves them all.
    """
    if any(isinstance(values[n], np.ndarray) and overlap.may_overlap_itself(values[n]) for n in written):  # type: ignore[arg-type]
        return None
    groups: list[SharedArray] = []
    hidden: list[object] = []
    for members in overlap.touching(values, written):
        arrays = [values[n] for n in members]
        if are_one(arrays):
            groups.append(SharedArray(members))
            continue
        if not all(isinstance(a, np.ndarray) for a in arrays):
            return None
        found = _in_base(arrays)  # type: ignore[arg-type]
        if found is None:
            return None
        base, offsets = found
        built_in = [
            tuple(None if any_distance or o > MAX_BUILT_IN else o for o in offset) for offset in offsets
        ]
        groups.append(SharedArray(members, tuple(built_in), layout_of(base).value))
        hidden.append(base)
        hidden += [
            o
            for offset, known in zip(offsets, built_in, strict=True)
            for o, k in zip(offset, known, strict=True)
            if k is None
        ]
    return Described(tuple(groups), tuple(hidden)) if groups else None


def are_one(arrays: Sequence[Any]) -> bool:
    """Whether arrays are the same view: equal address, shape, strides and element type."""
    faces = [overlap.interface_of(a) or {} for a in arrays]
    first, *others = [(f["data"][0], tuple(f["shape"]), f.get("strides"), f["typestr"]) for f in faces]
    return all(other == first for other in others)


def _in_base(arrays: Sequence[Array]) -> tuple[Array, list[tuple[int, ...]]] | None:
    """An array that all of these are views of, and the index in it of each one's first element."""
    first = arrays[0]
    for array in arrays:
        is_alike = array.dtype == first.dtype and array.strides == first.strides and array.flags.aligned
        if not is_alike or overlap.may_overlap_itself(array):
            return None
    offsets: list[tuple[int, ...]] = []
    for array in arrays:
        distance = _address(array) - _address(first)
        found = next(
            (
                o
                for o in _decompositions(distance, first.strides)
                if _box([*offsets, o], arrays, first.strides)
            ),
            None,
        )
        if found is None:
            return None
        offsets.append(found)
    box = _box(offsets, arrays, first.strides)
    assert box is not None
    low, shape = box
    base = _part_of_owner(first, low, shape)
    return (
        None if base is None else (base, [tuple(o - m for o, m in zip(p, low, strict=True)) for p in offsets])
    )


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _decompositions(distance: int, strides: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Offsets that add up to a distance in bytes; two candidates for each axis, the long strides first."""
    order = sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))

    def search(rest: int, axes: list[int]) -> Iterator[dict[int, int]]:
        if not axes:
            if rest == 0:
                yield {}
            return
        axis, *others = axes
        low = rest // strides[axis] if strides[axis] else 0
        for offset in (low, low + 1) if strides[axis] else (0,):
            for found in search(rest - offset * strides[axis], others):
                yield {axis: offset, **found}

    for found in search(distance, order):
        yield tuple(found[axis] for axis in range(len(strides)))


def _box(
    offsets: Sequence[tuple[int, ...]], arrays: Sequence[Array], strides: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The corner and the shape of what holds the arrays, if it has no element twice."""
    low = tuple(min(o[axis] for o in offsets) for axis in range(len(strides)))
    shape = tuple(
        max(o[axis] + a.shape[axis] for o, a in zip(offsets, arrays, strict=False)) - low[axis]
        for axis in range(len(strides))
    )
    return (low, shape) if overlap.are_apart(shape, strides, arrays[0].itemsize) else None


def _part_of_owner(first: Array, low: tuple[int, ...], shape: tuple[int, ...]) -> Array | None:
    """The box as an array, if all of it lies in the memory of the array that `first` is a view of."""
    owner = first
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    start = _address(first) + sum(o * s for o, s in zip(low, first.strides, strict=True))
    begin, end = overlap.bytes_from(start, shape, first.strides, first.itemsize)
    span = overlap.byte_range(owner)
    if span is None or begin < span[0] or end > span[1]:
        return None
    where = {"data": (start, False), "shape": shape, "strides": first.strides}
    face = {**where, "typestr": first.dtype.str, "version": 3}
    return np.asarray(SimpleNamespace(__array_interface__=face, owner=owner))  # which keeps the memory
