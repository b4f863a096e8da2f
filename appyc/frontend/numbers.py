"""Types of numbers at compile time, and NumPy 2's rules for combining them (NEP 50).

A number is NumPy's (an array element, `np.float32(x)`) or Python's own (a literal, `len`,
a loop variable). Python's numbers are weak: beside one of NumPy's they take its type
where their kind allows it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from appyc.ir.types import DType


@dataclass(frozen=True, slots=True)
class NumberType:
    dtype: DType
    python: bool

    def __str__(self) -> str:
        if not self.python:
            return str(self.dtype)
        return {"b": "bool", "i": "int", "f": "float", "c": "complex"}[self.dtype.kind]


PY_BOOL = NumberType(DType.BOOL, python=True)
PY_INT = NumberType(DType.INT64, python=True)
PY_FLOAT = NumberType(DType.FLOAT64, python=True)
PY_COMPLEX = NumberType(DType.COMPLEX128, python=True)

_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
_PYTHON = (PY_BOOL, PY_INT, PY_FLOAT, PY_COMPLEX)


def dtype_named(name: str) -> DType | None:
    """The element type of that NumPy name, or None where the IR has none."""
    return DType._value2member_map_.get(name)  # type: ignore[return-value]


def promote(a: NumberType, b: NumberType) -> NumberType | None:
    """The type that `a` and `b` meet in, or None where NumPy's answer is a type the IR lacks."""
    if a == b:
        return a
    if a.python and b.python:
        return _PYTHON[max(_RANK[a.dtype.kind], _RANK[b.dtype.kind])]
    if a.python != b.python:
        weak, strong = (a, b) if a.python else (b, a)
        return _promote_weak(weak, strong)
    return _numpy(np.promote_types(a.dtype.numpy, b.dtype.numpy))


def _promote_weak(weak: NumberType, strong: NumberType) -> NumberType | None:
    if _RANK[weak.dtype.kind] <= _RANK[strong.dtype.kind]:
        return strong
    match weak.dtype.kind, strong.dtype.kind:
        case "i", "b":
            return NumberType(DType.INT64, python=False)
        case "f", _:
            return NumberType(DType.FLOAT64, python=False)
        case "c", "f":
            return NumberType(
                DType.COMPLEX64 if strong.dtype is DType.FLOAT32 else DType.COMPLEX128, python=False
            )
        case _:
            return NumberType(DType.COMPLEX128, python=False)


def _numpy(dtype: np.dtype[np.generic]) -> NumberType | None:
    found = dtype_named(dtype.name)
    return None if found is None else NumberType(found, python=False)


def float_type_of(t: NumberType) -> NumberType | None:
    """What NumPy's float functions (sqrt, sin, …) compute in for this operand: int16 gives float32."""
    if t.dtype.kind in "fc":
        return NumberType(t.dtype, python=False)
    if t.python:
        return NumberType(DType.FLOAT64, python=False)
    return _numpy(np.sqrt(np.ones(1, t.dtype.numpy)).dtype)


def division_type(a: NumberType, b: NumberType) -> NumberType | None:
    """The type of `a / b`: as promote, but integers give float64."""
    t = promote(a, b)
    if t is None or t.dtype.kind in "fc":
        return t
    return NumberType(DType.FLOAT64, t.python)


def holds(dtype: DType, value: int) -> bool:
    """Whether an integer type can hold a value."""
    low = 0 if dtype.kind == "u" else -(1 << (dtype.bits - 1))
    return low <= value < low + (1 << dtype.bits)
