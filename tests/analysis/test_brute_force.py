"""The analysis against what programs do, on random loop nests."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Verdict
from appyc.ir.nodes import Expr, Function, Load, Stmt, Store, Symbol
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, walk
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.pass_context import PassContext
from tests.analysis.brute_force import OutOfRange, Tracer, at_entry, conflicts, holds, settings, tracer
from tests.ir_makers import (
    Program,
    add,
    assign,
    binary,
    compare,
    expr,
    extent,
    for_,
    if_,
    load,
    mul,
    store,
    sub,
)

MANY = hypothesis_settings(
    max_examples=50, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


SHIFT = 8
"""What is added to indices of programs without parameters."""

LARGE = 48
"""Arrays that such a program hardly ever leaves."""


class Maker:
    """Draws affine loop nests over two arrays and two integer parameters.

    fixed: numbers in place of the parameters, and indices that are hardly ever negative.
    """

    def __init__(self, draw: st.DrawFn, *, fixed: bool = False) -> None:
        self.draw = draw
        self.p = Program()
        self.fixed = fixed
        self.n, self.k = (
            (draw(st.integers(2, 5)), draw(st.integers(0, 3)))
            if fixed
            else (self.p.integer("n"), self.p.integer("k"))
        )
        self.arrays = [self.p.array("a", 1, DType.INT64), self.p.array("b", 2, DType.INT64)]
        self.loops: list[Symbol] = []

    def pick(self, options: Sequence):
        return self.draw(st.sampled_from(options))

    def atom(self) -> Expr:
        constant = self.draw(st.integers(-2, 3))
        return expr(self.pick([*self.loops, *self.loops, self.n, self.k, constant]))

    def affine(self) -> Expr:
        form = self.pick(["atom", "atom", "add", "sub", "scale", "half", "modulo", "min"])
        one = self.atom()
        match form:
            case "add":
                return add(one, self.atom())
            case "sub":
                return sub(one, self.atom())
            case "scale":
                return add(mul(one, self.pick([-1, 2, 3])), self.pick([0, 1]))
            case "half":
                return binary("//", one, self.pick([2, 3]))
            case "modulo":
                return binary("%", one, self.pick([2, 3]))
            case "min":
                return binary(self.pick(["min", "max"]), one, self.atom())
            case _:
                return one

    def element(self) -> tuple[Symbol, list[Expr]]:
        array = self.pick(self.arrays)
        axes = [self.affine() for _ in range(array.array.ndim)]
        return array, [add(index, SHIFT) for index in axes] if self.fixed else axes

    def store(self) -> Stmt:
        array, index = self.element()
        source, other = self.element()
        return store(array, index, add(load(source, *other), 1))

    def block(self, depth: int) -> list[Stmt]:
        return [self.statement(depth) for _ in range(self.draw(st.integers(1, 2)))]

    def statement(self, depth: int) -> Stmt:
        form = self.pick(["store", "store", "if", "for", "for"] if depth else ["store", "if"])
        if form == "if":
            cond = compare(self.pick(["<", "<=", "==", "!="]), self.affine(), self.affine())
            return if_(cond, [self.store()], [self.store()] if self.draw(st.booleans()) else [])
        return self.loop(depth) if form == "for" else self.store()

    def bounds(self) -> tuple[Expr, Expr]:
        """Plain, with the largest or least of two, with quotients and remainders."""
        lo = expr(self.pick([0, 1, *self.loops]))
        ends = [expr(self.n), sub(self.n, 1), add(self.atom(), 2)]
        hi = self.pick(ends if self.fixed else [*ends, extent(self.arrays[0])])
        match self.pick(["plain", "plain", "clipped", "quotient", "remainder"]):
            case "clipped":
                return binary("max", lo, self.atom()), binary("min", hi, add(self.atom(), 3))
            case "quotient":
                return binary("//", lo, 2), add(binary("//", hi, self.pick([2, 3])), 1)
            case "remainder":
                return binary("%", lo, self.pick([2, 3])), add(binary("%", hi, 3), self.pick([1, 2]))
            case _:
                return lo, hi

    def tiles(self, depth: int) -> Stmt:
        """A range in tiles: `for t in range(0, n, 2): for i in range(t, min(t + 2, n))`."""
        size = self.pick([2, 3])
        tile, var = self.p.index(f"t{len(self.loops)}"), self.p.index("ijkl"[len(self.loops)])
        outer = list(self.loops)
        self.loops += [var]
        body = self.block(depth - 1)
        self.loops = outer
        inner = for_(var, tile, binary("min", add(tile, size), self.n), body)
        return for_(tile, 0, self.n, [inner], size)

    def loop(self, depth: int) -> Stmt:
        if self.pick([False, False, False, True]):
            return self.tiles(depth)
        lo, hi = self.bounds()
        step = self.pick([1, 1, 2, -1])
        if step < 0:
            lo, hi = sub(hi, 1), sub(lo, 1)
        var = self.p.index("ijkl"[len(self.loops)])
        self.loops.append(var)
        body = self.block(depth - 1)
        if self.draw(st.booleans()):
            shifted, array = self.p.local("shifted", DType.INT64), self.arrays[0]
            through = store(array, [shifted], load(array, self.affine()))
            body = [assign(shifted, add(var, self.pick([1, -1]))), *body, through]
        self.loops.pop()
        return for_(var, lo, hi, body, step)


@st.composite
def programs(draw: st.DrawFn) -> Function:
    maker = Maker(draw)
    return maker.p.function(maker.loop(2))


@st.composite
def programs_without_parameters(draw: st.DrawFn) -> Function:
    maker = Maker(draw, fixed=True)
    return maker.p.function(maker.loop(2))


def runs(fn: Function, sizes: range = range(-1, 5)) -> list[Tracer]:
    """Every run with small parameters that raises nothing."""
    out = []
    for extents in (0, 1, 3, 4, 6):
        for scalars in settings(fn, sizes):
            try:
                out.append(tracer(fn, scalars, extents))
            except OutOfRange:
                continue
    return out


@given(programs())
@MANY
def test_independent_loops_never_meet_and_carried_ones_do(fn: Function) -> None:
    legality = Legality.of(fn)
    happened = runs(fn)
    for loop in loops_of(fn.body):
        verdict = legality.judge(loop).verdict
        met = any(conflicts(run, loop) for run in happened)
        if verdict is Verdict.INDEPENDENT:
            assert not met, loop.var.name


@given(programs_without_parameters())
@MANY
def test_without_parameters_the_answer_is_exact(fn: Function) -> None:
    """Arrays may have any length: iterations meet for some length if and only if they do in long arrays."""
    run = tracer(fn, {}, LARGE, strict=False)
    assume(not run.outside)
    legality = Legality.of(fn)
    for loop in loops_of(fn.body):
        verdict = legality.judge(loop).verdict
        assert (verdict is not Verdict.INDEPENDENT) == conflicts(run, loop), loop.var.name


@given(programs())
@hypothesis_settings(MANY, max_examples=25)
def test_what_is_not_independent_does_meet(fn: Function) -> None:
    """Precision: every conflict comes with two iterations, and these do meet when run."""
    legality = Legality.of(fn)
    for loop in loops_of(fn.body):
        for conflict in legality.dependences.conflicts(loop):
            assume(conflict.instances is not None)  # else isl was stopped, and cautious is all one can be
            assert conflict.exact
            sets = legality.dependences.sets
            point = sets.smallest_point(conflict.instances, [])
            assert point is not None
            value = {str(s): point.get(str(s), 0) for s in fn.params if not s.is_array}
            extents = {k: v for k, v in point.items() if "#" in k}
            assume(len(set(extents.values())) == 1 and max(abs(v) for v in point.values()) <= 16)
            scalars = {s: value[str(s)] for s in fn.params if not s.is_array}
            run = tracer(fn, scalars, next(iter(extents.values())), strict=False)
            assert conflicts(run, loop)


@given(programs())
@MANY
def test_unchecked_accesses_are_in_range_where_the_guards_hold(fn: Function) -> None:
    safe = check_bounds(fn, PassContext())
    before = [node for node in walk(fn.body) if isinstance(node, Load | Store)]
    after = [node for node in walk(safe.body) if isinstance(node, Load | Store)]
    proven = {id(old) for old, new in zip(before, after, strict=True) if not new.checked}
    for extents in (0, 1, 3, 4, 6):
        for scalars in settings(fn, range(-1, 5)):
            run = at_entry(fn, scalars, extents, strict=False)
            if all(holds(guard.holds, run) for guard in safe.guards):
                run.run(fn.body)
                assert not run.outside & proven


def test_the_oracle_sees_a_conflict() -> None:
    p = Program()
    n, a, i = p.integer("n"), p.array("a", 1, DType.INT64), p.index("i")
    fn = p.function(for_(i, 1, n, [store(a, [i], load(a, sub(i, 1)))]))
    (loop,) = loops_of(fn.body)
    assert any(conflicts(run, loop) for run in runs(fn))
    with pytest.raises(OutOfRange):
        tracer(fn, {n: 4}, 3)
