"""Every loop of the corpus: the same results as plain Python, and never in parallel where order matters."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest

import appyc
from appyc.ir.printer import print_function
from tests.dependences.corpus import CALL_DECIDES, Loop
from tests.dependences.outcome import SMALL, all_loops, outcome, unordered
from tests.dependences.table import PAGE, page
from tests.e2e.harness import call, compare, run_everywhere
from tests.orders import orders, reordered, same

LOOPS = all_loops()
SIZES = (SMALL, 70, 4)


def named(loops: list[Loop]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("loop", loops, ids=[loop.name for loop in loops])


# ---------------------------------------------------------------- results


def targets(number: int) -> tuple[str, ...]:
    return ("threads", "interpret") if number % 6 == 0 else ("threads",)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("loop", "target"),
    [pytest.param(p, t, id=f"{p.name}-{t}") for k, p in enumerate(LOOPS) for t in targets(k)],
)
def test_results_are_those_of_plain_python(loop: Loop, target: str) -> None:
    if loop.pragma and outcome(loop).refused:
        return
    for size in SIZES:
        try:
            run_everywhere(loop.fn, *loop.arguments(size), targets=(target,))
        except appyc.DependenceError:
            assert loop.pragma == "wrong", "a right pragma was refused at the call"


# ---------------------------------------------------------------- order


@pytest.mark.sampled
@named(LOOPS)
def test_what_runs_in_parallel_gives_the_same_in_any_order(loop: Loop) -> None:
    found = outcome(loop)
    chosen = dict(unordered(found))
    if not chosen:
        return
    assert found.analysed is not None
    if found.analysed.hidden:
        return  # what such versions compute is compared in tests/compiler/test_shared_memory.py
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


@pytest.mark.sampled
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
        # Some legal way was taken, or is at the call: the loop that runs is another one.
        assert loop.needs


@pytest.mark.sampled
@named([loop for loop in LOOPS if loop.pragma == "wrong"])
def test_a_wrong_pragma_is_refused(loop: Loop) -> None:
    """By the compiler; at the call where the arguments decide."""
    if not outcome(loop).refused:
        assert loop.truth in CALL_DECIDES
        with pytest.raises(appyc.DependenceError):
            appyc.jit(cache=False, target="cpu")(loop.fn)(*loop.arguments(SMALL))


@pytest.mark.sampled
@named([loop for loop in LOOPS if loop.pragma == "right"])
def test_a_right_pragma_gets_what_it_asks_for(loop: Loop) -> None:
    found = outcome(loop)
    assert not found.refused
    assert found.runs_parallel


# ---------------------------------------------------------------- the page


def test_the_page_shows_what_is_decided_now() -> None:
    hint = "run `python -m tests.dependences.table --write`, and look at what changed"
    assert PAGE.read_text() == page(), hint


def test_there_are_enough_loops_of_every_kind() -> None:
    assert len(LOOPS) >= 80
    assert len({loop.name for loop in LOOPS}) == len(LOOPS)
    assert len({loop.family for loop in LOOPS}) >= 20
    assert sum(loop.pragma == "wrong" for loop in LOOPS) >= 20
