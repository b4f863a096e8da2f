"""What pragmas ask of the form of a nest is done, explained, and in the order that the documentation says."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.errors import DependenceError
from appyc.ir.nodes import Clauses
from appyc.options import Options
from appyc.passes.locality.apply_transforms import apply_transforms
from appyc.passes.pass_context import PassContext
from tests.loop_operations import analysed, text

A = np.arange(12.0).reshape(3, 4)


def both(a, b):
    # pragma parallel for tile(2, 3) interchange(j, i)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


def lanes(a, b):
    # pragma parallel for simd tile(8)
    for i in range(a.shape[0]):
        b[i] = a[i]


def inner(a, b):
    # pragma tile(2, 2)
    for i in range(a.shape[0]):
        # pragma unroll(2)
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


def test_interchange_comes_before_tiles():
    context = PassContext(Options(target="cpu"))
    assert text(apply_transforms(analysed(both, A, A), context)) == (
        "for j_tile in range(0, a.shape[1], 2):\n"
        "    for i_tile in range(0, a.shape[0], 3):\n"
        "        for j in range(j_tile, min(j_tile + 2, a.shape[1])):\n"
        "            for i in range(i_tile, min(i_tile + 3, a.shape[0])):\n"
        "                b[i, j] = a[i, j]"
    )
    assert [remark.text for remark in context.remarks] == [
        "interchange(j, i) of the loop over 'i', as asked",
        "tile(2, 3) of the loop over 'j', as asked",
    ]


def test_lanes_stay_in_the_tile():
    (strip,) = apply_transforms(analysed(lanes, A[0], A[1]), PassContext(Options(target="cpu"))).body
    (point,) = strip.body
    assert (strip.clauses.request, strip.clauses.simd) == ("parallel", False)
    assert point.clauses == Clauses("simd", loc=point.loc)


def test_a_pragma_inside_stays_in_the_tile():
    shown = text(apply_transforms(analysed(inner, A, A), PassContext(Options(target="cpu"))))
    assert "            for j in range(j_tile, min(j_tile + 2, a.shape[1]) - 1, 2):" in shown


def test_nothing_is_asked():
    fn = analysed(lambda_free, A)
    assert apply_transforms(fn, PassContext()) is fn


def lambda_free(a):
    for i in range(a.shape[0]):
        a[i, 0] = 1.0


def test_sums_of_floats_keep_their_order_with_exact():
    @appyc.jit(exact=True)
    def total(a):
        s = 0.0
        # pragma tile(8, 8)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                s += a[i, j]
        return s

    with pytest.raises(DependenceError, match="the sum in 's' keeps its order"):
        total(A)


def test_it_runs_before_any_other_pass_changes_a_nest():
    names = [transform.__name__ for transform in pipeline.ANALYSE]
    between = names[names.index("check_bounds") + 1 : names.index("apply_transforms")]
    assert between == ["prove_tests", "dead_code_elimination"]
