"""Evaluation by NumPy: functions that are not recorded run on computed values, and their results become arrays."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from appyc.api import copied
from appyc.lazy import arrays
from appyc.lazy._nodes import Buffer, address
from appyc.lazy.order import inverse, memory_order
from appyc.lazy.recorded_nodes import ghost_of
from appyc.lazy.running import flush, make_room, ran_at_once
from appyc.lazy.views import (
    Path,
    Transpose,
    ViewLayout,
    is_within,
    is_writeable,
    leads_to,
    steps_between,
    view_of,
    window,
)


class LeftToNumPy(Exception):  # noqa: N818  (a signal to the caller, who then calls NumPy)
    """NumPy must see to a call. Nothing has been done."""


def require(*conditions: object) -> None:
    """Raises LeftToNumPy unless all hold."""
    if not all(conditions):
        raise LeftToNumPy


def wrapped(values: Any) -> Any:
    """An array for values that NumPy has computed, which nothing else may change."""
    return _mapped(values, _owned, np.ndarray)


def _mapped(value: Any, change: Callable[[Any], Any], *kinds: type[Any]) -> Any:
    """The value with something else for what is of these kinds in lists, tuples and dicts: for all items, where none is
    given. What has nothing to be changed stays the very object, which may be an element of an array."""
    kind = type(value)
    if kind in kinds:
        return change(value)
    if kind is dict:
        found = _mapped(list(value.values()), change, *kinds)
        return (
            value if all(map(operator.is_, found, value.values())) else dict(zip(value, found, strict=True))
        )
    if kind is not list and not isinstance(value, tuple):
        return value if kinds else change(value)
    items = [_mapped(v, change, *kinds) for v in value]
    if all(map(operator.is_, items, value)):
        return value
    return items if kind is list else kind(*items) if hasattr(value, "_fields") else tuple(items)


def _arrays_in(value: Any) -> list[arrays.Array]:
    found: list[arrays.Array] = []
    _mapped(value, found.append, arrays.ndarray, arrays.number)
    return found


def whole(memory: np.ndarray) -> Any:
    """An array with this memory, which is its own, in C order."""
    shape, dtype = memory.shape, memory.dtype
    return arrays.ndarray(Buffer(shape, dtype, memory), (), shape, dtype)


def _owned(values: np.ndarray) -> Any:
    """An array with these values. Its axes have their order in memory; what is stretched stays a view."""
    if values.size and 0 in values.strides and not is_writeable(values):
        once = values[tuple(slice(1) if step == 0 else slice(None) for step in values.strides)]
        if once.size < values.size:
            return _views_by(np.broadcast_to, (_owned(once.copy()), values.shape), {})
    out = _laid_out(values)
    if not is_writeable(values):
        ghost = out.ghost().view()
        ghost.flags.writeable = False
        return out.windowed(ghost)
    return out


def adopted(function: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
    """`evaluated`, except that an array of memory which other code may change at any time stays NumPy's."""
    if _arrays_in((args, keywords)):
        return evaluated(function, args, keywords)
    ran_at_once(function.__name__)
    values = owner = function(*args, **keywords)
    while type(owner) is np.ndarray and owner.base is not None:
        owner = owner.base
    return values if not isinstance(owner, np.ndarray | bytes) and is_writeable(values) else wrapped(values)


def copy_of(values: np.ndarray) -> Any:
    """An array of its own with these values, whose axes lie in memory in the order of theirs."""
    make_room(values.nbytes)
    return _laid_out(values, copy=True)


def _laid_out(values: np.ndarray, *, copy: bool = False) -> Any:
    order = memory_order([values], values.ndim)
    is_turned = order != tuple(range(values.ndim))
    memory = values.transpose(order) if is_turned else values
    if copy or not memory.flags.c_contiguous or values.base is not None or not is_writeable(values):
        memory = copied(memory)
    found = whole(memory)
    return found.transpose(inverse(order)) if is_turned else found


def plain(value: Any) -> Any:
    """The value with NumPy's arrays for appyc's, computed."""
    return _mapped(value, _plain_item)


def _plain_item(value: Any) -> Any:
    if isinstance(value, arrays.Array):
        return value.computed()[()] if value.buffer.is_number else value.computed()
    if type(value) is slice:
        return slice(plain(value.start), plain(value.stop), plain(value.step))
    return getattr(value, "__appyc_plain__", value)


def on_values(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The result of NumPy's function for the values of the arguments."""
    try:
        return function(*plain(args), **plain(keywords))
    except ValueError as error:
        if "__array__ method not producing an array" not in str(error):
            raise
    return function(*_mapped(args, _without_method), **_mapped(keywords, _without_method))


def _without_method(value: Any) -> Any:
    """`plain`, with something else also for an object whose `__array__` gives one of appyc's."""
    found = value.__array__() if hasattr(value, "__array__") and not isinstance(value, type) else None
    return _Converted(value, found) if isinstance(found, arrays.Array) else plain(value)


class _Converted:
    """An object whose `__array__` gives NumPy's array."""

    def __init__(self, of: Any, values: arrays.Array) -> None:
        self._of, self._values = of, values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._values.computed(), dtype, copy=copy)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)


def evaluated(
    function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any], why: str = ""
) -> Any:
    """NumPy's function on computed values. It may write to its arguments: what reads them runs before.

    What it gives that is a view of an argument is a view here, too. why: of a compiled function, for the report.
    """
    found = _arrays_in((args, keywords))
    buffers = [a.buffer for a in found]
    if buffers:
        flush(buffers, overwritten=buffers)
    ran_at_once(getattr(function, "__name__", str(function)), why)
    return _finished(on_values(function, args, keywords), found)


