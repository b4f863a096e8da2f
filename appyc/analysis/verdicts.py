"""What dependence analysis answers about one loop."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from appyc.errors import Loc, Note
from appyc.ir.nodes import Expr, Reduction, Scan, Symbol


class Verdict(Enum):
    """May the iterations of a loop run in any order?

    INDEPENDENT: yes. REDUCTION: yes, once what they combine into is combined in some order.
    SCAN: no, but all that goes from one to the next are scalars that a scan puts together.
    CARRIED: no, two iterations are in each other's way. CONDITIONAL: only for some values of
    the parameters. UNKNOWN: the source does not tell.
    """

    INDEPENDENT = "independent"
    REDUCTION = "reduction"
    SCAN = "scan"
    CARRIED = "carried"
    CONDITIONAL = "independent-if"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LoopVerdict:
    """The answer for one loop, named by its variable.

    reason: one sentence for `explain()`. notes: the places that the reason is about.
    hints: what the user could change. private, last, reductions: the scalars, as in `For`.
    arrays: arrays whose elements are combined into across iterations, with the operator; a
    loop with any is a REDUCTION that no generator may run in parallel as it stands.
    condition: for CONDITIONAL, on which values the iterations are independent. guard: the
    same as an expression over the function's parameters, where that can be tested at a call.
    distance: the smallest number of iterations between two that conflict, where it is known.
    scans: of a SCAN, what iterations hand on.
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

    @property
    def combined(self) -> tuple[Reduction | Scan, ...]:
        """The scalars that go from one iteration to another."""
        return (*self.reductions, *self.scans)

    @property
    def may_run_in_any_order(self) -> bool:
        """Whether the loop may become threads or lanes, with its private scalars and reductions."""
        return self.verdict is Verdict.INDEPENDENT or (self.verdict is Verdict.REDUCTION and not self.arrays)
