"""What statements touch, put together from what is known of their parts."""

from __future__ import annotations

import pytest

from appyc.analysis.accesses import syntactic_effects as module
from appyc.analysis.accesses.syntactic_effects import Texts, Touched
from appyc.analysis.dependences.fusion_legality import has_effects
from appyc.ir.nodes import Stmt
from appyc.ir.visit import arrays_read, arrays_written, walk
from tests.ir_makers import (
    Program,
    add,
    alloc,
    assign,
    break_,
    compare,
    extent,
    for_,
    if_,
    load,
    store,
    update,
    while_,
)

P = Program()
N, I, J, S = P.integer("n"), P.index("i"), P.index("j"), P.local("s")
A, B, T = P.array("a", 1), P.array("b", 1), P.local_array("t", 1)

STATEMENTS: dict[str, Stmt] = {
    "a store": store(A, [I], load(B, I), checked=False),
    "an update": update(A, [I], "+", load(B, I)),
    "a scalar": assign(S, add(S, 1.0)),
    "an array": alloc(T, extent(A)),
    "a loop": for_(I, 0, extent(B), [assign(S, load(A, I)), for_(J, 0, I, [store(T, [J], S)])]),
    "a condition": if_(compare(">", S, 0.0), [assign(S, 0.0)], [store(A, [0], S), break_()]),
    "a while": while_(compare("<", S, load(A, 0)), [update(S, [], "*", 2.0)]),
}


@pytest.mark.parametrize("stmt", STATEMENTS.values(), ids=STATEMENTS.keys())
def test_the_answer_is_that_of_a_walk(stmt: Stmt) -> None:
    found = Texts().of(stmt)
    assert found.touched == Touched.by(stmt)
    assert (found.loaded, found.stored) == (arrays_read(stmt), arrays_written(stmt))
    assert found.nodes == sum(1 for _ in walk(stmt))
    assert found.has_effects == has_effects((stmt,))


def test_all_together_are_what_they_are_in_one_walk() -> None:
    stmts = tuple(STATEMENTS.values())
    found = Texts().by(stmts)
    assert found.touched == Touched.by(stmts)
    assert found.nodes == sum(1 for _ in walk(stmts))


def test_a_statement_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = STATEMENTS["a store"], STATEMENTS["a scalar"]
    texts = Texts()
    known = texts.by((first, second))
    monkeypatch.setattr(module, "walk", lambda node: pytest.fail("read again"))
    assert texts.by((first, second)) == known
