"""An element at the index of the best one so far is kept in a scalar."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.printer import print_function
from appyc.passes.storage.scalar_replacement_of_selections import scalar_replacement_of_selections
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered

UP_TO = pipeline.ANALYSE[: pipeline.ANALYSE.index(scalar_replacement_of_selections)]


def largest(a):
    k = 0
    for i in range(1, len(a)):
        if a[i] > a[k]:
            k = i
    return k


def selection_sort(a):
    for i in range(len(a) - 1):
        m = i
        for j in range(i + 1, len(a)):
            if a[j] < a[m]:
                m = j
        a[i], a[m] = a[m], a[i]


def pivots(a):
    found = np.zeros(a.shape[1], np.int64)
    for k in range(a.shape[1]):
        p = 0
        for i in range(a.shape[0] - 1, -1, -1):
            if abs(a[p, k]) <= abs(a[i, k]):
                p = i
        found[k] = p
    return found


def begins_outside(a, k):
    for i in range(len(a)):
        if a[i] > a[k]:
            k = i
    return k


def stores_before(a, k):
    for i in range(len(a)):
        a[i] = -a[i]
        if a[i] > a[k]:
            k = i
    return k


def counts_beside(a, b):
    k = n = 0
    for i in range(len(b)):
        b[i] = n
        if a[i] > a[k]:
            n += 1
            k = i
    return k, n


def set_elsewhere(a):
    k = 0
    for i in range(len(a)):
        if a[i] > a[k]:
            k = i
        if a[i] > 8.0:
            k = 0
    return k


@pytest.mark.parametrize(
    "given", [(largest, np.zeros(9)), (pivots, np.zeros((4, 4))), (begins_outside, np.zeros(9), 3)]
)
def test_comparisons_wait_for_no_index(given):
    before = after(lowered(*given), *pipeline.SIMPLIFY, *UP_TO)
    found = after(before, scalar_replacement_of_selections)
    assert found != before
    assert print_function(found).count("held") >= 4


@pytest.mark.parametrize("given", [(stores_before, np.zeros(9), 3), (set_elsewhere, np.zeros(9))])
def test_what_changes_between_stays(given):
    before = after(lowered(*given), *pipeline.SIMPLIFY, *UP_TO)
    assert after(before, scalar_replacement_of_selections) == before


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, np.int64])
@pytest.mark.parametrize("size", [0, 1, 2, 300])
def test_results_stay(dtype, size):
    a = np.random.default_rng(size).integers(0, 90, size).astype(dtype)
    for fn in (largest, selection_sort, set_elsewhere):
        run_everywhere(fn, a)
    run_everywhere(counts_beside, a, np.zeros(size, np.int64))
    run_everywhere(pivots, a[: size // 4 * 4].reshape(-1, 4))
    for k in (0, size - 1, -1, size, -size - 1):  # some are not in range
        run_everywhere(begins_outside, a, k)


def test_what_is_no_number_is_never_larger():
    for a in ([np.nan, 1.0, 2.0], [1.0, np.nan, 2.0], [-0.0, 0.0], [np.inf, np.inf, -np.inf], [np.nan]):
        for fn in (largest, selection_sort):
            run_everywhere(fn, np.array(a))
        run_everywhere(pivots, np.array(a)[:, None])


def test_golden(golden):
    before = after(lowered(selection_sort, np.zeros(9)), *pipeline.SIMPLIFY, *UP_TO)
    found = after(before, scalar_replacement_of_selections)
    text = f"{print_function(before)}\n# after\n\n{print_function(found)}"
    golden("loops/scalar_replacement_of_selections.txt", text)
