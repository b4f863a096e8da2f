"""The memory of recorded programs: no more than NumPy has for the same."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy
import pytest

import appyc.numpy as np
from appyc.lazy.running import flush
from tests.lazy.fuzz import compiling

SCRIPT = """
import {module} as np

def chain(n, shifts):
    x, y = np.ones(n), np.ones(n)
    for _ in range(3):
        a = x * 2.0 + y
        b = np.sqrt(a) - x
        c = np.where(b > 0, b, a)
        x = c / 2.0 + a
        if shifts:
            x[1:] += y[:-1]
        y = np.minimum(x, 1.0 / (1.0 + b * b))
    return float((x + y).sum())

def size(key):
    (line,) = [l for l in open("/proc/self/status") if l.startswith(key)]  # ru_maxrss may be the parent's
    return int(line.split()[1]) // 1024

for shifts in (False, True):
    for n in (2_300_000,) * 3:  # compiled by now, and it is known what goes unread
        print(chain(n, shifts))
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the largest size is what it is now
    before = size("VmRSS")
    for n in (2_400_000, 2_500_000):
        print(chain(n, shifts))
    print(size("VmHWM") - before)
"""


def grown(module: str, **environ: str) -> tuple[list[float], tuple[int, int]]:
    """What the script prints, and by how many MiB its process has grown at its largest, with arrays of 19 MiB: in a
    chain of operations place by place, and in one that reads its neighbours."""
    text = SCRIPT.format(module=module)
    given = {**os.environ, "APPYC_KEPT_BYTES": "0", **environ}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, env=given)
    values = [float(v) for v in done.stdout.split()]
    return [*values[:5], *values[6:11]], (int(values[5]), int(values[11]))


@pytest.mark.skipif(
    sys.platform != "linux", reason="the largest size of a process is counted otherwise elsewhere"
)
def test_chains_of_operations_take_no_more_memory_than_in_numpy() -> None:
    wanted, theirs = grown("numpy")
    found, ours = grown("appyc.numpy")
    assert found == pytest.approx(wanted)
    assert all(100 < n < 200 for n in theirs)  # six arrays and more are alive at one time
    assert ours[0] < 30  # none of them is stored
    assert ours[1] < theirs[1] - 20  # most are, and give their memory back when nobody needs them any more


@pytest.mark.skipif(
    sys.platform != "linux", reason="the largest size of a process is counted otherwise elsewhere"
)
def test_arrays_that_are_gone_give_their_memory_to_results() -> None:
    """Where a chain does not fit between two flushes, each of them reads and makes several arrays."""
    _, theirs = grown("numpy")
    _, ours = grown("appyc.numpy", APPYC_RECORDED_BYTES=str(1 << 26))
    assert ours[0] < theirs[0] * 1.1
    assert ours[1] < theirs[1] * 1.25


@pytest.mark.parametrize("holder", ["name", "view", "seen", "library", "left"])
def test_an_array_that_somebody_may_look_at_keeps_its_memory(holder: str) -> None:
    with compiling("cpu", worth=0):
        x = np.arange(6.0) * 2.0
        flush()
        held = {
            "name": lambda: x,
            "view": lambda: x[2:],
            "seen": lambda: numpy.asarray(x),
            "library": lambda: numpy.asarray(x)[::2],
            "left": lambda: x - 1.0,
        }[holder]()
        before = numpy.array(held) if holder != "left" else numpy.arange(6.0) * 2.0 - 1.0
        x = x + 1.0
        y = float(x.sum()) if holder == "left" else flush()  # which leaves the difference for later
        assert y in (None, 36.0)
        assert x.tolist() == [1, 3, 5, 7, 9, 11]
        assert numpy.array_equal(numpy.asarray(held), before)
