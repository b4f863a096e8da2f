"""Formulas of complex arithmetic: NumPy's results, at the limits of floats and for infinities too."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.ir.nodes import Const, Function, Intrinsic
from appyc.ir.printer import print_expr
from appyc.ir.types import DType
from appyc.passes.gpu.split_complex import split_complex
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify import complex_arithmetic as parts
from appyc.passes.simplify.complex_arithmetic import Parts
from tests.ir_makers import Program, binary, compare, expr, for_, here, load, select, store
from tests.printed import run_printed
from tests.triton_gen.source_runner import compare as agrees_on_gpu

C = DType.COMPLEX128


def one_operation(make) -> Function:
    p = Program()
    a, b, out = p.array("a", 1, C), p.array("b", 1, C), p.array("out", 1, C)
    n, i = p.integer("n"), p.index("i")
    return p.function(for_(i, 0, n, [store(out, [i], make(load(a, i), load(b, i)))]))


def call(name):
    return lambda a, b: Intrinsic(name, (a,), C, loc=here())


OPERATIONS = {
    "+": lambda a, b: binary("+", a, b),
    "-": lambda a, b: binary("-", a, b),
    "*": lambda a, b: binary("*", a, b),
    "/": lambda a, b: binary("/", a, b),
    "** 2": lambda a, b: binary("**", a, Const(2 + 0j, C, loc=here())),
    "**": lambda a, b: binary("**", a, b),
    "conj": call("conj"),
    "exp": call("exp"),
    "log": call("log"),
    "sqrt": call("sqrt"),
    "sin": call("sin"),
    "cos": call("cos"),
    "select": lambda a, b: select(compare("==", a, b), binary("*", a, b), b),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_gives_what_numpy_gives(name):
    fn = one_operation(OPERATIONS[name])
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=8) + 1j * rng.normal(size=8) for _ in range(2))
    a[0] = b[0]
    before, after = np.zeros(8, complex), np.zeros(8, complex)
    run_printed(fn, a, b, before, 8)
    run_printed(split_complex(fn, PassContext()), a, b, after, 8)
    np.testing.assert_allclose(after, before, rtol=1e-13, atol=1e-14)


LIMITS = [0.0, -0.0, 1.0, -2.5, 3e-200, 1e308, -1.7e308, 1e-310, np.inf, -np.inf]
EXTREME = np.array([complex(re, im) for re in LIMITS for im in LIMITS])


def at_limits(make) -> np.ndarray:
    found = np.zeros(len(EXTREME), complex)
    run_printed(split_complex(one_operation(make), PassContext()), EXTREME, EXTREME, found, len(EXTREME))
    return found


@pytest.mark.parametrize("name", ["sqrt", "log", "exp", "conj"])
def test_functions_at_the_limits_of_floats(name):
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(EXTREME)
    np.testing.assert_allclose(at_limits(call(name)), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_functions_of_imaginary_numbers_stay_on_an_axis(name):
    imaginary = EXTREME.real == 0
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(EXTREME[imaginary])
    np.testing.assert_allclose(at_limits(call(name))[imaginary], expected, rtol=1e-12)


def test_a_quotient_does_not_overflow_where_its_result_does_not():
    p = Program()
    z, w = p.integer("z", C), p.integer("w", C)
    fn = split_complex(p.function(results=[binary("/", z, w)]), PassContext())
    for a, b in ((1e200 + 1e200j, 1e200 - 2e200j), (3e-200j, 1e-200 + 0j), (1 + 1j, 1e-310j), (2 - 1j, 0j)):
        with np.errstate(all="ignore"):
            expected = np.complex128(a) / np.complex128(b)
        np.testing.assert_allclose(run_printed(fn, a, b), expected, rtol=1e-14)


def test_text_of_a_product():
    p = Program()
    a, b = (Parts(expr(p.real(f"{name}_re")), expr(p.real(f"{name}_im"))) for name in "ab")
    product = parts.times(a, b)
    assert print_expr(product.re) == "(a_re * b_re) - (a_im * b_im)"
    assert print_expr(product.im) == "(a_re * b_im) + (a_im * b_re)"
    assert print_expr(parts.plus("-", a, b).im) == "a_im - b_im"


def test_roots_on_a_gpu():
    def roots(a, b):
        for i in range(a.shape[0]):
            b[i] = np.sqrt(a[i]) + np.log(a[i])

    numbers = np.array([1e308 + 1e308j, -1e308 - 1.7e308j, 5e-324j, 2 - 3j, complex(-1, np.inf)])
    agrees_on_gpu(roots, numbers, np.zeros(5, complex), exact=False, build=False)
