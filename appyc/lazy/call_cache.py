"""Call cache of NumPy's functions: calls with equal types, shapes and simple arguments record the same operation.

A function decides by types, shapes and simple arguments what to record; `Known` looks at these alone, where the same
has been decided before. Each name is one object, whether it is called as a function, a method or an operator.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from appyc.lazy import applying, arrays, evaluation, numpy_functions, recorder, ufuncs
from appyc.lazy._nodes import Known, KnownMethod, Plain
from appyc.lazy.running import STATE

_OPERANDS: dict[Any, int] = {
    np.zeros: 0, np.ones: 0, np.empty: 0, np.where: 3, np.dot: 2,
    np.zeros_like: 1, np.ones_like: 1, np.empty_like: 1,
    **{getattr(np, name): 1 for name in (
        "sum", "prod", "mean", "min", "max", "amin", "amax", "any", "all", "var", "std", "argmin", "argmax", "cumsum",
        "cumprod", "round", "around", "tile", "repeat", "pad", "trace", "trapezoid", "nan_to_num", "nansum", "nanmean",
        "nanmin", "nanmax",
    )},
    np.linalg.norm: 1, np.roll: 2, np.inner: 2, np.vdot: 2, np.tril: 1, np.triu: 1,
}  # fmt: skip
"""Functions that record one statement for arrays in order, and how many of their first arguments are operands."""


_GROWING: frozenset[Any] = frozenset((np.zeros, np.ones, np.empty, np.where, np.tile, np.repeat, np.pad))
"""Those among them that may give far more than they are given."""


def cached(class_: type[Known], slowly: Callable[..., Any], operands: int, **more: Any) -> Any:
    """A function with a call cache."""
    return class_(slowly, STATE.recording, arrays.ndarray, arrays.number, operands, **more)


class Ufunc(Known):
    """A ufunc that takes appyc's arrays."""

    _ufunc: np.ufunc

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ufunc, name)
        if not callable(found):
            return found
        return lambda *args, **keywords: applying.apply_ufunc(self._ufunc, name, args, keywords)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return np.ufunc

    @property
    def __appyc_plain__(self) -> np.ufunc:
        """For NumPy's own functions."""
        return self._ufunc

    def __repr__(self) -> str:
        return repr(self._ufunc)


@functools.cache
def function(of: Any) -> Any:
    """One of NumPy's functions or ufuncs."""

    def slowly(*args: Any, **keywords: Any) -> Any:
        return numpy_functions.call(of, args, keywords)

    if isinstance(of, np.ufunc):
        is_product = of is np.matmul
        direct = of if of.nout == 1 and (of.signature is None or is_product) else None
        ufunc = cached(
            Ufunc, slowly, of.nin, by_value=of is np.power, plain=of, direct=direct, product=is_product
        )
        ufunc._ufunc = of
        return ufunc
    if of in _OPERANDS:
        is_product = of is np.dot
        known = cached(
            KnownMethod, slowly, _OPERANDS[of], plain=of, backup=None if of in _GROWING else _plain(of, slowly),
            direct=of if is_product else None, product=is_product,
        )  # fmt: skip
        return _in_place_of(known, of)
    if of in _AT_ONCE or not numpy_functions.is_own(of):
        return _in_place_of(_plain(of, slowly), of)
    return _in_place_of(slowly, of)


def _in_place_of(function: Any, of: Any) -> Any:
    """A function with the name of NumPy's, which compiled code takes it for."""
    out: Any = functools.update_wrapper(function, of)
    out.__appyc_plain__ = of
    return out


def _plain(of: Callable[..., Any], slowly: Callable[..., Any]) -> Any:
    return Plain(of, slowly, evaluation.finished, STATE.recording, arrays.ndarray)


_AT_ONCE = frozenset((
    np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack, np.dstack, np.clip, np.take, np.ptp, np.average,
    np.diff,
))  # fmt: skip
"""Functions that are recorded, and give little more than they are given: of small arrays NumPy does it at once."""


array = functools.update_wrapper(_plain(np.array, recorder.array), recorder.array)
array.__module__ = "appyc.numpy"
"""`numpy.array`, which copies."""

store = cached(Known, ufuncs.store, 1, what="stores")
"""`store(target, value)`: the target's elements become those of the value."""
