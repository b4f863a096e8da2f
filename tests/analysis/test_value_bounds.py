"""Bounds of expressions hold for what Python computes."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from appyc.analysis.algebra.value_bounds import Facts, ValueBounds
from appyc.distributed.kernels import function_of
from appyc.errors import GENERATED
from appyc.ir.nodes import Assign, Binary, Compare, Const, Expr, Select, Symbol, Var
from appyc.ir.types import DType, ScalarType
from appyc.ir.visit import walk
from tests.counting import calls_of
from tests.lowering import lowered

SLACK = 1e-11
"""The room that functions are given around 1."""


def _numbers(inner):
    """Texts of floats, made of others."""
    pair = st.tuples(inner, inner)
    return st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda e: f"({e} * {e})"),
        inner.map(lambda e: f"(-{e})"),
        pair.map(lambda t: f"({t[0]} / (1.5 + abs({t[1]})))"),
        st.tuples(st.sampled_from(["exp", "cosh", "sin", "tanh"]), inner).map(
            lambda t: f"math.{t[0]}({t[1]} / (1.0 + abs({t[1]})))"
        ),
        st.tuples(st.sampled_from(["math.sqrt(abs({}))", "abs({}) ** 0.5", "abs({})"]), inner).map(
            lambda t: t[0].format(t[1])
        ),
        st.tuples(st.sampled_from(["floor", "ceil", "rint", "trunc"]), inner).map(
            lambda t: f"np.{t[0]}({t[1]})"
        ),
        st.tuples(st.sampled_from(["max", "min"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        st.tuples(inner, inner, st.sampled_from(["<", ">=", "!=", "=="]), inner).map(
            lambda t: f"({t[0]} if {t[1]} {t[2]} {t[3]} else {t[1]})"
        ),
    )


LEAVES = st.sampled_from(
    ["float(i)", "float(a[i])", "x", "y", "0.5", "-2.0", "float(i * i - 3)", "float(i % 3)"]
)


@settings(max_examples=150, deadline=None)
@given(st.recursive(LEAVES, _numbers, max_leaves=8), st.integers(-4, 3))
def test_python_computes_what_is_within_them(text, low):
    function = function_of(
        f"""
import math
import numpy as np
def block(a, seen):
    x, y = 3.0, 0.25
    for i in range({low}, 7):
        value = {text}
        seen[i] = value
        x = x * 0.5
        y = y + x * x
"""
    )
    a = np.array([0.0, 1.5, -2.0, math.nan, 1e-200, 4.0, 0.5, -0.25, 3.0, 1e9, -7.0])
    seen: dict[int, float] = {}
    function(a, seen)
    fn = lowered(function, a, np.zeros(11))
    (assigned,) = (n for n in walk(fn.body) if isinstance(n, Assign) and n.target.name.startswith("value"))
    bounds = ValueBounds(fn)
    least, greatest = bounds.of(assigned.value, Facts())
    is_finite = bounds.is_finite(assigned.value, Facts())
    for value in seen.values():
        assert math.isfinite(value) or not is_finite, text
        assert math.isnan(value) or least - SLACK <= value <= greatest + SLACK, (text, least, greatest)


def test_scalars_are_looked_at_again_only_where_what_they_are_made_of_has_changed():
    """Each takes the bounds of the one behind it, which are known a round later."""

    def work(many: int) -> int:
        shifts = "".join(f"        x{k} = x{k + 1}\n" for k in range(many))
        starts = ", ".join(f"x{k}" for k in range(many + 1))
        fn = lowered(
            function_of(
                f"def block(a):\n    {starts} = {', '.join(['0.0'] * (many + 1))}\n"
                f"    for i in range(9):\n{shifts}        x{many} = 1.0\n    a[0] = x0\n"
            ),
            np.zeros(3),
        )
        return calls_of(lambda: ValueBounds(fn))

    assert work(40) < 2.5 * work(20)


def test_nested_conditional_expressions_take_time_in_proportion():
    """Each is a condition's operand and a branch of the next one, as where indices that wrap are indices again: an
    expression has twice the nodes of the one inside."""

    def work(many: int) -> int:
        expr: Expr = Var(Symbol("x", 0, ScalarType(DType.INT64)), loc=GENERATED)
        zero, one = (Const(k, DType.INT64, loc=GENERATED) for k in (0, 1))
        for _ in range(many):
            below = Compare("<", expr, zero, loc=GENERATED)
            expr = Select(below, Binary("+", expr, one, loc=GENERATED), one, loc=GENERATED)
        bounds = ValueBounds(lowered(lambda a: a, np.zeros(3)))
        return calls_of(lambda: bounds.of(expr, Facts()))

    assert work(9) < 6 * work(7)
