"""Loops over sets: CPython's order, and sets of which it is not known."""

from __future__ import annotations

import random
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.library import set_order


@pytest.mark.parametrize("least", [-(2**63), -70, 0])
@pytest.mark.parametrize("width", [0, 2])
def test_the_order_is_cpythons(least: int, width: int) -> None:
    drawn = random.Random(least + width)
    for count in (0, 1, 4, 5, 20, 300, 3000):
        made: dict[Any, None] = {}
        for _ in range(count):
            number, *others = (drawn.randrange(least, max(-least, 5000)) for _ in range(1 + width))
            made[(number, *others) if others else number] = None
        keys, added = list(made), set()
        for key in keys:
            added.add(key)
        with np.errstate(over="ignore"):
            assert [keys[at] for at in set_order.set_order(keys)] == list(added)
            assert all(int(np.int64(set_order.hash_of(key))) == hash(key) for key in keys)


@pytest.mark.parametrize(
    "made",
    [
        "{3, 1, 2}",
        "{-3, 1 + 1, 2}",
        "set(other)",
        "set(FIXED)",
        "set(d | {9})",
        "lost",
        "other | d",
    ],
)
def test_other_sets_are_left_to_python(made: str, tmp_path: Path) -> None:
    path = tmp_path / "sets.py"
    path.write_text(
        "FIXED = frozenset({4, 2, 9})\n\n\ndef f(xs):\n    other, lost = set(xs), set(xs)\n    lost.discard(8)\n"
        f"    d = {{x + 1 for x in xs}}\n    s = {made}\n    s.add(xs[0])\n"
        "    t = 0\n    for x in s:\n        t = 3 * t + x % 7\n    return t, len(other), len(d)\n"
    )
    f = runpy.run_path(str(path))["f"]
    given = [40, 8, 16, 0, 24]
    with pytest.warns(appyc.FallbackWarning, match="'s' has a use"):
        assert appyc.jit(f)(given) == f(given)
