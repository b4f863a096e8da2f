"""Loads that are hoisted out of sequential loops: which of them, and that the values are the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from appyc import pipeline
from appyc.ir.names import NameSupply
from appyc.ir.nodes import For, Function, If, Load, While
from appyc.ir.visit import loops_of, walk
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.hoist_invariants import hoist_loads
from tests.lowering import after, lowered
from tests.printed import run_printed

COUNTS = np.zeros(37, np.int64)
NUMBERS = np.linspace(-1, 2, 37)


def after_analysis(fn, *args: object) -> Function:
    return after(lowered(fn, *args), *pipeline.SIMPLIFY, *pipeline.ANALYSE, context=PassContext())


def steps(c, out, limit):
    for i in range(len(out)):
        z = 0.0
        k = 0
        while z < 4.0 and k < limit:
            z = z * z + c[i]
            k += 1
        out[i] = k


def test_reads_are_not_taken_out_of_conditions():
    def fn(x, w, out, n):
        for i in range(len(x)):
            s = x[i]
            k = 0
            while k < n and s < w[0]:
                s = s + x[i]
                if s > 1.0:
                    s = s + w[1]
                k += 1
            out[i] = s

    before = after_analysis(fn, NUMBERS, NUMBERS, NUMBERS.copy(), 5)
    (loop,) = loops_of(before.body)
    body = hoist_loads(loop.body, set(), NameSupply.after(before))
    inner = next(stmt for stmt in body if isinstance(stmt, While))
    left = [n for n in walk(inner) if isinstance(n, Load)]
    assert len(left) == 2  # behind `and`, and under the `if`
    guard = body[body.index(inner) - 1]
    assert isinstance(guard, If)
    assert len(guard.then) == 1


def test_reads_of_what_is_written_stay():
    before = after_analysis(steps, NUMBERS, COUNTS, 5)
    (loop,) = loops_of(before.body)
    for written, reads in ((set(), 0), ({before.params[0]}, 1)):
        body = hoist_loads(loop.body, written, NameSupply.after(before))
        inner = next(stmt for stmt in body if isinstance(stmt, While))
        assert sum(isinstance(n, Load) for n in walk(inner)) == reads


def test_hoisted_loads_give_the_same_values():
    before = after_analysis(steps, NUMBERS, COUNTS, 5)
    (loop,) = loops_of(before.body)
    body = hoist_loads(loop.body, set(), NameSupply.after(before))
    out = replace(before, body=tuple(replace(s, body=body) if isinstance(s, For) else s for s in before.body))
    assert out != before
    outcomes = []
    for program in (before, out):
        arguments = [NUMBERS.copy(), COUNTS.copy()]
        run_printed(program, *arguments, 5)
        outcomes.append(arguments)
    np.testing.assert_equal(outcomes[1], outcomes[0])
