"""A drop-in for NumPy whose operations run later, together: `import appyc.numpy as np`.

Every public name of NumPy is here. Arrays are `appyc.numpy.ndarray`; what compiles is recorded and
runs fused when a value is asked for, the rest runs in NumPy on computed values. See docs/lazy.md.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as _numpy

from appyc.lazy.applying import apply_ufunc
from appyc.lazy.arrays import ndarray
from appyc.lazy.functions import call
from appyc.lazy.recorder import array, asarray, contiguous
from appyc.lazy.reporting import graph
from appyc.lazy.running import flush

__all__ = ["array", "asarray", "flush", "graph", "ndarray"]

asanyarray = asarray
ascontiguousarray = contiguous


class _Namespace:
    """A part of NumPy, such as `linalg`, with functions that take appyc's arrays."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = _adapted(getattr(self._module, name))
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return dir(self._module)


class _Ufunc:
    """A ufunc that takes appyc's arrays."""

    def __init__(self, ufunc: _numpy.ufunc) -> None:
        self._ufunc = ufunc

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return call(self._ufunc, args, keywords)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ufunc, name)
        if not callable(found):
            return found
        return lambda *args, **keywords: apply_ufunc(self._ufunc, name, args, keywords)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return _numpy.ufunc

    @property
    def __appyc_plain__(self) -> _numpy.ufunc:
        """For NumPy's own functions."""
        return self._ufunc

    def __repr__(self) -> str:
        return repr(self._ufunc)


def _function(function: Callable[..., Any]) -> Callable[..., Any]:
    def adapted(*args: Any, **keywords: Any) -> Any:
        return call(function, args, keywords)

    return wraps(function)(adapted)


def _adapted(value: Any) -> Any:
    if isinstance(value, _numpy.ufunc):
        return _Ufunc(value)
    if isinstance(value, type) or not callable(value):
        inner = type(value).__name__ == "module" and value.__name__.startswith("numpy.")
        return _Namespace(value) if inner else value
    return _function(value)


_OF_THE_STANDARD = ("__array_api_version__", "__array_namespace_info__")


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name not in (*_numpy.__all__, *_OF_THE_STANDARD):
        raise AttributeError(f"module 'appyc.numpy' has no attribute {name!r}")
    found = _adapted(getattr(_numpy, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*dir(_numpy), *__all__})
