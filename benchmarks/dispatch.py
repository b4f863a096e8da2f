"""What a call costs: a kernel of five arrays on four elements each, beside Numba, in one process.

    python -m benchmarks.dispatch [--json FILE]

The loop itself takes nanoseconds, so the time is that of getting into compiled code and
back. Each number is the best of several rounds, less what an empty Python call costs.
"""

from __future__ import annotations

import argparse
import json
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path

import numba
import numpy as np

import appyc

SIZE = 4
ROUNDS = 7


def serial(a, b, c, d, out):
    for i in range(len(a)):
        out[i] = a[i] + b[i] + c[i] + d[i]


def annotated(a, b, c, d, out):
    # pragma parallel for
    for i in range(len(a)):
        out[i] = a[i] + b[i] + c[i] + d[i]


def with_prange(a, b, c, d, out):
    for i in numba.prange(len(a)):
        out[i] = a[i] + b[i] + c[i] + d[i]


def nothing(a, b, c, d, out):
    return None


def seconds_per_call(call: Callable[..., object], arrays: Sequence[np.ndarray], calls: int) -> float:
    a, b, c, d, out = arrays
    call(a, b, c, d, out)  # compiles
    return min(timeit.repeat(lambda: call(a, b, c, d, out), number=calls, repeat=ROUNDS)) / calls


def candidates(arrays: Sequence[np.ndarray]) -> dict[str, Callable[..., object]]:
    parallel = appyc.jit(annotated)
    parallel(*arrays)
    return {
        "appyc, parallel for": parallel,
        "appyc, plain loop": appyc.jit(serial),
        "numba, njit": numba.njit(serial),
        "numba, njit(parallel=True)": numba.njit(parallel=True)(with_prange),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the times, in seconds, to this file")
    options = parser.parse_args()
    arrays = [np.ones(SIZE) for _ in range(5)]
    empty = seconds_per_call(nothing, arrays, 200_000)
    times = {name: seconds_per_call(f, arrays, 20_000) - empty for name, f in candidates(arrays).items()}
    print(f"five arrays of {SIZE}")
    for name, seconds in times.items():
        print(f"{name:30} {seconds * 1e6:8.2f} us")
    if options.json is not None:
        options.json.write_text(json.dumps(times, indent=1) + "\n")


if __name__ == "__main__":
    main()
