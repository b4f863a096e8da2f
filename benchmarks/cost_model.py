"""Does the choice between one thread and several pay? Every kernel on one, on all, and as chosen.

    python -m benchmarks.cost_model [--datasets MINI SMALL ...] [--sizes N ...] [--only NAME ...]
                                    [--rounds N] [--least] [--remeasure] [--json FILE]

The kernels are PolyBench's, at its own sizes, and the loops of tests/dependences that no pragma
marks, for vectors of N elements. Each is compiled once; the three ways differ in the table of the
machine's speed that the code reads (threads that cost nothing to start share every loop, threads that
never start share none), and all else is the same. They take turns, call by call, on the same
arguments, which are reset before each; the median counts (--least: the shortest, for a machine that
others use too). Before each timed call an untimed one of the same way runs, so that threads are as
awake as a program's own calls would keep them.

slower: the time as chosen by the better one of the two others, less 1. The mean is over all
kernels that have a loop which threads may share.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

import appyc
from appyc.ir.machine_model import Machine
from appyc.runtime import machine_rates
from appyc.runtime.threads import get_num_threads
from benchmarks.machine import describe
from benchmarks.polybench.suite import KERNELS
from tests.dependences.outcome import all_loops

ALONE, THREADS, CHOSEN = "alone", "threads", "chosen"

SETTINGS: dict[str, Callable[[Machine], Machine]] = {
    ALONE: lambda found: replace(found, fork=1e30, wake=1e30),
    THREADS: lambda found: replace(found, fork=-1e30, wake=-1e30),
    CHOSEN: lambda found: found,
}
"""The machine as the code is told that it is, for each way."""

SECONDS = 0.25
"""For a kernel, as long as there are rounds left; there are always three."""


@dataclass(frozen=True)
class Case:
    """One kernel at one size."""

    name: str
    size: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Row:
    """Microseconds."""

    name: str
    size: str
    alone: float
    threads: float
    chosen: float
    rounds: int

    @property
    def slower(self) -> float:
        return self.chosen / min(self.alone, self.threads) - 1


# ---------------------------------------------------------------- what is measured


def polybench(datasets: list[str]) -> Iterator[Case]:
    for dataset in datasets:
        for kernel in KERNELS.values():
            given = kernel.arguments("polybench", dataset)
            function = kernel.loops.py_func
            yield Case(
                kernel.name, dataset, function, tuple(given[n] for n in signature(function).parameters)
            )


def corpus(sizes: list[int]) -> Iterator[Case]:
    for size in sizes:
        for loop in all_loops():
            if not loop.pragma:
                yield Case(loop.name, str(size), loop.fn, loop.arguments(size))


# ---------------------------------------------------------------- measurement


@dataclass
class Measured:
    """A kernel with its arguments, which `restore` makes what they were."""

    case: Case

    def __post_init__(self) -> None:
        self.jitted = appyc.jit(target="cpu")(self.case.function)
        self.arguments = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in self.case.arguments)
        self.arrays = [
            (now, first)
            for now, first in zip(self.arguments, self.case.arguments, strict=True)
            if isinstance(first, np.ndarray)
        ]

    @property
    def has_choice(self) -> bool:
        """Whether some loop of it may be shared among threads."""
        return any(record.mode == "parallel" for record in self.jitted.explain(*self.arguments).loops)

    def seconds(self) -> float:
        for now, first in self.arrays:
            np.copyto(now, first)
        start = time.perf_counter()
        self.jitted(*self.arguments)
        return time.perf_counter() - start


def measure(kernel: Measured, found: Machine, rounds: int, of: Callable[[list[float]], float]) -> Row:
    times: dict[str, list[float]] = {way: [] for way in SETTINGS}
    kernel.seconds()
    end = time.perf_counter() + 3 * SECONDS
    while len(times[CHOSEN]) < 3 or (len(times[CHOSEN]) < rounds and time.perf_counter() < end):
        for way, made in SETTINGS.items():
            with machine_rates.using(made(found)), np.errstate(all="ignore"):
                kernel.seconds()
                times[way].append(kernel.seconds())
    typical = {way: of(taken) * 1e6 for way, taken in times.items()}
    return Row(kernel.case.name, kernel.case.size, rounds=len(times[CHOSEN]), **typical)


def summary(rows: list[Row]) -> dict[str, float]:
    """The means of what it costs to choose, and of what either way would have cost throughout."""

    def mean(way: Callable[[Row], float]) -> float:
        return statistics.fmean(way(r) / min(r.alone, r.threads) - 1 for r in rows) if rows else 0.0

    return {
        "kernels": len(rows),
        "chosen_slower": mean(lambda r: r.chosen),
        "always_alone_slower": mean(lambda r: r.alone),
        "always_threads_slower": mean(lambda r: r.threads),
        "worst": max((r.slower for r in rows), default=0.0),
    }


def by_size(rows: list[Row]) -> Mapping[str, dict[str, float]]:
    sizes = dict.fromkeys(r.size for r in rows)
    return {size: summary([r for r in rows if r.size == size]) for size in sizes}


def main(arguments: list[str]) -> int:
    given = _parser().parse_args(arguments)
    if given.remeasure:
        machine_rates.remeasure()
    machine_rates.ensure_measured()
    found = machine_rates.current()
    rows = []
    for case in (*polybench(given.datasets), *corpus(given.sizes)):
        if given.only and case.name not in given.only:
            continue
        try:
            kernel = Measured(case)
            if not kernel.has_choice:
                continue
        except (appyc.CompileError, ValueError):
            continue  # the corpus holds loops that are to be refused
        row = measure(kernel, found, given.rounds, min if given.least else statistics.median)
        rows.append(row)
        times = f"{row.alone:11.1f} {row.threads:11.1f} {row.chosen:11.1f}"
        print(f"{row.name:24} {row.size:>8} {times} us {row.slower:+7.1%}", flush=True)
    print(json.dumps({**summary(rows), "by_size": by_size(rows)}, indent=1))
    if given.json:
        record = {
            "command": f"python -m benchmarks.cost_model {' '.join(arguments)}",
            "machine": asdict(describe("cpu")),
            "threads": get_num_threads(),
            "numbers": asdict(found),
            "measured": machine_rates.is_measured(),
            **summary(rows),
            "by_size": by_size(rows),
            "rows": [{**asdict(row), "slower": row.slower} for row in rows],
        }
        given.json.write_text(json.dumps(record, indent=1) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cost_model", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--datasets", nargs="*", default=["MINI", "SMALL", "MEDIUM"], help="of PolyBench")
    parser.add_argument(
        "--sizes", nargs="*", type=int, default=[1_000, 32_000, 1_000_000], help="of the loops"
    )
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument(
        "--least", action="store_true", help="the least time of a kernel counts, not the median"
    )
    parser.add_argument("--remeasure", action="store_true", help="measure the machine's speed first")
    parser.add_argument("--json", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
