"""Recorded arrays on a GPU, with what stands for one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import appyc
import appyc.numpy as np
from appyc.lazy import running
from tests import stand_in_cupy
from tests.lazy.fuzz import compiling, difference
from tests.lazy.generator import program


@pytest.fixture
def cupy() -> Iterator[Any]:
    with stand_in_cupy.installed() as module, compiling("gpu", 0):
        yield module


def is_there(array: Any) -> bool:
    return isinstance(array.buffer.memory, stand_in_cupy.ndarray)


def test_arrays_stay_where_programs_run(cupy: Any) -> None:
    values = numpy.arange(12.0).reshape(3, 4)
    x, y = np.array(values), np.ones((3, 4))
    for _ in range(3):
        y += x * 2
        y[1:] -= 0.5
        appyc.flush()
        assert is_there(x)
        assert is_there(y)
    wanted = 1 + 6 * values
    wanted[1:] -= 1.5
    numpy.testing.assert_array_equal(y.numpy(), wanted)
    assert not is_there(y)
    numpy.testing.assert_array_equal((y + x).numpy(), wanted + values)


def test_what_another_library_looks_at_stays_on_the_host(cupy: Any) -> None:
    x = np.array(numpy.zeros(4))
    seen = numpy.asarray(x)
    x += 1.0
    appyc.flush()
    numpy.testing.assert_array_equal(seen, 1.0)
    assert not is_there(x)


def test_libraries_on_the_gpu_get_a_view(cupy: Any) -> None:
    x = np.array(numpy.arange(6.0))
    view = cupy.asarray((x + 1)[::2])
    numpy.testing.assert_array_equal(view.get(), [1, 3, 5])
    numpy.testing.assert_array_equal(cupy.asarray((x + 2).reshape(2, 3).T).get(), [[2, 5], [3, 6], [4, 7]])


def test_without_a_gpu_arrays_are_not_offered_to_its_libraries() -> None:
    assert not hasattr(np.zeros(3), "__cuda_array_interface__")


def test_what_numpy_runs_takes_copies_and_gives_back(cupy: Any) -> None:
    x = np.array(numpy.arange(4.0))
    z = np.array(numpy.arange(4.0) * 1j)
    x += 1.0
    appyc.flush()
    z[1:] = np.maximum(z, z)[1:] + x[1:]  # complex numbers have no order in compiled code
    x[...] = np.abs(np.maximum(z, 0))
    assert is_there(x)
    numpy.testing.assert_allclose(x.numpy(), numpy.abs(numpy.maximum(z.numpy(), 0)), rtol=1e-15)
    numpy.testing.assert_array_equal(np.linalg.inv(np.eye(2) * 2).numpy(), numpy.eye(2) / 2)
    a = np.array(numpy.arange(4.0).reshape(2, 2))
    numpy.testing.assert_array_equal((a @ a + 1).numpy(), a.numpy() @ a.numpy() + 1)


def test_products_stay_on_the_gpu(cupy: Any) -> None:
    values = numpy.arange(12.0).reshape(3, 4)
    a, out = np.array(values), np.zeros((4, 4))
    b = (a + 1.0).T @ (a[::-1] * 2.0)
    out[1:3] = a.T[:2] @ a
    c = np.tanh(b) + out
    appyc.flush()
    assert all(is_there(x) for x in (a, b, out, c))
    assert "by CuPy" in appyc.explain()
    wanted = (values + 1.0).T @ (values[::-1] * 2.0)
    numpy.testing.assert_allclose(b.numpy(), wanted)
    stored = numpy.zeros((4, 4))
    stored[1:3] = values.T[:2] @ values
    numpy.testing.assert_allclose(c.numpy(), numpy.tanh(wanted) + stored)


def test_products_of_what_stays_on_the_host_run_there(cupy: Any) -> None:
    a = np.array(numpy.eye(3) * 2.0)
    seen = numpy.asarray(a)
    b = a @ a
    whole = np.array(numpy.arange(9).reshape(3, 3)) @ np.array(numpy.arange(9).reshape(3, 3))
    appyc.flush()
    assert "by NumPy" in appyc.explain()
    assert not is_there(b)
    numpy.testing.assert_array_equal(b.numpy(), seen @ seen)
    numpy.testing.assert_array_equal(
        whole.numpy(), numpy.arange(9).reshape(3, 3) @ numpy.arange(9).reshape(3, 3)
    )


def test_random_programs_are_those_of_numpy(cupy: Any) -> None:
    for seed in range(900, 912):
        assert not difference(program(seed, most=14))
    assert cupy.cuda.driver.launches


def test_the_environment_says_where_programs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPYC_TARGET", "interpret")
    with compiling("cpu", 0):
        running.STATE.target = None
        x = np.array(numpy.arange(4.0)) + 0.25
        numpy.testing.assert_array_equal(x.numpy(), numpy.arange(4.0) + 0.25)
        (found,) = [p for p in running.STATE.programs.values() if p.compiled is not None]
        assert found.compiled.options.target == "interpret"
