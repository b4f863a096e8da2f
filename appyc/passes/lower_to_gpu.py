"""From an analysed function to a scheduled program for a GPU: the passes that only a GPU needs."""

from __future__ import annotations

from appyc.ir.kernels import GpuProgram
from appyc.ir.nodes import Function
from appyc.passes.context import PassContext
from appyc.passes.lower_jumps import lower_jumps
from appyc.passes.promote_accumulators import promote_accumulators
from appyc.passes.split_complex import split_complex
from appyc.passes.split_kernels import split_kernels

GPU_PASSES = (
    lower_jumps,  # Triton has no break; first, because it makes loops of other kinds
    promote_accumulators,  # before complex numbers are taken apart, which hides an update
    split_complex,  # Triton has no complex numbers
)


def lower_to_gpu(fn: Function, ctx: PassContext) -> GpuProgram:
    for gpu_pass in GPU_PASSES:
        fn = gpu_pass(fn, ctx)
    return split_kernels(fn, ctx)
