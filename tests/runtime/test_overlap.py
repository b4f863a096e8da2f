from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appyc.runtime.overlap import any_overlap, may_overlap_itself
from tests.runtime.dispatch_rules import may_overlap

BASE = np.arange(24.0)
WINDOWS = np.lib.stride_tricks.as_strided(BASE, (4, 3), (8, 8))
APART = np.lib.stride_tricks.as_strided(BASE, (3, 2), (16, 24))  # elements 0 2 4 and 3 5 7: interleaved


@pytest.mark.parametrize(
    ("a", "b", "coarse", "exact"),
    [
        (BASE[:4], BASE[4:], False, False),
        (BASE[:5], BASE[4:], True, True),
        (BASE, BASE, True, True),
        (BASE[::2], BASE[1::2], True, False),
        (BASE[::-2], BASE[::2], True, False),
        (BASE[::-1], BASE[::2], True, True),
        (BASE.reshape(4, 6)[:, :3], BASE.reshape(4, 6)[:, 3:], True, False),
        (BASE[:0], BASE, False, False),
        (BASE.copy(), BASE, False, False),
    ],
)
def test_two_arrays(a, b, coarse, exact):
    assert may_overlap([1, a, b], frozenset({1})) is coarse
    assert any_overlap([1, a, b], frozenset({1})) is exact


def test_arrays_that_are_only_read_may_be_one():
    assert not may_overlap([BASE, BASE], frozenset())
    assert not may_overlap([BASE, BASE, BASE.copy()], frozenset({2}))
    assert not any_overlap([BASE, BASE, BASE.copy()], frozenset({2}))


@pytest.mark.parametrize(
    ("array", "coarse", "exact"),
    [
        (WINDOWS, True, True),
        (np.lib.stride_tricks.as_strided(BASE, (4,), (0,)), True, True),
        (np.lib.stride_tricks.as_strided(BASE, (4,), (4,)), True, True),
        (APART, True, False),
        (BASE.reshape(4, 6)[::-1, ::2].T, False, False),
    ],
)
def test_an_array_that_meets_itself(array, coarse, exact):
    assert may_overlap_itself(array) is coarse
    assert any_overlap([array], frozenset({0})) is exact


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.lists(st.tuples(st.integers(1, 4), st.integers(-5, 5)), max_size=3)),
        min_size=1,
        max_size=3,
    )
)
def test_both_tests_agree_with_listing_all_elements(views):
    """The coarse test misses no overlap, and the exact one finds neither too few nor too many."""
    base = np.zeros(200)
    arrays, listed = [], []
    for start, axes in views:
        shape, steps = [n for n, _ in axes], [s for _, s in axes]
        arrays.append(np.lib.stride_tricks.as_strided(base[100 + start :], shape, [8 * s for s in steps]))
        index = np.zeros(1, int)
        for n, s in axes:
            index = np.add.outer(index, np.arange(n) * s).ravel()
        listed.append((index + start).tolist())
    itself = len(set(listed[0])) < len(listed[0])
    others = any(set(listed[0]) & set(other) for other in listed[1:])
    assert any_overlap(arrays, frozenset({0})) == (itself or others)
    if itself or others:
        assert may_overlap(arrays, frozenset({0}))


class OnGpu:
    """Has what an array on a GPU shows of itself."""

    def __init__(self, address, shape, strides=None):
        self.__cuda_array_interface__ = {
            "data": (address, False), "shape": shape, "strides": strides, "typestr": "<f8", "version": 3,
        }  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "overlaps"),
    [
        (OnGpu(1000, (10,)), OnGpu(1080, (10,)), False),
        (OnGpu(1000, (10,)), OnGpu(1072, (10,)), True),
        (OnGpu(1000, (0,)), OnGpu(1000, (10,)), False),
        (OnGpu(1072, (10,), (-8,)), OnGpu(1000, (1,)), True),
        (OnGpu(1000, (2, 3), (80, 8)), OnGpu(1100, (1,)), True),
    ],
)
def test_arrays_on_a_gpu_are_compared_by_their_addresses(one, other, overlaps):
    assert any_overlap([1.5, one, other], frozenset({1})) == overlaps
