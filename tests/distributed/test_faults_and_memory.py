"""A worker that is killed costs its tasks' time; arrays may be larger than memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import appyc
from tests.memory import keeping

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@appyc.jit
def smoothed(steps, a, b):
    for _ in range(steps):
        # pragma parallel for collapse(2)
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        # pragma parallel for collapse(2)
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = b[i, j]


def test_a_killed_worker_changes_nothing():
    distributed = pytest.importorskip("distributed")
    steps, values = 6, np.random.default_rng(1).random((60, 60))
    a, b = da.from_array(values, 20), da.zeros((60, 60), chunks=20)
    smoothed.py_func(steps, values, np.zeros((60, 60)))
    smoothed(steps, a, b)
    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        processes = client.run(os.getpid)
        future = client.compute(a)
        while not any(client.has_what().values()):
            time.sleep(0.01)
        assert not future.done()
        os.kill(min(processes.values()), signal.SIGKILL)
        np.testing.assert_array_equal(future.result(), values)


OUT_OF_CORE = """
import resource, sys
import dask, numpy as np, dask.array as da
sys.path.insert(0, {folder!r})
from test_faults_and_memory import smoothed

class Stored:
    dtype, ndim = np.dtype(float), 2

    def __init__(self, name, mode):
        self.name, self.shape = name, ({rows}, 1024)
        np.memmap(name, float, mode, shape=self.shape)

    def part(self, at, mode):
        start, stop, _ = at[0].indices(self.shape[0])
        return np.memmap(self.name, float, mode, shape=(stop - start, 1024), offset=start * 1024 * 8)[:, at[1]]

    def __getitem__(self, at):
        return np.array(self.part(at, "r"))

    def __setitem__(self, at, value):
        self.part(at, "r+")[...] = value

def run(rows, source, target):
    a = da.from_array(source, chunks=(512, 1024))[:rows]
    b = da.zeros(a.shape, chunks=a.chunks)
    smoothed(1, a, b)
    with dask.config.set(scheduler="threads", num_workers=1):
        da.store(a, target, lock=False, return_stored=False, regions=(slice(0, rows), slice(0, 1024)))

source, target = Stored({one!r}, "r"), Stored({two!r}, "w+")
run(1024, source, target)  # what is imported and compiled is no memory of the arrays
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + {limit}, now + {limit}))
run({rows}, source, target)
"""


def test_arrays_larger_than_memory(tmp_path):
    rows, limit = 24 * 1024, 64 << 20  # 192 MiB an array
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    values = np.random.default_rng(1).random((rows, 1024))
    values.tofile(one)
    text = OUT_OF_CORE.format(folder=os.path.dirname(__file__), rows=rows, one=one, two=two, limit=limit)
    environment = os.environ | {"PYTHONPATH": os.getcwd(), "APPYC_COMPILE_WAIT": "inf"}
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    inside = 0.25 * (values[1:-1, :-2] + values[1:-1, 2:] + values[2:, 1:-1] + values[:-2, 1:-1])
    np.testing.assert_allclose(np.fromfile(two).reshape(rows, 1024)[1:-1, 1:-1], inside, rtol=1e-14)


@appyc.jit
def doubled(a, b):
    # pragma parallel for
    for i in range(a.shape[0]):
        b[i] = 2.0 * a[i]


def test_kept_memory_is_a_part_of_a_workers(monkeypatch):
    distributed = pytest.importorskip("distributed")
    worker = SimpleNamespace(memory_manager=SimpleNamespace(memory_limit=160_000_000))
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    a, b = da.ones(8_000_000, chunks=500_000), da.zeros(8_000_000, chunks=500_000)
    with keeping(1 << 30):
        doubled(a, b)
        (held,) = dask.persist(b, scheduler="sync")
        assert float(held.sum().compute(scheduler="sync")) == 16_000_000
        del held  # 64 MB
        assert 0 < appyc.release_memory() <= 20_000_000
