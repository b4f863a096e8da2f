"""The facts that passes share."""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.nodes import For, Function, LoopMode
from appyc.ir.types import DType
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program, add, for_, load, store


def shift(by: int) -> Function:
    p = Program()
    n, a, i = p.integer("n"), p.array("a", 1, DType.INT64), p.index("i")
    return p.function(for_(i, 0, n, [store(a, [i], load(a, add(i, by)))]))


def in_mode(fn: Function, mode: LoopMode) -> Function:
    (loop,) = fn.body
    assert isinstance(loop, For)
    return replace(fn, body=(replace(loop, mode=mode, safelen=4),))


def test_the_same_function_is_analysed_once() -> None:
    ctx, fn = PassContext(), shift(1)
    assert ctx.legality(fn) is ctx.legality(fn)


def test_modes_of_loops_change_no_facts() -> None:
    ctx, fn = PassContext(), shift(1)
    before = ctx.legality(fn)
    changed = in_mode(fn, LoopMode.SIMD)
    after = ctx.legality(changed)
    assert after is before
    (loop,) = changed.body
    assert isinstance(loop, For)
    assert after.judge(loop).distance == 1
    assert ctx.legality(fn) is before


def test_a_changed_body_is_analysed_again() -> None:
    ctx, fn = PassContext(), shift(1)
    before = ctx.legality(fn)
    other = ctx.legality(shift(2))
    assert other is not before
    (loop,) = shift(2).body
    assert isinstance(loop, For)
    assert other.judge(loop).distance == 2
    assert ctx.legality(fn) is not before


def test_facts_are_let_go() -> None:
    ctx, fn = PassContext(), shift(1)
    before = ctx.legality(fn)
    ctx.facts.forget()
    assert ctx.facts.legality is None
    assert ctx.legality(fn) is not before


def test_a_question_about_a_loop_is_asked_once() -> None:
    ctx, asked = PassContext(), list[For]()

    def is_asked(loop: For, _: PassContext) -> bool:
        asked.append(loop)
        return len(asked) == 1

    (one,), (other,) = shift(1).body, shift(1).body
    assert isinstance(one, For)
    assert isinstance(other, For)
    assert [ctx.answer(is_asked, loop) for loop in (one, one, other, one)] == [True, True, False, True]
    assert asked == [one, other]
