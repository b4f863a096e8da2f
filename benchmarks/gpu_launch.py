"""What the host does for launches of GPU kernels, with a driver that does nothing. No GPU is needed.

    python -m benchmarks.gpu_launch [--json FILE]

Microseconds of processor time, the least of several rounds: for a call of a function with one kernel, and for one more
launch in a program, by the slope between few and many steps of a time loop.

    call        a call with the same arrays each time
    shapes      with arrays of other shapes each time
    numpy       with arrays of the host, whose copies are NumPy's
    same        a launch with the arguments of the last time, in a program that no graph can hold
    other       a launch with other arguments each time
    graph       a launch in a loop that becomes a CUDA graph
"""

from __future__ import annotations

import argparse
import ctypes
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import appyc
from appyc.runtime.toolchain import find_compiler
from benchmarks.machine import write_results
from tests import stand_in_cupy

SIZE = 4096
FEW, MANY = 200, 2200
CALLS = 1000
ROUNDS = 7


def one_kernel(steps, a, b):
    for i in range(1, a.shape[0] - 1):
        b[i] = 0.5 * (a[i - 1] + a[i + 1])


def graph(steps, a, b):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        for i in range(1, a.shape[0] - 1):
            a[i] = 0.5 * (b[i - 1] + b[i + 1])


def other(steps, a, b):
    for t in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1]) + t
        for i in range(1, a.shape[0] - 1):
            a[i] = 0.5 * (b[i - 1] + b[i + 1]) - t


def more(steps, a, b):
    for t in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1]) + t
        for i in range(1, a.shape[0] - 1):
            a[i] = 0.5 * (b[i - 1] + b[i + 1]) - t
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])


def least(call: Callable[[], object]) -> float:
    """Seconds of processor time."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def driver_without_work() -> int:
    """The address of a function in C that returns 0."""
    with TemporaryDirectory() as folder:
        library = Path(folder) / "driver.so"
        command = [*shlex.split(find_compiler()), "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
        subprocess.run(command, input="int launch(void) { return 0; }", text=True, check=True)
        function = ctypes.CDLL(str(library)).launch
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


def measured() -> dict[str, float]:
    """Microseconds of each case."""
    out = {}
    with stand_in_cupy.installed() as cupy:
        cupy.cuda.driver.launch_address = driver_without_work()
        pairs = [(cupy.zeros(size), cupy.zeros(size)) for size in range(SIZE, SIZE + CALLS)]
        for array in chain(*pairs):  # an attribute of CuPy's takes no call in Python
            array.data = SimpleNamespace(ptr=array.data.ptr, memory=array.data.memory, offset=0)
        call = appyc.jit(one_kernel, target="gpu", cache=False)
        same, host = [pairs[0]] * CALLS, [(np.zeros(SIZE), np.zeros(SIZE))] * CALLS
        for case, given in (("call", same), ("shapes", pairs), ("numpy", host)):
            call(1, *given[0])
            out[case] = least(lambda given=given: [call(1, a, b) for a, b in given]) / CALLS * 1e6
        each = {}
        a, b = pairs[0]
        for fn in (graph, other, more):
            steps = appyc.jit(fn, target="gpu", cache=False)
            steps(3, a, b)
            few, many = (least(partial(steps, n, a, b)) for n in (FEW, MANY))
            each[fn] = (many - few) / (MANY - FEW) * 1e6
    return {**out, "same": each[more] - each[other], "other": each[other] / 2, "graph": each[graph] / 2}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    found: dict[str, Any] = measured()
    table = Table("case", "microseconds")
    for case, each in found.items():
        table.add_row(case, f"{each:.2f}")
    Console().print(table)
    if options.json:
        write_results(options.json, {"command": "python -m benchmarks.gpu_launch", "microseconds": found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
