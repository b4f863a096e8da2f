"""Tensor statements as loops: the text for each construct, and that it does what NumPy does."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from appyc.errors import UnsupportedError
from appyc.ir.nodes import Alloc, ForAll, Reduce
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.context import PassContext
from appyc.passes.expand_tensors import expand_tensors
from appyc.passes.keep_numpys_digits import keep_numpys_digits
from tests.ir_makers import Program, for_, store
from tests.lowering import after, lowered
from tests.printed import run_printed


def pointwise(a, b):
    b[:] = a * 2.0


def new_array(a):
    return a + 1.0


def shifted(a):
    a[1:] = a[:-1]


def own_element(a):
    a *= 2.0


def row_sums(a):
    return a.sum(axis=1)


def total(a):
    return a.sum()


def product(a, b):
    return a @ b


def length_one(a):
    return a.max(axis=1, keepdims=True)


def outer_sum(a, b):
    return a[:, None] + b


def scatter(a, idx):
    a[idx] += 1.0


def nested_reduction(a):
    return (a - a.mean(axis=0)).sum(axis=0)


A, B = np.arange(12.0).reshape(3, 4), np.arange(4.0)

CASES = [
    (pointwise, (B, B.copy())),
    (new_array, (A,)),
    (shifted, (B,)),
    (own_element, (A,)),
    (row_sums, (A,)),
    (total, (A,)),
    (product, (A, B)),
    (length_one, (A,)),
    (outer_sum, (B, A[0])),
    (scatter, (B, np.array([1, 1, 3]))),
    (nested_reduction, (A,)),
]
NAMES = [fn.__name__ for fn, _ in CASES]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=NAMES)
def test_text(golden, fn, args):
    before = lowered(fn, *args)
    text = after(before, expand_tensors)
    golden(f"tensors/{fn.__name__}.txt", f"{print_function(before)}\n# after\n\n{print_function(text)}")


@pytest.mark.parametrize(("fn", "args"), CASES, ids=NAMES)
def test_tensor_statements_and_their_loops_do_what_numpy_does(fn, args):
    before = lowered(fn, *args)
    expanded = after(before, expand_tensors)
    assert not any(isinstance(n, ForAll | Reduce) for n in walk(expanded))
    expected_args = copy.deepcopy(args)
    expected = fn(*expected_args)
    for program in (before, expanded):
        own = copy.deepcopy(args)
        found = run_printed(program, *own)
        for one, two in zip((expected, *expected_args), (found, *own), strict=True):
            if one is not None:
                np.testing.assert_allclose(two, one)


def test_values_that_cannot_meet_the_stores_need_no_memory():
    assert sum(isinstance(n, Alloc) for n in walk(after(lowered(new_array, A), expand_tensors))) == 1
    assert not any(isinstance(n, Alloc) for n in walk(after(lowered(own_element, A), expand_tensors)))


def test_values_that_may_meet_the_stores_are_read_first():
    for fn, args in ((shifted, (B,)), (pointwise, (B, B.copy())), (scatter, (B, np.array([1, 1])))):
        assert any(isinstance(n, Alloc) for n in walk(after(lowered(fn, *args), expand_tensors)))


def test_function_without_tensors_is_left_alone():
    p = Program()
    n, a = p.integer("n"), p.array("a", 1)
    i = p.index("i")
    fn = p.function(for_(i, 0, n, [store(a, [i], 0.0)]))
    assert expand_tensors(fn, PassContext()) is fn
    empty = Program().function()
    assert expand_tensors(empty, PassContext()) is empty


def test_exact_leaves_last_digits_to_numpy():
    exact = PassContext(Options(exact=True))
    with pytest.raises(UnsupportedError, match="way of its own"):
        keep_numpys_digits(lowered(total, A), exact)
    integers = lowered(total, np.arange(4))
    assert keep_numpys_digits(integers, exact) is integers
    floats = lowered(total, A)
    assert keep_numpys_digits(floats, PassContext()) is floats
