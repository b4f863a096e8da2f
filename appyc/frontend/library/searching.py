"""Binary search in sorted arrays: np.searchsorted, np.digitize.

The index is a sum of powers of two, the largest first: a step is taken where it ends at or before an element
that is still less. All values take the same number of steps, so that the search runs in lanes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays.array_creation import allocate
from appyc.frontend.arrays.tensors import as_tensor, kept
from appyc.frontend.expressions.arithmetic import cast, const, integer
from appyc.frontend.library.axis_arguments import Arguments, Entry, flag, is_none
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import NumberType, promote
from appyc.frontend.types.values import Number, Opaque, Tensor, Value, describe
from appyc.ir.nodes import (
    Assign,
    Binary,
    Compare,
    Expr,
    Fail,
    For,
    If,
    Logical,
    Reduce,
    Select,
    Stmt,
    Store,
    Symbol,
    Unary,
    Var,
    While,
)
from appyc.ir.types import DType
from appyc.ir.visit import substitute

Key = Callable[[Expr], Expr]
"""The element of a sorted array at an index."""


def key_of(tensor: Tensor, dtype: DType) -> Key:
    return lambda at: cast(substitute(tensor.element, {tensor.axes[0]: at}), dtype)


def sorted_array(scope: Scope, value: Value, what: str, loc: Loc) -> Tensor:
    """A vector in memory, to be looked into often."""
    tensor = as_tensor(scope, value, loc, what)
    if tensor.ndim != 1 or tensor.element.dtype.is_complex:
        raise TypeInferenceError(f"{what} is {describe(value)}, where a sorted vector is needed", loc)
    return as_tensor(scope, kept(scope, tensor, "sorted", loc), loc)


def common(a: DType, b: Number | Tensor, loc: Loc) -> DType:
    """The type in which values are compared with the sorted ones."""
    python = isinstance(b, Number) and b.python
    other = b.type.dtype if isinstance(b, Number) else b.element.dtype
    joined = promote(NumberType(a, python=False), NumberType(other, python))
    if joined is None or joined.dtype.is_complex:
        raise UnsupportedError(f"values of {other} among those of {a}", loc)
    return joined.dtype


def largest_step(scope: Scope, length: Expr, loc: Loc) -> tuple[Expr, Expr]:
    """How many rounds a search takes, and the largest power of two that is no more than the length."""
    rounds = scope.supply.fresh("rounds", DType.INT64)
    step = scope.supply.fresh("step", DType.INT64)
    one = integer(1, loc)
    scope.emit(Assign(rounds, integer(0, loc), loc=loc))
    scope.emit(Assign(step, one, loc=loc))
    more = (
        Assign(rounds, Binary("+", Var(rounds, loc=loc), one, loc=loc), loc=loc),
        Assign(step, Binary("*", Var(step, loc=loc), integer(2, loc), loc=loc), loc=loc),
    )
    scope.emit(While(Compare("<=", Var(step, loc=loc), length, loc=loc), more, loc=loc))
    top = scope.temp("top", Binary("//", Var(step, loc=loc), integer(2, loc), loc=loc))
    return scope.temp("count", Var(rounds, loc=loc)), top


def search(
    scope: Scope, key: Key, length: Expr, rounds: tuple[Expr, Expr], x: Expr, *, right: bool, loc: Loc
) -> tuple[Symbol, tuple[Stmt, ...]]:
    """The number of elements in front of `x` (with `right` those equal to it too), and what computes it."""
    at = scope.supply.fresh("at", DType.INT64)
    step = scope.supply.fresh("step", DType.INT64)
    turn = scope.supply.fresh("turn", DType.INT64)
    here = Var(at, loc=loc)
    further = Binary("+", here, Var(step, loc=loc), loc=loc)
    element = key(Binary("-", further, integer(1, loc), loc=loc))
    is_inside = Compare("<=", further, length, loc=loc)
    go = Logical("and", is_inside, comes_first(element, x, right=right, loc=loc), loc=loc)
    count, top = rounds
    body = (
        If(go, (Assign(at, further, loc=loc),), loc=loc),
        Assign(step, Binary("//", Var(step, loc=loc), integer(2, loc), loc=loc), loc=loc),
    )
    return at, (
        Assign(at, integer(0, loc), loc=loc),
        Assign(step, top, loc=loc),
        For(turn, integer(0, loc), count, 1, body, implied=True, loc=loc),
    )


def comes_first(element: Expr, x: Expr, *, right: bool, loc: Loc) -> Expr:
    """Whether an element is in front of `x` in NumPy's order, in which NaN is last."""
    low, high = (x, element) if right else (element, x)
    before: Expr = Compare("<", low, high, loc=loc)
    if x.dtype.is_float:
        last = Compare("!=", high, high, loc=loc)
        is_number = Compare("==", low, low, loc=loc)
        before = Logical("or", before, Logical("and", last, is_number, loc=loc), loc=loc)
    return Unary("~", before, loc=loc) if right else before


