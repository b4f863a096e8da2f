"""Calls that make arrays or fill them: np.array, np.zeros, np.arange and their like."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from appyc.errors import LengthError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import array_creation
from appyc.frontend.arrays.reshaping import concatenated, ravelled, stacked
from appyc.frontend.arrays.tensors import as_tensor, is_array, materialise
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.expressions.arithmetic import cast, integer
from appyc.frontend.expressions.left_calls import leave_without_items
from appyc.frontend.expressions.stores import assign
from appyc.frontend.expressions.structured_arrays import allocated
from appyc.frontend.library.axis_arguments import Arguments, given_dtype, integer_argument, several
from appyc.frontend.scope import Scope
from appyc.frontend.types import values as vals
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import NumberType, as_dtype, is_put_into, promoted, promoted_dtype
from appyc.frontend.types.weak_ints import require_all_fit
from appyc.ir.nodes import Store
from appyc.ir.types import DType


def copyto(scope: Scope, given: Arguments, loc: Loc) -> vals.Value:
    target, source = as_tensor(scope, given["dst"], loc), as_tensor(scope, given["src"], loc)
    kinds = source.element.dtype, target.element.dtype
    if not is_put_into(*kinds) and not isinstance(given["src"], vals.Number):
        raise TypeInferenceError(f"Cannot cast array data from {kinds[0]} to {kinds[1]}", loc)
    assign(scope, given["dst"], given["src"], loc)
    return vals.Opaque(None)


def fill(scope: Scope, given: Arguments, loc: Loc) -> vals.Value:
    assign(scope, given["a"], given["value"], loc)
    return vals.Opaque(None)


# ---------------------------------------------------------------- np.array


def array(scope: Scope, given: Arguments, loc: Loc) -> vals.Value:
    """np.array of numbers, of tuples of them, or of arrays: new memory."""
    return array_of(scope, given["object"], given_dtype(given.get("dtype"), loc), loc)


def asarray(scope: Scope, given: Arguments, loc: Loc) -> vals.Value:
    """np.asarray: the array itself where it has the type."""
    value, dtype = given["object"], given_dtype(given.get("dtype"), loc)
    is_own = isinstance(value, vals.ArrayRef | vals.Tensor) and not vals.is_listed(value)
    if is_own and dtype in (None, as_tensor(scope, value, loc).element.dtype):
        return value
    return array_of(scope, value, dtype, loc)


def array_of(scope: Scope, value: vals.Value, dtype: DType | None, loc: Loc) -> vals.Value:
    """A new array of what NumPy takes for one: an array, numbers, tuples of both."""
    if is_array(value) or isinstance(value, vals.Number | vals.ArrayRef | vals.Tensor):
        tensor = as_tensor(scope, value, loc)
        kind = dtype or tensor.element.dtype
        if dtype is None and tensor.python and tensor.axes and kind is not DType.FLOAT64:
            leave_without_items(scope, tensor.extents[0], loc)
        if tensor.element.dtype.is_complex and not kind.is_complex:
            raise TypeInferenceError(f"complex numbers cannot be made {kind}", loc, "use z.real")
        require_all_fit(scope, value, kind, loc)
        converted = vals.Tensor(tensor.axes, tensor.extents, cast(tensor.element, kind))
        return materialise(scope, converted, "array", loc)
    if not isinstance(value, vals.TupleValue):
        raise UnsupportedError(f"np.array of {describe(value)} is not compiled", loc)
    if any(is_array(item) for item in value.items):
        rows = [as_tensor(scope, item, loc) for item in value.items]
        return array_of(scope, stacked(scope, rows, 0, loc), dtype, loc)
    shape, numbers = _listed(value, loc)
    # Python's numbers are not weak here: np.array([1.0, np.float32(2)]) holds float64.
    wanted = dtype or promoted_dtype(n.type.dtype for n in numbers)
    require_all_fit(scope, value, wanted, loc)
    stored = [scope.temp("item", cast(n.expr, wanted)) for n in numbers]
    ref = array_creation.allocate(
        scope, [integer(n, loc) for n in shape], wanted, loc, zero=False, name="array"
    )
    for at, item in zip(np.ndindex(shape), stored, strict=True):
        index = tuple(integer(k, loc) for k in at)
        scope.emit(Store(ref.symbol, index, item, checked=False, loc=loc))
    return ref


def _listed(value: vals.TupleValue, loc: Loc) -> tuple[tuple[int, ...], list[vals.Number]]:
    """The shape of nested tuples, and their numbers in C order."""
    if not value.items:
        raise UnsupportedError("an array of nothing is not compiled", loc)
    inner = [_listed(item, loc) for item in value.items if isinstance(item, vals.TupleValue)]
    if not inner:
        return (len(value.items),), [expressions.number(item, loc, "an item") for item in value.items]
    if len(inner) != len(value.items) or any(shape != inner[0][0] for shape, _ in inner):
        raise LengthError("the parts of the array have an inhomogeneous shape", loc)
    return (len(inner), *inner[0][0]), [number for _, numbers in inner for number in numbers]


def new_array(value: int | None, scope: Scope, given: Arguments, loc: Loc) -> vals.Value:
    """np.zeros, np.ones, np.full and their like for the shape of another array; np.empty where there is no value."""
    kind: DType | None = DType.FLOAT64
    if "a" in given:
        tensor = as_tensor(scope, given["a"], loc)
        shape, kind = tensor.extents, tensor.element.dtype
    else:
        shape = array_creation.shape_from(scope, given["shape"], loc)
    of = None if value or "fill_value" in given else given.get("dtype")
    if isinstance(of, vals.Opaque) and isinstance(of.obj, np.dtype) and of.obj.names:
        return allocated(scope, of.obj, shape, loc, zero=value is not None)
    filled_with = None if not value else arithmetic.python_number(value, loc)
    if "fill_value" in given:
        filled_with = expressions.number(given["fill_value"], loc, "fill_value")
        kind = kind if "a" in given else None
    dtype = given_dtype(given.get("dtype"), loc) or kind
    if filled_with is not None:
        return array_creation.filled(scope, shape, filled_with, dtype, loc)
    assert dtype is not None, "only a number says what it is"
    return array_creation.allocate(scope, shape, dtype, loc, zero=value is not None)


def arange(scope: Scope, given: Arguments, loc: Loc) -> vals.Value:
    bounds = [expressions.number(given[n], loc, n) for n in ("start", "stop", "step") if n in given]
    return array_creation.arange(scope, bounds, given_dtype(given.get("dtype"), loc), loc)


def join(scope: Scope, given: Arguments, loc: Loc, *, new_axis: bool) -> vals.Value:
    """np.concatenate, or np.stack where there is a new axis."""
    arrays, axis = several(scope, given["arrays"], loc), integer_argument(given, "axis", 0, loc)
    if "axis" in given and vals.is_none(given["axis"]):
        if new_axis:
            raise UnsupportedError("the axis of np.stack is an integer", loc)
        arrays = [ravelled(scope, array, loc) for array in arrays]
    return (stacked if new_axis else concatenated)(scope, arrays, axis, loc)


def _number_type(scope: Scope, value: vals.Value, loc: Loc) -> NumberType:
    """The type of a number, of an array's elements, or that an object names."""
    if isinstance(value, vals.Number):
        return value.type
    dtype = as_dtype(value.obj) if isinstance(value, vals.Opaque) else None
    return NumberType(dtype or as_tensor(scope, value, loc).element.dtype, python=False)


def result_type(scope: Scope, given: Arguments, loc: Loc) -> vals.Value:
    """The type in which NumPy computes with numbers and arrays, and with those of given types."""
    arrays = given["arrays"]
    items = arrays.items if isinstance(arrays, vals.TupleValue) else (arrays,)
    return vals.Opaque(promoted(_number_type(scope, item, loc) for item in items).dtype.numpy)


def type_limits(limits: Callable[[str], object], scope: Scope, given: Arguments, loc: Loc) -> vals.Value:
    """np.finfo and np.iinfo. Raises UnsupportedError for types of the other kind, for which NumPy raises ValueError."""
    dtype = _number_type(scope, given["type"], loc).dtype
    try:
        return vals.Opaque(limits(dtype.value))
    except ValueError as error:
        raise UnsupportedError(str(error), loc) from None