def finished(result: Any, args: tuple[Any, ...]) -> Any:
    """The recorded arrays for a result that NumPy has computed at once from these arguments."""
    return _finished(result, _arrays_in(args))


def _finished(result: Any, found: list[arrays.Array]) -> Any:
    given = [a for a in found if type(a) is arrays.ndarray]
    if given and not _is_value(result):
        for array in given:
            array.buffer.lent = True
    return _mapped(result, lambda values: _traced(values, given), np.ndarray)


def given_back(result: Any, taken: Iterable[Any], args: tuple[Any, ...]) -> Any:
    """The recorded arrays for a compiled function's result, which may be a view of captured arrays (`taken`)
    or of NumPy's arguments."""
    given = [a for a in _arrays_in(tuple(taken)) if type(a) is arrays.ndarray]
    values = (value for value in (*args, *taken) if isinstance(value, np.ndarray))
    memories = [value for value in values if not isinstance(value, arrays.Array)]

    def change(values: np.ndarray) -> Any:
        return values if any(np.may_share_memory(values, m) for m in memories) else _traced(values, given)

    return _mapped(result, change, np.ndarray)


def _is_value(result: Any) -> bool:
    """Whether a result is known to hold no memory of other arrays, or to be an array whose memory is known."""
    if isinstance(result, tuple | list):
        return all(_is_value(item) for item in result)
    known = (bool, int, float, complex, str, bytes, np.generic, np.dtype)
    return result is None or type(result) is np.ndarray or isinstance(result, known)


def _traced(values: np.ndarray, given: list[arrays.ndarray], *, of_ghosts: bool = False) -> Any:
    """An array of a function's result: of an argument's memory, if it lies there."""
    holders: list[tuple[arrays.ndarray, np.ndarray, np.ndarray]] = []
    for array in given:
        memory = ghost_of(array.buffer) if of_ghosts else array.buffer.memory
        if memory is not None and is_within(values, memory):
            holders.append((array, memory, array.ghost() if of_ghosts else array.computed()))
    for array, _, view in reversed(holders):  # `out` is the last argument
        if address(values) == address(view) and (values.shape, values.strides, values.dtype) == (
            view.shape, view.strides, view.dtype) and is_writeable(values):  # fmt: skip
            return array
    for array, memory, view in holders:
        steps = None if array.is_window else steps_between(view, values)
        if steps is None and memory.dtype.names and memory.dtype.hasobject:
            array.buffer.lent = True
            return values  # a field of what NumPy takes no other view of
        if steps is None:
            return array.windowed(view_of(ghost_of(array.buffer), (window(values, memory),)))
        return _by_steps(array, steps)
    return _owned(values)


def _by_steps(array: Any, steps: Path) -> Any:
    for step in steps:
        array = array[(*step, ...)] if isinstance(step, tuple) else array.view_with(step)
    return array


def views_by(function: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
    """The result of a function that makes nothing but views. Raises LeftToNumPy where that needs values."""
    array = args[0] if args else None
    is_plain = _are_plain((*args[1:], *keywords.values()))
    if type(array) is arrays.ndarray and not array.is_window and is_plain:
        layouts = _layouts_by(function, array.shape, array.dtype, *args[1:], **keywords)
        if not array.path:
            require(layouts is not None)
            return _mapped(layouts, array.with_layout, ViewLayout)
        # Of a view most functions give what the same steps lead to, which take longer to find than to try.
        if type(layouts) is ViewLayout and all(isinstance(s, tuple | Transpose) for s in layouts.path):
            view = function(array.ghost(), *args[1:], **keywords)
            if leads_to(array.ghost(), layouts.path, view) and is_writeable(view):
                return _by_steps(array, layouts.path)
    return _views_by(function, args, keywords)


def _views_by(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The function is called with ghosts."""
    found = _arrays_in((args, keywords))
    given = [a for a in found if type(a) is arrays.ndarray]
    require(len(given) == len(found), given, all(a.size for a in given))
    given_args, named = _mapped((args, keywords), arrays.ndarray.ghost, arrays.ndarray)
    result = function(*given_args, **named)
    require(_traceable(result, given))
    return _mapped(result, lambda values: _traced(values, given, of_ghosts=True), np.ndarray)


def _are_plain(args: tuple[Any, ...]) -> bool:
    """Whether arguments are integers, tuples of such, and None."""
    items = [item for arg in args for item in (arg if type(arg) is tuple else (arg,))]
    return all(item is None or type(item) is int for item in items)


@functools.lru_cache(maxsize=1 << 10)
def _layouts_by(
    function: Callable[..., Any], shape: tuple[int, ...], dtype: np.dtype, /, *args: Any, **keywords: Any
) -> Any:
    """The result of `views_by` for whole arrays of this shape, with layouts for views; None where it cannot
    be told."""
    try:
        found = _views_by(function, (whole(np.empty(shape, dtype)), *args), keywords)
    except LeftToNumPy:
        return None
    return _mapped(
        found, lambda view: ViewLayout(view.path, view.shape, view.dtype, view.is_straight), arrays.ndarray
    )


def _traceable(result: Any, given: list[arrays.ndarray]) -> bool:
    if isinstance(result, tuple | list):
        return all(_traceable(item, given) for item in result)
    return type(result) is np.ndarray and any(is_within(result, ghost_of(a.buffer)) for a in given)


def changing(target: arrays.Array, change: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """A write to an array's memory by NumPy, in program order with the recording: the function is called with the
    memory and the values of the arguments."""
    flush((target.buffer,), overwritten=(target.buffer,))
    ran_at_once("a change of an array")
    return on_values(functools.partial(change, target.computed()), args, keywords)
