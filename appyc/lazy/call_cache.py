"""NumPy's functions as they are called: at once by NumPy, recorded as before, or by the function in Python.

`Known` gives small arrays that are there to NumPy. A function in Python decides by types, shapes and simple arguments
what to record of others; `Known` looks at these alone, where the same has been decided before: calls with equal types,
shapes and simple arguments record the same operation. Each name is one object, whether it is called as a function, a
method or an operator.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from appyc.lazy import applying, arrays, call_plans, evaluation, numpy_functions, recorder, ufuncs
from appyc.lazy._nodes import Known, KnownMethod
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


_BOUNDS: dict[Any, str] = {
    np.zeros: "grown", np.ones: "grown", np.empty: "grown", np.tile: "grown", np.repeat: "grown",
    np.outer: "grown", np.where: "broadcast", np.dot: "product",
}  # fmt: skip
"""The bounds on the elements of functions' results, where these are not the sizes of the arguments."""

_DIRECT: dict[Any, Any] = {
    **{getattr(np, name): getattr(np.ndarray, name) for name in (
        "sum", "prod", "mean", "min", "max", "any", "all", "argmin", "argmax", "cumsum", "cumprod", "dot",
    )},
    np.pad: None,
}  # fmt: skip
"""The methods called at once in place of functions, which take less time; None where a result may be of any
size."""

_AT_ONCE = frozenset((
    np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack, np.dstack, np.clip, np.take, np.ptp, np.average,
    np.diff, np.outer, np.full_like, np.copy,
))  # fmt: skip
"""Functions that record several statements, and give little more than they are given."""

_MOST_OPERANDS = 3
"""The most operands of a call that `Known` records."""


def cached(class_: type[Known], slowly: Callable[..., Any], operands: int, **more: Any) -> Any:
    """A function that is computed at once, or recorded as before, where it can be. direct: what computes it at once.
    plain: NumPy's own, which it is equal to."""
    types, callbacks = (arrays.ndarray, arrays.number), (call_plans.planned, evaluation.finished)
    return class_(slowly, STATE.recording, *types, *callbacks, operands, **more)


class Ufunc(Known):
    """A ufunc that takes appyc's arrays."""

    def __getattr__(self, name: str) -> Any:
        plain = self.__appyc_plain__
        found = getattr(plain, name)
        if not callable(found):
            return found

        def slowly(*args: Any, **keywords: Any) -> Any:
            return applying.apply_ufunc(plain, name, args, keywords)

        bound = "grown" if name == "outer" else "each"
        method = self.__dict__[name] = cached(Known, slowly, 0, what="runs", direct=found, bound=bound)
        return method

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return np.ufunc


@functools.cache
def function(of: Any) -> Any:
    """One of NumPy's functions or ufuncs."""

    def slowly(*args: Any, **keywords: Any) -> Any:
        return numpy_functions.call(of, args, keywords)

    if isinstance(of, np.ufunc) and of.nin <= _MOST_OPERANDS:
        bound = "product" if of is np.matmul else "each" if of.signature else "broadcast"
        return cached(Ufunc, slowly, of.nin, by_value=of is np.power, direct=of, plain=of, bound=bound)
    if of in _OPERANDS:
        direct, bound = _DIRECT.get(of, of), _BOUNDS.get(of, "each")
        known = cached(KnownMethod, slowly, _OPERANDS[of], direct=direct, plain=of, bound=bound)
    elif of in _AT_ONCE or not numpy_functions.is_own(of):
        known = cached(Known, slowly, 0, what="runs", direct=of, plain=of, bound=_BOUNDS.get(of, "each"))
    else:
        known = cached(KnownMethod, slowly, 0, what="runs", plain=of)
    return functools.update_wrapper(known, of)  # with the name of NumPy's, which compiled code takes it for


array: Any = functools.update_wrapper(
    cached(Known, recorder.array, 0, what="runs", direct=np.array, plain=np.array), recorder.array
)
array.__module__ = "appyc.numpy"
"""`numpy.array`, which copies."""


def _put(target: np.ndarray, value: Any) -> None:
    target[...] = value


store = cached(Known, ufuncs.store, 1, what="stores", direct=_put)
"""`store(target, value)`: the target's elements become those of the value."""
