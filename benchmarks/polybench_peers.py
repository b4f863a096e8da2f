"""PolyBench's loops beside other compilers, on one program text.

    python -m benchmarks.polybench_peers [KERNEL ...] [--dataset LARGE] [--rounds 3] [--one-thread] [--json FILE]

numpy: the reference, in operations of whole arrays. appyc: as it is called without options. numba: `njit(fastmath)` of
the text, and with the marked loops as `prange`; pythran: one thread; c: each statement in C
(`benchmarks/polybench_c.py`), one thread, and OpenMP; both with fast math. All compile for this processor. The better
of a compiler's two ways counts. All take turns, and the least time counts; a way whose first run takes longer than
--limit is not run again, and one that is not there, or whose results are not NumPy's, has no time.
"""

from __future__ import annotations

import argparse
import ctypes
import linecache
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
from rich.console import Console
from rich.table import Table

import appyc
from benchmarks.machine import write_rows
from benchmarks.polybench.kernel import DATASETS, Arguments, Kernel
from benchmarks.polybench.measure import Device, copied
from benchmarks.polybench.suite import KERNELS
from benchmarks.polybench_c import c_text, parallel_lines, text_of
from benchmarks.pythran_peer import pythran_form

Loops: TypeAlias = Callable[..., None]
Peer: TypeAlias = Callable[[Kernel, Arguments, Path], Loops]

FAST = (
    "-O3", "-march=native", "-fno-math-errno", "-fno-signed-zeros", "-fno-trapping-math", "-fassociative-math",
    "-freciprocal-math", "-ffinite-math-only",
)  # fmt: skip
"""-Ofast, but for what it does to the process that loads the library: numbers near 0 become 0 in all code."""

ALLOWED = 1e3
"""Times the error that a kernel's results may have, since peers compute with fast math."""


def _appyc(kernel: Kernel, given: Arguments, folder: Path) -> Loops:
    compiled = appyc.jit(kernel.loops.py_func, target="cpu")
    compiled.compile(*given.values())
    return compiled  # type: ignore[no-any-return]


def _numba(kernel: Kernel, given: Arguments, folder: Path, *, parallel: bool = False) -> Loops:
    import numba  # noqa: PLC0415  (an optional peer)

    text = text_of(kernel.loops)
    if parallel:
        text = _with_parallel_loops(text)
    names = {"np": np, "prange": numba.prange}
    file = f"<{kernel.name} for Numba, {parallel}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec"), names)
    jitted = numba.njit(fastmath=True, parallel=parallel)(names["loops"])
    jitted.compile(tuple(map(numba.typeof, given.values())))
    return jitted  # type: ignore[no-any-return]


def _numba_threads(kernel: Kernel, given: Arguments, folder: Path) -> Loops:
    return _numba(kernel, given, folder, parallel=True)


def _pythran(kernel: Kernel, given: Arguments, folder: Path) -> Loops:
    return pythran_form(text_of(kernel.loops), "loops", list(given.values()), folder, *FAST)


def _c(kernel: Kernel, given: Arguments, folder: Path, *, openmp: bool = False) -> Loops:
    name = f"{kernel.name}{'_openmp' if openmp else ''}"
    file, built = folder / f"{name}.c", folder / f"{name}.so"
    file.write_text(c_text(kernel.loops, given))
    flags = [*FAST, "-std=gnu11", "-shared", "-fPIC", *(["-fopenmp"] if openmp else [])]
    subprocess.run(["cc", *flags, str(file), "-o", str(built), "-lm"], check=True, capture_output=True)
    loops = ctypes.CDLL(str(built)).loops
    loops.restype = None

    def call(*arguments: Any) -> None:
        passed: list[Any] = []
        for value in arguments:
            if np.ndim(value):
                passed += [ctypes.c_void_p(value.ctypes.data), *map(ctypes.c_long, value.shape)]
            else:
                kinds = {"int": ctypes.c_long, "float": ctypes.c_double, "float32": ctypes.c_float}
                passed.append(kinds[type(value).__name__](value))
        loops(*passed)

    return call


def _c_threads(kernel: Kernel, given: Arguments, folder: Path) -> Loops:
    return _c(kernel, given, folder, openmp=True)


