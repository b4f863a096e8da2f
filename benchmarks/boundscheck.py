"""What bounds checks cost: every PolyBench kernel with and without them, in turn, in one process.

    python -m benchmarks.boundscheck [--dataset LARGE] [--rounds 7] [--json FILE] [KERNEL ...]

The two versions run alternately on fresh arguments, and the ratio is that of the smallest
times: what else the machine does hits both alike, and only ever adds. Kernels whose run
takes less than a few microseconds are dominated by the call itself.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import appyc
from benchmarks.machine import describe, write_results
from benchmarks.polybench.kernel import DATASETS, Kernel
from benchmarks.polybench.measure import copied
from benchmarks.polybench.suite import KERNELS


def once(call: Callable[..., Any], given: dict[str, Any]) -> float:
    arguments = copied(given)
    start = time.perf_counter()
    call(*arguments.values())
    return time.perf_counter() - start


def compare(kernel: Kernel, dataset: str, rounds: int, limit: float) -> dict[str, Any]:
    """Smallest time with and without checks; rounds end early where they take too long."""
    given = kernel.arguments("polybench", dataset)
    checked = appyc.jit(kernel.loops.py_func, target="cpu")
    unchecked = appyc.jit(kernel.loops.py_func, target="cpu", boundscheck=False)
    for call in (checked, unchecked):
        call(*copied(given).values())
    times: list[list[float]] = [[], []]
    start = time.perf_counter()
    for number in range(rounds):
        if number and time.perf_counter() - start > limit:
            break
        for seconds, call in zip(times, (checked, unchecked), strict=True):
            seconds.append(once(call, given))
    on, off = (min(t) for t in times)
    return {
        "kernel": kernel.name,
        "checked": on,
        "unchecked": off,
        "ratio": on / off,
        "rounds": len(times[0]),
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="all, where none is named")
    parser.add_argument("--dataset", choices=DATASETS, default="LARGE")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one kernel's rounds")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    rows = []
    for name in options.kernels or KERNELS:
        rows.append(compare(KERNELS[name], options.dataset, options.rounds, options.limit))
        row = rows[-1]
        on, off = row["checked"] * 1e3, row["unchecked"] * 1e3
        print(f"{row['kernel']:<16} {on:10.3f} ms {off:10.3f} ms {row['ratio']:6.3f}", flush=True)
    mean = math.exp(sum(math.log(r["ratio"]) for r in rows) / len(rows))
    print(f"geometric mean of the ratios: {mean:.4f}")
    if options.json:
        command = f"python -m benchmarks.boundscheck --dataset {options.dataset} --rounds {options.rounds}"
        content = {
            "command": command,
            "machine": asdict(describe("cpu")),
            "load": os.getloadavg()[0],
            "geometric_mean": mean,
            "rows": rows,
        }
        write_results(options.json, content)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
