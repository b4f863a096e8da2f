"""Installation of operators and methods in the classes of recorded arrays.

Arrays are data (`arrays`). Functions and classes of methods that record, index and convert them import `arrays`; this
module imports all of those, and puts them into the classes.
"""

from __future__ import annotations

import functools
import math
import pathlib
import sys
import types
from typing import Any

import numpy as np

from appyc.lazy import evaluation, numpy_functions, ufuncs
from appyc.lazy._nodes import KnownMethod, known_ufuncs
from appyc.lazy.array_methods import ArrayMethods, FunctionMethods, NumberMethods
from appyc.lazy.arrays import Array, ndarray, number
from appyc.lazy.call_cache import cached, function
from appyc.lazy.computed_values import ValueMethods
from appyc.lazy.shapes import ShapeMethods


def _binary(ufunc: np.ufunc) -> tuple[Any, Any]:
    """The methods for `array <operator> other` and `other <operator> array`."""
    known = functools.partial(
        cached, KnownMethod, operands=2, by_value=ufunc is np.power, direct=ufuncs.OPERATORS[ufunc],
        bound="product" if ufunc is np.matmul else "broadcast",
    )  # fmt: skip
    forward = functools.partial(ufuncs.binary, ufunc)
    return known(forward), known(lambda two, one: forward(one, two), swapped=True)


def _unary(ufunc: np.ufunc) -> Any:
    """The method for `<operator> array`."""
    return cached(KnownMethod, lambda array: numpy_functions.call(ufunc, (array,), {}), 1, direct=ufunc)


def _in_place(ufunc: np.ufunc) -> Any:
    """The method for `array <operator>= other`."""
    slowly = functools.partial(ufuncs.update, ufunc)
    direct = None if ufunc is np.matmul else ufuncs.UPDATES[ufunc]
    by_value = ufunc is np.power
    return cached(KnownMethod, slowly, 2, what="updates", by_value=by_value, direct=direct, bound="broadcast")


def _at_once(name: str) -> Any:
    """A method that NumPy runs where its operands are there, and that records several statements elsewhere."""
    slowly = getattr(Array, name)
    direct = getattr(np.ndarray, name)
    return functools.update_wrapper(cached(KnownMethod, slowly, 0, what="runs", direct=direct), slowly)


def _on_values(name: str) -> Any:
    """A method of NumPy's arrays, on computed values."""
    of = getattr(np.ndarray, name)

    @functools.wraps(of)
    def method(array: Array, *args: Any, **keywords: Any) -> Any:
        return of(array.computed(), *args, **keywords)

    return method


def _on_scalar(of: Any) -> Any:
    """A method of `number` that is a function of NumPy's scalar."""
    return lambda of_array, *args: of(of_array.value(), *args)


def _of_scalar(name: str) -> Any:
    """A method of `number` that copies where that of an array gives a view, and changes nothing, or raises, where that
    changes the array."""

    def method(of_array: Any, *args: Any, **keywords: Any) -> Any:
        return evaluation.wrapped(evaluation.on_values(getattr(of_array.value(), name), args, keywords))

    return method


def _copying(name: str) -> Any:
    """A method that copies: called by an installed library that knows NumPy alone, it gives NumPy's array."""
    method = getattr(Array, name)
    callers: dict[str, bool] = {}

    def copying(self: Any, *args: Any, **keywords: Any) -> Any:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if is_of_library(caller):
            return evaluation.on_values(getattr(self.computed(), name), args, keywords)
        callers[caller] = True
        return method(self, *args, **keywords)

    direct = getattr(np.ndarray, name)
    return functools.update_wrapper(cached(KnownMethod, copying, 1, direct=direct, callers=callers), method)


@functools.lru_cache(maxsize=1 << 10)
def is_of_library(name: str) -> bool:
    """Whether a module is an installed one that does not use appyc."""
    module = sys.modules.get(name)
    parts = pathlib.Path(getattr(module, "__file__", None) or "").parts
    used = [getattr(value, "__name__", None) for value in list(vars(module).values())] if module else []
    return not {"site-packages", "dist-packages"}.isdisjoint(parts) and "appyc.numpy" not in used


def _operators() -> None:
    for name, ufunc in ufuncs.ARITHMETIC.items():
        forward, backward = _binary(ufunc)
        setattr(Array, f"__{name}__", forward)
        setattr(Array, f"__r{name}__", backward)
        setattr(ndarray, f"__i{name}__", _in_place(ufunc))
    for name, ufunc in ufuncs.COMPARISONS.items():
        setattr(Array, f"__{name}__", _binary(ufunc)[0])
    for name, ufunc in {
        "neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert,
    }.items():  # fmt: skip
        setattr(Array, f"__{name}__", _unary(ufunc))


def _methods() -> None:
    for body, kind in (
        (ValueMethods, Array),
        (ShapeMethods, Array),
        (FunctionMethods, Array),
        (ArrayMethods, ndarray),
        (NumberMethods, number),
    ):
        for name, method in vars(body).items():
            if name not in ("__doc__", "__module__", "__slots__"):
                setattr(kind, name, method)
    for name in (
        "sum", "prod", "mean", "min", "max", "any", "all", "var", "std", "argmin", "argmax", "cumsum", "cumprod",
        "dot", "diagonal", "repeat", "squeeze", "swapaxes", "trace",
    ):  # fmt: skip
        setattr(Array, name, function(getattr(np, name)))
    for name in (
        "item", "tolist", "tobytes", "__float__", "__int__", "__complex__", "__index__", "__bool__", "__repr__",
        "__str__", "__format__",
    ):  # fmt: skip
        setattr(Array, name, _on_values(name))
    for name, of in {
        "__hash__": hash, "__repr__": repr, "__format__": format, "__round__": round,
        "__reduce__": lambda value: value.__reduce__(), "__trunc__": lambda value: math.trunc(value.item()),
        "__floor__": lambda value: math.floor(value.item()), "__ceil__": lambda value: math.ceil(value.item()),
    }.items():  # fmt: skip
        setattr(number, name, _on_scalar(of))
    for name in ("reshape", "ravel", "squeeze", "view", "fill", "put", "sort"):
        setattr(number, name, _of_scalar(name))
    for name in ("clip", "round", "take", "flatten"):
        setattr(Array, name, _at_once(name))
    for name in ("astype", "copy"):
        setattr(Array, name, _copying(name))
    for name, method in vars(Array).items():
        if isinstance(method, types.FunctionType) and hasattr(np.ndarray, name):
            method.__wrapped__ = getattr(np.ndarray, name)  # type: ignore[attr-defined]  # whose signature it tells


def install() -> None:
    """Gives the classes of recorded arrays their operators and methods."""
    _methods()
    _operators()
    known_ufuncs.update((ufunc, function(ufunc)) for ufunc in ufuncs.COMPILED_UFUNCS)
