"""Loops that end early are searched in blocks, and do nothing that Python would not do."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.patterns.early_exits import Refusal, early_exit
from appyc.ir.nodes import Fail, For, Function, LoopMode, Stmt, While
from appyc.ir.types import DType
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, walk
from appyc.options import Options
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.parallelise.speculative_search import speculative_search
from appyc.passes.pass_context import PassContext
from tests.ir_makers import (
    Program,
    add,
    alloc,
    assign,
    binary,
    break_,
    compare,
    continue_,
    expr,
    for_,
    here,
    if_,
    load,
    mul,
    parallel,
    pragma,
    store,
    sub,
    while_,
)
from tests.printed import run_printed

SIZES = (0, 1, 2, 3, 4, 5, 9, 13)


class _Case:
    """A program over vectors of n numbers and a square, and what it is checked on."""

    def __init__(self) -> None:
        self.p = Program()
        self.n = self.p.integer("n")
        self.a, self.b, self.out = (self.p.array(name, 1) for name in ("a", "b", "out"))
        self.m = self.p.array("m", 2)
        self.i, self.j = self.p.index("i"), self.p.index("j")
        self.x, self.s = self.p.local("x"), self.p.local("s")
        self.where = self.p.local("where", DType.INT64)

    def at(self, array, *index):
        return load(array, *(index or (self.i,)), checked=False)

    def put(self, value) -> Stmt:
        return store(self.out, [self.i], value, checked=False)

    def leave_if(self, op="<", limit=0.0, *first: Stmt) -> Stmt:
        return if_(compare(op, self.at(self.a), limit), [*first, break_()])

    def loop(self, *body: Stmt, **how) -> For:
        return for_(self.i, 0, self.n, body, **how)

    def searched(self, *body: Stmt, changed: bool = True) -> Function:
        """The function after the pass, which does what it did wherever the loop ends."""
        start = (assign(self.where, -1), assign(self.x, 0.5), assign(self.s, 0.25))
        before = self.p.function(*start, *body, results=[self.where, self.x, self.s])
        with mock.patch("appyc.passes.parallelise.speculative_search.FIRST_BLOCK", 2):
            after = speculative_search(before, PassContext())
        assert verify(after) == []
        assert (after != before) is changed
        for size in SIZES:
            for place in range(-1, size):
                assert self.outcome(before, size, place) == self.outcome(after, size, place), (size, place)
        return after

    @staticmethod
    def outcome(fn: Function, size: int, place: int):
        """What is left behind where `a` has a negative number in one place, and two of them later."""
        rng = np.random.default_rng(size)
        arrays = [rng.uniform(1, 9, size) for _ in range(3)] + [rng.uniform(1, 9, (size, size))]
        if place >= 0:
            arrays[0][place::3] *= -1
            arrays[3][place, place:] *= -1
        try:
            value = run_printed(fn, size, *arrays)
        except ValueError as error:
            value = str(error)
        return value, [array.tolist() for array in arrays]


def free(fn: Function) -> list[bool]:
    """For each loop whether it may run in any order."""
    ctx = PassContext()
    fn = recognise_reductions(fn, ctx)
    check_parallel(fn, ctx)
    return [ctx.verdicts[loop.var].may_run_in_any_order for loop in loops_of(fn.body)]


def reason(case: _Case, loop: For) -> str:
    found = early_exit(loop, Legality.of(case.p.function(loop)).dependences)
    assert isinstance(found, Refusal)
    return found.reason


# ---------------------------------------------------------------- searches


def test_the_position_is_searched():
    c = _Case()
    fn = c.searched(c.loop(c.leave_if("<", 0.0, assign(c.where, c.i))))
    assert free(fn) == [True]
    assert sum(isinstance(n, While) for n in walk(fn)) == 1


@pytest.mark.parametrize("step", [-3, -1, 2, 5])
def test_other_steps(step):
    c = _Case()
    lo, hi = (0, expr(c.n)) if step > 0 else (sub(c.n, 1), -1)
    body = [c.leave_if("<", 0.0, assign(c.where, c.i)), c.put(3.0), assign(c.x, c.at(c.a))]
    assert free(c.searched(for_(c.i, lo, hi, body, step))) == [True, True]


def test_work_before_the_end_has_a_loop_of_its_own():
    c = _Case()
    fn = c.searched(c.loop(c.leave_if(), c.put(mul(c.at(c.a), 2.0))))
    assert free(fn) == [True, True]


def test_a_sum_up_to_the_end():
    c = _Case()
    total = assign(c.s, add(c.s, c.at(c.b)))
    assert free(c.searched(c.loop(c.leave_if(), total))) == [True, True]
    c = _Case()
    total = assign(c.s, add(c.s, c.at(c.b)))
    assert free(c.searched(c.loop(total, c.leave_if()))) == [True, True]


def test_the_last_value_of_a_scalar_takes_no_loop():
    c = _Case()
    fn = c.searched(c.loop(assign(c.x, c.at(c.b)), c.leave_if(), assign(c.where, c.i)))
    assert len(loops_of(fn)) == 1


def test_a_value_that_only_some_iterations_set_takes_a_loop():
    c = _Case()
    some = if_(compare(">", c.at(c.b), 4.0), [assign(c.x, c.at(c.b))])
    assert len(loops_of(c.searched(c.loop(c.leave_if(), some)))) == 2


def test_a_scalar_of_the_condition_keeps_the_value_that_python_gives_it():
    c = _Case()
    body = [assign(c.x, mul(c.at(c.a), 2.0)), if_(compare("<", c.x, 0.0), [break_()])]
    fn = c.searched(c.loop(*body))
    (test,) = loops_of(fn)
    assert free(fn) == [True]
    assert not any(getattr(stmt, "target", None) == c.x for stmt in walk(test))


def test_several_ends_and_what_is_between():
    c = _Case()
    second = if_(
        compare(">", c.x, 8.0), [if_(compare(">", c.at(c.a), 5.0), [assign(c.where, c.i), break_()])]
    )
    body = [c.leave_if(), c.put(1.0), assign(c.x, c.at(c.b)), second, c.put(add(c.x, 2.0))]
    assert free(c.searched(c.loop(*body))) == [True, True]


def test_an_iteration_may_be_cut_short():
    c = _Case()
    skip = if_(compare(">", c.at(c.b), 5.0), [continue_()])
    fn = c.searched(c.loop(c.put(c.at(c.b)), skip, c.leave_if(), c.put(2.0)))
    assert len(loops_of(fn)) == 2


def test_what_raises_ends_the_loop_in_its_turn():
    c = _Case()
    fail = if_(compare(">", c.at(c.b), 6.0), [Fail("ValueError", "too large", loc=here())])
    fn = c.searched(c.loop(c.leave_if(), fail, c.put(0.0)))
    work = loops_of(fn)[1]
    assert not any(isinstance(n, Fail) for n in walk(work))
    assert free(fn) == [True, True]


def test_an_access_is_not_made_where_an_earlier_end_forbids_it():
    """`b[i + 1]` is in range only where the loop has not ended."""
    c = _Case()
    last = if_(compare("==", c.i, sub(c.n, 1)), [assign(c.where, -2), break_()])
    ahead = if_(compare(">", c.at(c.b, add(c.i, 1)), 8.0), [assign(c.where, c.i), break_()])
    assert free(c.searched(c.loop(last, ahead))) == [True]


def test_loops_in_the_condition():
    c = _Case()
    total = for_(c.j, 0, c.n, [assign(c.x, add(c.x, c.at(c.m, c.i, c.j)))])
    body = [assign(c.x, 0.0), total, if_(compare("<", c.x, 0.0), [assign(c.where, c.i), break_()])]
    fn = c.searched(c.loop(*body))
    assert len({loop.var for loop in loops_of(fn)}) == len(loops_of(fn))


def test_bounds_are_taken_once():
    c = _Case()
    stop = c.p.local("stop", DType.INT64)
    body = [assign(stop, 0), c.leave_if(), c.put(1.0)]
    c.searched(assign(stop, c.n), for_(c.i, 0, stop, body))


def test_what_the_condition_reads_may_be_written_later():
    c = _Case()
    fn = c.searched(c.loop(c.leave_if(), store(c.a, [c.i], mul(c.at(c.a), -2.0), checked=False)))
    assert free(fn) == [True, True]
    c = _Case()
    before = if_(compare(">", c.i, 0), [store(c.a, [sub(c.i, 1)], -2.0, checked=False)])
    assert free(c.searched(c.loop(c.leave_if(), before))) == [True, True]


# ---------------------------------------------------------------- refusals


def test_a_loop_in_a_loop_is_left_alone_without_a_pragma():
    c = _Case()
    leave = if_(compare("<", c.at(c.m, c.i, c.j), 0.0), [break_()])
    c.searched(c.loop(for_(c.j, 0, c.n, [leave])), changed=False)
    c = _Case()
    leave = if_(compare("<", c.at(c.m, c.i, c.j), 0.0), [c.put(1.0), break_()])
    c.searched(c.loop(for_(c.j, 0, c.n, [leave], clauses=pragma("parallel"))))


def test_a_condition_on_a_running_total():
    c = _Case()
    loop = c.loop(assign(c.s, add(c.s, c.at(c.a))), if_(compare(">", c.s, 9.0), [break_()]))
    assert "needs the value of 's' from the iteration before" in reason(c, loop)
    c.searched(loop, changed=False)


def test_a_condition_on_what_the_loop_writes():
    c = _Case()
    loop = c.loop(c.leave_if(), store(c.a, [sub(c.n, 1)], -1.0, checked=False))
    assert "reads 'a', which the loop writes" in reason(c, loop)
    c = _Case()
    loop = c.loop(store(c.a, [c.i], 1.0, checked=False), c.leave_if())
    assert "reads 'a', which the loop writes" in reason(c, loop)
    c = _Case()
    ahead = if_(compare("<", add(c.i, 1), c.n), [store(c.a, [add(c.i, 1)], -1.0, checked=False)])
    assert "reads 'a', which the loop writes" in reason(c, c.loop(c.leave_if(), ahead))


def test_a_condition_that_may_raise():
    c = _Case()
    loop = c.loop(if_(compare("<", load(c.a, c.i), 0.0), [break_()]))
    assert "may raise" in reason(c, loop)
    divided = binary("//", c.n, c.i, trap=True)
    assert "may raise" in reason(c, c.loop(if_(compare("<", divided, 2), [break_()])))


def test_a_condition_that_may_not_end():
    c = _Case()
    inner = while_(compare("<", c.x, 0.0), [assign(c.x, add(c.x, c.at(c.b)))])
    loop = c.loop(assign(c.x, c.at(c.a)), inner, if_(compare(">", c.x, 5.0), [break_()]))
    assert "may never end" in reason(c, loop)


def test_an_array_for_each_iteration():
    c = _Case()
    own = c.p.local_array("own", 1)
    assert "makes an array" in reason(c, c.loop(alloc(own, 3), store(own, [0], 1.0), c.leave_if()))


def test_a_way_round_the_end():
    c = _Case()
    goes_on = if_(compare("<", c.at(c.a), 0.0), [c.put(c.at(c.a)), continue_()])
    c.searched(c.loop(if_(compare("<", c.at(c.a), 0.0), [goes_on, break_()])))
    c.searched(c.loop(if_(compare("<", c.at(c.a), 5.0), [goes_on, break_()]), c.put(1.0)))


def test_a_loop_of_one_iteration():
    c = _Case()
    assert "first iteration" in reason(c, c.loop(c.put(1.0), break_()))


def test_a_short_loop_and_one_told_to_wait_are_left_alone():
    c = _Case()
    c.searched(c.loop(c.leave_if(), clauses=pragma("sequential")), changed=False)
    c = _Case()
    fn = c.p.function(for_(c.i, 0, 60, [c.leave_if()]))
    assert speculative_search(fn, PassContext()) is fn
    fn = c.p.function(c.loop(c.leave_if()))
    assert speculative_search(fn, PassContext(Options(auto=False))) is fn


def test_a_pragma_is_for_both_loops():
    c = _Case()
    fn = c.p.function(parallel(c.i, 0, c.n, [c.leave_if(), c.put(1.0)]))
    ctx = PassContext(Options(auto=False))
    fn = check_parallel(speculative_search(fn, ctx), ctx)
    assert [loop.mode for loop in loops_of(fn)] == [LoopMode.PARALLEL] * 2
    assert any("searched in blocks" in remark.text for remark in ctx.remarks)


# ---------------------------------------------------------------- any body


def _bodies(c: _Case) -> st.SearchStrategy[list[Stmt]]:
    """Bodies of a loop with jumps anywhere."""
    values = st.sampled_from([c.at(c.a), c.at(c.b), expr(c.x), add(c.x, c.at(c.b)), expr(1.5)])
    tests = st.builds(compare, st.sampled_from(["<", ">"]), values, st.sampled_from([0.0, 3.0, 6.0]))
    leaf = st.one_of(
        values.map(c.put),
        values.map(lambda v: assign(c.x, v)),
        values.map(lambda v: assign(c.s, add(c.s, v))),
        st.builds(lambda: assign(c.where, c.i)),
        st.builds(break_),
        st.builds(continue_),
        st.builds(lambda: Fail("ValueError", "no", loc=here())),
    )
    blocks = st.lists(leaf, min_size=1, max_size=3)
    ifs = st.builds(if_, tests, blocks, st.one_of(st.just([]), blocks))
    deep = st.builds(if_, tests, st.lists(st.one_of(leaf, ifs), min_size=1, max_size=3))
    return st.lists(st.one_of(leaf, ifs, deep), min_size=1, max_size=5)


@settings(max_examples=75, deadline=None)
@given(st.data())
def test_any_body_keeps_its_meaning(data):
    c = _Case()
    body = data.draw(_bodies(c))
    step = data.draw(st.sampled_from([1, 1, 2, -1]))
    lo, hi = (0, expr(c.n)) if step > 0 else (sub(c.n, 1), -1)
    loop = for_(c.i, lo, hi, body, step)
    start = (assign(c.where, -1), assign(c.x, 0.5), assign(c.s, 0.25))
    before = c.p.function(*start, loop, results=[c.where, c.x, c.s])
    with mock.patch("appyc.passes.parallelise.speculative_search.FIRST_BLOCK", 2):
        after = speculative_search(before, PassContext())
    assert verify(after) == []
    for size in (0, 1, 4, 9):
        for place in {-1, min(0, size - 1), size - 1}:
            assert c.outcome(before, size, place) == c.outcome(after, size, place)
