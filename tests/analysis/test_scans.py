"""Which loops carry only what a scan combines, and which arrays a counter keeps apart."""

from __future__ import annotations

import pytest

from appyc.analysis.patterns.compaction_pattern import Packed, packed_arrays
from appyc.analysis.patterns.scans import backward_slice, linear_in, scans_of
from appyc.ir.printer import print_expr, print_stmt
from appyc.ir.schedule import Scan
from appyc.ir.types import DType
from tests.ir_makers import (
    Program,
    add,
    assign,
    binary,
    break_,
    cast,
    compare,
    expr,
    for_,
    if_,
    load,
    mul,
    neg,
    select,
    store,
    sub,
    update,
    while_,
)

p = Program()
n = p.integer("n")
a, b = p.array("a", 1), p.array("b", 1)
out = p.array("out", 1)
i, j = p.index("i"), p.index("j")
s, t, x = p.local("s"), p.local("t"), p.local("x")
k, m = p.local("k", DType.INT64), p.local("m", DType.INT64)
flag = p.local("flag", DType.BOOL)


def at(array, index=i):
    return load(array, index, checked=False)


def scans(*body, carried=(s,)):
    return scans_of(for_(i, 0, n, body), carried)


positive = compare(">", at(a), 0.0)


@pytest.mark.parametrize(
    ("body", "op"),
    [
        ([update(s, [], "+", at(a))], "+"),
        ([update(s, [], "+", at(a)), update(s, [], "+", 1.0)], "+"),
        ([if_(positive, [update(s, [], "max", at(a))])], "max"),
        ([assign(s, add(mul(at(a), s), at(b)))], "linear"),
        ([update(s, [], "*", 0.5), update(s, [], "+", at(a))], "linear"),
        ([assign(s, sub(at(a), sub(1.0, s)))], "linear"),
        ([assign(s, add(at(a), sub(s, 1.0)))], "+"),
        ([assign(s, neg(s))], "*"),
        ([for_(j, 0, n, [update(s, [], "+", at(a, j))])], "+"),
        ([assign(x, at(a)), if_(compare(">", x, 0.0), [update(s, [], "+", x)])], "+"),
    ],
)
def test_steps_that_can_be_put_together(body, op):
    assert scans(*body, store(b, [i], s)) == (Scan(op, s),)


@pytest.mark.parametrize(
    "body",
    [
        [update(s, [], "+", 1.0), update(s, [], "max", 0.0)],
        [assign(s, mul(s, s))],
        [assign(s, binary("/", 1.0, s))],
        [assign(s, at(a))],
        [assign(s, s)],
        [if_(compare(">", s, 0.0), [update(s, [], "+", 1.0)])],
        [assign(x, add(s, 1.0)), update(s, [], "+", x)],
        [update(s, [], "+", load(a, i))],
        [update(s, [], "+", 1.0), if_(positive, [break_()])],
        [while_(compare("<", s, 1.0), [update(s, [], "+", 1.0)])],
        [store(a, [i], 1.0), update(s, [], "+", at(a))],
        [assign(s, cast(cast(s, DType.FLOAT32), DType.FLOAT64))],
        [assign(s, select(compare(">", s, 1.0), 1.0, s))],
    ],
    ids=[
        "two operators", "square", "reciprocal", "forgets, of floats", "no step", "waits for itself",
        "through another scalar", "may raise", "may end", "while", "reads what it wrote", "rounds", "clips",
    ],
)  # fmt: skip
def test_steps_that_cannot(body):
    assert scans(*body) is None


def test_integers_may_forget():
    assert scans(if_(positive, [assign(k, 0)], [update(k, [], "+", 1)]), carried=(k,)) == (Scan("linear", k),)


def test_a_step_may_not_read_another_scan():
    body = [update(s, [], "+", at(a)), update(t, [], "+", expr(s))]
    assert scans(*body, carried=(s, t)) is None
    assert scans(update(s, [], "+", at(a)), update(t, [], "+", at(b)), carried=(s, t)) is not None


def test_reading_first_and_writing_then_is_no_hindrance():
    assert scans(update(s, [], "+", at(a)), store(a, [i], s)) == (Scan("+", s),)


def test_bools_have_no_linear_steps():
    assert scans(assign(flag, binary("^", flag, True)), carried=(flag,)) is None


def test_linear_parts():
    found = linear_in(add(s, mul(at(a), sub(at(b), s))), s)
    assert found is not None
    assert found.factor is not None
    assert found.value is not None
    assert print_expr(found.factor) == "1.0 + ((-1.0) * a[i])"
    assert print_expr(found.value) == "b[i] * a[i]"


def test_steps_are_what_the_scalars_need():
    body = (
        assign(x, at(a)),
        assign(t, at(b)),
        store(b, [i], s),
        if_(compare(">", x, 0.0), [update(s, [], "+", x), store(out, [i], t)], [store(out, [i], 0.0)]),
    )
    text = "\n".join(print_stmt(stmt) for stmt in backward_slice(body, [s]))
    assert text == "x = a[i]\nif x > 0.0:\n    s = s + x"


# ---------------------------------------------------------------- packing


def packed(*body, counters=(k,)):
    loop = for_(i, 0, n, body)
    return packed_arrays(loop, tuple(Scan("+", c) for c in counters))


step = update(k, [], "+", 1)
by_two = update(k, [], "+", 2)


def put(index=k):
    return store(out, [index], at(a), checked=False)


@pytest.mark.parametrize(
    ("body", "offset"),
    [
        ([if_(positive, [put(), step])], 0),
        ([put(), if_(positive, [step], [by_two])], 0),
        ([if_(positive, [step, put(sub(k, 1))])], -1),
        ([if_(positive, [put(), put(add(k, 1)), by_two])], 0),
        ([if_(positive, [put(), step], [put(), step])], 0),
        ([if_(positive, [put(), store(b, [i], at(out, k)), step])], 0),
    ],
)
def test_the_counter_grows_between_two_uses(body, offset):
    found = packed(*body)
    assert Packed(out, k, offset, False) in found


@pytest.mark.parametrize(
    "body",
    [
        [put(), if_(positive, [step])],
        [if_(positive, [put(), step, put()])],
        [if_(positive, [put(), put(add(k, 1)), step])],
        [if_(positive, [put(), step]), if_(positive, [], [put()])],
        [if_(positive, [put(), step], [update(k, [], "+", -1)])],
        [if_(positive, [put(), update(k, [], "+", m)])],
        [if_(positive, [put(), store(b, [i], at(out, sub(k, 1))), step])],
        [put(mul(k, k)), step],
        [if_(positive, [put(), step]), store(out, [i], 0.0, checked=False)],
        [for_(j, 0, n, [step]), put()],
    ],
    ids=[
        "not always", "before and after", "two places, one step", "other branch", "goes back", "unknown step",
        "reads the one before", "not by itself", "by another index", "may not grow",
    ],
)  # fmt: skip
def test_it_may_stand_still(body):
    assert all(found.array != out for found in packed(*body))


def test_checked_uses_are_noted():
    (found,) = packed(store(out, [k], 1.0), step)
    assert found.checked
