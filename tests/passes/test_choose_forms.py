"""Which form each loop gets in C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.schedule import Accumulators, Dots, Form, Interleaved, LoopSchedule, OuterLanes, Simd
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered


def schedules(fn: Callable[..., Any], *args: object) -> list[LoopSchedule]:
    """What was decided about each loop, outermost first."""
    context = PassContext(Options(target="cpu"))
    out = lowered(fn, *args)
    for passes in (pipeline.SIMPLIFY, pipeline.ANALYSE, pipeline.FOR_C):
        out = pipeline.run(out, passes, context, verify=True)
    return [out.schedule[loop.var] for loop in loops_of(out.body)]


def forms(fn: Callable[..., Any], *args: object) -> list[type[Form] | None]:
    """The kind of form of each loop, outermost first."""
    found = [decided.form for decided in schedules(fn, *args)]
    return [None if form is None else type(form) for form in found]


def product(c, a, b):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def stack(c, a, b):
    for n in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(b.shape[2]):
                s = 0.0
                for k in range(a.shape[2]):
                    s += a[n, i, k] * b[n, k, j]
                c[n, i, j] = s


def with_three_factors(c, a, b, d):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j] * d[k, i]
            c[i, j] = s


def rows(y, a, x):
    for i in range(a.shape[0]):
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * x[k]
        y[i] = s


def two_matrices(y, a, b, x):
    """Rows of two matrices at once are more than a core fetches ahead."""
    for i in range(a.shape[0]):
        s = t = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * x[k]
            t += b[i, k] * x[k]
        y[i] = s - t


def triangle(y, a, x):
    for i in range(a.shape[0]):
        s = 0.0
        for k in range(i):
            s += a[i, k] * y[k]
        y[i] = (x[i] - s) / a[i, i]


def elementwise(y, x):
    for i in range(x.shape[0]):
        y[i] = x[i] + 1.0


def recurrence(y, x):
    for i in range(1, x.shape[0]):
        y[i] = y[i - 1] * y[i - 1] + x[i]


SQUARE, STACK, ROW = np.ones((3, 3)), np.ones((2, 3, 3)), np.ones(3)


@pytest.mark.parametrize(
    ("fn", "args", "wanted"),
    [
        (elementwise, (ROW, ROW), {Simd}),
        (rows, (ROW, SQUARE, ROW), {Dots, Accumulators}),
        (two_matrices, (ROW, SQUARE, SQUARE, ROW), {Accumulators}),
        (triangle, (ROW, SQUARE, ROW), {Accumulators}),
        (with_three_factors, (SQUARE,) * 4, {OuterLanes}),
        (stack, (STACK,) * 3, {OuterLanes}),
        (recurrence, (ROW, ROW), set()),
    ],
)
def test_form(fn: Callable[..., Any], args: tuple[Any, ...], wanted: set[type[Form]]) -> None:
    found = {form for form in forms(fn, *args) if form is not None}
    assert wanted <= found
    assert found <= wanted | {Simd, Interleaved}


def test_loops_of_a_product_that_is_too_small_for_the_library_are_not_jammed() -> None:
    assert set(forms(product, SQUARE, SQUARE, SQUARE)) <= {Simd, None}


def last_axis_max(a):
    return np.max(a, axis=-1)


def last_axis_any(a):
    return np.any(a > 1, axis=-1)


def last_axis_sum(a):
    return np.sum(a, axis=-1)


def last_axis_argmax(a):
    return np.argmax(a, axis=-1)


def sums_of_sixteen(a):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for k in range(64, 80):
            out[i] += a[i, k]
    return out


def whole_sum(a):
    return a.sum()


@pytest.mark.parametrize(
    ("fn", "dtype", "wanted"),
    [
        (last_axis_max, np.float64, [0, 16]),
        (last_axis_any, np.float32, [0, 32]),
        (last_axis_sum, np.uint8, [0, 64]),
        (last_axis_argmax, np.int64, [0, 16, 16]),
        (sums_of_sixteen, np.float64, [0, 0]),
    ],
)
def test_short_reductions_inside_a_loop_run_in_order(
    fn: Callable[..., Any], dtype: type, wanted: list[int]
) -> None:
    assert [decided.in_order_below for decided in schedules(fn, np.ones((9, 80), dtype))] == wanted


def test_a_reduction_that_runs_once_has_lanes_only() -> None:
    assert not any(decided.in_order_below for decided in schedules(whole_sum, np.ones((9, 80))))


@pytest.mark.sampled
@pytest.mark.parametrize("length", [1, 2, 3, 15, 16, 17, 31, 33, 63, 64, 65])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, np.int64])
def test_reductions_of_rows_on_both_sides_of_that_length(length: int, dtype: type) -> None:
    a = np.random.default_rng(length).integers(0, 3, (50, length)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        a[::7, length // 2] = np.nan
        a[3::11, -1] = -np.inf
    for fn in (last_axis_max, last_axis_any, last_axis_sum, last_axis_argmax):
        np.testing.assert_array_equal(appyc.jit(target="cpu")(fn)(a), fn(a), err_msg=fn.__name__)
