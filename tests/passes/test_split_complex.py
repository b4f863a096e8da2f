"""Complex numbers come apart into pairs, and the program computes the same."""

from __future__ import annotations

import numpy as np

from appyc.ir.nodes import Binary, Function, LoopMode
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
    if_,
    load,
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


def test_real_function_stays_the_same_object():
    p = Program()
    a, n = p.array("a", 1), p.integer("n")
    fn = p.function(if_(compare(">", n, 0), [store(a, [0], 1.0)]))
    assert split_complex(fn, PassContext()) is fn
