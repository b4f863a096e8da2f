"""Calls that make arrays: `np.zeros`, `np.full_like`, `np.arange`, `np.eye` and their like."""

from __future__ import annotations

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays import array_creation
from appyc.frontend.arrays.reshaping import concatenated, stacked
from appyc.frontend.arrays.tensors import as_tensor
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.library.axis_arguments import (
    Arguments,
    Maker,
    flag,
    given_dtype,
    integers,
    several,
)
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import NumberType, promote
from appyc.frontend.types.values import Number, Opaque, TupleValue, Value
from appyc.ir.types import DType


def concatenate(scope: Scope, given: Arguments, loc: Loc) -> Value:
    axis = (integers(given.get("axis"), loc, "axis") or (0,))[0]
    return concatenated(scope, several(scope, given["arrays"], loc), axis, loc)


def new_array(value: int | None) -> Maker:
    """np.zeros, np.ones, and np.empty where there is no value."""

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        shape = array_creation.shape_from(scope, given["shape"], loc)
        dtype = given_dtype(given.get("dtype"), loc) or DType.FLOAT64
        if value:
            return array_creation.filled(scope, shape, arithmetic.python_number(value, loc), dtype, loc)
        return array_creation.allocate(scope, shape, dtype, loc, zero=value is not None)

    return make


def new_like(value: int | None) -> Maker:
    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        shape, kind = array_creation.shape_like(scope, given["a"], loc)
        dtype = given_dtype(given.get("dtype"), loc) or kind
        if value:
            return array_creation.filled(scope, shape, arithmetic.python_number(value, loc), dtype, loc)
        return array_creation.allocate(scope, shape, dtype, loc, zero=value is not None)

    return make


def full(scope: Scope, given: Arguments, loc: Loc) -> Value:
    value = expressions.number(given["fill_value"], loc, "fill_value")
    if "a" in given:
        shape, kind = array_creation.shape_like(scope, given["a"], loc)
        return array_creation.filled(scope, shape, value, given_dtype(given.get("dtype"), loc) or kind, loc)
    shape = array_creation.shape_from(scope, given["shape"], loc)
    return array_creation.filled(scope, shape, value, given_dtype(given.get("dtype"), loc), loc)


def arange(scope: Scope, given: Arguments, loc: Loc) -> Value:
    bounds = [expressions.number(given[n], loc, n) for n in ("start", "stop", "step") if n in given]
    return array_creation.arange(scope, bounds, given_dtype(given.get("dtype"), loc), loc)


def linspace(scope: Scope, given: Arguments, loc: Loc) -> Value:
    start, stop = (expressions.number(given[n], loc, n) for n in ("start", "stop"))
    count = expressions.number(given.get("num", arithmetic.python_number(50, loc)), loc, "num")
    endpoint = "endpoint" not in given or flag(given["endpoint"], loc, "endpoint")
    return array_creation.linspace(
        scope, start, stop, count, endpoint, given_dtype(given.get("dtype"), loc), loc
    )


def eye(scope: Scope, given: Arguments, loc: Loc) -> Value:
    (rows,) = array_creation.shape_from(scope, given["N"], loc)
    (columns,) = array_creation.shape_from(scope, given["M"], loc) if "M" in given else (rows,)
    offset = (integers(given.get("k"), loc, "k") or (0,))[0]
    return array_creation.eye(
        scope, rows, columns, offset, given_dtype(given.get("dtype"), loc) or DType.FLOAT64, loc
    )


def triangle(*, upper: bool) -> Maker:
    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        offset = (integers(given.get("k"), loc, "k") or (0,))[0]
        return array_creation.triangle(scope, given["m"], offset, loc, upper=upper)

    return make


def stack(scope: Scope, given: Arguments, loc: Loc) -> Value:
    axis = (integers(given.get("axis"), loc, "axis") or (0,))[0]
    return stacked(scope, several(scope, given["arrays"], loc), axis, loc)


def result_type(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """The type in which NumPy computes with numbers and arrays."""
    arrays = given["arrays"]
    joined: NumberType | None = None
    for value in arrays.items if isinstance(arrays, TupleValue) else (arrays,):
        tensor = as_tensor(scope, value, loc)
        kind = value.type if isinstance(value, Number) else NumberType(tensor.element.dtype, python=False)
        joined = kind if joined is None else promote(joined, kind)
        if joined is None:
            raise UnsupportedError("these have no common type", loc)
    assert joined is not None, "at least one is given"
    return Opaque(joined.dtype.numpy)
