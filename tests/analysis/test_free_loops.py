"""Whether a loop's iterations may run in any order, told by the text where that is enough."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from appyc.analysis.accesses.access_relations import accesses_of
from appyc.analysis.dependences import free_loops
from appyc.analysis.dependences.dependences import Dependences
from appyc.analysis.dependences.free_loops import is_free, surely_apart
from appyc.analysis.dependences.fusion_legality import alone
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.sets.presburger import Presburger
from appyc.ir.nodes import For, Stmt
from tests.ir_makers import Program, add, assign, break_, compare, for_, if_, load, mul, store, update

P = Program()
N, K, I, J, S = P.integer("n"), P.integer("k"), P.index("i"), P.index("j"), P.local("s")
A, B, M = P.array("a", 1), P.array("b", 1), P.array("m", 2)


def over_i(*body: Stmt) -> For:
    return for_(I, 0, N, body)


def a(place):
    return load(A, place, checked=False)


def b(place):
    return load(B, place, checked=False)


def to_a(place, value) -> Stmt:
    return store(A, [place], value, checked=False)


TOLD = {
    "an element": [to_a(I, b(I)), store(B, [I], mul(a(I), 2.0), checked=False)],
    "a place beside": [to_a(add(I, 1), add(a(add(I, 1)), b(I)))],
    "a row": [for_(J, 0, N, [store(M, [I, J], load(M, I, 0, checked=False), checked=False)])],
    "a private scalar": [assign(S, b(I)), to_a(I, S)],
    "a sum": [update(S, [], "+", b(I))],
    "nothing written twice": [to_a(I, b(add(I, 1)))],
}

ASKED = {
    "every other element": [to_a(mul(I, 2), b(I))],
    "a diagonal of another": [store(M, [add(I, J), I], 1.0, checked=False), to_a(mul(I, 3), 1.0)],
    "elements that may be counted from the end": [store(A, [I], load(A, I))],
}

WAITING = {
    "a neighbour": [to_a(I, a(add(I, 1)))],
    "one element": [to_a(K, b(I))],
    "two places that are apart by something": [to_a(I, 1.0), to_a(add(I, K), 2.0)],
    "a column that all write": [for_(J, 0, N, [store(M, [J, 0], 1.0, checked=False)])],
    "a scalar handed on": [to_a(I, S), assign(S, b(I))],
    "an element that all add to": [update(A, [K], "+", b(I))],
    "an early end": [to_a(I, b(I)), if_(compare(">", b(I), 0.0), [break_()])],
}


def judged(loop: For) -> bool:
    return Legality.of(alone(loop)).judge(loop).may_run_in_any_order


@pytest.mark.parametrize("body", TOLD.values(), ids=TOLD.keys())
def test_what_the_text_tells_is_not_asked(body: Sequence[Stmt], monkeypatch: pytest.MonkeyPatch) -> None:
    loop = over_i(*body)
    assert judged(loop)

    def refuse() -> Presburger:
        raise AssertionError("isl was asked")

    monkeypatch.setattr(free_loops, "Presburger", refuse)
    assert is_free(loop)


@pytest.mark.parametrize("body", ASKED.values(), ids=ASKED.keys())
def test_the_rest_is_asked(body: Sequence[Stmt]) -> None:
    loop = over_i(*body)
    assert A not in surely_apart(loop)
    assert is_free(loop) == judged(loop)


@pytest.mark.parametrize("body", WAITING.values(), ids=WAITING.keys())
def test_iterations_that_wait_for_each_other_are_found(body: Sequence[Stmt]) -> None:
    loop = over_i(*body)
    assert not judged(loop)
    assert not is_free(loop)


def test_arrays_that_are_named_at_one_axis_with_one_number_are_apart() -> None:
    loop = over_i(to_a(I, b(I)), store(B, [add(I, 1)], a(I), checked=False),
                  store(M, [I, K], load(M, I, I, checked=False), checked=False))  # fmt: skip
    assert surely_apart(loop) == {A, M}


def test_parameters_that_free_a_loop_are_asked_for_without_the_lengths_of_other_arrays() -> None:
    """isl works on all the names of a set, each time: those of fifty other arrays took fifty times as long."""
    others = [P.array(f"x{k}", 2) for k in range(50)]
    loop = over_i(to_a(I, a(add(I, K))), *(store(x, [I, I], 1.0, checked=False) for x in others))
    dependences = Dependences(accesses_of(alone(loop), Presburger()))
    affine, sets = dependences.found.affine, dependences.sets
    assert len(affine.facts) > 100
    free = []
    for conflict in dependences.conflicts(loop):
        assert conflict.instances is not None
        assert sets.names(affine.context_of(conflict.instances)) == [f"{A}#0"]
        free.append(dependences.clear_of(conflict))
    assert free
    assert all(points is not None and not points.is_empty() for points in free)


def test_arrays_that_nobody_asks_about_are_not_made_sets_of() -> None:
    loop = over_i(to_a(I, a(add(I, 1))), store(B, [I], a(K), checked=False))
    found = accesses_of(alone(loop), Presburger(), skip=frozenset({B}))
    assert [access.array for access in found.accesses] == [A, A, A]
    asked, every = Dependences(found), Dependences(accesses_of(alone(loop), Presburger()))
    assert [c.kind for c in asked.conflicts(loop)] == [c.kind for c in every.conflicts(loop)] != []
