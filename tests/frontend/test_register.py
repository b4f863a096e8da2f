"""appyc.register: functions of users and packages that are compiled as another Python function."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import appyc
from appyc.library import table

clamp = np.vectorize(lambda x: min(max(x, 0.0), 1.0))
"""A function that appyc cannot compile."""


def clamp_element(x):
    return np.minimum(np.maximum(x, 0.0), 1.0)


def item(a, i):
    raise NotImplementedError


def checked_item(a, i):
    return a[i]


@pytest.fixture(autouse=True)
def _unregistered_afterwards() -> Iterator[None]:
    before = dict(table.FUNCTIONS)
    yield
    table.FUNCTIONS.clear()
    table.FUNCTIONS.update(before)


def test_calls_of_a_registered_function_are_those_of_its_replacement():
    def total(a):
        return clamp(a).sum()

    a = np.array([-1.0, 0.25, 3.0])
    appyc.register(clamp, clamp_element)
    assert appyc.jit(strict=True)(total)(a) == total(a) == 1.25


def test_what_is_registered_is_tested_like_the_users_own_functions():
    def last(a, i):
        return item(a, i)

    appyc.register(item, checked_item)
    compiled = appyc.jit(strict=True)(last)
    assert compiled(np.arange(3.0), -1) == 2.0
    with pytest.raises(IndexError):
        compiled(np.arange(3.0), 3)


def test_registered_functions_are_part_of_the_keys_of_stored_code():
    before = table.registered()
    appyc.register(clamp, clamp_element)
    assert table.registered() != before


def test_a_local_function_cannot_be_registered():
    def local(x):
        return x

    with pytest.raises(TypeError, match="top level"):
        appyc.register(clamp, local)
