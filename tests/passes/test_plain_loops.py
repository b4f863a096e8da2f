"""Plain loops: innermost, without exits, and with nothing that raises."""

from __future__ import annotations

import pytest

from appyc.ir.visit import loops_of
from appyc.passes.parallelise.plain_loops import has_fixed_bounds, is_plain
from tests.ir_makers import Program, add, assign, break_, compare, extent, for_, if_, load, store


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (lambda a, i, x: [if_(compare("<", x, 1.0), [store(a, [i], x, checked=False)])], True),
        (lambda a, i, x: [store(a, [i], x)], False),
        (lambda a, i, x: [assign(x, load(a, i))], False),
        (lambda a, i, x: [if_(compare("<", x, 1.0), [break_()])], False),
    ],
)
def test_what_may_raise_or_leave_is_not_plain(body, expected):
    p = Program()
    a, i, x = p.array("a", 1), p.index("i"), p.local("x")
    (loop,) = loops_of(p.function(for_(i, 0, extent(a, 0), body(a, i, x))))
    assert is_plain(loop) is expected


def test_a_bound_that_the_loop_assigns_or_that_is_an_element_is_not_fixed():
    p = Program()
    a, i, n = p.array("a", 1), p.index("i"), p.integer("n")
    assert has_fixed_bounds(for_(i, 0, n, []))
    assert not has_fixed_bounds(for_(i, 0, n, [assign(n, add(n, 1))]))
    assert not has_fixed_bounds(for_(i, 0, load(a, 0), []))
