"""Stands for CuPy where there is no GPU: what the launcher uses of it, and nothing else.

Its arrays own memory that is not the host's arrays', and are no NumPy arrays: as CuPy's, they refuse to
become some by themselves. Where the driver would read a kernel's packed arguments, `Driver.launch` reads them,
each of the type and at the place that the kernel's signature says, and runs the kernel in Triton's
interpreter. A pointer that leads to no array of its own is an error.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar
from unittest import mock

import numpy as np

from appyc.runtime.cache import Cache
from appyc.runtime.kernel_variants import Variant
from appyc.runtime.triton_build import CompiledKernel
from appyc.runtime.triton_interpret import InterpretedKernels
from appyc.triton_gen.triton_kernel import KernelText
from appyc.triton_gen.triton_module import TritonProgram

_C_TYPES = {
    "i1": ctypes.c_bool, "fp32": ctypes.c_float, "fp64": ctypes.c_double,
    "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
}  # fmt: skip

DRIVER_FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_size_t, *[ctypes.c_uint] * 7, *[ctypes.c_size_t] * 3
)  # cuLaunchKernel

_MOST_THREADS = 1024


class Pointer:
    """An address in memory of the device's, as `cupy.cuda.MemoryPointer`. memory: bytes that it keeps alive."""

    def __init__(self, memory: np.ndarray, offset: int = 0) -> None:
        self.memory, self.offset = memory, offset

    @property
    def ptr(self) -> int:
        if not self.memory.size:
            return 0
        address: int = self.memory.__array_interface__["data"][0]
        return address + self.offset

    def __add__(self, offset: int) -> Pointer:
        return Pointer(self.memory, self.offset + offset)


_METHODS = frozenset(
    {"reshape", "ravel", "transpose", "copy", "astype", "sum", "min", "max", "mean", "any", "all"}
)


