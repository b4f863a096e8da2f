"""Operations on small arrays, each on the result of the one before, with recorded NumPy beside NumPy.

    python -m benchmarks.small_arrays [--lengths 8 100 1000] [--json FILE]

Processor time of one operation, the least of several chains in turn; the value of the last one is asked for.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy

import appyc.numpy as recorded
from benchmarks.machine import write_rows

CALLS = 1500
ROUNDS = 4

OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "zeros_like(x) + y": lambda np, x, y: np.zeros_like(x) + y,
    "full_like(x, 2) + y": lambda np, x, y: np.full_like(x, 2.0) + y,
    "roll(x, 1)": lambda np, x, y: np.roll(x, 1),
    "pad(x, 1)[1:-1]": lambda np, x, y: np.pad(x, 1)[1:-1],
    "x.copy()": lambda np, x, y: x.copy(),
    "copy(x)": lambda np, x, y: np.copy(x),
    "concatenate((x[1:], y[:1]))": lambda np, x, y: np.concatenate((x[1:], y[:1])),
    "stack((x, y))[0]": lambda np, x, y: np.stack((x, y))[0],
    "where(x > y, x, y)": lambda np, x, y: np.where(x > y, x, y),
    "clip(x, .2, .8)": lambda np, x, y: np.clip(x, 0.2, 0.8),
    "x.clip(.2, .8)": lambda np, x, y: x.clip(0.2, 0.8),
    "x + y": lambda np, x, y: x + y,
    "outer(x[:3], y)[0]": lambda np, x, y: np.outer(x[:3], y)[0],
    "x.reshape(2, -1).reshape(-1)": lambda np, x, y: x.reshape(2, -1).reshape(-1),
    "x[1:] = y[:-1]": lambda np, x, y: (x.__setitem__(slice(1, None), y[:-1]), x)[1],
    "x / norm(x)": lambda np, x, y: x / np.linalg.norm(x),
}


def chain(np: Any, operation: Callable[[Any, Any, Any], Any], values: numpy.ndarray) -> float:
    """Microseconds of an operation."""
    x, y = np.array(values), np.array(values[::-1].copy())
    start = time.thread_time()
    for _ in range(CALLS):
        x = operation(np, x, y)
    float(x[0])
    return (time.thread_time() - start) / CALLS * 1e6


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lengths", nargs="*", type=int, default=[8, 100, 1000])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    rows = []
    for length in options.lengths:
        values = numpy.random.default_rng(0).random(length)
        for _ in range(ROUNDS):
            chain(recorded, OPERATIONS["x + y"], values)  # as many as small arrays are recorded for at first
        for name, operation in OPERATIONS.items():
            least = {"numpy": float("inf"), "recorded": float("inf")}
            for _ in range(ROUNDS):
                for way, np in (("numpy", numpy), ("recorded", recorded)):
                    least[way] = min(least[way], chain(np, operation, values))
            rows.append({"operation": name, "length": length, "microseconds": least})
            print(f"{length:5d}  {name:30s} NumPy {least['numpy']:6.2f} us   recorded {least['recorded']:6.2f} us "
                  f"({least['recorded'] / least['numpy']:.2f})", flush=True)  # fmt: skip
    if options.json:
        write_rows(options.json, "python -m benchmarks.small_arrays", rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
