"""Reductions of recurrences are pushed along rows: the new loops as text, their results, and what stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Function
from appyc.ir.printer import print_function
from appyc.options import Options
from appyc.passes.locality.interchange_recurrences import interchange_recurrences
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.printed import run_printed


def before_and_after(fn, *args: object, **options: object) -> tuple[Function, Function, PassContext]:
    context = PassContext(Options(**{"target": "cpu", **options}))
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(interchange_recurrences)])
    before = pipeline.run(lowered(fn, *args), passes, context)
    return before, pipeline.run(before, (interchange_recurrences,), context, verify=True), context


def order_of_products(m, p):
    for i in range(m.shape[0] - 1, -1, -1):
        for j in range(i + 1, m.shape[0]):
            best = np.inf
            for k in range(i, j):
                cost = m[i, k] + m[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                best = min(best, cost)
            m[i, j] = best


def factorised(m, p):
    for i in range(m.shape[0]):
        for j in range(i):
            s = m[i, j]
            for k in range(j):
                s -= m[i, k] * m[k, j]
            m[i, j] = s / p[j]


def with_a_gap(m, p):
    """Element j needs those before j - 2, from a column further left than the first of j."""
    for i in range(1, m.shape[0]):
        for j in range(5, m.shape[1]):
            s = p[j]
            for k in range(1, j - 2):
                s = max(s, m[i, k] - m[k, j])
            m[i, j] = s


PUSHED = [order_of_products, factorised, with_a_gap]


@pytest.mark.parametrize("size", [1, 2, 5, 6, 9])
@pytest.mark.parametrize("fn", PUSHED, ids=lambda fn: fn.__name__)
def test_reductions_are_pushed(fn, size):
    rng = np.random.default_rng(size)
    args = rng.random((size, size)), rng.random(size + 1) + 0.5
    before, after, context = before_and_after(fn, *args)
    assert after.body != before.body
    assert any("rows are walked" in note.text for note in context.remarks)
    ours, theirs = ([a.copy() for a in args] for _ in range(2))
    run_printed(after, *ours)
    fn(*theirs)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)


def test_golden(golden):
    texts = [print_function(before_and_after(fn, np.ones((4, 4)), np.ones(5))[1]) for fn in PUSHED]
    golden("loops/interchange_recurrences.txt", "\n".join(texts))


def reads_what_comes_later(m, p):
    for i in range(m.shape[0]):
        for j in range(1, m.shape[0]):
            s = p[j]
            for k in range(j):
                s = max(s, m[i, j - 1 - k] + m[k, j])
            m[i, j] = s


def reads_the_column_that_it_stores(m, p):
    for i in range(1, m.shape[0]):
        for j in range(1, m.shape[0]):
            s = p[j]
            for k in range(j):
                s = max(s, m[i, k] + m[k + 1, j])
            m[j, i] = s


def with_a_scalar_of_its_iteration(m, p):
    for i in range(m.shape[0]):
        for j in range(i + 1, m.shape[0]):
            own = p[j] * m[i, j]
            s = own
            for k in range(i + 1, j):
                s = max(s, m[i, k] + m[k, j] * own)
            m[i, j] = s


def without_a_recurrence(m, p):
    for _ in range(m.shape[0]):
        for j in range(m.shape[0]):
            s = 0.0
            for k in range(j):
                s = max(s, m[k, j])
            p[j] = s


def along_rows(m, p):
    for i in range(m.shape[0]):
        for j in range(i):
            s = m[i, j]
            for k in range(j):
                s = max(s, m[i, k] * m[j, k])
            m[i, j] = s


def stored_before_it_is_read(m, p):
    for i in range(1, m.shape[0]):
        for j in range(1, m.shape[0]):
            m[0, j] = p[j]
            s = p[j]
            for k in range(j):
                s = max(s, m[i, k] + m[k, j])
            m[i, j] = s


def up_to_an_element(m, p):
    for i in range(m.shape[0]):
        for j in range(1, int(p[i])):
            s = p[j]
            for k in range(j):
                s = max(s, m[i, k] + m[k, j])
            m[i, j] = s


KEPT = [
    reads_what_comes_later, reads_the_column_that_it_stores, with_a_scalar_of_its_iteration, without_a_recurrence,
    along_rows, stored_before_it_is_read, up_to_an_element,
]  # fmt: skip


@pytest.mark.parametrize("fn", KEPT, ids=lambda fn: fn.__name__)
def test_others_stay(fn):
    before, after, _ = before_and_after(fn, np.ones((4, 4)), np.ones(5))
    assert after.body == before.body


def test_options_decide():
    args = np.ones((4, 4)), np.ones(5)
    before, after, _ = before_and_after(factorised, *args, exact=True)
    assert after.body == before.body  # a sum would be rounded differently
    before, after, _ = before_and_after(order_of_products, *args, exact=True)
    assert after.body != before.body
    before, after, _ = before_and_after(order_of_products, *args, target="gpu")
    assert after.body == before.body
