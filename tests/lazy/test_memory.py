"""The memory of recorded programs: no more than NumPy has for the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

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

def peak():
    (line,) = [l for l in open("/proc/self/status") if l.startswith("VmHWM")]  # ru_maxrss may be the parent's
    return int(line.split()[1]) // 1024

for shifts in (False, True):
    for n in (1000, 100_000, 300_000):  # compiled by now
        print(chain(n, shifts))
    before = peak()
    for n in (2_400_000, 2_500_000):
        print(chain(n, shifts))
    print(peak() - before)
"""


def grown(module: str) -> tuple[list[float], tuple[int, int]]:
    """What the script prints, and by how many MiB its process has grown at its largest, with arrays of 19 MiB: in a
    chain of operations place by place, and (beyond that) in one that reads its neighbours."""
    text = SCRIPT.format(module=module)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    values = [float(v) for v in done.stdout.split()]
    return [*values[:5], *values[6:11]], (int(values[5]), int(values[11]))


@pytest.mark.skipif(
    sys.platform != "linux", reason="the largest size of a process is counted otherwise elsewhere"
)
def test_chains_of_operations_take_no_more_memory_than_in_numpy() -> None:
    wanted, (theirs, more) = grown("numpy")
    found, (ours, with_shifts) = grown("appyc.numpy")
    assert found == pytest.approx(wanted)
    assert 100 < theirs < 200  # six arrays and more are alive at one time
    assert more < 20
    assert ours < 30  # none of them is stored
    assert (
        ours + with_shifts < theirs - 20
    )  # most are, and give their memory back when nobody needs them any more
