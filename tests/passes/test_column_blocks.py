"""Blocks of rows of column sums: partial results of each block, and their combination."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from appyc.analysis.patterns.column_sums import column_sums
from appyc.ir.names import NameSupply
from appyc.ir.nodes import For, Function, Stmt
from appyc.ir.printer import print_function
from appyc.ir.verify import verify
from appyc.passes.locality import column_blocks
from appyc.passes.locality.column_blocks import ColumnBlocks
from tests.ir_makers import Program, assign, for_, load, store, update
from tests.printed import run_printed

p = Program()
n, m = p.integer("n"), p.integer("m")
x, out = p.array("x", 2), p.array("out", 1)
i, k, block = p.index("i"), p.index("k"), p.index("block")
s = p.local("s")


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_blocks, "ROWS", 4)
    monkeypatch.setattr(column_blocks, "STEP", 2)


def element():
    return load(x, k, i, checked=False)


def columns(*body: Stmt, lo: int = 0) -> For:
    return for_(i, lo, m, [*body, store(out, [i], s, checked=False)])


def down(*body: Stmt, lo: int = 0) -> For:
    return for_(k, lo, n, list(body))


TOTAL = columns(assign(s, 1.0), down(update(s, [], "+", element())))
LARGEST = columns(assign(s, -9.0), down(update(s, [], "max", element())), lo=1)


def in_blocks(loop: For, *, steps: bool = False) -> Function:
    sums = column_sums(loop)
    assert sums is not None
    every = (loop, assign(s, 0.0), for_(block, 0, 1, []))
    made = ColumnBlocks(loop, sums, NameSupply.after(p.function(*every)))
    inner = made.in_steps(block, []) if steps else made.in_block(block)
    fn = p.function(*made.allocations(), for_(block, 0, made.blocks, inner), made.together())
    assert verify(fn) == []
    return fn


def results(fn: Function, rows: int, width: int) -> np.ndarray:
    found = np.zeros(width)
    run_printed(fn, rows, width, np.cos(np.arange(float(rows * width))).reshape(rows, width), found)
    return found


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("loop", [TOTAL, LARGEST], ids=["sum", "maximum"])
def test_blocks_give_what_whole_columns_give(loop: For, rows: int) -> None:
    for width in (1, 3):
        whole = results(p.function(loop), rows, width)
        np.testing.assert_allclose(results(in_blocks(loop), rows, width), whole, rtol=1e-12)
        np.testing.assert_allclose(results(in_blocks(loop, steps=True), rows, width), whole, rtol=1e-12)


def test_text(golden: Callable[[str, str], None]) -> None:
    texts = [print_function(fn) for fn in (in_blocks(TOTAL), in_blocks(LARGEST, steps=True))]
    golden("ir/column_blocks.txt", "\n".join(texts))


def test_columns_of_other_kinds_have_no_blocks() -> None:
    along = columns(assign(s, 0.0), for_(k, 0, n, [update(s, [], "+", load(x, i, k, checked=False))]))
    assert column_sums(along) is None
    growing = columns(assign(s, 0.0), for_(k, 0, i, [update(s, [], "+", element())]))
    assert column_sums(growing) is None
