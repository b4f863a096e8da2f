"""Nests that go through adjacent elements of arrays are one loop; others stay."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.nodes import Function
from appyc.ir.printer import print_function
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from tests.e2e.harness import run_everywhere
from tests.lowering import lowered
from tests.printed import run_printed

Numbers = Callable[..., Any]


def total(a, b):
    return a.sum()


def extremes_of_a_difference(a, b):
    d = np.abs(a - b)
    return d.max(), d.min(), d.sum()


def stored_and_added(a, b):
    c = a * 2.0 + b
    return c, c.max()


def first_place(a, b):
    return a.argmax(), b.argmin()


def is_any(a, b):
    return (a > 0.5).any(), (a == b).all()


def in_a_time_loop(a, b):
    out = np.zeros(4)
    for t in range(4):
        out[t] = (a * t).sum() + (b - t).max()
    return out


def by_hand(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            total += a[i, k] * a[i, k]
    return total


def inside(a, b):
    return a[1:, :].max()


def only_stored(a, b):
    return a * 2.0


def next_row(a, b):
    return np.abs(a[1:] - b[:-1]).max()


def rows_apart(a, b):
    return np.abs(a[2:] - a[:-2]) + b[1:-1]


COALESCED = (
    total,
    extremes_of_a_difference,
    stored_and_added,
    first_place,
    is_any,
    in_a_time_loop,
    by_hand,
    inside,
    only_stored,
    next_row,
    rows_apart,
)


def stretched(a, b):
    return (a - b[0]).max()


def along_rows(a, b):
    return a.max(axis=1)


def along_columns(a, b):
    return a.max(axis=0)


def transposed(a, b):
    return (a[: a.shape[1], : a.shape[1]].T * a[: a.shape[1], : a.shape[1]]).sum()


def reads_its_row(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            total += a[i, k] * i
    return total


def of_one_at_least_as_long(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            total += a[i, k] * b[i, k]
    return total


def part_of_rows(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        for k in range(a.shape[1] - 1):
            total += a[i, k]
    return total


def backwards(a, b):
    total = 0.0
    for i in range(a.shape[0] - 1, -1, -1):
        for k in range(a.shape[1]):
            total += a[i, k]
    return total


def from_the_row_before(a, b):
    for i in range(1, a.shape[0]):
        for k in range(a.shape[1]):
            a[i, k] = a[i - 1, k] * 0.5 + a[i, k]


def next_column(a, b):
    return np.abs(a[:, 1:] - a[:, :-1]).max()


NESTED = (
    stretched,
    from_the_row_before,
    next_column,
    along_rows,
    along_columns,
    transposed,
    reads_its_row,
    of_one_at_least_as_long,
    part_of_rows,
    backwards,
)


def plane(rows: int, columns: int, shift: float = 0.0) -> np.ndarray:
    return np.sin(np.arange(float(rows * columns)) + shift).reshape(rows, columns)


def analysed(fn: Numbers, *args: object, target: str = "cpu") -> Function:
    context = PassContext(Options(target=target))
    return pipeline.run(lowered(fn, *args), (*pipeline.SIMPLIFY, *pipeline.ANALYSE), context, verify=True)


def is_coalesced(fn: Function) -> bool:
    return any("_" in loop.var.name for loop in loops_of(fn.body))


@pytest.mark.parametrize("fn", COALESCED)
def test_the_rows_of_a_whole_array_are_one(fn: Numbers) -> None:
    args = plane(5, 3), plane(5, 3, 1.0)
    program = analysed(fn, *args)
    assert is_coalesced(program)
    found, expected = run_printed(program, *args), fn(*args)
    for one, other in zip(*(v if isinstance(v, tuple) else (v,) for v in (found, expected)), strict=True):
        np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("fn", NESTED)
def test_other_nests_stay(fn: Numbers) -> None:
    assert not is_coalesced(analysed(fn, plane(5, 3), plane(5, 3, 1.0)))


@pytest.mark.sampled
@pytest.mark.parametrize("arrays", [(plane(3, 5).T, plane(5, 3)), (plane(5, 6)[:, ::2], plane(5, 3))])
def test_arrays_with_gaps_or_in_another_order_stay(arrays: tuple[np.ndarray, ...]) -> None:
    assert not is_coalesced(analysed(extremes_of_a_difference, *arrays))
    run_everywhere(extremes_of_a_difference, *arrays)


def test_rows_that_are_longer_in_another_array_stay_apart() -> None:
    run_everywhere(of_one_at_least_as_long, plane(5, 3), plane(5, 4), strict=True)
    run_everywhere(of_one_at_least_as_long, plane(5, 3), plane(6, 3), strict=True)


def test_lanes_on_a_gpu_have_their_rows() -> None:
    assert not is_coalesced(analysed(total, plane(5, 3), plane(5, 3), target="gpu"))


def test_three_axes_are_one_loop() -> None:
    def colours(image, other):
        return np.abs(image - other).max(), (image * other).argmax()

    image = np.cos(np.arange(60.0)).reshape(4, 5, 3)
    program = analysed(colours, image, image[::-1].copy())
    assert len([loop for loop in loops_of(program.body) if loop.var.name.count("_") == 2]) >= 2
    run_everywhere(colours, image, image[::-1].copy(), strict=True)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [*COALESCED, *NESTED])
@pytest.mark.parametrize(("rows", "columns"), [(5, 3), (1, 1), (1, 40), (7, 129)])
def test_values_stay(fn: Numbers, rows: int, columns: int) -> None:
    if (fn is transposed and rows < columns) or (fn is part_of_rows and columns == 1):
        return  # not for such a shape
    run_everywhere(fn, plane(rows, columns), plane(rows, columns, 1.0), strict=True)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_there_may_be_no_element(shape: tuple[int, int]) -> None:
    run_everywhere(total, np.ones(shape), np.ones(shape), strict=True)
    run_everywhere(is_any, np.ones(shape), np.ones(shape), strict=True)
    run_everywhere(extremes_of_a_difference, np.ones(shape), np.ones(shape))  # raises


def test_a_nan_is_found_wherever_it_is() -> None:
    @appyc.jit(strict=True, target="cpu")
    def extremes(a):
        return a.max(), a.min(), np.maximum(a, 0.5), np.minimum(a, 0.5)

    for dtype, size, at in itertools.product((np.float64, np.float32), (3, 20, 70), (0, 1, 2, -1)):
        a = np.linspace(-1.0, 1.0, 3 * size).astype(dtype).reshape(size, 3)
        for value in (np.nan, -np.nan, np.inf, -np.inf):
            a[at, 1] = value
            for found, expected in zip(extremes(a), extremes.py_func(a), strict=True):
                np.testing.assert_array_equal(found, expected)


def test_the_text(golden) -> None:
    golden(
        "tensors/coalesced_loops.txt", print_function(analysed(first_place, plane(5, 3), plane(5, 3, 1.0)))
    )


def test_the_report_says_so() -> None:
    @appyc.jit(strict=True)
    def largest(image):
        return image.max()

    largest(plane(40, 3))
    assert "the rows of 'image' are adjacent in memory: 2 loops run as one" in str(largest.explain())


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(9, 7, 3), (5, 40, 1), (3, 3, 4), (40, 3, 70), (2, 3, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbours_in_an_image_are_adjacent_rows(shape: tuple[int, ...], dtype: type) -> None:
    def edges(image):
        out = np.abs(
            4 * image[1:-1, 1:-1] - image[:-2, 1:-1] - image[2:, 1:-1] - image[1:-1, :-2] - image[1:-1, 2:]
        )
        return out, out.sum()

    image = np.cos(np.arange(float(np.prod(shape)))).reshape(shape).astype(dtype)
    assert is_coalesced(analysed(edges, image))
    run_everywhere(edges, image, strict=True)
