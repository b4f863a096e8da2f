"""Arrays of zeros that a loop fills are made empty; all others stay zeros."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Alloc, Function
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.printed import run_printed

UP_TO = pipeline.ANALYSE[: [p.__name__ for p in pipeline.ANALYSE].index("elide_zero_fill") + 1]


def passed(fn, *args: object, passes=UP_TO) -> Function:
    context = PassContext(Options(target="cpu"))
    return pipeline.run(lowered(fn, *args), (*pipeline.SIMPLIFY, *passes), context, verify=True)


def cleared(program: Function) -> int:
    return sum(isinstance(n, Alloc) and n.zero for n in walk(program))


def line(x):
    out = np.zeros(x.shape)
    for i in range(x.shape[0]):
        out[i] = x[i] * 2.0
    return out


def read_behind(x):
    """In the iteration that has stored the element."""
    out, total = np.zeros(x.shape), 0.0
    for i in range(x.shape[0]):
        out[i] = x[i] * 2.0
        total += out[i]
    return out, total + out[0]


def plane(x):
    out = np.zeros((x.shape[0], x.shape[0]))
    for j in range(x.shape[0]):
        for i in range(x.shape[0]):
            out[i, j] = x[i] - x[j]
    return out


def filled_again(x):
    out = np.zeros(x.shape)
    for k in range(3):
        for i in range(x.shape[0]):
            out[i] = x[i] + k
    return out


LINE = np.linspace(0.5, 1.5, 9)


@pytest.mark.parametrize("fn", [line, read_behind, plane], ids=lambda fn: fn.__name__)
def test_filled_arrays_are_empty_at_first(fn):
    program = passed(fn, LINE)
    assert cleared(program) == 0, print_function(program)
    found, expected = run_printed(program, LINE.copy()), fn(LINE.copy())
    several = isinstance(expected, tuple)
    for a, b in zip(found if several else (found,), expected if several else (expected,), strict=True):
        np.testing.assert_allclose(a, b)


def edges_left_out(x):
    out = np.zeros(x.shape)
    for i in range(1, x.shape[0] - 1):
        out[i] = x[i - 1] + x[i + 1]
    return out


def under_a_condition(x):
    out = np.zeros(x.shape)
    for i in range(x.shape[0]):
        if x[i] > 1.0:
            out[i] = x[i]
    return out


def read_before(x):
    out = np.zeros(x.shape)
    for i in range(x.shape[0]):
        out[i] = out[i] + x[i]
    return out


def read_at_another_place(x):
    out = np.zeros(x.shape)
    for i in range(x.shape[0]):
        out[i] = x[i]
        if i + 1 < x.shape[0]:
            x[i] = out[i + 1]
    return out


def added_up(x):
    out = np.zeros(x.shape)
    for i in range(x.shape[0]):
        out[i] += x[i]
    return out


def longer(x):
    out = np.zeros(x.shape[0] + 1)
    for i in range(x.shape[0]):
        out[i] = x[i]
    return out


def diagonal(x):
    out = np.zeros((x.shape[0], x.shape[0]))
    for i in range(x.shape[0]):
        out[i, i] = x[i]
    return out


def early_end(x):
    out = np.zeros(x.shape)
    for i in range(x.shape[0]):
        if x[i] > 1.2:
            break
        out[i] = x[i]
    return out


REFUSED = [
    edges_left_out, under_a_condition, read_before, read_at_another_place, added_up, longer, diagonal, early_end,
    filled_again,
]  # fmt: skip


@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_other_arrays_stay_zeros(fn):
    program = passed(fn, LINE.copy())
    assert cleared(program) >= 1, print_function(program)
    np.testing.assert_allclose(run_printed(program, LINE.copy()), fn(LINE.copy()))


def test_a_function_without_such_arrays_stays_itself():
    program = passed(edges_left_out, LINE)
    assert UP_TO[-1](program, PassContext()) is program


def test_text(golden):
    before, after = passed(line, LINE, passes=UP_TO[:-1]), passed(line, LINE)
    golden("tensors/no_clearing.txt", f"{print_function(before)}\n# after\n\n{print_function(after)}")
