"""Calls on copies of their arguments, which leave the originals as they are, and comparison of what they gave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

Outcome = tuple[object, tuple[object, ...], dict[str, object]]
"""The result of a call, and its positional and keyword arguments after it."""


@dataclass(frozen=True, slots=True)
class CopiedCalls:
    """wait: returns when the device is done with what it was given."""

    args: tuple[object, ...]
    keywords: Mapping[str, object]
    clock: Callable[[], float]
    wait: Callable[[], object]

    def outcome(self, function: Callable[..., object]) -> Outcome:
        args, keywords = self._copies()
        return function(*args, **keywords), args, keywords

    def seconds(self, function: Callable[..., object]) -> float:
        args, keywords = self._copies()
        self.wait()
        start = self.clock()
        function(*args, **keywords)
        self.wait()
        return self.clock() - start

    def _copies(self) -> tuple[tuple[object, ...], dict[str, object]]:
        memo: dict[int, Any] = {
            id(array): _copy(array) for array in _arrays((*self.args, *self.keywords.values()))
        }
        return deepcopy((self.args, dict(self.keywords)), memo)


def _arrays(values: Iterable[object]) -> Iterator[Any]:
    for value in values:
        if type(value) in (tuple, list):
            yield from _arrays(value)  # type: ignore[arg-type]
        elif hasattr(value, "__cuda_array_interface__") or (
            type(value) is np.ndarray and not value.dtype.hasobject
        ):
            yield value


def _copy(array: Any) -> Any:
    """A copy with the same strides, for which code was compiled."""
    if not isinstance(array, np.ndarray) or array.flags.forc or not array.size:
        return array.copy(order="K")
    low, high = np.lib.array_utils.byte_bounds(array)
    memory = np.empty(high - low, np.uint8)
    out = np.ndarray(array.shape, array.dtype, memory, array.ctypes.data - low, array.strides)
    out[...] = array
    return out


def is_same(one: Any, other: Any, *, exact: bool) -> bool:
    """Whether two outcomes agree. exact: floats to the last bit, else but for the order in which they were added."""
    if hasattr(one, "__cuda_array_interface__"):
        one, other = one.get(), other.get()
    match one:
        case np.ndarray() | np.generic() | float() | complex():
            return _are_equal(np.asarray(one), np.asarray(other), exact=exact)
        case tuple() | list():
            return len(one) == len(other) and all(
                is_same(a, b, exact=exact) for a, b in zip(one, other, strict=True)
            )
        case dict():
            return is_same([*one], [*other], exact=exact) and is_same(
                [*one.values()], [*other.values()], exact=exact
            )
        case _ if isinstance(getattr(one, "__dict__", None), dict) and not callable(one):
            return is_same(vars(one), vars(other), exact=exact)
        case int() | str() | bytes() | None:
            return bool(one == other)
    return True  # what compiled code does not change


def _are_equal(one: np.ndarray, other: np.ndarray, *, exact: bool) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.kind not in "fc":
        return np.array_equal(one, other)
    if exact or not one.size:
        return np.array_equal(one, other, equal_nan=True)
    tolerance = float(np.finfo(one.dtype).eps) ** 0.5
    finite = np.abs(one[np.isfinite(one)])
    return np.allclose(
        other, one, rtol=tolerance, atol=tolerance * float(finite.max(initial=0.0)), equal_nan=True
    )
