"""What a pass earns: the time of programs without it, over the time with it.

    python -m benchmarks.ablation PASS ... [--programs NAME ...] [--dataset MEDIUM] [--rounds 20] [--json FILE]

The programs are PolyBench as loops and those of `benchmarks.fusion`, but those whose C text does not change without the
pass. Both ways take turns in one process, and the least time of each counts. Where a program is not compiled without
the pass, the row has the reason instead of a time.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import appyc
from appyc import pipeline
from benchmarks import fusion
from benchmarks.machine import describe, write_results
from benchmarks.polybench.suite import KERNELS

SHARE = 0.3
"""Of the sizes of `benchmarks.fusion`."""

LISTS = ("SIMPLIFY", "ANALYSE", "FOR_C")


def programs(dataset: str) -> Iterator[tuple[str, Callable[..., Any], list[Any]]]:
    """Name, Python function and arguments of each."""
    for kernel in KERNELS.values():
        given = list(kernel.arguments("polybench", dataset).values())
        yield kernel.name, kernel.form("loops").py_func, given
    for program in fusion.PROGRAMS:
        yield program.__name__, program, list(fusion.arguments_of(program.__name__, SHARE).values())


def without(name: str) -> Any:
    """The patch under which a pass does not run."""
    kept = {lists: tuple(p for p in getattr(pipeline, lists) if p.__name__ != name) for lists in LISTS}
    return mock.patch.multiple(pipeline, **kept)


def copied(arguments: Sequence[Any]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def compiled(fn: Callable[..., Any], arguments: Sequence[Any]) -> tuple[Callable[..., Any], str]:
    """The function, compiled for these arguments, and its C text."""
    out = appyc.jit(target="cpu", cache=False)(fn)
    out(*copied(arguments))
    return out, out.source("c")


def seconds(call: Callable[..., Any], arguments: Sequence[Any]) -> float:
    own = copied(arguments)
    start = time.perf_counter()
    call(*own)
    return time.perf_counter() - start


def measure(
    name: str, fn: Callable[..., Any], arguments: list[Any], ablated: str, rounds: int
) -> dict[str, Any]:
    """The row of one program and one pass; {} where the pass changes nothing in it."""
    plain, text = compiled(fn, arguments)
    try:
        with without(ablated):
            other, changed = compiled(fn, arguments)
    except (appyc.CompileError, appyc.InternalError) as error:
        return {"pass": ablated, "program": name, "needed": str(error).splitlines()[0]}
    if changed == text:
        return {}
    least = [float("inf")] * 2
    for _ in range(rounds):
        for way, call in enumerate((plain, other)):
            least[way] = min(least[way], seconds(call, arguments))
    return {"pass": ablated, "program": name, "seconds": least[0], "ratio": least[1] / least[0]}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("passes", nargs="+", metavar="PASS")
    parser.add_argument("--programs", nargs="+", metavar="NAME")
    parser.add_argument("--dataset", default="MEDIUM")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    known = {p.__name__ for lists in LISTS for p in getattr(pipeline, lists)}
    if unknown := set(options.passes) - known:
        parser.error(f"no passes are named {', '.join(sorted(unknown))}")
    os.environ["APPYC_COMPILE_WAIT"] = "inf"
    rows = []
    for ablated in options.passes:
        for name, fn, arguments in programs(options.dataset):
            if options.programs and name not in options.programs:
                continue
            row = measure(name, fn, arguments, ablated, options.rounds)
            if row:
                rows.append(row)
                print(
                    f"{ablated:34} {name:16} {row.get('needed') or format(row['ratio'], '.2f')}", flush=True
                )
    if options.json:
        command = f"python -m benchmarks.ablation {' '.join(options.passes)} --dataset {options.dataset}"
        write_results(options.json, {"command": command, "machine": asdict(describe("cpu")), "rows": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
