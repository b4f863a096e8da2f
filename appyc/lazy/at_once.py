"""What is computed at once, by NumPy: operations on small arrays that are there.

    a = np.array([1.0, 2.0, 3.0])                   nothing is recorded of this: each line costs what it costs in
    for i in range(3):                              NumPy, where recording and running it would cost twenty times
        if a[i] > 1.5:                              as much
            a[i] = 0.0

Arrays of a few thousand elements stay in a processor's first cache from one operation to the next: fusion saves little
of them. An operation is recorded where one of its operands is not computed yet, waits for a recorded store, or has more
than `Recording.at_once` elements; a store, where something recorded is still to read what it overwrites. One element
that is read or written is a small operation, whatever array it is in, and so is a load of a few by arrays of indices.
Numbers that are computed at once are NumPy's.

At first only single elements are small: a program that tries out what is recorded does so with a few small arrays. One
that has run many statements on small arrays works on such, and of tiny arrays fewer will do (`Recording.has_run`).

`_at_once.h` does the same for what was done before (`known`) and for indices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from appyc.lazy.operations import Call, Gather, Operation, Scatter
from appyc.lazy.recorded_nodes import Own, View, settled
from appyc.lazy.running import STATE, flush

NOT_NOW = object()
"""It is to be recorded."""


def is_small(shape: tuple[int, ...]) -> bool:
    return STATE.recording.at_once > 0 and math.prod(shape) <= STATE.recording.at_once


def result(operation: Operation, operands: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """What the operation gives, in C order: NumPy's scalar or array; NOT_NOW."""
    if not STATE.recording.is_usual():
        given: list[Any] | None = _computed(operands)
    elif not is_small(shape):
        return NOT_NOW
    else:  # what places are gathered from may be large: it is not looked at all of
        given = _values(operands, any_size=1 if type(operation) is Gather else 0)
    if given is None:
        return NOT_NOW
    assert not isinstance(operation, Call)  # which `kernels` sees to
    found = operation.run(*given)
    return np.asarray(found, dtype, order="C") if shape else np.asarray(found, dtype)[()]


def stored(operation: Operation, operands: tuple[Any, ...], target: Any, shape: tuple[int, ...]) -> bool:
    """Whether what the operation gives is stored by now. False: it is to be recorded."""
    into: np.ndarray | None = None
    given: list[Any] | None = None
    if not STATE.recording.is_usual():
        given = _computed(operands)
        flush((target.buffer,), overwritten=(target.buffer,))
        into = target.computed()
    elif is_small(target.shape) and is_small(shape):
        into = settled(STATE.recording, target, True)
        given = None if into is None else _values(operands)
    if into is None or given is None:
        return False
    assert not isinstance(operation, Call)
    if type(operation) is Scatter:
        operation.store(into, *given)
    else:
        into[...] = operation.run(*given)
    return True


def are_there(*values: Any) -> bool:
    """Whether a call with these arguments is small, and could run now."""
    return _values(values) is not None


def _computed(operands: tuple[Any, ...]) -> list[Any]:
    """What NumPy is given for the operands, once what they need has run."""
    values = [operand.computed() if isinstance(operand, View) else operand for operand in operands]  # type: ignore[attr-defined]
    return [
        v[()] if isinstance(o, View) and o.buffer.is_number else v
        for o, v in zip(operands, values, strict=True)
    ]


def _values(operands: tuple[Any, ...], any_size: int = 0) -> list[Any] | None:
    """What NumPy is given for the operands; None where something must run before. any_size: so many of the first may be
    large."""
    out: list[Any] = []
    for number, operand in enumerate(operands):
        if isinstance(operand, View):
            is_one = number < any_size or is_small(operand.shape)
            values = settled(STATE.recording, operand, False) if is_one else None
            if values is None:
                return None
            out.append(values[()] if operand.buffer.is_number else values)
        else:
            assert not isinstance(operand, Own)
            out.append(operand)
    return out
