"""np.histogram: bins of one width, whose index is computed from the value, or bins between given edges."""

from __future__ import annotations

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import array_creation
from appyc.frontend.arrays.reshaping import ravelled
from appyc.frontend.arrays.tensors import as_tensor, is_array, materialise, pinned
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.expressions.arithmetic import cast, const, integer
from appyc.frontend.library import searching
from appyc.frontend.library.array_reductions import extreme
from appyc.frontend.library.axis_arguments import Arguments, Entry, flag, is_none
from appyc.frontend.library.counting import fail_if, in_memory
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ArrayRef, Number, Tensor, TupleValue, Value
from appyc.ir.nodes import (
    Assign,
    Binary,
    Cast,
    Compare,
    Expr,
    For,
    If,
    Likely,
    Load,
    Logical,
    Reduce,
    Select,
    Stmt,
    Store,
    Symbol,
    Unary,
    Var,
)
from appyc.ir.types import DType
from appyc.ir.visit import substitute


def _histogram(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.histogram: how many values are in each bin, and the bins' edges."""
    if flag(given.get("density"), loc, "density"):
        raise UnsupportedError("np.histogram with density is not compiled", loc,
                               hints=("divide the counts by their sum and the bins' widths",))  # fmt: skip
    values = as_tensor(scope, given["a"], loc)
    if values.element.dtype.is_complex:
        raise TypeInferenceError("complex numbers have no order", loc, hints=("use abs(z)",))
    weights = None if is_none(given.get("weights")) else as_tensor(scope, given["weights"], loc)
    if weights is not None:
        _test_shapes(scope, values, weights, loc)
        weights = ravelled(scope, Tensor(weights.axes, weights.extents, weights.element), loc)
    values = ravelled(scope, Tensor(values.axes, values.extents, values.element), loc)
    bins = given.get("bins", arithmetic.python_number(10, loc))
    if is_array(bins):
        return _unequal_bins(scope, values, bins, weights, loc)
    return _equal_bins(scope, values, expressions.number(bins, loc, "bins"), given.get("range"), weights, loc)


def _test_shapes(scope: Scope, values: Tensor, weights: Tensor, loc: Loc) -> None:
    if values.ndim != weights.ndim:
        raise TypeInferenceError("weights should have the same shape as a.", loc)
    for one, other in zip(values.extents, weights.extents, strict=True):
        if one != other:
            same = Likely(Compare("==", one, other, loc=loc), loc=loc)
            message = "weights should have the same shape as a."
            fail_if(scope, Unary("~", same, loc=loc), "ValueError", message, loc)


def _counts(scope: Scope, bins: Expr, weights: Tensor | None, loc: Loc) -> ArrayRef:
    """Zeros to count in: NumPy adds weights up as float64, whatever they are."""
    kind = DType.INT64 if weights is None else DType.FLOAT64
    return array_creation.allocate(scope, (bins,), kind, loc, zero=True, name="counts")


def _step(counts: ArrayRef, at: Expr, weights: Tensor | None, axis: Symbol, loc: Loc) -> Stmt:
    old = Load(counts.symbol, (at,), checked=False, loc=loc)
    more: Expr = integer(1, loc)
    if weights is not None:
        more = cast(substitute(weights.element, {weights.axes[0]: Var(axis, loc=loc)}), DType.FLOAT64)
    return Store(counts.symbol, (at,), Binary("+", old, more, loc=loc), checked=False, loc=loc)


def _finished(scope: Scope, counts: ArrayRef, weights: Tensor | None, loc: Loc) -> Value:
    """The counts in the weights' own type."""
    if weights is None or weights.element.dtype is DType.FLOAT64:
        return counts
    if weights.element.dtype.is_complex or weights.element.dtype is DType.BOOL:
        raise UnsupportedError(f"np.histogram with weights of {weights.element.dtype} is not compiled", loc)
    tensor = as_tensor(scope, counts, loc)
    converted = cast(tensor.element, weights.element.dtype)
    return materialise(scope, Tensor(tensor.axes, tensor.extents, converted), "counts", loc)


def _equal_bins(
    scope: Scope, values: Tensor, bins: Number, span: Value | None, weights: Tensor | None, loc: Loc
) -> Value:
    """Bins of one width: where a value is follows from it, but for rounding at the edges."""
    values = in_memory(scope, values, loc)
    count = pinned(scope, "bins", expressions.as_index(bins, loc))
    few = Compare("<", count, integer(1, loc), loc=loc)
    fail_if(scope, few, "ValueError", "`bins` must be positive, when an integer", loc)
    kind = values.element.dtype if values.element.dtype.is_float else DType.FLOAT64
    first, last = (scope.temp("end", cast(e, kind)) for e in _ends(scope, values, span, loc))
    more = pinned(scope, "n", Binary("+", count, integer(1, loc), loc=loc))
    ends = [Number(e, python=False) for e in (first, last)]
    line = array_creation.linspace(scope, ends[0], ends[1], Number(more, python=True), True, kind, loc)
    edges = materialise(scope, line, "edges", loc)
    counts = _counts(scope, count, weights, loc)
    axis = scope.supply.fresh("i", DType.INT64)
    x = scope.supply.fresh("x", kind)
    here = Var(x, loc=loc)
    original = substitute(values.element, {values.axes[0]: Var(axis, loc=loc)})
    inside = Logical("and", Compare(">=", here, first, loc=loc), Compare("<=", here, last, loc=loc), loc=loc)
    at, steps = _bin_of(scope, here, first, last, count, edges.symbol, loc)
    body: tuple[Stmt, ...] = (
        Assign(x, cast(original, kind), loc=loc),
        If(inside, (*steps, _step(counts, at, weights, axis, loc)), loc=loc),
    )
    scope.emit(For(axis, integer(0, loc), values.extents[0], 1, body, implied=True, loc=loc))
    return TupleValue((_finished(scope, counts, weights, loc), edges))


def _ends(scope: Scope, values: Tensor, span: Value | None, loc: Loc) -> tuple[Expr, Expr]:
    """Where the first bin begins and the last one ends."""
    kind = values.element.dtype if values.element.dtype.is_float else DType.FLOAT64
    zero, one = (const(v, kind, loc) for v in (0.0, 1.0))
    if isinstance(span, TupleValue) and len(span.items) == 2:
        given = [expressions.number(item, loc, "range") for item in span.items]
        lo, hi = (scope.temp("end", cast(n.expr, kind)) for n in given)
        wrong = Compare(">", lo, hi, loc=loc)
        fail_if(scope, wrong, "ValueError", "max must be larger than min in range parameter.", loc)
    elif is_none(span):
        some = Compare(">", values.extents[0], integer(0, loc), loc=loc)
        lo, hi = (
            scope.temp("end", Select(some, cast(_extreme(scope, values, op, loc), kind), empty, loc=loc))
            for op, empty in (("minimum", zero), ("maximum", one))
        )
    else:
        raise UnsupportedError("the range must be written as a tuple of two numbers", loc)
    distance = Binary("-", hi, lo, loc=loc)
    finite = Compare("==", Binary("-", distance, distance, loc=loc), zero, loc=loc)
    message = "the range is not finite"
    fail_if(scope, Unary("~", finite, loc=loc), "ValueError", message, loc)
    alone, half = Compare("==", lo, hi, loc=loc), const(0.5, kind, loc)
    return (
        Select(alone, Binary("-", lo, half, loc=loc), lo, loc=loc),
        Select(alone, Binary("+", hi, half, loc=loc), hi, loc=loc),
    )


def _extreme(scope: Scope, values: Tensor, op: str, loc: Loc) -> Expr:
    """The smallest or the largest; anything of none."""
    axis = scope.supply.fresh("k", DType.INT64)
    element = substitute(values.element, {values.axes[0]: Var(axis, loc=loc)})
    if element.dtype is DType.BOOL:
        element = cast(element, DType.INT64)
    start = extreme(op.removesuffix("imum"), element.dtype, loc)
    return scope.temp("extreme", Reduce(op, (axis,), values.extents, element, start, loc=loc))


def _bin_of(
    scope: Scope, x: Expr, first: Expr, last: Expr, count: Expr, edges: Symbol, loc: Loc
) -> tuple[Expr, tuple[Stmt, ...]]:
    """The bin of a value between first and last, and what finds it.

    What the quotient says may be one beside it, so the edges are asked.
    """
    at = scope.supply.fresh("bin", DType.INT64)
    here, one = Var(at, loc=loc), integer(1, loc)
    top = Binary("-", count, one, loc=loc)
    share = Binary("/", Binary("-", x, first, loc=loc), Binary("-", last, first, loc=loc), loc=loc)
    guess = Cast(Binary("*", share, cast(count, x.dtype), loc=loc), DType.INT64, loc=loc)
    above = Binary("+", here, one, loc=loc)
    too_far = Compare("<", x, Load(edges, (here,), checked=False, loc=loc), loc=loc)
    too_near = Logical(
        "and",
        Compare("<", here, top, loc=loc),
        Compare(">=", x, Load(edges, (above,), checked=False, loc=loc), loc=loc),
        loc=loc,
    )
    is_later = Logical("and", Compare(">", here, integer(0, loc), loc=loc), too_far, loc=loc)
    kept_inside = Binary("max", Binary("min", guess, top, loc=loc), integer(0, loc), loc=loc)
    return here, (
        Assign(at, kept_inside, loc=loc),
        If(is_later, (Assign(at, Binary("-", here, one, loc=loc), loc=loc),), loc=loc),
        If(too_near, (Assign(at, above, loc=loc),), loc=loc),
    )


def _unequal_bins(scope: Scope, values: Tensor, bins: Value, weights: Tensor | None, loc: Loc) -> Value:
    """Bins between given edges, in which the values are looked for."""
    if not isinstance(bins, ArrayRef):
        bins = materialise(scope, as_tensor(scope, bins, loc), "edges", loc)
    edges = as_tensor(scope, bins, loc)
    if edges.ndim != 1 or edges.element.dtype.is_complex:
        raise TypeInferenceError("`bins` must be 1d, when an array", loc)
    rises = scope.temp("rises", searching.follows_in_order(scope, edges, "<=", loc))
    message = "`bins` must increase monotonically, when an array"
    fail_if(scope, Unary("~", rises, loc=loc), "ValueError", message, loc)
    length, one = edges.extents[0], integer(1, loc)
    count = pinned(scope, "bins", Binary("-", length, one, loc=loc))
    fail_if(scope, Compare("<", count, integer(0, loc), loc=loc), "ValueError", "there are no edges", loc)
    counts = _counts(scope, count, weights, loc)
    dtype = searching.common(edges.element.dtype, values, loc)
    rounds = searching.largest_step(scope, length, loc)
    axis = scope.supply.fresh("i", DType.INT64)
    x = scope.supply.fresh("x", dtype)
    here, key = Var(x, loc=loc), searching.key_of(edges, dtype)
    at, steps = searching.search(scope, key, length, rounds, here, right=True, loc=loc)
    bin_index = Binary(
        "min", Binary("-", Var(at, loc=loc), one, loc=loc), Binary("-", count, one, loc=loc), loc=loc
    )
    inside = Logical(
        "and",
        Compare(">=", here, key(integer(0, loc)), loc=loc),
        Compare("<=", here, key(count), loc=loc),
        loc=loc,
    )
    some = Logical("and", Compare(">", count, integer(0, loc), loc=loc), inside, loc=loc)
    body: tuple[Stmt, ...] = (
        Assign(x, cast(substitute(values.element, {values.axes[0]: Var(axis, loc=loc)}), dtype), loc=loc),
        If(some, (*steps, _step(counts, bin_index, weights, axis, loc)), loc=loc),
    )
    scope.emit(For(axis, integer(0, loc), values.extents[0], 1, body, implied=True, loc=loc))
    return TupleValue((_finished(scope, counts, weights, loc), bins))


FUNCTIONS: dict[object, Entry] = {np.histogram: (("a", "bins", "range", "density", "weights"), _histogram)}
