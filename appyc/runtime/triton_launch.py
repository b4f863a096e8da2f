"""Runs generated kernels on a GPU through CuPy: argument transfers, compiling, the device that the host program sees.

CuPy arrays are used in place. NumPy arrays are copied to the GPU, but for those that are overwritten, and those that a
kernel may write are copied back, also when the program raises. Arrays that share memory on the host share
it on the GPU.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appyc.errors import ToolchainError
from appyc.ir.types import Layout
from appyc.runtime.cache import Cache
from appyc.runtime.cubins import cached_kernel
from appyc.runtime.faults import located_error
from appyc.runtime.gpu_products import multiply
from appyc.runtime.kernel_variants import Variant, choose_lanes, variant_of
from appyc.runtime.launch_plans import GpuKernel, LaunchPlan, Recording, graphed
from appyc.runtime.triton_faults import GuardFailed, fault_words, raise_fault
from appyc.runtime.triton_interpret import Compiled
from appyc.runtime.triton_source import load_host
from appyc.triton_gen.triton_module import TritonProgram

_MOST_SIZES = 1024
"""Sizes of grids whose lanes are known."""


def launch(program: TritonProgram, disk: Cache) -> Compiled:
    """The program as a function of its arguments' list; it compiles at the first call. disk: where cubins are kept."""
    compiled = _Program(program, disk)
    return compiled.run


def _cupy() -> Any:
    try:
        import cupy  # noqa: PLC0415  (optional, and slow to import)
    except ImportError:
        raise ToolchainError("the GPU target needs CuPy. Install it: pip install 'appyc[gpu]'") from None
    if not _finds_gpu(cupy):
        raise ToolchainError("CuPy finds no GPU, or no driver for it")
    return cupy


@cache
def _finds_gpu(cupy: Any) -> bool:
    found: bool = cupy.is_available()
    return found


class _Program:
    """A program for the GPU that is current at its first call. A kernel is compiled when it is first launched."""

    def __init__(self, program: TritonProgram, disk: Cache) -> None:
        self.program, self._disk = program, disk
        self._texts = {text.name: text for text in program.kernels}
        self._kernels: dict[tuple[str, Variant], GpuKernel] = {}
        self._spilling: set[tuple[str, int]] = set()
        self._lanes: dict[tuple[str, int, int], int] = {}
        self._lock = threading.Lock()
        self._of_thread = threading.local()

    @cached_property
    def _host(self) -> Callable[..., list[Any]]:
        return load_host(self.program)

    @cached_property
    def _target(self) -> str:
        return f"cuda:{_cupy().cuda.Device().compute_capability}"

    @cached_property
    def processors(self) -> int:
        found: int = _cupy().cuda.Device().attributes["MultiProcessorCount"]
        return found

    def lanes(self, name: str, rows: int, count: int) -> int:
        """The lanes of a kernel's programs: fewer where so many were compiled before, and spilled registers."""
        found = self._lanes.get((name, rows, count))
        if found is None:
            text = self._texts[name]
            found = choose_lanes(text, int(rows), int(count), self.processors)
            while found > text.fewest_lanes and (name, found) in self._spilling:
                found //= 2
            if len(self._lanes) >= _MOST_SIZES:
                self._lanes.clear()
            self._lanes[name, rows, count] = found
        return found

    @property
    def plans(self) -> dict[str, LaunchPlan]:
        """The plan of each kernel, for this thread."""
        if not hasattr(self._of_thread, "plans"):
            self._of_thread.plans = {
                n: LaunchPlan(t, partial(self.kernel, n)) for n, t in self._texts.items()
            }
        found: dict[str, LaunchPlan] = self._of_thread.plans
        return found

    def kernel(self, name: str, lanes: int, values: Sequence[Any], args: Sequence[Any]) -> GpuKernel:
        """The variant for these arguments, compiled when it is first needed."""
        text = self._texts[name]
        key = name, variant_of(text, lanes, values, args)
        found = self._kernels.get(key)
        if found is not None:
            return found
        with self._lock:
            if key not in self._kernels:
                compiled = cached_kernel(self.program, text, key[1], self._target, self._disk)
                if compiled.spill_bytes:
                    self._spilling.add((name, lanes))
                    self._lanes.clear()
                self._kernels[key] = GpuKernel(compiled, _cupy())
            return self._kernels[key]

    def run(self, args: list[Any]) -> list[Any]:
        cupy = _cupy()
        memory = DeviceArguments(self.program, args, cupy)
        device = _GpuDevice(self, cupy)
        ended = False
        try:
            with np.errstate(all="ignore"):
                results = self._host(device, *memory.values)
            ended = True
        finally:
            memory.copy_back(complete=ended or device.has_raised)
        return [memory.handed_back(result) for result in results]


