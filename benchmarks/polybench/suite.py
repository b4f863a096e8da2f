"""All kernels, in the order in which they are shown."""

from __future__ import annotations

from benchmarks.polybench import (
    atax,
    bicg,
    correlation,
    covariance,
    doitgen,
    fdtd_2d,
    gemm,
    gemver,
    gesummv,
    jacobi_1d,
    jacobi_2d,
    k2mm,
    k3mm,
    mvt,
    symm,
    syr2k,
    syrk,
    trmm,
)
from benchmarks.polybench.kernel import Kernel

_MODULES = (
    gemm,
    k2mm,
    k3mm,
    syrk,
    syr2k,
    symm,
    trmm,
    doitgen,
    correlation,
    covariance,
    atax,
    bicg,
    mvt,
    gemver,
    gesummv,
    jacobi_1d,
    jacobi_2d,
    fdtd_2d,
)

KERNELS: dict[str, Kernel] = {module.KERNEL.name: module.KERNEL for module in _MODULES}
