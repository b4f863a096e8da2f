"""Results that nobody in the function reads are marked, in loops that fill them place after place."""

from __future__ import annotations

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Function
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.locality.nontemporal_results import nontemporal_results
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered

LINE, PLANE = np.linspace(0.0, 1.0, 9), np.linspace(0.0, 1.0, 12).reshape(3, 4)


def streamed(fn, *args: object, target: str = "cpu") -> list[str]:
    context = PassContext(Options(target=target))
    program = pipeline.run(lowered(fn, *args), (*pipeline.SIMPLIFY, *pipeline.ANALYSE), context, verify=True)
    return [array.name for loop in loops_of(program) for array in program.schedule[loop.var].nontemporal]


def chain(x, y):
    return x * 2.0 + y


def two_results(x):
    return x + 1.0, x * x


def rows(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def into_a_parameter(x, y):
    y[1:] = x[1:] * 2.0


def with_a_sum(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        y[i] = x[i] * 2.0
        total += x[i]
    return total


@pytest.mark.parametrize(
    ("fn", "args", "expected"),
    [
        (chain, (LINE, LINE), ["result"]),
        (two_results, (LINE,), ["result", "result"]),
        (rows, (PLANE,), ["result"]),
        (into_a_parameter, (LINE, LINE.copy()), ["y"]),
        (with_a_sum, (LINE, LINE.copy()), ["y"]),
    ],
)
def test_results_are_marked(fn, args, expected):
    assert streamed(fn, *args) == expected
    assert streamed(fn, *args, target="gpu") == []


def read_again(x):
    y = x * 2.0
    total = 0.0
    for i in range(y.shape[0]):
        total += y[y.shape[0] - 1 - i]
    return y, total


def in_place(x):
    x[:] = x * 2.0


def under_a_condition(x, y):
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            y[i] = x[i]


def stored_twice(x, y):
    for i in range(x.shape[0]):
        y[i] = x[i]
        y[i] = x[i] + 1.0


def backwards(x, y):
    for i in range(x.shape[0]):
        y[x.shape[0] - 1 - i] = x[i]


def every_other(x, y):
    for i in range(x.shape[0] // 2):
        y[2 * i] = x[i]


def columns(x, y):
    for j in range(x.shape[1]):
        y[0, j] = 0.0
        for i in range(x.shape[0]):
            y[i, j] = x[i, j]


def in_tiles(x, y):
    y[:] = x.T


def in_order(x, y):
    t = 0.0
    for i in range(x.shape[0]):
        t = np.sqrt(t * x[i])
        y[i] = t


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (read_again, (LINE,)),
        (in_place, (LINE.copy(),)),
        (under_a_condition, (LINE, LINE.copy())),
        (stored_twice, (LINE, LINE.copy())),
        (backwards, (LINE, LINE.copy())),
        (every_other, (LINE, LINE.copy())),
        (columns, (PLANE, PLANE.copy())),
        (in_tiles, (PLANE, np.zeros((4, 3)))),
        (in_order, (LINE, LINE.copy())),
        (chain, (LINE, np.zeros(18)[::2])),
    ],
)
def test_what_is_read_or_not_filled_in_order_is_not_marked(fn, args):
    expected = ["result"] if fn is chain else []  # what is read may have any strides
    assert streamed(fn, *args) == expected


def test_strided_results_are_not_marked():
    assert streamed(into_a_parameter, LINE, np.zeros(18)[::2]) == []


def test_a_function_without_loops_stays_as_it_is():
    fn = lowered(no_loop, 1.0)
    assert isinstance(fn, Function)
    assert nontemporal_results(fn, PassContext(Options(target="cpu"))) is fn


def no_loop(x):
    return x + 1.0
