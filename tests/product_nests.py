"""Functions after products are found, and comparisons of them with Python, for tests of what becomes of products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import For, Function, If
from appyc.ir.verify import check
from appyc.ir.visit import loops_of, walk
from appyc.options import Options
from appyc.passes.locality import product_panels, product_steps
from appyc.passes.locality.find_products import find_products
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.printed import run_printed

UP_TO = pipeline.ANALYSE[: pipeline.ANALYSE.index(find_products) + 1]
RNG = np.random.default_rng(11)


def square(n: int = 3) -> np.ndarray:
    return RNG.uniform(-1, 1, (n, n))


def found(fn: Callable[..., Any], *args: object, **options: Any) -> tuple[Function, list[For], PassContext]:
    """The function after the pass, its marked loops, and what was said."""
    context = PassContext(Options(**{"target": "cpu", **options}))
    out = lowered(fn, *args)
    for transform in (*pipeline.SIMPLIFY, *UP_TO):
        out = transform(out, context)
        check(out, transform.__name__)
    return out, [loop for loop in loops_of(out) if loop.product is not None], context


def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of a few rows are worth panels of 4 rows and steps of 4."""
    monkeypatch.setattr(product_panels, "PANEL", 4)
    monkeypatch.setattr(product_panels, "WIDE_PANEL", 4)
    monkeypatch.setattr(product_steps, "STEPS", 4)
    for module in (product_panels, product_steps):
        monkeypatch.setattr(module, "WORTH", 8)
        monkeypatch.setattr(module, "FEWEST", 1)


def check_choice(fn: Callable[..., Any], size: int, products: int) -> None:
    """So many products, all in the branch for arrays that are large enough; and it does what Python does."""
    out, marked, _ = found(fn, square(), square(), square())
    (choice,) = [n for n in walk(out) if isinstance(n, If)]
    assert len(marked) == products
    assert {loop.var for loop in marked} <= {loop.var for loop in loops_of(choice.then)}
    same_as_python(out, fn, square(size), square(size), square(size))


def same_as_python(out: Function, fn: Callable[..., Any], *args: Any) -> None:
    """The printed IR does what the function does, with arrays of several sizes in their places."""
    bare = replace(out, guards=())
    ours, theirs = ([a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    result, expected = run_printed(bare, *ours), fn(*theirs)
    if expected is not None:
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
