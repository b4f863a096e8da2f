"""Scans over chunks go in two passes, with what plain Python gives over NumPy's arrays."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import appyc
from tests.in_turn import in_turn

da = pytest.importorskip("dask.array")


@appyc.jit(strict=True)
def sums(a, b, s):
    for i in range(a.shape[0]):
        s += a[i]
        b[i] = s
    return s


@appyc.jit(strict=True)
def sums_before(a, b, s):
    for i in range(a.shape[0]):
        b[i] = s
        s += a[i]
    return s


@appyc.jit(strict=True)
def sums_in_place(a, b, s):
    for i in range(a.shape[0]):
        s += a[i]
        a[i] = s
    return s


@appyc.jit(strict=True)
def greatest(a, b, s):
    for i in range(a.shape[0]):
        s = max(s, a[i])
        b[i] = s
    return s


@appyc.jit(strict=True)
def least_and_products(a, b, s):
    product = s
    for i in range(a.shape[0]):
        product = product * a[i]
        s = min(s, a[i])
        b[i] = s - product
    return s, product


@appyc.jit(strict=True)
def of_rows(a, b, s):
    for i in range(a.shape[0]):
        b[i] = s
        for k in range(3):
            if a[i] > k:
                s += a[i]
    return s


ROUNDING = (sums, sums_before, sums_in_place, greatest, least_and_products, of_rows)


@appyc.jit(strict=True)
def recurrence(a, b, s):
    for i in range(a.shape[0]):
        s = s * 3 + a[i]
        b[i] = s
    return s


@appyc.jit(strict=True)
def since_zero(a, b, s):
    for i in range(a.shape[0]):
        s = s + 1
        if a[i] == 0:
            s = a[i]
        b[i] = s
    return s


def made(n, dtype):
    """Numbers whose sums and products of floats are exact; those of 64-bit integers wrap."""
    a = np.random.default_rng(n).integers(0, 3, n).astype(dtype)
    if dtype is np.int64:
        a[2::3] = np.iinfo(dtype).max - 5
    return a


def run_both(function, a, chunks, s):
    """What Python makes of NumPy's arrays, and appyc of chunked ones: the result, and both arrays."""
    b = np.zeros_like(a)
    chunked = da.from_array(a, chunks), da.from_array(b, chunks)
    result = function(*chunked, s)
    own = a.copy()
    with np.errstate(over="ignore"):
        expected = function.py_func(own, b, s)
    found = [np.asarray(one) for one in (result if isinstance(result, tuple) else (result,))]
    expected = expected if isinstance(expected, tuple) else (expected,)
    return [*map(np.asarray, expected), own, b], [*found, *(x.compute(scheduler="sync") for x in chunked)]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("function", "dtypes"),
    in_turn([*ROUNDING, recurrence, since_zero], [(np.int64, np.uint8), (np.int32, np.float64)]),
)
def test_scans_are_those_of_one_array(function, dtypes):
    sizes = [(0, 1), (1, 1), (7, 7), (7, 4), (7, 1), (40, 9), (40, ((3, 0, 20, 17),))]
    for dtype, (n, chunks) in itertools.product(dtypes, sizes):
        expected, found = run_both(function, made(n, dtype), chunks, dtype(1))
        for one, other in zip(expected, found, strict=True):
            assert one.astype(other.dtype).tobytes() == other.tobytes(), (n, chunks, one, other)


@pytest.mark.sampled
@pytest.mark.parametrize("function", ROUNDING)
def test_a_python_integer_that_wraps(function):
    expected, found = run_both(function, made(40, np.int64), 9, 1)
    for one, other in zip(expected, found, strict=True):
        assert one.astype(other.dtype).tobytes() == other.tobytes()


def test_an_integer_that_may_be_pythons_does_not_wrap():
    """`s * 3` is Python's where `s` is the argument, and of 64 bits from then on: one array has the same error."""
    a = made(40, np.int64)
    for arrays in ((a.copy(), a.copy()), (da.from_array(a, 9), da.from_array(a, 9))):
        with pytest.raises(OverflowError, match="more than 64 bits"):
            np.asarray(recurrence(*arrays, 1))


@pytest.mark.parametrize("function", ROUNDING)
def test_scans_of_floats_round_as_the_chunks_say(function):
    a = np.random.default_rng(1).random(500) + 0.5
    expected, found = run_both(function, a, 60, 1.0)
    _, again = run_both(function, a, 60, 1.0)
    for one, other, once_more in zip(expected, found, again, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)
        assert other.tobytes() == once_more.tobytes()


@pytest.mark.parametrize("start", [-np.inf, np.inf, np.nan, 0.0, -0.0])
@pytest.mark.parametrize("function", [sums, greatest])
def test_scans_of_special_values(function, start):
    a = np.random.default_rng(3).choice(
        [np.nan, -np.inf, -0.0, 0.0, 1.0, np.inf], 30, p=[0.1, 0.2, 0.2, 0.2, 0.2, 0.1]
    )
    for values in (a, np.where(np.isnan(a), 0.0, a), np.where(np.isfinite(a), a, 0.0)):
        with np.errstate(invalid="ignore"):
            for one, other in zip(*run_both(function, values, 4, start), strict=True):
                np.testing.assert_array_equal(other, one)
                assert (np.signbit(other) == np.signbit(one))[~np.isnan(one)].all()


def blocks_in_a_row(plan):
    """How many blocks of nests the longest way through the graph has."""
    length = {}
    for name, needs in plan.step.items():
        length[name] = max((length[need] for need in needs), default=0) + ("_line_" in name)
    return max(length.values())


