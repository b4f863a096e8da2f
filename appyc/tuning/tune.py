"""`appyc.tune`: the search for one call, with progress on stderr, and its report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from appyc.compiler.analyse import Analysed
from appyc.compiler.requests import Request
from appyc.compiler.waiting import is_live
from appyc.ir.nodes import Function
from appyc.ir.visit import arrays_written, loops_of
from appyc.options import Options, progress_is_shown
from appyc.report.stage_texts import lines_of
from appyc.runtime.copied_calls import CopiedCalls
from appyc.runtime.frame import flat_values
from appyc.runtime.gpu_device import cupy_with_device
from appyc.tuning.neighbours import neighbours
from appyc.tuning.search import NothingToTune, Search, Trial

F = TypeVar("F", bound=Callable[..., object])

_BAR = 20
"""Characters of the progress bar."""


@dataclass(frozen=True, slots=True)
class Tuned(Generic[F]):
    """The result of `appyc.tune`. Printed, it is a table of the schedules that were tried.

    function: the jitted function with the best schedule. schedule: its text, "" where none gains more than `margin`, a
    part of the default's time that is above the noise. speedup: the default's time by the best one's. seconds: how
    long the search took. default_seconds: the time of a call.
    """

    name: str
    function: F
    schedule: str
    speedup: float
    margin: float
    trials: tuple[Trial, ...]
    seconds: float
    default_seconds: float

    def __str__(self) -> str:
        timed = sorted((trial.time, trial.change) for trial in self.trials if trial.time is not None)
        refused = [trial for trial in self.trials if trial.time is None]
        return "\n".join([
            f"{self.name}: {len(self.trials)} schedules in {self.seconds:.1f} s; a call takes "
            f"{self.default_seconds * 1e3:.3g} ms by default",
            "    time  by that of the default, and the line that is new",
            *(f"  {ratio:6.3f}  {change}" for ratio, change in timed),
            *(f"       -  {trial.change}: {trial.refused}" for trial in refused),
            f"{self.speedup:.2f} times as fast as by default:\n{self.schedule}" if self.schedule
            else f"no schedule gains more than {self.margin:.1%}: the default stays",
        ])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call(Generic[F]):
    """A call to tune. compiled: the function with other options, compiled for the call. analysed: the IR for C of such
    a function."""

    function: F
    wanted: Request
    named: Mapping[str, object]
    args: tuple[object, ...]
    keywords: Mapping[str, object]
    compiled: Callable[[Options], F]
    analysed: Callable[[F], Analysed]

    def tuned(self, options: Options, seconds: float, clock: Callable[[], float]) -> Tuned[F]:
        """The result of a search. Raises CompileError, and NothingToTune."""
        name: str = getattr(self.function, "__qualname__", "")
        apart = replace(
            options.where(self.wanted.target), strict=True, cache=False
        )  # what is tried is not kept
        default = self.compiled(apart)
        found = self.analysed(default)
        self._check(name, found)
        cupy = cupy_with_device() if apart.target == "gpu" else None
        wait = cupy.cuda.runtime.deviceSynchronize if cupy is not None else lambda: None
        with progress(name, seconds) as show:
            search: Search[F] = Search(
                default,
                lambda text: self.compiled(replace(apart, schedule=text)),
                self._neighbours,
                CopiedCalls(self.args, self.keywords, clock, wait),
                not options.fastmath and not _adds_floats(found.function),
                show,
            )
            search.run(seconds)
        best = self.function
        if search.schedule:
            best = self.compiled(replace(options, strict=True, schedule=search.schedule))
        return Tuned(
            name, best, search.schedule, 1 / search.time, search.margin, tuple(search.trials), search.seconds,
            search.default_seconds,
        )  # fmt: skip

    def _neighbours(self, made: F) -> Iterator[tuple[str, str]]:
        found = self.analysed(made)
        given, on_gpu = found.context.options.schedule, self.wanted.target in ("gpu", "interpret")
        return neighbours(lines_of(found), given, on_gpu=on_gpu)

    def _check(self, name: str, found: Analysed) -> None:
        """Raises NothingToTune where there is no loop, or calls change what cannot be copied."""
        if not any(line.loop is not None for line in lines_of(found)):
            raise NothingToTune(f"{name} has no loop: there is nothing to tune")
        captures = found.outside.captures
        values = [None if n in self.wanted.objects else value for n, value in self.named.items()]
        own = len(flat_values(found.arguments[: len(values)], values))
        outside = [path for path in captures if path.steps[0][0] != "param"]
        if outside and arrays_written(found.plain) & {*found.plain.params[own:]}:
            raise NothingToTune(
                f"{name} stores into {', '.join(map(str, outside))}, which tuning cannot copy: pass it as an argument"
            )


def _adds_floats(function: Function) -> bool:
    """Whether floats are combined in an order that schedules may change."""
    return any(
        loop.product is not None or loop.scans or any(r.symbol.dtype.kind in "fc" for r in loop.reductions)
        for loop in loops_of(function.body)
    ) or any(_adds_floats(callee.function) for callee in function.callees)


@contextmanager
def progress(name: str, seconds: float) -> Iterator[Callable[[float, int, float], None]]:
    """Shows a bar on stderr, where that is a terminal."""
    stream = sys.stderr
    shown = progress_is_shown() and stream is not None and is_live(stream)
    width = 0

    def show(spent: float, tried: int, best: float) -> None:
        nonlocal width
        bar = "#" * min(_BAR, round(_BAR * spent / seconds))
        text = (
            f"appyc: tuning {name} [{bar:<{_BAR}}] {tried} schedules, the best {1 / best:.2f} times as fast"
        )
        width = max(width, len(text))
        with suppress(OSError, ValueError):
            print(f"\r{text:<{width}}", end="", file=stream, flush=True)

    try:
        yield show if shown else lambda spent, tried, best: None
    finally:
        if width:
            with suppress(OSError, ValueError):
                print(f"\r{' ' * width}\r", end="", file=stream, flush=True)
