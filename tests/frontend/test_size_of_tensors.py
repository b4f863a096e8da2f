"""An expression of arrays that is twice as long makes twice as much IR, however its operators nest."""

from __future__ import annotations

import numpy as np

from appyc.ir.visit import walk
from tests.lowering import lowered

A = np.ones(7)


def nested_8(a, b, c, out):
    out[1:-1] = a[1:-1] * (b[2:] + (a[1:-1] * (b[2:] + (c[1:-1] * (b[:-2] + (a[1:-1] - (c[2:] * b[1:-1])))))))


def nested_16(a, b, c, out):
    out[1:-1] = a[1:-1] * (b[2:] + (a[1:-1] * (b[2:] + (c[1:-1] * (b[:-2] + (a[1:-1] - (c[2:]
        * (a[1:-1] * (b[2:] + (a[1:-1] * (b[2:] + (c[1:-1] * (b[:-2] + (a[1:-1] - (c[2:]
        * b[1:-1])))))))))))))))  # fmt: skip


def test_nested_operands_that_may_be_stretched():
    short, long = (sum(1 for _ in walk(lowered(fn, A, A, A, A))) for fn in (nested_8, nested_16))
    assert long < 3 * short
