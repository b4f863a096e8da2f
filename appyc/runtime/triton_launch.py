"""Runs generated kernels on a GPU through CuPy: argument transfers, compiling, the device that the host program sees.

CuPy arrays are used in place. NumPy arrays are copied to the GPU, but for those that are overwritten, and those that a
kernel may write are copied back, also when the program raises. Arrays that share memory on the host share
it on the GPU.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appyc.errors import ToolchainError
from appyc.ir.types import Layout
from appyc.runtime.cache import Cache
from appyc.runtime.cuda_graphs import Recording, graphed
from appyc.runtime.dispatch import GuardFailure, Launcher
from appyc.runtime.faults import fault_words, located_error, raise_recorded
from appyc.runtime.gpu_products import multiply
from appyc.runtime.kernel_variants import KernelArguments, Variant, choose_lanes
from appyc.runtime.overlap import touching_spans
from appyc.runtime.triton_build import cached_kernel
from appyc.runtime.triton_interpret import Compiled
from appyc.runtime.triton_source import HostScalars, load_host
from appyc.triton_gen.triton_module import TritonProgram

_MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_SHARED_WITHOUT_ASKING = 48 * 1024
_MOST_SIZES = 1024
"""Sizes of grids whose lanes are known."""


def launch(program: TritonProgram, disk: Cache) -> Compiled:
    """The program as a function of its arguments; it compiles at the first call. disk: where cubins are kept."""
    return _Program(program, disk).run


def device_array() -> type:
    """The class of arrays in the GPU's memory."""
    array: type = _cupy().ndarray
    return array


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


class _Idle(threading.local):
    """The devices of a thread that no call uses, by the GPU's number."""

    def __init__(self) -> None:
        self.devices: dict[int, _GpuDevice] = {}


class _Program:
    """A program for the GPU that is current at each call."""

    def __init__(self, program: TritonProgram, disk: Cache) -> None:
        self._program, self._disk = program, disk
        self._arrays = [n for n, p in enumerate(program.params) if p.is_array]
        self._scalars = HostScalars(program.params)
        self._kernels: dict[int, _Kernels] = {}
        self._idle = _Idle()

    @cached_property
    def _host(self) -> Callable[..., list[Any]]:
        return load_host(self._program)

    @cached_property
    def _cupy(self) -> Any:
        return _cupy()

    @cached_property
    def _current_gpu(self) -> Callable[[], int]:
        find: Callable[[], int] = self._cupy.cuda.runtime.getDevice
        return find

    def run(self, args: Sequence[Any]) -> list[Any]:
        number = self._current_gpu()
        idle = self._idle.devices  # a call in a call has a device of its own
        device = idle.pop(number, None) or self._device(number)
        device.begin()
        if self._are_on_gpu(args):
            results = self._host(device, *self._scalars.converted(args))
        else:
            results = self._copied(device, args)
        device.launch.forget()
        idle[number] = device  # not after an exception: faults may be noted
        return results

    def _are_on_gpu(self, args: Sequence[Any]) -> bool:
        array = self._cupy.ndarray
        for at in self._arrays:
            if type(args[at]) is not array:
                return False
        return bool(self._arrays)

    def _copied(self, device: _GpuDevice, args: Sequence[Any]) -> list[Any]:
        """A call with arrays that are copied to the GPU."""
        memory = DeviceArguments(self._program, args, self._cupy)
        ended = False
        try:
            results = self._host(device, *self._scalars.converted(memory.values))
            ended = True
        finally:
            memory.copy_back(complete=ended or device.has_raised)
        return [memory.handed_back(result) for result in results]

    def _device(self, number: int) -> _GpuDevice:
        if number not in self._kernels:
            self._kernels.setdefault(number, _Kernels(self._program, self._disk, self._cupy))
        return _GpuDevice(self._kernels[number], self._cupy)


class _Kernels:
    """The kernels of a program on one GPU. Each is compiled when it is first launched."""

    def __init__(self, program: TritonProgram, disk: Cache, cupy: Any) -> None:
        self.program, self._disk, self._cupy = program, disk, cupy
        device = cupy.cuda.Device()
        self.processors: int = device.attributes["MultiProcessorCount"]
        self._target = f"cuda:{device.compute_capability}"
        self._texts = {text.name: text for text in program.kernels}
        self.signatures = {text.name: KernelArguments(text).signature for text in program.kernels}
        self._loaded: dict[tuple[str, Variant], tuple[Any, tuple[int, int, int]]] = {}
        """With the modules, which keep them there."""
        self._crowded: set[tuple[str, int]] = set()
        self._lanes: dict[tuple[str, int, int], int] = {}
        self._lock = threading.Lock()

    def lanes(self, name: str, rows: int, count: int) -> int:
        """The lanes of a kernel's programs: fewer where so many were compiled before, and had too few registers."""
        found = self._lanes.get((name, rows, count))
        if found is None:
            text = self._texts[name]
            found = choose_lanes(text, int(rows), int(count), self.processors, self._crowded)
            if len(self._lanes) >= _MOST_SIZES:
                self._lanes.clear()
            self._lanes[name, rows, count] = found
        return found

    def load(self, name: str, lanes: int, divisor: int, narrow: bool) -> tuple[int, int, int]:
        """A variant's function in the GPU's memory, its threads, and the bytes that they share."""
        key = name, Variant(lanes, divisor, narrow)
        with self._lock:
            if key not in self._loaded:
                built = cached_kernel(self.program, self._texts[name], key[1], self._target, self._disk)
                if built.is_crowded(lanes * self._texts[name].rows(lanes)):
                    self._crowded.add((name, lanes))
                    self._lanes.clear()
                module = self._cupy.cuda.function.Module()
                module.load(built.cubin)
                function = module.get_function(built.entry).ptr
                if built.shared > _SHARED_WITHOUT_ASKING:
                    self._cupy.cuda.driver.funcSetAttribute(function, _MAX_DYNAMIC_SHARED, built.shared)
                self._loaded[key] = module, (function, built.threads, built.shared)
            return self._loaded[key][1]


