"""Elements that the iteration before stored, in scalars."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import Clauses, For, Function, If, Store, Update
from appyc.ir.verify import verify
from appyc.ir.visit import loops_of, scalars_written
from appyc.passes.pass_context import PassContext
from appyc.passes.storage.scalar_replacement_of_recurrences import scalar_replacement_of_recurrences
from tests.ir_makers import (
    Program,
    add,
    assign,
    binary,
    compare,
    expr,
    for_,
    here,
    if_,
    load,
    mul,
    store,
    sub,
)
from tests.printed import run_printed

N = 30

p = Program()
n, m = p.integer("n"), p.integer("m")
a, b, c = (p.array(name, 1) for name in "abc")
aa = p.array("aa", 2)
i, j = p.index("i"), p.index("j")
t = p.local("t")


def at(array, offset=0):
    return load(array, add(i, offset) if offset else expr(i), checked=False)


def put(array, value, offset=0):
    return store(array, [add(i, offset) if offset else i], value, checked=False)


def after(*body, lo=1, hi=n, step=1, clauses=None) -> Function:
    fn = p.function(for_(i, lo, hi, list(body), step, clauses=clauses))
    new = scalar_replacement_of_recurrences(fn, PassContext())
    assert verify(new) == []
    for size in (0, 1, 2, 3, N):
        assert outcome(new, size) == outcome(fn, size)
    return new


def outcome(fn: Function, size: int) -> list[object]:
    arrays = [np.random.default_rng(number).uniform(-1, 1, N + 3) for number in range(3)]
    square = np.random.default_rng(9).uniform(-1, 1, (N, N))
    run_printed(fn, size, 3, *arrays, square)
    return [x.tolist() for x in (*arrays, square)]


def is_carried(fn: Function) -> bool:
    return any(
        loop.body and isinstance(loop.body[0], Update) and not loop.body[0].index for loop in loops_of(fn)
    )


def test_a_running_total():
    fn = after(put(a, add(at(a, -1), at(b))))
    (around,) = fn.body
    assert isinstance(around, If)
    loop = around.then[1]
    assert isinstance(loop, For)
    assert [type(stmt) for stmt in loop.body] == [Update, Store]


def test_downwards_and_by_two():
    assert is_carried(after(put(a, add(at(a, 1), at(b))), lo=expr(n), hi=0, step=-1))
    assert is_carried(after(put(a, add(at(a, -2), at(b))), lo=2, step=2))


def test_in_place():
    assert is_carried(after(put(a, add(at(a), at(a, -1)))))


def test_two_in_one_loop():
    fn = after(put(a, add(at(a, -1), at(c))), put(b, mul(at(b, -1), at(c))))
    (loop,) = loops_of(fn)
    assert [type(stmt) for stmt in loop.body] == [Update, Store, Update, Store]


def test_under_a_pragma():
    assert is_carried(after(put(a, add(at(a, -1), at(b))), clauses=Clauses("parallel", loc=here())))


def test_along_a_row_that_waits_for_the_row_before():
    up = load(aa, sub(j, 1), i, checked=False)
    left = load(aa, j, sub(i, 1), checked=False)
    inner = for_(i, 1, 5, [store(aa, [j, i], add(left, up), checked=False)])
    fn = p.function(for_(j, 1, 5, [inner]))
    new = scalar_replacement_of_recurrences(fn, PassContext())
    assert is_carried(new)
    assert outcome(new, 0) == outcome(fn, 0)


@pytest.mark.parametrize(
    "body",
    [
        [put(a, add(at(a, -2), at(b)))],
        [put(a, add(at(b, -1), at(b)))],
        [put(a, mul(at(a, -1), at(a, -1)))],
        [put(a, add(at(a, -1), at(a, 1)))],
        [if_(compare(">", at(b), 0.0), [put(a, add(at(a, -1), at(b)))])],
        [put(a, at(b)), put(c, at(a, -1))],
        [put(a, add(at(a, -1), at(b))), put(a, 0.0, 1)],
        [store(a, [i], add(load(a, sub(i, 1)), at(b)))],
        [assign(t, mul(at(a, -1), 0.5)), put(a, add(expr(t), at(b)))],
        [put(a, binary("/", 1.0, at(a, -1)))],
    ],
    ids=[
        "two before", "another array", "no linear step", "also the next", "not always", "no recurrence",
        "written twice", "may raise", "by way of a scalar", "reciprocal",
    ],
)  # fmt: skip
def test_left_alone(body):
    assert not is_carried(after(*body, lo=2))


def test_a_loop_around_that_is_free_comes_first():
    left = load(aa, j, sub(i, 1), checked=False)
    inner = for_(i, 1, 5, [store(aa, [j, i], add(left, 1.0), checked=False)])
    fn = p.function(for_(j, 0, 5, [inner]))
    assert scalar_replacement_of_recurrences(fn, PassContext()) is fn


def test_vectors_of_a_loop_around_carry_the_element():
    above, here_ = load(aa, sub(i, 1), j, checked=False), load(aa, i, j, checked=False)
    inner = for_(i, 1, 5, [store(aa, [i, j], mul(add(above, here_), 0.5), checked=False)])
    fn = p.function(for_(j, 0, 5, [inner]))
    new = scalar_replacement_of_recurrences(fn, PassContext())
    assert verify(new) == []
    assert [symbol.name for symbol in scalars_written(loops_of(new)[-1].body)] == ["aa_before"]
    assert outcome(new, 0) == outcome(fn, 0)


def test_rows_of_a_flat_array_have_products_in_their_indices():
    row = add(mul(i, m), j)
    above = load(a, add(mul(sub(i, 1), m), j), checked=False)
    inner = for_(i, 1, 5, [store(a, [row], add(above, load(b, j, checked=False)), checked=False)])
    fn = p.function(for_(j, 0, m, [inner]))
    new = scalar_replacement_of_recurrences(fn, PassContext())
    assert is_carried(new)
    assert outcome(new, 0) == outcome(fn, 0)
