"""Elements beside the one that is stored are read before the choice between them."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Assign, If, Load, LoopMode
from appyc.ir.printer import print_function
from appyc.ir.visit import loops_of, walk
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.storage.speculate_loads import speculate_loads
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered
from tests.printed import run_printed

UP_TO = (
    *pipeline.SIMPLIFY,
    *pipeline.ANALYSE,
    *pipeline.FOR_C[: pipeline.FOR_C.index(speculate_loads)],
)


def longest_common(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                d[i, j] = d[i - 1, j - 1] + 1
            else:
                d[i, j] = max(d[i - 1, j], d[i, j - 1])
    return d


def chosen(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    for i in range(len(a)):
        for j in range(len(b)):
            d[i + 1, j + 1] = d[i, j] + 1 if a[i] == b[j] else max(d[i, j + 1], d[i + 1, j])
    return d


def before_the_first(a, b):
    d = np.ones(len(a))
    for i in range(len(a)):
        d[i] = a[i] + 1 if i < 2 else d[i - 2] * 0.5 + d[i - 1]
    return d


def behind(a, b):
    d = np.ones(len(a) + 2)
    for i in range(1, len(a)):
        d[i] = d[i + 1] if a[i] > d[i - 1] else d[i - 1] * 0.5
    return d


def prepared(fn):
    context = PassContext(Options(target="cpu"))
    return after(lowered(fn, np.arange(4), np.arange(5)), *UP_TO, context=context)


def reads_ahead(fn):
    return sum(isinstance(n, Assign) and isinstance(n.value, Load) for n in walk(fn))


@pytest.mark.parametrize(
    ("fn", "count"), [(longest_common, 3), (chosen, 3), (behind, 1), (before_the_first, 0)]
)
def test_reads_that_are_in_range_come_first(fn, count):
    before = prepared(fn)
    found = after(before, speculate_loads)
    assert reads_ahead(found) - reads_ahead(before) == count
    if fn is longest_common:
        assert not any(isinstance(n, If) for n in walk(found.body))


@pytest.mark.parametrize("fn", [longest_common, chosen, before_the_first, behind], ids=lambda f: f.__name__)
@pytest.mark.parametrize("sizes", [(0, 3), (1, 1), (7, 6)])
def test_results_stay(fn, sizes):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 3, size) for size in sizes)
    np.testing.assert_array_equal(run_printed(after(prepared(fn), speculate_loads), a, b), fn(a, b))
    run_everywhere(fn, a, b)


def test_threads_have_their_own():
    def many(x):
        out = np.zeros(x.shape[0], np.int32)
        d = np.zeros((x.shape[0], x.shape[1] + 1, x.shape[1] + 1), np.int32)
        # pragma parallel for
        for k in range(x.shape[0]):
            for i in range(x.shape[1]):
                for j in range(x.shape[1]):
                    d[k, i + 1, j + 1] = (
                        d[k, i, j] + 1 if x[k, i] == x[0, j] else max(d[k, i, j + 1], d[k, i + 1, j])
                    )
            out[k] = d[k, -1, -1]
        return out

    context = PassContext(Options(target="cpu"))
    found = after(lowered(many, np.ones((3, 4))), *UP_TO, speculate_loads, context=context)
    scalars = {n.target for n in walk(found) if isinstance(n, Assign) and isinstance(n.value, Load)}
    [outer] = [n for n in loops_of(found.body) if n.var.name == "k"]
    assert outer.mode is LoopMode.PARALLEL
    assert len(scalars) == 3
    assert scalars <= {*outer.private}
    run_everywhere(many, np.random.default_rng(0).integers(0, 3, (40, 30)))


def test_golden(golden):
    before = prepared(longest_common)
    found = after(before, speculate_loads)
    golden("loops/reads_ahead.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
