"""Recording of NumPy functions of whole arrays as calls by name (`Apply`).

The dtype of a result is found by calling NumPy on arrays of one element. Its shape is computed from the shapes of the
operands, by `joined_arrays` and `contracting`. Cases that these do not cover (a mask as `repeats`, a mode of `pad`) run
in NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from appyc.lazy import arrays
from appyc.lazy.operations import COMPILED_DTYPES, Apply
from appyc.lazy.recorder import record
from appyc.lazy.ufuncs import as_operand

Shape = tuple[int, ...]


class Applied(NamedTuple):
    """A function's operands, and its arguments with OPERAND for each of them, in this order."""

    operands: tuple[Any, ...]
    args: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]
    shape: Shape


@functools.lru_cache(maxsize=1 << 12)
def _dtype(operation: Apply, kinds: tuple[tuple[np.dtype, int], ...]) -> np.dtype | None:
    """The dtype of a result, of arrays with these dtypes and ranks (and of integers, of rank -1). Raises NumPy's error
    for a wrong axis."""
    small = (np.ones((1,) * rank, dtype) if rank >= 0 else 1 for dtype, rank in kinds)
    args, keywords = operation.filled(small)
    found = np.asarray(operation.function()(*args, **keywords)).dtype
    return found if found in COMPILED_DTYPES else None


def recorded(name: str, find: Callable[..., Applied | None]) -> Callable[..., Any]:
    def function(*args: Any, **keywords: Any) -> Any:
        try:
            call = find(*args, **keywords)
        except TypeError:  # arguments that are not known here: NumPy takes or refuses them
            return NotImplemented
        if call is None:
            return NotImplemented
        operation = Apply(name, call.args, call.keywords)
        kinds = tuple(
            (o.dtype, o.ndim) if isinstance(o, arrays.Array) else (_INTEGER, -1) for o in call.operands
        )
        dtype = _dtype(operation, kinds)
        return NotImplemented if dtype is None else record(operation, call.operands, call.shape, dtype)

    return function


_INTEGER = np.dtype(int)


def array_of(value: Any) -> Any:
    """The value as a non-empty array with axes in memory order, for which NumPy's results have it too; else None."""
    if not isinstance(value, arrays.ndarray | list | tuple):
        return None
    found = as_operand(value)
    if type(found) is not arrays.ndarray or not found.is_straight or not found.size or not found.shape:
        return None
    return found if found.dtype in COMPILED_DTYPES else None


def arrays_of(values: Any) -> list[Any] | None:
    if not isinstance(values, tuple | list) or not any(isinstance(v, arrays.Array) for v in values):
        return None
    found = [array_of(v) for v in values]
    return None if any(f is None for f in found) else found
