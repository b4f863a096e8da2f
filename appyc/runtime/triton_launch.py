"""Runs generated kernels on a GPU through CuPy: argument transfers and kernel launches.

CuPy arrays are used in place. NumPy arrays are copied to the GPU, and those that a kernel may
write are copied back, also when the program raises. Arrays that share memory on the host share
it on the GPU.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appyc.errors import ToolchainError
from appyc.ir.types import Layout
from appyc.runtime.cache import Cache
from appyc.runtime.cubins import cached_kernel
from appyc.runtime.faults import located_error
from appyc.runtime.gpu_products import multiply
from appyc.runtime.kernel_variants import Variant, choose_lanes, common_divisor
from appyc.runtime.triton_build import CompiledKernel
from appyc.runtime.triton_faults import GuardFailed, fault_words, raise_fault
from appyc.runtime.triton_interpret import Compiled
from appyc.runtime.triton_source import load_host
from appyc.triton_gen.triton_kernel import KernelText
from appyc.triton_gen.triton_module import TritonProgram

_FORMATS = {
    "i1": "B", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I",
    "i64": "q", "u64": "Q", "fp32": "f", "fp64": "d",
}  # fmt: skip
_MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_SHARED_WITHOUT_ASKING = 48 * 1024


def launch(program: TritonProgram, disk: Cache) -> Compiled:
    """The program as a function of its arguments' list; it compiles at the first call. disk: where cubins are kept."""
    compiled = _Program(program, disk)
    return compiled.run


def _cupy() -> Any:
    try:
        import cupy  # noqa: PLC0415  (optional, and slow to import)
    except ImportError:
        raise ToolchainError("the GPU target needs CuPy. Install it: pip install 'appyc[gpu]'") from None
    if not cupy.is_available():
        raise ToolchainError("CuPy finds no GPU, or no driver for it")
    return cupy


class GpuKernel:
    """A loaded kernel with room for its packed arguments."""

    def __init__(self, text: KernelText, compiled: CompiledKernel, cupy: Any) -> None:
        self._driver = cupy.cuda.driver
        self._module = cupy.cuda.function.Module()
        self._module.load(compiled.cubin)
        self._function = self._module.get_function(compiled.entry).ptr
        self._threads, self._shared = compiled.threads, compiled.shared
        if compiled.shared > _SHARED_WITHOUT_ASKING:
            self._driver.funcSetAttribute(self._function, _MAX_DYNAMIC_SHARED, compiled.shared)
        layout, offsets, size = packed_layout([p.type for p in text.params])
        self._pack = struct.Struct(layout).pack_into
        self._buffer = ctypes.create_string_buffer(size)
        base = ctypes.addressof(self._buffer)
        self._pointers = (ctypes.c_void_p * len(offsets))(*[base + offset for offset in offsets])
        self._lock = threading.Lock()

    def __call__(self, programs: int, stream: int, args: Sequence[Any]) -> None:
        with self._lock:  # the driver copies the arguments before it returns
            self._pack(self._buffer, 0, *args, 0, 0)
            self._driver.launchKernel(
                self._function, programs, 1, 1, self._threads, 1, 1,
                self._shared, stream, ctypes.addressof(self._pointers), 0,
            )  # fmt: skip


def packed_layout(types: Sequence[str]) -> tuple[str, list[int], int]:
    """The format of a kernel's arguments in one buffer, where each one begins, and the size.

    Triton adds two pointers to scratch memory at the end, which are null here.

    >>> packed_layout(["*fp64", "i1", "i64"])
    ('<QB7xqQQ', [0, 8, 16, 24, 32], 40)
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


def plain_number(value: Any) -> Any:
    """Python's number of a NumPy scalar: `struct` packs no `np.bool`."""
    return value.item() if isinstance(value, np.generic) else value


