"""Sorting in compiled code: `window.sort()` of a list, `sorted(...)`, and np.sort and np.median of little.

    step = 1                                        gaps 1, 4, 13, 40, ...
    while step < n // 3: step = 3 * step + 1
    while step >= 1:
        for i in range(step, n):
            moved = a[i]; j = i
            while j >= step and a[j - step] > moved:
                a[j] = a[j - step]; j -= step
            a[j] = moved
        step //= 3

That is Shell's sort: it needs no memory, and of the few numbers of a window it is an insertion sort. NumPy's own
is faster for large arrays, so np.sort and np.median are compiled where two loops stand around them or one with
a pragma, and where the number of elements is known and small; elsewhere the library is called. NaN comes last,
as in NumPy.

Does not handle: lists of tuples, `key` and `reverse`, other axes than the last of a vector, complex numbers.
"""

from __future__ import annotations

import numpy as np

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.reshaping import ravelled
from appyc.frontend.arrays.tensors import as_tensor, materialise
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import cast, const, integer
from appyc.frontend.library.axis_arguments import Arguments, Entry
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ArrayRef, Number, Value
from appyc.ir.nodes import (
    Assign,
    Binary,
    Break,
    Compare,
    Const,
    Expr,
    For,
    If,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    Symbol,
    Unary,
    Var,
    While,
)
from appyc.ir.types import DType

_SMALL = 64
"""So many elements are sorted in less time than a call of the library's takes."""


def sort_in_place(scope: Scope, array: Symbol, count: Expr, loc: Loc) -> None:
    """Sorts the first `count` elements of a vector."""
    if array.dtype.is_complex:
        raise UnsupportedError("complex numbers are not sorted in compiled code", loc,
                               hints=("sort their sizes",))  # fmt: skip
    fresh = scope.supply.fresh
    step, i, j = (fresh(name, DType.INT64) for name in ("step", "i", "j"))
    moved = fresh("moved", array.dtype)
    n = scope.temp("count", count)
    one, three = integer(1, loc), integer(3, loc)
    gap, here, index = Var(step, loc=loc), Var(i, loc=loc), Var(j, loc=loc)

    def op(symbol: str, a: Expr, b: Expr) -> Expr:
        return Binary(symbol, a, b, loc=loc)

    before = Load(array, (op("-", index, gap),), checked=False, loc=loc)
    shift: tuple[Stmt, ...] = (
        If(Unary("~", _behind(before, Var(moved, loc=loc), loc), loc=loc), (Break(loc=loc),), loc=loc),
        Store(array, (index,), before, checked=False, loc=loc),
        Assign(j, op("-", index, gap), loc=loc),
    )
    insert: tuple[Stmt, ...] = (
        Assign(moved, Load(array, (here,), checked=False, loc=loc), loc=loc),
        Assign(j, here, loc=loc),
        While(Compare(">=", index, gap, loc=loc), shift, loc=loc),
        Store(array, (index,), Var(moved, loc=loc), checked=False, loc=loc),
    )
    grow = Assign(step, op("+", op("*", three, gap), one), loc=loc)
    scope.emit(Assign(step, one, loc=loc))
    scope.emit(While(Compare("<", gap, op("//", n, three), loc=loc), (grow,), loc=loc))
    rounds: tuple[Stmt, ...] = (
        For(i, gap, n, 1, insert, implied=True, loc=loc),
        Assign(step, op("//", gap, three), loc=loc),
    )
    scope.emit(While(Compare(">=", gap, one, loc=loc), rounds, loc=loc))


def _behind(a: Expr, b: Expr, loc: Loc) -> Expr:
    """Whether an element belongs behind another."""
    greater = Compare(">", a, b, loc=loc)
    if not a.dtype.is_float:
        return greater
    is_nan = Compare("!=", a, a, loc=loc)
    return Logical("or", greater, Logical("and", is_nan, Compare("==", b, b, loc=loc), loc=loc), loc=loc)


def _sorted_copy(scope: Scope, value: Value, loc: Loc, *, for_median: bool) -> ArrayRef:
    """The elements of an array in order, in an array of their own. Raises UnsupportedError where the library is
    better."""
    tensor = as_tensor(scope, value, loc)
    flat = ravelled(scope, tensor, loc) if for_median and tensor.ndim != 1 else tensor
    asked = any(frame.asked for frame in scope.loops)  # to run in any order, which no call of a library can
    if flat.ndim != 1 or not (asked or len(scope.loops) > 1 or _is_small(flat.extents[0])):
        name = "np.median" if for_median else "np.sort"
        raise UnsupportedError(f"{name} is left to the library, which sorts many elements faster", loc)
    own = materialise(scope, flat.copied(), "sorted", loc)
    sort_in_place(scope, own.symbol, own.extents(loc)[0], loc)
    return own


def _is_small(extent: Expr) -> bool:
    return isinstance(extent, Const) and isinstance(extent.value, int) and extent.value <= _SMALL


def _sort(scope: Scope, given: Arguments, loc: Loc) -> Value:
    return _sorted_copy(scope, given["a"], loc, for_median=False)


def _median(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.median of all elements: the mean of the two in the middle, NaN where one is, or where there is none."""
    own = _sorted_copy(scope, given["a"], loc, for_median=True)
    count = scope.temp("count", own.extents(loc)[0])
    kind = own.symbol.dtype if own.symbol.dtype.is_float else DType.FLOAT64
    one, two = integer(1, loc), integer(2, loc)
    below = Binary("//", Binary("-", count, one, loc=loc), two, loc=loc)
    above = Binary("//", count, two, loc=loc)

    def at(index: Expr) -> Number:
        load = Load(own.symbol, (index,), checked=False, loc=loc)
        return Number(cast(load, kind), python=False)

    total = arithmetic.binary("+", at(below), at(above), loc)
    middle = arithmetic.binary("/", total, arithmetic.python_number(2, loc), loc)
    last = at(Binary("-", count, one, loc=loc)).expr
    is_nan = Compare("!=", last, last, loc=loc)
    found = scope.supply.fresh("median", kind)
    some = Assign(found, Select(is_nan, last, middle.expr, loc=loc), loc=loc)
    none = Assign(found, const(float("nan"), kind, loc), loc=loc)
    scope.emit(If(Compare(">", count, integer(0, loc), loc=loc), (some,), (none,), loc=loc))
    return Number(Var(found, loc=loc), python=False)


FUNCTIONS: dict[object, Entry] = {np.sort: (("a",), _sort), np.median: (("a",), _median)}
