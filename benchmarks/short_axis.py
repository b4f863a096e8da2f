"""Arrays with a short last axis: array expressions and loops, compiled and recorded, beside NumPy and Numba.

    python -m benchmarks.short_axis [--only NAME] [--lengths 3] [--dtypes float64] [--json FILE]

Each program takes turns in one process on one thread; what counts is the least processor time of the thread, which
other programs on the machine do not share in.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import appyc
import appyc.numpy as recorded_numpy
from appyc.lazy.running import STATE
from benchmarks.machine import write_rows

ELEMENTS = 750_000


def absolute(a, np=np):
    return np.abs(a[1:] - a[:-1]) + np.abs(a[1:])


def largest(a, np=np):
    return np.max(a, axis=-1)


def total(a, np=np):
    return np.sum(a, axis=1)


def average(a, np=np):
    return np.mean(a, axis=-1)


def deviation(a, np=np):
    return np.std(a, axis=-1)


def any_large(a, np=np):
    return np.any(a > 1, axis=-1)


def where_largest(a, np=np):
    return np.argmax(a, axis=-1)


def norm(a, np=np):
    return np.linalg.norm(a, axis=-1)


def scaled(a, np=np):
    return a / np.sqrt(np.sum(a * a, axis=-1, keepdims=True) + 1.0)


def along_short(a, np=np):
    return a[:, 1:] - a[:, :-1]


def along_long(a, np=np):
    return a[2:] - 2 * a[1:-1] + a[:-2]


def fused_largest(a, np=np):
    return np.max(np.abs(a[1:] - a[:-1]), axis=-1)


def whole_largest(a, np=np):
    return np.max(np.abs(a[1:] - a[:-1]))


EXPRESSIONS: tuple[Callable[..., Any], ...] = (
    absolute, largest, total, average, deviation, any_large, where_largest, norm, scaled,
    along_short, along_long, fused_largest, whole_largest,
)  # fmt: skip


def laplacian(a, np=np):
    out = np.zeros_like(a)
    out[1:-1, 1:-1] = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * a[1:-1, 1:-1]
    return out


def channels(a, np=np):
    out = np.zeros_like(a)
    for c in range(a.shape[2]):
        p = a[:, :, c]
        out[1:-1, 1:-1, c] = (
            p[:-2, :-2] + 2 * p[:-2, 1:-1] + p[:-2, 2:] - p[2:, :-2] - 2 * p[2:, 1:-1] - p[2:, 2:]
        )
    return out


IMAGES: tuple[Callable[..., Any], ...] = (laplacian, channels)


def absolute_loops(a):
    out = np.empty((a.shape[0] - 1, a.shape[1]), a.dtype)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = abs(a[i + 1, j] - a[i, j]) + abs(a[i + 1, j])
    return out


def largest_loops(a):
    out = np.empty(a.shape[0], a.dtype)
    for i in range(a.shape[0]):
        m = a[i, 0]
        for j in range(1, a.shape[1]):
            m = max(m, a[i, j])
        out[i] = m
    return out


def total_loops(a):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += a[i, j]
    return out


def along_long_loops(a):
    out = np.empty((a.shape[0] - 2, a.shape[1]), a.dtype)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = a[i + 2, j] - 2 * a[i + 1, j] + a[i, j]
    return out


def laplacian_loops(a):
    out = np.zeros_like(a)
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for c in range(a.shape[2]):
                out[i, j, c] = (
                    a[i - 1, j, c] + a[i + 1, j, c] + a[i, j - 1, c] + a[i, j + 1, c] - 4 * a[i, j, c]
                )
    return out


LOOPS: dict[str, Callable[..., Any]] = {
    "absolute": absolute_loops, "largest": largest_loops, "total": total_loops, "along_long": along_long_loops,
    "laplacian": laplacian_loops,
}  # fmt: skip


def compiled(expression: Callable[..., Any]) -> Callable[..., Any]:
    return appyc.jit(target="cpu")(expression)


def recorded(expression: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a: np.asarray(expression(a, recorded_numpy))


def numba(fn: Callable[..., Any]) -> Callable[..., Any]:
    from numba import njit  # noqa: PLC0415  (slow, and an extra)

    return njit(fn)


def measure(
    expression: Callable[..., Any], shape: tuple[int, ...], dtype: str, rounds: int
) -> dict[str, Any]:
    name = expression.__name__
    a = (np.random.default_rng(0).random(shape) * 9).astype(dtype)
    if dtype.startswith(("float", "int")):
        a = a - np.asarray(4, dtype)
    ways = {"numpy": expression, "compiled": compiled(expression), "recorded": recorded(expression)}
    given = {"numpy": a, "compiled": a, "recorded": recorded_numpy.array(a), "loops": a, "numba": a}
    if name in LOOPS:
        ways |= {"loops": appyc.jit(target="cpu")(LOOPS[name]), "numba": numba(LOOPS[name])}
    least = dict.fromkeys(ways, float("inf"))
    for way, call in ways.items():
        for _ in range(3):
            got = call(given[way])
        if way != "numba":
            np.testing.assert_allclose(got, expression(a), rtol=1e-4, atol=1e-4, err_msg=f"{name} {way}")
    for _ in range(rounds):
        for way, call in ways.items():
            start = time.thread_time()
            call(given[way])
            least[way] = min(least[way], time.thread_time() - start)
    return {"program": name, "shape": shape, "dtype": dtype, "seconds": least}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--lengths", nargs="*", type=int, default=[1, 2, 3, 4, 5, 7])
    parser.add_argument("--dtypes", nargs="*", default=["float64", "float32", "uint8", "int64"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    appyc.set_num_threads(1)
    STATE.worth = 0
    os.environ["APPYC_COMPILE_WAIT"] = "inf"
    cases = [(e, (ELEMENTS // n, n), d) for e in EXPRESSIONS for d in options.dtypes for n in options.lengths]
    cases += [(e, (500, 500, 3), d) for e in IMAGES for d in options.dtypes if d != "int64"]
    rows = []
    for expression, shape, dtype in cases:
        if options.only and expression.__name__ not in options.only:
            continue
        rows.append(row := measure(expression, shape, dtype, options.rounds))
        usual = row["seconds"]["numpy"]
        print(f"{row['program']:14s} {dtype:8s} {'x'.join(map(str, shape)):12s} NumPy {usual * 1e3:7.2f} ms  "
              + "  ".join(f"{way} {usual / took:6.2f}x" for way, took in row["seconds"].items() if way != "numpy"),
              flush=True)  # fmt: skip
    if options.json:
        write_rows(options.json, "python -m benchmarks.short_axis", rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
