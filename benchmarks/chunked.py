"""Loops over chunked arrays beside plain `dask.array`, and beside `map_overlap` and `map_blocks` with Numba's kernels.

    python -m benchmarks.chunked [--json FILE] [--repeats 5] [--scale 1.0] [--without plain ...] [names ...]

All run on Dask's threaded scheduler with two threads, over the same chunks, in turn, and results must agree. Seconds
are processor time of the whole process, graph construction included. Of the costs in microseconds, `graph` is what it
takes to write the graph of a repeated call, for a task; `task` what it takes to run one whose block has 4 x 4 elements,
and `empty task` what Dask takes for one of as many empty tasks. Numba is left out where it is not installed. `whole` is
appyc over the same arrays as NumPy's, in one process on two threads.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np

import appyc
import appyc.numpy as recorded

try:
    import numba
except ImportError:
    numba = None

THREADS = 2
_RANDOM = np.random.default_rng(7)


def native(fn: Callable[..., Any]) -> Callable[..., Any]:
    return numba.njit(nogil=True)(fn) if numba is not None else fn


# ---------------------------------------------------------------- jacobi-2d


@appyc.jit
def jacobi_loops(steps, a, b):
    for _ in range(steps):
        # pragma parallel for collapse(2)
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        # pragma parallel for collapse(2)
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


@native
def jacobi_block(a):
    b = a.copy()
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
    return b


def jacobi_with_blocks(steps, a):
    for _ in range(2 * steps):
        a = a.map_overlap(jacobi_block, depth=1, boundary="none", dtype=float)
    return a


def jacobi_plain(steps, a):
    """The boundary is zero."""
    for _ in range(2 * steps):
        inside = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a = da.pad(inside, 1).rechunk(a.chunks)
    return a


# ---------------------------------------------------------------- heat-3d


@appyc.jit
def heat_loops(steps, a, b):
    for _ in range(steps):
        # pragma parallel for collapse(3)
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                for k in range(1, a.shape[2] - 1):
                    b[i, j, k] = 0.25 * a[i, j, k] + 0.125 * (
                        a[i + 1, j, k]
                        + a[i - 1, j, k]
                        + a[i, j + 1, k]
                        + a[i, j - 1, k]
                        + a[i, j, k + 1]
                        + a[i, j, k - 1]
                    )
        # pragma parallel for collapse(3)
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                for k in range(1, a.shape[2] - 1):
                    a[i, j, k] = 0.25 * b[i, j, k] + 0.125 * (
                        b[i + 1, j, k]
                        + b[i - 1, j, k]
                        + b[i, j + 1, k]
                        + b[i, j - 1, k]
                        + b[i, j, k + 1]
                        + b[i, j, k - 1]
                    )


@native
def heat_block(a):
    b = a.copy()
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for k in range(1, a.shape[2] - 1):
                b[i, j, k] = 0.25 * a[i, j, k] + 0.125 * (
                    a[i + 1, j, k]
                    + a[i - 1, j, k]
                    + a[i, j + 1, k]
                    + a[i, j - 1, k]
                    + a[i, j, k + 1]
                    + a[i, j, k - 1]
                )
    return b


def heat_with_blocks(steps, a):
    for _ in range(2 * steps):
        a = a.map_overlap(heat_block, depth=1, boundary="none", dtype=float)
    return a


def heat_plain(steps, a):
    """The boundary is zero."""
    m, low, high = slice(1, -1), slice(None, -2), slice(2, None)
    for _ in range(2 * steps):
        beside = a[high, m, m] + a[low, m, m] + a[m, high, m] + a[m, low, m] + a[m, m, high] + a[m, m, low]
        a = da.pad(0.25 * a[m, m, m] + 0.125 * beside, 1).rechunk(a.chunks)
    return a


# ---------------------------------------------------------------- Black-Scholes


@appyc.jit
def options_loops(price, strike, years):
    call = np.empty_like(price)
    # pragma parallel for
    for i in range(price.shape[0]):
        root = 0.3 * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + 0.065 * years[i]) / root
        p1 = 1.0 / (1.0 + math.exp(-1.702 * d1))
        p2 = 1.0 / (1.0 + math.exp(-1.702 * (d1 - root)))
        call[i] = price[i] * p1 - strike[i] * math.exp(-0.02 * years[i]) * p2
    return call


@native
def options_block(price, strike, years):
    call = np.empty_like(price)
    for i in range(price.shape[0]):
        root = 0.3 * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + 0.065 * years[i]) / root
        p1 = 1.0 / (1.0 + math.exp(-1.702 * d1))
        p2 = 1.0 / (1.0 + math.exp(-1.702 * (d1 - root)))
        call[i] = price[i] * p1 - strike[i] * math.exp(-0.02 * years[i]) * p2
    return call


def options_with_blocks(price, strike, years):
    return da.map_blocks(options_block, price, strike, years, dtype=float)


def options_plain(price, strike, years):
    root = 0.3 * da.sqrt(years)
    d1 = (da.log(price / strike) + 0.065 * years) / root
    p1, p2 = 1.0 / (1.0 + da.exp(-1.702 * d1)), 1.0 / (1.0 + da.exp(-1.702 * (d1 - root)))
    return price * p1 - strike * da.exp(-0.02 * years) * p2


def options_recorded(*chunked):
    price, strike, years = map(recorded.asarray, chunked)
    root = 0.3 * recorded.sqrt(years)
    d1 = (recorded.log(price / strike) + 0.065 * years) / root
    p1, p2 = (1.0 / (1.0 + recorded.exp(-1.702 * d)) for d in (d1, d1 - root))
    return (price * p1 - strike * recorded.exp(-0.02 * years) * p2).to_dask_array()


# ---------------------------------------------------------------- k-means: the sums and sizes of the clusters


@appyc.jit
def means_loops(x, centres):
    sums = np.zeros(centres.shape)
    for i in range(x.shape[0]):
        best, nearest = 1e300, 0
        for c in range(centres.shape[0]):
            d = 0.0
            for j in range(x.shape[1]):
                d += (x[i, j] - centres[c, j]) * (x[i, j] - centres[c, j])
            if d < best:
                best, nearest = d, c
        for j in range(x.shape[1]):
            sums[nearest, j] += x[i, j]
    return sums


@native
def means_block(x, centres):
    sums = np.zeros((1, *centres.shape))
    for i in range(x.shape[0]):
        best, nearest = 1e300, 0
        for c in range(centres.shape[0]):
            d = 0.0
            for j in range(x.shape[1]):
                d += (x[i, j] - centres[c, j]) * (x[i, j] - centres[c, j])
            if d < best:
                best, nearest = d, c
        for j in range(x.shape[1]):
            sums[0, nearest, j] += x[i, j]
    return sums


def means_with_blocks(x, centres):
    count = x.numblocks[0]
    parts = x.map_blocks(
        means_block, centres, dtype=float, new_axis=2, chunks=((1,) * count, *((n,) for n in centres.shape))
    )
    return parts.sum(axis=0)


def means_plain(x, centres):
    nearest = ((x[:, None, :] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    return da.stack([da.where((nearest == c)[:, None], x, 0.0).sum(axis=0) for c in range(len(centres))])


# ---------------------------------------------------------------- covariance


@appyc.jit
def covariance_loops(x):
    n, m = x.shape
    mean, cov = np.zeros(m), np.zeros((m, m))
    for i in range(n):
        for j in range(x.shape[1]):
            mean[j] += x[i, j]
    for j in range(x.shape[1]):
        mean[j] /= n
    for i in range(n):
        for j in range(x.shape[1]):
            for k in range(x.shape[1]):
                cov[j, k] += (x[i, j] - mean[j]) * (x[i, k] - mean[k])
    for j in range(x.shape[1]):
        for k in range(x.shape[1]):
            cov[j, k] /= n - 1.0
    return cov


@native
def covariance_block(x, mean):
    cov = np.zeros((1, x.shape[1], x.shape[1]))
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[1]):
                cov[0, j, k] += (x[i, j] - mean[j]) * (x[i, k] - mean[k])
    return cov


def covariance_with_blocks(x):
    count, m = x.numblocks[0], x.shape[1]
    cov = x.map_blocks(
        covariance_block, x.mean(axis=0).compute(), dtype=float, new_axis=2, chunks=((1,) * count, (m,), (m,))
    )
    return cov.sum(axis=0) / (x.shape[0] - 1.0)


def covariance_plain(x):
    centred = x - x.mean(axis=0)
    return centred.T @ centred / (x.shape[0] - 1.0)


# ---------------------------------------------------------------- logistic regression: steps down the gradient


@appyc.jit
def logistic_loops(steps, x, y, w):
    w = w.copy()
    for _ in range(steps):
        g = np.zeros(w.shape)
        for i in range(x.shape[0]):
            z = 0.0
            for j in range(x.shape[1]):
                z += x[i, j] * w[j]
            p = 1.0 / (1.0 + math.exp(-z)) - y[i]
            for j in range(x.shape[1]):
                g[j] += p * x[i, j]
        for j in range(w.shape[0]):
            w[j] -= 0.5 / x.shape[0] * g[j]
    return w


@native
def logistic_block(x, y, w):
    g = np.zeros((1, x.shape[1]))
    for i in range(x.shape[0]):
        z = 0.0
        for j in range(x.shape[1]):
            z += x[i, j] * w[j]
        p = 1.0 / (1.0 + math.exp(-z)) - y[i]
        for j in range(x.shape[1]):
            g[0, j] += p * x[i, j]
    return g


def logistic_with_blocks(steps, x, y, w):
    for _ in range(steps):
        parts = da.blockwise(
            logistic_block, "ij", x, "ij", y, "i", w, "j", dtype=float, adjust_chunks={"i": 1}
        )
        w = w - 0.5 / x.shape[0] * parts.sum(axis=0)
    return w


def logistic_plain(steps, x, y, w):
    for _ in range(steps):
        w = w - 0.5 / x.shape[0] * (x.T @ (1.0 / (1.0 + da.exp(-(x @ w))) - y))
    return w


# ---------------------------------------------------------------- what is compared


def chunked(shape, chunks):
    """Random numbers in memory."""
    return da.from_array(_RANDOM.random(shape), chunks=chunks)


def zero_at_the_ends(shape, chunks):
    array = np.zeros(shape)
    array[(slice(1, -1),) * len(shape)] = _RANDOM.random([n - 2 for n in shape])
    return da.from_array(array, chunks=chunks)


def programs(
    scale: float,
) -> dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any], tuple[Any, ...]]]:
    """For each name appyc's, that of blocks, the plain one, and their arguments."""

    def n(size: int) -> int:
        return max(int(size * scale), 64)

    def in_place(loops: Any) -> Callable[..., Any]:
        """What `a` becomes, between copies of it."""

        def call(steps: int, a: Any) -> Any:
            own = a.copy()
            loops(steps, own, a.copy())
            return own

        return call

    points = chunked((n(400_000), 4), (n(100_000), 4))
    wide = chunked((n(20_000), 40), (n(5_000), 40))
    many = n(2_000_000)
    options = tuple(chunked(many, many // 4) + start for start in (10.0, 10.0, 0.2))
    options = tuple(da.from_array(a.compute(), chunks=many // 4) for a in options)
    labels = da.from_array((_RANDOM.random(points.shape[0]) > 0.5) * 1.0, chunks=points.chunks[0])
    start = da.zeros(4, chunks=4)

    jacobi, heat = in_place(jacobi_loops), in_place(heat_loops)
    plane, cube = (4, zero_at_the_ends((n(2000),) * 2, n(500))), (2, zero_at_the_ends((n(160),) * 3, n(80)))
    return {
        "jacobi-2d": (jacobi, jacobi_with_blocks, jacobi_plain, plane),
        "heat-3d": (heat, heat_with_blocks, heat_plain, cube),
        "black-scholes": (options_loops, options_with_blocks, options_plain, options),
        "recorded Black-Scholes": (options_recorded, options_with_blocks, options_plain, options),
        "k-means": (means_loops, means_with_blocks, means_plain, (points, _RANDOM.random((8, 4)))),
        "covariance": (covariance_loops, covariance_with_blocks, covariance_plain, (wide,)),
        "logistic": (logistic_loops, logistic_with_blocks, logistic_plain, (5, points, labels, start)),
    }


def empty(*_: Any) -> None:
    """A task."""


def overhead() -> dict[str, float]:
    """Microseconds for a task."""
    a, b = da.zeros((96, 96), chunks=4), da.zeros((96, 96), chunks=4)
    seconds = []
    for _ in range(4):
        began = time.process_time()
        jacobi_loops(1, a, b)
        seconds.append(time.process_time() - began)
    a, b = da.zeros((96, 96), chunks=4).persist(), da.zeros((96, 96), chunks=4).persist()
    jacobi_loops(1, a, b)
    tasks = sum("_line_" in key[0] for key in a.dask)
    chain = {("empty", k): (empty, ("empty", k - 256)) if k >= 256 else (empty,) for k in range(tasks)}
    own, dasks = [], []
    for _ in range(4):
        began = time.process_time()
        dask.compute(a, scheduler="threads", num_workers=THREADS)
        own.append(time.process_time() - began)
        began = time.process_time()
        dask.threaded.get(chain, list(chain)[-256:], num_workers=THREADS)
        dasks.append(time.process_time() - began)
    micro = 1e6 / tasks
    return {"tasks": tasks, "first graph": seconds[0] * micro, "graph": min(seconds[1:]) * micro,
            "task": min(own) * micro, "empty task": min(dasks) * micro}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chunked", description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--without", nargs="+", default=(), choices=("plain", "numba", "whole"))
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    results: dict[str, dict[str, float]] = {}
    for name, (loops, blocks, plain, args) in programs(given.scale).items():
        if given.names and name not in given.names:
            continue
        sides = {"appyc": loops, "plain": plain} | ({"numba": blocks} if numba is not None else {})
        arrays = dask.compute(*args)
        if loops is not options_recorded:
            sides["whole"] = lambda *_, loops=loops, arrays=arrays: loops(*arrays)
        sides = {side: call for side, call in sides.items() if side not in given.without}
        values: dict[str, Any] = {}
        seconds: dict[str, list[float]] = {side: [] for side in sides}
        for repeat in range(given.repeats + 1):  # the first compiles
            for side, call in sides.items():
                began = time.process_time()
                (values[side],) = dask.compute(call(*args), scheduler="threads", num_workers=THREADS)
                if repeat:
                    seconds[side].append(time.process_time() - began)
        for side, value in values.items():
            np.testing.assert_allclose(value, values["appyc"], rtol=1e-8, err_msg=f"{name}, {side}")
        results[name] = {side: statistics.median(times) for side, times in seconds.items()}
        print(name, {side: round(value, 4) for side, value in results[name].items()}, flush=True)
    for side in ("plain", "numba", "whole"):
        ratios = [r[side] / r["appyc"] for r in results.values() if side in r]
        if ratios:
            print(
                f"{side} takes {statistics.geometric_mean(ratios):.2f} times as long as appyc (geometric mean)"
            )
    costs = overhead()
    print({name: round(value, 1) for name, value in costs.items()})
    if given.json:
        load = os.getloadavg()[0]
        given.json.write_text(
            json.dumps({"seconds": results, "microseconds": costs, "load": load}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