class _Program:
    """A program for the GPU that is current at its first call. A kernel is compiled when it is first launched."""

    def __init__(self, program: TritonProgram, disk: Cache) -> None:
        self.program, self._disk = program, disk
        self._texts = {text.name: text for text in program.kernels}
        self._kernels: dict[tuple[str, Variant], GpuKernel] = {}
        self._spilling: set[tuple[str, int]] = set()
        self._lock = threading.Lock()

    @cached_property
    def _host(self) -> Callable[..., list[Any]]:
        return load_host(self.program)

    @cached_property
    def _target(self) -> str:
        return f"cuda:{_cupy().cuda.Device().compute_capability}"

    def lanes(self, name: str, rows: int, count: int, processors: int) -> int:
        """The lanes of a kernel's programs: fewer where so many were compiled before, and spilled registers."""
        text = self._texts[name]
        lanes = choose_lanes(text, rows, count, processors)
        while lanes > text.fewest_lanes and (name, lanes) in self._spilling:
            lanes //= 2
        return lanes

    def kernel(self, name: str, lanes: int, values: Sequence[Any]) -> GpuKernel:
        """The variant for these arguments, compiled when it is first needed."""
        text = self._texts[name]
        key = name, Variant(lanes, common_divisor(text.params, values))
        found = self._kernels.get(key)
        if found is not None:
            return found
        with self._lock:
            if key not in self._kernels:
                compiled = cached_kernel(self.program, text, key[1], self._target, self._disk)
                if compiled.spill_bytes:
                    self._spilling.add((name, lanes))
                self._kernels[key] = GpuKernel(text, compiled, _cupy())
            return self._kernels[key]

    def run(self, args: list[Any]) -> list[Any]:
        cupy = _cupy()
        memory = DeviceArguments(self.program, args, cupy)
        device = _GpuDevice(self, cupy)
        try:
            with np.errstate(all="ignore"):
                results = self._host(device, *memory.values)
        finally:
            memory.copy_back()
        return [memory.handed_back(result) for result in results]


class DeviceArguments:
    """The arguments on the GPU, and the copies back to the host."""

    def __init__(self, program: TritonProgram, args: list[Any], cupy: Any) -> None:
        self.cupy, self.written = cupy, program.written
        self.given = args
        self.any_on_gpu = any(isinstance(a, cupy.ndarray) for a in args)
        shared = shared_memory([a for a in args if isinstance(a, np.ndarray)])
        self.values: list[Any] = []
        blocks: dict[tuple[int, int], Any] = {}
        for param, arg in zip(program.params, args, strict=True):
            if not param.is_array:
                self.values.append(param.dtype.numpy.type(arg))
            elif not isinstance(arg, np.ndarray):
                self.values.append(cupy.asarray(arg))  # of another library's, on the same memory
            elif (span := shared.get(id(arg))) is not None:
                self.values.append(self._in_block(arg, span, blocks))
            else:
                order = "F" if param.array.layout is Layout.F else "C"
                self.values.append(cupy.array(arg, order=order))

    def _in_block(self, arg: NDArray[Any], span: tuple[int, int], blocks: dict[tuple[int, int], Any]) -> Any:
        """The array as a view into a copy of all the memory that it shares with others."""
        if span not in blocks:
            memory = (ctypes.c_char * (span[1] - span[0])).from_address(span[0])
            blocks[span] = self.cupy.asarray(np.frombuffer(memoryview(memory), np.uint8))
        offset = arg.__array_interface__["data"][0] - span[0]
        pointer = blocks[span].data + offset
        return self.cupy.ndarray(arg.shape, arg.dtype, memptr=pointer, strides=arg.strides)

    def copy_back(self) -> None:
        for given, value, written in zip(self.given, self.values, self.written, strict=True):
            if written and isinstance(given, np.ndarray) and given.size:
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
        self.processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
        self.stream = cupy.cuda.get_current_stream().ptr
        can_fail = any(p.kind == "faults" for text in program.program.kernels for p in text.params)
        self.faults = cupy.zeros(fault_words(sites), np.int64) if can_fail else None

    def lanes(self, name: str, rows: int, count: int) -> int:
        return self.program.lanes(name, int(rows), int(count), self.processors)

    def launch(self, name: str, programs: int, lanes: int, *args: Any) -> None:
        if programs > 0:
            values = [a.data.ptr if isinstance(a, self.cupy.ndarray) else plain_number(a) for a in args]
            self.program.kernel(name, int(lanes), values)(int(programs), self.stream, values)

    def array(self, shape: tuple[int, ...], dtype: str, zero: bool) -> Any:
        return self.cupy.zeros(shape, dtype) if zero else self.cupy.empty(shape, dtype)

    def read(self, cell: Any) -> Any:
        return self.cupy.asnumpy(cell)[0]

    def multiply(self, *product: Any, **more: Any) -> None:
        multiply(self.cupy, self.launch, self.processors, *product, **more)

    def require(self, holds: bool, reason: str) -> None:
        if not holds:
            raise GuardFailed(reason)

    def fail(self, site: int, *words: int) -> None:
        raise located_error(self.sites[site], words)

    def check(self) -> None:
        if self.faults is not None:
            raise_fault(self.sites, self.cupy.asnumpy(self.faults))
