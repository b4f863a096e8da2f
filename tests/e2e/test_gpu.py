"""Programs of tests/programs on a GPU: all of them where there is one, and some with what stands for CuPy."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import appyc
from tests import stand_in_cupy
from tests.e2e.harness import GPU_TARGETS, run_everywhere
from tests.e2e.test_programs import all_runs
from tests.programs.registry import Run

IN_PYTHON = ("comprehensions",)
"""Programs that run in Python, which makes no NumPy array of a list of CuPy's."""


def has_records(run: Run) -> bool:
    """Whether an argument is a structured array, of which CuPy has none."""
    return any(isinstance(a, np.ndarray | np.void) and a.dtype.names for a in run.args)


RUNS = [
    p
    for p in all_runs()
    if p.values[1] == "interpret"
    and p.values[0].fn.__name__ not in IN_PYTHON
    and not has_records(p.values[0])
]
SMALL = [p for p in RUNS if sum(a.size for a in p.values[0].args if isinstance(a, np.ndarray)) < 400]
SOME = [p for p in SMALL if zlib.crc32(str(p.id).encode()) % 50 == 0]  # the same whatever programs are added


def run_on_gpu(run: Run, target: str) -> None:
    run_everywhere(run.fn, *run.args, targets=(target,), joined=run.joined, strict=run.strict)


def on(target: str, params: list[Any]) -> list[Any]:
    return [pytest.param(p.values[0], target, id=f"{p.id.rpartition('-')[0]}-{target}") for p in params]


@pytest.fixture
def cupy() -> Iterator[Any]:
    with stand_in_cupy.installed() as module:
        yield module


@pytest.mark.sampled
@pytest.mark.usefixtures("cupy")
@pytest.mark.parametrize(("run", "target"), [p for target in GPU_TARGETS for p in on(target, SOME)])
def test_launched_programs_do_what_python_does(run: Run, target: str) -> None:
    run_on_gpu(run, target)


@pytest.mark.gpu
@pytest.mark.parametrize(("run", "target"), [*on("resident", RUNS), *on("gpu", SOME)])
def test_programs_on_the_gpu_do_what_python_does(run: Run, target: str) -> None:
    pytest.importorskip("cupy")
    run_on_gpu(run, target)


def scaled(x, y, factor):
    for i in range(x.shape[0]):
        y[i] = x[i] * factor
    return y + 1.0


class Foreign:
    """An array of another library's that lives on the GPU, as PyTorch's or Numba's."""

    def __init__(self, owner: Any) -> None:
        self.__cuda_array_interface__ = owner.__cuda_array_interface__


def test_what_lives_on_the_gpu_stays_there(cupy: Any) -> None:
    x, y = cupy.asarray(np.arange(5.0)), cupy.zeros(5)
    launches = cupy.cuda.driver.launches
    result = appyc.jit(cache=False)(scaled)(x, y, 2.0)
    assert cupy.cuda.driver.launches > launches
    assert isinstance(result, cupy.ndarray)
    np.testing.assert_array_equal(cupy.asnumpy(y), np.arange(5.0) * 2)
    np.testing.assert_array_equal(cupy.asnumpy(result), np.arange(5.0) * 2 + 1)


def smoothed(a):
    """Two stencils, which go in blocks on a CPU, and sums down columns, which do too."""
    b = np.zeros_like(a)
    b[1:-1] = a[:-2] + a[2:]
    c = np.zeros_like(a)
    c[1:-1] = b[:-2] + b[2:]
    return c, c.sum(axis=0)


def test_what_runs_on_the_gpu_is_made_for_it(cupy: Any) -> None:
    a = np.ones((200, 300))
    wanted = appyc.jit(cache=False, target="gpu")(smoothed)
    found = appyc.jit(cache=False)(smoothed)
    assert found.source("triton", cupy.asarray(a)) == wanted.source("triton", a)
    assert found.source("triton", a) == wanted.source("triton", a)
    assert found.source("ir", a) != wanted.source("ir", a)
    kernels = [[k.ptx for k in fn.compile(a, target="cuda:90")] for fn in (found, wanted)]
    assert kernels[0] == kernels[1]


def test_arrays_of_other_libraries_are_used_in_place(cupy: Any) -> None:
    x, y = cupy.asarray(np.arange(5.0)), cupy.zeros(5)
    appyc.jit(cache=False)(scaled)(Foreign(x), Foreign(y), 2.0)
    np.testing.assert_array_equal(cupy.asnumpy(y), np.arange(5.0) * 2)


def test_an_error_of_a_kernel_is_located_and_written_arrays_come_back(cupy: Any) -> None:
    def filled(x, at):
        for i in range(at.shape[0]):
            x[i] = 1.0
            x[at[i]] += 2.0

    x = np.zeros(4)
    with pytest.raises(IndexError, match="x"):
        appyc.jit(cache=False, target="gpu")(filled)(x, np.array([0, 9]))
    assert x[0] in (1.0, 3.0)


def halved(x):
    if x.shape[0] == 0:
        raise ValueError("nothing to halve")
    for i in range(x.shape[0]):
        x[i] = x[i] / 2.0


def test_a_program_whose_kernels_cannot_fail_waits_for_no_fault_record(cupy: Any, monkeypatch: Any) -> None:
    def refused(_: Any) -> Any:
        raise AssertionError("the host waits for the device")

    call, x = appyc.jit(cache=False)(halved), cupy.asarray(np.arange(5.0))
    with pytest.raises(ValueError, match="nothing"):
        call(cupy.zeros(0))
    monkeypatch.setattr(cupy, "asnumpy", refused)
    call(x)
    monkeypatch.undo()
    np.testing.assert_array_equal(cupy.asnumpy(x), np.arange(5.0) / 2)
