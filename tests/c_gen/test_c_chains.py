"""Chunks of a scan side by side on one thread."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.api import JitFunction
from appyc.options import Options
from appyc.runtime.threads import get_num_threads, set_num_threads
from tests.c_gen.c_runner import generate
from tests.e2e.harness import run_everywhere
from tests.programs import scans
from tests.programs.registry import floats


@pytest.fixture(autouse=True, params=[2, 3])
def threads(request):
    before = get_num_threads()
    set_num_threads(request.param)
    yield
    set_num_threads(before)


def text_of(fn, *args) -> str:
    jitted = appyc.jit(cache=False, target="cpu")(fn)
    assert isinstance(jitted, JitFunction)
    analysed = jitted._analyse(jitted._wanted(args, {}))
    return generate(analysed.function, Options(), sequential=False).text


def test_sums_of_floats_are_four_at_a_time():
    text = text_of(scans.running_total, floats(9), np.zeros(9))
    assert "+ 4 <= (chunk" in text


def test_counters_are_not():
    text = text_of(scans.packed, floats(9), np.zeros(9))
    assert "+ 4 <= (chunk" not in text


def decayed(x, s):
    y = 1.0
    for i in range(len(x)):
        y = 0.9 * y + x[i]
        s[i] = y
    return y


def grown(x, s):
    y = 1e200
    for i in range(len(x)):
        y = 0.9999 * y + x[i]
        s[i] = y
    return y


@pytest.mark.parametrize("fn", [decayed, grown], ids=lambda fn: fn.__name__)
def test_factors_that_fade_to_nothing(fn):
    """The product of a chunk's factors becomes too small for a normal number, and is taken for 0."""
    x = np.zeros(70_001)
    x[40_000] = 3.0
    ours, theirs = np.zeros(len(x)), np.zeros(len(x))
    assert appyc.jit(cache=False, target="cpu")(fn)(x, ours) == pytest.approx(
        fn(x, theirs), rel=1e-9, abs=1e-200
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-200)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [32_768, 33_001, 70_003])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_enough_without_help(n, dtype):
    """Sizes and thresholds as users meet them."""
    x = floats(n, dtype=dtype) + dtype(1)
    run_everywhere(scans.running_total, x, np.zeros(n, dtype), targets=("cpu",))
    run_everywhere(scans.smoothed, x, np.zeros(n, dtype), dtype(0.01), targets=("cpu",))


def test_a_huge_number_is_handed_on_in_order():
    n = 40_000
    x = np.full(n, 1e200)
    x[100] = np.inf
    run_everywhere(scans.smoothed, x, np.zeros(n), 0.5, targets=("cpu",))
    run_everywhere(scans.smoothed, x[200:], np.zeros(n), 0.5, targets=("cpu",))
