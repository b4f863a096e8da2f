"""Running totals: np.cumsum and its kin, the methods of ufuncs that combine along an axis, differences.

    total = -0.0                            for k in range(1, n):
    for k in range(n):                          for j in range(m):
        total = total + a[k]                        out[k, j] = out[k - 1, j] + a[k, j]
        out[k] = total

Along the last axis the total is a loop-carried scalar, a scan; along another one it is
the row before, so that the loop over the axes behind it is free.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from appyc.errors import LengthError, Loc, UnsupportedError
from appyc.frontend.arrays.array_creation import allocate, loops_over
from appyc.frontend.arrays.reshaping import ravelled
from appyc.frontend.arrays.tensors import as_tensor
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.expressions.stores import assign
from appyc.frontend.library.array_reductions import operation, reduced_axes
from appyc.frontend.library.axis_arguments import Arguments, Entry, given_dtype, one_axis
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ArrayRef, Tensor, Value, is_none
from appyc.ir.nodes import Assign, Binary, Const, Expr, For, Load, Logical, Stmt, Store, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import rename, substitute

UFUNCS = {np.add: "sum", np.multiply: "prod", np.minimum: "min", np.maximum: "max",
           np.logical_and: "all", np.logical_or: "any"}  # fmt: skip
"""The reduction that each ufunc makes in `reduce` and `accumulate`."""

BITWISE = {np.bitwise_and: "&", np.bitwise_or: "|", np.bitwise_xor: "^"}


def _running(name: str, scope: Scope, given: Arguments, loc: Loc, *, default: int | None) -> Value:
    """np.cumsum ("sum"), np.maximum.accumulate ("max"), ...; default: the axis where none is given."""
    tensor = as_tensor(scope, given["a"], loc)
    axis = one_axis(given, loc, default)
    if axis is None:
        if default is not None and tensor.ndim > 1:
            raise UnsupportedError("accumulate goes along one axis", loc, "name an axis")
        tensor, axis = ravelled(scope, Tensor(tensor.axes, tensor.extents, tensor.element), loc), 0
    (axis,) = reduced_axes(tensor, (axis,), loc)
    out = accumulated(scope, name, tensor, axis, given_dtype(given.get("dtype"), loc), loc)
    return given_back(scope, given, out, loc)


def given_back(scope: Scope, given: Arguments, value: Value, loc: Loc) -> Value:
    """The value, or the array that the caller gave for it, which then holds it."""
    out = given.get("out")
    if out is None or is_none(out):
        return value
    if as_tensor(scope, out, loc).ndim != as_tensor(scope, value, loc).ndim:
        raise LengthError("out has another number of axes than the result", loc)
    assign(scope, out, value, loc)
    return out


def accumulated(
    scope: Scope, name: str, tensor: Tensor, axis: int, dtype: DType | None, loc: Loc
) -> ArrayRef:
    """A new array in which every element is combined with all before it along an axis."""
    op, element, start = operation(name, tensor.element, dtype, loc)
    out = allocate(scope, tensor.extents, element.dtype, loc, zero=False, name="running")
    axes = [scope.supply.fresh(old.name, old.type) for old in tensor.axes]
    source = Tensor(tuple(axes), tensor.extents, rename(element, dict(zip(tensor.axes, axes, strict=True))))
    last = axis == tensor.ndim - 1
    body = (
        _along_last(scope, op, source, out.symbol, start, loc)
        if last
        else _row_by_row(scope, op, source, axis, out.symbol, loc)
    )
    for stmt in loops_over(axes[:axis], tensor.extents[:axis], body, loc):
        scope.emit(stmt)
    return out


def _along_last(
    scope: Scope, op: str, source: Tensor, out: Symbol, start: Expr, loc: Loc
) -> tuple[Stmt, ...]:
    total = scope.supply.fresh("total", source.element.dtype)
    index = tuple(Var(axis, loc=loc) for axis in source.axes)
    step = Assign(total, _combined(op, Var(total, loc=loc), source.element, loc), loc=loc)
    store = Store(out, index, Var(total, loc=loc), checked=False, loc=loc)
    loop = For(source.axes[-1], integer(0, loc), source.extents[-1], 1, (step, store), implied=True, loc=loc)
    return Assign(total, _neutral(op, start, loc), loc=loc), loop


def _row_by_row(scope: Scope, op: str, source: Tensor, axis: int, out: Symbol, loc: Loc) -> tuple[Stmt, ...]:
    """The first row as it is, and every other one on top of the one before."""
    index = [Var(a, loc=loc) for a in source.axes]
    before: list[Expr] = list(index)
    before[axis] = Binary("-", index[axis], integer(1, loc), loc=loc)
    old = Load(out, tuple(before), checked=False, loc=loc)
    behind, lengths = source.axes[axis + 1 :], source.extents[axis + 1 :]
    on_top = Store(out, tuple(index), _combined(op, old, source.element, loc), checked=False, loc=loc)
    rest = _fresh_nest(scope, behind, lengths, on_top, loc)
    one = integer(1, loc)
    first = Store(out, tuple(index), source.element, checked=False, loc=loc)
    at = scope.supply.fresh(source.axes[axis].name, DType.INT64)
    some = Binary("min", source.extents[axis], one, loc=loc)
    start = _fresh_nest(scope, behind, lengths, substitute(first, {source.axes[axis]: Var(at, loc=loc)}), loc)
    return (
        For(at, integer(0, loc), some, 1, start, implied=True, loc=loc),
        For(source.axes[axis], one, source.extents[axis], 1, rest, implied=True, loc=loc),
    )


def _fresh_nest(
    scope: Scope, axes: tuple[Symbol, ...], extents: tuple[Expr, ...], stmt: Stmt, loc: Loc
) -> tuple[Stmt, ...]:
    """Loops of their own over the axes."""
    own = [scope.supply.fresh(axis.name, axis.type) for axis in axes]
    return loops_over(own, extents, (rename(stmt, dict(zip(axes, own, strict=True))),), loc)


def _combined(op: str, total: Expr, element: Expr, loc: Loc) -> Expr:
    if op in ("and", "or"):
        return Logical(op, total, element, loc=loc)
    return Binary(op, total, element, loc=loc)


def _neutral(op: str, start: Expr, loc: Loc) -> Expr:
    """The neutral element of a scan's first step: -0.0 in sums of floats, which keeps the sign of a zero."""
    if op == "+" and isinstance(start, Const) and not start.dtype.is_integer:
        value = complex(-0.0, -0.0) if start.dtype.is_complex else -0.0
        return Const(value, start.dtype, loc=loc)
    return start


_RUNNING = ("a", "axis", "dtype", "out")

METHODS: dict[str, Entry] = {
    "cumsum": (_RUNNING, partial(_running, "sum", default=None)),
    "cumprod": (_RUNNING, partial(_running, "prod", default=None)),
}

FUNCTIONS: dict[object, Entry] = {
    np.cumsum: METHODS["cumsum"], np.cumprod: METHODS["cumprod"],
    **{ufunc.accumulate: (_RUNNING, partial(_running, name, default=0)) for ufunc, name in UFUNCS.items()},
}  # fmt: skip
