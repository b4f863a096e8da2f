"""The loops of tests/dependences beside the same loops in C, on one thread, in one process.

    python -m benchmarks.vectorise [--size N] [--only NAME ...] [--fastmath] [--json FILE]

The C is that of vectorise_loops.c, compiled with gcc -O3 -march=native -ffast-math; appyc's is
what `appyc.jit` generates with its own flags, which keep the order of floating-point
operations outside of reductions (--fastmath: with `fastmath=True`). Both kernels are called
from C, on fresh arguments every time, in turns; the least time of many counts. Before that
the results are compared. What a call from Python adds is benchmarks/dispatch.py's subject.

ratio: gcc's time by appyc's; above 1 appyc is faster.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from inspect import signature
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np

import appyc
from appyc.options import Options
from appyc.runtime import toolchain
from appyc.runtime.frame import Kernel, invoke
from tests.dependences.corpus import Loop
from tests.dependences.outcome import all_loops, outcome

SOURCE = Path(__file__).with_name("vectorise_loops.c")
GCC_FLAGS = ("-O3", "-march=native", "-ffast-math", "-fPIC", "-w")
SIZE = 32_000
ROUNDS = 5
SECONDS = 0.02
"""For each kernel in each round."""

TOLERANCE = 2e-3

_ARRAYS = ("a", "b", "c", "d", "e", "aa", "bb", "flat", "hist", "last", "perm", "some", "key", "out")


class _Arguments(ctypes.Structure):
    """`struct arguments` of vectorise_loops.c."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("n", "m", "k")),
        ("alpha", ctypes.c_float),
        *((name, ctypes.c_void_p) for name in _ARRAYS),
        ("results", ctypes.c_double * 4),
    ]


@dataclass(frozen=True)
class Row:
    """One loop, times in microseconds."""

    name: str
    family: str
    truth: str
    modes: str
    gcc: float
    appyc: float

    @property
    def ratio(self) -> float:
        return self.gcc / self.appyc


# ---------------------------------------------------------------- the two kernels


