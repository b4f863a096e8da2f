"""Functions of the library that are Python text: errors name the program's call."""

from __future__ import annotations

import inspect
import types

import numpy as np
import pytest

import appyc
from appyc.errors import CompileError
from appyc.ir.nodes import Alloc
from appyc.ir.visit import walk
from appyc.library import indexed_arrays, searching, sorting, statistics, table
from tests.lowering import lowered


def digitized(x, bins):
    return np.digitize(x, bins)


def test_what_a_text_raises_is_numpys_error_at_the_call():
    x, bins = np.ones(3), np.array([0.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="monotonically") as found:
        appyc.jit(strict=True)(digitized)(x, bins)
    line = inspect.getsourcelines(digitized)[1] + 1
    assert f"test_library.py:{line}" in str(found.value) + "".join(getattr(found.value, "__notes__", ()))


def without_bins(x):
    return np.digitize(x)  # type: ignore[call-overload]


def test_a_missing_argument_is_an_error_at_the_call():
    with pytest.raises(CompileError) as found:
        lowered(without_bins, np.ones(3))
    assert found.value.loc.line == inspect.getsourcelines(without_bins)[1] + 1


def test_statements_of_a_text_have_the_location_of_the_call():
    fn = lowered(digitized, np.ones(3), np.ones(4))
    assert {stmt.loc.file for stmt in fn.body} == {__file__}


@pytest.mark.parametrize("n", [0, 1, 2, 5, 40])
def test_texts_run_as_python_too(n):
    a = np.random.default_rng(n).normal(size=n)
    np.testing.assert_array_equal(sorting.sort(a), np.sort(a))
    if n:
        np.testing.assert_array_equal(searching.searchsorted(np.sort(a), a), np.searchsorted(np.sort(a), a))
        np.testing.assert_array_equal(statistics.isin(a, a[:1]), np.isin(a, a[:1]))
        np.testing.assert_array_equal(indexed_arrays.tile(a, (2, 3)), np.tile(a, (2, 3)))
        np.testing.assert_array_equal(indexed_arrays.roll(a, 2), np.roll(a, 2))
        np.testing.assert_array_equal(indexed_arrays.linspace(-1.0, a[0], n), np.linspace(-1.0, a[0], n))


def refused(a):
    return np.roll(a, 1, 2)


def split_at_lengths(a, n):
    for i in range(a.shape[0]):
        first, second = np.split(a[i], 2)
        first += n * second


def test_what_a_text_raises_is_a_guard_of_the_usual_version():
    text = appyc.jit(split_at_lengths).source("ir", np.ones((3, 4)), 2)
    assert "raise" not in text
    with pytest.raises(ValueError, match="equal division"):
        appyc.jit(split_at_lengths)(np.ones((3, 5)), 2)


def twice(a):
    return np.repeat(np.repeat(a + 1, 2, 0), 2, 1)


def test_an_element_that_is_a_function_of_its_index_takes_no_array_of_its_own():
    allocated = [node for node in walk(lowered(twice, np.ones((3, 4)))) if isinstance(node, Alloc)]
    assert len(allocated) == 1


def test_an_axis_that_is_not_there_is_left_to_numpy():
    with pytest.raises(CompileError, match="no such axis"):
        lowered(refused, np.ones((3, 4)))


_POSITIONAL = (np.ufunc, types.MethodDescriptorType)
"""Objects whose parameters are positional only."""


def test_every_text_has_the_parameters_of_the_function_that_it_stands_for():
    for function, text in table.FUNCTIONS.items():
        try:
            parameters = inspect.signature(function).parameters  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
        own = [
            name
            for name in inspect.signature(text.function).parameters
            if not isinstance(function, _POSITIONAL)
        ]
        wanted = [name for name, p in parameters.items() if p.kind is not p.VAR_KEYWORD]
        more = [name for name in own if name not in wanted] if len(wanted) < len(parameters) else []
        assert [name for name in wanted if name in own] + more == own, text.function.__name__


def _flat_sum(a):
    s = 0.0
    for i in range(a.size):
        s += a.flat[i]
    return s


def _capped(x):
    if x > 1.5:
        return 1.5
    return x


def _sum_of_capped(a):
    s = 0.0
    for i in range(a.shape[0]):
        s = s + _capped(a[i, 0])
    return s


@pytest.mark.parametrize("fn", [_flat_sum, _sum_of_capped])
def test_what_is_added_up_may_take_statements(fn):
    a = np.arange(12.0).reshape(4, 3)
    compiled = appyc.jit(strict=True, cache=False, target="cpu")(fn)
    assert compiled(a) == fn(a)
    assert {loop.mode for loop in compiled.explain(a).loops} <= {"parallel", "simd"}
