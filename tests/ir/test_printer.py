"""Printed IR reads well and computes, to the type, what the IR means."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from appyc.errors import GENERATED
from appyc.ir.nodes import (
    AnyLane,
    Clauses,
    Const,
    Fail,
    For,
    Guard,
    Intrinsic,
    LoopMode,
    Reduction,
    Result,
)
from appyc.ir.printer import print_expr, print_function, print_stmt
from appyc.ir.types import DType
from tests.ir_makers import (
    Program,
    add,
    alloc,
    assign,
    binary,
    bounds_check,
    break_,
    cast,
    compare,
    continue_,
    either,
    expr,
    extent,
    for_,
    if_,
    load,
    mul,
    neg,
    not_,
    select,
    store,
    sub,
    update,
    while_,
)
from tests.printed import run_printed


def value_of(p: Program, value, *args, python: bool = False):
    """The value of an expression, with the program's parameters bound to `args`."""
    fn = p.function(results=[value])
    fn = replace(fn, results=(Result(expr(value), python, loc=GENERATED),))
    return run_printed(fn, *args)


# ---------------------------------------------------------------- text


def test_function_with_all_there_is(golden):
    p = Program()
    a, b, n, x = p.array("a", 2), p.array("b", 1, DType.INT8), p.integer("n"), p.real("x")
    s, t, i, j, k = p.local("s"), p.local("t"), p.index("i"), p.index("j"), p.index("k")
    work = p.local_array("work", 1)
    masked = replace(store(work, [i], 0.0), mask=compare("<", i, n))
    minus_three = Const(-3, DType.INT8, loc=GENERATED)
    read = replace(load(work, i), mask=compare("<", i, n))
    asked = Clauses(
        "parallel", simd=True, collapse=2, block=(32, 8), num_warps=4, reductions=(Reduction("+", s),),
        private=(t,), shared=(x,), to=(a,), from_=(b,), schedule="static", chunk=4,
        condition=compare(">", n, 9), independent=True, loc=GENERATED,
    )  # fmt: skip
    inner = replace(for_(j, n, 0, [update(s, [], "+", read)], step=-2), mode=LoopMode.SIMD)
    outer = replace(
        for_(i, 0, extent(a), [assign(t, mul(x, 2.0)), inner, update(a, [i, 0], "min", t, atomic=True)]),
        mode=LoopMode.PARALLEL, private=(t,), last=(t,), reductions=(Reduction("+", s),), clauses=asked,
    )  # fmt: skip
    branch = if_(
        compare("<", k, 1),
        [break_()],
        [if_(compare("<", k, 2), [continue_()], [Fail("ValueError", "it's k", loc=GENERATED)])],
    )
    sequential = replace(for_(k, 0, 3, [branch, assign(t, 1.0)]), private=(t,))
    fn = p.function(
        alloc(work, n),
        assign(s, 0.0),
        masked,
        outer,
        sequential,
        while_(
            AnyLane(compare("<", s, 1.0), loc=GENERATED),
            [store(b, [neg(1)], minus_three)],
        ),
        for_(p.index("i"), 0, n, []),
        results=[work, s, add(n, 1)],
    )
    guard = Guard(compare("<=", n, extent(a, 1)), "n fits", loc=GENERATED)
    results = (*fn.results[:2], replace(fn.results[2], python=True))
    fn = replace(fn, guards=(guard,), tree=((0,), (1, None), 2), results=results)
    text = print_function(fn)
    golden("ir/printer_all.txt", text)
    compile(text, "printed", "exec")


def test_names_that_python_or_the_text_needs_are_changed():
    p = Program()
    np_, range_, f = p.integer("np"), p.integer("range"), p.integer("f")
    assert run_printed(p.function(results=[add(add(np_, range_), f)]), 1, 2, 3) == 6


def test_empty_function_returns_nothing():
    assert run_printed(Program().function()) is None


def test_expressions_and_statements_for_messages():
    p = Program()
    a, i = p.array("a", 2), p.integer("i")
    assert print_expr(load(a, add(i, 1), mul(2, i))) == "a[i + 1, 2 * i]"
    assert print_expr(select(compare("<", i, 3), i, neg(i))) == "i if (i < 3) else (-i)"
    assert print_stmt(for_(p.index("k"), 0, i, [])) == "for k in range(0, i):\n    pass"


