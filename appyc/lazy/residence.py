"""Placement of recorded arrays: in host memory, in GPU memory while programs run there, or in chunks of Dask's.

With `APPYC_TARGET=gpu` the inputs of a compiled program move to the GPU. They stay there, as its results do, until the
host reads them. An array that another library has a view of does not move: it is copied for each program,
and copied back where the program writes it.

The memory of an array over chunks is an array of Dask's: programs that read it write its graph. It becomes NumPy's when
its values are asked for on the host.
"""

from __future__ import annotations

import copy
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from appyc.lazy._nodes import Buffer
from appyc.lazy.views import Path, Reshape, Window, view_of
from appyc.options import from_environment

_Object = TypeVar("_Object")

_LONE = [object()]
_ALONE = sys.getrefcount(_LONE[0])
"""The reference count of an object held by one list only, as `sys.getrefcount` reports it."""

_SHOWN: WeakKeyDictionary[Buffer, Any] = WeakKeyDictionary()
"""GPU memory that other libraries have views of: it lives as long as its buffer, even after that moves."""


def is_for_gpu(target: str | None) -> bool:
    """Whether programs run on a GPU, by the given target or by the environment."""
    return (target or from_environment({}).target) == "gpu"


def is_there(memory: object) -> bool:
    """Whether an array's memory is on a GPU."""
    return not isinstance(memory, np.ndarray | np.generic) and hasattr(memory, "__cuda_array_interface__")


def is_chunked(memory: object) -> bool:
    """Whether an array's memory is an array of Dask's, whose shape is known."""
    return (
        type(memory).__module__.startswith("dask.array")
        and not np.isnan(getattr(memory, "shape", np.nan)).any()
    )


def move(buffers: Iterable[Buffer]) -> None:
    """Moves arrays to the GPU, except those that other libraries have views of."""
    import cupy  # noqa: PLC0415  (optional, and slow to import)

    for buffer in buffers:
        _move_by(buffer, cupy.asarray)


def cut(buffer: Buffer, like: Iterable[Buffer]) -> None:
    """Puts an array on the host into chunks, those of another of its shape if there is one."""
    import dask.array  # noqa: PLC0415  (optional, and slow to import)

    cuts: list[Any] = [b.memory for b in like if is_chunked(b.memory) and b.shape == buffer.shape]
    _move_by(buffer, lambda memory: dask.array.from_array(memory, cuts[0].chunks if cuts else "auto"))


def _move_by(buffer: Buffer, moved: Callable[[np.ndarray], Any]) -> None:
    memory = buffer.memory
    if isinstance(memory, np.ndarray) and memory.ndim and not buffer.lent:
        if buffer.ghost is None:  # views were made of this memory: their addresses still mean something
            buffer.ghost = memory
        buffer.memory = moved(memory)


def alone(objects: Sequence[_Object]) -> list[_Object]:
    """The distinct objects that have one reference from elsewhere for each of their entries in the list."""
    times = Counter(map(id, objects))
    found = list({id(one): one for one in objects}.values())
    return [
        found[k] for k in range(len(found)) if sys.getrefcount(found[k]) == _ALONE + 2 * times[id(found[k])]
    ]


def at_home(buffer: Buffer) -> Any:
    """The array's memory, moved to the host or computed by Dask if necessary; None where it is not computed."""
    memory: Any = buffer.memory
    if is_chunked(memory):
        buffer.memory = memory = np.array(memory.compute(), buffer.dtype, order="C")
    if is_there(memory):
        buffer.memory = memory = memory.get()
    return memory


def kept(result: Any, dtype: np.dtype) -> Any:
    """A result as the memory of a buffer, in C order, on the device that computed it. Stores rebind an array of Dask's,
    so the buffer has its own."""
    if is_chunked(result):
        return copy.copy(result) if result.dtype == dtype else result.astype(dtype)
    if is_there(result):
        return (
            result if result.dtype == dtype and result.flags.c_contiguous else result.astype(dtype, order="C")
        )
    return np.asarray(result, dtype, order="C")


def shown(buffer: Buffer) -> Any:
    """The GPU memory of a computed array, for a view by another library."""
    move((buffer,))
    if not is_there(buffer.memory):
        raise AttributeError("a library on the host has a view of this array, which keeps it there")
    buffer.lent = True
    _SHOWN[buffer] = buffer.memory
    return buffer.memory


def view_there(memory: Any, path: Path) -> Any:
    """The view of memory on a GPU or in chunks. Raises AttributeError for a step that compiled code cannot express."""
    for step in path:
        if isinstance(step, Window):
            raise AttributeError("a library on a GPU cannot take this view: pass a copy")
        memory = memory.reshape(step.shape) if isinstance(step, Reshape) else view_of(memory, (step,))
    return memory


def in_chunks(buffer: Buffer, path: Path) -> Any:
    """The view as an array of Dask's, which stores do not change."""
    import dask.array  # noqa: PLC0415  (optional, and slow to import)

    found = there(buffer, path)
    return copy.copy(found) if is_chunked(found) else dask.array.from_array(found.copy())


def there(buffer: Buffer, path: Path) -> Any:
    """The view of memory in chunks, if it is there and can be expressed there, or on the host."""
    if is_chunked(buffer.memory):
        with suppress(AttributeError):
            return view_there(buffer.memory, path)
    return view_of(at_home(buffer), path)


def views_there(views: Sequence[tuple[Buffer, Path]]) -> list[Any] | None:
    """Views of arrays on the GPU; None where one is not there, or has a step that cannot be expressed there."""
    if not all(is_there(buffer.memory) for buffer, _ in views):
        return None
    with suppress(AttributeError):
        return [view_there(buffer.memory, path) for buffer, path in views]
    return None


def by_numpy(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Calls the function with host copies of arrays on the GPU, and copies these back afterwards."""
    there = [(n, a) for n, a in enumerate(arguments) if is_there(a)]
    if not there:
        return function(*arguments)
    import cupy  # noqa: PLC0415

    given = list(arguments)
    for n, array in there:
        given[n] = array.get()
    result = function(*given)
    for n, array in there:
        array[...] = cupy.asarray(given[n])
    return result
