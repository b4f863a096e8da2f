"""Element types in C: their names, constants and neutral elements."""

from __future__ import annotations

import math

import numpy as np

from appyc.ir.integers import neutral_element
from appyc.ir.types import DType

C_TYPES: dict[DType, str] = {
    DType.BOOL: "bool",
    DType.INT8: "int8_t",
    DType.INT16: "int16_t",
    DType.INT32: "int32_t",
    DType.INT64: "int64_t",
    DType.UINT8: "uint8_t",
    DType.UINT16: "uint16_t",
    DType.UINT32: "uint32_t",
    DType.UINT64: "uint64_t",
    DType.FLOAT16: "uint16_t",  # its bits
    DType.FLOAT32: "float",
    DType.FLOAT64: "double",
    DType.COMPLEX64: "complex64",
    DType.COMPLEX128: "complex128",
}

# The compilers predefine these types, so that no header has to be read: compile time counts.
TYPEDEFS = "\n".join(
    ["typedef _Bool bool;"]
    + [f"typedef __INT{bits}_TYPE__ int{bits}_t;" for bits in (8, 16, 32, 64)]
    + [f"typedef __UINT{bits}_TYPE__ uint{bits}_t;" for bits in (8, 16, 32, 64)]
    + ["typedef float _Complex complex64;", "typedef double _Complex complex128;"]
    + ["#define true ((bool)1)", "#define false ((bool)0)"]
)


def c_type(dtype: DType) -> str:
    """The type of a scalar."""
    return C_TYPES[dtype]


def storage_type(dtype: DType) -> str:
    """The type of an array's element. A NumPy bool may hold any byte, which C's bool may not."""
    return "uint8_t" if dtype is DType.BOOL else C_TYPES[dtype]


def is_promoted(dtype: DType) -> bool:
    """True where C computes in int, so that a result has to be cast back."""
    return dtype.bits < 32 and not dtype.is_float


def real_suffix(dtype: DType) -> str:
    """The suffix of a C math function's name for this type."""
    return "f" if dtype.part is DType.FLOAT32 else ""


def constant(value: bool | int | float | complex, dtype: DType) -> str:
    """A constant of a type; integers wrap into it."""
    if dtype is DType.BOOL:
        return "true" if value else "false"
    if dtype is DType.FLOAT16:
        with np.errstate(over="ignore"):
            return f"(uint16_t){np.float16(value.real).view(np.uint16)}U"
    if dtype.is_complex:
        number = complex(value)
        return f"__builtin_complex({_real(number.real, dtype.part)}, {_real(number.imag, dtype.part)})"
    assert not isinstance(value, complex), f"complex constant of type {dtype}"
    return _real(float(value), dtype) if dtype.is_float else _integer(int(value), dtype)


def _real(value: float, dtype: DType) -> str:
    suffix = real_suffix(dtype)
    if math.isnan(value):
        return f'__builtin_nan{suffix}("")'
    if dtype is DType.FLOAT32:
        with np.errstate(over="ignore"):
            value = float(np.float32(value))
    if math.isinf(value):
        return f"({'-' if value < 0 else ''}__builtin_inf{suffix}())"
    text = f"{value!r}{suffix}"
    return f"({text})" if text.startswith("-") else text


def _integer(value: int, dtype: DType) -> str:
    value %= 1 << dtype.bits
    if dtype.kind == "u":
        return f"{value}UL" if dtype.bits == 64 else f"({c_type(dtype)}){value}U"
    if value >= 1 << (dtype.bits - 1):
        value -= 1 << dtype.bits
    if value == -(1 << 63):  # the literal without its sign would not fit
        return "(-9223372036854775807L - 1L)"
    text = f"{value}L" if dtype.bits == 64 else f"({c_type(dtype)}){value}"
    return f"({text})" if value < 0 or dtype.bits != 64 else text


def partial_start(op: str, dtype: DType, current: str) -> str:
    """The start value of a partial result of a reduction.

    Where combining twice changes nothing, the scalar's own value `current`: that keeps what
    Python's min and max do with NaN. For sums of floats, -0.0: it changes no sign of zero.
    """
    if op == "+":
        zero = -0.0 if dtype.is_float or dtype.is_complex else 0
        return constant(complex(zero, zero) if dtype.is_complex else zero, dtype)
    if op == "*":
        return constant(1, dtype)
    return constant(0, dtype) if op == "^" else current


def neutral(op: str, dtype: DType) -> str:
    """The neutral element of a reduction's operator."""
    return partial_start(op, dtype, "") if op == "+" else constant(neutral_element(op, dtype), dtype)
