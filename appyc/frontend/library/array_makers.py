"""Calls that make arrays: `np.zeros`, `np.full_like`, `np.arange` and their like."""

from __future__ import annotations

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays import array_creation
from appyc.frontend.arrays.reshaping import concatenated, stacked
from appyc.frontend.arrays.tensors import as_tensor, pinned
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.expressions.arithmetic import cast, integer
from appyc.frontend.library.axis_arguments import (
    Arguments,
    Maker,
    flag,
    given_dtype,
    integer_argument,
    several,
)
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import NumberType, as_dtype, promoted
from appyc.frontend.types.values import Number, Opaque, Tensor, TupleValue, Value
from appyc.ir.nodes import Binary, Compare, Expr, Intrinsic, Select, Var
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


def linspace(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.linspace: a number of points from start to stop, the last of them exactly stop."""
    start, stop = (expressions.number(given[name], loc, name) for name in ("start", "stop"))
    endpoint = "endpoint" not in given or flag(given["endpoint"], loc, "endpoint")
    dtype = given_dtype(given.get("dtype"), loc)
    (n,) = array_creation.shape_from(scope, given.get("num", arithmetic.python_number(50, loc)), loc)
    kind = DType.COMPLEX128 if start.type.dtype.is_complex or stop.type.dtype.is_complex else DType.FLOAT64
    first, last = (Number(pinned(scope, "end", cast(e.expr, kind)), python=False) for e in (start, stop))
    gaps: Expr = Binary("-", n, integer(1, loc), loc=loc) if endpoint else n
    gaps = Binary("max", gaps, integer(1, loc), loc=loc)
    distance = arithmetic.binary("-", last, first, loc)
    step = Number(
        scope.temp("step", arithmetic.binary("/", distance, Number(cast(gaps, kind), False), loc).expr), False
    )
    axis = scope.supply.fresh("i", DType.INT64)
    here = Var(axis, loc=loc)
    value = arithmetic.binary(
        "+", arithmetic.binary("*", Number(cast(here, kind), False), step, loc), first, loc
    ).expr
    if endpoint:
        is_last = Compare("==", here, Binary("-", n, integer(1, loc), loc=loc), loc=loc)
        has_others = Compare(">", n, integer(1, loc), loc=loc)
        value = Select(Binary("&", is_last, has_others, loc=loc), last.expr, value, loc=loc)
    if dtype is not None and dtype.is_integer:
        value = Intrinsic("floor", (value,), kind, loc=loc)
    return Tensor((axis,), (Binary("max", n, integer(0, loc), loc=loc),), cast(value, dtype or kind))


def join(*, new_axis: bool) -> Maker:
    """np.concatenate, or np.stack where there is a new axis."""

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        arrays, axis = several(scope, given["arrays"], loc), integer_argument(given, "axis", 0, loc)
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
