"""Calls of compiled functions with recorded arrays: run eagerly, or recorded with the operations around them.

A recorded call becomes a call in the recorded function (`programs`), where the front end puts the
callee's body: its loops are then fused, contracted and parallelised with the rest.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from appyc.api import JitFunction
from appyc.errors import CompileError
from appyc.lazy import arrays, evaluation
from appyc.lazy._nodes import Buffer, goes_on
from appyc.lazy.operations import Call
from appyc.lazy.recorded_calls import CallStatement
from appyc.lazy.recording import caller
from appyc.lazy.residence import is_chunked
from appyc.lazy.running import STATE, flush, flush_due

_DEFERRING: ContextVar[bool] = ContextVar("deferring", default=False)


_MOST_OPERATIONS = 1 << 12

_GOES_ON = functools.partial(goes_on, STATE.recording, _DEFERRING)


@contextmanager
def deferred() -> Iterator[None]:
    """Calls of jitted functions with arrays of `appyc.numpy` are recorded in here, and run when a
    result is asked for, fused with each other and with the operations between them."""
    before = _DEFERRING.set(True)
    try:
        with STATE.recording.deferred():
            yield
    finally:
        _DEFERRING.reset(before)


def call(function: JitFunction, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A call of a jitted function: recorded where that was asked for and can be, else run now."""
    if not (function.options.defer or _DEFERRING.get() or _are_chunked(args)):
        why = "as calls do outside of appyc.deferred()"
    elif keywords:
        why = "since it has arguments by keyword"
    else:
        if _GOES_ON(function, *args):
            return None
        try:
            return _record(function, args)
        except _Refused as refusal:
            why = f"since {refusal}"
    return evaluation.evaluated(function, args, keywords, why)


def _are_chunked(args: tuple[Any, ...]) -> bool:
    """Whether arguments are arrays over chunks once what they need has run: a call of these writes a graph."""
    if "dask.array" not in sys.modules:
        return False
    found = [a for a in args if isinstance(a, arrays.Array)]
    flush([a.buffer for a in found])
    return any(is_chunked(a.buffer.memory) for a in found)


class _Refused(Exception):  # noqa: N818  (a signal to the caller, who then makes the call)
    """The reason why a call is not recorded."""


def _record(function: JitFunction, args: tuple[Any, ...]) -> Any:
    """Records a call and returns its results. Raises _Refused where it cannot be recorded."""
    types = [(a.dtype, len(a.shape)) if isinstance(a, arrays.Array) else type(a) for a in args]
    key = (function, *types)
    operation = _OPERATIONS.get(key)
    if operation is None:
        operation = _operation(function, args)
        if len(_OPERATIONS) >= _MOST_OPERATIONS:
            _OPERATIONS.clear()
        _OPERATIONS[key] = operation
    effects = operation.effects
    if any(isinstance(a, arrays.Array) and a.is_window for a in args):
        raise _Refused("an argument is a view that is no slice, transpose or new shape")
    if any(args[k].buffer.lent or args[k].buffer.is_number for k in effects.written):
        raise _Refused("it stores into an array that another library looks at, or into a number")
    given = [
        None if isinstance(a, arrays.number) else a.shape if isinstance(a, arrays.Array) else a for a in args
    ]
    shapes = _shapes(operation, *given) if effects.results else ()
    if shapes is None:
        raise _Refused("only values tell the shapes of what it returns, or it raises")
    made = [Buffer(shape, dtype) for shape, dtype in zip(shapes, effects.results, strict=True)]
    for buffer in made:
        buffer.is_number = not buffer.shape
    recorded = CallStatement(operation, args, made, caller())
    recorded.always_waits = function.options.defer
    with STATE.lock:
        if STATE.recording.is_due(recorded.site):
            flush_due()
        STATE.recording.statements.append(recorded)
    kinds = [arrays.ndarray if buffer.shape else arrays.number for buffer in made]
    results = tuple(
        kind(buffer, (), buffer.shape, buffer.dtype) for kind, buffer in zip(kinds, made, strict=True)
    )
    if not results:
        return None
    return results[0] if effects.single else results


@functools.lru_cache(maxsize=_MOST_OPERATIONS, typed=True)  # 2 is not 2.0
def _shapes(operation: Call, *given: Any) -> tuple[tuple[int, ...], ...] | None:
    """The shapes of what a call returns; None where they depend on more than shapes and numbers."""
    return operation.effects.shapes(given)


_OPERATIONS: dict[tuple[object, ...], Call] = {}
"""The recorded operations of calls, by function and types of arguments."""


def _operation(function: JitFunction, args: tuple[Any, ...]) -> Call:
    """The operation to record for a call. Raises _Refused where it must run now."""
    kinds = (arrays.Array, bool, int, float, complex, np.generic)
    if not all(isinstance(a, kinds) for a in args):
        # it may write to a NumPy array, and other things have no type
        raise _Refused("an argument is neither a recorded array nor a number")
    try:
        effects = function.effects(*(a.ghost() if isinstance(a, arrays.Array) else a for a in args))
    except CompileError:
        raise _Refused("it is not compiled as a whole") from None  # what is wrong, the call itself will raise
    if not effects.closed:
        raise _Refused(
            "it takes arrays from outside its arguments, or returns views or numbers of Python's own"
        )
    function.before = _GOES_ON  # from now on, the next call of a run takes no Python
    return Call(function, effects)
