"""Calls that make arrays: `np.zeros`, `np.full_like`, `np.arange` and their like."""

from __future__ import annotations

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays import array_creation
from appyc.frontend.arrays.reshaping import concatenated, ravelled, stacked
from appyc.frontend.arrays.tensors import as_tensor
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.library.axis_arguments import (
    Arguments,
    Maker,
    given_dtype,
    integer_argument,
    is_none,
    several,
)
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import NumberType, as_dtype, promoted
from appyc.frontend.types.values import Number, Opaque, TupleValue, Value
from appyc.ir.types import DType


def new_array(value: int | None) -> Maker:
    """np.zeros, np.ones, np.full and their like for the shape of another array; np.empty where there is no value."""

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        kind: DType | None = DType.FLOAT64
        if "a" in given:
            tensor = as_tensor(scope, given["a"], loc)
            shape, kind = tensor.extents, tensor.element.dtype
        else:
            shape = array_creation.shape_from(scope, given["shape"], loc)
        filled_with = None if not value else arithmetic.python_number(value, loc)
        if "fill_value" in given:
            filled_with = expressions.number(given["fill_value"], loc, "fill_value")
            kind = kind if "a" in given else None
        dtype = given_dtype(given.get("dtype"), loc) or kind
        if filled_with is not None:
            return array_creation.filled(scope, shape, filled_with, dtype, loc)
        assert dtype is not None, "only a number says what it is"
        return array_creation.allocate(scope, shape, dtype, loc, zero=value is not None)

    return make


def arange(scope: Scope, given: Arguments, loc: Loc) -> Value:
    bounds = [expressions.number(given[n], loc, n) for n in ("start", "stop", "step") if n in given]
    return array_creation.arange(scope, bounds, given_dtype(given.get("dtype"), loc), loc)


def join(*, new_axis: bool) -> Maker:
    """np.concatenate, or np.stack where there is a new axis."""

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        arrays, axis = several(scope, given["arrays"], loc), integer_argument(given, "axis", 0, loc)
        if "axis" in given and is_none(given["axis"]):
            if new_axis:
                raise UnsupportedError("the axis of np.stack is an integer", loc)
            arrays = [ravelled(scope, array, loc) for array in arrays]
        return (stacked if new_axis else concatenated)(scope, arrays, axis, loc)

    return make


def result_type(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """The type in which NumPy computes with numbers and arrays, and with those of given types."""

    def type_of(value: Value) -> NumberType:
        if isinstance(value, Number):
            return value.type
        dtype = as_dtype(value.obj) if isinstance(value, Opaque) else None
        return NumberType(dtype or as_tensor(scope, value, loc).element.dtype, python=False)

    arrays = given["arrays"]
    joined = promoted(map(type_of, arrays.items if isinstance(arrays, TupleValue) else (arrays,)))
    if joined is None:
        raise UnsupportedError("these have no common type", loc)
    return Opaque(joined.dtype.numpy)
