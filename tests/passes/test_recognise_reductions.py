"""Assignments that are updates become updates, and others stay."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from appyc.ir.nodes import Assign, Binary, If, Stmt, Store, Unary, Update
from appyc.ir.types import DType
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.pass_context import PassContext
from tests.ir_makers import (
    Program,
    add,
    assign,
    binary,
    both,
    compare,
    either,
    for_,
    if_,
    load,
    mul,
    select,
    store,
    sub,
)
from tests.printed import run_printed


def after(p: Program, *body: Stmt) -> tuple[Stmt, ...]:
    return recognise_reductions(p.function(*body), PassContext()).body


class Case:
    def __init__(self, dtype: DType = DType.FLOAT64) -> None:
        self.p = Program()
        self.a = self.p.array("a", 1, dtype)
        self.i = self.p.integer("i")
        self.s = self.p.local("s", dtype)
        self.x = load(self.a, self.i)

    def after(self, value) -> tuple[Stmt, ...]:
        return after(self.p, assign(self.s, value))


@pytest.mark.parametrize("op", ["+", "*", "minimum", "maximum"])
def test_operator_with_the_target_on_either_side(op):
    c = Case()
    for value in (binary(op, c.s, c.x), binary(op, c.x, c.s)):
        assert c.after(value) == (Update(c.s, (), op, c.x, loc=c.x.loc),)


@pytest.mark.parametrize("op", ["&", "|", "^"])
def test_bit_operators(op):
    c = Case(DType.INT64)
    assert c.after(binary(op, c.s, c.x)) == (Update(c.s, (), op, c.x, loc=c.x.loc),)


def test_difference_is_a_sum_of_the_negative():
    c = Case()
    assert c.after(sub(c.s, c.x)) == (Update(c.s, (), "+", Unary("-", c.x, loc=c.x.loc), loc=c.x.loc),)


def test_difference_the_other_way_round_is_no_update():
    c = Case()
    assert isinstance(c.after(sub(c.x, c.s))[0], Assign)


def test_chain_of_terms_keeps_the_order_of_rounding():
    c = Case()
    y, z = load(c.a, 0), load(c.a, 1)
    found = c.after(add(sub(add(c.s, c.x), y), z))
    assert [u.value for u in found] == [c.x, Unary("-", y, loc=y.loc), z]
    assert all(isinstance(u, Update) and u.op == "+" for u in found)


def test_target_deep_inside_is_no_update():
    c = Case()
    assert isinstance(c.after(add(mul(c.s, c.x), c.x))[0], Assign)


def test_value_that_reads_the_target_is_no_update():
    c = Case()
    assert isinstance(c.after(add(c.s, mul(c.s, c.x)))[0], Assign)


def test_builtin_min_of_the_target_first():
    c = Case()
    assert c.after(binary("min", c.s, c.x)) == (Update(c.s, (), "min", c.x, loc=c.x.loc),)


def test_builtin_min_of_the_value_first_differs_for_a_nan():
    c = Case()
    assert isinstance(c.after(binary("min", c.x, c.s))[0], Assign)
    d = Case(DType.INT64)
    assert isinstance(d.after(binary("min", d.x, d.s))[0], Update)


def test_comparison_and_assignment_is_a_maximum():
    c = Case()
    expected = (Update(c.s, (), "max", c.x, loc=c.x.loc),)
    assert after(c.p, if_(compare(">", c.x, c.s), [assign(c.s, c.x)])) == expected
    assert after(c.p, if_(compare("<", c.s, c.x), [assign(c.s, c.x)])) == expected


def test_comparison_and_assignment_is_a_minimum():
    c = Case()
    expected = (Update(c.s, (), "min", c.x, loc=c.x.loc),)
    assert after(c.p, if_(compare("<", c.x, c.s), [assign(c.s, c.x)])) == expected
    assert c.after(select(compare("<", c.x, c.s), c.x, c.s)) == expected


def test_comparison_with_something_else_is_no_maximum():
    c = Case()
    y = load(c.a, 0)
    assert isinstance(after(c.p, if_(compare(">", y, c.s), [assign(c.s, c.x)]))[0], If)
    assert isinstance(after(c.p, if_(compare(">", c.x, c.s), [assign(c.s, c.x)], [assign(c.s, y)]))[0], If)


def test_choice_between_update_and_nothing():
    c = Case()
    cond = compare(">", c.x, 0.0)
    (found,) = c.after(select(cond, add(c.s, c.x), c.s))
    assert found == If(cond, (Update(c.s, (), "+", c.x, loc=c.x.loc),), loc=c.x.loc)
    (found,) = c.after(select(cond, c.s, add(c.s, c.x)))
    assert found == If(cond, (), (Update(c.s, (), "+", c.x, loc=c.x.loc),), loc=c.x.loc)


def test_conditional_update_stays_under_its_condition():
    c = Case()
    (found,) = after(c.p, if_(compare(">", c.x, 0.0), [assign(c.s, add(c.s, c.x))]))
    assert isinstance(found, If)
    assert isinstance(found.then[0], Update)


def test_and_of_a_value_that_can_fail_stays_lazy():
    p = Program()
    a, i, ok = p.array("a", 1), p.integer("i"), p.local("ok", DType.BOOL)
    checked = compare(">", load(a, i), 0.0)
    unchecked = compare(">", load(a, i, checked=False), 0.0)
    assert isinstance(after(p, assign(ok, both(ok, checked)))[0], Assign)
    assert after(p, assign(ok, both(ok, unchecked))) == (Update(ok, (), "and", unchecked, loc=checked.loc),)
    assert isinstance(after(p, assign(ok, either(checked, ok)))[0], Update)


def test_element_with_equal_index():
    p = Program()
    a, b, i = p.array("a", 1), p.array("b", 1), p.integer("i")
    x = load(b, i)
    assert after(p, store(a, [add(i, 1)], add(load(a, add(i, 1)), x))) == (
        Update(a, (add(i, 1),), "+", x, loc=x.loc),
    )


def test_element_with_another_index_is_no_update():
    p = Program()
    a, i = p.array("a", 1), p.integer("i")
    assert isinstance(after(p, store(a, [i], add(load(a, add(i, 1)), 1.0)))[0], Store)


def test_element_updated_by_itself_is_no_update():
    p = Program()
    a, i = p.array("a", 1), p.integer("i")
    assert isinstance(after(p, store(a, [i], add(load(a, i), load(a, i))))[0], Store)


def test_chain_that_reads_the_array_elsewhere_keeps_one_statement():
    p = Program()
    a, i = p.array("a", 1), p.integer("i")
    statement = store(a, [i], add(add(load(a, i), load(a, 0)), load(a, 1)))
    assert isinstance(after(p, statement)[0], Store)


def test_unchecked_element_stays_unchecked():
    p = Program()
    a, i = p.array("a", 1), p.integer("i")
    (found,) = after(p, store(a, [i], add(load(a, i, checked=False), 1.0), checked=False))
    assert isinstance(found, Update)
    assert not found.checked


def test_empty_body_stays_empty():
    assert after(Program()) == ()


@pytest.mark.parametrize("values", [[1.0, 2.0], [math.nan, 1.0], [2.0, math.nan, 1.0], [-0.0, 0.0]])
@pytest.mark.parametrize("form", ["min", "max", "if", "select", "sum"])
def test_values_stay_what_they_were(values, form):
    import numpy as np

    p = Program()
    a, n, s, i = p.array("a", 1), p.integer("n"), p.local("s"), p.index("i")
    x = load(a, i)
    body = {
        "min": assign(s, binary("min", s, x)),
        "max": assign(s, binary("max", x, s)),
        "if": if_(compare(">", x, s), [assign(s, x)]),
        "select": assign(s, select(compare("<", x, s), x, s)),
        "sum": assign(s, sub(add(s, x), mul(x, 0.1))),
    }[form]
    fn = p.function(assign(s, 0.5), for_(i, 0, n, [body]), results=[s])
    new = recognise_reductions(fn, PassContext())
    data = np.array(values)
    np.testing.assert_array_equal(run_printed(fn, data, len(values)), run_printed(new, data, len(values)))


@pytest.mark.parametrize("op", ["+", "-", "*"])
def test_operations_that_trap(op):
    c = Case(DType.INT64)
    (only,) = c.after(replace(binary(op, c.s, c.x), trap=True))
    assert isinstance(only, Update)
    assert (only.op, only.trap) == ("*" if op == "*" else "+", True)
    if op == "-":  # -(-2**63) has more than 64 bits
        assert isinstance(only.value, Binary)
        assert only.value.trap
    element = replace(binary(op, c.x, 1), trap=True)
    assert isinstance(after(c.p, store(c.a, [c.i], element))[0], Store)


def test_an_element_that_is_kept_for_its_store_alone_is_loaded_there():
    c = Case()
    kept = c.p.local("kept", DType.FLOAT64)
    other = c.p.local("other", DType.FLOAT64)
    h = c.p.array("h", 1, DType.FLOAT64)
    x = load(c.a, c.i, checked=False)
    keeps = assign(kept, load(h, c.i))
    adds = store(h, (c.i,), add(kept, x))
    assert [type(s) for s in after(c.p, keeps, adds)] == [Update]
    assert [type(s) for s in after(c.p, keeps, assign(other, c.s), adds)] == [Assign, Update]
    for body in (
        (keeps, adds, store(c.a, (c.i,), kept)),  # read again
        (keeps, store(h, (c.i,), c.s), adds),  # another store between them
        (keeps, store(c.a, (c.i,), add(kept, c.s))),  # of another array
        (keeps, store(h, (c.i,), add(kept, c.x))),  # whose index may be out of range, behind that of `h`
    ):
        assert after(c.p, *body) == body
