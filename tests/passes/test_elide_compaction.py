"""Packed arrays that only reductions read, and those that are needed in a row."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from appyc.ir.nodes import ForAll, Select
from appyc.ir.visit import walk
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.elide_compaction import elide_compaction
from appyc.passes.simplify.expand_tensors import expand_tensors
from tests.ir_makers import Program
from tests.lowering import after, lowered
from tests.printed import run_printed


def summed(a, m, b):
    v = a[m]
    return v.sum() / v.size


def two_arrays_of_one_mask(a, m, b):
    v = a[m]
    w = b[m]
    b[0] = 3.0
    return (v * w * v.sum()).sum()


def deviation(a, m, b):
    return a[m].std()


def on_one_path(a, m, b):
    v = a[m]
    s = 0.0
    if b[0] > 0.0:
        s = v.max() if b[1] > 9.0 else v.sum()
    return s


def in_a_loop_of_its_own(a, m, b):
    s = 0.0
    for i in range(b.shape[0]):
        v = a[m]
        s += v.sum() * b[i]
    return s


def element_is_read(a, m, b):
    v = a[m]
    return v.sum() + v[0]


def returned(a, m, b):
    v = a[m]
    b[0] = v.sum()
    return v


def length_is_asked(a, m, b):
    v = a[m]
    return (v * np.arange(v.shape[0])).sum()


def source_is_written_in_between(a, m, b):
    v = a[m]
    a[0] = 9.0
    return v.sum()


def other_argument_is_written_in_between(a, m, b):
    v = a[m]
    b[0] = 9.0
    return v.sum()


def mask_is_written_in_between(a, m, b):
    v = a[m]
    m[0] = False
    return v.sum()


def reduced_in_a_loop(a, m, b):
    v = a[m]
    s = 0.0
    for i in range(b.shape[0]):
        s += (v * b[i]).sum()
    return s


def masks_differ(a, m, b):
    v = a[m]
    w = b[~m]
    return (v[: w.size] * w[: v.size]).sum()


def packed_anew(a, m, b):
    v = a[m]
    if b[0] > 0.0:
        v = b[m]
    return v.sum()


def asked_often(a, m, b):
    v = a[m]
    return v.sum(), v.max(), v.min(), v.prod(), v.any(), v.all()


UNPACKED = (summed, deviation, on_one_path, in_a_loop_of_its_own)
PACKED = (element_is_read, returned, length_is_asked, source_is_written_in_between,
          other_argument_is_written_in_between, mask_is_written_in_between, reduced_in_a_loop, masks_differ,
          packed_anew, asked_often)  # fmt: skip
ARGS = (np.arange(7.0), np.array([1, 0, 1, 1, 0, 0, 1], bool), np.arange(7.0) - 2.0)


@pytest.mark.parametrize("fn", UNPACKED, ids=lambda fn: fn.__name__)
def test_only_reductions_read_it(fn):
    fn = after(lowered(fn, *ARGS), elide_compaction)
    assert not any(isinstance(n, ForAll) and n.position is not None for n in walk(fn))
    assert any(isinstance(n, Select) for n in walk(fn))


@pytest.mark.parametrize("fn", PACKED, ids=lambda fn: fn.__name__)
def test_it_is_needed_in_a_row(fn):
    before = lowered(fn, *ARGS)
    assert elide_compaction(before, PassContext()) == before


def test_an_array_that_another_keeps_packed_stays():
    before = lowered(two_arrays_of_one_mask, *ARGS)
    assert elide_compaction(before, PassContext()) == before


@pytest.mark.parametrize("length", [0, 1, 7])
@pytest.mark.parametrize("fn", [*UNPACKED, *PACKED, two_arrays_of_one_mask], ids=lambda fn: fn.__name__)
def test_results_stay(fn, length):
    given = tuple(array[:length] for array in ARGS)
    program = after(lowered(fn, *given), elide_compaction, expand_tensors)
    expected, found = outcome(fn, given), outcome(lambda *args: run_printed(program, *args), given)
    if isinstance(expected, type):
        assert found is expected
    else:
        for one, other in zip(np.atleast_1d(expected), np.atleast_1d(found), strict=True):
            np.testing.assert_allclose(other, one)


def outcome(fn, args):
    """What a call returns, or the type of what it raises."""
    try:
        with np.errstate(all="ignore"):
            return fn(*copy.deepcopy(args))
    except (IndexError, ValueError) as error:
        return type(error)


def test_function_without_masks_is_left_alone():
    empty = Program().function()
    assert elide_compaction(empty, PassContext()) is empty
