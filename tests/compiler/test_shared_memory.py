"""Calls whose arguments overlap: as plain Python has it, in a version that is made for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import appyc
from appyc.api import JitFunction
from appyc.compiler.analyse import analyse_shared
from appyc.ir.nodes import LoopMode
from appyc.ir.visit import loops_of
from appyc.runtime.shared_views import describe_sharing
from tests.runtime.dispatch_rules import fits

TARGETS = ("cpu", "interpret")
DTYPES = ("float64", "float32", "int64", "int32", "complex128")


def copied(a, b):
    for i in range(a.shape[0]):
        a[i] = b[i] * 3 + 1


def marked(a, b):
    # pragma parallel for
    for i in range(a.shape[0]):
        a[i] = b[i] * 3 + 1


def backwards(a, b):
    for i in range(a.shape[0] - 1, -1, -1):
        a[i] = a[i] + b[i]


def gathered(a, b, idx):
    for i in range(idx.shape[0]):
        a[i] = b[idx[i]] * 2


def squared(a, b):
    for i in range(a.shape[0]):
        a[i] = b[i] * b[i]


def first_part(a, b, n):
    for i in range(n):
        a[i] = b[i] * 2


def relaxed(out, north, south, west, east):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = (north[i, j] + south[i, j] + west[i, j] + east[i, j]) / 4


def total_into(a, b):
    s = 0.0
    for i in range(b.shape[0]):
        s += b[i]
    for i in range(a.shape[0]):
        a[i] = s + b[i]
    return a, s


def both(fn, target, make, *args):
    """The same call in Python and compiled, each on arguments of its own."""
    expected, result = make(), make()
    wanted, got = fn(*expected, *args), appyc.jit(target=target)(fn)(*result, *args)
    for one, other in zip(expected, result, strict=True):
        np.testing.assert_array_equal(other, one)
    return wanted, got


def modes(fn, *args, written=(0,)):
    """How the loops run in the version for these arguments; None where there is none."""
    jitted = appyc.jit(fn)
    assert isinstance(jitted, JitFunction)
    found = describe_sharing(args, frozenset(written), any_distance=False)
    assert found is not None
    shared = analyse_shared(jitted._analyse(jitted._wanted(args, {})), found.sharing)
    if shared is None:
        return None
    return [(n.mode, n.safelen, n.in_step) for n in loops_of(shared.function.body)]


X = np.arange(40.0)
PARALLEL = (LoopMode.PARALLEL, None, False)


def test_what_may_run_in_parallel():
    assert modes(copied, X, X) == [PARALLEL]
    assert modes(copied, X[:-1], X[1:]) == [(LoopMode.SIMD, None, True)]  # reads ahead
    assert modes(copied, X[8:], X[:-8]) == [(LoopMode.SIMD, 8, False)]
    assert modes(squared, X[1:], X[:-1]) == [(LoopMode.SEQUENTIAL, None, False)]
    large = np.zeros(1000)
    assert modes(first_part, large[:800], large[200:], 5)[0] == PARALLEL  # if n <= 200
    assert modes(gathered, X, X, np.arange(9)) is not None
    assert modes(gathered, X[1:], X[:-1], np.arange(9)) is None


def test_without_automatic_parallelism_the_plain_version_runs():
    jitted = appyc.jit(auto=False)(marked)
    found = describe_sharing((X, X), frozenset({0}), any_distance=False)
    assert analyse_shared(jitted._analyse(jitted._wanted((X, X), {})), found.sharing) is None


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fn", [copied, marked, backwards])
def test_the_same_array(fn, dtype, target):
    def make(size):
        x = np.arange(size).astype(dtype)
        return x, x

    for size in (0, 1, 2, 37):
        both(fn, target, lambda size=size: make(size))


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0), (0, 5), (5, 0), (16, 0), (3, 2)])
@pytest.mark.parametrize("fn", [copied, marked, backwards])
def test_views_with_a_distance(fn, first, second, target):
    def make():
        x = np.arange(60.0)
        return x[first:][:37], x[second:][:37]

    both(fn, target, make)


def test_more_distances_than_versions():
    jitted = appyc.jit(copied)
    for distance in range(70):
        expected, result = np.arange(200.0), np.arange(200.0)
        copied(expected[distance:][:80], expected[:80])
        jitted(result[distance:][:80], result[:80])
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [0, 1, 99, 100, 101, 300])
def test_parts_that_are_apart_in_fact(n, target):
    def make():
        x = np.arange(500.0)
        return x[:400], x[100:]

    both(first_part, target, make, n)


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_stencil_of_views(order, target):
    def make():
        u = np.array(np.arange(99.0).reshape(9, 11), order=order)
        return u[1:-1, 1:-1], u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], u[1:-1, 2:]

    both(relaxed, target, make)


@pytest.mark.parametrize("target", TARGETS)
def test_an_index_out_of_a_view_is_an_error_though_the_base_has_it(target):
    x = np.arange(20.0)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 of 'b' with size 5"):
        appyc.jit(target=target)(copied)(x[1:12], x[:5])


@pytest.mark.parametrize("target", TARGETS)
def test_an_index_that_is_read_takes_the_plain_version(target):
    def make():
        x = np.arange(20.0)
        return x[1:], x[:-1]

    both(gathered, target, make, np.array([3, -1, 0, 2]))


@pytest.mark.parametrize("target", TARGETS)
def test_a_result_that_is_an_argument(target):
    def make():
        x = np.arange(9.0)
        return x, x

    x, _ = arguments = make()
    got = appyc.jit(target=target)(total_into)(*arguments)
    assert got[0] is x
    wanted, got = both(total_into, target, make)
    assert wanted[1] == got[1]


@pytest.mark.parametrize("target", TARGETS)
def test_a_result_that_counts_from_the_end_of_a_view(target):
    def last_of(a, b):
        for i in range(b.shape[0]):
            a[i] = b[i] + 1.0
        return b[-1]

    def make():
        x = np.arange(12.0)
        return x[3:], x[:7]

    wanted, got = both(last_of, target, make)
    assert wanted == got


def test_a_second_process_finds_it_on_disk(monkeypatch):
    from appyc.compiler import cpu

    def make():
        x = np.arange(30.0)
        return x[:-4], x[4:]

    both(copied, "cpu", make)
    monkeypatch.setattr(cpu, "analyse", lambda *_: pytest.fail("it was compiled again"))
    both(copied, "cpu", make)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20)), min_size=2, max_size=2),
    st.sampled_from([1, 2, -1]),
    st.sampled_from([copied, marked, backwards]),
)
def test_any_two_views(views, step, fn):
    length = min(size for _, size in views)

    def make():
        x = np.arange(60.0)[::step]
        return tuple(x[start : start + length] for start, _ in views)

    both(fn, "cpu", make)


def test_the_dispatcher_takes_the_same_array_from_the_second_call_on():
    jitted = appyc.jit(copied)
    x = np.arange(30.0)
    jitted(x, x.copy())
    usual = len(jitted.kernels)
    jitted(x, x)
    assert len(jitted.kernels) == usual + 1
    assert jitted.kernels[0].same == (0, 0)
    assert fits(jitted.kernels[0], (x, x))
    assert not fits(jitted.kernels[0], (x, x.copy()))
    expected = x * 3 + 1
    jitted(x, x)
    np.testing.assert_array_equal(x, expected)


def test_a_failing_guard_costs_one_more_call_of_compiled_code():
    @appyc.jit
    def shifted(a, k):
        for i in range(a.shape[0]):
            a[i] = a[i + k]

    a = np.arange(9.0)
    shifted(a, 0)
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        shifted(a, 1)
    assert shifted.kernels[0].checked is not None
    b = np.arange(9.0)
    with pytest.raises(IndexError, match="index 9 is out of bounds") as caught:
        shifted(b, 1)
    assert "_call" not in [f.name for f in caught.traceback]
    np.testing.assert_array_equal(b, [1, 2, 3, 4, 5, 6, 7, 8, 8])


def stencil(a, b, c):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = 0.5 * b[i, j] + c[i, j]


def parts(u):
    return u[1:-1, 1:-1], u[:-2, 1:-1], u[2:, 1:-1]


def test_the_dispatcher_takes_parts_of_one_array_from_the_second_call_on():
    jitted, missed = appyc.jit(target="cpu", strict=True)(stencil), []
    jitted(*parts(np.ones((5, 6))))
    jitted(*parts(np.ones((5, 6))))
    jitted.before = lambda entry, *args: missed.append(args)
    for shape in ((5, 6), (9, 5), (4, 4)):
        ours, wanted = (np.arange(1.0, 1 + np.prod(shape)).reshape(shape) for _ in range(2))
        jitted(*parts(ours))
        stencil(*parts(wanted))
        np.testing.assert_array_equal(ours, wanted)
    assert not missed
    u, v = np.ones((5, 6)), np.ones((5, 6))
    for others, is_taken in (
        ((u[1:-1, 2:-1], u[:-2, 2:-1], u[2:, 2:-1]), True),
        ((u[1:-1, 1:-1], u[:-2, 1:-1], u[2:, :-2]), False),  # at another distance
        ((u[1:-1, 1:-1], u[:-2, 1:-1], u[:-2, 1:-1].copy()), False),  # one that has memory of its own
        ((u[1:-1:2, 1:-1], u[:-2:2, 1:-1], v[2::2, 1:-1]), True),  # rows that are apart
        ((u[1:1, 1:-1], u[:0, 1:-1], u[2:2, 1:-1]), False),  # contiguous, having no element
    ):
        missed.clear()
        jitted(*others)
        assert bool(missed) != is_taken


def _axis(draw, extent):
    step = draw(st.sampled_from((1, 1, 2, -1)))
    return step, (extent - 1) * abs(step) + 1


def _part(draw, steps, shape, size):
    out = []
    for (step, span), whole in zip(steps, size, strict=True):
        low = draw(st.integers(0, whole - span))
        out.append(
            slice(low, low + span, step)
            if step > 0
            else slice(low + span - 1, low - 1 if low else None, step)
        )
    return tuple(out)


COMPILED = appyc.jit(target="cpu", strict=True)(stencil)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_parts_of_one_array_that_the_dispatcher_takes(data):
    shape = tuple(data.draw(st.integers(1, 4)) for _ in range(2))
    steps = [_axis(data.draw, extent) for extent in shape]
    where = [_part(data.draw, steps, shape, (9, 10)) for _ in range(3)]
    of_other = data.draw(st.sampled_from((None, 0, 1, 2)))
    results = []
    for run in (stencil, COMPILED):
        u, other = np.linspace(0, 1, 90).reshape(9, 10), np.linspace(3, 4, 90).reshape(9, 10)
        run(*(((other if n == of_other else u)[part]) for n, part in enumerate(where)))
        results.append((u, other))
    np.testing.assert_array_equal(results[0], results[1])