@pytest.mark.parametrize("function", ROUNDING)
def test_no_block_waits_for_another_of_its_pass(function):
    a, b = da.zeros(640, chunks=10), da.zeros(640, chunks=10)
    plan = function.explain(a, b, 0.0)
    assert blocks_in_a_row(plan) == 2
    assert plan.layers[0].blocks == 63 + 64
    assert "in two passes" in str(plan)
    assert "in two passes" not in str(function.explain(a.rechunk(320), b.rechunk(320), 0.0))


@appyc.jit(strict=True)
def of_the_element_before(a, b, s):
    for i in range(1, a.shape[0]):
        s += a[i - 1]
        a[i] = s
    return s


@appyc.jit(strict=True)
def in_order(a, b, s):
    # pragma sequential for
    for i in range(a.shape[0]):
        s += a[i]
        b[i] = s
    return s


@appyc.jit(strict=True)
def faded(a, b, s):
    for i in range(a.shape[0]):
        s = s * 0.5 + a[i]
        b[i] = s
    return s


@appyc.jit(strict=True)
def of_factors(a, b, s):
    for i in range(a.shape[0]):
        s = s * a[i] + 1.0
        b[i] = s
    return s


@appyc.jit(strict=True)
def faded_if_positive(a, b, s):
    for i in range(a.shape[0]):
        if a[i] > 0.0:
            s = 0.25 * s + a[i]
        b[i] = s
    return s


@appyc.jit(strict=True)
def mirrored(a, b, s):
    for i in range(a.shape[0]):
        b[i] = s
        s = a[i] - s
    return s


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", [faded, faded_if_positive, mirrored])
@pytest.mark.parametrize("start", [0.0, 1e38, -1e38, 1.5e308, np.inf, -np.inf, np.nan])
def test_linear_recurrences_of_floats(function, dtype, start):
    assert "in two passes" in str(function.explain(da.zeros(9, chunks=1), da.zeros(9, chunks=1), 0.0))
    rng = np.random.default_rng(5)
    start = dtype(start) if abs(start) <= float(np.finfo(dtype).max) else dtype(np.inf)
    for n, chunks in [(9, 1), (700, 150), (5000, 1200)]:
        for a in (
            rng.random(n) - 0.5,
            rng.choice([0.0, -np.inf, np.inf, 1e30], n, p=[0.996, 0.001, 0.001, 0.002]),
        ):
            with np.errstate(invalid="ignore"):
                expected, found = run_both(function, a.astype(dtype), chunks, start)
            for one, other in zip(expected, found, strict=True):
                tolerance = 1e-12 if dtype is np.float64 else 1e-4
                np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance)


@appyc.jit(strict=True)
def by_a_number(a, b, factor):
    s = 0.0
    for i in range(a.shape[0]):
        s = s * factor + a[i]
        b[i] = s


@pytest.mark.parametrize("factor", [0.5, 1.0, -1.0, 1.5, 0.0, 1e-200])
def test_factors_of_floats_decide(factor):
    a = da.from_array(np.random.default_rng(1).random(40), 4)
    b, expected = da.zeros(40, chunks=4), np.zeros(40)
    assert ("in two passes" in str(by_a_number.explain(a, b, factor))) == (factor in (0.5, 1.0, -1.0))
    by_a_number(a, b, factor)
    by_a_number.py_func(a.compute(scheduler="sync"), expected, factor)
    np.testing.assert_allclose(b.compute(scheduler="sync"), expected, rtol=1e-12)


@appyc.jit(strict=True)
def packed(a, b, s):
    k = 0
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            b[k] = a[i]
            k += 1
    return k


@pytest.mark.parametrize("function", [of_the_element_before, in_order, of_factors, packed])
def test_other_loops_hand_on_from_block_to_block(function):
    a = np.random.default_rng(1).random(40)
    assert "in two passes" not in str(function.explain(da.from_array(a, 4), da.zeros(40, chunks=4), 1.0))
    for one, other in zip(*run_both(function, a, 4, 1.0), strict=True):
        assert one.astype(other.dtype).tobytes() == other.tobytes()


@appyc.jit(strict=True)
def gathered_sums(a, index, b):
    s = 0.0
    for i in range(b.shape[0]):
        s += a[index[i]]
        b[i] = s


def test_a_scan_of_chunks_that_elements_name():
    a = da.map_blocks(
        lambda block_info: np.arange(*block_info[None]["array-location"][0], dtype=float),
        chunks=((1 << 22,) * 40,), dtype=float,
    )  # fmt: skip
    index = np.array([7, -1, (1 << 22) * 9, (1 << 22) * 9 + 5, 3, 2, 1])
    b = da.zeros(7, chunks=2)
    gathered_sums(a, da.from_array(index, 2), b)
    np.testing.assert_array_equal(b.compute(scheduler="sync"), np.cumsum(index % a.size))


@appyc.jit(strict=True)
def ends(a, b):
    last = 0.0
    for i in range(a.shape[0]):
        last = a[i] * 2.0
        b[i] = last
    return last


def test_the_value_of_the_last_iteration_is_that_of_the_last_block():
    for n in (0, 1, 9):
        a = np.arange(n) + 1.0
        assert float(ends(da.from_array(a, 2), da.zeros(n, chunks=2))) == ends.py_func(a, np.zeros(n))
    assert blocks_in_a_row(ends.explain(da.zeros(64, chunks=4), da.zeros(64, chunks=4))) == 1


def test_an_integer_factor_of_floats():
    a = da.from_array(np.random.default_rng(1).random(40), 4)
    for factor in (1, -1, 2):
        b, expected = da.zeros(40, chunks=4), np.zeros(40)
        by_a_number(a, b, factor)
        by_a_number.py_func(a.compute(scheduler="sync"), expected, factor)
        np.testing.assert_allclose(b.compute(scheduler="sync"), expected, rtol=1e-12)
