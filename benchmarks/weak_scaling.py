"""How four kernels over chunked arrays scale when the arrays grow with the workers, from their graphs: nothing runs.

    python -m benchmarks.weak_scaling [--json FILE] [--plot FILE]

Each worker has one chunk. `moved` is what `explain()` counts between chunks, for each worker; `in a row` how many tasks
the longest way through the graph has, and how many of these are blocks of a nest. `efficiency` is one worker's time
over that of several, in a model without overlap: blocks in a row at OPERATION seconds an operation, moved bytes at
BANDWIDTH a second, and TASK seconds of the scheduler for every task, one after the other.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
from rich.console import Console
from rich.table import Table

import appyc
from benchmarks.chunked import jacobi_loops

WORKERS = tuple(4**k for k in range(7))
OPERATION, BANDWIDTH, TASK = 1e-9, 1.25e9, 7e-5
SIDE, LENGTH, STEPS, PANEL = 4096, 1 << 24, 8, 2048


@appyc.jit
def dot(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s


@appyc.jit
def scan(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
        b[i] = s


@appyc.jit
def gemm(c, a, b):
    # pragma parallel for collapse(2)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def grid(workers: int, side: int) -> Any:
    """A square array, or one twice as wide as high, of one chunk for each worker."""
    rows = 1 << (int(math.log2(workers)) // 2)
    return da.zeros((rows * side, workers // rows * side), chunks=side)


def product(workers: int) -> tuple[Any, ...]:
    c = grid(workers, PANEL)
    return c, da.zeros(c.shape, chunks=PANEL), da.zeros((c.shape[1], c.shape[1]), chunks=PANEL)


def lines(workers: int) -> tuple[Any, ...]:
    return tuple(da.zeros(workers * LENGTH, chunks=LENGTH) for _ in range(2))


KERNELS: dict[str, tuple[Any, Callable[[int], tuple[Any, ...]], Callable[[tuple[Any, ...]], float]]] = {
    "jacobi-2d": (jacobi_loops, lambda w: (STEPS, grid(w, SIDE), grid(w, SIDE)), lambda _: 2 * STEPS * 5 * SIDE**2),
    "dot": (dot, lines, lambda _: 2 * LENGTH),
    "scan": (scan, lines, lambda _: LENGTH),
    "gemm": (gemm, product, lambda arrays: 2 * PANEL**2 * arrays[1].shape[1]),
}  # fmt: skip
"""The function, its arguments for so many workers, and the operations for one chunk."""


def facts(name: str, workers: int) -> dict[str, float]:
    function, arguments, operations = KERNELS[name]
    given = arguments(workers)
    with dask.config.set(scheduler="distributed"):  # threads would share chunks
        plan = function.explain(*given)
    length: dict[str, tuple[int, int]] = {}
    for task, needs in plan.step.items():
        blocks, tasks = max((length[need] for need in needs), default=(0, 0))
        length[task] = blocks + ("_line_" in task), tasks + 1
    steps = len(plan.layers) / len({layer.line for layer in plan.layers})
    blocks, tasks = (steps * n for n in max(length.values()))
    moved, every = sum(x.moved for x in plan.layers) / workers, sum(x.tasks for x in plan.layers)
    compute = operations(given) * OPERATION
    seconds = blocks / steps * compute + moved / BANDWIDTH + every * TASK
    return {"workers": workers, "tasks": every, "moved": moved, "tasks in a row": tasks, "blocks in a row": blocks,
            "efficiency": (compute + TASK) / seconds}  # fmt: skip


def plot(found: dict[str, list[dict[str, float]]], file: Path) -> None:
    """Draws the efficiency over the number of workers."""
    from matplotlib import pyplot  # noqa: PLC0415  (for this alone)

    figure, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    for (name, rows), marker in zip(found.items(), "osv^", strict=True):
        axes.plot([r["workers"] for r in rows], [r["efficiency"] for r in rows], marker=marker, label=name)
    axes.set_xscale("log", base=4)
    axes.set_xticks(WORKERS, [f"{n:,}" for n in WORKERS])
    axes.set(xlabel="workers, of one chunk each", ylabel="time of one worker / time of all", ylim=(0, 1.05))
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    found = {name: [facts(name, workers) for workers in WORKERS] for name in KERNELS}
    for name, rows in found.items():
        table = Table("workers", "tasks", "moved, MB each", "in a row (blocks)", "efficiency", title=name)
        for workers, tasks, moved, row, blocks, efficiency in (each.values() for each in rows):
            table.add_row(
                f"{workers}",
                f"{tasks}",
                f"{moved / 1e6:.2f}",
                f"{row:.0f} ({blocks:.0f})",
                f"{efficiency:.2f}",
            )
        Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    if arguments.plot:
        plot(found, arguments.plot)


if __name__ == "__main__":
    main()
