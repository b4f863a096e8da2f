"""Which calls the compiled dispatcher is to take: its rules in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from appyc.ir.arguments import ArgType, NoneArg, ScalarArg, TupleArg
from appyc.ir.types import ArrayType, DType
from appyc.runtime.frame import Kernel, flat_values
from appyc.runtime.overlap import byte_range, may_overlap_itself
from appyc.runtime.shared_views import are_one
from appyc.runtime.signature import layout_of


def fits(kernel: Kernel, args: Sequence[object]) -> bool:
    """Whether a kernel may run on these arguments: exact types, and no overlap that it would see."""
    face = kernel.interface
    if len(args) != len(face.arguments):
        return False
    if not all(fits_type(t, v) for t, v in zip(face.arguments, args, strict=True)):
        return False
    values = flat_values(face.arguments, args)
    if not all(n == same or are_one([values[n], values[same]]) for n, same in enumerate(kernel.same)):
        return False
    if not face.written:
        return True
    if not all(values[i].flags.writeable for i in face.written):  # type: ignore[attr-defined]
        return False
    return not may_overlap(values, face.written, kernel.same)


def fits_type(type_: ArgType, value: object) -> bool:
    """Whether a value has exactly this type; a read-only array will do for a writeable one."""
    if isinstance(type_, ArrayType):
        return type(value) is np.ndarray and _fits_array(type_, value)
    if isinstance(type_, ScalarArg):
        if not type_.python:
            return type(value) is type_.dtype.numpy.type
        return type(value) is _PYTHON_TYPES[type_.dtype.kind] and _in_range(type_.dtype, value)
    if isinstance(type_, TupleArg):
        return (
            (type(value) is tuple) == (not type_.names)
            and getattr(type(value), "_fields", ()) == type_.names
            and isinstance(value, tuple)
            and len(value) == len(type_.items)
            and all(fits_type(t, v) for t, v in zip(type_.items, value, strict=True))
        )
    assert isinstance(type_, NoneArg)
    return value is None


_PYTHON_TYPES: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def _in_range(dtype: DType, value: object) -> bool:
    if not isinstance(value, int):
        return True
    return 2**63 <= value < 2**64 if dtype is DType.UINT64 else -(2**63) <= value < 2**63


def _fits_array(type_: ArrayType, array: np.ndarray[Any, Any]) -> bool:
    return (
        array.ndim == type_.ndim
        and array.dtype == type_.dtype.numpy
        and array.flags.aligned
        and layout_of(array) is type_.layout
    )


def may_overlap(values: Sequence[object], written: frozenset[int], same: Sequence[int] = ()) -> bool:
    """False only where no written array shares memory with another argument or with itself.

    same: as in `Kernel`; arrays that are taken for one may overlap.
    """
    groups = same or range(len(values))
    ranges = {i: byte_range(v) for i, v in enumerate(values) if isinstance(v, np.ndarray)}
    for i in written:
        lo, hi = ranges[i]
        if any(
            groups[i] != groups[j] and lo < other_hi and other_lo < hi
            for j, (other_lo, other_hi) in ranges.items()
        ):
            return True
        if may_overlap_itself(values[i]):  # type: ignore[arg-type]
            return True
    return False
