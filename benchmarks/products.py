"""Products of matrices on one core: in NumPy's BLAS called from compiled code, in compiled loops, and by NumPy.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.products [--dataset LARGE] [--rounds 5] [--json FILE] [KERNEL ...]
    OPENBLAS_NUM_THREADS=1 python -m benchmarks.products --small [--json FILE]

The PolyBench kernels with products in them, as loops; or plain products of small and narrow matrices, and stacks of
them, for the sizes from which a library is called. All three take turns in one process; what counts is the
least processor time of the thread, which other programs on the machine do not share in, though they take a part of
its caches and of its memory's rate.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import appyc
from benchmarks.machine import write_rows

KERNELS = ("gemm", "k2mm", "k3mm", "syrk", "syr2k", "symm", "trmm", "covariance", "correlation")


SMALL = (
    *((n, n, n) for n in (4, 6, 8, 10, 16, 20, 24, 40)),
    *((1000, 1, 1000), (1000, 2, 1000), (1000, 4, 100), (4, 1000, 100), (1, 1000, 1000), (1000, 1000, 4)),
)
"""Rows, columns, and the length that is summed over."""

STACKED = (4, 8, 12, 16, 20, 24, 32)
"""Rows of each of a thousand square matrices."""


def product(c: Any, a: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def stack(c: Any, a: Any, b: Any) -> None:
    for n in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(b.shape[2]):
                s = 0.0
                for k in range(a.shape[2]):
                    s += a[n, i, k] * b[n, k, j]
                c[n, i, j] = s


def measure_small(rounds: int) -> list[dict[str, Any]]:
    """Microseconds of a call, for each of the small products."""
    rng = np.random.default_rng(0)
    shapes = [(product, ((m, l), (l, n), (m, n))) for m, n, l in SMALL]
    shapes += [(stack, ((1000, n, n),) * 3) for n in STACKED]
    rows = []
    for fn, (left, right, out) in shapes:
        ways = {"numpy": lambda c, a, b: np.matmul(a, b, out=c), "appyc": appyc.jit(target="cpu")(fn),
                "loops": appyc.jit(target="cpu", blas=False)(fn)}  # fmt: skip
        c, a, b = np.empty(out), rng.random(left), rng.random(right)
        least = dict.fromkeys(ways, float("inf"))
        for _ in range(20 * rounds):
            for way, call in ways.items():
                call(c, a, b)
                start = time.thread_time()
                for _ in range(5):
                    call(c, a, b)
                least[way] = min(least[way], (time.thread_time() - start) / 5)
        rows.append({"kernel": fn.__name__, "sizes": [*left, right[-1]], "seconds": least})
    return rows


def processor_time(call: Callable[..., Any], arguments: dict[str, Any]) -> float:
    """Seconds of one call, with arguments of its own."""
    wanted = inspect.signature(getattr(call, "py_func", call)).parameters
    own = [v.copy() if isinstance(v := arguments[name], np.ndarray) else v for name in wanted]
    start = time.thread_time()
    call(*own)
    return time.thread_time() - start


def measure(name: str, dataset: str, rounds: int) -> dict[str, Any]:
    kernel = importlib.import_module(f"benchmarks.polybench.{name}").KERNEL
    sizes = kernel.sizes[dataset]
    arguments = kernel.initialise(**sizes)
    ways = {
        "numpy": kernel.numpy_version,
        "appyc": appyc.jit(target="cpu")(kernel.loops.py_func),
        "loops": appyc.jit(target="cpu", blas=False)(kernel.loops.py_func),
    }
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds + 1):
        for way, call in ways.items():
            least[way] = min(least[way], processor_time(call, arguments))
    return {"kernel": kernel.name, "sizes": sizes, "seconds": least}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", default=KERNELS)
    parser.add_argument("--dataset", default="LARGE")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="small products instead of kernels")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        parser.error("set OPENBLAS_NUM_THREADS=1: the time of one thread is measured")
    appyc.set_num_threads(1)
    if options.small:
        rows, what = measure_small(options.rounds), "--small"
    else:
        rows = [measure(name, options.dataset, options.rounds) for name in options.kernels]
        what = f"--dataset {options.dataset}"
    for row in rows:
        took = {way: seconds * 1e6 for way, seconds in row["seconds"].items()}
        print(f"{row['kernel']:12s} {str(row['sizes']) if options.small else '':22s} NumPy {took['numpy']:10.1f} us   "
              f"appyc {took['appyc']:10.1f} us ({took['numpy'] / took['appyc']:.2f}x)   "
              f"in loops {took['loops']:10.1f} us")  # fmt: skip
    if options.json:
        command = f"OPENBLAS_NUM_THREADS=1 python -m benchmarks.products {what} --rounds {options.rounds}"
        write_rows(options.json, command, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
