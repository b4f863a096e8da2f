"""Functions of np.linalg in loops: compiled for small matrices, LAPACK's for large ones."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.errors import GENERATED
from appyc.library.linear_systems import MOST_ROWS
from appyc.runtime.signature import typeof
from tests.programs import linear_systems

RUNS = {(run.fn, *(typeof(a, "", GENERATED) for a in run.args)): run for run in linear_systems.PROGRAMS.runs}
"""A call of each program with arguments of each type."""


def steps(a, x, sums):
    for t in range(len(sums)):
        x = np.linalg.solve(a, x)
        for i in range(len(x)):
            sums[t] += x[i]
    return x


def system(n):
    numbers = np.random.default_rng(n)
    return numbers.random((n, n)) + np.eye(n), numbers.random(n)


@pytest.mark.parametrize("options", [{}, {"strict": True}])
def test_large_matrices_are_lapacks(options):
    compiled = appyc.jit(steps, **options)
    for n in (3, MOST_ROWS + 1, MOST_ROWS, MOST_ROWS + 1, 3):
        found, expected = np.zeros(4), np.zeros(4)
        x, y = compiled(*system(n), found), steps(*system(n), expected)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        np.testing.assert_allclose(x, y, rtol=1e-7)
        if n > MOST_ROWS:
            np.testing.assert_array_equal(x, y)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        compiled(np.zeros((MOST_ROWS + 1, MOST_ROWS + 1)), np.zeros(MOST_ROWS + 1), np.zeros(2))


@pytest.mark.parametrize("run", RUNS.values(), ids=lambda run: run.fn.__name__)
def test_nothing_is_left_to_the_library_of_small_matrices(run):
    assert not appyc.jit(run.fn).explain(*run.args).python_parts


def test_a_large_sum_of_matrices_is_left_to_the_library():
    def inverses(a, b, n):
        out = np.zeros_like(a)
        for _ in range(n):
            s = a + b
            out = out + np.linalg.inv(s)
        return out

    compiled = appyc.jit(inverses)
    for n in (3, MOST_ROWS + 1):
        a, b = system(n)[0], np.eye(n)
        found, expected = compiled(a, b, 2), inverses(a, b, 2)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        if n > MOST_ROWS:
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("option", ["libraries", "exact"])
def test_each_call_is_lapacks_if_asked_for(option):
    compiled = appyc.jit(steps, **{option: True})
    found, expected = np.zeros(4), np.zeros(4)
    np.testing.assert_array_equal(compiled(*system(5), found), steps(*system(5), expected))
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert "solve is left to the library" in repr(compiled.explain())


def test_over_chunks_large_matrices_are_loops():
    da = pytest.importorskip("dask.array")
    n = MOST_ROWS + 1
    found, expected = da.zeros(2, chunks=1), np.zeros(2)
    x = appyc.jit(steps)(*(da.from_array(part, n) for part in system(n)), found)
    np.testing.assert_allclose(x.compute(), steps(*system(n), expected), rtol=1e-7)
    np.testing.assert_allclose(found.compute(), expected, rtol=1e-7)