class DeviceArguments:
    """The arguments on the GPU, and the copies back to the host."""

    def __init__(self, program: TritonProgram, args: Sequence[Any], cupy: Any) -> None:
        self.cupy, self.written, self.overwritten = cupy, program.written, program.overwritten
        self.given = args
        self.any_on_gpu = any(isinstance(a, cupy.ndarray) for a in args)
        shared = shared_memory([a for a in args if isinstance(a, np.ndarray)])
        self.values: list[Any] = []
        blocks: dict[tuple[int, int], Any] = {}
        for param, arg, overwritten in zip(program.params, args, program.overwritten, strict=True):
            if not param.is_array or type(arg) is cupy.ndarray:
                self.values.append(arg)
            elif isinstance(arg, np.ndarray) and arg.dtype.names:
                self.values.append(arg)  # its length alone is asked for
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
    """The address ranges of arrays (by identity) whose memory overlaps that of others, which share one copy
    of the range."""
    groups = touching_spans((id(a), a) for a in arrays)
    return {key: (low, high) for low, high, members in groups for key in members}


@cache
def launch_address() -> int:
    """The address of the driver's cuLaunchKernel, in the library that CuPy has loaded, for `Launcher`."""
    try:
        function = ctypes.CDLL("libcuda.so.1").cuLaunchKernel
    except (OSError, AttributeError) as error:
        raise ToolchainError(f"the CUDA driver cannot be called: {error}") from error
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


class _GpuDevice:
    """The device interface of a host function, on a GPU through CuPy, for one thread and one call at a time."""

    def __init__(self, kernels: _Kernels, cupy: Any) -> None:
        self.cupy, self.processors, self.lanes = cupy, kernels.processors, kernels.lanes
        self._current_stream = cupy.cuda.get_current_stream
        self.sites = sites = kernels.program.sites
        cupy.cuda.runtime.free(0)  # makes the GPU's context this thread's
        raise_status = cupy.cuda.driver.check_status
        self.launch = Launcher(kernels.signatures, kernels.load, raise_status, launch_address())
        can_fail = any(p.kind == "faults" for text in kernels.program.kernels for p in text.params)
        self.faults = cupy.zeros(fault_words(sites), np.int64) if can_fail else None

    def begin(self) -> None:
        self.has_raised = False
        """Whether the program has raised what it says itself."""
        self.recordings: dict[int, Recording] = {}
        self.launch.stream = self._current_stream().ptr

    def on_stream(self, stream: int | None) -> None:
        self.launch.stream = self._current_stream().ptr if stream is None else stream

    def steps(self, steps: range) -> Iterator[int]:
        return graphed(steps, self.cupy, self.on_stream)

    def recorded(self, number: int) -> Iterator[int]:
        recording = self.recordings.setdefault(number, Recording(self.cupy, self.on_stream))
        return recording.launches()

    def array(self, shape: tuple[int, ...], dtype: str, zero: bool) -> Any:
        self.launch.forget()  # what the program does not have any more
        return self.cupy.zeros(shape, dtype) if zero else self.cupy.empty(shape, dtype)

    def resized(self, array: Any, shape: tuple[int, ...], kept: int) -> Any:
        wider = self.array(shape, array.dtype.name, False)
        wider[:kept] = array[:kept]
        return wider

    def read(self, cell: Any) -> Any:
        return self.cupy.asnumpy(cell)[0]

    def multiply(self, *product: Any, **more: Any) -> None:
        multiply(self.cupy, self.launch, self.processors, *product, **more)

    def require(self, holds: bool, reason: str) -> None:
        if not holds:
            raise GuardFailure(reason)

    def fail(self, site: int, *words: int) -> None:
        self.has_raised = True
        raise located_error(self.sites[site], words)

    def check(self) -> None:
        if self.faults is not None:
            self.has_raised = True
            raise_recorded(self.sites, self.cupy.asnumpy(self.faults))
            self.has_raised = False
