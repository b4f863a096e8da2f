"""A stencil and a reduction over files of three times the memory that the process may have.

    python -m benchmarks.out_of_core [--json FILE] [--mebibytes 1536]

Dask's threaded scheduler with one thread streams chunks of a file through memory. Beside each program runs one that
only reads what it reads and writes what it writes, in turn, three times; ratios are of the least seconds. Before each
the system drops what it holds of the files, and each ends when what it has written is on the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dask
import dask.array as da
import numpy as np

import appyc

COLUMNS = 4096
ROWS_OF_A_CHUNK = 256
TURNS = 3


@appyc.jit
def smoothed(a, b):
    # pragma parallel for collapse(2)
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.25 * (a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])


@appyc.jit
def squares(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j] * a[i, j]
    return s


class Stored:
    """A matrix in a file, of which no more is mapped than what is asked for."""

    dtype, ndim = np.dtype(float), 2

    def __init__(self, name: Path, rows: int) -> None:
        self.name, self.shape = name, (rows, COLUMNS)

    def part(self, at: tuple[slice, slice], mode: str) -> np.ndarray:
        start, stop, _ = at[0].indices(self.shape[0])
        rows = np.memmap(self.name, float, mode, start * COLUMNS * 8, (stop - start, COLUMNS))  # type: ignore[call-overload]
        return rows[:, at[1]]  # type: ignore[no-any-return]

    def __getitem__(self, at: tuple[slice, slice]) -> np.ndarray:
        return np.array(self.part(at, "r"))

    def __setitem__(self, at: tuple[slice, slice], value: np.ndarray) -> None:
        self.part(at, "r+")[...] = value


def on_disk(*files: Stored) -> None:
    """Writes what the system holds of files, and lets it drop that."""
    for file in files:
        handle = os.open(file.name, os.O_RDWR)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def seconds(call: Callable[[int], object], rows: int, *files: Stored) -> float:
    on_disk(*files)
    began = time.perf_counter()
    call(rows)
    on_disk(*files)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.out_of_core", description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--mebibytes", type=int, default=1536, help="of each file")
    given = parser.parse_args()
    rows = given.mebibytes * (1 << 20) // (COLUMNS * 8) // ROWS_OF_A_CHUNK * ROWS_OF_A_CHUNK
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="threads", num_workers=1):
        source, target = (Stored(Path(folder, name), rows) for name in ("source", "target"))
        numbers = np.random.default_rng(1)
        with source.name.open("wb") as one, target.name.open("wb") as other:
            for _ in range(rows // ROWS_OF_A_CHUNK):
                part = numbers.random((ROWS_OF_A_CHUNK, COLUMNS))
                part.tofile(one)
                part.tofile(other)

        def read(count: int) -> da.Array:
            return da.from_array(source, chunks=(ROWS_OF_A_CHUNK, COLUMNS), name=False)[:count]

        def stencil(count: int) -> None:
            a = read(count)
            b = da.zeros(a.shape, chunks=a.chunks)
            smoothed(a, b)
            da.store(b, target, lock=False, regions=(slice(0, count), slice(0, COLUMNS)))

        programs: dict[str, tuple[Callable[[int], object], Callable[[int], object]]] = {
            "stencil": (
                stencil,
                lambda n: da.store(read(n), target, lock=False, regions=(slice(0, n), slice(0, COLUMNS))),
            ),
            "reduction": (
                lambda n: squares(read(n)).compute(),
                lambda n: dask.compute(*(part[:1, :1] for part in read(n).blocks)),
            ),
        }
        for pair in programs.values():
            for call in pair:
                call(3 * ROWS_OF_A_CHUNK)  # what is imported and compiled is no memory of the arrays
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit = now + given.mebibytes * (1 << 20) // 3
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        results = {}
        for name, pair in programs.items():
            times = [[seconds(call, rows, source, target) for call in pair] for _ in range(TURNS)]
            run, moved = (min(column) for column in zip(*times, strict=True))
            results[name] = {"seconds": run, "reading and writing": moved, "ratio": run / moved}
            print(name, {key: round(value, 3) for key, value in results[name].items()}, flush=True)
    if given.json:
        given.json.write_text(
            json.dumps({"mebibytes": given.mebibytes, "programs": results}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
