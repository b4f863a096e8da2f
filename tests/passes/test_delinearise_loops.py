"""Loops over places in C order go row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.nodes import Binary, Function, LoopMode
from appyc.ir.printer import print_function
from appyc.ir.visit import loops_of, walk
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.delinearise_loops import delinearise_loops
from tests.e2e.harness import run_everywhere
from tests.lowering import after, lowered

UP_TO = (*pipeline.SIMPLIFY, *pipeline.ANALYSE[: pipeline.ANALYSE.index(delinearise_loops)])


def flattened(a, b):
    return a.ravel() * 2.0 + b.ravel()


def flattened_another_way(a, b):
    return a.T.ravel() - b.ravel()


def in_another_shape(a, b):
    return (a * b).reshape(a.shape[1], a.shape[0]) + 1.0


def with_as_many_as_are_left(a, b):
    return (a + 1.0).reshape(a.shape[0] * 2, -1) * 2.0


def the_rows_of_planes(a, b):
    c = np.stack((a, b, a))
    return (c * 2.0).ravel() + c.transpose(1, 0, 2).ravel()


def repeated(a, b):
    return np.repeat(a[:, 0], b.shape[1]) + np.tile(b[0], a.shape[0])


def repeated_thrice(a, b):
    return np.repeat(a[:, 0], 3) * 2.0


def pixels(a, b):
    total = 0.0
    n = max(a.shape[1], 1)
    out = np.zeros_like(b)
    for p in range(a.shape[0] * a.shape[1]):
        out[p // n, p % n] = a[p // n, p % n] * p
        total += a[p // n, 0]
    return out, total


def from_some_place_on(a, b):
    n = max(a.shape[1], 1)
    out = np.zeros(a.size)
    for p in range(3, a.size - 2):
        out[p] = a[(p + 1) // n, (p + 1) % n] - a[(p - 3) // n, (p - 3) % n]
    return out


def handed_on(a, b):
    n = max(a.shape[1], 1)
    s = 0.0
    out = np.zeros(a.size)
    for p in range(a.size):
        s = s * 0.5 + a[p // n, p % n]
        out[p] = s
    return out


def every_other(a, b):
    n = max(a.shape[1], 1)
    s = 0.0
    for p in range(0, a.size, 2):
        s += a[p // n, p % n]
    return s


def until_found(a, b):
    n = max(a.shape[1], 1)
    for p in range(a.size):
        if a[p // n, p % n] > 4.0:
            break
    return p


def twice_the_place(a, b):
    n = max(a.shape[1], 1)
    s = 0.0
    for p in range(a.size // 2):
        s += a[2 * p // n, 2 * p % n]
    return s


def divided_by_what_changes(a, b):
    n = max(a.shape[1], 1)
    s = 0
    for p in range(a.size):
        s += p // max(n, 1)
        n = n % 7 + 1
    return s


IN_ROWS = (flattened, flattened_another_way, in_another_shape, with_as_many_as_are_left, the_rows_of_planes,
           repeated, repeated_thrice, pixels, from_some_place_on, handed_on)  # fmt: skip
LEFT = (every_other, until_found, twice_the_place, divided_by_what_changes)
EMPTY = (
    flattened,
    flattened_another_way,
    in_another_shape,
    with_as_many_as_are_left,
    the_rows_of_planes,
    handed_on,
)
SHAPES = [(3, 4), (4, 3), (1, 5), (5, 1), (4, 4)]


def made(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    a = np.arange(1.0, n * m + 1).reshape(n, m)
    return a, a[::-1].copy() * 0.5


def divisions(fn: Function) -> int:
    """In innermost loops."""
    inner = [loop for loop in loops_of(fn.body) if len(loops_of(loop)) == 1]
    return sum(isinstance(n, Binary) and n.op in ("//", "%") for loop in inner for n in walk(loop.body))


def prepared(fn: Any, **options: Any) -> tuple[Function, PassContext]:
    context = PassContext(Options(**{"target": "cpu", **options}))
    return after(lowered(fn, *made(3, 4)), *UP_TO, context=context), context


@pytest.mark.parametrize("fn", IN_ROWS, ids=lambda fn: fn.__name__)
def test_no_innermost_loop_divides(fn):
    before, context = prepared(fn)
    assert divisions(before)
    assert not divisions(after(before, delinearise_loops, context=context))


@pytest.mark.parametrize("fn", LEFT, ids=lambda fn: fn.__name__)
def test_others_stay(fn):
    before, context = prepared(fn)
    assert divisions(before)
    assert delinearise_loops(before, context) == before


@pytest.mark.parametrize("options", [{"target": "interpret"}, {"auto": False}])
def test_lanes_of_a_gpu_divide(options):
    before, context = prepared(flattened, **options)
    assert delinearise_loops(before, context) is before


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("fn", [*IN_ROWS, *LEFT], ids=lambda fn: fn.__name__)
def test_as_in_python(fn, shape):
    run_everywhere(fn, *made(*shape))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)], ids=str)
@pytest.mark.parametrize("fn", EMPTY, ids=lambda fn: fn.__name__)
def test_without_elements(fn, shape):
    run_everywhere(fn, *made(*shape))


@pytest.mark.parametrize("fn", [flattened, in_another_shape, repeated, pixels], ids=lambda fn: fn.__name__)
def test_rows_are_shared_by_threads_and_have_lanes(fn):
    jitted = appyc.jit(fn, cache=False, target="cpu")
    loops = loops_of(jitted._analyse(jitted._wanted(made(3, 4), {})).function.body)
    rows = [loop for loop in loops if len(loops_of(loop)) > 1]
    assert any(loop.mode is LoopMode.PARALLEL for loop in rows)
    assert all(loop.mode is not LoopMode.SEQUENTIAL for loop in loops if len(loops_of(loop)) == 1)


def test_golden(golden):
    before, context = prepared(flattened)
    found = after(before, delinearise_loops, context=context)
    golden("tensors/flattened.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
    before, context = prepared(in_another_shape)
    found = after(before, delinearise_loops, context=context)
    golden("tensors/another_shape.txt", f"{print_function(before)}\n# after\n\n{print_function(found)}")
