"""Records statements, and runs in NumPy, on computed values, what is not recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from appyc.lazy import arrays
from appyc.lazy.nodes import Buffer, Own, Statement
from appyc.lazy.operations import Operation
from appyc.lazy.recording import caller
from appyc.lazy.running import STATE, flush


def wrapped(values: Any) -> Any:
    """An array for values that NumPy has computed, which nothing else may change."""
    if isinstance(values, np.ndarray):
        is_own = values.flags.c_contiguous and values.flags.writeable and values.base is None
        memory = np.asarray(values if is_own else values.copy())
        return arrays.ndarray(Buffer(memory.shape, memory.dtype, memory), (), memory.shape, memory.dtype)
    if type(values) is tuple:
        return tuple(wrapped(v) for v in values)
    if isinstance(values, list):
        return [wrapped(v) for v in values]
    return values


def array(
    values: Any, dtype: Any = None, *, copy: bool | None = True, order: Any = "K", ndmin: int = 0
) -> Any:
    """An array with values of its own. Raises what `numpy.array` raises."""
    if isinstance(values, arrays.ndarray):
        wanted = values.dtype if dtype is None else np.dtype(dtype)
        out = values.astype(wanted, copy=bool(copy))
        return out if ndmin <= out.ndim else out[(None,) * (ndmin - out.ndim)]
    return wrapped(np.array(plain(values), dtype, order="C", ndmin=ndmin))


def asarray(values: Any, dtype: Any = None, **keywords: Any) -> Any:
    """An array: the given one, if it is one already with this dtype, else one with a copy of the values."""
    return array(values, dtype, copy=False)


def plain(value: Any) -> Any:
    """The value with NumPy's arrays for appyc's, computed."""
    if isinstance(value, arrays.ndarray):
        return value.computed()[()] if value.buffer.is_number else value.computed()
    if type(value) is tuple:
        return tuple(plain(v) for v in value)
    if type(value) is list:
        return [plain(v) for v in value]
    if type(value) is dict:
        return {k: plain(v) for k, v in value.items()}
    return value


def _arrays_in(value: Any, found: list[arrays.ndarray]) -> None:
    if isinstance(value, arrays.ndarray):
        found.append(value)
    elif isinstance(value, tuple | list):
        for item in value:
            _arrays_in(item, found)
    elif isinstance(value, dict):
        for item in value.values():
            _arrays_in(item, found)


def evaluated(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """NumPy's function on computed values. It may write to its arguments: what reads them runs before."""
    found: list[arrays.ndarray] = []
    _arrays_in((args, keywords), found)
    buffers = [a.buffer for a in found]
    flush(buffers, overwritten=buffers)
    result = function(*plain(args), **plain(keywords))
    for given in found:
        if result is not None and type(result) is np.ndarray and _is_same_view(result, given):
            return given
    return wrapped(result)


def _is_same_view(result: np.ndarray, given: arrays.ndarray) -> bool:
    """Whether a function has handed back its argument (`out=`)."""
    view = given.computed()
    same_place = result.__array_interface__["data"] == view.__array_interface__["data"]
    return (
        same_place
        and result.shape == view.shape
        and result.strides == view.strides
        and result.dtype == view.dtype
    )


def changing(target: arrays.ndarray, change: Callable[[np.ndarray], Any]) -> None:
    """A change of an array's memory by NumPy, in its place among what is recorded."""
    flush((target.buffer,), overwritten=(target.buffer,))
    change(target.computed())


def is_awaited(buffer: Buffer) -> bool:
    """Whether something recorded is still to change the buffer."""
    return STATE.recording.changes(buffer)


# ---------------------------------------------------------------- recording


def record(
    operation: Operation, operands: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype
) -> arrays.ndarray:
    """A new array that the operation will fill."""
    site = caller()
    buffer = Buffer(shape, dtype)
    buffer.is_number = not shape
    with STATE.lock:
        if STATE.recording.is_due(site):
            flush()
        STATE.recording.add(Statement(operation, operands, buffer, None, shape, site), buffer.nbytes)
    return arrays.ndarray(buffer, (), shape, dtype)


def record_store(
    operation: Operation, operands: tuple[Any, ...], target: arrays.ndarray, shape: tuple[int, ...]
) -> None:
    """What the operation gives, stored into the target's place."""
    buffer = target.buffer
    if not buffer.shape:  # a single number: compiled code has no arrays of that kind
        value = record(operation, operands, shape, target.dtype)
        changing(target, lambda memory: memory.__setitem__(..., value.computed()))
        return
    operands = tuple(
        Own(o.path, o.shape, o.dtype) if getattr(o, "buffer", None) is buffer else o for o in operands
    )
    site = caller()
    recording = STATE.recording
    with STATE.lock:
        if recording.is_due(site):
            flush()
        recording.add(Statement(operation, operands, buffer, target.path, shape, site))
    if buffer.lent:
        flush((buffer,))