def test_brackets_keep_the_order_of_operations():
    p = Program()
    n = p.integer("n")
    assert value_of(p, sub(10, sub(n, 3)), 5) == 8
    assert value_of(p, mul(add(n, 1), neg(add(n, 1))), 2) == -9


# ---------------------------------------------------------------- values and types


@pytest.mark.parametrize("dtype", [d for d in DType if d.kind != "s"])
def test_constants_keep_type_and_value(dtype):
    value = {"b": True, "i": -7, "u": 7, "f": -0.1, "c": complex(-0.0, math.inf)}[dtype.kind]
    got = value_of(Program(), Const(value, dtype, loc=GENERATED))
    assert got == dtype.numpy.type(value)
    assert got.dtype == dtype.numpy


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, -0.0, 1e38, 5e-324])
@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT64])
def test_special_floats(value, dtype):
    got = value_of(Program(), Const(value, dtype, loc=GENERATED))
    np.testing.assert_array_equal(got, dtype.numpy.type(value))
    assert math.copysign(1, got) == math.copysign(1, value) or math.isnan(value)


def test_float32_arithmetic_stays_float32():
    p = Program()
    x = p._parameter(p.local("x", DType.FLOAT32))
    third = binary("/", x, Const(3.0, DType.FLOAT32, loc=GENERATED))
    got = value_of(p, third, 1)
    assert got == np.float32(1) / np.float32(3)


