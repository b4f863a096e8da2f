"""Two scalars that a loop combines the same into become one; others stay."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Function, Update
from appyc.ir.types import DType
from appyc.ir.visit import walk
from appyc.passes.fuse.merge_reductions import merge_reductions
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program, assign, for_, load, store, update
from tests.lowering import lowered
from tests.printed import run_printed


class Loop:
    """s and t start from given numbers; `body` makes the statements of a loop over x."""

    def __init__(self, start_s: float, start_t: float) -> None:
        p = self.p = Program()
        self.x, self.y = p.array("x", 1), p.array("y", 1)
        self.i, self.s, self.t = p.index("i"), p.local("s"), p.local("t")
        self.first = [assign(self.s, start_s), assign(self.t, start_t)]

    def after(self, *body) -> Function:
        fn = self.p.function(*self.first, for_(self.i, 0, 4, list(body)), results=(self.s, self.t))
        return merge_reductions(fn, PassContext())

    def element(self):
        return load(self.x, self.i, checked=False)


def updates(fn: Function) -> int:
    return sum(isinstance(n, Update) for n in walk(fn))


def test_one_update_for_both():
    c = Loop(0.0, 0.0)
    out = c.after(update(c.s, [], "+", c.element()), update(c.t, [], "+", c.element()))
    assert updates(out) == 1
    assert run_printed(out, np.arange(4.0), np.zeros(4)) == (6.0, 6.0)


@pytest.mark.parametrize(
    "what",
    ["another start", "another zero", "another operator", "read between", "written between", "value between"],
)
def test_both_updates_stay(what):
    c = Loop(0.0, {"another start": 1.0, "another zero": -0.0}.get(what, 0.0))
    op = "*" if what == "another operator" else "+"
    between = []
    if what == "read between":
        between = [store(c.y, [c.i], c.t, checked=False)]
    if what == "written between":
        between = [assign(c.t, 2.0)]
    if what == "value between":
        between = [store(c.x, [c.i], 2.0, checked=False)]
    out = c.after(update(c.s, [], "+", c.element()), *between, update(c.t, [], op, c.element()))
    assert updates(out) == 2


def test_mean_and_deviation_take_one_sum():
    def statistics(x):
        return x.mean(), x.std()

    context = PassContext()
    x = np.linspace(-1.0, 3.0, 9)
    plain = pipeline.run(lowered(statistics, x), pipeline.SIMPLIFY, context, verify=True)
    names = [p.__name__ for p in pipeline.ANALYSE]
    passes = pipeline.ANALYSE[: names.index("merge_reductions") + 1]
    out = pipeline.run(plain, passes, context, verify=True)
    assert updates(out) == 2
    np.testing.assert_allclose(run_printed(out, x), statistics(x))


def test_nothing_to_share():
    p = Program()
    i, s = p.index("i"), p.local("s", DType.INT64)
    fn = p.function(assign(s, 0), for_(i, 0, 4, [update(s, [], "+", 1)]), results=(s,))
    assert merge_reductions(fn, PassContext()) is fn