_FUNCTIONS = (
    "abs", "argmin", "concatenate", "copyto", "cos", "einsum", "exp", "log", "matmul", "max", "sin", "sqrt", "sum",
    "take", "tensordot", "where", "zeros_like",
)  # fmt: skip


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):
    """As `cupy.ndarray`."""

    __module__ = "cupy"

    def __init__(self, shape: Any, dtype: Any = float, memptr: Pointer | None = None, strides: Any = None,
                 order: str = "C") -> None:  # fmt: skip
        laid_out = np.empty(shape, dtype, order=order)
        self.data = memptr if memptr is not None else Pointer(_allocated(laid_out.nbytes))
        self.dtype, self.shape = laid_out.dtype, laid_out.shape
        self.strides = laid_out.strides if strides is None else tuple(strides)
        self.ndim, self.size = laid_out.ndim, laid_out.size
        self.nbytes = laid_out.nbytes

    @property
    def on_host(self) -> np.ndarray:
        """The same memory as NumPy sees it: for this module only."""
        if not self.size:
            return np.empty(self.shape, self.dtype)
        return np.ndarray(self.shape, self.dtype, self.data.memory, self.data.offset, self.strides)

    @property
    def flags(self) -> Any:
        return self.on_host.flags

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        strides = None if self.flags.c_contiguous else self.strides
        data = (self.data.ptr, False)
        return {
            "shape": self.shape, "typestr": self.dtype.str, "strides": strides, "data": data, "version": 3,
        }  # fmt: skip

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_function__(self, func: Any, types: Any, args: Any, keywords: Any) -> Any:
        return _back(func(*_hosts(args), **{name: _host(value) for name, value in keywords.items()}))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        found = getattr(ufunc, method)(*_hosts(inputs), **{name: _host(v) for name, v in keywords.items()})
        out = keywords.get("out", ())
        return out[0] if len(out) == 1 else _back(found)

    def __getitem__(self, key: Any) -> ndarray:
        return view(self, self.on_host[_host(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.on_host[_host(key)] = _host(value)

    def __bool__(self) -> bool:
        return bool(self.on_host)

    def __int__(self) -> int:
        return int(self.on_host)

    def __float__(self) -> float:
        return float(self.on_host)

    def __index__(self) -> int:
        return int(self.on_host)

    def __len__(self) -> int:
        return len(self.on_host)

    @property
    def T(self) -> ndarray:
        return view(self, self.on_host.T)

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        method = getattr(self.on_host, name)

        def call(*args: Any, **keywords: Any) -> Any:
            found = method(*_hosts(args), **keywords)
            return view(self, found) if isinstance(found, np.ndarray) else _back(found)

        return call

    def tolist(self) -> Any:
        return self.get().tolist()

    def get(self) -> np.ndarray:
        return self.on_host.copy()


def view(base: ndarray, part: np.ndarray) -> ndarray:
    """A NumPy view of an array's memory as one of the device's; a copy of what is no view of it."""
    if not part.size or not np.may_share_memory(part, base.data.memory):
        return array(part)
    offset = part.__array_interface__["data"][0] - base.data.memory.__array_interface__["data"][0]
    return ndarray(part.shape, part.dtype, Pointer(base.data.memory, offset), part.strides)


_memories: weakref.WeakValueDictionary[int, np.ndarray] = weakref.WeakValueDictionary()


def _allocated(size: int) -> np.ndarray:
    memory = np.full(size, 0xAB, np.uint8)  # nobody may count on zeros
    if size:
        _memories[memory.__array_interface__["data"][0]] = memory
    return memory


def _host(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(map(_host, value))
    return value.on_host if isinstance(value, ndarray) else value


def _hosts(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(map(_host, values))


def _back(value: Any) -> Any:
    """A result of NumPy's on the device; CuPy gives arrays without axes where NumPy gives numbers."""
    return array(value) if isinstance(value, np.ndarray | np.generic) else value


def array(given: Any, dtype: Any = None, copy: bool = True, order: str = "K") -> ndarray:
    if isinstance(given, ndarray):
        given = given.on_host
    made = np.array(given, dtype, order=order)
    out = ndarray(made.shape, made.dtype, strides=made.strides)
    out.on_host[...] = made
    return out


def empty(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    return ndarray(shape, dtype, order=order)


def asarray(given: Any) -> ndarray:
    if isinstance(given, ndarray):
        return given
    if hasattr(given, "__cuda_array_interface__"):
        return _of_interface(given.__cuda_array_interface__)
    return array(given)


def _of_interface(face: dict[str, Any]) -> ndarray:
    at = face["data"][0]
    memory = next((m for start, m in _memories.items() if start <= at < start + m.size), _allocated(0))
    offset = at - memory.__array_interface__["data"][0] if memory.size else 0
    return ndarray(face["shape"], face["typestr"], Pointer(memory, offset), face["strides"])


def asnumpy(given: ndarray) -> np.ndarray:
    return given.get()


def zeros(shape: Any, dtype: Any = float) -> ndarray:
    out = ndarray(shape, dtype)
    out.on_host[...] = 0
    return out


def _as_strided(base: ndarray, shape: Any, strides: Any) -> ndarray:
    return ndarray(shape, base.dtype, base.data, strides)


class _Cubin(bytes):
    """What is loaded as a kernel, by any driver."""

    def __new__(cls, *_: Any) -> _Cubin:
        return super().__new__(cls)

    def __init__(self, text: KernelText, functions: InterpretedKernels, variant: Variant) -> None:
        self.text, self.functions, self.variant = text, functions, variant
        self.entry, self.threads = f"{text.name}_entry", 32 * text.num_warps


class Driver:
    """As `cupy.cuda.driver`, for the kernels that were built. launch_address: of what stands for cuLaunchKernel.
    launches: how many of kernels it was asked for, graphs: how many were captured, replays: how often they were
    launched. captured: what was launched on each stream that is being captured, by this driver or one before it, whose
    kernels a program has kept."""

    captured: ClassVar[dict[int, list[Callable[[], None]]]] = {}

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.programs: dict[int, tuple[InterpretedKernels, TritonProgram]] = {}
        self.launches = self.graphs = self.replays = 0
        self.launch_address: int | None = None
        self.streams = {0}
        """Those that launches may be on."""

    def build(
        self, program: TritonProgram, text: KernelText, variant: Variant, target: str, disk: Cache
    ) -> CompiledKernel:
        """In place of compiling."""
        assert target == "cuda:90"
        if id(program) not in self.programs:
            self.programs[id(program)] = InterpretedKernels(program), program
        functions, _ = self.programs[id(program)]
        cubin = _Cubin(text, functions, variant)
        return CompiledKernel(text.name, cubin.entry, cubin, "", "", cubin.threads, 0, 0, 0)

    def check_status(self, status: int) -> None:
        """Raises what a kernel has raised."""
        assert status == 1
        assert self.error is not None
        raise self.error

    def launch(self, cubin: _Cubin, x: int, y: int, z: int, threads: int, ty: int, tz: int, shared: int,
               stream: int, pointers: int, extra: int) -> None:  # fmt: skip
        text, functions, variant = cubin.text, cubin.functions, cubin.variant
        assert x > 0
        assert (y, z, ty, tz, extra) == (1, 1, 1, 1, 0)
        assert threads == cubin.threads <= _MOST_THREADS
        assert shared == 0
        places = (ctypes.c_void_p * (len(text.params) + 2)).from_address(pointers)
        values = [_read(p.type, at) for p, at in zip(text.params, places, strict=False)]
        for param, value in zip(text.params, values, strict=True):
            if param.type[0] == "*" or (param.type == "i64" and param.kind != "grid"):
                assert value % (16 if param.type[0] == "*" and variant.divisor > 1 else variant.divisor) == 0
        assert [_read("u64", at) for at in places[len(text.params) :]] == [0, 0]
        self.launches += 1

        def run() -> None:
            with functions.running():
                functions.launch(text.name, x, variant, values)

        if stream in self.captured:
            self.captured[stream].append(run)
        else:
            assert stream in self.streams
            run()


def _read(type_: str, address: int) -> Any:
    if not type_.startswith("*"):
        assert address % ctypes.sizeof(_C_TYPES[type_]) == 0
        return _C_TYPES[type_].from_address(address).value
    pointer = ctypes.c_uint64.from_address(address).value
    assert pointer == 0 or any(at <= pointer < at + m.size for at, m in _memories.items()), hex(pointer)
    return pointer


class _Stream:
    """As `cupy.cuda.Stream`, for capturing a graph."""

    def __init__(self, driver: Driver, *, non_blocking: bool) -> None:
        assert non_blocking, "what is launched on another stream would wait for the capture"
        self.driver, self.ptr = driver, 1 + len(driver.captured)

    def begin_capture(self) -> None:
        self.driver.captured[self.ptr] = []

    def end_capture(self) -> Any:
        launched = self.driver.captured.pop(self.ptr)
        self.driver.graphs += 1
        return SimpleNamespace(launch=lambda: self._replay(launched))

    def _replay(self, launched: list[Callable[[], None]]) -> None:
        self.driver.replays += 1
        for run in launched:
            run()


class _Module:
    """As `cupy.cuda.function.Module`. loaded: those in memory, by the only function of each."""

    loaded: ClassVar[weakref.WeakValueDictionary[int, _Module]] = weakref.WeakValueDictionary()
    functions: ClassVar[Iterator[int]] = count(1 << 32)

    def __init__(self, driver: Driver) -> None:
        self.driver, self.function = driver, next(self.functions)

    def load(self, cubin: _Cubin) -> None:
        self.cubin = cubin
        self.loaded[self.function] = self

    def get_function(self, name: str) -> Any:
        assert name == self.cubin.entry
        return SimpleNamespace(ptr=self.function)


@DRIVER_FUNCTION
def _cuLaunchKernel(function: int, *arguments: int) -> int:
    module = _Module.loaded[function]
    try:
        module.driver.launch(module.cubin, *arguments)
    except BaseException as error:  # noqa: BLE001  (raised where the status is looked at)
        module.driver.error = error
        return 1
    return 0


@contextmanager
def installed() -> Iterator[Any]:
    """While `import cupy` gives this, and the GPU is its driver. Yields the module."""
    driver = Driver()
    driver.launch_address = ctypes.cast(_cuLaunchKernel, ctypes.c_void_p).value
    cupy: Any = ModuleType("cupy")
    cupy.ndarray, cupy.array, cupy.asarray, cupy.asnumpy = ndarray, array, asarray, asnumpy
    cupy.zeros, cupy.empty = zeros, empty
    cupy.is_available = lambda: True
    for name in _FUNCTIONS:
        setattr(cupy, name, getattr(np, name))  # which come to `__array_function__` or `__array_ufunc__`
    cupy.lib = SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=_as_strided))
    cupy.cuda = SimpleNamespace(
        driver=driver,
        function=SimpleNamespace(Module=lambda: _Module(driver)),
        Stream=partial(_Stream, driver),
        Device=lambda: SimpleNamespace(id=0, compute_capability="90", attributes={"MultiProcessorCount": 1}),
        runtime=SimpleNamespace(
            deviceSynchronize=lambda: None, getDevice=lambda: 0, free=lambda pointer: None
        ),
        get_current_stream=lambda: SimpleNamespace(ptr=0, synchronize=lambda: None),
    )
    real = sys.modules.get("cupy")  # `patch.dict` would forget every module that is imported meanwhile
    sys.modules["cupy"] = cupy
    try:
        with (
            mock.patch("appyc.runtime.triton_launch.cached_kernel", driver.build),
            mock.patch(
                "appyc.runtime.triton_launch.launch_address", side_effect=lambda: driver.launch_address
            ),
        ):
            yield cupy
    finally:
        del sys.modules["cupy"]
        if real is not None:
            sys.modules["cupy"] = real
