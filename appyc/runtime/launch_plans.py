"""Launches of kernels, and what they keep for the next one: packed arguments, the function, the grid.

A program launches the same kernels again and again, often with the same arguments. A `LaunchPlan` belongs to one
launch of a host program. It packs the arguments, and where they are those of the last time, only the driver is called.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import Any

from appyc.runtime.triton_build import CompiledKernel
from appyc.triton_gen.triton_kernel import KernelText

_FORMATS = {
    "i1": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I",
    "i64": "q", "u64": "Q", "fp32": "f", "fp64": "d",
}  # fmt: skip
_MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_SHARED_WITHOUT_ASKING = 48 * 1024

STEPS_OF_A_GRAPH = 16
"""Iterations in a graph: one launch of it for so many."""


class GpuKernel:
    """A loaded kernel."""

    def __init__(self, compiled: CompiledKernel, cupy: Any) -> None:
        self._launch = cupy.cuda.driver.launchKernel
        self._module = cupy.cuda.function.Module()
        self._module.load(compiled.cubin)
        self._function = self._module.get_function(compiled.entry).ptr
        self._threads, self._shared = compiled.threads, compiled.shared
        if compiled.shared > _SHARED_WITHOUT_ASKING:
            cupy.cuda.driver.funcSetAttribute(self._function, _MAX_DYNAMIC_SHARED, compiled.shared)

    def call(self, programs: int, stream: int, pointers: int) -> Callable[[], None]:
        """What launches it. pointers: the address of those to its arguments, which the driver copies at each launch."""
        return partial(
            self._launch,
            self._function,
            programs,
            1,
            1,
            self._threads,
            1,
            1,
            self._shared,
            stream,
            pointers,
            0,
        )


class LaunchPlan:
    """One launch of a host program, for one thread. find: the kernel for a number of lanes and these arguments."""

    def __init__(
        self, text: KernelText, find: Callable[[int, Sequence[Any], Sequence[Any]], GpuKernel]
    ) -> None:
        self._find = find
        layout, offsets, size = packed_layout([p.type for p in text.params])
        self._pack = struct.Struct(layout).pack
        self._buffer = (ctypes.c_char * size)()
        base = ctypes.addressof(self._buffer)
        self._pointers = (ctypes.c_void_p * len(offsets))(*[base + offset for offset in offsets])
        self._last: tuple[bytes, int, int, int] | None = None
        self._call: Callable[[], None]

    def launch(
        self, programs: int, lanes: int, stream: int, values: Sequence[Any], args: Sequence[Any]
    ) -> None:
        """values: numbers, and addresses for arrays, which are in `args`."""
        packed = self._pack(*values, 0, 0)
        now = packed, programs, lanes, stream
        if now != self._last:
            kernel = self._find(int(lanes), values, args)
            ctypes.memmove(self._buffer, packed, len(packed))
            self._call = kernel.call(int(programs), stream, ctypes.addressof(self._pointers))
            self._last = now
        self._call()


def packed_layout(types: Sequence[str]) -> tuple[str, list[int], int]:
    """The format of a kernel's arguments in one buffer, where each one begins, and the size.

    Triton adds two pointers to scratch memory at the end, which are null here.

    >>> packed_layout(["*fp64", "i1", "i64"])
    ('<Q?7xqQQ', [0, 8, 16, 24, 32], 40)
    """
    layout, at = "<", 0
    offsets: list[int] = []
    for type_ in [*types, "*", "*"]:
        code = "Q" if type_.startswith("*") else _FORMATS[type_]
        size = struct.calcsize(f"<{code}")
        padding = -at % size
        layout += (f"{padding}x" if padding else "") + code
        offsets.append(at + padding)
        at += padding + size
    return layout, offsets, at


def graphed(steps: range, cupy: Any, on_stream: Callable[[int | None], None]) -> Iterator[int]:
    """The iterations of a loop that makes the same launches in each: the first one, which compiles and loads, then some
    that are captured in a CUDA graph. The graph runs as often as it fits the rest, without iterations here.

    on_stream: launches go to this stream from now on; None: to the current one.
    """
    yield from steps[:1]
    rest = steps[1:]
    size = min(len(rest), STEPS_OF_A_GRAPH)
    if size > 1:
        graph = yield from _captured(rest[:size], cupy, on_stream)
        for _ in range(len(rest) // size):
            graph.launch()
        rest = rest[len(rest) // size * size :]
    yield from rest


class Recording:
    """Launches that a loop makes in each iteration, between other things that the host does. As in `graphed`, the first
    iteration compiles and loads, the second one is captured in a graph, which all others launch."""

    def __init__(self, cupy: Any, on_stream: Callable[[int | None], None]) -> None:
        self._cupy, self._on_stream = cupy, on_stream
        self._is_loaded = False
        self._graph: Any = None

    def launches(self) -> Iterator[int]:
        """One iteration if the launches have to be made, else none."""
        if not self._is_loaded:
            yield 0
            self._is_loaded = True
            return
        if self._graph is None:
            self._graph = yield from _captured(range(1), self._cupy, self._on_stream)
        self._graph.launch()


def _captured(steps: range, cupy: Any, on_stream: Callable[[int | None], None]) -> Generator[int, None, Any]:
    """Iterations whose launches are captured in a graph, which is returned."""
    stream = cupy.cuda.Stream(non_blocking=True)
    stream.begin_capture()
    on_stream(stream.ptr)
    try:
        yield from steps
    finally:
        on_stream(None)
        graph = stream.end_capture()
    return graph
