"""What may change places in a band, against running every order of random bands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from appyc.analysis.dependences.bands import Band, band_of
from appyc.analysis.dependences.legality import Legality
from appyc.ir.nodes import Expr, For, Function, Stmt, Symbol
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.passes.loop_ops.interchange import interchange
from appyc.passes.node_builders import shifted
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program, add, binary, expr, for_, load, mul, store, sub
from tests.printed import run_printed

MANY = hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)

MIDDLE, SIZE = 30, 60
"""Indices are this far from 0, so that none leaves its array."""


class Maker:
    """Draws a band of two or three loops around one or two statements."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.p = Program()
        self.n, self.m, self.k = (self.p.integer(name) for name in "nmk")
        self.a, self.b = self.p.array("a", 2, DType.INT64), self.p.array("b", 1, DType.INT64)
        self.vars: list[Symbol] = []

    def pick(self, options: Sequence):
        return self.draw(st.sampled_from(options))

    def index(self) -> Expr:
        value: Expr = expr(self.pick(self.vars))
        if self.pick([True, False, False]):
            value = binary(self.pick("+-"), value, expr(self.pick([*self.vars, self.k])))
        return add(value, MIDDLE + self.pick([-2, -1, 0, 0, 0, 1, 2]))

    def read(self) -> Expr:
        if self.pick([True, True, False]):
            return load(self.a, self.index(), self.index(), checked=False)
        return load(self.b, self.index(), checked=False)

    def statement(self) -> Stmt:
        value = add(mul(self.read(), 3), self.pick([self.read(), *(expr(v) for v in self.vars)]))
        if self.pick([True, True, False]):
            index = [self.index(), self.index()]
            if self.pick([True, False, False, False]):
                value = add(load(self.a, *index, checked=False), value)
            return store(self.a, index, value, checked=False)
        return store(self.b, [self.index()], value, checked=False)

    def bounds(self) -> tuple[Expr, Expr]:
        if not self.vars or self.pick([True, False]):
            return self.pick([(expr(0), expr(self.n)), (expr(1), expr(self.m)), (expr(self.k), expr(self.n))])
        o, n, k = self.pick(self.vars), self.n, self.k
        return self.pick(
            [
                (expr(0), expr(o)),
                (expr(o), expr(n)),
                (add(o, 1), expr(n)),
                (expr(0), binary("min", mul(2, o), n)),
                (binary("max", 0, sub(o, k)), binary("min", n, add(add(o, k), 1))),
                (sub(n, o), expr(n)),
                (expr(o), add(o, 2)),
                (binary("//", o, 2), expr(n)),
            ]
        )

    def function(self) -> Function:
        loops: list[tuple[Symbol, Expr, Expr, int]] = []
        for name in "ijl"[: self.pick([2, 2, 3])]:
            lo, hi = self.bounds()
            step = self.pick([1, 1, 1, -1])
            if step < 0:
                lo, hi = shifted(hi, -1), shifted(lo, -1)
            loops.append((self.p.index(name), lo, hi, step))
            self.vars.append(loops[-1][0])
        body: list[Stmt] = [self.statement() for _ in range(self.pick([1, 1, 2]))]
        for var, lo, hi, step in reversed(loops):
            body = [for_(var, lo, hi, body, step)]
        return recognise_reductions(self.p.function(*body), PassContext())


def chain(fn: Function) -> tuple[For, ...]:
    (loop,) = fn.body
    assert isinstance(loop, For)
    out = [loop]
    while isinstance(inner := out[-1].body[0], For):
        out.append(inner)
    return tuple(out)


def outcome(fn: Function, n: int, m: int, k: int) -> list[list[int]]:
    rng = np.random.default_rng(n)
    arrays = [rng.integers(-5, 9, (SIZE, SIZE)), rng.integers(-5, 9, SIZE)]
    run_printed(fn, n, m, k, *arrays)
    return [array.tolist() for array in arrays]


def backwards(loop: For) -> For:
    """The iterations of a loop with step 1 or -1, last one first."""
    last = shifted(loop.hi, -loop.step)
    return replace(loop, lo=last, hi=shifted(loop.lo, -loop.step), step=-loop.step)


CALLS = ((0, 3, 1), (1, 1, 0), (5, 4, 2), (6, 6, -1), (3, 7, 9))


@pytest.fixture(scope="module")
def seen():
    """How often each of the promises was put to the test."""
    counts: Counter[str] = Counter()
    yield counts
    assert min(counts[name] for name in ("order", "slanted", "free")) > 10, counts


@MANY
@given(st.data())
def test_an_order_that_is_legal_gives_what_the_written_one_gives(seen: Counter[str], data: st.DataObject):
    fn = Maker(data.draw).function()
    legality = Legality.of(fn)
    loops = chain(fn)
    band = band_of(legality, loops)
    if band is None:
        return
    expected = [outcome(fn, *call) for call in CALLS]
    for order in band.orders():
        if band.broken(order, exact=False) is not None:
            continue
        nest = interchange(fn, loops, order, legality)
        if nest is None:
            continue
        new = replace(fn, body=(nest,))
        assert verify(new) == []
        assert [outcome(new, *call) for call in CALLS] == expected, order
        seen["order"] += order != tuple(range(len(loops)))
        seen["slanted"] += {(x.lo, x.hi) for x in chain(new)} != {(x.lo, x.hi) for x in loops}
        if not band.carried(order, 0):
            turned = replace(fn, body=(backwards(nest),))
            assert [outcome(turned, *call) for call in CALLS] == expected, order
            seen["free"] += 1


def band(*body: Stmt, p: Program) -> Band:
    fn = recognise_reductions(p.function(*body), PassContext())
    found = band_of(Legality.of(fn), chain(fn))
    assert found is not None
    return found


def test_a_dependence_that_leads_to_an_earlier_column_keeps_the_order():
    p = Program()
    a, n, i, j = p.array("a", 2), p.integer("n"), p.index("i"), p.index("j")
    above = load(a, sub(i, 1), add(j, 1), checked=False)
    found = band(for_(i, 1, n, [for_(j, 0, sub(n, 1), [store(a, [i, j], above, checked=False)])]), p=p)
    assert {d.signs for d in found.directions} == {(1, -1)}
    assert found.broken((1, 0), exact=False) is not None
    assert found.broken((0, 1), exact=False) is None


def test_counting_down_turns_the_sign_round():
    p = Program()
    a, n, i, j = p.array("a", 2), p.integer("n"), p.index("i"), p.index("j")
    above = load(a, sub(i, 1), add(j, 1), checked=False)
    inner = for_(j, sub(n, 2), -1, [store(a, [i, j], above, checked=False)], step=-1)
    found = band(for_(i, 1, n, [inner]), p=p)
    assert {d.signs for d in found.directions} == {(1, 1)}
    assert found.broken((1, 0), exact=False) is None


def test_sums_into_an_element_may_change_places_unless_the_order_counts():
    p = Program()
    a, x, n, i, j = p.array("a", 2), p.array("x", 1), p.integer("n"), p.index("i"), p.index("j")
    total = add(load(x, add(i, j), checked=False), load(a, i, j, checked=False))
    found = band(for_(i, 0, n, [for_(j, 0, n, [store(x, [add(i, j)], total, checked=False)])]), p=p)
    assert {d.conflict.kind for d in found.directions} == {"reduction"}
    assert found.broken((1, 0), exact=False) is None
    assert found.broken((1, 0), exact=True) is not None
