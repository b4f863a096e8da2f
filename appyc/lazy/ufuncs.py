"""Recording of operators and ufuncs, and the cases that run in NumPy."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from appyc.lazy import arrays, operations
from appyc.lazy.evaluation import changing, evaluated, require
from appyc.lazy.recorder import array, record, record_ordered, record_store
from appyc.lazy.residence import is_chunked

COMPILED_UFUNCS = frozenset({
    np.add, np.subtract, np.multiply, np.true_divide, np.floor_divide, np.remainder, np.power, np.negative,
    np.positive, np.absolute, np.fabs, np.sign, np.sqrt, np.square, np.reciprocal, np.exp, np.exp2, np.expm1,
    np.log, np.log2, np.log10, np.log1p, np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.arctan2,
    np.sinh, np.cosh, np.tanh, np.hypot, np.floor, np.ceil, np.trunc, np.minimum, np.maximum, np.fmin, np.fmax,
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.logical_and, np.logical_or,
    np.logical_not, np.logical_xor, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift,
    np.right_shift, np.isnan, np.isinf, np.isfinite, np.conjugate, np.arcsinh, np.arccosh, np.arctanh, np.cbrt,
    np.copysign, np.deg2rad, np.rad2deg, np.degrees, np.radians, np.float_power, np.fmod, np.gcd, np.lcm,
    np.heaviside, np.ldexp, np.logaddexp, np.logaddexp2, np.nextafter, np.rint, np.signbit, np.bitwise_count,
})  # fmt: skip
"""Ufuncs with one result that compiled code has."""


PYTHON_NUMBERS = (bool, int, float, complex)


def as_operand(value: Any, dtype: np.dtype[Any] | None = None) -> Any:
    """An operand as it is recorded: an array of ours, or a number. None for what is neither.

    dtype: of an array that the value is stored in. Items of lists are converted to it as NumPy does, which refuses
    what it does not hold.
    """
    kind = type(value)
    if kind is float or kind is int:
        return value
    if isinstance(value, arrays.Array):
        return value if value.is_straight else value.compilable()
    if isinstance(value, bool | int | float | complex | np.generic):
        return value
    if isinstance(value, list | tuple):
        return array(value, dtype)
    return array(value) if kind is np.ndarray or isinstance(value, str | bytes) or is_chunked(value) else None


def operands_of(*values: Any) -> tuple[Any, ...]:
    """Operands as they are recorded. Raises LeftToNumPy for what is none."""
    found = tuple(as_operand(value) for value in values)
    require(all(operand is not None for operand in found))
    return found


def type_of(operand: Any) -> Any:
    """The type by which ufuncs resolve an operand: a Python number's class, else a dtype."""
    kind = type(operand)
    return kind if kind is float or kind is int or kind is complex or kind is bool else operand.dtype


def is_compiled(operands: Sequence[Any]) -> bool:
    return all(type(o) in PYTHON_NUMBERS or o.dtype in operations.COMPILED_DTYPES for o in operands)


def fits(operands: Sequence[Any]) -> bool:
    """Whether Python's integers among the operands fit the types of the arrays beside them."""
    integers = [operand for operand in operands if type(operand) is int]
    if not integers:
        return True
    least, most = range_of_integers(*[o.dtype for o in operands if type(o) not in PYTHON_NUMBERS])
    return least <= min(integers) <= max(integers) <= most


@functools.lru_cache(maxsize=1 << 10)
def range_of_integers(*dtypes: np.dtype) -> tuple[int, int]:
    """The integers that fit these types, and 64 bits."""
    limits = [np.iinfo(dtype) for dtype in (np.dtype(np.int64), *dtypes) if dtype.kind in "iu"]
    return max(int(one.min) for one in limits), min(int(one.max) for one in limits)


Kind: TypeAlias = tuple[Any, Any]
"""The key of an operand: dtype and shape of an array; class of a number, and its value where that counts."""


Recorded: TypeAlias = tuple[operations.Operation, tuple[Any, ...], tuple[int, ...], np.dtype]
"""An operation, its operands, and shape and dtype of the result."""


def pointwise(ufunc: np.ufunc, operands: tuple[Any, ...]) -> Recorded | None:
    """The recorded form of a ufunc of these operands; None where NumPy must run it."""
    kinds: list[Kind] = []
    for operand in operands:
        kind = type(operand)
        if kind is arrays.ndarray or kind is arrays.number:
            kinds.append((operand.dtype, operand.shape))
        else:
            kinds.append((kind, operand if ufunc is np.power and len(kinds) == 1 else None))
    found = _found(ufunc, *kinds)
    if found is None or not fits(operands):
        return None
    operation, shape, dtype = found
    return operation, operands[:1] if operation.kind is operations.Kind.POWER else operands, shape, dtype


