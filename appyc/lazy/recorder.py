"""Appends operations and stores to the recording."""

from __future__ import annotations

from typing import Any

import numpy as np

from appyc.lazy import arrays, at_once
from appyc.lazy._nodes import Statement, View, made
from appyc.lazy.evaluation import changing, copy_of, evaluated, on_values, whole, wrapped
from appyc.lazy.operations import COMPILED_DTYPES, Operation, as_dtype, convert
from appyc.lazy.order import inverse, memory_order
from appyc.lazy.recording import caller
from appyc.lazy.residence import is_chunked, kept
from appyc.lazy.running import STATE, flush, flush_due, flush_some


def array(
    values: Any, dtype: Any = None, *, copy: bool | None = True, order: Any = "K", ndmin: int = 0, **more: Any
) -> Any:
    """An array with values of its own. Raises what `numpy.array` raises."""
    if isinstance(values, arrays.Array) and not more:
        wanted = values.dtype if dtype is None else as_dtype(dtype)
        if dtype is not None and (wanted not in COMPILED_DTYPES or values.dtype not in COMPILED_DTYPES):
            return evaluated(np.array, (values, dtype), {"copy": copy, "order": order, "ndmin": ndmin})
        if copy is False and (wanted != values.dtype or values.buffer.is_number):
            np.array(values.ghost()[()], wanted, copy=False)  # raises NumPy's error
        if isinstance(values, arrays.number):
            out = record(convert(wanted), (values,), (), wanted, is_number=False)
        else:
            out = values.astype(wanted, order or "K", copy=bool(copy))
        return out if ndmin <= out.ndim else out[(*(None,) * (ndmin - out.ndim), ...)]
    if is_chunked(values):
        found = whole(kept(values, values.dtype))
        return found if dtype is None else found.astype(dtype)
    if isinstance(values, np.ndarray) and copy is None:
        copy = True
    is_copy = type(values) is np.ndarray and copy and order == "K" and ndmin <= values.ndim and not more
    if is_copy and (dtype is None or values.dtype == dtype):
        return copy_of(values)
    return wrapped(
        on_values(np.array, (values, dtype), {"copy": copy, "order": order, "ndmin": ndmin, **more})
    )


def asarray(
    values: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    copy: bool | None = None,
    device: Any = None,
    **more: Any,
) -> Any:
    """An array: the given one, if it is one already with this dtype, else one with a copy of the values."""
    if device not in (None, "cpu"):
        np.asarray(0, device=device)  # raises NumPy's error
    return array(values, dtype, copy=copy, order=order or "K", **more)


def contiguous(values: Any, dtype: Any = None) -> Any:
    """The array as `numpy.ascontiguousarray` returns it: C-contiguous, with at least one axis."""
    found = array(values, dtype, copy=None, order="C", ndmin=1)
    return found if found.ghost().flags.c_contiguous else found.copy()


def record(
    operation: Operation,
    operands: tuple[Any, ...],
    shape: tuple[int, ...],
    dtype: np.dtype,
    *,
    is_number: bool = True,
) -> Any:
    """A new array that the operation will fill, or has filled. is_number: one without axes is NumPy's scalar."""
    is_number = is_number and not shape
    now = _computed_now(operation, operands, shape, dtype, is_number)
    if now is not at_once.NOT_NOW:
        return now
    site = caller()
    class_ = arrays.number if is_number else arrays.ndarray
    with STATE.lock:
        recording = STATE.recording
        if len(recording.statements) >= recording.few and recording.is_due(site):
            flush_due()
            now = _computed_now(operation, operands, shape, dtype, is_number)  # nothing may wait any more
            if now is not at_once.NOT_NOW:
                return now
        out = made(class_, recording.statements, operation, operands, shape, dtype, site, is_number)
        try:
            recording.nbytes += out.buffer.nbytes
        except OverflowError:
            recording.statements.pop()
            np.empty(shape, dtype)  # raises NumPy's error
        if recording.nbytes > recording.most_bytes and recording.is_too_much():
            flush_some()
    return out


def _computed_now(
    operation: Operation, operands: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype, is_number: bool
) -> Any:
    """The result of `record` where it is computed at once; else NOT_NOW."""
    values = at_once.result(operation, operands, shape, dtype)
    if values is at_once.NOT_NOW:
        return values
    return values if is_number else whole(np.asarray(values))


def record_ordered(
    operation: Operation, operands: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype
) -> Any:
    """`record` of an elementwise operation: the axes of the result lie in memory as those of the operands do."""
    for operand in operands:
        if isinstance(operand, arrays.Array) and not operand.is_straight:
            break
    else:
        return record(operation, operands, shape, dtype)
    mine = [o for o in operands if isinstance(o, arrays.Array)]
    rank = len(shape)
    order = memory_order([o.ghost() for o in mine], rank)
    if order == tuple(range(rank)):
        return record(operation, operands, shape, dtype)
    operands = tuple(turned(o, order) if isinstance(o, arrays.Array) else o for o in operands)
    return record(operation, operands, tuple(shape[a] for a in order), dtype).transpose(inverse(order))


def turned(operand: arrays.Array, order: tuple[int, ...]) -> arrays.Array:
    """The operand with its axes in another order, and as many as that has."""
    if not operand.shape:
        return operand
    missing = len(order) - operand.ndim
    whole = operand[(*(None,) * missing, ...)] if missing else operand
    out: arrays.Array = whole.transpose(order)
    return out


def record_store(
    operation: Operation, operands: tuple[Any, ...], target: arrays.Array, shape: tuple[int, ...]
) -> None:
    """Records a store of the operation's result into the target."""
    if at_once.stored(operation, operands, target, shape):
        return
    buffer = target.buffer
    if not buffer.shape:  # a single number: compiled code has no arrays of that kind
        value = record(operation, operands, shape, target.dtype, is_number=False)
        changing(target, np.ndarray.__setitem__, ..., value)
        return
    site = caller()
    recording = STATE.recording
    with STATE.lock:
        if recording.is_due(site):
            flush_due()
            if at_once.stored(operation, operands, target, shape):  # nothing may wait any more
                return
        operands = tuple(
            View(None, o.path, o.shape, o.dtype) if getattr(o, "buffer", None) is buffer else o
            for o in operands
        )
        recording.statements.append(Statement(operation, operands, buffer, target.path, shape, site))
    if buffer.lent:
        flush((buffer,))