@pytest.mark.parametrize("op", ["/", "//", "%"])
def test_division_by_zero_raises_where_python_does(op):
    p = Program()
    x, y = (p.real("x"), p.real("y")) if op == "/" else (p.integer("x"), p.integer("y"))
    with pytest.raises(ZeroDivisionError):
        value_of(p, binary(op, x, y, trap=True), 1, 0)
    kind = np.float64 if op == "/" else np.int64
    with np.errstate(all="ignore"):
        expected = {"/": kind(1) / kind(0), "//": kind(1) // kind(0), "%": kind(1) % kind(0)}[op]
    assert value_of(p, binary(op, x, y), 1, 0) == expected


@pytest.mark.parametrize("index", [-4, -3, 2, 3])
def test_bounds_checks_raise_where_python_does(index):
    p = Program()
    k, a = p.integer("k"), p.array("a", 2)
    raised = nullcontext() if -3 <= index < 3 else pytest.raises(IndexError)
    with raised:
        run_printed(p.function(bounds_check(k, a)), index, np.zeros((3, 0)))


def test_division_by_zero_of_a_loop_variable_is_numpys():
    p = Program()
    out, i = p.array("out", 1, DType.INT64), p.index("i")
    array = np.full(2, 7)
    run_printed(p.function(for_(i, 0, 2, [store(out, [i], binary("//", 5, i))])), array)
    assert array.tolist() == [0, 5]


def test_division_of_a_negated_number_by_zero_is_numpys():
    p = Program()
    x, y = p.real("x"), p.real("y")
    with np.errstate(all="ignore"):
        assert value_of(p, binary("/", neg(x), y), 1.0, 0.0) == -np.inf


def test_operations_that_trap_are_pythons():
    p = Program()
    a = p.array("a", 1, DType.INT64)
    square = binary("*", load(a, 0), load(a, 0), trap=True)
    assert value_of(p, add(square, square), np.array([2**31]), python=True) == 2**63


def test_not_of_a_bool_and_complement_of_an_integer():
    p = Program()
    n = p.integer("n")
    assert value_of(p, not_(compare("<", n, 3)), 5)
    assert value_of(p, not_(n), 5) == -6


def test_bools_add_as_bools():
    p = Program()
    n = p.integer("n")
    total = binary("+", compare("<", n, 9), compare("<", n, 8))
    assert value_of(p, total, 1) is np.True_
    assert value_of(p, cast(total, DType.INT64), 1) == 1


def test_minimum_and_min_differ_for_nan():
    p = Program()
    x, y = p.real("x"), p.real("y")
    assert value_of(p, binary("min", x, y), 1.0, math.nan) == 1.0
    assert math.isnan(value_of(p, binary("minimum", x, y), 1.0, math.nan))
    assert value_of(p, binary("maximum", x, y), 1.0, 2.0) == 2.0


@pytest.mark.parametrize(("value", "dtype", "expected"), [(300, DType.INT8, 44), (-1, DType.UINT16, 65535)])
def test_casts_of_a_loop_variable_wrap(value, dtype, expected):
    p = Program()
    out, i = p.array("out", 1, dtype), p.index("i")
    array = np.zeros(1, dtype.numpy)
    run_printed(p.function(for_(i, value, value + 1, [store(out, [0], cast(i, dtype))])), array)
    assert array[0] == expected


def test_cast_truncates_and_tests_for_zero():
    p = Program()
    x = p.real("x")
    assert value_of(p, cast(x, DType.INT32), -2.7) == -2
    assert value_of(p, cast(x, DType.BOOL), 0.5) is np.True_


def test_or_evaluates_its_right_side_only_where_it_decides():
    p = Program()
    a, n = p.array("a", 1), p.integer("n")
    guarded = either(compare(">", n, 0), compare(">", load(a, 5), 0.0))
    assert value_of(p, guarded, np.zeros(1), 1)


@pytest.mark.parametrize(
    ("name", "args", "dtype", "expected"),
    [
        ("sqrt", (2.0,), DType.FLOAT64, math.sqrt(2)),
        ("erf", (0.5,), DType.FLOAT64, math.erf(0.5)),
        ("complex", (1.0, -2.0), DType.COMPLEX128, 1 - 2j),
        ("hypot", (3.0, 4.0), DType.FLOAT64, 5.0),
        ("isnan", (1.0,), DType.BOOL, False),
    ],
)
def test_intrinsics(name, args, dtype, expected):
    call = Intrinsic(name, tuple(expr(a) for a in args), dtype, loc=GENERATED)
    got = value_of(Program(), call)
    assert got == expected
    assert got.dtype == dtype.numpy


def test_results_of_python_types():
    p = Program()
    n = p.integer("n")
    assert type(value_of(p, add(n, 1), 1, python=True)) is int
    assert type(value_of(p, add(n, 1), 1)) is np.int64


def test_elements_of_an_array_without_axes():
    p = Program()
    a = p.array("a", 0)
    array = np.array(2.0)
    run_printed(p.function(update(a, [], "*", 3.0)), array)
    assert array == 6.0


def test_masked_accesses_do_nothing_where_the_mask_is_false():
    p = Program()
    a, n, i = p.array("a", 1), p.integer("n"), p.index("i")
    inside = compare("<", i, n)
    body = [replace(update(a, [i], "+", replace(load(a, i), mask=inside)), mask=inside)]
    array = np.arange(3.0)
    run_printed(p.function(for_(i, 0, 8, body)), array, 3)
    assert array.tolist() == [0.0, 2.0, 4.0]


def test_matrix_product():
    p = Program()
    a, b, c = (p.array(name, 2) for name in "abc")
    i, j, k, s = p.index("i"), p.index("j"), p.index("k"), p.local("s")
    dot = for_(k, 0, extent(b), [update(s, [], "+", mul(load(a, i, k), load(b, k, j)))])
    loops = for_(i, 0, extent(c), [for_(j, 0, extent(c, 1), [assign(s, 0.0), dot, store(c, [i, j], s)])])
    rng = np.random.default_rng(0)
    x, y, z = rng.random((3, 4)), rng.random((4, 5)), np.zeros((3, 5))
    run_printed(p.function(loops), x, y, z)
    np.testing.assert_allclose(z, x @ y)


def test_plain_loop_has_no_remark():
    p = Program()
    loop = for_(p.index("i"), 0, 3, [])
    assert isinstance(loop, For)
    assert "#" not in print_stmt(loop)


def test_failure_says_the_value_that_it_is_about():
    p = Program()
    n = p.integer("n")
    fn = p.function(Fail("ValueError", "{value} is too much", (add(n, 1),), loc=GENERATED))
    with pytest.raises(ValueError, match=r"^8 is too much$"):
        run_printed(fn, 7)


@pytest.mark.parametrize("op", ["min", "//", "%", "**"])
def test_deep_operands_are_printed_once(op):
    p = Program()
    x = p.integer("x")
    value = expr(x)
    for _ in range(60):
        value = binary(op, value, x)
    assert print_expr(value).count("x") >= 61
