"""Eager evaluation: operations on small, computed arrays run in NumPy at once, and are not recorded.

    a = np.array([1.0, 2.0, 3.0])                   none of this is recorded: each line costs what it costs in
    for i in range(3):                              NumPy; recording and running it would cost twenty times
        if a[i] > 1.5:                              as much
            a[i] = 0.0

Arrays of a few thousand elements stay in the L1 cache between operations, so that fusion saves little traffic. An
operation is recorded if an operand is not computed yet, has a pending store, or has more than `Recording.at_once`
elements. A store is recorded if a pending statement reads what it overwrites. A load or store of one element counts as
small whatever the size of its array, and so does a load of a few elements by index arrays. Scalars that are computed
eagerly are NumPy's.

At first only single elements are small. What flushes take beside their programs, and what compiled programs save beside
NumPy, is measured by the size of arrays: the limit grows to sizes that lose by it (`Recording.has_run`).

Fields of rows (`a["x"]`) count as small, and so do arrays of their size beside them: compiled code does not read rows,
so that recording would copy them, which takes as long as the operation.

`_at_once.h` does the same for calls of functions (`call_cache`) and for indices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from appyc.lazy import evaluation
from appyc.lazy._nodes import View, settled
from appyc.lazy.operations import Expression, Kind, Operation, Scatter
from appyc.lazy.running import STATE, flush

NOT_NOW = object()
"""The result of an operation that is to be recorded instead."""


def is_small(shape: tuple[int, ...]) -> bool:
    return STATE.recording.at_once > 0 and math.prod(shape) <= STATE.recording.at_once


def result(operation: Operation, operands: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """The result of the operation, in C order: a NumPy scalar or array; NOT_NOW if it is to be recorded."""
    if not STATE.recording.is_usual():
        given: list[Any] | None = [evaluation.plain(o) for o in operands]
    elif not is_small(shape):
        return NOT_NOW
    else:  # the source of a gather may be large: few of its elements are read
        given = _values(operands, any_size=1 if operation.kind is Kind.PICKING else 0)
    if given is None:
        return NOT_NOW
    assert isinstance(operation, Expression)
    found = operation.run(*given)
    return np.asarray(found, dtype, order="C") if shape else np.asarray(found, dtype)[()]


def stored(operation: Operation, operands: tuple[Any, ...], target: Any, shape: tuple[int, ...]) -> bool:
    """Stores the result of the operation eagerly. False: nothing is done, and it is to be recorded."""
    into: np.ndarray | None = None
    given: list[Any] | None = None
    if not STATE.recording.is_usual():
        given = [evaluation.plain(o) for o in operands]
        flush((target.buffer,), overwritten=(target.buffer,))
        into = target.computed()
    elif is_small(target.shape) and is_small(shape):
        into = settled(STATE.recording, target, True)
        given = None if into is None else _values(operands)
    if into is None or given is None:
        return False
    if isinstance(operation, Scatter):
        operation.store(into, *given)
    else:
        assert isinstance(operation, Expression)
        into[...] = operation.run(*given)
    return True


def are_there(*values: Any) -> bool:
    """Whether all arguments are small and computed, so that a call could run eagerly."""
    return _values(values) is not None


def _values(operands: tuple[Any, ...], any_size: int = 0) -> list[Any] | None:
    """NumPy's values of the operands; None where one is large, or something must run first. any_size: the number of
    leading operands that may be large."""
    out: list[Any] = []
    for number, operand in enumerate(operands):
        if isinstance(operand, View):
            is_one = number < any_size or is_small(operand.shape)
            values = settled(STATE.recording, operand, False) if is_one else None
            if values is None:
                return None
            out.append(values[()] if operand.buffer.is_number else values)
        else:
            out.append(operand)
    return out
