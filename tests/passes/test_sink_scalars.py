"""Scalars move into the free loops that alone read them: as printed IR, in Python, and in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Function
from appyc.ir.printer import print_function
from appyc.options import Options
from appyc.passes.gpu.sink_scalars import sink_scalars
from appyc.passes.locality.interchange_loops import interchange_loops
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.printed import run_printed
from tests.triton_gen.source_runner import compare


def before_and_after(fn, *args: object, target: str = "gpu") -> tuple[Function, Function, PassContext]:
    context = PassContext(Options(target=target))
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(sink_scalars)])
    before = pipeline.run(lowered(fn, *args), passes, context)
    return before, pipeline.run(before, (sink_scalars,), context, verify=True), context


def plane(*shape: int) -> np.ndarray:
    return np.cos(np.arange(float(np.prod(shape)))).reshape(shape)


def columns_in_step(q, pivot):
    """With the rows outside, all iterations are one launch."""
    for j in range(1, q.shape[0]):
        factor = 0.5 * pivot[j]
        more = factor + 1.0
        for i in range(q.shape[1]):
            q[j, i] -= factor * q[j - 1, i] * more


def rows_of_planes(q, pivot):
    for j in range(1, q.shape[0]):
        factor = pivot[j - 1]
        for i in range(q.shape[1]):
            for k in range(q.shape[1]):
                q[j, i] += factor * q[j - 1, i] * k


def an_element_before_a_loop(q, pivot):
    first = pivot[0]
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            q[i, j] = q[i, j] * first


def below_the_diagonal(q, pivot):
    """The element is in the array that the loop writes, but no iteration writes it."""
    for k in range(1, q.shape[1]):
        corner = q[k, k]
        for i in range(k + 1, q.shape[0]):
            q[i, k] = q[i, k - 1] * corner


SUNK = [columns_in_step, rows_of_planes, an_element_before_a_loop, below_the_diagonal]


@pytest.mark.parametrize("fn", SUNK, ids=lambda fn: fn.__name__)
def test_scalars_sink_and_results_stay(fn):
    args = plane(7, 5), plane(7)
    before, after, _ = before_and_after(fn, *args)
    assert after.body != before.body
    assert before_and_after(fn, *args, target="cpu")[1].body == before.body
    ours, theirs = ([a.copy() for a in args] for _ in range(2))
    run_printed(after, *ours)
    fn(*theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    compare(fn, *args, exact=False, build=False)


def test_a_nest_with_nothing_between_its_loops_is_one_launch():
    program = compare(columns_in_step, plane(7, 5), plane(7), exact=False)
    assert len(program.kernels) == 1
    assert "for j in" not in program.text.partition("def host")[2]


def written_by_the_loop(q, pivot):
    for k in range(1, q.shape[0]):
        corner = q[k, 0]
        for i in range(q.shape[1]):
            q[k, i] = q[k, i] * corner


def written_by_one_iteration(q, pivot):
    """The inner loop is free, and is not with the element inside."""
    for k in range(1, q.shape[1]):
        corner = q[2, k]
        for i in range(q.shape[0]):
            q[i, k] = q[i, k - 1] * corner


def read_afterwards(q, pivot):
    for k in range(q.shape[0]):
        factor = pivot[k]
        for i in range(q.shape[1]):
            q[k, i] = q[k, i] * factor
        pivot[k] = factor + 1.0


def a_bound(q, pivot):
    for k in range(q.shape[0]):
        end = np.int64(pivot[k] * 0.0 + 2.0)
        for i in range(end):
            q[k, i] = q[k, i] * end


def a_function(q, pivot):
    for k in range(q.shape[0]):
        factor = np.exp(pivot[k])
        for i in range(q.shape[1]):
            q[k, i] = q[k, i] * factor


def a_number_of_the_host(q, pivot):
    factor = q.shape[0] * 0.5
    for i in range(q.shape[1]):
        q[0, i] = q[0, i] * factor


@pytest.mark.parametrize(
    "fn",
    [
        written_by_the_loop, written_by_one_iteration, read_afterwards, a_bound, a_function, a_number_of_the_host,
    ],
    ids=lambda fn: fn.__name__,
)  # fmt: skip
def test_other_scalars_stay(fn):
    args = plane(7, 7), plane(7)
    before, after, _ = before_and_after(fn, *args)
    assert after.body == before.body
    compare(fn, *args, exact=False, build=False)


def test_interchange_follows(golden):
    _, after, context = before_and_after(columns_in_step, plane(7, 5), plane(7))
    golden("ir/sink_scalars.txt", print_function(pipeline.run(after, (interchange_loops,), context)))
