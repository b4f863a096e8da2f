"""Strip-mining: a loop becomes a loop over strips of a constant number of iterations, and a loop in each strip.

    for i in range(lo, hi):                     for strip in range(lo, hi, 32):
        ...                          ->             for i in range(strip, min(strip + 32, hi)):
                                                        ...

The iterations keep their order: legal for any loop that runs to its end and whose bounds are loop-invariant, since the
loop in a strip evaluates its upper bound again.

`Strips` counts the strips of a range from 0, for policies that put several loops into a strip, each with a window of
its own (`cut`).

Does not handle: loops whose modes are chosen, since each of the two needs its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from appyc.errors import Loc
from appyc.ir.blocks import has_own
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Break, Expr, For, Function, If, LoopMode, Stmt, Symbol, Var
from appyc.ir.schedule import LoopSchedule
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, map_loops, scalars_written
from appyc.passes.node_builders import (
    counting,
    iteration,
    larger,
    scaled,
    shifted,
    smaller,
    trip_count,
    with_private,
)
from appyc.passes.parallelise.plain_loops import has_fixed_bounds


def why_not_strip_mine(loop: For) -> str | None:
    if not has_fixed_bounds(loop):
        return "its bounds change while it runs"
    if has_own(loop.body, Break):
        return "it may end early"
    return None if loop.mode is LoopMode.SEQUENTIAL else "its iterations have been mapped already"


def strip_mine(loop: For, size: int, names: NameSupply, name: str = "strip") -> For:
    """The loop over strips of `size` iterations, which has the clauses, around the loop in a strip."""
    strip = names.fresh(name, DType.INT64)
    first, span = Var(strip, loc=loop.loc), size * loop.step
    end = smaller(shifted(first, span), loop.hi) if span > 0 else larger(shifted(first, span), loop.hi)
    inner = replace(loop, lo=first, hi=end, clauses=None)
    return For(
        strip, loop.lo, loop.hi, span, (inner,),
        clauses=loop.clauses, private=loop.private, last=loop.last, reductions=loop.reductions, loc=loop.loc,
    )  # fmt: skip


def map_to_blocks(fn: Function, rule: Callable[[For], For | If | None]) -> Function:
    """The function with loops over blocks of iterations instead of those for which `rule` has one, inner ones first.

    A block costs what its iterations do; loops around own the scalars that it has. Of a conditional, the first loop is
    the one over blocks.
    """
    made: set[Symbol] = set()
    decided: dict[Symbol, LoopSchedule] = {}

    def blocks(loop: For) -> For | If:
        loop = with_private(loop, made)
        new = rule(loop)
        if new is None:
            return loop
        over = loops_of(new)[0]
        made.update(scalars_written(over.body) - scalars_written(loop.body))
        cost = fn.schedule[loop.var].cost
        decided[loop.var] = LoopSchedule()
        decided[over.var] = LoopSchedule(cost.of_blocks(over.step // loop.step) if cost is not None else None)
        return new

    out = map_loops(fn, blocks)
    return replace(out, schedule=fn.schedule.updated(decided)) if decided else out


@dataclass(frozen=True, slots=True)
class Strips:
    """The strips of a range of step 1, each of `size` iterations. number: the variable that counts them."""

    lo: Expr
    hi: Expr
    size: int
    number: Symbol
    loc: Loc

    @property
    def start(self) -> Expr:
        """The first iteration of the strip."""
        return iteration(self.lo, 1, scaled(Var(self.number, loc=self.loc), self.size))

    @property
    def end(self) -> Expr:
        """The iteration after the last of a full strip, which may be beyond the range."""
        return shifted(self.start, self.size)

    @property
    def count(self) -> Expr:
        return trip_count(self.lo, self.hi, self.size)

    def loop(self, body: Sequence[Stmt]) -> For:
        """The loop over all strips."""
        return counting(self.number, self.count, tuple(body), loc=self.loc)
