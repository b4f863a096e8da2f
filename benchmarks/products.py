"""Products of matrices on one core: in NumPy's BLAS called from compiled code, in compiled loops, and by NumPy.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.products [--dataset LARGE] [--rounds 5] [--json FILE] [KERNEL ...]

The PolyBench kernels with products in them, as loops. All three take turns in one process; what counts is the
least processor time of the thread, which other programs on the machine do not share in, though they take a part of
its caches and of its memory's rate.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import appyc
from benchmarks.machine import describe

KERNELS = ("gemm", "k2mm", "k3mm", "syrk", "syr2k", "symm", "trmm", "covariance", "correlation")


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
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        parser.error("set OPENBLAS_NUM_THREADS=1: the time of one thread is measured")
    appyc.set_num_threads(1)
    rows = []
    for name in options.kernels:
        rows.append(measure(name, options.dataset, options.rounds))
        took = rows[-1]["seconds"]
        print(f"{rows[-1]['kernel']:12s} NumPy {took['numpy'] * 1e3:8.2f} ms   appyc {took['appyc'] * 1e3:8.2f} ms "
              f"({took['numpy'] / took['appyc']:.2f}x)   in loops {took['loops'] * 1e3:8.2f} ms",
              flush=True)  # fmt: skip
    if options.json:
        content = {
            "command": f"OPENBLAS_NUM_THREADS=1 python -m benchmarks.products --dataset {options.dataset} "
            f"--rounds {options.rounds}",
            "machine": asdict(describe("cpu")),
            "load": os.getloadavg()[0],
            "rows": rows,
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
