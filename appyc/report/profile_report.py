"""`fn.profile()`: the report of `explain` with measured and predicted times of a call's loops. The call runs once more,
with its loops timed."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import FunctionType

from appyc.c_gen.c_file import CModule, generate
from appyc.c_gen.profiled_loops import TABLE, Row
from appyc.c_gen.text.c_helpers import team_text
from appyc.c_gen.translation_units import File
from appyc.compiler.analyse import Analysed, analyse
from appyc.compiler.captured_values import Captured
from appyc.compiler.requests import Request
from appyc.errors import LeftToPython
from appyc.frontend.source import Source
from appyc.ir.nodes import For
from appyc.options import Options
from appyc.report.explain import Report, report
from appyc.report.times import LoopTime
from appyc.runtime import machine_rates, toolchain
from appyc.runtime.attaching import load_kernel
from appyc.runtime.copied_calls import CopiedCalls
from appyc.runtime.describe import describe
from appyc.runtime.dispatch import GuardFailure
from appyc.runtime.frame import Interface, Kernel, invoke
from appyc.runtime.threads import get_num_threads
from appyc.runtime.trusted import workspace

_WIDTH = len(fields(Row))


def profiled(
    fn: FunctionType, source: Source, wanted: Request, named: Mapping[str, object], options: Options
) -> Report:
    """The report of a call with these arguments. Raises ValueError where it would not run on the CPU."""
    if wanted.target != "cpu":
        raise ValueError(f"profile() times code for the CPU, and this call is for {wanted.target!r}")
    analysed = analyse(fn, source, wanted, options)
    found = report(analysed, source, wanted.target)
    timed = _profile(analysed, Captured(fn, analysed.outside, wanted.typeless).values(named))
    if timed is None:
        return found
    rows, seconds = timed
    times = tuple(_loop_time(loop, row, get_num_threads()) for loop, row in rows)
    return replace(found, times=times, seconds=seconds)


def _loop_time(loop: For, row: Row, threads: int) -> LoopTime:
    count = max(row.iterations, 1.0)
    return LoopTime(
        line=loop.loc.line,
        index=loop.var.name,
        runs=round(row.runs),
        iterations=round(row.iterations),
        operations=(row.vector + row.scalar) / count,
        bytes=row.bytes / count,
        alone=row.alone * 1e-9,
        together=row.together * 1e-9,
        threads=threads,
        shared=round(row.shared),
        took=row.took * 1e-9,
    )


def _profile(analysed: Analysed, values: tuple[object, ...]) -> tuple[list[tuple[For, Row]], float] | None:
    """The predicted and measured times of each loop that threads may share, and the seconds of the whole run.

    Everything is done to copies of the arrays: once to warm up, then timed. None where a guard does
    not hold, since what runs then is another version, which has no parallel loops, or Python.
    """
    options = analysed.context.options
    module = generate(analysed.for_c(), options, profile=True, vector_functions=analysed.vector_functions)
    interface = describe(analysed.function, analysed.arguments, module.faults)
    machine_rates.ensure_measured()
    with workspace() as folder:
        kernel = _kernel(module, Path(folder, "profile.so"), interface, options)
    table = (ctypes.c_double * (_WIDTH * len(module.profiled)))()
    if module.profiled:
        table = type(table).in_dll(kernel.owner, TABLE)  # type: ignore[arg-type]
    calls = CopiedCalls(values, {}, time.perf_counter, lambda: None)

    def run(*values: object) -> object:
        return invoke(kernel, values)

    try:
        calls.seconds(run)
    except (GuardFailure, LeftToPython):
        return None
    ctypes.memset(table, 0, ctypes.sizeof(table))
    seconds = calls.seconds(run)
    found = [
        (loop, Row(*table[_WIDTH * number : _WIDTH * (number + 1)]))
        for number, loop in enumerate(module.profiled)
    ]
    return found, seconds


def _kernel(module: CModule, path: Path, interface: Interface, options: Options) -> Kernel:
    libraries = [toolchain.distributions()] if module.draws else []
    team = toolchain.compile_files([File(team_text())], path.parent, options)
    toolchain.build(module.text, path, options, [*team, *libraries], needs=module.needs)
    return load_kernel(path, module.entry, interface, products=False)
