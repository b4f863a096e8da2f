"""Threads that share a loop leave the caller's processor to the caller."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from appyc.runtime.dispatch import has_compiled_dispatch

PROGRAM = """
import os, sys
import numpy as np
import appyc
from appyc.ir.machine import Machine
from appyc.runtime.machine import using

@appyc.jit(cache=False)
def scaled(a, b):
    # pragma parallel for
    for i in range(a.shape[0]):
        b[i] = np.sin(a[i]) * 2.0

appyc.set_num_threads(int(sys.argv[1]))
allowed = os.sched_getaffinity(0)
a = np.ones(2_000_000)
with using(Machine(vector=10.0, scalar=10.0, fork=1.0, wake=1.0)):  # threads pay, however busy this one is
    for _ in range(3):
        scaled(a, np.empty_like(a))
assert os.sched_getaffinity(0) == allowed, "the caller was bound"
bound = [os.sched_getaffinity(int(task)) for task in os.listdir("/proc/self/task")]
print(sorted(len(allowed) - len(found) for found in bound if found != allowed))
"""


def missing(threads: int, folder: Path) -> str:
    """How many processors each thread of the process that may not run everywhere leaves out."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), str(threads)], capture_output=True, text=True, check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


pytestmark = pytest.mark.skipif(
    not has_compiled_dispatch() or not sys.platform.startswith("linux") or len(os.sched_getaffinity(0)) < 2,
    reason="needs the compiled dispatcher, and two processors",
)


def test_a_thread_leaves_the_callers_processor(tmp_path):
    assert missing(2, tmp_path) == "[1]"


def test_more_threads_than_processors_run_where_they_like(tmp_path):
    assert missing(len(os.sched_getaffinity(0)) + 1, tmp_path) == "[]"
