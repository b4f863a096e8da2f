"""What it costs to look at index arrays: programs with and without the looks, in turn, in one process.

    python -m benchmarks.inspector [--threads 2] [--size 10000000] [--rounds 7] [--json FILE] [PROGRAM ...]

Each program runs checked, and as it would be if nothing had to be known of the index arrays:
without range checks (`boundscheck=False`) and with the word `independent` where it has a pragma.
Beside it stands plain sequential execution, all of it unchecked: what the look is there to beat.
The smallest times are compared, as what else the machine does only ever adds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import appyc
from benchmarks.machine import write_rows


def product(y, ptr, col, val, x):
    # pragma parallel for
    for r in range(y.shape[0]):
        s = 0.0
        for k in range(ptr[r], ptr[r + 1]):
            s += val[k] * x[col[k]]
        y[r] = s


def scatter(a, idx, b):
    # pragma parallel for
    for i in range(idx.shape[0]):
        a[idx[i]] = b[i] * 2.0


def sworn_scatter(a, idx, b):
    # pragma parallel for independent
    for i in range(idx.shape[0]):
        a[idx[i]] = b[i] * 2.0


def plain_scatter(a, idx, b):
    for i in range(idx.shape[0]):
        a[idx[i]] = b[i] * 2.0


def gather_scatter(a, to, start):
    # pragma parallel for
    for i in range(to.shape[0]):
        a[to[i]] = a[start[i]] * 0.5 + a[to[i]]


def sworn_gather_scatter(a, to, start):
    # pragma parallel for independent
    for i in range(to.shape[0]):
        a[to[i]] = a[start[i]] * 0.5 + a[to[i]]


def scale_rows(val, ptr, w):
    # pragma parallel for
    for r in range(w.shape[0]):
        for k in range(ptr[r], ptr[r + 1]):
            val[k] = val[k] * w[r] + 1.0


def sworn_scale_rows(val, ptr, w):
    # pragma parallel for independent
    for r in range(w.shape[0]):
        for k in range(ptr[r], ptr[r + 1]):
            val[k] = val[k] * w[r] + 1.0


def _pointers(size: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of 0 to 20 elements, `size` in all."""
    cuts = np.sort(rng.integers(0, size + 1, size // 10 - 1))
    return np.concatenate([[0], cuts, [size]])


def banded_product(size: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Columns near the diagonal, as of a mesh: the vector stays in the cache."""
    ptr = _pointers(size, rng)
    rows = len(ptr) - 1
    row_of = np.repeat(np.arange(rows), np.diff(ptr))
    col = np.clip(row_of + rng.integers(-1000, 1001, size), 0, rows - 1)
    return np.zeros(rows), ptr, col, rng.random(size), rng.random(rows)


def random_product(size: int, rng: np.random.Generator) -> tuple[Any, ...]:
    ptr = _pointers(size, rng)
    rows = len(ptr) - 1
    return np.zeros(rows), ptr, rng.integers(0, rows, size), rng.random(size), rng.random(rows)


def permuted(size: int, rng: np.random.Generator) -> tuple[Any, ...]:
    return np.zeros(size), rng.permutation(size), rng.random(size)


def two_halves(size: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Written places in one half of the array, read ones in the other."""
    to = rng.permutation(size)
    return rng.random(2 * size), to, size + rng.integers(0, size, size)


def segments(size: int, rng: np.random.Generator) -> tuple[Any, ...]:
    ptr = _pointers(size, rng)
    return rng.random(size), ptr, rng.random(len(ptr) - 1)


@dataclass(frozen=True)
class Program:
    """checked, trusting: the same loops with and without looks. arguments: for so many elements."""

    checked: Callable[..., Any]
    trusting: Callable[..., Any]
    arguments: Callable[[int, np.random.Generator], tuple[Any, ...]]


PROGRAMS = {
    "sparse product, banded": Program(product, product, banded_product),
    "sparse product, random": Program(product, product, random_product),
    "scatter, permuted": Program(scatter, sworn_scatter, permuted),
    "scatter, no pragma": Program(plain_scatter, sworn_scatter, permuted),
    "gather and scatter": Program(gather_scatter, sworn_gather_scatter, two_halves),
    "segments": Program(scale_rows, sworn_scale_rows, segments),
}


def compare(name: str, size: int, threads: int, rounds: int) -> dict[str, Any]:
    """The smallest times of the program with its looks, without them, and in sequence."""
    program = PROGRAMS[name]
    arguments = program.arguments(size, np.random.default_rng(1))
    runs = {
        "checked": (appyc.jit(target="cpu")(program.checked), threads),
        "trusting": (appyc.jit(target="cpu", boundscheck=False)(program.trusting), threads),
        "sequential": (appyc.jit(target="cpu", boundscheck=False)(program.trusting), 1),
    }
    times: dict[str, list[float]] = {run: [] for run in runs}
    for number in range(rounds + 1):
        for run, (call, count) in runs.items():
            appyc.set_num_threads(count)
            start = time.perf_counter()
            call(*arguments)
            if number:  # the first one compiles
                times[run].append(time.perf_counter() - start)
    least = {run: min(seconds) for run, seconds in times.items()}
    return {
        "program": name,
        **least,
        "cost": least["checked"] / least["trusting"] - 1,
        "speedup": least["sequential"] / least["checked"],
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="all, where none is named")
    parser.add_argument("--size", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    rows = []
    print(f"{'program':<24} {'checked':>10} {'trusting':>10} {'one thread':>10}   looks cost")
    for name in options.programs or PROGRAMS:
        rows.append(compare(name, options.size, options.threads, options.rounds))
        row = rows[-1]
        shown = " ".join(f"{row[run] * 1e3:7.2f} ms" for run in ("checked", "trusting", "sequential"))
        print(f"{name:<24} {shown}   {row['cost']:8.1%}   speedup {row['speedup']:.2f}", flush=True)
    if options.json:
        write_rows(
            options.json,
            f"python -m benchmarks.inspector --size {options.size} --threads {options.threads} "
            f"--rounds {options.rounds}",
            rows,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
