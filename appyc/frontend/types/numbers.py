"""Types of numbers at compile time, and NumPy 2's rules for combining them (NEP 50).

A number is NumPy's (an array element, `np.float32(x)`) or Python's own (a literal, `len`,
a loop variable). Python's numbers are weak: beside one of NumPy's they take its type
where their kind allows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from appyc.errors import Loc, UnsupportedError
from appyc.ir.integers import Range, is_within, limits
from appyc.ir.types import DType


@dataclass(frozen=True, slots=True)
class Either:
    """The integer types that a value may have, as the path tells that was taken.

    dtypes: NumPy's. python: the least and the greatest of the Python ints that it may be. branches: the locations
    of the `if`s whose paths join, innermost first. loop: the location of the loop of which the first
    iteration has another type than the others.
    """

    dtypes: frozenset[DType]
    python: Range | None = None
    branches: tuple[Loc, ...] = field(default=(), compare=False)
    loop: Loc | None = field(default=None, compare=False)


class PartedTypesError(UnsupportedError):
    """An operation on a number whose type depends on the path, where the result depends on that type."""

    def __init__(self, either: Either | None, loc: Loc) -> None:
        super().__init__(
            "this integer is Python's on one path and NumPy's on another, or of two widths, and the result differs",
            loc,
            "convert it where it is assigned, with int(...) or np.int64(...)",
        )
        self.either = either


class TextAmongNumbersError(UnsupportedError):
    """A character, or a text, where a number is needed."""


@dataclass(frozen=True, slots=True)
class NumberType:
    """either: where the value is not of `dtype` in Python: it stands for one of several integer types, in one
    that holds the values of all. flagged: of a list's items, each of which is an int of Python's or a float64, and kept
    as a float64 beside a flag."""

    dtype: DType
    python: bool
    either: Either | None = None
    flagged: bool = False

    def __str__(self) -> str:
        if not self.python:
            return str(self.dtype)
        return {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex", "s": "str"}[
            self.dtype.kind
        ]


def column_types(kinds: Iterable[NumberType]) -> list[DType]:
    """The element types of the arrays that hold a list's items: those of their numbers, and the flags' of some."""
    kinds = list(kinds)
    return [kind.dtype for kind in kinds] + [DType.BOOL for kind in kinds if kind.flagged]


PY_BOOL = NumberType(DType.BOOL, python=True)
PY_INT = NumberType(DType.INT64, python=True)
PY_LARGE_INT = NumberType(DType.UINT64, python=True)
"""One from 0 to 2**64 - 1 that may not fit in 63 bits."""
PY_FLOAT = NumberType(DType.FLOAT64, python=True)
PY_COMPLEX = NumberType(DType.COMPLEX128, python=True)

_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
_PYTHON = (PY_BOOL, PY_INT, PY_FLOAT, PY_COMPLEX)
_WEAK = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}
"""Numbers of Python's own, whose values do not count beside NumPy's."""


def dtype_named(name: str) -> DType | None:
    """The element type of that NumPy name, or None where the IR has none."""
    return DType._value2member_map_.get(name)  # type: ignore[return-value]


def promote(a: NumberType, b: NumberType) -> NumberType:
    """The type that `a` and `b` meet in."""
    if a == b and a.either is None:
        return a
    if "s" in (a.dtype.kind, b.dtype.kind):
        raise TextAmongNumbersError("this use of a text is not compiled", Loc("", 0))
    if a.python and b.python:
        return _PYTHON[max(_RANK[a.dtype.kind], _RANK[b.dtype.kind])]
    if a.python != b.python:
        weak, strong = (a, b) if a.python else (b, a)
        return _numpy(np.result_type(strong.dtype.numpy, _WEAK[weak.dtype.kind]))
    return _numpy(np.promote_types(a.dtype.numpy, b.dtype.numpy))


def promoted(types: Iterable[NumberType]) -> NumberType:
    """The type that all of them meet in. NumPy's meet before Python's, of which only the kind counts beside them."""
    return reduce(promote, sorted(types, key=lambda kind: kind.python))


def promoted_dtype(dtypes: Iterable[DType]) -> DType:
    """The type that arrays of these element types meet in."""
    return promoted(NumberType(dtype, python=False) for dtype in dtypes).dtype


def _numpy(dtype: np.dtype[np.generic]) -> NumberType:
    return NumberType(DType(dtype.name), python=False)


def joined(a: NumberType, b: NumberType) -> NumberType | None:
    """The type for a value that is of type `a` on one path and of type `b` on another; None where there is none.

    Integers keep their values: the type holds all that either path may bring, and says which those are.
    """
    if a == b and (a.either is None or a.either.dtypes):
        return a
    if (a.dtype.kind == "s") != (b.dtype.kind == "s"):
        return None
    either = either_of(a, b)
    if either is None:
        return promote(replace(a, either=None), replace(b, either=None))
    dtypes, python = either.dtypes, either.python
    if not dtypes:
        assert python is not None
        return next((t for t in (PY_INT, PY_LARGE_INT) if is_within(python, limits(t.dtype))), None)
    needed = [limits(dtype) for dtype in dtypes] + ([python] if python is not None else [])
    for dtype in (*sorted(dtypes, key=lambda d: d.bits), DType.INT16, DType.INT32, DType.INT64):
        if all(is_within(each, limits(dtype)) for each in needed):
            return NumberType(dtype, False, either if python is not None or len(dtypes) > 1 else None)
    return None


def either_of(a: NumberType, b: NumberType) -> Either | None:
    """All integer types that one of the two may have; None where one is no integer."""
    one, other = _ways(a), _ways(b)
    if one is None or other is None:
        return None
    branches = tuple(dict.fromkeys(one.branches + other.branches))
    return Either(
        one.dtypes | other.dtypes, _hull(one.python, other.python), branches, one.loop or other.loop
    )


def _ways(t: NumberType) -> Either | None:
    """The types that an integer may have; None for what is none."""
    if t.either is not None:
        return t.either
    if t.python:
        return Either(frozenset(), limits(t.dtype)) if t.dtype.kind in "biu" else None
    return Either(frozenset({t.dtype})) if t.dtype.is_integer else None


def _hull(a: Range | None, b: Range | None) -> Range | None:
    if a is None or b is None:
        return a or b
    return min(a[0], b[0]), max(a[1], b[1])


def float_type_of(t: NumberType) -> NumberType:
    """The type that NumPy's float functions (sqrt, sin, …) compute in for this operand: float32 for int16."""
    if t.dtype.kind in "fc":
        return NumberType(t.dtype, python=False)
    if t.python and t != PY_BOOL:
        return NumberType(DType.FLOAT64, python=False)
    return _numpy(np.sqrt(np.ones(1, t.dtype.numpy)).dtype)


def division_type(a: NumberType, b: NumberType) -> NumberType:
    """The type of `a / b`: as promote, but integers give float64."""
    t = promote(a, b)
    return t if t.dtype.kind in "fc" else NumberType(DType.FLOAT64, t.python)


def holds(dtype: DType, value: int) -> bool:
    """Whether an integer type can hold a value."""
    return is_within((value, value), limits(dtype))


def is_put_into(given: DType, kind: DType) -> bool:
    """Whether an array that is given for results takes those of a type: integers take no floats, and those without a
    sign none that have one."""
    return bool(np.can_cast(given.numpy, kind.numpy, "same_kind"))


def as_dtype(obj: object) -> DType | None:
    """The element type that a Python object names where a dtype is expected, if any."""
    is_class = isinstance(obj, type) and (obj in (bool, int, float, complex) or issubclass(obj, np.generic))
    if not is_class and not isinstance(obj, np.dtype | str):
        return None
    try:
        found: np.dtype[np.generic] = np.dtype(obj)  # type: ignore[call-overload]
    except TypeError:
        return None
    return dtype_named(found.name) if found.isnative else None
