"""Python ints beside NumPy's integers, which may be too narrow for them: NumPy raises OverflowError there."""

from __future__ import annotations

import math
from collections.abc import Sequence

from appyc.errors import Loc, TypeInferenceError
from appyc.frontend.arrays.tensors import as_tensor, element_type, is_array
from appyc.frontend.expressions.arithmetic import cast, const
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import PartedTypesError, is_put_into, promoted_dtype
from appyc.frontend.types.values import ListSlots, Number, TupleValue, Value, is_listed
from appyc.ir.integers import is_within, limits, range_of
from appyc.ir.nodes import Compare, Const, Expr, Likely, Logical, Reduce, Unary
from appyc.ir.types import DType


def refuse_unfit(scope: Scope, values: Sequence[Value], loc: Loc) -> None:
    """Emits the tests that Python ints among the operands fit the integer type that NumPy computes in.

    a[i] + k, for a of uint8        k must be in 0 .. 255
    """
    if not all(is_array(v) or isinstance(v, Number) for v in values):
        return
    weak = [v for v in values if isinstance(v, Number) and (v.either is not None or _is_python_int(v))]
    others = [v for v in values if not (isinstance(v, Number) and (v.python or v.either is not None))]
    if not weak or not others:
        return
    common = promoted_dtype([DType.BOOL, *map(element_type, others)])
    if common.is_integer or common is DType.BOOL:
        for number in weak:
            require_fit(scope, number, DType.INT64 if common is DType.BOOL else common, loc)


def require_all_fit(scope: Scope, value: Value, dtype: DType, loc: Loc) -> None:
    """`require_fit` of a number, and of all numbers of a tuple or list."""
    if isinstance(value, Number):
        require_fit(scope, value, dtype, loc)
    elif isinstance(value, TupleValue):
        for item in value.items:
            require_all_fit(scope, item, dtype, loc)
    elif isinstance(value, ListSlots) or is_listed(value):
        items = as_tensor(scope, value, loc)
        if not (items.python and items.element.dtype.is_integer and dtype.is_integer):
            return
        if not is_within(range_of(items.element), limits(dtype)):
            for op in ("minimum", "maximum"):
                zero = const(0, items.element.dtype, loc)
                extreme = Reduce(op, items.axes, items.extents, items.element, zero, python=True, loc=loc)
                require_fit(scope, Number(scope.temp(op, extreme), python=True), dtype, loc)


def _is_python_int(number: Number) -> bool:
    return number.python and number.type.dtype.is_integer


def require_fit(scope: Scope, number: Number, dtype: DType, loc: Loc, ends: str = ">=<=") -> None:
    """Emits the test that a Python int is one of an integer type's values, or just not below or above them; so is a
    constant Python float's integral part."""
    if not dtype.is_integer:
        return
    if number.python and isinstance(number.expr, Const) and isinstance(number.expr.value, float):
        _require_fit_of_float(scope, number.expr.value, dtype, loc)
        return
    if not (_is_python_int(number) or number.either):
        return
    value, allowed = number.expr, limits(dtype)
    found = range_of(value)
    if number.either is not None:
        # NumPy's wrap around where they do not fit, with no word about it.
        if number.either.python is None or is_within(number.either.python, allowed):
            return
        if not all(is_within(limits(other), allowed) for other in number.either.dtypes):
            raise PartedTypesError(number.either, loc)
    if is_within(found, allowed):
        return
    tests: list[Expr] = [
        Compare(op, value, Const(end, value.dtype, loc=loc), loc=loc)
        for op, end, is_needed in (
            (">=", allowed[0], found[0] < allowed[0]),
            ("<=", allowed[1], found[1] > allowed[1]),
        )
        if is_needed and op in ends
    ]
    if not tests:
        return
    fits = tests[0] if len(tests) == 1 else Logical("and", tests[0], tests[1], loc=loc)
    wrong = Unary("~", Likely(fits, loc=loc), loc=loc)
    is_large = value.dtype is DType.UINT64
    shown, shown_value = ("above 2**63 - 1", ()) if is_large else ("{value}", (cast(value, DType.INT64),))
    cond = const(True, DType.BOOL, loc) if isinstance(value, Const) else wrong
    scope.fail_if(
        cond, "OverflowError", f"Python integer {shown} out of bounds for {dtype}", loc, shown_value
    )


def _require_fit_of_float(scope: Scope, value: float, dtype: DType, loc: Loc) -> None:
    if math.isnan(value):
        error, message = "ValueError", "cannot convert float NaN to integer"
    elif math.isinf(value):
        error, message = "OverflowError", "cannot convert float infinity to integer"
    elif not is_within((int(value), int(value)), limits(dtype)):
        error, message = "OverflowError", f"Python integer {int(value)} out of bounds for {dtype}"
    else:
        return
    scope.fail_if(const(True, DType.BOOL, loc), error, message, loc)


def refuse_other_kind(symbol: str, old: DType, new: DType, loc: Loc) -> None:
    """Raises TypeInferenceError where NumPy does not change an array in place, for the result is of another kind."""
    if not is_put_into(new, old):
        raise TypeInferenceError(f"{symbol}= gives {new}, which an array of {old} does not take", loc,
                                 f"convert the result: a[...] = (a {symbol} x).astype(a.dtype)")  # fmt: skip
