"""Temporaries of which an iteration uses one element become scalars; all others stay arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from appyc.ir.nodes import Alloc, Function
from appyc.ir.verify import verify
from appyc.ir.visit import walk
from appyc.passes.pass_context import PassContext
from appyc.passes.storage.contract_arrays import contract_arrays
from tests.ir_makers import Program, add, alloc, compare, extent, for_, if_, load, mul, store, update
from tests.printed import run_printed


class Given:
    """A program over vectors `a` and `out`, and a temporary that is made for each of its elements."""

    def __init__(self) -> None:
        self.p = Program()
        self.a, self.out = self.p.array("a", 1), self.p.array("out", 1)
        self.t = self.p.local_array("t", 1)
        self.i, self.j = self.p.index("i"), self.p.index("j")

    def at(self, array, index):
        return load(array, index, checked=False)

    def put(self, array, index, value):
        return store(array, [index], value, checked=False)

    def over(self, var, *body):
        return for_(var, 0, extent(self.a, 0), list(body))

    def function(self, *body, zero: bool = False, results=()) -> Function:
        made = replace(alloc(self.t, extent(self.a, 0)), zero=zero)
        return self.p.function(made, *body, results=results)


def one_element(g: Given) -> Function:
    filled = g.put(g.t, g.i, mul(g.at(g.a, g.i), 2.0))
    return g.function(g.over(g.i, filled, g.put(g.out, g.i, add(g.at(g.t, g.i), 1.0))))


def combined_into(g: Given) -> Function:
    more = update(g.t, [g.i], "+", g.at(g.a, g.i))
    return g.function(g.over(g.i, more, g.put(g.out, g.i, g.at(g.t, g.i))), zero=True)


def sometimes_written(g: Given) -> Function:
    filled = if_(compare(">", g.at(g.a, g.i), 0.0), [g.put(g.t, g.i, 5.0)])
    return g.function(g.over(g.i, filled, g.put(g.out, g.i, g.at(g.t, g.i))), zero=True)


def made_in_the_loop(g: Given) -> Function:
    filled = g.put(g.t, g.j, add(g.at(g.a, g.j), g.at(g.a, g.i)))
    inner = g.over(g.j, filled, update(g.out, [g.i], "+", g.at(g.t, g.j)))
    return g.p.function(g.over(g.i, alloc(g.t, extent(g.a, 0)), inner))


CONTRACTED = [one_element, combined_into, sometimes_written, made_in_the_loop]


def two_loops(g: Given) -> Function:
    filled = g.over(g.i, g.put(g.t, g.i, g.at(g.a, g.i)))
    return g.function(filled, g.over(g.j, g.put(g.out, g.j, g.at(g.t, g.j))))


def two_elements(g: Given) -> Function:
    filled = g.put(g.t, g.i, g.at(g.a, g.i))
    return g.function(g.over(g.i, filled, g.put(g.out, g.i, add(g.at(g.t, g.i), g.at(g.t, 0)))))


def shared_by_iterations(g: Given) -> Function:
    more = update(g.t, [g.j], "+", g.at(g.a, g.i))
    return g.function(g.over(g.i, g.over(g.j, more, g.put(g.out, g.j, g.at(g.t, g.j)))), zero=True)


def returned(g: Given) -> Function:
    return g.function(g.over(g.i, g.put(g.t, g.i, g.at(g.a, g.i))), results=(g.t,))


def asked_for_its_length(g: Given) -> Function:
    filled = g.put(g.t, g.i, g.at(g.a, g.i))
    return g.function(g.over(g.i, filled), g.over(g.j, g.put(g.out, g.j, extent(g.t, 0))))


KEPT = [two_loops, two_elements, shared_by_iterations, returned, asked_for_its_length]


def arrays_made(fn: Function) -> int:
    return sum(isinstance(n, Alloc) for n in walk(fn))


def outcome(fn: Function, size: int) -> list[object]:
    a, out = np.linspace(-1.0, 2.0, size), np.zeros(size)
    value = run_printed(fn, a, out)
    return [out.tolist(), None if value is None else np.asarray(value).tolist()]


@pytest.mark.parametrize("make", CONTRACTED)
def test_an_element_for_each_iteration_becomes_a_scalar(make: Callable[[Given], Function]) -> None:
    before, context = make(Given()), PassContext()
    after = contract_arrays(before, context)
    assert verify(after) == []
    assert arrays_made(after) == 0
    assert "'t' is never stored" in context.remarks[0].text
    for size in (0, 1, 2, 7):
        assert outcome(after, size) == outcome(before, size)


@pytest.mark.parametrize("make", KEPT)
def test_an_array_that_iterations_share_or_that_is_seen_outside_stays(
    make: Callable[[Given], Function],
) -> None:
    before, context = make(Given()), PassContext()
    assert contract_arrays(before, context) == before
    assert context.remarks == []


def test_a_function_without_arrays_of_its_own() -> None:
    g = Given()
    fn = g.p.function()
    assert contract_arrays(fn, PassContext()) == fn
