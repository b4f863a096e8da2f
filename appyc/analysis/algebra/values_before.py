"""Bounds of integer scalars before each statement, by interval analysis."""

from __future__ import annotations

from appyc.analysis.algebra.integer_syntax import last_occurrences
from appyc.analysis.algebra.intervals import Box, Intervals, hull_of
from appyc.ir import nodes as ir
from appyc.ir.integers import limits
from appyc.ir.types import DType
from appyc.ir.visit import walk

_WORK, _ALWAYS = 10, 8_000
"""The limit on visits of nodes: _WORK for each node of a function, plus _ALWAYS."""


_LIMITS = sorted({limit for dtype in DType if dtype.is_integer for limit in limits(dtype)})
"""Widening stops at what an integer type holds."""


class ValuesBefore(Intervals):
    """before: by a statement's `id` the bounds of scalars before it; nothing of one that is never reached."""

    def __init__(self, fn: ir.Function) -> None:
        work = _WORK * sum(1 for _ in walk(fn.body)) + _ALWAYS
        super().__init__(last_occurrences(fn), _LIMITS, work)
        self.before: dict[int, Box] = {}
        self.block(fn.body, [{}])

    def statement(self, stmt: ir.Stmt, boxes: list[Box]) -> list[Box]:
        self.before[id(stmt)] = hull_of([self.before.get(id(stmt), boxes[0]), *boxes])
        return super().statement(stmt, boxes)
