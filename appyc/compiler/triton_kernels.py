"""Compiles analysed IR to Triton kernels: run in the interpreter, launched on a GPU, or stored as cubins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from appyc.compiler.analyse import Analysed, analyse_shared
from appyc.compiler.demanded_versions import DemandedVersions, overlapping_version
from appyc.compiler.disk_cache import disk_cache
from appyc.errors import ToolchainError, defects_of
from appyc.ir.aliasing import Sharing
from appyc.ir.nodes import Function, Result, Symbol
from appyc.ir.results import nested
from appyc.options import Options, cache_dir
from appyc.runtime.dispatch import GuardFailure
from appyc.runtime.frame import flat_values
from appyc.runtime.overlap import any_overlap
from appyc.triton_gen.triton_module import TritonProgram, generate

if TYPE_CHECKING:
    from appyc.runtime.triton_build import CompiledKernel

Runner = Callable[[Sequence[Any]], list[Any]]


def triton_program(function: Function, analysed: Analysed) -> TritonProgram:
    """The kernels and the host program of a function."""
    from appyc.pipeline import lower_to_gpu  # noqa: PLC0415  (isl and the passes are not needed on a warm start)

    context = analysed.context
    with defects_of("the Triton back end"):
        return generate(lower_to_gpu(function, context), context.options)


def cubins(analysed: Analysed, target: str) -> list[CompiledKernel]:
    """Every kernel compiled for "cuda:<compute capability>"; no GPU is needed.

    Raises ValueError for a capability that is not known.
    """
    from appyc.runtime.triton_build import check_target, compile_cubin  # noqa: PLC0415  (imports Triton)

    check_target(target)
    _require_triton()
    return compile_cubin(triton_program(analysed.function, analysed), target)


@dataclass(frozen=True, slots=True)
class GpuRunner:
    """run: a call. alone: one with the kernel's parameters by position, of which no arrays overlap."""

    run: Callable[[tuple[object, ...]], object]
    alone: Callable[..., object]


def gpu_runner(analysed: Analysed, target: str) -> GpuRunner:
    """The runner of calls: on a GPU (target "gpu"), or in the interpreter ("interpret").

    Where arguments overlap, or a guard does not hold, the plain function runs, one program
    with every access checked.
    """
    _require_triton()
    make = _maker(target, analysed.context.options)
    program = triton_program(analysed.function, analysed)
    usual = make(program)
    tree, types = analysed.function.tree, analysed.function.results
    written = frozenset(number for number, is_written in enumerate(program.written) if is_written)

    def built(values: Sequence[Any]) -> object:
        """The function's return value, whose numbers may be Python's."""
        return None if tree is None else nested(tree, [*map(_handed, values, types)])

    @cache
    def plain() -> Runner:
        return make(triton_program(analysed.plain, analysed))

    def shared_version(sharing: Sharing) -> Runner | None:
        shared = analyse_shared(analysed, sharing)
        return None if shared is None else make(triton_program(shared.function, shared))

    overlapping = DemandedVersions(shared_version)

    def run(values: tuple[object, ...]) -> object:
        flat = flat_values(analysed.arguments, values)
        if not any_overlap(flat, written):
            return alone(*flat)
        runner, hidden = overlapping_version(overlapping, flat, written)
        if runner is not None:
            with suppress(GuardFailure):
                return built(runner([*flat, *hidden]))
        return built(plain()(flat))

    def alone(*flat: Any) -> object:
        with suppress(GuardFailure):
            return built(usual(flat))
        return built(plain()(flat))  # not in a handler: what it raises stands alone

    return GpuRunner(run, alone)


def _maker(target: str, options: Options) -> Callable[[TritonProgram], Runner]:
    if target == "interpret":
        from appyc.runtime.triton_interpret import interpret  # noqa: PLC0415  (imports Triton)

        return interpret
    from appyc.runtime.triton_launch import launch  # noqa: PLC0415  (imports CuPy)

    return partial(launch, disk=disk_cache(cache_dir() if options.cache else None)[0])


def _require_triton() -> None:
    if find_spec("triton") is None:
        raise ToolchainError("this target needs Triton. Install it: pip install 'appyc[gpu]'")


def _handed(value: Any, result: Result) -> Any:
    if isinstance(result.value, Symbol):
        return value
    number = result.value.dtype.numpy.type(value)
    return number.item() if result.python else number
