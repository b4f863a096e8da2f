"""Cubins in the disk cache: a kernel that was compiled before is launched without importing Triton."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from typing import Any

from appyc.runtime.cache import Cache
from appyc.runtime.fingerprint import digest, package_fingerprint
from appyc.runtime.kernel_variants import Variant
from appyc.runtime.triton_build import CompiledKernel, compile_kernel
from appyc.triton_gen.triton_kernel import KernelText
from appyc.triton_gen.triton_module import TritonProgram


def cached_kernel(
    program: TritonProgram, kernel: KernelText, variant: Variant, target: str, disk: Cache
) -> CompiledKernel:
    """A variant of one kernel, from the disk cache where it is there."""
    key = digest(
        program.text,
        kernel.name,
        repr((variant, program.fuse_multiply_add, target)),
        _triton_version(),
        package_fingerprint(),
    )
    entry = disk.lookup(key)
    if entry is not None:
        meta: dict[str, Any] = entry.meta
        return CompiledKernel(**meta, cubin=entry.path("kernel.cubin").read_bytes())
    built = compile_kernel(program, kernel, target, variant)
    fields = asdict(built)
    disk.store(key, {"kernel.cubin": fields.pop("cubin")}, fields)
    return built


@cache
def _triton_version() -> str:
    return version("triton")
