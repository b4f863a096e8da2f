"""Slices with one place are columns to be stretched: no other axis has to have length 1 for them."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from tests.e2e.harness import run_everywhere


def distances(points):
    x = points[:, 0:1]
    y = points[:, -1:]
    return np.sqrt((x.T - x) ** 2 + (y.T - y) ** 2)


def less_a_column(a, k):
    return (a - a[:, k : k + 1]) * a[:1] + a[:, k - 1 : k]


def filled_with_a_column(out, a):
    out[:, :] = a[:, 1:2]
    out[:2] += a[-1:]


def chosen(a, b, c):
    return np.where(a > 1.5, b, c[:, :1])


def one_of_each(a):
    return a[:, :1] + a[:, 1:2], a[:1] * a[-1:]


RNG = np.random.default_rng(1)


def made(*shape):
    return RNG.uniform(1, 2, shape)


SHAPES = [(5, 3), (3, 5), (4, 4), (1, 3), (3, 1), (1, 1), (2, 2), (3, 0), (0, 3)]


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("fn", [distances, one_of_each], ids=lambda fn: fn.__name__)
def test_of_one_array(fn, shape):
    run_everywhere(fn, made(*shape))


@pytest.mark.parametrize("k", [0, 1, 2, -1])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_where_a_number_says(shape, k):
    run_everywhere(less_a_column, made(*shape), k)


@pytest.mark.parametrize("shapes", [((4, 5), (4, 3)), ((3, 3), (3, 3)), ((2, 1), (2, 2)), ((3, 4), (3, 1)),
                                    ((3, 0), (3, 1)), ((4, 5), (3, 3)), ((3, 1), (3, 1))], ids=str)  # fmt: skip
def test_stored(shapes):
    run_everywhere(filled_with_a_column, *(made(*shape) for shape in shapes))


@pytest.mark.sampled
@pytest.mark.parametrize("shapes", [((4, 5), (4, 5), (4, 3)), ((4, 1), (4, 5), (4, 3)), ((4, 5), (1, 1), (4, 1)),
                                    ((1, 1), (1, 1), (4, 0)), ((1, 1), (4, 5), (1, 5))], ids=str)  # fmt: skip
def test_beside_others_that_are_stretched(shapes):
    run_everywhere(chosen, *(made(*shape) for shape in shapes))


@pytest.mark.parametrize(("fn", "args"), [(distances, (made(5, 3),)), (less_a_column, (made(5, 3), 1)),
                                      (filled_with_a_column, (made(5, 3), made(5, 3)))])  # fmt: skip
def test_the_usual_version_asks_for_no_other_axis_of_length_1(fn, args):
    guards = appyc.jit(fn, cache=False, target="cpu").explain(*args).guards
    assert guards
    assert not any("== 1" in guard for guard in guards)


def weighted(a, b, c):
    return np.where(a > 1.5, b, c) + np.clip(a, b, c)


@pytest.mark.sampled
@pytest.mark.parametrize("lengths", [(1, 1, 5), (1, 5, 1), (5, 1, 1), (1, 5, 5), (5, 1, 5), (5, 5, 1), (1, 1, 1),
                                     (1, 1, 0), (1, 0, 1), (1, 5, 3)], ids=str)  # fmt: skip
def test_three_arrays_of_which_any_are_stretched(lengths):
    """The second was read out of range where the first two had length 1, and the third was refused."""
    run_everywhere(weighted, *(made(length) for length in lengths))
