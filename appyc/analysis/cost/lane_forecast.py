"""Vectorisation forecast: the loop of a nest that the C back end will vectorise, for estimates of cost.

The decision itself is made by `choose_forms`, on the same grounds: the loop is parallel, has no early
exit, and its accesses have small strides.
"""

from __future__ import annotations

from appyc.analysis.algebra.strides import Pace, Strides
from appyc.ir import nodes as ir
from appyc.ir.array_accesses import array_of, is_access
from appyc.ir.visit import loops_of, scalars_read, scalars_written, walk

MAX_STATEMENTS = 12
"""The most statements in lanes around other loops: more of them need more registers than there are."""


class LaneForecast:
    """The forecast for the loops of one nest, each of which is looked at once."""

    def __init__(self, strides: Strides) -> None:
        self.strides = strides
        self._judged: dict[ir.Symbol, tuple[int | None, bool]] = {}

    def lanes_of(self, around: tuple[ir.For, ...]) -> ir.For | None:
        """The loop, of those around an innermost statement, that becomes lanes; None where none does."""
        best: tuple[int, ir.For] | None = None
        for loop in reversed(around):  # inner ones first: they win where they are as good
            far, may_be_around = self._judge(loop)
            if far is None or (loop is not around[-1] and not may_be_around):
                continue
            if best is None or far < best[0]:
                best = (far, loop)
        return None if best is None else best[1]

    def _judge(self, loop: ir.For) -> tuple[int | None, bool]:
        """How many accesses of a loop have no small stride, None where it cannot become lanes; whether it can around
        others."""
        if loop.var not in self._judged:
            is_possible = loop.mode is not ir.LoopMode.SEQUENTIAL and _is_straight(loop)
            far = _far_accesses(loop, self.strides) if is_possible else None
            self._judged[loop.var] = far, far == 0 and _may_be_around(loop)
        return self._judged[loop.var]


def _is_straight(loop: ir.For) -> bool:
    for node in walk(loop.body):
        if isinstance(node, ir.While | ir.Alloc | ir.Fail | ir.BoundsCheck | ir.Break | ir.Draw | ir.Call):
            return False
        if (isinstance(node, ir.Update) and node.atomic) or (is_access(node) and node.checked):
            return False
    return not any(r.op in ("and", "or") for r in loop.reductions)  # C compilers leave these alone


def _may_be_around(loop: ir.For) -> bool:
    """Whether the loop may become lanes around the loops inside it."""
    if loop.step != 1 or loop.last or loop.safelen is not None or loop.in_step:
        return False
    if any(r.op != "+" or r.symbol.is_array for r in loop.reductions):
        return False
    nodes = list(walk(loop.body))
    written = {n.array for n in nodes if isinstance(n, ir.Store)} | scalars_written(loop.body)
    written |= {n.target for n in nodes if isinstance(n, ir.Update)}
    return (
        len({s.dtype for s in written}) == 1
        and all(s.dtype.is_float for s in written)
        and sum(isinstance(n, ir.Stmt) for n in nodes) <= MAX_STATEMENTS
        and loop.var not in scalars_read([bound for inner in loops_of(loop.body) for bound in inner.bounds])
    )


def _far_accesses(loop: ir.For, strides: Strides) -> int:
    return sum(
        strides.pace(array_of(node), node.index, loop) in (Pace.FAR, Pace.ANYWHERE)
        for node in walk(loop.body)
        if is_access(node) and not isinstance(node, ir.Store)
    )
