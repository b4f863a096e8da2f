"""What tuning gains over the compiler's own schedules, on kernels of PolyBench and a transposition.

    python -m benchmarks.tuning [KERNEL ...] [--seconds 8] [--json FILE]

One thread; times, and the seconds of the search, are processor time of it, which other programs on the machine do not
share in.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import appyc
from benchmarks.machine import write_rows
from benchmarks.polybench.suite import KERNELS

DATASETS = {
    "atax": "LARGE",
    "mvt": "LARGE",
    "trmm": "MEDIUM",
    "doitgen": "MEDIUM",
    "deriche": "MEDIUM",
    "nussinov": "MEDIUM",
    "transposed": "1500",
}
"""At which a call takes some milliseconds."""


def transposed(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", default=[*DATASETS])
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    os.environ["APPYC_CACHE_DIR"] = tempfile.mkdtemp(prefix="appyc-tuning-")
    appyc.set_num_threads(1)
    rows = []
    for name in options.kernels:
        dataset = DATASETS.get(name, "MEDIUM")
        if name == "transposed":
            function, given = appyc.jit(transposed), {"a": np.ones((1500, 1500)), "b": np.ones((1500, 1500))}
        else:
            function, given = KERNELS[name].loops, KERNELS[name].arguments("random", dataset)
        found = function._tuned((), given, options.seconds, time.thread_time)
        print(found, flush=True)
        trials = [{"change": t.change, "time": t.time, "refused": t.refused} for t in found.trials]
        rows.append({
            "kernel": name, "dataset": dataset, "default_seconds": found.default_seconds,
            "speedup": found.speedup, "margin": found.margin, "schedule": found.schedule, "trials": trials,
        })  # fmt: skip
        if options.json:
            write_rows(options.json, f"python -m benchmarks.tuning --seconds {options.seconds:g}", rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
