"""Walks over the blocks of statements."""

from __future__ import annotations

from appyc.ir.blocks import map_blocks
from tests.ir_makers import Program, assign, compare, expr, if_, update, while_

p = Program()
x, y = p.local("x"), p.local("y")


def test_a_statement_whose_blocks_stay_the_same_is_the_same():
    step, cond = update(x, [], "+", 1.0), compare("<", x, 3.0)
    for stmt in (assign(x, expr(y)), while_(cond, [step]), if_(cond, [step], [assign(x, 1.0)])):
        assert map_blocks(stmt, lambda block: (*block,)) is stmt


def test_one_changed_block_is_enough():
    cond, then, orelse = compare("<", x, 3.0), assign(x, 1.0), assign(y, 1.0)
    stmt = if_(cond, [then], [orelse])
    assert map_blocks(stmt, lambda block: () if block == (orelse,) else block) == if_(cond, [then])
    assert map_blocks(stmt, lambda block: (*block, *block)) == if_(cond, [then, then], [orelse, orelse])
