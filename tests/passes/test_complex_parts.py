"""Complex expressions become statements on pairs of reals, evaluated where and as often as before."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.errors import UnsupportedError
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Expr, Function, Intrinsic, Stmt, Var
from appyc.ir.printer import print_function
from appyc.ir.types import DType
from appyc.passes.gpu.complex_parts import ComplexParts, works_on_complex
from appyc.passes.gpu.split_complex import split_complex
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program, assign, binary, cast, compare, expr, here, load, select
from tests.printed import run_printed

C = DType.COMPLEX128


def split(fn: Function) -> Function:
    return split_complex(fn, PassContext())


def real(make) -> Function:
    """A function that returns the real expression that is left of `make(z, w)`."""
    p = Program()
    z, w = p.integer("z", C), p.integer("w", C)
    fn = p.function(results=[make(expr(z), expr(w))])
    out: list[Stmt] = []
    complex_parts = ComplexParts(NameSupply.after(fn), PassContext())
    for symbol in (z, w):
        complex_parts.assign(symbol, complex_parts.parts_of_scalar(Var(symbol, loc=fn.loc)), out)
    value = complex_parts.expr(fn.results[0].value, out)
    assert not works_on_complex(value)
    return p.function(*out, results=[value])


def function(name: str, dtype: DType = DType.FLOAT64):
    return lambda *args: Intrinsic(name, args, dtype, loc=here())


REAL = {
    "==": lambda z, w: compare("==", z, w),
    "!=": lambda z, w: compare("!=", z, w),
    "truth": lambda z, w: cast(z, DType.BOOL),
    "abs": lambda z, w: function("abs")(z),
    "imaginary part of a quotient": lambda z, w: function("imag")(binary("/", z, w)),
    "real part of a choice": lambda z, w: function("real")(select(compare("==", z, w), z, binary("*", z, w))),
}


@pytest.mark.parametrize("name", REAL)
def test_real_values_of_complex_numbers(name):
    p = Program()
    z, w = p.integer("z", C), p.integer("w", C)
    before, after = p.function(results=[REAL[name](expr(z), expr(w))]), real(REAL[name])
    for a, b in ((1 + 2j, 3 - 1j), (1 + 2j, 1 + 2j), (0j, 1j), (1 + 2j, 1 + 3j)):
        np.testing.assert_allclose(run_printed(after, a, b), run_printed(before, a, b), rtol=1e-15)


def test_text(golden):
    p = Program()
    a, z, n = p.array("a", 1, C), p.local("z", C), p.integer("n")
    far = compare(">", Intrinsic("abs", (expr(z),), DType.FLOAT64, loc=here()), 2.0)
    fn = split(
        p.function(
            assign(z, load(a, n)),
            assign(z, select(far, z, binary("+", binary("*", z, z), load(a, 0)))),
            results=[z],
        )
    )
    golden("ir/complex_parts.txt", print_function(fn))
    assert run_printed(fn, np.array([0.5j, 1 + 1j, 2 + 2j]), 1) == 0.5j + (1 + 1j) ** 2
    assert run_printed(fn, np.array([0.5j, 1 + 1j, 2 + 2j]), 2) == 2 + 2j


def test_part_that_may_not_be_evaluated_stays_behind_its_condition():
    p = Program()
    a, x, n = p.array("a", 1, C), p.local("x", DType.BOOL), p.integer("n")
    value = compare("==", load(a, n), load(a, 0))
    guarded = select(compare(">", n, 5), value, False)
    fn = p.function(assign(x, guarded), results=[x])
    assert not run_printed(split(fn), np.zeros(2, complex), 3)


def test_a_real_expression_stays_as_it_is():
    p = Program()
    value: Expr = binary("+", p.integer("n"), 1)
    out: list[Stmt] = []
    complex_parts = ComplexParts(NameSupply.after(p.function()), PassContext())
    assert complex_parts.expr(value, out) is value
    assert out == []


def test_order_of_complex_numbers_is_refused():
    p = Program()
    a, x = p.array("a", 1, C), p.local("x", DType.BOOL)
    fn = p.function(assign(x, compare("<", load(a, 0), load(a, 1))), results=[Var(x, loc=here())])
    with pytest.raises(UnsupportedError, match="order"):
        split_complex(fn, PassContext())


@pytest.mark.parametrize("name", ["tan", "isfinite"])
def test_functions_without_a_formula_are_refused(name):
    p = Program()
    a = p.array("a", 1, C)
    dtype = C if name == "tan" else DType.BOOL
    fn = p.function(results=[function(name, dtype)(load(a, 0))])
    with pytest.raises(UnsupportedError, match=f"'{name}' of a complex number"):
        split(fn)
