"""Runs a function of the IR through the C back end, straight from NumPy arrays, without a dispatcher."""

from __future__ import annotations

import ctypes
import hashlib
import tempfile
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from appyc.c_gen import c_file
from appyc.c_gen.c_file import CModule
from appyc.ir.fault_words import FaultSite
from appyc.ir.nodes import For, Function, LoopMode, Reduction, Symbol
from appyc.ir.types import DType, Layout
from appyc.ir.visit import map_loops
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.vectorise.choose_forms import choose_forms
from appyc.runtime.toolchain import build

OPTIONS = Options()


def generate(
    fn: Function,
    options: Options,
    *,
    sequential: bool = False,
    vector_functions: frozenset[str] = frozenset(),
) -> CModule:
    """The C file of a function, which gets the forms of its loops as in the pipeline."""
    scheduled = fn if sequential else choose_forms(fn, PassContext(options))
    return c_file.generate(scheduled, options, sequential=sequential, vector_functions=vector_functions)


@dataclass(frozen=True)
class Ran:
    """status: what the kernel returned. results: its scalars. site: where it raised, if it did."""

    status: int
    results: tuple[Any, ...]
    site: FaultSite | None
    value: int
    extent: int

    @property
    def message(self) -> str:
        assert self.site is not None
        return self.site.message.format(value=self.value, extent=self.extent)


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="appyc-test-")


@lru_cache(maxsize=256)
def _loaded(text: str, entry: str, options: Options) -> Any:
    name = hashlib.sha256(f"{options}{text}".encode()).hexdigest()[:16]
    path = Path(_folder().name, f"{name}.so")
    build(text, path, options)
    kernel = getattr(ctypes.CDLL(str(path)), entry)
    kernel.argtypes = [ctypes.c_void_p]
    kernel.restype = ctypes.c_int32
    return kernel


def run_c(
    fn: Function, *args: Any, threads: int = 2, sequential: bool = False, options: Options = OPTIONS,
    vector_functions: frozenset[str] = frozenset(),
) -> Ran:  # fmt: skip
    """Calls the function with NumPy arrays and scalars; arrays are written in place."""
    module = generate(fn, options, sequential=sequential, vector_functions=vector_functions)
    frame = fill_frame(fn, module, args, threads)
    status = _loaded(module.text, module.entry, options)(frame.ctypes.data)
    site, value, extent = (int(v) for v in frame[module.layout.fault : module.layout.fault + 3])
    results = tuple(
        None if slot is None else _read(frame, slot, result.value.dtype)
        for slot, result in zip(module.layout.results, fn.results, strict=True)
    )
    return Ran(status, results, module.faults[site] if site >= 0 else None, value, extent)


def fill_frame(fn: Function, module: CModule, args: tuple[Any, ...], threads: int) -> np.ndarray:
    frame = np.zeros(module.layout.size, np.int64)
    frame[0] = threads
    for symbol, slot, arg in zip(fn.params, module.layout.params, args, strict=True):
        if symbol.is_array:
            _check(symbol, arg)
            frame[slot] = arg.ctypes.data
            frame[slot + 1 : slot + 1 + arg.ndim] = arg.shape
            frame[slot + 1 + arg.ndim : slot + 1 + 2 * arg.ndim] = arg.strides
        else:
            _write(frame, slot, symbol.dtype, arg)
    return frame


def _check(symbol: Symbol, arg: np.ndarray) -> None:
    assert arg.dtype == symbol.dtype.numpy, f"{symbol}: {arg.dtype}"
    assert arg.ndim == symbol.array.ndim
    if symbol.array.layout is Layout.C:
        assert arg.flags.c_contiguous
    if symbol.array.layout is Layout.F:
        assert arg.flags.f_contiguous


def _write(frame: np.ndarray, slot: int, dtype: DType, value: Any) -> None:
    if dtype.kind in "biu":
        frame[slot : slot + 1].view(np.uint64 if dtype.kind == "u" else np.int64)[0] = value
        return
    raw = np.array([value], dtype.numpy).tobytes()
    frame[slot : slot + 2].view(np.uint8)[: len(raw)] = np.frombuffer(raw, np.uint8)


def _read(frame: np.ndarray, slot: int, dtype: DType) -> Any:
    if dtype.kind in "biu":
        return frame[slot : slot + 1].astype(dtype.numpy)[0]
    return frame[slot : slot + 2].view(dtype.numpy)[0]


def with_mode(
    fn: Function,
    modes: dict[Symbol, LoopMode],
    *,
    private: dict[Symbol, tuple[Symbol, ...]] | None = None,
    last: dict[Symbol, tuple[Symbol, ...]] | None = None,
    reductions: dict[Symbol, tuple[Reduction, ...]] | None = None,
) -> Function:
    """The function with facts about its loops, which are named by their variables."""

    def rule(loop: For) -> For:
        return replace(
            loop,
            mode=modes.get(loop.var, loop.mode),
            private=(private or {}).get(loop.var, loop.private),
            last=(last or {}).get(loop.var, loop.last),
            reductions=(reductions or {}).get(loop.var, loop.reductions),
        )

    return map_loops(fn, rule)
