"""PolyBench through Triton: 20 elements a side and three time steps in the interpreter, and cubins without spills."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from appyc.runtime.triton_interpret import interpret
from benchmarks.polybench.kernel import relative_error
from benchmarks.polybench.suite import KERNELS
from tests.in_turn import in_turn
from tests.triton_gen.gpu_runner import cubins
from tests.triton_gen.source_runner import program_of

ARCHITECTURES = ("cuda:80", "cuda:90")

NAMES = (
    "2mm", "3mm", "atax", "bicg", "mvt", "gemm", "gemver", "gesummv", "symm", "syrk", "syr2k", "trmm",
    "doitgen", "covariance", "correlation", "jacobi-1d", "jacobi-2d", "fdtd-2d", "seidel-2d",
)  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "arch"), in_turn(KERNELS, ARCHITECTURES))
def test_tensor_statements_compile(name, arch):
    kernel = KERNELS[name]
    program = program_of(kernel.tensors.py_func, *kernel.arguments("random", "MINI").values())
    assert program.kernels
    cubins(program, arch)


@pytest.mark.parametrize(("name", "arch"), in_turn(NAMES, ARCHITECTURES))
def test_kernel_is_right_and_compiles(name, arch):
    kernel = KERNELS[name]
    sizes = {n: min(size, 3 if n in ("TSTEPS", "TMAX") else 20) for n, size in kernel.sizes["MINI"].items()}
    given = kernel.random(np.random.default_rng(5), **sizes)
    expected, got = copy.deepcopy(given), copy.deepcopy(given)
    program = program_of(kernel.loops.py_func, *got.values())
    interpret(program)(list(got.values()))
    kernel.numpy_version(**expected)
    for output in kernel.outputs:
        assert relative_error(expected[output], got[output]) <= kernel.tolerance
    cubins(program, arch)
