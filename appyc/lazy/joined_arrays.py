"""Joined, shifted, repeated and padded arrays, and others whose elements NumPy takes one by one."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from appyc.lazy.applied import Applied, Shape, array_of, arrays_of, recorded
from appyc.lazy.operations import OPERAND

# ---------------------------------------------------------------- joined


def _along(shapes: Sequence[Shape], axis: int) -> Shape | None:
    """The shape of arrays concatenated along an axis; None where they do not fit."""
    first = shapes[0]
    rest = [shape[:axis] + shape[axis + 1 :] for shape in shapes]
    if any(len(shape) != len(first) for shape in shapes) or any(other != rest[0] for other in rest):
        return None
    return (*first[:axis], sum(shape[axis] for shape in shapes), *first[axis + 1 :])


def _joined(
    given: Any, shape: Callable[[list[Shape]], Shape | None], *keywords: tuple[str, Any]
) -> Applied | None:
    operands = arrays_of(given)
    found = None if operands is None else shape([o.shape for o in operands])
    if operands is None or found is None:
        return None
    return Applied(tuple(operands), ((OPERAND,) * len(operands),), keywords, found)


def _concatenate(given: Any, /, axis: int = 0) -> Applied | None:
    def shape(shapes: list[Shape]) -> Shape | None:
        rank = len(shapes[0])
        return _along(shapes, axis % rank) if -rank <= axis < rank else None

    return _joined(given, shape, ("axis", operator.index(axis)))


def _stack(given: Any, axis: int = 0) -> Applied | None:
    def shape(shapes: list[Shape]) -> Shape | None:
        first, rank = shapes[0], len(shapes[0]) + 1
        if any(other != first for other in shapes) or not -rank <= axis < rank:
            return None
        at = axis % rank
        return (*first[:at], len(shapes), *first[at:])

    return _joined(given, shape, ("axis", operator.index(axis)))


def _hstack(tup: Any) -> Applied | None:
    return _joined(tup, lambda shapes: _along(shapes, min(1, len(shapes[0]) - 1)))


def _vstack(tup: Any) -> Applied | None:
    return _joined(tup, lambda shapes: _along([s if len(s) > 1 else (1, *s) for s in shapes], 0))


def _column_stack(tup: Any) -> Applied | None:
    return _joined(tup, lambda shapes: _along([s if len(s) > 1 else (*s, 1) for s in shapes], 1))


def _dstack(tup: Any) -> Applied | None:
    def deep(shape: Shape) -> Shape:
        return (1, *shape, 1) if len(shape) == 1 else (*shape, 1) if len(shape) == 2 else shape

    return _joined(tup, lambda shapes: _along([deep(s) for s in shapes], 2))


# ---------------------------------------------------------------- moved and repeated


def _roll(a: Any, shift: Any, axis: Any = None) -> Applied | None:
    array = array_of(a)
    if array is None or type(shift) is not int or not (axis is None or type(axis) is int):
        return None
    return Applied((array, shift), (OPERAND, OPERAND), (("axis", axis),), array.shape)


def _round(a: Any, decimals: int = 0) -> Applied | None:
    array = array_of(a)
    if array is None or type(decimals) is not int:
        return None
    return Applied((array,), (OPERAND, decimals), (), array.shape)


def _nan_to_num(x: Any) -> Applied | None:
    array = array_of(x)
    return None if array is None else Applied((array,), (OPERAND,), (), array.shape)


def _isclose(a: Any, b: Any) -> Applied | None:
    operands = [array_of(a), array_of(b)]
    if any(o is None for o in operands) or operands[0].shape != operands[1].shape:
        return None
    return Applied(tuple(operands), (OPERAND, OPERAND), (), operands[0].shape)


def _triangle(m: Any, k: int = 0) -> Applied | None:
    array = array_of(m)
    if array is None or type(k) is not int or array.ndim < 2:
        return None
    return Applied((array, k), (OPERAND, OPERAND), (), array.shape)


def _tile(A: Any, reps: Any) -> Applied | None:  # noqa: N803  (NumPy's name)
    array = array_of(A)
    counts = (reps,) if type(reps) is int else tuple(reps) if isinstance(reps, tuple | list) else ()
    if array is None or not counts or any(type(n) is not int or n < 1 for n in counts):
        return None
    rank = max(array.ndim, len(counts))
    whole = (1,) * (rank - array.ndim) + array.shape
    times = (1,) * (rank - len(counts)) + counts
    return Applied((array,), (OPERAND, counts), (), tuple(map(math.prod, zip(whole, times, strict=True))))


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Applied | None:
    array = array_of(a)
    if array is None or type(repeats) is not int or repeats < 1 or not (axis is None or type(axis) is int):
        return None
    shape: Shape = (array.size * repeats,)
    if axis is not None:
        if not -array.ndim <= axis < array.ndim:
            return None
        at = axis % array.ndim
        shape = (*array.shape[:at], array.shape[at] * repeats, *array.shape[at + 1 :])
    return Applied((array,), (OPERAND, repeats), (("axis", axis),), shape)


def _pad(array: Any, pad_width: Any, mode: Any = "constant", **more: Any) -> Applied | None:
    source = array_of(array)
    if source is None or mode not in ("constant", "edge") or not more.keys() <= {"constant_values"}:
        return None
    if any(type(value) is not int for value in more.values()) or (more and mode == "edge"):
        return None
    widths = _widths(pad_width, source.ndim)
    if widths is None:
        return None
    shape = tuple(before + n + after for n, (before, after) in zip(source.shape, widths, strict=True))
    return Applied((source,), (OPERAND, widths), (("mode", mode), *more.items()), shape)


def _widths(given: Any, rank: int) -> tuple[tuple[int, int], ...] | None:
    """How much is put before and after each axis; None for what NumPy must see to."""
    if type(given) is int:
        found = ((given, given),) * rank
    elif isinstance(given, tuple | list) and len(given) == 2 and all(type(n) is int for n in given):
        found = ((given[0], given[1]),) * rank
    elif isinstance(given, tuple | list) and len(given) == rank:
        if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in given):
            return None
        found = tuple((pair[0], pair[1]) for pair in given)
    else:
        return None
    return found if all(type(n) is int and n >= 0 for pair in found for n in pair) else None


ARRANGED: dict[Any, Callable[..., Any]] = {
    np.concatenate: recorded("concatenate", _concatenate), np.stack: recorded("stack", _stack),
    np.hstack: recorded("hstack", _hstack), np.vstack: recorded("vstack", _vstack),
    np.column_stack: recorded("column_stack", _column_stack), np.dstack: recorded("dstack", _dstack),
    np.roll: recorded("roll", _roll), np.round: recorded("round", _round), np.around: recorded("round", _round),
    np.tile: recorded("tile", _tile), np.repeat: recorded("repeat", _repeat), np.pad: recorded("pad", _pad),
    np.tril: recorded("tril", _triangle), np.triu: recorded("triu", _triangle),
    np.isclose: recorded("isclose", _isclose), np.nan_to_num: recorded("nan_to_num", _nan_to_num),
}  # fmt: skip
