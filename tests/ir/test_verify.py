"""Every rule of the verifier, by a program that breaks it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from appyc.errors import GENERATED, InternalError
from appyc.ir.nodes import (
    AnyLane,
    Clauses,
    Const,
    Expr,
    Extent,
    Fail,
    Guard,
    Intrinsic,
    Logical,
    LoopMode,
    Reduction,
    Result,
    Select,
    Stmt,
    Unary,
    Var,
)
from appyc.ir.schedule import Dots, LoopSchedule, Schedule
from appyc.ir.types import ArrayType, DType, Layout
from appyc.ir.verify import check, verify
from tests.ir_makers import (
    Program,
    alloc,
    assign,
    binary,
    break_,
    cast,
    compare,
    continue_,
    expr,
    extent,
    for_,
    if_,
    load,
    store,
    update,
    while_,
)


class Names(Program):
    """A program with one symbol of each sort."""

    def __init__(self) -> None:
        super().__init__()
        self.a = self.array("a", 1)
        self.b = self.array("b", 2)
        self.frozen = self._parameter(self._names.fresh("frozen", ArrayType(DType.FLOAT64, 1, readonly=True)))
        self.n = self.integer("n")
        self.x = self.real("x")
        self.i = self.index("i")
        self.s = self.local("s")
        self.flag = self.local("flag", DType.BOOL)
        self.z = self._parameter(self.local("z", DType.COMPLEX128))


def faults_of_value(p: Names, value: Expr) -> list[str]:
    """What is wrong with an assignment of the value to a variable of its type."""
    return verify(p.function(assign(p.local("t", value.dtype), value)))


def has(faults: list[str], text: str) -> bool:
    return any(text in fault for fault in faults)


def test_well_formed_program_has_no_faults():
    p = Names()
    j, k, t = p.index("j"), p.index("k"), p.local_array("t", 1)
    body = [
        alloc(t, p.n),
        assign(p.s, 0.0),
        for_(
            p.i,
            0,
            extent(p.a),
            [update(p.s, [], "+", load(p.a, p.i)), if_(compare("<", p.i, 3), [continue_()])],
        ),
        for_(j, 0, p.n, [for_(k, j, p.n, [store(p.b, [j, k], binary("*", p.s, load(t, k)))])]),
        while_(compare("<", p.s, 10.0), [assign(p.s, binary("+", p.s, 1.0)), break_()]),
    ]
    fn = p.function(*body, results=[p.s, t])
    assert verify(fn) == []
    check(fn, "nothing")


def test_check_names_the_pass():
    p = Names()
    with pytest.raises(InternalError, match=r"internal error in my_pass: malformed IR"):
        check(p.function(break_()), "my_pass")


def test_empty_function():
    assert verify(Program().function()) == []


# ---------------------------------------------------------------- expressions


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1.5, DType.INT64),
        (True, DType.INT64),
        (1, DType.BOOL),
        (300, DType.UINT8),
        (-1, DType.UINT64),
        (128, DType.INT8),
        (1j, DType.FLOAT64),
        (True, DType.FLOAT64),
    ],
)
def test_constant_that_is_not_of_its_type(value, dtype):
    assert has(faults_of_value(Names(), Const(value, dtype, loc=GENERATED)), "is not of type")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda p: Var(p.a, loc=GENERATED), "is used as a scalar"),
        (lambda p: Extent(p.n, 0, loc=GENERATED), "is used as an array"),
        (lambda p: extent(p.a, 1), "has no axis 1"),
        (lambda p: load(p.b, p.n), "has 2 axes and 1 indices"),
        (lambda p: load(p.a, p.x), "'x' is float64, not int64"),
        (lambda p: replace(load(p.a, p.n), mask=expr(p.n)), "'n' is int64, not bool"),
        (lambda p: binary("+", p.x, p.n), "'n' is int64, not float64"),
        (lambda p: binary("@", p.x, p.x), "operation '@' on float64"),
        (lambda p: binary("/", p.n, p.n), "operation '/' on int64"),
        (lambda p: binary("&", p.x, p.x), "operation '&' on float64"),
        (lambda p: binary("<<", p.x, p.x), "operation '<<' on float64"),
        (lambda p: binary("//", p.z, p.z), "operation '//' on complex128"),
        (lambda p: binary("-", True, True), "operation '-' on bool"),
        (lambda p: binary("min", p.z, p.z), "operation 'min' on complex128"),
        (lambda p: Unary("-", expr(True), loc=GENERATED), "unary '-' of bool"),
        (lambda p: Unary("~", expr(p.x), loc=GENERATED), "unary '~' of float64"),
        (lambda p: Unary("+", expr(p.x), loc=GENERATED), "unary '+' of float64"),
        (lambda p: compare("<", p.x, p.n), "'n' is int64, not float64"),
        (lambda p: compare("<>", p.x, p.x), "comparison '<>'"),
        (lambda p: compare("<", p.z, p.z), "comparison '<' of complex128"),
        (lambda p: Logical("and", expr(True), expr(p.n), loc=GENERATED), "'n' is int64, not bool"),
        (lambda p: Logical("xor", expr(True), expr(True), loc=GENERATED), "logical operation 'xor'"),
        (lambda p: Select(expr(p.n), expr(p.x), expr(p.x), loc=GENERATED), "'n' is int64, not bool"),
        (lambda p: Select(expr(True), expr(p.x), expr(p.n), loc=GENERATED), "'n' is int64, not float64"),
        (lambda p: AnyLane(expr(p.n), loc=GENERATED), "'n' is int64, not bool"),
        (lambda p: cast(p.s, DType.INT64), "s.6 is used before it is defined"),
        (lambda p: Intrinsic("nope", (expr(p.x),), DType.FLOAT64, loc=GENERATED), "no intrinsic 'nope'"),
        (lambda p: Intrinsic("sqrt", (), DType.FLOAT64, loc=GENERATED), "takes 1 arguments, not 0"),
        (lambda p: Intrinsic("sqrt", (expr(p.n),), DType.INT64, loc=GENERATED), "'sqrt' of int64"),
        (lambda p: Intrinsic("isnan", (expr(p.x),), DType.FLOAT64, loc=GENERATED), "gives no float64"),
        (lambda p: Intrinsic("abs", (expr(p.z),), DType.COMPLEX128, loc=GENERATED), "gives no complex128"),
        (lambda p: Intrinsic("sqrt", (expr(p.x),), DType.FLOAT32, loc=GENERATED), "gives no float32"),
        (lambda p: Intrinsic("atan2", (expr(p.x), expr(p.n)), DType.FLOAT64, loc=GENERATED), "'n' is int64"),
    ],
)
def test_broken_expression(make, text):
    p = Names()
    assert has(faults_of_value(p, make(p)), text)


@pytest.mark.parametrize(
    ("name", "args", "dtype"),
    [("abs", "z", DType.FLOAT64), ("isnan", "x", DType.BOOL), ("complex", "xx", DType.COMPLEX128)],
)
def test_types_of_intrinsics(name, args, dtype):
    p = Names()
    values = tuple(expr(getattr(p, arg)) for arg in args)
    assert faults_of_value(p, Intrinsic(name, values, dtype, loc=GENERATED)) == []


# ---------------------------------------------------------------- statements


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda p: assign(p.s, p.n), "'n' is int64, not float64"),
        (lambda p: assign(p.a, p.x), "is used as a scalar"),
        (lambda p: store(p.a, [p.n, p.n], 0.0), "has 1 axes and 2 indices"),
        (lambda p: store(p.a, [p.n], p.n), "'n' is int64, not float64"),
        (lambda p: store(p.frozen, [p.n], 0.0), "is read-only and is written"),
        (lambda p: update(p.frozen, [p.n], "+", 1.0), "is read-only and is written"),
        (lambda p: replace(store(p.a, [p.n], 0.0), mask=expr(p.x)), "'x' is float64, not bool"),
        (lambda p: update(p.s, [], "+", 1.0), "used before it is defined"),
        (lambda p: update(p.x, [p.n], "+", 1.0), "the scalar x.4 has indices"),
        (lambda p: update(p.x, [], "-", 1.0), "update with '-' of float64"),
        (lambda p: update(p.x, [], "and", 1.0), "update with 'and' of float64"),
        (lambda p: update(p.a, [p.n], "+", p.n), "'n' is int64, not float64"),
        (lambda p: if_(p.n, []), "'n' is int64, not bool"),
        (lambda p: while_(p.n, []), "'n' is int64, not bool"),
        (lambda p: break_(), "Break outside a loop"),
        (lambda p: continue_(), "Continue outside a loop"),
        (lambda p: alloc(p.a, p.n), "the parameter a.0 is allocated"),
        (lambda p: alloc(p.local_array("t", 2), p.n), "has 2 axes, not 1"),
        (lambda p: alloc(p.local_array("t", 1), p.x), "'x' is float64, not int64"),
        (lambda p: alloc(p._names.fresh("t", ArrayType(DType.INT8, 1, Layout.F)), p.n), "with layout F"),
        (lambda p: store(p.local_array("t", 1), [p.n], 0.0), "used before it is defined"),
        (lambda p: Fail("Oops", "", loc=GENERATED), "'Oops' is no exception"),
        (
            lambda p: Fail("ValueError", "{value}", (load(p.a, p.n),), loc=GENERATED),
            "'a[n]' is float64, not int64",
        ),
    ],
)
def test_broken_statement(make, text):
    p = Names()
    assert has(verify(p.function(make(p))), text)


# ---------------------------------------------------------------- loops


def loop_faults(p: Names, *body: Stmt, **changes: object) -> list[str]:
    loop = replace(for_(p.i, 0, p.n, list(body)), **changes)
    return verify(p.function(assign(p.s, 0.0), loop))


def test_bounds_and_step():
    p = Names()
    assert has(loop_faults(p, step=0), "a loop with step 0")
    assert has(loop_faults(p, hi=expr(p.x)), "'x' is float64, not int64")
    assert has(loop_faults(p, var=p.local("r")), "is not int64")


def test_variable_of_a_loop_belongs_to_it():
    p = Names()
    assert has(loop_faults(p, assign(p.i, 1)), "the loop variable i.5 is assigned")
    assert has(loop_faults(p, for_(p.i, 0, 3, [])), "is the variable of 2 loops")
    assert has(loop_faults(p, var=p.n), "is a parameter")
    after = assign(p.local("t", DType.INT64), p.i)
    assert has(verify(p.function(for_(p.i, 0, 3, []), after)), "i.5 is used before it is defined")


def test_value_of_an_earlier_iteration_may_be_read():
    p = Names()
    body = [if_(compare(">", p.i, 0), [store(p.a, [p.i], p.s)]), assign(p.s, p.x)]
    assert verify(p.function(for_(p.i, 0, p.n, body))) == []


def test_break_of_a_parallel_loop():
    p = Names()
    assert has(
        loop_faults(p, break_(), mode=LoopMode.PARALLEL),
        "whose iterations have no order",
    )
    inner = for_(p.index("j"), 0, 3, [break_()])
    assert loop_faults(p, inner, mode=LoopMode.PARALLEL) == []


def test_facts_on_a_loop():
    p = Names()
    write = assign(p.s, p.x)
    other = p.local("other")
    assert loop_faults(p, write, mode=LoopMode.PARALLEL, private=(p.s,), last=(p.s,)) == []
    assert has(loop_faults(p, write, mode=LoopMode.SIMD), "iterations of the simd loop over i.5 share s.6")
    assert has(loop_faults(p, write, private=(other,)), "is no scalar of the loop")
    assert has(loop_faults(p, write, last=(p.s,)), "is last in the loop over i.5 and not private")
    both = {"private": (p.s,), "reductions": (Reduction("+", p.s),)}
    assert has(loop_faults(p, write, **both), "is private and combined")
    assert has(loop_faults(p, write, reductions=(Reduction("&", p.s),)), "reduction with '&' of float64")


def test_condition_of_a_clause():
    p = Names()
    clauses = Clauses("parallel", condition=expr(p.n), loc=GENERATED)
    assert has(loop_faults(p, clauses=clauses), "'n' is int64, not bool")


# ---------------------------------------------------------------- functions


def broken(p: Names, **changes: object) -> list[str]:
    return verify(replace(p.function(), **changes))


def test_symbols_with_one_number():
    p = Names()
    twin = replace(p.n, name="twin")
    assert has(broken(p, params=(p.n, twin)), "n.3 and twin.3 have one number")
    assert has(broken(p, params=(p.n, p.n)), "a parameter is there twice")


def test_results():
    p = Names()
    number = Result(expr(p.x), loc=GENERATED)
    assert broken(p, results=(number, number), tree=((0, 1), None, 0)) == []
    assert has(broken(p, results=(number,), tree=1), "names [1] of 1")
    assert has(broken(p, results=(number,), tree=None), "leaves out [0]")
    assert has(broken(p, results=(Result(p.x, loc=GENERATED),), tree=0), "is used as an array")
    assert has(broken(p, results=(Result(expr(p.s), loc=GENERATED),), tree=0), "before it is defined")


def test_guards():
    p = Names()
    ok = Guard(compare("<=", p.n, extent(p.a)), "", loc=GENERATED)
    assert broken(p, guards=(ok,)) == []
    local = Guard(compare("<", p.s, 0.0), "", loc=GENERATED)
    assert has(broken(p, guards=(local,)), "a guard reads s.6, which is no parameter")
    assert has(broken(p, guards=(Guard(expr(p.n), "", loc=GENERATED),)), "'n' is int64, not bool")


def test_schedule_names_loops_of_the_function():
    p = Names()
    loop = for_(p.i, 0, p.n, [store(p.a, [p.i], p.x)])
    there = Schedule(((p.i, LoopSchedule(nontemporal=(p.a,))),))
    assert broken(p, body=(loop,), schedule=there) == []
    assert has(broken(p, schedule=there), "the schedule names i.")
    dots = LoopSchedule(form=Dots(p.n, (), (), 4))
    assert has(broken(p, body=(loop,), schedule=Schedule(((p.i, dots),))), "the schedule names n.")
    assert has(
        broken(p, body=(loop,), schedule=Schedule(((p.i, LoopSchedule(nontemporal=(p.n,))),))),
        "which is no array",
    )