@functools.lru_cache(maxsize=1 << 14)
def _found(ufunc: np.ufunc, *kinds: Kind) -> tuple[operations.Expression, tuple[int, ...], np.dtype] | None:
    """The operation that a ufunc is for operands of these types and shapes, and shape and dtype of the result."""
    types = [
        kind if kind in PYTHON_NUMBERS and isinstance(kind, type) else np.dtype(kind) for kind, _ in kinds
    ]
    dtypes = [one for one in types if isinstance(one, np.dtype)]
    shapes = [more for kind, more in kinds if isinstance(kind, np.dtype)]
    dtype, shape = operations.ufunc_dtype(ufunc, *types), operations.broadcast(*shapes) if dtypes else None
    if ufunc not in COMPILED_UFUNCS or not operations.COMPILED_DTYPES.issuperset(dtypes):
        return None
    if dtype not in operations.COMPILED_DTYPES or dtype is None or shape is None:
        return None
    operation = operations.pointwise(ufunc)
    if ufunc is np.power:
        exponent = kinds[1][1]
        if np.dtype(types[0]) == np.bool_ or (
            dtype.kind == "i" and not (type(exponent) is int and exponent >= 0)
        ):
            return None  # a negative exponent raises
        if type(exponent) in (int, float) and -4 <= exponent <= 4:
            operation = operations.power(exponent)
    return operation, shape, dtype


def binary(ufunc: np.ufunc, one: Any, two: Any) -> Any:
    """An operator of two operands."""
    # Where NumPy must see to it, the operator does, not the ufunc: they differ for powers of booleans, for
    # comparisons with text, and for what has operators of its own.
    operands = (as_operand(one), as_operand(two))
    if operands[0] is None or operands[1] is None or (ufunc is np.multiply and _is_repetition(one, two)):
        return evaluated(OPERATORS.get(ufunc, ufunc), (one, two), {})
    if ufunc is np.matmul:
        return product(*operands)
    found = pointwise(ufunc, operands)
    if found is None:
        return evaluated(OPERATORS.get(ufunc, ufunc), operands, {})
    return record_ordered(*found)


def _is_repetition(one: Any, two: Any) -> bool:
    """Whether a number times a sequence of Python's repeats that."""
    kinds = (type(one), type(two))
    return arrays.number in kinds and any(issubclass(k, list | tuple | str | bytes) for k in kinds)


ARITHMETIC = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "matmul": np.matmul, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}  # fmt: skip
COMPARISONS = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
               "ne": np.not_equal}  # fmt: skip
"""The ufuncs of operators, by the names that Python has for these."""

OPERATORS: dict[np.ufunc, Callable[[Any, Any], Any]] = {
    ufunc: getattr(operator, f"__{name}__") for name, ufunc in (ARITHMETIC | COMPARISONS).items()
}
UPDATES: dict[np.ufunc, Callable[[Any, Any], Any]] = {
    ufunc: getattr(operator, f"__i{name}__") for name, ufunc in ARITHMETIC.items()
}


def update(ufunc: np.ufunc, target: arrays.Array, value: Any) -> Any:
    """An operator in place. Gives the target, or what a value with ufuncs of its own makes of them. Raises NumPy's
    errors for a result that does not fit the target."""
    operand = None if target.is_window or ufunc is np.matmul else as_operand(value)
    found = None if operand is None else pointwise(ufunc, (target, operand))
    if found is None or found[2] != target.shape or not np.can_cast(found[3], target.dtype, "same_kind"):
        made = changing(target, UPDATES[ufunc], value)
        return target if type(made) is np.ndarray else made
    operation, operands, shape, _ = found
    record_store(operation, operands, target, shape)
    return target


def store(target: arrays.Array, value: Any) -> None:
    """`target[...] = value`."""
    is_known = target.dtype in operations.COMPILED_DTYPES and not target.is_window
    is_known = is_known and not _is_stored_in_order(target, value)
    operand = as_operand(value, target.dtype) if is_known else None
    if operand is None or not is_compiled((operand,)):
        changing(target, np.ndarray.__setitem__, ..., value)
        return
    if isinstance(operand, arrays.Array) and operand.buffer is target.buffer and operand.path == target.path:
        return  # the end of `a[i] += x`
    shape = operand.shape if isinstance(operand, arrays.Array) else ()
    if operations.broadcast(shape, target.shape) != target.shape or not fits((target, operand)):
        changing(target, np.ndarray.__setitem__, ..., value)  # raises, or stretches
        return
    if isinstance(operand, arrays.number) and operand.dtype.kind in "fc" and target.dtype.kind in "biu":
        operand = operand.value()  # which NumPy refuses if it is none
    is_number = type(operand) in PYTHON_NUMBERS
    if is_number or (not isinstance(operand, arrays.Array) and operand.dtype != target.dtype):
        one = np.empty((), target.dtype)
        one[()] = operand
        operand = one[()]
    record_store(operations.convert(target.dtype), (operand,), target, shape)


def _is_stored_in_order(target: arrays.Array, value: Any) -> bool:
    """Whether the value is a list with views of the target: NumPy reads each when those before it are stored."""
    return isinstance(value, list | tuple) and any(
        isinstance(item, arrays.Array) and item.shape and item.buffer is target.buffer for item in value
    )


def product(one: Any, two: Any) -> Any:
    """`one @ two`. Two matrices are multiplied by BLAS, between compiled programs."""
    shapes = (getattr(one, "shape", ()), getattr(two, "shape", ()))
    shape = None if one is None or two is None else operations.product_shape(*shapes)
    if shape is None or not is_compiled((one, two)):
        return evaluated(np.matmul, (one, two), {})
    dtype = operations.ufunc_dtype(np.matmul, one.dtype, two.dtype)
    if dtype is None:
        return evaluated(np.matmul, (one, two), {})
    return record(operations.product(hosted=len(shapes[0]) + len(shapes[1]) > 3), (one, two), shape, dtype)