def at_each_value(
    scope: Scope, values: Tensor, look: Callable[[Expr], tuple[Expr, tuple[Stmt, ...]]], loc: Loc
) -> Value:
    """What `look` gives for each value, in a new array; a number for a number."""
    if not values.axes:
        found, steps = look(values.element)
        for stmt in steps:
            scope.emit(stmt)
        return Number(scope.temp("index", found), python=False)
    out = allocate(scope, values.extents, DType.INT64, loc, zero=False, name="indices")
    own = [scope.supply.fresh(axis.name, axis.type) for axis in values.axes]
    here: dict[Symbol, Expr] = {old: Var(new, loc=loc) for old, new in zip(values.axes, own, strict=True)}
    x = scope.supply.fresh("x", values.element.dtype)
    found, steps = look(Var(x, loc=loc))
    store = Store(out.symbol, tuple(here.values()), found, checked=False, loc=loc)
    body: tuple[Stmt, ...] = (Assign(x, substitute(values.element, here), loc=loc), *steps, store)
    for axis, extent in zip(reversed(own), reversed(values.extents), strict=True):
        body = (For(axis, integer(0, loc), extent, 1, body, implied=True, loc=loc),)
    for stmt in body:
        scope.emit(stmt)
    return out


def _values(scope: Scope, value: Value, loc: Loc) -> tuple[Tensor, Number | Tensor]:
    tensor = as_tensor(scope, value, loc)
    return tensor, value if isinstance(value, Number) else tensor


def _searchsorted(scope: Scope, given: Arguments, loc: Loc) -> Value:
    if not is_none(given.get("sorter")):
        raise UnsupportedError("np.searchsorted with a sorter is not compiled", loc,
                               hints=("sort the array first: a[sorter]",))  # fmt: skip
    side = given.get("side", Opaque("left"))
    if not isinstance(side, Opaque) or side.obj not in ("left", "right"):
        raise UnsupportedError("the side must be 'left' or 'right', as a constant", loc)
    keys = sorted_array(scope, given["a"], "the array", loc)
    values, typed = _values(scope, given["v"], loc)
    dtype = common(keys.element.dtype, typed, loc)
    length = keys.extents[0]
    rounds = largest_step(scope, length, loc)

    def look(x: Expr) -> tuple[Expr, tuple[Stmt, ...]]:
        at, steps = search(
            scope, key_of(keys, dtype), length, rounds, cast(x, dtype), right=side.obj == "right", loc=loc
        )
        return Var(at, loc=loc), steps

    return at_each_value(scope, values, look, loc)


def _digitize(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.digitize: bins may fall too, in which case they are gone through backwards."""
    bins = sorted_array(scope, given["bins"], "the bins", loc)
    values, typed = _values(scope, given["x"], loc)
    dtype = common(bins.element.dtype, typed, loc)
    right = not flag(given.get("right"), loc, "right")
    length, one = bins.extents[0], integer(1, loc)
    rises = scope.temp("rises", follows_in_order(scope, bins, "<=", loc))
    falls = scope.temp("falls", follows_in_order(scope, bins, ">=", loc))
    neither = Unary("~", Logical("or", rises, falls, loc=loc), loc=loc)
    message = "bins must be monotonically increasing or decreasing"
    scope.emit(If(neither, (Fail("ValueError", message, loc=loc),), loc=loc))
    rounds = largest_step(scope, length, loc)

    def key(at: Expr) -> Expr:
        back = Binary("-", Binary("-", length, one, loc=loc), at, loc=loc)
        return key_of(bins, dtype)(Select(rises, at, back, loc=loc))

    def look(x: Expr) -> tuple[Expr, tuple[Stmt, ...]]:
        at, steps = search(scope, key, length, rounds, cast(x, dtype), right=right, loc=loc)
        here = Var(at, loc=loc)
        return Select(rises, here, Binary("-", length, here, loc=loc), loc=loc), steps

    return at_each_value(scope, values, look, loc)


def follows_in_order(scope: Scope, tensor: Tensor, op: str, loc: Loc) -> Reduce:
    """Whether `element op following element` holds all along a vector."""
    axis = scope.supply.fresh("k", DType.INT64)
    here = Var(axis, loc=loc)
    one = integer(1, loc)
    low, high = (
        substitute(tensor.element, {tensor.axes[0]: at}) for at in (here, Binary("+", here, one, loc=loc))
    )
    pairs = Binary("max", Binary("-", tensor.extents[0], one, loc=loc), integer(0, loc), loc=loc)
    start = const(True, DType.BOOL, loc)
    return Reduce("and", (axis,), (pairs,), Compare(op, low, high, loc=loc), start, loc=loc)


METHODS: dict[str, Entry] = {"searchsorted": (("a", "v", "side", "sorter"), _searchsorted)}

FUNCTIONS: dict[object, Entry] = {
    np.searchsorted: METHODS["searchsorted"],
    np.digitize: (("x", "bins", "right"), _digitize),
}
