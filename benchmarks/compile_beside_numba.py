"""Cold compiles of PolyBench's loops beside Numba's of the same texts (`njit`, one thread), in turn in one process.

    python -m benchmarks.compile_beside_numba [--rounds 2] [--json FILE]

seconds: that a caller waits. processor: of all processes, the C compiler's included. The least of several rounds.
"""

from __future__ import annotations

import argparse
import functools
import os
import time
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numba

from appyc.runtime import machine_rates
from benchmarks.compile_time import _processor, compiled
from benchmarks.machine import describe, write_results
from benchmarks.polybench.suite import KERNELS


def measure(rounds: int) -> list[dict[str, Any]]:
    """A row for each kernel and compiler."""
    best: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        with TemporaryDirectory() as folder, patch.dict(os.environ, APPYC_CACHE_DIR=folder):
            for kernel in KERNELS.values():
                arguments = tuple(kernel.arguments("polybench", "MINI").values())
                function = kernel.form("loops").py_func
                under_numba = functools.partial(
                    numba.njit(function).compile, tuple(map(numba.typeof, arguments))
                )
                for way, compile_ in {"appyc": compiled(function, arguments), "numba": under_numba}.items():
                    start, before = time.perf_counter(), _processor()
                    compile_()
                    took = [time.perf_counter() - start, _processor() - before]
                    best[kernel.name, way] = list(map(min, took, best.get((kernel.name, way), took)))
    return [
        {"program": name, "way": way, "seconds": round(took[0], 4), "processor": round(took[1], 4)}
        for (name, way), took in best.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    machine_rates.ensure_measured()
    numba.njit(lambda a: a + 1).compile((numba.float64,))  # what the first compile loads
    rows = measure(options.rounds)
    for way in ("appyc", "numba"):
        sums = [sum(row[c] for row in rows if row["way"] == way) for c in ("seconds", "processor")]
        print(f"{way}: {sums[0]:.2f} s, {sums[1]:.2f} s of the processors")
    if options.json is not None:
        command = f"python -m benchmarks.compile_beside_numba --rounds {options.rounds}"
        write_results(
            options.json, {"command": command, "machine": asdict(describe("cpu")), "programs": rows}
        )


if __name__ == "__main__":
    main()
