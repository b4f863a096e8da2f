"""Sums of products of deviations go into the pass over memory that finds the means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import For, Function
from appyc.ir.printer import print_function
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.fuse import block_moments
from appyc.passes.fuse.fuse_variance import fuse_variance
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.printed import run_printed

NAMES = [p.__name__ for p in pipeline.ANALYSE]
UP_TO = pipeline.ANALYSE[: NAMES.index("fuse_variance") + 1]


def blocked(fn, *args: object, options: Options | None = None) -> tuple[Function, PassContext]:
    context = PassContext(options or Options(target="cpu"))
    return pipeline.run(lowered(fn, *args), (*pipeline.SIMPLIFY, *UP_TO), context, verify=True), context


def is_blocked(fn, *args: object, options: Options | None = None) -> bool:
    _, context = blocked(fn, *args, options=options)
    return any("in one pass over memory" in remark.text for remark in context.remarks)


def mean_and_deviation(x):
    return x.mean(), x.std()


def by_hand(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    m = s / max(x.shape[0], 1)
    q = 0.0
    for i in range(x.shape[0]):
        q += (x[i] - m) ** 2
    return m, q


def mirrored(x):
    m = x.sum() / max(x.shape[0], 1)
    q = 0.0
    for i in range(x.shape[0]):
        d = m - x[i]
        q += d * d
    return q


def about_something_else(x):
    """Nobody says that it has to be the mean."""
    top = x[:1].sum()
    for i in range(x.shape[0]):
        top = max(top, x[i])
    q = 0.0
    for i in range(x.shape[0]):
        q += (x[i] - top) * (x[i] - top)
    return q


def covariance(x):
    """Of an array and its mirror image, and the variance of the first."""
    n = x.shape[0]
    a = b = 0.0
    for i in range(n):
        a += x[i]
        b += x[n - 1 - i]
    a = a / max(n, 1)
    b = b / max(n, 1) + 1.0
    c = q = 0.0
    for i in range(n):
        c += (x[i] - a) * (x[n - 1 - i] - b)
        q += (x[i] - a) * (x[i] - a)
    return c, q


def of_a_temporary(x):
    return (x * x).std()


LINES = [mean_and_deviation, by_hand, mirrored, about_something_else, covariance, of_a_temporary]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(block_moments, "BLOCK", 4)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("fn", LINES, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 8, 13])
def test_sums_along_a_line(fn, n):
    x = np.sin(np.arange(n) * 3.0) + 5.0
    program, _ = blocked(fn, x)
    assert is_blocked(fn, x), print_function(program)
    with np.errstate(all="ignore"):
        if fn is about_something_else and n == 0:
            return
        np.testing.assert_allclose(run_printed(program, x), fn(x), rtol=1e-13)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "shape", [(3, 4), (5, 3), (2, 9), (7, 1), (1, 7), (0, 3), (3, 0), (3, 2, 5), (2, 3, 1)]
)
def test_sums_over_planes_and_rooms(shape):
    x = np.cos(np.arange(float(np.prod(shape)))).reshape(shape)
    program, _ = blocked(mean_and_deviation, x)
    assert is_blocked(mean_and_deviation, x)
    np.testing.assert_allclose(run_printed(program, x), mean_and_deviation(x), rtol=1e-13)


def test_digits_are_kept_far_from_zero():
    x = 1e9 + np.random.default_rng(0).uniform(size=4001)
    program, _ = blocked(by_hand, x)
    _, q = run_printed(program, x)
    distances = [(np.longdouble(v) - np.longdouble(1e9)) for v in x]
    mean = sum(distances) / len(x)
    exact = float(sum((d - mean) ** 2 for d in distances))
    assert abs(q - exact) <= 1e-11 * exact  # what the mean's own last digit makes of it


def test_means_that_are_rounded_are_made_up_for():
    """Of a block's mean many digits may be missing; what the sum needs is in `rest`."""
    x = np.float32(3e6) + np.random.default_rng(1).uniform(-1, 1, 203).astype(np.float32)
    program, _ = blocked(mean_and_deviation, x)
    _, deviation = run_printed(program, x)
    mean, _ = mean_and_deviation(x)
    expected = np.sqrt(((x.astype(float) - float(run_printed(program, x)[0])) ** 2).mean())
    assert abs(mean - x.astype(float).mean()) < 1
    np.testing.assert_allclose(deviation, expected, rtol=1e-5)


