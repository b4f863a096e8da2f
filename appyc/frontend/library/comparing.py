"""Functions that compare and measure whole arrays: np.isclose and its kin, norms, averages, np.array."""

from __future__ import annotations

from appyc.errors import LengthError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import array_creation
from appyc.frontend.arrays.reshaping import stacked
from appyc.frontend.arrays.tensors import as_tensor, as_value, elementwise, is_array, materialise
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.expressions.arithmetic import cast, const, integer, python_number
from appyc.frontend.expressions.stores import assign
from appyc.frontend.library.array_reductions import Along, reduce_array
from appyc.frontend.library.axis_arguments import Arguments, along, flag, given_dtype, refuse
from appyc.frontend.library.scalar_functions import imaginary_part, real_part
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import NumberType, promote
from appyc.frontend.types.values import ArrayRef, Number, Opaque, Tensor, TupleValue, Value, describe
from appyc.ir.nodes import Assign, Compare, Expr, If, Intrinsic, Logical, Select, Store, Var
from appyc.ir.types import DType


def isclose(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.isclose: |a - b| <= atol + rtol * |b| where b is finite, a == b elsewhere."""
    rtol = given.get("rtol", python_number(1e-5, loc))
    atol = given.get("atol", python_number(1e-8, loc))
    equal_nan = flag(given.get("equal_nan"), loc, "equal_nan")

    def make(numbers: list[Number]) -> Number:
        a, b, relative, absolute = numbers
        if a.type.dtype.is_complex or b.type.dtype.is_complex:
            raise UnsupportedError("np.isclose of complex numbers is not compiled", loc)
        x, y = (Number(cast(n.expr, DType.FLOAT64), False) for n in (a, b))
        apart = arithmetic.absolute(arithmetic.binary("-", x, y, loc), loc)
        scaled = arithmetic.binary("*", relative, arithmetic.absolute(y, loc), loc)
        near = arithmetic.compare("<=", apart, arithmetic.binary("+", absolute, scaled, loc), loc).expr
        finite = Intrinsic("isfinite", (y.expr,), DType.BOOL, loc=loc)
        same: Expr = arithmetic.compare("==", x, y, loc).expr
        out: Expr = Logical("or", Logical("and", near, finite, loc=loc), same, loc=loc)
        if equal_nan:
            nan = [Intrinsic("isnan", (n.expr,), DType.BOOL, loc=loc) for n in (x, y)]
            out = Logical("or", out, Logical("and", nan[0], nan[1], loc=loc), loc=loc)
        return Number(out, python=False)

    return elementwise(scope, [given["a"], given["b"], rtol, atol], make, loc)


def allclose(scope: Scope, given: Arguments, loc: Loc) -> Value:
    near = isclose(scope, given, loc)
    if not is_array(near):
        return Number(expressions.number(near, loc).expr, python=True)
    all_near = reduce_array(scope, "all", near, Along(), None, loc)
    return Number(expressions.number(all_near, loc).expr, python=True)


def array_equal(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.array_equal: False where the shapes differ."""
    a, b = as_tensor(scope, given["a1"], loc), as_tensor(scope, given["a2"], loc)
    if a.ndim != b.ndim:
        return python_number(False, loc)
    found = scope.supply.fresh("equal", DType.BOOL)
    scope.emit(Assign(found, const(False, DType.BOOL, loc), loc=loc))
    with scope.collect() as block:
        again = Tensor(b.axes, a.extents, b.element)  # of the same lengths, or not looked at
        same = elementwise(
            scope, [as_value(a), as_value(again)], lambda n: arithmetic.compare("==", n[0], n[1], loc), loc
        )
        whole = reduce_array(scope, "all", same, Along(), None, loc) if is_array(same) else same
        scope.emit(Assign(found, expressions.number(whole, loc).expr, loc=loc))
    cond: Expr = const(True, DType.BOOL, loc)
    for one, other in zip(a.extents, b.extents, strict=True):
        if one != other:
            cond = Logical("and", cond, Compare("==", one, other, loc=loc), loc=loc)
    scope.emit(If(cond, tuple(block), loc=loc))
    return Number(Var(found, loc=loc), python=True)


def nan_to_num(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.nan_to_num: a number for NaN, and for the infinities, by default the largest of the type."""

    def make(numbers: list[Number]) -> Number:
        x, nan, high, low = numbers
        if not x.type.dtype.is_float:
            if x.type.dtype.is_complex:
                raise UnsupportedError("np.nan_to_num of complex numbers is not compiled", loc)
            return Number(x.expr, python=False)
        kind = x.type.dtype
        largest = 3.4028234663852886e38 if kind is DType.FLOAT32 else 1.7976931348623157e308
        up = cast(high.expr, kind) if "posinf" in given else const(largest, kind, loc)
        down = cast(low.expr, kind) if "neginf" in given else const(-largest, kind, loc)
        infinite = Intrinsic("isinf", (x.expr,), DType.BOOL, loc=loc)
        positive = Compare(">", x.expr, const(0.0, kind, loc), loc=loc)
        out: Expr = Select(infinite, Select(positive, up, down, loc=loc), x.expr, loc=loc)
        is_nan = Intrinsic("isnan", (x.expr,), DType.BOOL, loc=loc)
        return Number(Select(is_nan, cast(nan.expr, kind), out, loc=loc), python=False)

    zero = python_number(0.0, loc)
    values = [given["x"], given.get("nan", zero), given.get("posinf", zero), given.get("neginf", zero)]
    return elementwise(scope, values, make, loc)


def _squared(number: Number, loc: Loc) -> Number:
    if not number.type.dtype.is_complex:
        return arithmetic.binary("*", number, number, loc)
    parts = [real_part(number, loc), imaginary_part(number, loc)]
    squares = [arithmetic.binary("*", p, p, loc) for p in parts]
    return arithmetic.binary("+", squares[0], squares[1], loc)


def norm(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.linalg.norm: of all elements, or of vectors along an axis; the orders None, 2, 1 and inf."""
    where = along(given, loc)
    tensor = as_tensor(scope, given["x"], loc)
    order = given.get("ord", Opaque(None))
    known = order.constant if isinstance(order, Number) else None
    is_plain = isinstance(order, Opaque) and order.obj is None
    is_vector = (where.axes is not None and len(where.axes) == 1) or (where.axes is None and tensor.ndim == 1)
    if not (is_plain and (where.axes is None or is_vector)) and not (
        is_vector and known in (1, 2, float("inf"))
    ):
        raise UnsupportedError("this norm is not compiled", loc)
    dtype = (
        tensor.element.dtype if tensor.element.dtype.kind in "fc" else DType.FLOAT64
    )  # of small integers, too
    values = as_value(Tensor(tensor.axes, tensor.extents, cast(tensor.element, dtype)))
    if known in (1, float("inf")):
        sizes = elementwise(scope, [values], lambda n: arithmetic.absolute(n[0], loc), loc)
        return reduce_array(scope, "sum" if known == 1 else "max", sizes, where, None, loc)
    squares = elementwise(scope, [values], lambda n: _squared(n[0], loc), loc)
    total = reduce_array(scope, "sum", squares, where, None, loc)
    root = lambda n: Number(Intrinsic("sqrt", (n[0].expr,), n[0].type.dtype, loc=loc), python=False)  # noqa: E731
    return elementwise(scope, [total], root, loc)


def average(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.average: the mean, or the weighted sum over the sum of the weights."""
    refuse(given, loc, "returned")
    weights = given.get("weights", Opaque(None))
    if isinstance(weights, Opaque):
        return reduce_array(scope, "mean", given["a"], along(given, loc), None, loc)
    raise UnsupportedError("np.average with weights is not compiled", loc,
                           hints=("write (a * w).sum() / w.sum()",))  # fmt: skip


def copyto(scope: Scope, given: Arguments, loc: Loc) -> Value:
    target, source = as_tensor(scope, given["dst"], loc), as_tensor(scope, given["src"], loc)
    order = "biufc"
    if order.index(source.element.dtype.kind.replace("u", "i")) > order.index(
        target.element.dtype.kind.replace("u", "i")
    ) and not isinstance(given["src"], Number):
        raise TypeInferenceError(
            f"Cannot cast array data from {source.element.dtype} to {target.element.dtype}", loc
        )
    assign(scope, given["dst"], given["src"], loc)
    return Opaque(None)


# ---------------------------------------------------------------- np.array


def array(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.array of numbers, of tuples of them, or of arrays: new memory."""
    return array_of(scope, given["object"], given_dtype(given.get("dtype"), loc), loc)


def asarray(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.asarray: the array itself where it has the type."""
    value, dtype = given["object"], given_dtype(given.get("dtype"), loc)
    if isinstance(value, ArrayRef | Tensor) and dtype in (None, as_tensor(scope, value, loc).element.dtype):
        return value
    return array_of(scope, value, dtype, loc)


def array_of(scope: Scope, value: Value, dtype: DType | None, loc: Loc) -> Value:
    """A new array of what NumPy takes for one: an array, numbers, tuples of both."""
    if is_array(value):
        tensor = as_tensor(scope, value, loc)
        kind = dtype or tensor.element.dtype
        if tensor.element.dtype.is_complex and not kind.is_complex:
            raise TypeInferenceError(f"complex numbers cannot be made {kind}", loc, hints=("use z.real",))
        converted = Tensor(tensor.axes, tensor.extents, cast(tensor.element, kind))
        return materialise(scope, converted, "array", loc)
    if not isinstance(value, TupleValue) or not value.items:
        raise UnsupportedError(f"np.array of {describe(value)} is not compiled", loc)
    if any(is_array(item) for item in value.items):
        rows = [as_tensor(scope, item, loc) for item in value.items]
        return array_of(scope, stacked(scope, rows, 0, loc), dtype, loc)
    shape, numbers = _listed(value, loc)
    wanted = dtype
    if wanted is None:
        # Python's numbers are not weak here: np.array([1.0, np.float32(2)]) holds float64.
        first, *others = (NumberType(n.type.dtype, python=False) for n in numbers)
        joined: NumberType | None = first
        for other in others:
            joined = promote(joined, other) if joined is not None else None
        if joined is None:
            raise UnsupportedError("the numbers have no common type", loc)
        wanted = joined.dtype
    stored = [scope.temp("item", cast(n.expr, wanted)) for n in numbers]
    ref = array_creation.allocate(
        scope, [integer(n, loc) for n in shape], wanted, loc, zero=False, name="array"
    )
    for position, item in enumerate(stored):
        index: list[Expr] = []
        for length in reversed(shape):
            position, along = divmod(position, length)
            index.insert(0, integer(along, loc))
        scope.emit(Store(ref.symbol, tuple(index), item, checked=False, loc=loc))
    return ref


def _listed(value: TupleValue, loc: Loc) -> tuple[tuple[int, ...], list[Number]]:
    """The shape of nested tuples, and their numbers in C order."""
    inner = [_listed(item, loc) for item in value.items if isinstance(item, TupleValue)]
    if not inner:
        return (len(value.items),), [expressions.number(item, loc, "an item") for item in value.items]
    if len(inner) != len(value.items) or any(shape != inner[0][0] for shape, _ in inner):
        raise LengthError("the parts of the array have an inhomogeneous shape", loc)
    return (len(inner), *inner[0][0]), [number for _, numbers in inner for number in numbers]
