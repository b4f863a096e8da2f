"""Flat indices over symbolic extents, against what programs touch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import LoopVerdict, Verdict
from appyc.ir.nodes import Expr, Function, Load, Stmt, Store, Symbol
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, walk
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.pass_context import PassContext
from tests.analysis.brute_force import OutOfRange, Tracer, at_entry, conflicts, holds
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
    max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


class Flat:
    """A nest over i, j, k with n, m, p parameters, and an array that its indices are flat in."""

    def __init__(self) -> None:
        self.p = Program()
        self.n, self.m, self.q = self.p.integer("n"), self.p.integer("m"), self.p.integer("q")
        self.a, self.b = self.p.array("a", 1, DType.INT64), self.p.array("b", 2, DType.INT64)
        self.i, self.j, self.k = self.p.index("i"), self.p.index("j"), self.p.index("k")

    def at(self, *index: Expr, source: Sequence[Expr] | None = None) -> Stmt:
        (target,) = index
        return store(self.a, [target], add(load(self.a, *(source or index)), 1))

    def over(self, body: Stmt, lo=0, rows=None, columns=None) -> Stmt:
        rows, columns = self.n if rows is None else rows, self.m if columns is None else columns
        return for_(self.i, lo, rows, [for_(self.j, 0, columns, [body])])

    def rows(self, i=None, j=None, length=None) -> Expr:
        i, j = self.i if i is None else i, self.j if j is None else j
        return add(mul(i, self.m if length is None else length), j)

    def judge(self, *body: Stmt) -> tuple[Function, dict[str, LoopVerdict]]:
        fn = check_bounds(self.p.function(*body), PassContext())
        legality = Legality.of(fn)
        return fn, {loop.var.name: legality.judge(loop) for loop in loops_of(fn.body)}

    def verdicts(self, *body: Stmt) -> dict[str, Verdict]:
        return {name: found.verdict for name, found in self.judge(*body)[1].items()}


FREE, CARRIED = Verdict.INDEPENDENT, Verdict.CARRIED


def test_rows_of_a_flat_square() -> None:
    f = Flat()
    assert f.verdicts(f.over(f.at(f.rows()))) == {"i": FREE, "j": FREE}


def test_factors_may_stand_either_way_round() -> None:
    f = Flat()
    other = add(f.j, mul(f.m, f.i))
    assert f.verdicts(f.over(f.at(f.rows(), source=[other]))) == {"i": FREE, "j": FREE}


def test_the_row_above() -> None:
    f = Flat()
    fn, found = f.judge(f.over(f.at(f.rows(), source=[f.rows(i=sub(f.i, 1))]), lo=1))
    assert (found["i"].verdict, found["j"].verdict) == (CARRIED, FREE)
    assert found["i"].distance == 1
    assert not any(node.checked for node in walk(fn.body) if isinstance(node, Load | Store))


def test_an_even_distance_from_the_first_row() -> None:
    """A number is no square, whose half would be taken off."""
    f = Flat()
    body = f.at(add(f.rows(f.n), 100), source=[add(f.rows(f.n), 99)])
    assert f.verdicts(for_(f.j, 0, f.q, [body])) == {"j": CARRIED}


def test_a_message_names_the_element_that_iterations_meet_in() -> None:
    f = Flat()
    _, found = f.judge(f.over(f.at(f.rows(), source=[f.rows(i=sub(f.i, 1))]), lo=1))
    first, second = (part.split("a[")[1].split("]")[0] for part in found["i"].reason.split(", ")[:2])
    assert first == second


def test_from_the_last_row_to_the_first() -> None:
    f = Flat()
    back = f.rows(i=sub(sub(f.n, 1), f.i), j=sub(sub(f.m, 1), f.j))
    assert f.verdicts(f.over(f.at(back))) == {"i": FREE, "j": FREE}


def test_longer_ranges_than_rows_are_a_condition() -> None:
    f = Flat()
    _, found = f.judge(f.over(f.at(f.rows()), columns=f.q))
    assert found["i"].verdict is Verdict.CONDITIONAL
    assert found["i"].condition == "m >= q"
    assert found["i"].guard is not None
    assert found["j"].verdict is FREE


def test_rows_whose_length_is_a_sum() -> None:
    f = Flat()
    length = sub(f.m, 2)
    assert f.verdicts(f.over(f.at(f.rows(length=length)), columns=length)) == {"i": FREE, "j": FREE}
    f = Flat()
    length = sub(f.m, 2)
    found = f.verdicts(f.over(f.at(f.rows(length=length)), columns=f.m))
    assert found["i"] is not FREE


def test_real_and_imaginary_parts() -> None:
    f = Flat()
    place = mul(f.rows(), 2)
    assert f.verdicts(f.over(f.at(add(place, 1), source=[place]))) == {"i": FREE, "j": FREE}


def test_three_extents() -> None:
    f = Flat()
    place = add(mul(f.rows(), f.q), f.k)
    nest = f.over(for_(f.k, 0, f.q, [f.at(place)]))
    assert f.verdicts(nest) == {"i": FREE, "j": FREE, "k": FREE}
    f = Flat()
    place = add(add(mul(mul(f.i, f.m), f.q), mul(f.j, f.q)), f.k)
    assert f.verdicts(f.over(for_(f.k, 0, f.q, [f.at(place)]))) == {"i": FREE, "j": FREE, "k": FREE}


def test_a_stride_that_may_be_zero() -> None:
    f = Flat()
    _, found = f.judge(for_(f.i, 0, f.n, [f.at(mul(f.i, f.m))]))
    assert found["i"].verdict is Verdict.CONDITIONAL
    assert found["i"].condition == "0 > m or m > 0"


def test_strides_that_have_nothing_to_do_with_each_other() -> None:
    f = Flat()
    place = add(mul(f.i, f.m), mul(f.j, f.q))
    assert f.verdicts(f.over(f.at(place)))["i"] is Verdict.UNKNOWN


def test_a_column_that_every_row_shares() -> None:
    f = Flat()
    found = f.verdicts(f.over(f.at(f.rows(), source=[f.j])))
    assert found["i"] is CARRIED
    assert found["j"] is not CARRIED


def test_a_length_that_changes_between_rows() -> None:
    f = Flat()
    assert f.verdicts(f.over(f.at(add(mul(f.i, f.i), f.j)), columns=f.i))["i"] is not FREE


# ---------------------------------------------------------------- random nests


class Maker(Flat):
    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__()
        self.draw = draw

    def pick(self, options: Sequence):
        return self.draw(st.sampled_from(options))

    def part(self, var: Symbol, length: Symbol) -> Expr:
        form = self.pick(["plain", "plain", "plain", "shifted", "back", "twice", "constant"])
        match form:
            case "shifted":
                return add(var, self.pick([-1, 1]))
            case "back":
                return sub(sub(length, 1), var)
            case "twice":
                return add(mul(var, 2), self.pick([0, 1]))
            case "constant":
                return expr(self.pick([0, 1]))
            case _:
                return expr(var)

    def index(self) -> Expr:
        length = self.pick([self.m, self.m, self.m, self.q, self.n])
        place = add(mul(self.part(self.i, self.n), length), self.part(self.j, length))
        return self.pick([place, place, place, add(mul(place, 2), self.pick([0, 1])), expr(self.j)])

    def statement(self) -> Stmt:
        one = store(self.a, [self.index()], add(load(self.a, self.index()), 1))
        form = self.pick(["plain", "plain", "if", "scalar"])
        if form == "if":
            return if_(compare(self.pick(["<", "!="]), self.j, self.pick([self.i, self.q])), [one])
        return one

    def nest(self) -> Stmt:
        body: list[Stmt] = [self.statement()]
        if self.draw(st.booleans()):
            row = self.p.local("row", DType.INT64)
            place = add(row, self.j)
            body += [assign(row, mul(self.i, self.m)), store(self.a, [place], load(self.a, place))]
        columns = self.pick([self.m, self.m, self.q, sub(self.m, 1), add(self.i, 1), extent(self.b, 1)])
        rows = self.pick([self.n, self.n, self.m, extent(self.b)])
        inner = for_(self.j, self.pick([0, 0, 1]), columns, body)
        return for_(self.i, self.pick([0, 0, 1]), rows, [inner])


@st.composite
def nests(draw: st.DrawFn) -> Function:
    maker = Maker(draw)
    return maker.p.function(maker.nest())


def runs(
    fn: Function, sizes: range = range(-1, 4), lengths: Sequence[int] = (0, 3, 9, 20)
) -> Iterator[Tracer]:
    """Runs with small parameters for which the guards hold, and that raise nothing."""
    scalars = [s for s in fn.params if not s.is_array]
    for extents, *values in product(lengths, *[sizes] * len(scalars)):
        run = at_entry(fn, dict(zip(scalars, values, strict=True)), extents)
        if not all(holds(guard.holds, run) for guard in fn.guards):
            continue
        try:
            run.run(fn.body)
        except OutOfRange:
            continue
        yield run


@given(nests())
@MANY
def test_loops_that_are_free_never_meet(fn: Function) -> None:
    safe = check_bounds(fn, PassContext())
    legality = Legality.of(safe)
    happened = list(runs(safe))
    for loop in loops_of(safe.body):
        found = legality.judge(loop)
        for run in happened:
            free = found.verdict is Verdict.INDEPENDENT or (
                found.guard is not None and holds(found.guard, run)
            )
            assert not (free and conflicts(run, loop)), (loop.var.name, run.scalars)


@given(nests())
@MANY
def test_unchecked_flat_accesses_are_in_range_where_the_guards_hold(fn: Function) -> None:
    safe = check_bounds(fn, PassContext())
    before = [node for node in walk(fn.body) if isinstance(node, Load | Store)]
    after = [node for node in walk(safe.body) if isinstance(node, Load | Store)]
    proven = {id(old) for old, new in zip(before, after, strict=True) if not new.checked}
    scalars = [s for s in fn.params if not s.is_array]
    for extents, *values in product((0, 3, 9, 20), *[range(-2, 4)] * len(scalars)):
        run = at_entry(fn, dict(zip(scalars, values, strict=True)), extents, strict=False)
        if all(holds(guard.holds, run) for guard in safe.guards):
            run.run(fn.body)
            assert not run.outside & proven


@given(nests())
@MANY
def test_a_loop_said_to_carry_a_dependence_does_somewhere(fn: Function) -> None:
    """Precision: CARRIED is a claim about some arguments, not a way of giving up."""
    safe = check_bounds(fn, PassContext())
    legality = Legality.of(safe)
    carried = [loop for loop in loops_of(safe.body) if legality.judge(loop).verdict is Verdict.CARRIED]
    happened = list(runs(safe, range(2, 7), (40,))) if carried else []
    for loop in carried if happened else []:
        assert any(conflicts(run, loop) for run in happened), loop.var.name


def test_most_coalesced_loops_need_no_check() -> None:
    f = Flat()
    fn, _ = f.judge(f.over(f.at(f.rows())))
    assert len(fn.guards) == 3
    assert not any(node.checked for node in walk(fn.body) if isinstance(node, Load | Store))
    assert binary("*", f.i, f.m).dtype is DType.INT64
