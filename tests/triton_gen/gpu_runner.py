"""Runs a function's Triton text: in the interpreter, and through the compiler to cubins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from appyc.ir.nodes import For, Function, LoopMode, Reduction, Stmt, Symbol
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.pipeline import lower_to_gpu
from appyc.runtime.kernel_variants import packed_layout
from appyc.runtime.triton_build import CompiledKernel, compile_cubin
from appyc.runtime.triton_interpret import interpret
from appyc.triton_gen.triton_module import TritonProgram, generate
from tests.ir_makers import Operand, for_

_PTX_PARAM = re.compile(r"^\s*\.param \.([a-z]+)(\d+) ", re.MULTILINE)
_FLOAT32 = re.compile(r"\b(?:\d+x)?f32\b")


def grid(
    var: Symbol,
    lo: Operand,
    hi: Operand,
    body: Sequence[Stmt],
    step: int = 1,
    *,
    mode: LoopMode = LoopMode.PARALLEL,
    reductions: Sequence[tuple[str, Symbol]] = (),
    last: Sequence[Symbol] = (),
) -> For:
    """A loop that was proved parallel."""
    found = tuple(Reduction(op, symbol) for op, symbol in reductions)
    return replace(for_(var, lo, hi, body, step), mode=mode, reductions=found, last=tuple(last))


def simd(var: Symbol, lo: Operand, hi: Operand, body: Sequence[Stmt], **facts: Any) -> For:
    return grid(var, lo, hi, body, mode=LoopMode.SIMD, **facts)


def triton_program(fn: Function) -> TritonProgram:
    ctx = PassContext()
    return generate(lower_to_gpu(fn, ctx), Options())


def run(fn: Function, *args: Any) -> list[Any]:
    """The results of a run in the interpreter; arrays are changed in place."""
    return interpret(triton_program(fn))(list(args))


def _layout_of(ptx: str) -> tuple[list[int], int]:
    """Where a kernel's parameters lie, as the assembler is told: each at a multiple of its size."""
    offsets, at = [], 0
    for _, bits in _PTX_PARAM.findall(ptx.partition(".entry")[2].partition(")")[0]):
        size = int(bits) // 8
        offsets.append(-(-at // size) * size)
        at = offsets[-1] + size
    return offsets, at


def cubins(program: TritonProgram, arch: str = "cuda:90", libm: bool = False) -> list[CompiledKernel]:
    """Compiles every kernel, and fails where one spills or has float32 in a float64 program."""
    kernels = compile_cubin(program, arch, narrow=arch == "cuda:80")
    for text, kernel in zip(program.kernels, kernels, strict=True):
        assert packed_layout([p.type for p in text.params])[1:] == _layout_of(kernel.ptx), kernel.name
    floats = {p.type.strip("*") for k in program.kernels for p in k.params} & {"fp32", "fp64"}
    for kernel in kernels:
        assert libm or kernel.spill_bytes == 0, kernel.name
        if "fp32" not in floats:
            assert not _FLOAT32.search(kernel.ttir), kernel.ttir
    return kernels
