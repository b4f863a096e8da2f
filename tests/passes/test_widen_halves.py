"""Operations on float16 are computed in float32, and each result is rounded."""

from __future__ import annotations

import numpy as np

from appyc.ir.nodes import Binary, Compare, Function
from appyc.ir.types import DType
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.widen_halves import widen_halves
from tests.ir_makers import Program, binary, compare, for_, if_, load, store
from tests.printed import run_printed


def largest_products(dtype: DType) -> Function:
    p = Program()
    a, out, i = p.array("a", 1, dtype), p.array("out", 1, dtype), p.index("i")
    value = binary("+", binary("*", load(a, i), load(a, i)), load(out, i))
    return p.function(for_(i, 0, 3, [if_(compare("<", load(out, i), load(a, i)), [store(out, [i], value)])]))


def test_only_float32_is_computed_with():
    found = widen_halves(largest_products(DType.FLOAT16), PassContext(Options()))
    operands = [n.lhs.dtype for n in walk(found) if isinstance(n, Binary | Compare)]
    assert operands == [DType.FLOAT32] * 3


def test_every_operation_rounds():
    a, out = np.array([100.1, 0.1, 1e-4], np.float16), np.array([-300, 0.01, 0], np.float16)
    want = out.copy()
    for i in range(3):
        if want[i] < a[i]:
            want[i] = a[i] * a[i] + want[i]
    run_printed(widen_halves(largest_products(DType.FLOAT16), PassContext(Options())), a, out)
    assert out.tolist() == want.tolist()


def test_functions_without_it_are_left_alone():
    fn = largest_products(DType.FLOAT64)
    assert widen_halves(fn, PassContext(Options())) is fn
