"""Which form each loop gets in C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.schedule import Dots, Form, Interleaved, OuterLanes, Simd
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered


def forms(fn: Callable[..., Any], *args: object) -> list[type[Form] | None]:
    """The kind of form of each loop, outermost first."""
    context = PassContext(Options(target="cpu"))
    out = lowered(fn, *args)
    for passes in (pipeline.SIMPLIFY, pipeline.ANALYSE, pipeline.FOR_C):
        out = pipeline.run(out, passes, context, verify=True)
    found = [out.schedule[loop.var].form for loop in loops_of(out.body)]
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
        (rows, (ROW, SQUARE, ROW), {Dots}),
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
