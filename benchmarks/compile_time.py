"""What the first call of a program waits for, by phase: cold compiles of a fixed corpus, for the CPU.

    python -m benchmarks.compile_time [--kinds polybench fused ...] [--rounds 2] [--json FILE]
    python -m benchmarks.compile_time --scaling [stencils ...] [--statements 25 50 75 150 300] [--json FILE]

The corpus: PolyBench as loops and as tensor statements, the programs of `benchmarks.fusion`, the scripts of
`benchmarks.lazy` and `benchmarks.deferred`, each twentieth program of the tests, and random programs of fixed seeds:
tensor statements, loops, recorded operations. Each is compiled in this process; all that it compiles counts, and
running it does not. A round begins with an empty cache, as on a machine that has only been measured: what programs
share is compiled with the first of them. Of several rounds the least time counts, for each phase.

    front       from source text to IR
    simplify    the passes of `pipeline.SIMPLIFY`
    analyse     those of `pipeline.ANALYSE`
    generate    the C text
    compiler    the C compiler
    load        of the library
    total       these, and what is between them: the cache on disk, for one
    processor   seconds of all processes, the C compiler's included

With --scaling, programs of `benchmarks.long_programs` with more and more statements, the time of each by phase, and the
processor's time for each statement, which is constant where compile time grows linearly.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import pkgutil
import resource
import statistics
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy
from rich.console import Console
from rich.table import Table

import appyc
import appyc.numpy
import tests.programs
from appyc import pipeline
from appyc.api import JitFunction
from appyc.c_gen import c_file
from appyc.compiler import build, cpu
from appyc.errors import CompileError
from appyc.frontend import lower
from appyc.lazy.running import STATE, flush
from appyc.runtime import machine_rates
from benchmarks import deferred, fusion, lazy, long_programs
from benchmarks.machine import describe, write_results
from benchmarks.polybench.suite import KERNELS
from tests.fuzz.generator import Program, programs
from tests.fuzz.tensors import tensor_programs
from tests.lazy.fuzz import compiling
from tests.lazy.generator import program as recorded_program

PHASES = ("front", "simplify", "analyse", "generate", "compiler", "load")
COLUMNS = (*PHASES, "total", "processor")
RANDOM = 25
"""Random programs of each sort."""

EVERY = 20
"""Of the programs of the tests, one in so many."""

Compile = Callable[[], object]


@dataclass
class Clock:
    """Seconds by phase, and by pass. A phase does not count what another one inside it takes."""

    seconds: Counter[str] = field(default_factory=Counter)
    passes: Counter[str] = field(default_factory=Counter)
    inside: list[float] = field(default_factory=list)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.inside.append(0.0)
        start = time.perf_counter()
        try:
            yield
        finally:
            took = time.perf_counter() - start
            self.seconds[name] += took - self.inside.pop()
            if self.inside:
                self.inside[-1] += took

    @contextmanager
    def version(self) -> Iterator[None]:
        """All that is done for one version of a function."""
        start, before = time.perf_counter(), _processor()
        try:
            yield
        finally:
            self.seconds["total"] += time.perf_counter() - start
            self.seconds["processor"] += _processor() - before

    def timed(self, owner: Any, attribute: str, name: str) -> Any:
        """The patch under which calls of a function count as a phase."""
        there = getattr(owner, attribute)

        def call(*args: Any, **keywords: Any) -> Any:
            with self.phase(name):
                return there(*args, **keywords)

        return patch.object(owner, attribute, call)

    @contextmanager
    def running(self) -> Iterator[None]:
        """While it lasts, what is compiled is timed."""
        make, run = JitFunction._make, pipeline.run

        def version(jitted: JitFunction, *args: Any, **keywords: Any) -> Any:
            with self.version():
                return make(jitted, *args, **keywords)

        def run_passes(fn: Any, passes: Any, ctx: Any, **keywords: Any) -> Any:
            with self.phase("simplify" if passes is pipeline.SIMPLIFY else "analyse"):
                return run(fn, tuple(map(self._pass, passes)), ctx, **keywords)

        with ExitStack() as stack:
            stack.enter_context(patch.object(JitFunction, "_make", version))
            stack.enter_context(patch.object(pipeline, "run", run_passes))
            for owner, attribute, name in (
                (lower, "lower_function", "front"),
                (c_file, "generate", "generate"),
                (build, "build", "compiler"),
                (cpu, "_loaded", "load"),
            ):
                stack.enter_context(self.timed(owner, attribute, name))
            yield

    def _pass(self, transform: pipeline.Pass) -> pipeline.Pass:
        def call(fn: Any, ctx: Any) -> Any:
            start = time.perf_counter()
            try:
                return transform(fn, ctx)
            finally:
                self.passes[transform.__name__] += time.perf_counter() - start

        call.__name__ = transform.__name__
        return call


def _processor() -> float:
    """Seconds of this process and of those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


