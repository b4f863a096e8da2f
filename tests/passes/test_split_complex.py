"""Complex numbers come apart into pairs, and the program computes the same."""

from __future__ import annotations

import numpy as np
import pytest

from appyc.errors import UnsupportedError
from appyc.ir.nodes import Binary, Const, Function, Intrinsic, LoopMode, Var
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, walk
from appyc.passes.gpu.split_complex import split_complex
from appyc.passes.pass_context import PassContext
from tests.ir_makers import (
    Program,
    assign,
    binary,
    compare,
    expr,
    for_,
    here,
    if_,
    load,
    select,
    store,
    update,
)
from tests.printed import run_printed
from tests.triton_gen.gpu_runner import grid

C = DType.COMPLEX128


def split(fn: Function) -> Function:
    out = split_complex(fn, PassContext())
    assert not any(isinstance(n, Binary) and n.dtype.is_complex for n in walk(out))
    return out


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
    run_printed(split(fn), a, b, after, 8)
    np.testing.assert_allclose(after, before, rtol=1e-13, atol=1e-14)


def test_value_that_reads_the_element_it_replaces_is_computed_first():
    p = Program()
    a, i, n = p.array("a", 1, C), p.index("i"), p.integer("n")
    fn = p.function(for_(i, 0, n, [store(a, [i], binary("*", load(a, i), load(a, i)))]))
    before, after = np.array([1 + 2j]), np.array([1 + 2j])
    run_printed(fn, before, 1)
    run_printed(split(fn), after, 1)
    np.testing.assert_array_equal(before, after)


def test_scalar_parameter_and_result_stay_complex_outside():
    p = Program()
    z = p.integer("z", C)
    w = p.local("w", C)
    fn = p.function(assign(w, binary("*", expr(z), expr(z))), results=[w])
    assert run_printed(split(fn), 1 + 2j) == (1 + 2j) ** 2


def test_sum_becomes_two_reductions_and_a_product_sequential():
    for op, mode, reductions in (("+", LoopMode.PARALLEL, 2), ("*", LoopMode.SEQUENTIAL, 0)):
        p = Program()
        a, s, i, n = p.array("a", 1, C), p.local("s", C), p.index("i"), p.integer("n")
        loop = grid(i, 0, n, [update(s, [], op, load(a, i))], reductions=[(op, s)])
        ctx = PassContext()
        out = split_complex(p.function(loop), ctx)
        (found,) = loops_of(out)
        assert found.mode is mode
        assert len(found.reductions) == reductions
        assert bool(ctx.remarks) == (op == "*")


def test_part_that_may_not_be_evaluated_stays_behind_its_condition():
    p = Program()
    a, x, n = p.array("a", 1, C), p.local("x", DType.BOOL), p.integer("n")
    value = compare("==", load(a, n), load(a, 0))
    guarded = select(compare(">", n, 5), value, False)
    fn = p.function(assign(x, guarded), results=[x])
    assert not run_printed(split(fn), np.zeros(2, complex), 3)


def test_real_function_stays_the_same_object():
    p = Program()
    a, n = p.array("a", 1), p.integer("n")
    fn = p.function(if_(compare(">", n, 0), [store(a, [0], 1.0)]))
    assert split_complex(fn, PassContext()) is fn


def test_order_of_complex_numbers_is_refused():
    p = Program()
    a, x = p.array("a", 1, C), p.local("x", DType.BOOL)
    fn = p.function(assign(x, compare("<", load(a, 0), load(a, 1))), results=[Var(x, loc=here())])
    with pytest.raises(UnsupportedError, match="order"):
        split_complex(fn, PassContext())