PEERS: dict[str, tuple[Peer, ...]] = {
    "appyc": (_appyc,),
    "numba": (_numba, _numba_threads),
    "pythran": (_pythran,),
    "c": (_c, _c_threads),
}


def _with_parallel_loops(text: str) -> str:
    """The text with `prange` in its parallel loops."""
    marked = parallel_lines(text)
    lines = enumerate(text.split("\n"), 1)
    return "\n".join(line.replace("in range(", "in prange(") if at in marked else line for at, line in lines)


def measure(
    kernel: Kernel, dataset: str, rounds: int, limit: float, peers: Mapping[str, Sequence[Peer]]
) -> dict[str, Any]:
    """A row: the least seconds of each way, None for one that is wrong, and the reason for each that is missing."""
    given, device = kernel.arguments("polybench", dataset), Device("cpu")
    ways: dict[str, Loops] = {"numpy": kernel.numpy_version}
    missing: dict[str, str] = {}
    with TemporaryDirectory() as name:
        for make in (make for forms in peers.values() for make in forms):
            try:
                ways[make.__name__[1:]] = make(kernel, given, Path(name))
            except Exception as error:  # noqa: BLE001  (compilers' errors are many)
                missing[make.__name__[1:]] = f"{type(error).__name__}: {str(error)[:200]}"
    least: dict[str, float] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        reference = copied(given)
        kernel.numpy_version(**reference)
        for number in range(rounds):
            for way, call in ways.items():
                if way in missing or least.get(way, 0.0) > limit:
                    continue
                seconds, result = device.timed(kernel, call, given)
                if not number and not kernel.error(reference, result) <= ALLOWED * kernel.allowed_error(
                    "polybench"
                ):
                    missing[way] = "another result"
                    continue
                least[way] = min(seconds, least.get(way, seconds))
    return {"kernel": kernel.name, "seconds": least, "missing": missing}


def best(row: Mapping[str, Any], peer: str) -> float | None:
    """The least seconds of a compiler's ways."""
    ways = [make.__name__[1:] for make in PEERS[peer]] if peer in PEERS else [peer]
    return min((row["seconds"][way] for way in ways if way in row["seconds"]), default=None)


def _printed(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """The table: milliseconds of appyc, and how many times as long each other takes."""
    table = Table("kernel", "appyc", *(f"{name} / appyc" for name in names), header_style="bold")
    ratios: dict[str, list[float]] = {name: [] for name in names}
    for row in rows:
        own, cells = best(row, "appyc"), []
        for name in names:
            other = best(row, name)
            if own is None or other is None:
                cells.append("-")
                continue
            ratios[name].append(other / own)
            cells.append(f"{other / own:.2f}")
        table.add_row(row["kernel"], "-" if own is None else f"{1e3 * own:.3f} ms", *cells)
    means = [f"{np.exp(np.mean(np.log(found))):.2f}" if found else "-" for found in ratios.values()]
    table.add_row("geometric mean", "", *means)
    Console().print(table)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", choices=[[], *KERNELS])
    parser.add_argument("--dataset", choices=DATASETS, default="LARGE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=5.0, help="seconds; a slower way runs once")
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument(
        "--one-thread", action="store_true", help="of all ways (NumPy's: OPENBLAS_NUM_THREADS=1)"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    peers = {name: PEERS[name] for name in ("appyc", *options.peers)}
    if options.one_thread:
        appyc.set_num_threads(1)
        peers = {name: ways[:1] for name, ways in peers.items()}
    rows = []
    for kernel in KERNELS.values():
        if options.kernels and kernel.name not in options.kernels:
            continue
        rows.append(row := measure(kernel, options.dataset, options.rounds, options.limit, peers))
        print(row["kernel"], *(f"{way} {1e3 * s:.3f} ms" for way, s in row["seconds"].items()), row["missing"] or "",
              flush=True)  # fmt: skip
    _printed(rows, ["numpy", *(peer for peer in peers if peer != "appyc")])
    if options.json is not None:
        numbers = f"--dataset {options.dataset} --rounds {options.rounds} --limit {options.limit}"
        command = f"python -m benchmarks.polybench_peers {numbers}{' --one-thread' * options.one_thread}"
        write_rows(options.json, command, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