# ---------------------------------------------------------------- the corpus


def polybench() -> Iterator[tuple[str, Compile]]:
    for kernel in KERNELS.values():
        arguments = tuple(kernel.arguments("polybench", "MINI").values())
        for form in ("loops", "tensors"):
            yield f"{kernel.name} ({form})", compiled(kernel.form(form).py_func, arguments)


def fused() -> Iterator[tuple[str, Compile]]:
    for program in fusion.PROGRAMS:
        arguments = fusion.arguments_of(program.__name__, 0.01)
        yield program.__name__, compiled(program, tuple(arguments.values()))


def recorded() -> Iterator[tuple[str, Compile]]:
    for name, script in lazy.SCRIPTS.items():
        yield name, flushed(lambda script=script: script(appyc.numpy))


def deferring() -> Iterator[tuple[str, Compile]]:
    for program in deferred.PROGRAMS:
        yield program.__name__, flushed(lambda program=program: deferred.run(program, fused=True))


def tested() -> Iterator[tuple[str, Compile]]:
    runs = []
    for info in pkgutil.iter_modules(tests.programs.__path__):
        with np.errstate(all="ignore"):
            found = getattr(importlib.import_module(f"tests.programs.{info.name}"), "PROGRAMS", None)
        runs += [(f"{info.name}.{run.fn.__name__}", run) for run in (found.runs if found is not None else ())]
    for name, run in runs[::EVERY]:
        yield name, compiled(run.fn, run.args)


def random_tensors() -> Iterator[tuple[str, Compile]]:
    return drawn("tensors", tensor_programs())


def random_loops() -> Iterator[tuple[str, Compile]]:
    return drawn("loops", programs())


def random_recorded() -> Iterator[tuple[str, Compile]]:
    for number in range(RANDOM):
        program = recorded_program(number)
        yield (
            f"recorded {number}",
            flushed(lambda program=program: program.run(appyc.numpy, appyc.numpy.array)),
        )


KINDS: dict[str, Callable[[], Iterator[tuple[str, Compile]]]] = {
    kind.__name__: kind
    for kind in (
        polybench, fused, recorded, deferring, tested, random_tensors, random_loops, random_recorded,
    )
}  # fmt: skip


