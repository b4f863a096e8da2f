"""The functions that an installed package has Numba compile, compiled by appyc: results beside Python's, times beside
Numba's, in one process.

    python -m benchmarks.jitted_packages PACKAGE DRIVER.py [--json FILE]

The driver is a program that uses the package on small data, `benchmarks/drivers/stumpy_driver.py` for one. It runs
with the package's `njit` functions in Python, and CALLS calls of each are kept with their arguments and results. Each
is then made again by Numba and by appyc. `prange` is appyc's, which proves loops parallel. Jitted closures are left
out, and what a function leaves in arrays that nothing filled differs.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import pickle
import runpy
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np

import appyc

CALLS = 3
LEAST_SECONDS = 0.2
"""Of a measurement, in which the least time counts."""


class Recorded:
    """A function that runs in Python, and its first calls. options: what `njit` was given."""

    def __init__(self, fn: FunctionType, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, fn)
        self.py_func, self.options = fn, options
        self.calls: list[tuple[bytes, bytes]] = []

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if len(self.calls) == CALLS:
            return self.py_func(*args, **keywords)
        given = pickle.dumps((args, keywords))
        out = self.py_func(*args, **keywords)
        self.calls.append((given, pickle.dumps((out, args))))
        return out


def recorded(package: str, driver: Path) -> list[Recorded]:
    """The package's jitted functions that the driver has called."""
    found: list[Recorded] = []

    def njit(*given: Any, **options: Any) -> Any:
        if not (given and isinstance(given[0], FunctionType)):
            return lambda fn: njit(fn, **options)
        if given[0].__module__.partition(".")[0] != package or "<locals>" in given[0].__qualname__:
            return given[0]
        found.append(Recorded(given[0], options))
        return found[-1]

    theirs = numba.njit, numba.jit
    numba.njit = numba.jit = njit
    try:
        runpy.run_path(str(driver), run_name="__main__")
    finally:
        numba.njit, numba.jit = theirs
    return found


def by_numba(found: Recorded) -> Callable[..., Any]:
    options = {name: value for name, value in found.options.items() if name != "cache"}
    return numba.njit(**options)(found.py_func)


def by_appyc(found: Recorded) -> Callable[..., Any]:
    return appyc.jit(fastmath=bool(found.options.get("fastmath")))(found.py_func)


def globals_of(package: str) -> list[tuple[ModuleType, str, object]]:
    """Where the package's modules name jitted functions and `prange`."""
    modules = [m for name, m in sys.modules.items() if name.partition(".")[0] == package]
    return [
        (module, name, value)
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Recorded) or value is numba.prange
    ]


def measure(call: bytes, fn: Callable[..., Any], wanted: bytes) -> dict[str, Any]:
    """The first and the least time of a call, and whether it does what Python does."""
    args, keywords = pickle.loads(call)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", appyc.FallbackWarning)
            out = fn(*args, **keywords)
    except (appyc.CompileError, numba.core.errors.NumbaError) as error:
        return {"status": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
    first = time.perf_counter() - start
    is_right = same((out, args), pickle.loads(wanted))
    in_python = [str(w.message).splitlines()[0] for w in caught if w.category is appyc.FallbackWarning]
    times: list[float] = []
    while len(times) < 3 or (sum(times) < LEAST_SECONDS and len(times) < 200):
        args, keywords = pickle.loads(call)
        start = time.perf_counter()
        fn(*args, **keywords)
        times.append(time.perf_counter() - start)
    status = "differs" if not is_right else in_python[0] if in_python else "right"
    return {"status": status, "first": first, "seconds": min(times)}


def same(one: Any, other: Any) -> bool:
    if isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(other, np.ndarray | np.number | float | complex):
        one, other = np.asarray(one), np.asarray(other)
        few_bits = min(one.dtype.itemsize, other.dtype.itemsize) < 8
        close = {"rtol": 1e-4, "atol": 1e-5} if few_bits else {"rtol": 1e-7, "atol": 1e-7}
        return one.shape == other.shape and bool(np.allclose(one, other, equal_nan=True, **close))
    return bool(one == other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package")
    parser.add_argument("driver", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = [one for one in recorded(options.package, options.driver) if one.calls]
    names = globals_of(options.package)
    rows: dict[str, dict[str, Any]] = {}
    for maker, make in (("numba", by_numba), ("appyc", by_appyc)):
        made = {id(one): make(one) for *_, one in names if isinstance(one, Recorded)}
        made |= {id(one): make(one) for one in found if id(one) not in made}
        for module, name, value in names:
            other = appyc.prange if maker == "appyc" else numba.prange
            setattr(module, name, made.get(id(value), other))
        for one in found:
            for number, (call, wanted) in enumerate(one.calls):
                row = rows.setdefault(f"{one.py_func.__module__}.{one.py_func.__qualname__}.{number}", {})
                row[maker] = measure(call, made[id(one)], wanted)
    ratios = []
    for name, row in sorted(rows.items()):
        here, there = row["appyc"], row["numba"]
        if "seconds" in here and "seconds" in there:
            ratios.append(there["seconds"] / here["seconds"])
        print(f"{name:70} {here['status'][:60]:60} {ratios[-1] if 'seconds' in here else math.nan:8.2f}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"times of Numba over those of appyc, geometric mean of {len(ratios)} calls: {mean:.2f}")
    if options.json is not None:
        command = f"python -m benchmarks.jitted_packages {options.package} {options.driver}"
        options.json.write_text(
            json.dumps({"command": command, "mean": mean, "calls": rows}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
