"""Updates of one element that follow each other are one store on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from appyc.ir.nodes import Function, Stmt, Update
from appyc.ir.printer import print_function
from appyc.ir.types import DType
from appyc.ir.visit import walk
from appyc.passes.gpu.join_updates import join_updates
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program, add, for_, load, store, update
from tests.printed import run_printed

p = Program()
N, I = p.integer("n"), p.index("i")
A, B, SMALL, PAIR = (
    p.array("a", 1),
    p.array("b", 1),
    p.array("s", 1, DType.FLOAT32),
    p.array("z", 1, DType.COMPLEX128),
)
VALUE = load(B, I, checked=False)
STORED, ADDED = store(A, [I], VALUE, checked=False), replace(update(A, [I], "+", VALUE), checked=False)
SCALED = replace(ADDED, op="*")
BESIDE = replace(ADDED, index=(add(I, 1),))
RAISES, ATOMIC = replace(ADDED, checked=True), replace(ADDED, atomic=True)
OF_ANOTHER, READS = replace(ADDED, target=B), replace(ADDED, value=load(A, 0, checked=False))
ROUNDED, TO_ROUNDED = replace(STORED, array=SMALL), replace(update(SMALL, [I], "+", 1.0), checked=False)
OF_COMPLEX = replace(update(PAIR, [I], "+", load(PAIR, 0, checked=False)), checked=False)


def joined(*body: Stmt) -> Function:
    return join_updates(p.function(for_(I, 0, N, body)), PassContext())


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ([ADDED, SCALED], 0),
        ([ADDED, SCALED, ADDED], 0),
        ([STORED, SCALED, ADDED], 0),
        ([ADDED, OF_ANOTHER, SCALED], 3),
        ([ADDED, BESIDE], 2),
        ([ADDED, READS], 2),
        ([READS, ADDED], 0),
        ([ADDED, RAISES], 2),
        ([ATOMIC, ADDED], 2),
        ([ADDED, ATOMIC], 2),
        ([ROUNDED, TO_ROUNDED], 1),
        ([TO_ROUNDED, TO_ROUNDED], 0),
        ([OF_COMPLEX, OF_COMPLEX], 2),
    ],
)
def test_updates_that_are_left(body: list[Stmt], left: int) -> None:
    out = joined(*body)
    assert sum(isinstance(n, Update) for n in walk(out)) == left


def test_results_are_the_same() -> None:
    before, after = p.function(for_(I, 0, N, [STORED, SCALED, ADDED])), joined(STORED, SCALED, ADDED)
    found = []
    for fn in (before, after):
        arrays = [np.arange(5.0), np.arange(5.0) + 0.1]
        run_printed(fn, 5, *arrays, np.zeros(5, np.float32), np.zeros(5, complex))
        found.append(arrays)
    np.testing.assert_array_equal(*found)


def test_text(golden: Callable[[str, str], None]) -> None:
    golden("ir/join_updates.txt", print_function(joined(ADDED, SCALED)))
