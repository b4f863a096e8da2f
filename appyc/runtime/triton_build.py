"""Compiles generated Triton kernels to cubins, ahead of time and without a GPU, and keeps them in the disk cache: one
that was compiled before is launched without importing Triton."""

from __future__ import annotations

import re
import subprocess
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from appyc.errors import InternalError, ToolchainError
from appyc.runtime.cache import Cache
from appyc.runtime.fingerprint import digest, package_fingerprint
from appyc.runtime.kernel_variants import Variant
from appyc.runtime.triton_source import load_source
from appyc.triton_gen.triton_kernel import KernelText
from appyc.triton_gen.triton_module import TritonProgram

CAPABILITIES = (75, 80, 86, 87, 89, 90, 100, 103, 120, 121)
"""The compute capabilities that Triton and the assembler with it compile for."""

MOST_REGISTERS = 128
"""Of a thread, with which each scheduler of a multiprocessor has four warps."""

_KEPT = 16
_ARRAY = re.compile(r"__local_depot\d+\[(\d+)\]")
_USAGE = re.compile(r"REG:(\d+) STACK:(\d+).*?LOCAL:(\d+)")


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """One kernel for one architecture.

    entry: the name of its function in the cubin. threads, shared:
    what a launch needs, in threads a program and bytes. registers, spill_bytes: what ptxas gave a thread.
    """

    name: str
    entry: str
    cubin: bytes
    ttir: str
    ptx: str
    threads: int
    shared: int
    registers: int
    spill_bytes: int

    def is_crowded(self, lanes: int) -> bool:
        """Whether threads with fewer elements leave registers for more threads: there are so many lanes."""
        return lanes > 2 * self.threads and (self.spill_bytes > 0 or self.registers > MOST_REGISTERS)


def check_target(target: str) -> None:
    """Raises ValueError for a target that a user wrote, and that no kernel can be compiled for."""
    known = [f"cuda:{capability}" for capability in CAPABILITIES]
    if target not in known:
        raise ValueError(f"no GPU is known as {target!r}: the targets are {', '.join(known)}")


def compile_cubin(program: TritonProgram, target: str, *, narrow: bool = False) -> list[CompiledKernel]:
    """Every kernel of the program for a target such as "cuda:90", each with the most lanes that are not crowded.
    narrow: as of `Variant`."""
    return [_widest(program, kernel, target, narrow=narrow) for kernel in program.kernels]


def _widest(program: TritonProgram, kernel: KernelText, target: str, *, narrow: bool) -> CompiledKernel:
    lanes = kernel.lanes
    while True:
        found = compile_kernel(program, kernel, target, Variant(lanes, narrow=narrow))
        if lanes == kernel.fewest_lanes or not found.is_crowded(lanes * kernel.rows(lanes)):
            return found
        lanes //= 2


def compile_kernel(
    program: TritonProgram, kernel: KernelText, target: str, variant: Variant
) -> CompiledKernel:
    """A variant of one kernel of a program."""
    import triton  # noqa: PLC0415
    import triton.language as tl  # noqa: PLC0415
    from triton.backends.compiler import GPUTarget  # noqa: PLC0415
    from triton.compiler import ASTSource  # noqa: PLC0415
    from triton.errors import TritonError  # noqa: PLC0415

    backend, _, capability = target.partition(":")
    if backend != "cuda" or not capability.isdigit():
        raise ValueError(f"a target is written as 'cuda:90', not {target!r}")
    function = load_source(program)[kernel.name]
    try:
        built = triton.compile(
            ASTSource(
                function,
                kernel.signature,
                {
                    kernel.constant: variant.lanes,
                    **({"INDEX": tl.int32 if variant.narrow else tl.int64} if kernel.scale else {}),
                },
                variant.attributes(kernel),
            ),
            target=GPUTarget("cuda", int(capability), 32),
            options={
                "num_warps": variant.warps(kernel),
                "num_stages": kernel.num_stages,
                "enable_fp_fusion": program.fuse_multiply_add,
                "enable_reflect_ftz": False,
                "sanitize_overflow": False,
            },
        )
    except (RuntimeError, TritonError) as error:
        raise InternalError("Triton's compiler", f"{kernel.name}: {error}") from error
    metadata = built.metadata
    registers, spilled = _usage(built.asm["cubin"], str(built.asm["ptx"]))
    return CompiledKernel(
        kernel.name,
        metadata.name,
        built.asm["cubin"],
        str(built.asm["ttir"]),
        str(built.asm["ptx"]),
        32 * metadata.num_warps,
        metadata.shared,
        registers,
        spilled,
    )


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


def _usage(cubin: bytes, ptx: str) -> tuple[int, int]:
    """Registers, and bytes that hold what these cannot: the stack of the cubin, but for the arrays of the text and
    what the assembler keeps there of reductions over lanes, and of atomic operations."""
    import triton  # noqa: PLC0415

    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        done = subprocess.run([tool, "-res-usage", path], capture_output=True, text=True, check=False)
    found = _USAGE.search(done.stdout)
    if found is None:
        raise ToolchainError(f"cuobjdump did not tell what a kernel uses: {done.stdout}{done.stderr}")
    registers, stack, local = (int(number) for number in found.groups())
    arrays = sum(-(-int(size) // 8) * 8 for size in _ARRAY.findall(ptx))
    return registers, local + max(0, stack - arrays - _KEPT)