def load_c(folder: Path) -> ctypes.CDLL:
    """The loops in C. Linked without -ffast-math, whose start-up code changes denormals for all."""
    obj, library = folder / "loops.o", folder / "loops.so"
    subprocess.run(["gcc", *GCC_FLAGS, "-c", str(SOURCE), "-o", str(obj)], check=True)
    subprocess.run(["gcc", "-shared", str(obj), "-o", str(library), "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.time_loop.restype = ctypes.c_double
    return loaded


def record_of(loop: Loop, arguments: tuple[Any, ...], size: int) -> _Arguments:
    record = _Arguments(n=size, m=isqrt(size), k=1)
    for name, value in zip(signature(loop.fn).parameters, arguments, strict=True):
        setattr(record, name, value.ctypes.data if isinstance(value, np.ndarray) else value)
    return record


def kernel_of(loop: Loop, arguments: tuple[Any, ...], *, fastmath: bool) -> Kernel:
    jitted = appyc.jit(cache=False, target="cpu", fastmath=fastmath)(loop.fn)
    jitted(*(a.copy() if isinstance(a, np.ndarray) else a for a in arguments))
    return jitted.kernels[0]  # type: ignore[no-any-return]


@dataclass
class Sides:
    """Both kernels on one set of arguments, which `restore` makes what they were."""

    loop: Loop
    library: ctypes.CDLL
    kernel: Kernel
    size: int

    def __post_init__(self) -> None:
        self.arguments = self.loop.arguments(self.size)
        self.first = [a.copy() if isinstance(a, np.ndarray) else None for a in self.arguments]
        self.record = record_of(self.loop, self.arguments, self.size)
        self.in_c = getattr(self.library, self.loop.name)
        self.seconds = ctypes.c_double.in_dll(self.library, "kernel_seconds")
        clock = ctypes.cast(self.library.time_kernel, ctypes.c_void_p).value
        assert clock is not None
        self.timed = replace(self.kernel, address=clock)
        self.returned: object = None

    def restore(self) -> None:
        for now, first in zip(self.arguments, self.first, strict=True):
            if first is not None:
                np.copyto(now, first)

    def time_gcc(self) -> float:
        return float(self.library.time_loop(self.in_c, ctypes.byref(self.record)))

    def time_appyc(self) -> float:
        ctypes.c_void_p.in_dll(self.library, "timed_kernel").value = self.kernel.address
        self.returned = invoke(self.timed, self.arguments)
        return self.seconds.value

    def results_agree(self) -> bool:
        """Whether both leave the same arrays and results."""
        self.restore()
        self.time_gcc()
        wanted = [a.copy() if isinstance(a, np.ndarray) else None for a in self.arguments]
        self.restore()
        self.time_appyc()
        found = self.returned
        returned = found if isinstance(found, tuple) else () if found is None else (found,)
        pairs = [(w, a) for w, a in zip(wanted, self.arguments, strict=True) if w is not None]
        pairs += [(np.float64(self.record.results[k]), np.float64(r)) for k, r in enumerate(returned)]
        return all(_close(w, f) for w, f in pairs)


def _close(wanted: Any, found: Any) -> bool:
    scale = float(np.abs(np.asarray(wanted, float)).max(initial=1e-30))
    return bool((np.abs(np.asarray(wanted, float) - found) <= TOLERANCE * scale).all())


# ---------------------------------------------------------------- measurement


def least(sides: Sides) -> tuple[float, float]:
    """The least seconds of gcc's kernel and of appyc's."""
    best = [math.inf, math.inf]
    for _ in range(ROUNDS):
        for side, clock in enumerate((sides.time_gcc, sides.time_appyc)):
            best[side] = min(best[side], _least_of(sides, clock))
    return best[0], best[1]


def _least_of(sides: Sides, clock: Callable[[], float]) -> float:
    end, best = time.perf_counter() + SECONDS, math.inf
    while time.perf_counter() < end:
        sides.restore()
        best = min(best, clock())
    return best


def measure(loop: Loop, library: ctypes.CDLL, size: int, *, fastmath: bool) -> Row:
    kernel = kernel_of(loop, loop.arguments(size), fastmath=fastmath)
    sides = Sides(loop, library, kernel, size)
    if not sides.results_agree():
        raise AssertionError(f"{loop.name}: appyc's results are not those of the C")
    gcc, ours = least(sides)
    modes = ", ".join(outcome(loop).modes)
    return Row(loop.name, loop.family, loop.truth, modes, gcc * 1e6, ours * 1e6)


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def measurable(library: ctypes.CDLL) -> list[Loop]:
    """The loops without a pragma that are written in C too."""
    return [loop for loop in all_loops() if not loop.pragma and hasattr(library, loop.name)]


def summary(rows: list[Row]) -> dict[str, float]:
    run = [r.ratio for r in rows if any(mode != "sequential" for mode in r.modes.split(", "))]
    return {
        "loops": len(rows),
        "geometric_mean": geometric_mean([r.ratio for r in rows]),
        "loops_in_parallel": len(run),
        "geometric_mean_in_parallel": geometric_mean(run),
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--fastmath", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        library = load_c(Path(folder))
        for loop in measurable(library):
            if given.only and loop.name not in given.only:
                continue
            row = measure(loop, library, given.size, fastmath=given.fastmath)
            rows.append(row)
            times = f"{row.gcc:9.2f} {row.appyc:9.2f} {row.ratio:7.2f}"
            print(f"{row.name:24} {times}  {row.modes} ({row.truth})", flush=True)
    found = summary(rows)
    print(json.dumps(found))
    if given.json:
        flags = {"gcc": GCC_FLAGS, "appyc": toolchain.flags(Options(fastmath=given.fastmath))}
        record = {"size": given.size, "compiler": toolchain.compiler_id(), "flags": flags, **found}
        record["loops_measured"] = [{**asdict(row), "ratio": row.ratio} for row in rows]
        given.json.write_text(json.dumps(record, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
