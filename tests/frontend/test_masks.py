"""What masks choose is put into memory only where something else than its own store reads it."""

from __future__ import annotations

import numpy as np

from appyc.ir.nodes import Alloc
from appyc.ir.visit import walk
from tests.lowering import lowered
from tests.programs.masks import _doubled

A = np.ones(7)
M = A > 0


def made(fn, *args: object) -> set[str]:
    return {n.array.name for n in walk(lowered(fn, *args)) if isinstance(n, Alloc)}


def test_tests_of_lengths_between_operands_change_nothing():
    def under_one_mask(a, b, c, m):
        a[m] = a[m] ** 2 + b[m] * c[m]

    assert made(under_one_mask, A, A, A, M) == set()


def test_an_operand_that_a_call_changes_is_read_before():
    def changed(a, m):
        a[m] = a[m] + _doubled(a, m)

    assert len(made(changed, A, M)) >= 1
