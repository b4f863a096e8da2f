"""Bounds of integers: the operations of the interval domain."""

from __future__ import annotations

from appyc.analysis.algebra.integer_bounds import joined, widened
from tests.ir_makers import Program


def test_widening_ends_where_bounds_rotate_between_scalars():
    p = Program()
    names = [p.integer(name) for name in ("old", "now", "new")]
    carried = set(names)
    head = entry = {s: (k, k) for k, s in enumerate(names)}
    for rounds in range(1, 12):
        back = joined(
            entry, dict(zip(names, [head.get(s) for s in (*names[1:], names[0])], strict=True)), carried
        )
        if all(back.get(s) == head.get(s) for s in names):
            return
        head = widened(head, back, carried, rounds)
    raise AssertionError("bounds still change")
