"""Stream compaction: which loops store selected elements without a branch for each, and what these store."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.ir.nodes import Expr, Stmt
from appyc.ir.types import DType
from appyc.passes.vectorise.compaction_form import MOST, is_compaction
from tests.ir_makers import (
    Program,
    add,
    binary,
    both,
    compare,
    for_,
    if_,
    load,
    mul,
    store,
    update,
)

p = Program()
n, limit = p.integer("n"), p.real("limit")
x, y, idx = p.array("x", 1), p.array("y", 1), p.array("idx", 1, DType.INT64)
out, found = p.array("out", 1), p.array("found", 1, DType.INT64)
more = [p.array(f"more{number}", 1) for number in range(MOST)]
i, k = p.index("i"), p.local("k", DType.INT64)


def at(array, index: object = i) -> Expr:
    return load(array, index, checked=False)


LARGE = compare(">", at(x), limit)
NEXT = update(k, [], "+", 1)


def loop(*then: Stmt, cond: Expr = LARGE, step: int = 1, orelse: tuple[Stmt, ...] = ()):
    return for_(i, 0, n, [if_(cond, then, orelse)], step)


def keep(value: object, array=out) -> Stmt:
    return store(array, [k], value)


@pytest.mark.parametrize(
    "fitting",
    [
        loop(keep(at(x)), NEXT),
        loop(keep(i, found), keep(add(mul(at(x), 2.0), at(y, add(i, 1)))), NEXT),
        loop(keep(at(x)), NEXT, cond=both(LARGE, compare("<", at(y), 1.0))),
    ],
    ids=["an element", "indices, and sums of neighbours", "two conditions"],
)
def test_selected_elements_in_a_row(fitting):
    assert is_compaction(fitting, boundscheck=True)


@pytest.mark.parametrize(
    "other",
    [
        loop(keep(at(x))),
        loop(NEXT),
        loop(keep(at(x)), update(k, [], "+", 2)),
        loop(keep(at(x)), NEXT, step=2),
        loop(keep(at(x)), NEXT, orelse=(store(y, [i], 0.0, checked=False),)),
        loop(store(out, [add(k, 1)], at(x)), NEXT),
        loop(keep(at(x)), keep(at(y)), NEXT),
        loop(*(keep(at(x), array) for array in more), keep(at(x)), NEXT),
        loop(keep(at(out)), NEXT),
        loop(keep(binary("/", at(x), limit)), NEXT),
        loop(keep(at(x, at(idx))), NEXT),
        loop(keep(load(x, i)), NEXT),
        loop(keep(k, found), NEXT),
        loop(keep(at(x)), NEXT, cond=compare(">", at(x, k), limit)),
        loop(keep(at(x)), NEXT, cond=compare("<", i, 7)),
        loop(keep(at(x)), NEXT, cond=both(LARGE, compare("<", i, 7))),
    ],
    ids=[
        "no counter", "no store", "gaps", "every second", "other elements change", "not at the counter",
        "one array twice", "many arrays", "reads what it fills", "a division", "gathers", "may raise",
        "the counter is stored", "the counter decides", "the index decides", "the index may guard a load",
    ],
)  # fmt: skip
def test_other_loops_keep_their_branch(other):
    assert not is_compaction(other, boundscheck=True)


def test_unchecked_loads_have_to_be_those_of_the_condition():
    assert is_compaction(loop(keep(at(x)), NEXT), boundscheck=False)
    assert not is_compaction(loop(keep(at(y)), NEXT), boundscheck=False)


def test_selected_elements_are_those_of_python():
    def select(x, limit, out, found):
        k = 0
        for i in range(x.shape[0]):
            if x[i] > limit:
                out[k] = x[i] * 2.0
                found[k] = i
                k += 1
        return k

    compiled = appyc.jit(target="cpu", strict=True)(select)
    for size in (0, 1, 64, 700):
        numbers = np.random.default_rng(size).random(size)
        for limit in (-1.0, 0.5, 0.99, 2.0):
            mine, python = ([np.zeros(size), np.zeros(size, np.int64)] for _ in range(2))
            assert compiled(numbers, limit, *mine) == select(numbers, limit, *python)
            for one, other in zip(mine, python, strict=True):
                np.testing.assert_array_equal(one, other)
