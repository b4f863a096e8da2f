"""Loops that are parallel under a condition get a version behind its test."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Fail, If
from appyc.ir.printer import print_function
from appyc.ir.visit import loops_of, walk
from appyc.passes.checks.version_loops import version_loops
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.printed import run_printed

A = np.arange(12.0)


def before(fn, *args: object):
    """The function as the pass gets it, and its context."""
    context = PassContext()
    plain = pipeline.run(lowered(fn, *args), pipeline.SIMPLIFY, context, verify=True)
    return pipeline.run(plain, pipeline.ANALYSE[: pipeline.ANALYSE.index(version_loops)], context), context


def shifted(a, k, n):
    for i in range(n):
        a[i] = a[i + k] + 1.0


def test_golden(golden):
    fn, context = before(shifted, A, 2, 10)
    out = version_loops(fn, context)
    assert len(loops_of(out.body)) == 2 * len(loops_of(fn.body))
    golden("ir/version_loops.txt", f"{print_function(fn)}\n# after\n\n{print_function(out)}")


@pytest.mark.parametrize(("k", "n"), [(0, 12), (2, 10), (6, 6)])
def test_both_versions_do_the_same(k, n):
    fn, context = before(shifted, A, 2, 10)
    expected, found = A.copy(), A.copy()
    shifted(expected, k, n)
    run_printed(version_loops(fn, context), found, k, n)
    np.testing.assert_array_equal(found, expected)


def test_pragma_raises_where_the_condition_fails():
    def asked(a, k, n):
        # pragma parallel for
        for i in range(n):
            a[i] = a[i + k] + 1.0

    fn, context = before(asked, A, 2, 10)
    out = version_loops(fn, context)
    assert len(loops_of(out.body)) == 1
    tests = [n for n in walk(out) if isinstance(n, If) and any(isinstance(s, Fail) for s in n.then)]
    assert len(tests) == 1


def test_free_and_carried_loops_keep_one_version():
    def free(a, n):
        for i in range(n):
            a[i] = a[i] + 1.0

    def carried(a, n):
        for i in range(1, n):
            a[i] = a[i - 1] * a[i]

    for kernel in (free, carried):
        fn, context = before(kernel, A, 10)
        assert version_loops(fn, context) is fn
