"""Generates the Python module of a GPU program: helpers, Triton kernels, the host function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from appyc.ir.fault_words import FaultSite
from appyc.ir.gpu_program import GpuProgram, Kernel, Multiply
from appyc.ir.nodes import Apart, Ascending, Symbol
from appyc.ir.printer import INSPECTORS
from appyc.ir.visit import arrays_written, walk
from appyc.options import Options
from appyc.triton_gen.triton_helpers import helper_text
from appyc.triton_gen.triton_host import emit_host
from appyc.triton_gen.triton_kernel import KernelText, emit_kernel
from appyc.triton_gen.triton_products import emit_product

T = TypeVar("T")

_HOST_HEAD = """\
import math
import numpy as np
"""
_HEAD = f"""\
{_HOST_HEAD}import triton
import triton.language as tl
from triton.language.extra import libdevice
"""


@dataclass(frozen=True, slots=True)
class TritonProgram:
    """The Triton program generated for one function.

    text: the whole source. host: that of the host function alone. kernels: each kernel with its
    signature. params: the function's parameters. sites: what a fault's number means. written: which
    parameters are arrays that a kernel may write, overwritten: those whose elements need not
    be there before. fuse_multiply_add: whether the compiler may contract to FMA.
    """

    name: str
    text: str
    host: str
    kernels: tuple[KernelText, ...]
    params: tuple[Symbol, ...]
    sites: tuple[FaultSite, ...]
    written: tuple[bool, ...]
    overwritten: tuple[bool, ...]
    fuse_multiply_add: bool = False


def generate(program: GpuProgram, options: Options) -> TritonProgram:
    """The program's text."""
    kernels = {k.name: emit_kernel(k) for k in _of(program, Kernel)}
    products = _of(program, Multiply)
    for product in products:
        tiled = [emit_product(product, tiles, fastmath=options.fastmath) for tiles in product.tiles]
        kernels |= {kernel.name: kernel for kernel in tiled}
    used = {helper for kernel in kernels.values() for helper in kernel.helpers}
    inspector = INSPECTORS if any(isinstance(n, Apart | Ascending) for n in walk(program)) else ""
    texts = [k.text for k in kernels.values()]
    host = [inspector, emit_host(program, kernels)]
    written = arrays_written(program.body) | {product.call.target.array for product in products}
    return TritonProgram(
        program.name,
        _joined(_HEAD, helper_text(used), *texts, *host),
        _joined(_HOST_HEAD, *host),
        tuple(kernels.values()),
        program.params,
        program.sites,
        tuple(p in written for p in program.params),
        tuple(p in program.overwritten for p in program.params),
        options.fastmath,
    )


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _of(program: GpuProgram, kind: type[T]) -> list[T]:
    """The nodes of a kind in a program."""
    return [n for n in walk(program.body) if isinstance(n, kind)]
