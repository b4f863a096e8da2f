"""Appends operations to the recording; operations that are not recorded run in NumPy on computed values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from appyc.api import copied
from appyc.lazy import arrays, at_once, held
from appyc.lazy.operations import Convert, Operation, as_dtype
from appyc.lazy.order import inverse, memory_order
from appyc.lazy.recorded_nodes import Buffer, Own, Statement, View, ghost_of, made
from appyc.lazy.recording import caller
from appyc.lazy.running import STATE, flush, flush_due, flush_some, make_room, ran_at_once, ran_by_numpy
from appyc.lazy.views import (
    Index,
    Place,
    address,
    is_within,
    is_writeable,
    steps_between,
    view_of,
    window,
)


def wrapped(values: Any) -> Any:
    """An array for values that NumPy has computed, which nothing else may change."""
    return _mapped(values, _owned)


def _mapped(value: Any, change: Callable[[Any], Any], kind: type[Any] = np.ndarray) -> Any:
    """The value with something else for NumPy's arrays in it, or for what else is of the kind."""
    if type(value) is kind:
        return change(value)
    if type(value) is list:
        return [_mapped(v, change, kind) for v in value]
    if isinstance(value, tuple):
        parts = [_mapped(v, change, kind) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def whole(memory: np.ndarray) -> Any:
    """An array with this memory, which is its own, in C order."""
    shape, dtype = memory.shape, memory.dtype
    return arrays.ndarray(Buffer(shape, dtype, memory), (), shape, dtype)


def _owned(values: np.ndarray) -> Any:
    """An array with these values. Its axes have their order in memory."""
    if values.flags.carray and values.base is None:
        return whole(values)
    order = memory_order([values], values.ndim)
    in_order = order == tuple(range(values.ndim))
    memory = values if in_order else values.transpose(order)
    if not memory.flags.c_contiguous or values.base is not None or not is_writeable(values):
        memory = copied(memory)
    found = whole(memory)
    out = found if in_order else found.transpose(inverse(order))
    if not is_writeable(values):
        ghost = out.ghost().view()
        ghost.flags.writeable = False
        return out.windowed(ghost)
    return out


def adopted(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """`evaluated`, except that an array of memory which other code may change at any time stays NumPy's."""
    found: list[held.Held] = []
    _arrays_in((args, keywords), found)
    if found:
        return evaluated(function, args, keywords)
    ran_by_numpy(function.__name__)
    values = owner = function(*args, **keywords)
    while type(owner) is np.ndarray and owner.base is not None:
        owner = owner.base
    return values if not isinstance(owner, np.ndarray | bytes) and is_writeable(values) else wrapped(values)


def _copy_of(values: np.ndarray) -> Any:
    """An array of its own with these values, whose axes lie in memory in the order of theirs."""
    make_room(values.nbytes)
    order = memory_order([values], values.ndim)
    memory = copied(values.transpose(order))
    found = whole(memory)
    return found if order == tuple(range(values.ndim)) else found.transpose(inverse(order))


def array(
    values: Any, dtype: Any = None, *, copy: bool | None = True, order: Any = "K", ndmin: int = 0, **more: Any
) -> Any:
    """An array with values of its own. Raises what `numpy.array` raises."""
    if isinstance(values, arrays.Array) and not more:
        wanted = values.dtype if dtype is None else as_dtype(dtype)
        if copy is False and (wanted != values.dtype or values.buffer.is_number):
            np.array(values.ghost()[()], wanted, copy=False)  # raises NumPy's error
        if isinstance(values, arrays.number):
            out = record(Convert(wanted), (values,), (), wanted, is_number=False)
        else:
            out = values.astype(wanted, order or "K", copy=bool(copy))
        return out if ndmin <= out.ndim else out[(*(None,) * (ndmin - out.ndim), ...)]
    if isinstance(values, np.ndarray) and copy is None:
        copy = True
    is_copy = type(values) is np.ndarray and copy and order == "K" and ndmin <= values.ndim and not more
    if is_copy and (dtype is None or values.dtype == dtype):
        return _copy_of(values)
    return wrapped(np.array(plain(values), dtype, copy=copy, order=order, ndmin=ndmin, **more))


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
    """As `numpy.ascontiguousarray`: with one axis at least, and its axes in memory in their order."""
    found = array(values, dtype, copy=None, order="C", ndmin=1)
    return found if found.ghost().flags.c_contiguous else found.copy()


def plain(value: Any) -> Any:
    """The value with NumPy's arrays for appyc's, computed."""
    if isinstance(value, held.Held):
        return value.computed()[()] if value.buffer.is_number else value.computed()
    kind = type(value)
    if kind is tuple:
        return tuple(plain(v) for v in value)
    if kind is list:
        return [plain(v) for v in value]
    if kind is dict:
        return {k: plain(v) for k, v in value.items()}
    if kind is slice:
        return slice(plain(value.start), plain(value.stop), plain(value.step))
    return getattr(value, "__appyc_plain__", value)


def _arrays_in(value: Any, found: list[held.Held]) -> None:
    if isinstance(value, held.Held):
        found.append(value)
    elif type(value) is tuple or type(value) is list:
        for item in value:
            _arrays_in(item, found)
    elif type(value) is dict:
        for item in value.values():
            _arrays_in(item, found)


def evaluated(
    function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any], why: str = ""
) -> Any:
    """NumPy's function on computed values. It may write to its arguments: what reads them runs before.

    What it gives that is a view of an argument is a view here, too. why: of a compiled function, for the report.
    """
    found: list[held.Held] = []
    _arrays_in((args, keywords), found)
    buffers = [a.buffer for a in found]
    if buffers:
        flush(buffers, overwritten=buffers)
    name = getattr(function, "__name__", str(function))
    if why:
        ran_at_once(name, why)
    else:
        ran_by_numpy(name)
    return _finished(function(*plain(args), **plain(keywords)), found)


def finished(result: Any, args: tuple[Any, ...]) -> Any:
    """What is given for a result of NumPy's that a call with these arguments has computed at once."""
    found: list[held.Held] = []
    _arrays_in(args, found)
    return _finished(result, found)


def _finished(result: Any, found: list[held.Held]) -> Any:
    given = [a for a in found if type(a) is arrays.ndarray]
    if given and not _is_value(result):
        for array in given:
            array.buffer.lent = True
    return _mapped(result, lambda values: _traced(values, given))


def given_back(result: Any, taken: Iterable[Any], args: tuple[Any, ...]) -> Any:
    """What is given for the result of a compiled function that has taken arrays from outside, and NumPy's arguments: of
    these, it may give a view."""
    arrays_taken: list[held.Held] = []
    memories: list[np.ndarray] = []
    for value in taken:
        _arrays_in(value, arrays_taken)
    for value in (*args, *taken):
        if isinstance(value, np.ndarray) and not isinstance(value, held.Held):
            memories.append(value)
    given = [a for a in arrays_taken if type(a) is arrays.ndarray]

    def change(values: np.ndarray) -> Any:
        return values if any(np.may_share_memory(values, m) for m in memories) else _traced(values, given)

    return _mapped(result, change)


def _is_value(result: Any) -> bool:
    """Whether a result is known to hold no memory of other arrays, or to be an array whose memory is known."""
    if isinstance(result, tuple | list):
        return all(_is_value(item) for item in result)
    known = (bool, int, float, complex, str, bytes, np.generic, np.dtype)
    return result is None or type(result) is np.ndarray or isinstance(result, known)


def _traced(values: np.ndarray, given: list[arrays.ndarray], *, of_ghosts: bool = False) -> Any:
    """An array of a function's result: of an argument's memory, if it lies there."""
    for array in given:
        memory = ghost_of(array.buffer) if of_ghosts else array.buffer.memory
        if memory is None or not is_within(values, memory):
            continue
        view = array.ghost() if of_ghosts else array.computed()
        if address(values) == address(view) and (values.shape, values.strides, values.dtype) == (
            view.shape, view.strides, view.dtype) and is_writeable(values):  # fmt: skip
            return array
        steps = None if array.is_window else steps_between(view, values)
        if steps is None:
            return array.windowed(view_of(ghost_of(array.buffer), (window(values, memory),)))
        out = array
        for step in steps:
            out = out[(*step.items, ...)] if isinstance(step, Index) else out.view_with(step)
        return out
    return _owned(values)


def views_by(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """What a function gives that makes nothing but views. NotImplemented where that cannot be told without values."""
    array = args[0] if args else None
    if type(array) is arrays.ndarray and not array.path and not keywords and _are_plain(args[1:]):
        places = _places_by(function, array.shape, array.dtype, args[1:])
        return NotImplemented if places is None else _mapped(places, array.at_place, Place)
    return _views_by(function, args, keywords)


def _views_by(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The function is called with ghosts."""
    found: list[held.Held] = []
    _arrays_in((args, keywords), found)
    given = [a for a in found if type(a) is arrays.ndarray]
    if len(given) < len(found) or not given or not all(a.size for a in given):
        return NotImplemented
    result = function(*_ghosts(args), **_ghosts(keywords))
    if not _traceable(result, given):
        return NotImplemented
    return _mapped(result, lambda values: _traced(values, given, of_ghosts=True))


def _are_plain(args: tuple[Any, ...]) -> bool:
    """Whether arguments are integers, tuples of such, and None."""
    items = [item for arg in args for item in (arg if type(arg) is tuple else (arg,))]
    return all(item is None or type(item) is int for item in items)


@functools.lru_cache(maxsize=1 << 10)
def _places_by(
    function: Callable[..., Any], shape: tuple[int, ...], dtype: np.dtype, args: tuple[Any, ...]
) -> Any:
    """What `views_by` gives for whole arrays of this shape, with places for views; None where that does not tell."""
    found = _views_by(function, (whole(np.empty(shape, dtype)), *args), {})
    if found is NotImplemented:
        return None
    return _mapped(
        found, lambda view: Place(view.path, view.shape, view.dtype, view.is_straight), arrays.ndarray
    )


def _traceable(result: Any, given: list[arrays.ndarray]) -> bool:
    if isinstance(result, tuple | list):
        return all(_traceable(item, given) for item in result)
    return type(result) is np.ndarray and any(is_within(result, ghost_of(a.buffer)) for a in given)


def _ghosts(value: Any) -> Any:
    """Arguments with ghosts for appyc's arrays."""
    if type(value) is arrays.ndarray:
        return value.ghost()
    if type(value) is tuple or type(value) is list:
        return type(value)(_ghosts(v) for v in value)
    return {k: _ghosts(v) for k, v in value.items()} if type(value) is dict else value


def changing(target: held.Held, change: Callable[[np.ndarray], Any]) -> None:
    """A write to an array's memory by NumPy, in program order with the recording."""
    flush((target.buffer,), overwritten=(target.buffer,))
    change(target.computed())
    ran_by_numpy("a change of an array")


def is_awaited(buffer: Buffer) -> bool:
    """Whether something recorded is still to change the buffer."""
    return STATE.recording.changes(buffer)


# ---------------------------------------------------------------- recording


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
        recording.nbytes += out.buffer.nbytes
        if recording.nbytes > recording.most_bytes and recording.is_too_much():
            flush_some()
    return out


def _computed_now(
    operation: Operation, operands: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype, is_number: bool
) -> Any:
    """What `record` gives, if it is computed at once; else NOT_NOW."""
    values = at_once.result(operation, operands, shape, dtype)
    if values is at_once.NOT_NOW:
        return values
    now = values if is_number else whole(np.asarray(values))
    if STATE.recording.is_learning:
        STATE.recording.done = (operation, operands, shape, now)
    return now


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


def turned(operand: arrays.Array, order: tuple[int, ...]) -> held.Held:
    """The operand with its axes in another order, and as many as that has."""
    if not operand.shape:
        return operand
    missing = len(order) - operand.ndim
    whole = operand[(*(None,) * missing, ...)] if missing else operand
    out: arrays.Array = whole.transpose(order)
    return out


def record_store(
    operation: Operation, operands: tuple[Any, ...], target: held.Held, shape: tuple[int, ...]
) -> None:
    """Records a store of the operation's result into the target."""
    if _stored_now(operation, operands, target, shape):
        return
    buffer = target.buffer
    if not buffer.shape:  # a single number: compiled code has no arrays of that kind
        value = record(operation, operands, shape, target.dtype, is_number=False)
        changing(target, lambda memory: memory.__setitem__(..., value.computed()))
        return
    site = caller()
    recording = STATE.recording
    with STATE.lock:
        if recording.is_due(site):
            flush_due()
            if _stored_now(operation, operands, target, shape):  # nothing may wait any more
                return
        operands = tuple(
            Own(o.path, o.shape, o.dtype) if getattr(o, "buffer", None) is buffer else o for o in operands
        )
        recording.statements.append(Statement(operation, operands, buffer, target.path, shape, site))
    if buffer.lent:
        flush((buffer,))


def _stored_now(
    operation: Operation, operands: tuple[Any, ...], target: held.Held, shape: tuple[int, ...]
) -> bool:
    """Whether what `record_store` is to store is stored by now."""
    if not at_once.stored(operation, operands, target, shape):
        return False
    if STATE.recording.is_learning:
        STATE.recording.done = (operation, operands, shape, target)
    return True


def run_filling(place: View) -> None:
    """Runs the pending stores into an array that a loop fills element by element. The stores that follow can then run
    eagerly."""
    recording = STATE.recording
    if at_once.is_small(place.shape) and recording.is_filling(place.buffer):
        flush((place.buffer,), overwritten=(place.buffer,))
