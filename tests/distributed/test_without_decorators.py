"""`appyc.autojit` and scripts over chunked arrays: loops become tasks, the rest runs in Python."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import appyc

da = pytest.importorskip("dask.array")


def doubled(a, b):
    for i in range(a.shape[0]):
        b[i] = 2.0 * a[i]


def labelled(a, names):
    for name in names:
        print(name, a.sum().compute())


def test_loops_become_tasks():
    automatic = appyc.autojit(doubled)
    a, b = da.ones(12, chunks=5), da.zeros(12, chunks=5)
    automatic(a, b)
    assert b.compute().tolist() == [2.0] * 12
    assert sum("doubled_line_" in str(key) for key in b.__dask_graph__()) == 3
    assert "tasks over chunks" in automatic.summary()


def test_what_cannot_be_distributed_runs_in_python(capsys):
    automatic = appyc.autojit(labelled)
    automatic(da.ones(6, chunks=4), ["one", "two"])
    assert capsys.readouterr().out == "one 6.0\ntwo 6.0\n"
    assert "runs in Python" in automatic.summary()


def test_a_script_is_changed_in_what_opens_the_array_alone(tmp_path):
    np.arange(40.0).tofile(tmp_path / "numbers")
    script = tmp_path / "script.py"
    script.write_text(f"""import sys
import numpy as np

def smoothed(a, b):
    for i in range(1, a.shape[0] - 1):
        b[i] = 0.5 * (a[i - 1] + a[i + 1])

def total(b):
    s = 0.0
    for i in range(b.shape[0]):
        s += b[i]
    return s

a, b = np.memmap({str(tmp_path / "numbers")!r}, float, "r"), np.zeros(40)
if len(sys.argv) > 1:
    import dask.array as da
    a, b = da.from_array(a, chunks=9), da.from_array(b, chunks=9)
smoothed(a, b)
print(float(total(b)), type(b).__name__)
""")
    runs = [
        subprocess.run(
            [sys.executable, "-m", "appyc", "run", str(script), *more],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for more in ([], ["chunked"])
    ]
    assert runs == ["741.0 ndarray\n", "741.0 Array\n"]
