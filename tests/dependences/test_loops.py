"""Every loop of the corpus: the same results as plain Python, and never in parallel where order matters."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.ir.printer import print_function
from tests.dependences.corpus import Function, Loop
from tests.dependences.outcome import SMALL, all_loops, outcome, unordered
from tests.dependences.table import PAGE, page
from tests.e2e.harness import Mismatch, Outcome, call, compare, run_everywhere

LOOPS = all_loops()
SIZES = (SMALL, 70, 4)
Order = Callable[[range], list[int]]


def named(loops: list[Loop]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("loop", loops, ids=[loop.name for loop in loops])


def orders() -> Iterator[Order]:
    """Reverse, and a few random ones."""
    yield lambda r: list(r)[::-1]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        yield lambda r, rng=rng: [int(i) for i in rng.permutation(list(r))]


class _Reordered(ast.NodeTransformer):
    """Passes the ranges of chosen loops, by their number in the text, through `in_order`."""

    def __init__(self, chosen: set[int]) -> None:
        self.chosen = chosen
        self.number = -1

    def visit_For(self, node: ast.For) -> ast.For:
        self.number += 1
        if self.number in self.chosen:
            name = ast.Name("in_order", ast.Load())
            node.iter = ast.Call(name, [node.iter, ast.Constant(self.number)], [])
        self.generic_visit(node)
        return node


def reordered(
    text: str,
    name: str,
    chosen: set[int],
    order: Order,
    keep_last: set[int],
    blocks: dict[int, int] | None = None,
) -> Function:
    """The function of this text with some loops run in another order; `keep_last`: but for the
    last iteration, whose values are read after the loop. blocks: loops where only so many
    iterations in a row may change places."""

    def in_order(r: range, number: int) -> list[int]:
        if size := (blocks or {}).get(number):
            return [i for start in range(0, len(r), size) for i in order(r[start : start + size])]
        if number in keep_last and len(r):
            return [*order(r[:-1]), r[-1]]
        return order(r)

    tree = ast.fix_missing_locations(_Reordered(chosen).visit(ast.parse(text)))
    scope: dict[str, Any] = {"np": np, "in_order": in_order}
    exec(compile(tree, f"<reordered {name}>", "exec"), scope)
    return scope[name]  # type: ignore[no-any-return]


def same(expected: Outcome, found: Outcome) -> bool:
    try:
        compare(expected, found, "reordered")
    except Mismatch:
        return False
    return True


# ---------------------------------------------------------------- results


def targets(number: int) -> tuple[str, ...]:
    return ("threads", "interpret") if number % 6 == 0 else ("threads",)


@pytest.mark.parametrize(
    ("loop", "target"),
    [pytest.param(p, t, id=f"{p.name}-{t}") for k, p in enumerate(LOOPS) for t in targets(k)],
)
def test_results_are_those_of_plain_python(loop: Loop, target: str) -> None:
    if loop.pragma and outcome(loop).refused:
        pytest.skip("refused")
    for size in SIZES:
        try:
            run_everywhere(loop.fn, *loop.arguments(size), targets=(target,))
        except appyc.DependenceError:
            assert loop.pragma == "wrong", "a right pragma was refused at the call"


# ---------------------------------------------------------------- order


@named(LOOPS)
def test_what_runs_in_parallel_gives_the_same_in_any_order(loop: Loop) -> None:
    found = outcome(loop)
    chosen = dict(unordered(found))
    if not chosen:
        pytest.skip("nothing runs in parallel")
    if loop.family == "overlapping":
        pytest.skip("arguments that overlap take the sequential version")
    assert found.analysed is not None
    function = found.analysed.function
    arguments = loop.arguments(SMALL)
    text = print_function(function)
    expected = call(reordered(text, function.name, set(), list, set()), arguments)
    with_last = {number for number, inner in chosen.items() if inner.last}
    blocks = {number: inner.safelen for number, inner in chosen.items() if inner.safelen is not None}
    for order in orders():
        out = call(reordered(text, function.name, set(chosen), order, with_last, blocks), arguments)
        compare(expected, out, "in another order")


def source_of(loop: Loop) -> str:
    """The text of the function, without what stands above `def`."""
    text = textwrap.dedent(inspect.getsource(loop.fn))
    return text[text.index("def ") :]


def annotated_loop(text: str) -> int:
    """The number of the loop that the first pragma of a loop stands on."""
    lines = text.splitlines()
    at = next(k for k, line in enumerate(lines) if "# pragma" in line and "atomic" not in line)
    loops = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.For)]
    starts = sorted(node.lineno for node in loops)
    return starts.index(next(s for s in starts if s > at))


@named([loop for loop in LOOPS if loop.pragma])
def test_a_pragma_that_brute_force_shows_wrong_is_refused(loop: Loop) -> None:
    text = source_of(loop)
    arguments = loop.arguments(SMALL)
    expected = call(loop.fn, arguments)
    number = {annotated_loop(text)}
    wrong = any(
        not same(expected, call(reordered(text, loop.name, number, order, number), arguments))
        for order in orders()
    )
    if loop.pragma == "right" and not loop.needs:
        assert not wrong
    found = outcome(loop)
    if wrong and not found.refused:
        # Some legal way was taken: the loop that runs is another one, or has another order.
        assert loop.needs


# ---------------------------------------------------------------- the page


def test_the_page_shows_what_is_decided_now() -> None:
    hint = "run `python -m tests.dependences.table --write`, and look at what changed"
    assert PAGE.read_text() == page(), hint


def test_there_are_enough_loops_of_every_kind() -> None:
    assert len(LOOPS) >= 80
    assert len({loop.name for loop in LOOPS}) == len(LOOPS)
    assert len({loop.family for loop in LOOPS}) >= 20
