"""The cost model of a whole function: its outer loops with their costs, for a forecast before the call.

    for t in range(steps):              runs = steps, trips = n, parallel
        for i in range(n): ...
    for k in range(m): ...              runs = 1, trips = m, in order

A loop in order that holds parallel ones is a repetition of these; what else it holds is taken to be
nothing beside them. Does not see: what stands outside of loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from appyc.analysis.algebra.amounts import number, product
from appyc.analysis.cost.costs import UNKNOWN_TRIPS, cost_of, trips_of, with_middle
from appyc.ir.blocks import blocks_of
from appyc.ir.nodes import Expr, For, Function, LoopMode, Stmt, Symbol, While
from appyc.ir.schedule import LoopCost
from appyc.ir.visit import loops_of


@dataclass(frozen=True, slots=True)
class CostPart:
    """A loop that is shared as a whole, or that one thread runs.

    runs: how often it is executed. trips: its iterations, each at `cost`. width: iterations that
    may run at the same time, with those of loops right inside it; 1 for a loop in order.
    """

    loop: For
    runs: Expr
    trips: Expr
    width: Expr
    cost: LoopCost

    @property
    def is_parallel(self) -> bool:
        return self.loop.mode is LoopMode.PARALLEL


def parts_of(fn: Function) -> tuple[CostPart, ...]:
    """The loops of a function whose loops have their modes, in program order."""
    return tuple(_parts(fn.body, number(1), {}))


def _parts(body: tuple[Stmt, ...], runs: Expr, around: Mapping[Symbol, Expr]) -> list[CostPart]:
    """around: the loops around, their variables in the middle of their ranges."""
    out: list[CostPart] = []
    for stmt in body:
        match stmt:
            case For() if stmt.mode is not LoopMode.PARALLEL and any(
                n.mode is LoopMode.PARALLEL for n in loops_of(stmt.body)
            ):
                again = product(runs, trips_of(stmt, around))
                out += _parts(stmt.body, again, with_middle(stmt, around))
            case For():
                out.append(_part(stmt, runs, around))
            case While():
                out += _parts(stmt.body, product(runs, number(UNKNOWN_TRIPS)), around)
            case _:
                for block in blocks_of(stmt):
                    out += _parts(block, runs, around)
    return out


def _part(loop: For, runs: Expr, around: Mapping[Symbol, Expr]) -> CostPart:
    trips = trips_of(loop, around)
    width = trips if loop.mode is LoopMode.PARALLEL else number(1)
    known = with_middle(loop, around)
    inner = loop
    while loop.mode is LoopMode.PARALLEL and len(inner.body) == 1 and isinstance(inner.body[0], For):
        inner = inner.body[0]
        if inner.mode is LoopMode.SEQUENTIAL:
            break
        width = product(width, trips_of(inner, known))
        known = with_middle(inner, known)
    return CostPart(loop, runs, trips, width, cost_of(loop, around))
