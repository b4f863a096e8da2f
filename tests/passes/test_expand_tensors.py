"""Tensor statements as loops: the text for each construct, and that it does what NumPy does."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from appyc.errors import UnsupportedError
from appyc.ir.nodes import Alloc, Assign, ForAll, Reduce
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.checks.check_exact_floats import check_exact_floats
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.expand_tensors import expand_tensors
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


def store_where(a, m):
    a[m] = 0.0


def store_where_itself(a):
    a[a > 1.0] = a[::-1][a > 1.0]


def values_where(a, m, values):
    a[m] = values


def chosen(a, m):
    return a[m]


def chosen_rows(a, m):
    a[m] += 1.0
    return a[m].sum()


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
    (store_where, (B, B > 1.0)),
    (store_where_itself, (B,)),
    (values_where, (B, B > 1.0, B[:2].copy())),
    (chosen, (A, A > 3.0)),
    (chosen_rows, (A, A[:, 0] > 3.0)),
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


def test_conditions_that_cannot_meet_the_stores_need_no_memory():
    def clamped(a):
        a[a > 1.0] = 0.0

    assert not any(isinstance(n, Alloc) for n in walk(after(lowered(clamped, B), expand_tensors)))


def test_conditions_that_may_meet_the_stores_are_read_first():
    overlapping = np.array([True, False, True, False])

    def inverted(m, k):
        m[k] = False

    expanded = after(lowered(inverted, overlapping, overlapping), expand_tensors)
    one, two = overlapping.copy(), overlapping.copy()
    run_printed(expanded, one[1:], one[:-1])
    inverted(two[1:], two[:-1])
    assert one.tolist() == two.tolist()


def test_position_that_no_store_needs_is_not_counted():
    def numbers(a, m, x):
        a[m] = x

    expanded = after(lowered(numbers, B, B > 1.0, B[:2].copy()), expand_tensors)
    counters = [n for n in walk(expanded) if isinstance(n, Assign) and n.target.name == "position"]
    assert len(counters) == 2  # set to 0 and moved on where the values are read, and not again


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
        check_exact_floats(lowered(total, A), exact)
    integers = lowered(total, np.arange(4))
    assert check_exact_floats(integers, exact) is integers
    floats = lowered(total, A)
    assert check_exact_floats(floats, PassContext()) is floats
