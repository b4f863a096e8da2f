"""A drop-in for NumPy whose operations run later, together: `import appyc.numpy as np`.

Every public name of NumPy is here. Arrays are `appyc.numpy.ndarray`; what compiles is recorded and
runs fused when a value is asked for, the rest runs in NumPy on computed values. See docs/lazy.md.
"""

from __future__ import annotations

import atexit
from typing import Any

import numpy as _numpy

from appyc.lazy import call_cache, operators, random_generators
from appyc.lazy.arrays import ndarray
from appyc.lazy.call_cache import array
from appyc.lazy.flat import nditer
from appyc.lazy.recorder import asarray, contiguous
from appyc.lazy.reporting import graph
from appyc.lazy.running import STATE, flush

__all__ = ["array", "asarray", "flush", "graph", "ndarray"]

operators.install()


@atexit.register
def _leave() -> None:
    """Leaves word of what NumPy has spent, to later processes."""
    for program in STATE.programs.values():
        program.leave()


asanyarray = asarray
ascontiguousarray = contiguous


class _Namespace:
    """A submodule of NumPy, such as `linalg`, whose functions take appyc's arrays."""

    def __init__(self, module: Any) -> None:
        self._module = module

    @property
    def __appyc_plain__(self) -> Any:
        """NumPy's module, which compiled code uses."""
        return self._module

    def __getattr__(self, name: str) -> Any:
        path = f"{self._module.__name__}.{name}".removeprefix("numpy.")
        found = _adapted(path, getattr(self._module, name))
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return dir(self._module)


_OWN = {**random_generators.OWN, _numpy.nditer: nditer}


def _adapted(path: str, value: Any) -> Any:
    """The counterpart here of an attribute of NumPy. path: its qualified name, by which pickle finds it."""
    own = _OWN.get(value) if callable(value) else None
    if type(value).__name__ == "module":
        is_public_part = value.__name__.startswith("numpy.") and "._" not in value.__name__
        return _Namespace(value) if is_public_part else value
    if isinstance(value, type) or not callable(value) or type(value).__module__ == "numpy.ma.core":
        return own or value
    if value is _numpy.bmat:
        return value  # which finds names in the frame that calls it
    found = own or call_cache.function(value)
    found.__module__, found.__qualname__ = __name__, path
    return found


_ALSO_PUBLIC = ("__array_api_version__", "__array_namespace_info__", "__config__")


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name not in (*_numpy.__all__, *_ALSO_PUBLIC):
        raise AttributeError(f"module 'appyc.numpy' has no attribute {name!r}")
    found = _adapted(name, getattr(_numpy, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    public = [
        name for name in dir(_numpy) if not name.startswith("__") or name in (*_numpy.__all__, *globals())
    ]
    return sorted({*public, *__all__})
