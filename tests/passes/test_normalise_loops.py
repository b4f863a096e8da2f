"""Loops over slices that move run over the places themselves, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Function
from appyc.ir.printer import print_expr
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.normalise_loops import normalise_loops
from tests.lowering import after, lowered
from tests.printed import run_printed

UP_TO = pipeline.ANALYSE[: pipeline.ANALYSE.index(normalise_loops)]


def straightened(fn: Callable[..., Any], *args: object, **options: Any) -> tuple[Function, Function]:
    """The function before and after the pass."""
    context = PassContext(Options(**{"target": "cpu", **options}))
    before = after(lowered(fn, *args), *pipeline.SIMPLIFY, *UP_TO, context=context)
    return before, after(before, normalise_loops, context=context)


def ranges(fn: Function) -> list[str]:
    return [f"{print_expr(loop.lo)}:{print_expr(loop.hi)}" for loop in loops_of(fn)]


def below(a, x):
    for k in range(a.shape[0]):
        x[k + 1 :] -= a[k + 1 :, :k] @ x[:k]


def shifted_by_one(a, x):
    """The places differ by what does not move."""
    for k in range(a.shape[0] - 2):
        x[k + 2 :] -= a[k + 1 : -1, :k] @ x[:k]


A, X = np.ones((4, 4)), np.ones(4)


@pytest.mark.parametrize("fn", [below, shifted_by_one])
def test_loops_run_over_the_places_of_moving_slices(fn: Callable[..., Any]) -> None:
    _, out = straightened(fn, A, X)
    outer, *inner = loops_of(out)
    assert any(f"{outer.var.name} + " in place.split(":")[0] for place in ranges(out)[1:])
    assert not any("max" in place for place in ranges(out))
    for loop in inner:
        assert loop.lo != loop.hi
    for size in (0, 1, 2, 3, 7):
        rng = np.random.default_rng(size)
        arrays = rng.uniform(-1, 1, (size, size)), rng.uniform(-1, 1, size)
        ours, theirs = ([part.copy() for part in arrays] for _ in range(2))
        run_printed(out, *ours)
        fn(*theirs)
        np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-12)


def from_two_places(a, x):
    for k in range(a.shape[0] - 1):
        x[: a.shape[0] - k] += a[k:, k] * a[k:, 0] @ a[k:, k:]


def backwards(a, x):
    for k in range(1, a.shape[0]):
        x[0] += a[k, k - 1 :: -1] @ x[k - 1 :: -1]


def no_products(a, x):
    for k in range(a.shape[0]):
        x[k + 1 :] *= a[k, k + 1 :]


@pytest.mark.parametrize("fn", [from_two_places, backwards, no_products])
def test_others_stay(fn: Callable[..., Any]) -> None:
    before, out = straightened(fn, A, X)
    starts = [place.split(":")[0] for place in ranges(out)]
    assert starts == [place.split(":")[0] for place in ranges(before)]


@pytest.mark.parametrize("options", [{"blas": False}, {"auto": False}])
def test_without_a_library_nothing_changes(options: dict[str, Any]) -> None:
    before, out = straightened(below, A, X, **options)
    assert out is before


def test_empty_function() -> None:
    def nothing(a, x):
        return None

    before, out = straightened(nothing, A, X)
    assert out is before
