"""Arrays with one value everywhere: recorded too, so that a temporary that only compiled code sees is never made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from appyc.lazy.operations import COMPILED_DTYPES, Create
from appyc.lazy.recorder import record


def _shape(given: Any) -> tuple[int, ...] | None:
    """The shape that was asked for; None for one that NumPy is to refuse, or an array without axes."""
    try:
        shape = np.empty(given, []).shape  # whose elements take no memory
    except (TypeError, ValueError):
        return None
    return shape if shape and sum(map(int.bit_length, shape)) < 60 else None


def _creating(name: str, shape: Any, dtype: Any = None, order: Any = "C", **more: Any) -> Any:
    wanted, resolved = np.dtype(dtype), _shape(shape)
    if more or order != "C" or resolved is None or wanted not in COMPILED_DTYPES:
        return NotImplemented
    return record(Create(name, wanted), resolved, resolved, wanted)


def _full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **more: Any) -> Any:
    if dtype is None or more or order != "C" or type(fill_value) not in (bool, int, float):
        return NotImplemented
    wanted, resolved = np.dtype(dtype), _shape(shape)
    if resolved is None or wanted not in COMPILED_DTYPES:
        return NotImplemented
    value = np.full((), fill_value, wanted)[()]  # raises what NumPy raises for a value that does not fit
    return record(Create("full", wanted), (*resolved, value), resolved, wanted)


def created_like(name: str, like: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """An array with the shape of another one. NotImplemented where NumPy must see to it."""
    values = args[:1] if name == "full" else ()
    if len(args) > len(values) + 1 or keywords.keys() - {"dtype"} or not like.is_straight:
        return NotImplemented
    dtype = args[-1] if len(args) > len(values) else keywords.get("dtype")
    return CREATION[getattr(np, name)](like.shape, *values, dtype=like.dtype if dtype is None else dtype)


CREATION: dict[Any, Callable[..., Any]] = {
    **{getattr(np, name): partial(_creating, name) for name in ("zeros", "ones", "empty")},
    np.full: _full,
}
