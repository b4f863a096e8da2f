"""Loops that pack, without a jump for each element."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.api import JitFunction
from appyc.options import Options
from tests.c_gen.c_runner import generate
from tests.programs import packing


def text_of(fn, *args, **options) -> str:
    jitted = appyc.jit(cache=False, target="cpu", **options)(fn)
    assert isinstance(jitted, JitFunction)
    analysed = jitted._analyse(jitted._wanted(args, {}))
    return generate(analysed.function, Options(**options), sequential=False).text


A = np.ones(9)


def by_neighbour(a, m):
    out = np.zeros(len(a))
    k = 0
    for i in range(len(a) - 1):
        if m[i]:
            out[k] = a[i + 1]
            k += 1
    return out, k


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (packing.chosen_by_numpy, (A,)),
        (packing.several_arrays, (A, A > 0)),
        (by_neighbour, (A, A > 0)),
        (packing.condition_that_guards_an_index, (A, A)),  # up to where it holds
    ],
)
def test_elements_go_into_parts(fn, args):
    assert "_part[count" in text_of(fn, *args)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (packing.packed_in_place, (A,)),  # it reads what it fills
        (packing.elements_by_an_index, (A, np.arange(9))),  # which are tested
    ],
)
def test_others_jump(fn, args):
    assert "_part[count" not in text_of(fn, *args)


def test_without_bounds_checks_only_what_the_condition_reads_is_read():
    assert "_part[count" not in text_of(by_neighbour, A, A > 0, boundscheck=False)
