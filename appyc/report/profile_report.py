"""`fn.profile()`: the report of `explain` with measured and predicted times of a call's loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import FunctionType

from appyc.c_gen.profiled_loops import Row
from appyc.compiler.analyse import analyse
from appyc.compiler.profile_run import profile
from appyc.compiler.requests import Request
from appyc.frontend.source import Source
from appyc.ir.nodes import For
from appyc.options import Options
from appyc.report.explain import Report, report
from appyc.report.times import LoopTime
from appyc.runtime.threads import get_num_threads


def profiled(
    fn: FunctionType, source: Source, wanted: Request, named: Mapping[str, object], options: Options
) -> Report:
    """The report of a call with these arguments. Raises ValueError where it would not run on the CPU."""
    if wanted.target != "cpu":
        raise ValueError(f"profile() times code for the CPU, and this call is for {wanted.target!r}")
    analysed = analyse(fn, source, wanted.types, wanted.objects, options)
    found = report(analysed, source, wanted.target)
    timed = profile(fn, analysed, named, wanted.objects)
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