@pytest.mark.parametrize(
    "values",
    [
        [np.nan, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, np.nan], [np.inf, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, -np.inf],
        [np.inf, -np.inf, 1, 2, 3, 4], [1e308] * 6, [1e200, -1e200, 1, 2, 3, 4], [0.0] * 6,
    ],
)  # fmt: skip
def test_what_is_no_number_says_so(values):
    x = np.array(values)
    program, _ = blocked(by_hand, x)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(run_printed(program, x)[1], by_hand(x)[1])


def sums_of_other_things(x):
    m = x.mean()
    q = 0.0
    for i in range(x.shape[0]):
        q += abs(x[i] - m)
    return q


def stores_beside_it(x):
    m = x.mean()
    q = 0.0
    for i in range(x.shape[0]):
        q += (x[i] - m) * (x[i] - m)
        x[i] = q
    return q


def written_between(x):
    m = x.mean()
    x[0] = 7.0
    q = 0.0
    for i in range(x.shape[0]):
        q += (x[i] - m) * (x[i] - m)
    return q


def other_range(x):
    m = x.mean()
    q = 0.0
    for i in range(x.shape[0] - 1):
        q += (x[i] - m) * (x[i] - m)
    return q


def of_another_iterations_element(x):
    t = np.empty(x.shape[0])
    s = 0.0
    for i in range(x.shape[0]):
        t[i] = x[i] * 2.0
        s += t[i]
    q = 0.0
    for i in range(x.shape[0]):
        q += (t[x.shape[0] - 1 - i] - s) * (t[x.shape[0] - 1 - i] - s)
    return q


def of_complex_numbers(x):
    return (x * 1j).var()


def rows(x):
    return x.reshape(3, 4).std(axis=1)


REFUSED = [
    sums_of_other_things, stores_beside_it, written_between, other_range, of_another_iterations_element,
    of_complex_numbers, rows,
]  # fmt: skip


@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_other_loops_stay(fn):
    x = np.linspace(1.0, 2.0, 12)
    assert not is_blocked(fn, x)
    program, _ = blocked(fn, x)
    np.testing.assert_allclose(run_printed(program, x.copy()), fn(x.copy()))


def test_digits_of_python_are_kept_where_they_are_asked_for():
    x = np.linspace(1.0, 2.0, 12)
    assert is_blocked(by_hand, x)
    assert not is_blocked(by_hand, x, options=Options(target="cpu", exact=True))
    assert not is_blocked(by_hand, x, options=Options(target="cpu", auto=False))


def test_nothing_to_do():
    fn = lowered(by_hand, np.zeros(3))
    empty = replace(fn, body=(), results=())
    assert fuse_variance(empty, PassContext()) is empty


def test_sum_that_the_loop_had_is_not_computed_twice():
    program, _ = blocked(by_hand, np.zeros(3))
    (first, *_) = [stmt for stmt in program.body if isinstance(stmt, For)]
    (inner, _) = loops_of(first.body)
    assert len(inner.body) == 1


def test_text(golden):
    before = pipeline.run(lowered(by_hand, np.zeros(3)), (*pipeline.SIMPLIFY, *UP_TO[:-1]), PassContext())
    after, _ = blocked(by_hand, np.zeros(3))
    golden(
        "tensors/deviations_in_blocks.txt", f"{print_function(before)}\n# after\n\n{print_function(after)}"
    )