class DeviceArguments:
    """The arguments on the GPU, and the copies back to the host."""

    def __init__(self, program: TritonProgram, args: list[Any], cupy: Any) -> None:
        self.cupy, self.written, self.overwritten = cupy, program.written, program.overwritten
        self.given = args
        self.any_on_gpu = any(isinstance(a, cupy.ndarray) for a in args)
        shared = shared_memory([a for a in args if isinstance(a, np.ndarray)])
        self.values: list[Any] = []
        blocks: dict[tuple[int, int], Any] = {}
        for param, arg, overwritten in zip(program.params, args, program.overwritten, strict=True):
            if not param.is_array:
                self.values.append(param.dtype.numpy.type(arg))
            elif type(arg) is cupy.ndarray:
                self.values.append(arg)
            elif not isinstance(arg, np.ndarray):
                self.values.append(cupy.asarray(arg))  # of another library's, on the same memory
            elif (span := shared.get(id(arg))) is not None:
                self.values.append(self._in_block(arg, span, blocks))
            else:
                order = "F" if param.array.layout is Layout.F else "C"
                new = (
                    cupy.empty(arg.shape, arg.dtype, order=order)
                    if overwritten
                    else cupy.array(arg, order=order)
                )
                self.values.append(new)

    def _in_block(self, arg: NDArray[Any], span: tuple[int, int], blocks: dict[tuple[int, int], Any]) -> Any:
        """The array as a view into a copy of all the memory that it shares with others."""
        if span not in blocks:
            memory = (ctypes.c_char * (span[1] - span[0])).from_address(span[0])
            blocks[span] = self.cupy.asarray(np.frombuffer(memoryview(memory), np.uint8))
        offset = arg.__array_interface__["data"][0] - span[0]
        pointer = blocks[span].data + offset
        return self.cupy.ndarray(arg.shape, arg.dtype, memptr=pointer, strides=arg.strides)

    def copy_back(self, *, complete: bool = True) -> None:
        """complete: whether all has run that the program says, so that what it overwrites has been stored."""
        known = zip(self.given, self.values, self.written, self.overwritten, strict=True)
        for given, value, written, overwritten in known:
            if written and (complete or not overwritten) and isinstance(given, np.ndarray) and given.size:
                given[...] = self.cupy.asnumpy(value)

    def handed_back(self, result: Any) -> Any:
        """A result for the caller: an argument itself, or a new array, on the GPU if an argument was there."""
        if not isinstance(result, self.cupy.ndarray):
            return result
        for given, value in zip(self.given, self.values, strict=True):
            if result is value:
                return given
        return result if self.any_on_gpu else self.cupy.asnumpy(result)


def shared_memory(arrays: list[NDArray[Any]]) -> dict[int, tuple[int, int]]:
    """For arrays (by identity) whose memory overlaps that of others, the range of addresses that
    they share a copy of."""
    spans = sorted((*np.lib.array_utils.byte_bounds(a), id(a)) for a in arrays if a.size)
    groups: list[tuple[int, int, set[int]]] = []
    for low, high, key in spans:
        if groups and low < groups[-1][1]:
            start, end, members = groups.pop()
            groups.append((start, max(end, high), members | {key}))
        else:
            groups.append((low, high, {key}))
    return {key: (low, high) for low, high, members in groups if len(members) > 1 for key in members}


class _GpuDevice:
    """The device interface of a host function, on a GPU through CuPy."""

    def __init__(self, program: _Program, cupy: Any) -> None:
        self.program, self.cupy = program, cupy
        self.sites = sites = program.program.sites
        self.has_raised = False
        """Whether the program has raised what it says itself."""
        self.plans = program.plans
        self.lanes = program.lanes
        self.on_stream(None)
        self.recordings: dict[int, Recording] = {}
        can_fail = any(p.kind == "faults" for text in program.program.kernels for p in text.params)
        self.faults = cupy.zeros(fault_words(sites), np.int64) if can_fail else None

    def on_stream(self, stream: int | None) -> None:
        self.stream = self.cupy.cuda.get_current_stream().ptr if stream is None else stream

    def launch(self, name: str, programs: int, lanes: int, *args: Any) -> None:
        if programs > 0:
            array = self.cupy.ndarray
            values = [a.data.ptr if isinstance(a, array) else a for a in args]
            self.plans[name].launch(programs, lanes, self.stream, values, args)

    def steps(self, steps: range) -> Iterator[int]:
        return graphed(steps, self.cupy, self.on_stream)

    def recorded(self, number: int) -> Iterator[int]:
        recording = self.recordings.setdefault(number, Recording(self.cupy, self.on_stream))
        return recording.launches()

    def array(self, shape: tuple[int, ...], dtype: str, zero: bool) -> Any:
        return self.cupy.zeros(shape, dtype) if zero else self.cupy.empty(shape, dtype)

    def resized(self, array: Any, shape: tuple[int, ...], kept: int) -> Any:
        wider = self.array(shape, array.dtype.name, False)
        wider[:kept] = array[:kept]
        return wider

    def read(self, cell: Any) -> Any:
        return self.cupy.asnumpy(cell)[0]

    def multiply(self, *product: Any, **more: Any) -> None:
        multiply(self.cupy, self.launch, self.program.processors, *product, **more)

    def require(self, holds: bool, reason: str) -> None:
        if not holds:
            raise GuardFailed(reason)

    def fail(self, site: int, *words: int) -> None:
        self.has_raised = True
        raise located_error(self.sites[site], words)

    def check(self) -> None:
        if self.faults is not None:
            self.has_raised = True
            raise_fault(self.sites, self.cupy.asnumpy(self.faults))
            self.has_raised = False