def drawn(name: str, strategy: SearchStrategy[Program]) -> Iterator[tuple[str, Compile]]:
    """Programs of a fixed seed."""
    found: list[Program] = []

    @seed(1)
    @settings(max_examples=RANDOM, database=None, deadline=None, phases=(Phase.generate,),
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(strategy)
    def draw(program: Program) -> None:
        found.append(program)

    draw()
    for number, program in enumerate(found):
        yield f"{name} {number}", compiled(program.function(), program.args)


def compiled(function: Any, arguments: Sequence[Any]) -> Compile:
    """Compiles a function anew for a call with these arguments, which is made only where Python goes between parts."""

    def compile_() -> None:
        appyc.jit(target="cpu")(function).compile(*arguments)

    return compile_


def flushed(run: Callable[[], object]) -> Compile:
    """Runs what records, and all that is recorded then."""

    def compile_() -> None:
        with compiling("cpu", 0):
            run()
            flush()

    return compile_


# ---------------------------------------------------------------- measurement


@dataclass
class Row:
    """The least seconds of a program, by phase. refused: why it is not compiled, if it is not."""

    kind: str
    name: str
    seconds: dict[str, float]
    refused: str = ""


def as_data(row: Row) -> dict[str, Any]:
    return {**vars(row), "seconds": {k: round(v, 4) for k, v in row.seconds.items()}}


def measure(kinds: Sequence[str], rounds: int) -> tuple[list[Row], Counter[str]]:
    """All programs of these kinds, and the seconds of passes in a round."""
    rows: dict[tuple[str, str], Row] = {}
    passes: Counter[str] = Counter()
    for _ in range(rounds):
        with TemporaryDirectory() as folder, patch.dict(os.environ, APPYC_CACHE_DIR=folder):
            for kind in kinds:
                for name, compile_ in KINDS[kind]():
                    clock = Clock()
                    refused = timed(compile_, clock)
                    before = rows.get((kind, name))
                    least = {
                        c: min(clock.seconds[c], before.seconds[c])
                        if before is not None
                        else clock.seconds[c]
                        for c in COLUMNS
                    }
                    rows[kind, name] = Row(kind, name, least, refused)
                    passes.update({k: v / rounds for k, v in clock.passes.items()})
    return list(rows.values()), passes


def timed(compile_: Compile, clock: Clock) -> str:
    """Compiles; returns why that is refused, if it is."""
    with clock.running():
        try:
            compile_()
        except (CompileError, IndexError, ZeroDivisionError, ValueError) as error:
            return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""


def summary(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """The median and the largest total of each kind, and its seconds in each phase, all programs together."""
    out = {}
    for kind in [*dict.fromkeys(row.kind for row in rows), "all"]:
        mine = [row.seconds for row in rows if kind in (row.kind, "all") and row.seconds["total"]]
        totals = [seconds["total"] for seconds in mine]
        out[kind] = {"median": statistics.median(totals), "largest": max(totals)}
        out[kind] |= {c: sum(seconds[c] for seconds in mine) for c in COLUMNS}
    return out


def table(found: dict[str, dict[str, float]]) -> Table:
    out = Table("ms", "median", "largest", *COLUMNS)
    for kind, row in found.items():
        out.add_row(kind, *(f"{1e3 * row[c]:.0f}" for c in ("median", "largest", *COLUMNS)))
    return out


def lengthened(name: str, counts: Sequence[int], rounds: int, folder: Path) -> Iterator[Row]:
    """A program with each of so many statements. The helpers that all C code shares are compiled already."""
    first = long_program(name, 2, folder)
    for count in counts:
        compile_ = long_program(name, count, folder)
        clocks = []
        for _ in range(rounds):
            with TemporaryDirectory() as cache, patch.dict(os.environ, APPYC_CACHE_DIR=cache):
                first()
                clocks.append(Clock())
                with clocks[-1].running():
                    compile_()
        yield Row(name, str(count), {c: min(clock.seconds[c] for clock in clocks) for c in COLUMNS})


def long_program(name: str, count: int, folder: Path) -> Compile:
    """Compiles a program with so many statements, whose text is written to the folder."""
    text, arguments = long_programs.PROGRAMS[name](count)
    path = folder / f"{name}_{count}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return compiled(module.kernel, arguments)


def scaling(names: Sequence[str], counts: Sequence[int], rounds: int, console: Console) -> list[Row]:
    """Long programs, as a table for each."""
    rows: list[Row] = []
    with TemporaryDirectory() as folder:
        for name in names:
            found = list(lengthened(name, counts, rounds, Path(folder)))
            out = Table(name, "processor, ms/statement", *COLUMNS)
            for row in found:
                each = 1e3 * row.seconds["processor"] / int(row.name)
                out.add_row(row.name, f"{each:.1f}", *(f"{1e3 * row.seconds[c]:.0f}" for c in COLUMNS))
            console.print(out)
            rows += found
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--slowest", type=int, default=10, metavar="N", help="programs to show")
    parser.add_argument("--scaling", nargs="*", choices=list(long_programs.PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--statements", nargs="+", type=int, default=[25, 50, 75, 150, 300], metavar="N")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    STATE.worth = 0
    os.environ["APPYC_COMPILE_WAIT"] = "inf"
    machine_rates.ensure_measured()
    console = Console()
    if options.scaling is not None:
        rows = scaling(
            options.scaling or list(long_programs.PROGRAMS), options.statements, options.rounds, console
        )
        if options.json is not None:
            write_results(
                options.json, {"machine": asdict(describe("cpu")), "programs": list(map(as_data, rows))}
            )
        return
    rows, passes = measure(options.kinds, options.rounds)
    console.print(table(summary(rows)))
    slowest = sorted(rows, key=lambda row: -row.seconds["total"])[: options.slowest]
    console.print(table({f"{row.kind}: {row.name}": {**row.seconds, "median": row.seconds["total"],
                                                     "largest": row.seconds["total"]} for row in slowest}))  # fmt: skip
    for name, seconds in passes.most_common(options.slowest):
        console.print(f"{1e3 * seconds:8.0f} ms  {name}")
    if options.json is not None:
        content = {
            "machine": asdict(describe("cpu")),
            "summary": summary(rows),
            "passes": dict(passes.most_common()),
            "programs": list(map(as_data, rows)),
        }
        write_results(options.json, content)


if __name__ == "__main__":
    main()
