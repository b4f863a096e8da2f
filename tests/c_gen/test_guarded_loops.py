"""Loops with a fast form and a careful one: the same values, and the same fault at the same iteration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import appyc
from appyc.ir.nodes import Binary, BoundsCheck, LoopMode
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, walk
from appyc.passes.vectorise.guarded_loops import plan_guarded
from tests.e2e.harness import run_everywhere
from tests.ir_makers import Program, assign, expr, for_, here, load, mul, store, update


def total(x, idx, w):
    s = 0.0
    for k in range(idx.shape[0]):
        s += w[k] * x[idx[k]]
    return s


def gathered(x, idx, w):
    for k in range(idx.shape[0]):
        w[k] = x[idx[k]] * 2.0


def scattered(x, idx, w):
    for k in range(idx.shape[0]):
        x[idx[k]] = w[k]


def twice(x, idx, w):
    """The second test comes behind something that lasts."""
    for k in range(idx.shape[0]):
        w[k] = w[k] + 1.0
        x[idx[k]] = w[k]


def own_scalar(x, idx, w):
    s = 0.0
    for k in range(idx.shape[0]):
        t = x[idx[k]]
        t = t * t
        s += t + x[idx[k] - 1]
        w[k] = s
    return s


def carried_scalar(x, idx, w):
    t = 1.0
    for k in range(idx.shape[0]):
        t = t * 0.5 + 1.0
        w[k] = x[idx[k]] + t
    return t


def sometimes(x, idx, w):
    for k in range(idx.shape[0]):
        if w[k] > 2.0:
            w[k] = x[idx[k]]
        elif idx[k] == 0:
            continue
        else:
            w[k] = x[0] + x[idx[k]]


def leaves_early(x, idx, w):
    for k in range(idx.shape[0]):
        if x[idx[k]] > 5.0:
            break
        w[k] = x[idx[k]]


def divides(x, idx, w):
    for k in range(idx.shape[0]):
        w[k] = x[idx[k]] + 7 // idx[k]


def rows(x, idx, w):
    """Ends that are known only inside, as of a sparse matrix."""
    for r in range(w.shape[0] - 1):
        s = 0.0
        for k in range(idx[r], idx[r + 1]):
            s += x[k]
        w[r] = s


def shifted(x, idx, w):
    for r in range(1):
        for k in range(idx[0], w.shape[0]):
            w[k] = x[k - 1] + x[k + r]


def strided(x, idx, w):
    """Steps that are known only inside, of either sign."""
    first, step = idx[0], idx[-1]
    for k in range(w.shape[0]):
        w[k] = x[first + k * step]


def butterflies(x, idx, w):
    """Sums of what is known only inside, as of a Fourier transform."""
    size, half = int(idx[0]), int(idx[-1])
    for i in range(0, len(x), size):
        for k in range(half):
            t = x[i + k]
            x[i + k] = t + x[i + k + half]
            x[i + k + half] = t


def far(x, idx, w):
    """Sums that exceed 64 bits on the way."""
    first, second = int(idx[0]), int(idx[-1])
    for k in range(w.shape[0]):
        w[k] = x[first + k + second] + x[k + first * second - first * second]


def multiples(x, idx, w):
    for i in range(2, int(len(x) ** 0.5) + 1):
        for j in range(i * i, len(x), i):
            x[j] = i


def views(x, idx, w):
    y = x.reshape(-1, 1)
    for k in range(idx.shape[0]):
        row = y[idx[k]]
        w[k] = row[0] + k


def bare_views(x, idx, w):
    for k in range(idx.shape[0]):
        row = x.reshape(-1, 1)[:][idx[k]]
        w[k] = row.shape[0] + k


FUNCTIONS = (
    total, gathered, scattered, twice, own_scalar, carried_scalar,
    sometimes, leaves_early, divides, rows, shifted, strided, butterflies, far, multiples, views, bare_views,
)  # fmt: skip


@pytest.mark.sampled
@settings(max_examples=25, deadline=None)
@given(st.data())
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_like_python_wherever_an_index_is_out_of_range(fn, data):
    size = data.draw(st.integers(0, 9))
    low, high = data.draw(st.sampled_from([(1, 3), (0, 6), (-7, 6), (-8, 8)]))
    idx = np.array(data.draw(st.lists(st.integers(low, high), min_size=size, max_size=size)), np.int64)
    if fn in (rows, shifted, strided, butterflies, far, multiples) and size == 0:
        return
    x = np.arange(float(data.draw(st.sampled_from([7, 7, 7, 1, 0]))))
    run_everywhere(fn, x, idx, np.arange(float(size)), targets=("cpu",), joined=True)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [total, gathered, scattered, own_scalar, sometimes])
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "uint64"])
def test_types_of_indices_and_strides(fn, dtype):
    x, w = np.arange(20.0)[::2], np.arange(24.0)[::3]
    idx = np.array([3, 1, 9, 2, 2, 0, 8, 7] * 2, dtype)[::2]
    run_everywhere(fn, x, idx, w, targets=("cpu",), joined=True)
    idx[5] = 10
    run_everywhere(fn, x, idx, w, targets=("cpu",), joined=True)


def test_threads_raise_too():
    @appyc.jit
    def product(y, ptr, col, val, x):
        # pragma parallel for
        for r in range(y.shape[0]):
            s = 0.0
            for k in range(ptr[r], ptr[r + 1]):
                s += val[k] * x[col[k]]
            y[r] = s

    n = 20_000
    ptr, col = np.arange(0, 10 * n + 1, 10), np.random.default_rng(0).integers(0, n, 10 * n)
    val, x, y = np.ones(10 * n), np.arange(float(n)), np.zeros(n)
    product(y, ptr, col, val, x)
    np.testing.assert_array_equal(y, x[col].reshape(n, 10).sum(axis=1))
    col[123_456] = n
    with pytest.raises(IndexError, match=f"index {n} is out of bounds for axis 0 of 'x' with size {n}"):
        product(y, ptr, col, val, x)


def fast_loops(fn):
    jitted = appyc.jit(fn)
    analysed = jitted._analyse(jitted._wanted((np.ones(9), np.arange(9), np.ones(9)), {}))
    inner = [n for n in loops_of(analysed.function.body) if not loops_of(n.body)]
    return [plan_guarded(loop) for loop in inner]


@pytest.mark.parametrize("fn", [total, gathered])
def test_a_test_in_each_iteration(fn):
    assert any(fast is not None and not fast.lanes for fast in fast_loops(fn))


def test_no_test_but_the_ends():
    assert any(fast is not None and fast.lanes and fast.ends for fast in fast_loops(rows))


@pytest.mark.parametrize("fn", [strided, multiples, far])
def test_no_test_but_the_ends_of_strides(fn):
    assert any(fast is not None and fast.lanes and fast.ends for fast in fast_loops(fn))


@pytest.mark.parametrize("step", [2**62, -(2**62), 2**63 - 1, -(2**63)])
def test_indices_that_wrap_between_the_ends(step):
    run_everywhere(strided, np.arange(9.0), np.array([3, step]), np.ones(5), targets=("cpu",), joined=True)


@pytest.mark.parametrize("fn", [butterflies, far])
@pytest.mark.parametrize(
    "ends", [(2**63 - 1, 1 - 2**63), (2**62, 2**62), (-(2**63), 5), (2**32, -(2**32)), (1, -1)]
)
def test_sums_that_exceed_64_bits(fn, ends):
    run_everywhere(fn, np.arange(9.0), np.array(ends), np.ones(5), targets=("cpu",), joined=True)


def test_sums_of_a_run_time_step_are_tested_at_the_ends():
    assert any(fast is not None and fast.ends for fast in fast_loops(butterflies))


def test_a_loop_that_may_raise_otherwise_stays_as_it_is():
    p = Program()
    n = p.integer("n")
    a, idx = p.array("a", 1, DType.INT64), p.array("idx", 1, DType.INT64)
    k = p.index("k")
    divided = Binary("//", expr(n), load(idx, k), True, loc=here())
    assert plan_guarded(for_(k, 0, n, [store(a, [k], divided)])) is None
    assert plan_guarded(for_(k, 0, n, [store(a, [k], replace(divided, trap=False))])) is not None


def test_a_test_behind_something_that_lasts():
    p = Program()
    n = p.integer("n")
    a, x, idx = p.array("a", 1), p.array("x", 1), p.array("idx", 1, DType.INT64)
    k, s = p.index("k"), p.local("s")
    late = load(x, load(idx, k))
    assert plan_guarded(for_(k, 0, n, [update(s, [], "+", 1.0), store(a, [k], late)])) is None
    assert plan_guarded(for_(k, 0, n, [store(a, [k], late)])) is not None
    first = assign(s, late)
    carried = for_(k, 0, n, [assign(s, mul(expr(s), 2.0)), store(a, [k], late)])
    assert plan_guarded(carried) is None
    own = replace(for_(k, 0, n, [first, store(a, [k], s)]), private=(s,))
    assert plan_guarded(own) is not None
    assert plan_guarded(replace(own, step=-1)) is None


def sums_of_rows(a, ix, w):
    for i in range(ix.shape[0]):
        w[i] = a[ix[i], :].sum()


def neighbours(a, ix, w):
    for i in range(w.shape[0]):
        s = 0.0
        for k in range(ix.shape[0]):
            x = a[ix[k]]
            s += x[0] * x[1]
        w[i] = s


def test_the_test_of_an_index_of_a_row_keeps_threads_and_lanes():
    arguments = np.ones((9, 3)), np.arange(9), np.ones(9)
    for fn, lanes in ((sums_of_rows, True), (neighbours, False)):
        jitted = appyc.jit(fn)
        analysed = jitted._analyse(jitted._wanted(arguments, {}))
        outer, inner = loops_of(analysed.function.body)
        assert any(isinstance(n, BoundsCheck) for n in walk(outer))
        assert outer.mode is LoopMode.PARALLEL
        assert (fast := plan_guarded(inner)) is not None
        assert fast.lanes is lanes
