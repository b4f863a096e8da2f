"""Verdicts of dependence analysis on one loop: independent, reduction, scan, carried, conditional or unknown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from appyc.errors import Loc, Note
from appyc.ir.nodes import Clauses, Expr, For, LoopMode, Reduction, Symbol
from appyc.ir.schedule import Scan


def loop_text(var: Symbol, clauses: Clauses | None) -> str:
    """The name of a loop in messages: "loop over 'i'", or by its slice where a pragma is on a statement about
    that slice, since the program has no name for the variable then."""
    return f"loop over '{clauses.over if clauses is not None and clauses.over else var.name}'"


def named(loop: For) -> str:
    """The name of a loop in remarks. A loop that comes from a statement about arrays has no name in the
    program."""
    if loop.implied and not (loop.clauses is not None and loop.clauses.over):
        return "the statement's loop"
    return loop_text(loop.var, loop.clauses)


def iteration_text(loop: For, number: object) -> str:
    """`iteration i=3`, and `iteration 3` of a loop over a slice."""
    has_name = loop.clauses is None or not loop.clauses.over
    return f"iteration {loop.var.name}={number}" if has_name else f"iteration {number}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a transformation of a loop could change its results. notes: the accesses or jumps that
    it is about."""

    reason: str
    notes: tuple[Note, ...] = ()


class Verdict(Enum):
    """May the iterations of a loop run in any order?

    INDEPENDENT: yes. REDUCTION: yes, once what they combine into is combined in some order.
    SCAN: no, but the only loop-carried values are scalars that a scan combines.
    CARRIED: no, the loop carries a dependence. CONDITIONAL: only for some values of
    the parameters. UNKNOWN: the source does not decide it.
    """

    INDEPENDENT = "independent"
    REDUCTION = "reduction"
    SCAN = "scan"
    CARRIED = "carried"
    CONDITIONAL = "independent-if"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LoopVerdict:
    """The verdict on one loop, named by its variable.

    reason: one sentence for `explain()`. notes: the source locations that the reason is about.
    hints: what the user could change. private, last, reductions: the scalars, as in `For`.
    arrays: arrays whose elements are combined into across iterations, with the operator; such a
    loop may be threads, not lanes, and only if each thread has a copy of them. only_combined:
    the loop does nothing else with these arrays, so that copies will do. atomic: the same of
    arrays that are only updated atomically, which is legal on threads, but copies may be faster.
    condition: for CONDITIONAL, on which values the iterations are independent. guard: the
    same as an expression over the function's parameters, where that can be tested at a call.
    distance: the least dependence distance in iterations, where it is known.
    scans: of a SCAN, its loop-carried scalars.
    """

    var: Symbol
    loc: Loc
    verdict: Verdict
    reason: str
    notes: tuple[Note, ...] = ()
    hints: tuple[str, ...] = ()
    private: tuple[Symbol, ...] = ()
    last: tuple[Symbol, ...] = ()
    reductions: tuple[Reduction, ...] = ()
    arrays: tuple[tuple[str, Symbol], ...] = ()
    condition: str | None = None
    distance: int | None = None
    guard: Expr | None = None
    scans: tuple[Scan, ...] = ()
    only_combined: bool = False
    atomic: tuple[tuple[str, Symbol], ...] = ()

    def applied(self, loop: For, mode: LoopMode, reductions: tuple[Reduction, ...]) -> For:
        """The loop in a mode, with its private scalars and with what it combines into."""
        return replace(loop, mode=mode, private=self.private, last=self.last, reductions=reductions)

    @property
    def combined(self) -> tuple[Reduction | Scan, ...]:
        """The reductions and scans of the loop, of scalars and of array elements."""
        return (*self.all_reductions, *self.scans)

    @property
    def may_run_in_any_order(self) -> bool:
        """Whether the loop may run on threads or in lanes, with its private scalars and reductions."""
        return self.verdict is Verdict.INDEPENDENT or (self.verdict is Verdict.REDUCTION and not self.arrays)

    @property
    def may_run_on_threads(self) -> bool:
        """Whether the loop may run on threads, which may have private copies of the arrays they reduce into."""
        return self.may_run_in_any_order or (self.verdict is Verdict.REDUCTION and self.only_combined)

    @property
    def all_reductions(self) -> tuple[Reduction, ...]:
        """The scalars and the arrays that iterations combine into."""
        return (*self.reductions, *(Reduction(op, array) for op, array in (*self.arrays, *self.atomic)))
