"""Threads that share a loop leave the caller's processor to the caller."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, sys
import numpy as np
import appyc
from appyc.ir.machine_model import Machine
from appyc.runtime.machine_rates import using

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
    not sys.platform.startswith("linux") or len(os.sched_getaffinity(0)) < 2,
    reason="needs two processors",
)


def test_a_thread_leaves_the_callers_processor(tmp_path):
    assert missing(2, tmp_path) == "[1]"


def test_more_threads_than_processors_run_where_they_like(tmp_path):
    assert missing(len(os.sched_getaffinity(0)) + 1, tmp_path) == "[]"


SHARED = """
import os, signal, sys, threading
import numpy as np
import appyc
from appyc.ir.machine_model import Machine
from appyc.runtime.machine_rates import using

@appyc.jit(cache=False)
def sums(a, rows):
    # pragma parallel for
    for i in range(a.shape[0]):
        rows[i] = a[i].sum()

@appyc.jit(cache=False)
def triangle(a, rows):
    # pragma parallel for schedule(dynamic, 1)
    for i in range(a.shape[0]):
        total = 0.0
        for k in range(i):
            total += a[i, k]
        rows[i] = total

signal.alarm(60)
always = Machine(vector=10.0, scalar=10.0, fork=1.0, wake=1.0)
a = np.arange(40_000.0).reshape(200, 200)
expected = a.sum(axis=1), np.tril(a, -1).sum(axis=1)

def check(calls):
    for _ in range(calls):
        for f, right in zip((sums, triangle), expected):
            rows = np.zeros(200)
            f(a, rows)
            np.testing.assert_allclose(rows, right)
"""


def run(text: str) -> None:
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def written(folder: Path, end: str) -> str:
    program = folder / "shared.py"
    program.write_text(SHARED + end)
    return f"import runpy; runpy.run_path({str(program)!r})"


def test_threads_of_python_may_share_loops_at_a_time(tmp_path):
    run(written(tmp_path, """
appyc.set_num_threads(3)
with using(always):
    check(1)
    failed = []
    def caught():
        try:
            check(150)
        except BaseException as error:
            failed.append(error)
    callers = [threading.Thread(target=caught) for _ in range(4)]
    for caller in callers: caller.start()
    for caller in callers: caller.join()
    assert not failed, failed[0]
"""))  # fmt: skip


def test_a_forked_child_may_have_threads_again(tmp_path):
    run(written(tmp_path, """
appyc.set_num_threads(4)
with using(always):
    check(3)
    child = os.fork()
    if child == 0:
        appyc.set_num_threads(3)
        check(3)
        os._exit(0 if len(os.listdir("/proc/self/task")) >= 3 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    check(3)
"""))  # fmt: skip


def test_more_threads_than_the_system_grants_are_not_waited_for(tmp_path):
    run(written(tmp_path, """
import resource
appyc.set_num_threads(64)
check(1)  # the compiler needs processes
resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))  # the stacks of 64 threads do not fit
with using(always):
    check(3)
"""))  # fmt: skip


def test_kernels_call_no_library_of_threads(tmp_path):
    run(written(tmp_path, """
check(1)
assert "libgomp" not in "".join(line for line in open("/proc/self/maps") if "kernel" in line)
kernels = [line.split()[-1] for line in open("/proc/self/maps") if line.rstrip().endswith(".so") and "kernel" in line]
import subprocess
for kernel in set(kernels):
    symbols = subprocess.run(["nm", "-D", "--undefined-only", kernel], capture_output=True, text=True).stdout
    assert "GOMP" not in symbols and "omp_" not in symbols, symbols
"""))  # fmt: skip


def test_a_call_beside_another_takes_idle_threads_alone(tmp_path):
    run(
        written(
            tmp_path,
            """
import time

@appyc.jit(cache=False)
def steps(out, count):
    out[0] = 1
    s = 1
    for _ in range(count):
        s = s * 3 % 1000003
    out[1] = s

def threads():
    return len(os.listdir("/proc/self/task"))

with using(always):
    out = np.zeros(2, np.int64)
    appyc.set_num_threads(1)
    check(1)
    steps(out, 1)
    appyc.set_num_threads(2)
    out[:] = 0
    before = threads()
    beside = threading.Thread(target=steps, args=(out, 300_000_000))
    beside.start()
    while not out[0]:
        time.sleep(0.001)
    check(3)
    assert out[1] == 0, "the other call has ended"
    assert threads() == before + 1, "of the two threads none was idle"
    beside.join()
    until = time.monotonic() + 20
    while threads() <= before and time.monotonic() < until:  # a team that is crowded leaves loops to the caller
        check(1)
    assert threads() == before + 1, "alone, a call has both"
""",
        )
    )
