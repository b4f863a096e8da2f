"""What recording costs: an operation, a flush whose program is known, and a hundred thousand calls of a kernel.

    python -m benchmarks.recording [--json FILE]

Times are the best of many runs of a few operations each, which begin with nothing recorded and end before anything
runs; those of flushes and calls are the best of several, everything included.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
from rich.console import Console
from rich.table import Table

import appyc
import appyc.numpy as np
from appyc.lazy.running import STATE, flush

CALLS = 100_000
FEW = 10
"""Operations in one run: fewer than what a time loop is told by."""


@appyc.jit
def scaled(part, factor):
    for i in range(part.shape[0]):
        part[i] *= factor


def best(times: int, run: Callable[[], float]) -> float:
    return min(run() for _ in range(times))


def recording(operation: Callable[[Any, Any], Any]) -> Callable[[], float]:
    """Seconds for one of a few operations, without running them."""
    a, b = np.array(numpy.ones((100, 100))), np.array(numpy.ones((100, 100)))

    def run() -> float:
        start = time.perf_counter()
        for _ in range(FEW):
            operation(a, b)
        took = time.perf_counter() - start
        STATE.recording.prune()
        flush()
        return took / FEW

    return run


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "a + b": lambda a, b: a + b,
    "a * 2.0": lambda a, b: a * 2.0,
    "a * 2": lambda a, b: a * 2,
    "a ** 2": lambda a, b: a**2,
    "a < b": lambda a, b: a < b,
    "np.sqrt(a)": lambda a, b: np.sqrt(a),
    "np.where(a, a, b)": lambda a, b: np.where(a, a, b),
    "a.sum(axis=0)": lambda a, b: a.sum(axis=0),
    "a[3]": lambda a, b: a[3],
    "a[1:-1, 2:]": lambda a, b: a[1:-1, 2:],
    "a.T": lambda a, b: a.T,
    "a += b": lambda a, b: a.__iadd__(b),
    "np.zeros((100, 100))": lambda a, b: np.zeros((100, 100)),
}


def known_flush(rounds: int) -> float:
    """Seconds for a flush of one operation, and six more a round, on 10,000 elements whose program has run before."""
    a, b = np.array(numpy.ones(10_000)), np.array(numpy.ones(10_000))

    def run() -> float:
        c, d = a * 2.0, b  # where the program does not come back to: that would run what is recorded
        for _ in range(rounds):
            c = (c * 0.5 + b) - a
            d = np.sqrt(c * c) + d
        start = time.perf_counter()
        flush((d.buffer,))
        return time.perf_counter() - start

    return best(300, run)


def calls(row: Callable[[Any, int], Any], *, deferring: bool) -> float:
    """Seconds for all calls on ten elements each, from the first to the result."""

    def run() -> float:
        array = np.array(numpy.ones((CALLS, 10)))
        start = time.perf_counter()
        if deferring:
            with appyc.deferred():
                for k in range(CALLS):
                    scaled(row(array, k), 2.0)
        else:
            for k in range(CALLS):
                scaled(row(array, k), 2.0)
        flush()
        took = time.perf_counter() - start
        assert float(array.sum()) == 2.0 * 10 * CALLS
        return took

    return best(4, run)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    usual, STATE.worth = STATE.worth, 1 << 60
    STATE.recording.most_at_once = 1  # else what takes longer than in NumPy is soon not recorded
    found = {name: 1e6 * best(400, recording(operation)) for name, operation in OPERATIONS.items()}
    STATE.worth = 0
    os.environ["APPYC_COMPILE_WAIT"] = "inf"
    flushes = {1 + 6 * rounds: 1e6 * known_flush(rounds) for rounds in (1, 8)}
    STATE.worth = usual
    rows = {
        way: calls(lambda array, k: array[k], deferring=way == "deferred") for way in ("deferred", "eager")
    }
    table = Table("recorded", "us")
    for name, took in found.items():
        table.add_row(name, f"{took:.2f}")
    for count, took in flushes.items():
        table.add_row(f"a flush of {count} known operations", f"{took:.1f}")
    for way, seconds in rows.items():
        table.add_row(f"{CALLS} calls, {way}, each", f"{1e6 * seconds / CALLS:.2f}")
    Console().print(table)
    if options.json:
        numbers = {"operation_us": found, "known_flush_us": flushes, "calls": CALLS, "calls_seconds": rows}
        options.json.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()
