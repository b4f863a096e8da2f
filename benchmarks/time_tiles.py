"""Time tiles: iterated stencils with and without them, in turn, and the same results bit for bit.

    python -m benchmarks.time_tiles [--datasets LARGE EXTRALARGE] [--rounds 3] [--json FILE]

The PolyBench kernels whose time loops are tiled (`appyc/passes/locality/tile_time.py`), as loops. Without tiles they
are compiled as for arrays that fit in the cache. The least time of the rounds counts.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table

import appyc
from appyc.passes.locality import tile_time
from benchmarks.machine import write_rows
from benchmarks.polybench.suite import KERNELS

STENCILS = ("jacobi-1d", "jacobi-2d", "heat-3d", "fdtd-2d", "seidel-2d")


def seconds(fn: Callable[..., Any], arguments: dict[str, Any]) -> float:
    start = time.perf_counter()
    fn(**arguments)
    return time.perf_counter() - start


def measure(name: str, dataset: str, rounds: int) -> dict[str, Any]:
    """The least seconds of a kernel with time tiles and without. Raises AssertionError where results differ."""
    kernel = KERNELS[name]
    sizes = kernel.sizes[dataset]
    versions = {}
    for version, least in (("tiled", tile_time.CACHE), ("untiled", float("inf"))):
        versions[version] = fn = appyc.jit(kernel.loops.py_func, cache=False)
        with patch.object(tile_time, "CACHE", least), patch.dict(os.environ, APPYC_COMPILE_WAIT="inf"):
            fn(**kernel.initialise(**kernel.sizes["MINI"]))
    best = dict.fromkeys(versions, float("inf"))
    for _ in range(rounds):
        left: dict[str, list[np.ndarray]] = {}
        for version, fn in versions.items():
            arguments = kernel.initialise(**sizes)
            best[version] = min(best[version], seconds(fn, arguments))
            left[version] = [arguments[output] for output in kernel.outputs]
        for one, other in zip(left["tiled"], left["untiled"], strict=True):
            np.testing.assert_array_equal(one, other)
    return {"kernel": name, "dataset": dataset, **best, "ratio": best["untiled"] / best["tiled"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=["LARGE", "EXTRALARGE"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    table = Table("kernel", "dataset", "without tiles, s", "with tiles, s", "ratio")
    found = []
    for dataset in options.datasets:
        for name in STENCILS:
            row = measure(name, dataset, options.rounds)
            found.append(row)
            table.add_row(name, dataset, *(f"{row[key]:.3g}" for key in ("untiled", "tiled", "ratio")))
    Console().print(table)
    if options.json is not None:
        command = f"python -m benchmarks.time_tiles --datasets {' '.join(options.datasets)} --rounds {options.rounds}"
        write_rows(options.json, command, found)


if __name__ == "__main__":
    main()
