"""Chunked arrays on two worker processes of one thread each, beside one process with two threads.

    python -m benchmarks.chunk_workers [--json FILE] [--scale 10] [names ...]

The loops are those of `benchmarks.chunked`. Arrays are made in the workers, so that chunks move only where tasks need
them, and results stay there. Seconds are those of the wall, the least of three in turn; `task` is the time of the one
process over the tasks of blocks, on two threads. A ratio means something where that is 50 ms and more.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from benchmarks import chunked

TURNS = 3


def programs(scale: int) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    rng = da.random.default_rng(7)
    rows, many = 400_000 * scale, 2_000_000 * scale
    side, edge = 8_000, 480

    def points() -> da.Array:
        return rng.random((rows, 4), chunks=(rows // 4, 4))

    return {
        "jacobi-2d": (chunked.jacobi_loops, (4, *(rng.random((side, side), chunks=side // 2) for _ in "ab"))),
        "heat-3d": (chunked.heat_loops, (2, *(rng.random((edge,) * 3, chunks=edge // 2) for _ in "ab"))),
        "black-scholes": (chunked.options_loops, tuple(rng.random(many, chunks=many // 4) + x for x in (10, 10, 0.2))),
        "k-means": (chunked.means_loops, (points(), np.random.default_rng(7).random((8, 4)))),
        "covariance": (chunked.covariance_loops, (rng.random((rows // 10, 80), chunks=(rows // 40, 80)),)),
        "logistic": (chunked.logistic_loops, (5, points(), rng.random(rows, chunks=rows // 4), da.zeros(4, chunks=4))),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chunk_workers", description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--scale", type=int, default=10)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    results: dict[str, dict[str, float]] = {}
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="10GB")
    with cluster, Client(cluster) as client:
        for name, (loops, args) in programs(given.scale).items():
            if given.names and name not in given.names:
                continue
            held = [client.persist(a) if dask.is_dask_collection(a) else a for a in args]
            arrays = [a for a in held if dask.is_dask_collection(a)]
            wait(arrays)
            whole = [np.array(a.compute()) if dask.is_dask_collection(a) else a for a in held]
            least = {"workers": float("inf"), "one process": float("inf")}
            for turn in range(TURNS + 1):  # the first compiles
                chunks = [
                    da.Array(a.dask, a.name, a.chunks, meta=a) if dask.is_dask_collection(a) else a
                    for a in held
                ]
                began = time.perf_counter()
                out = loops(*chunks)
                ends = [a for a in (out, *chunks) if dask.is_dask_collection(a)]
                blocks = len({key for a in ends for key in a.dask if "_line_" in str(key)})
                wait(client.persist(ends))
                seconds = {"workers": time.perf_counter() - began}
                began = time.perf_counter()
                loops(*whole)
                seconds["one process"] = time.perf_counter() - began
                if turn:
                    least = {side: min(least[side], value) for side, value in seconds.items()}
            least |= {
                "ratio": least["workers"] / least["one process"],
                "task": 2 * least["one process"] / blocks,
            }
            results[name] = least
            print(name, blocks, {side: round(value, 3) for side, value in least.items()}, flush=True)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
