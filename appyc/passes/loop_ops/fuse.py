"""Fusion: two loops over the same range become one, each iteration of which runs both bodies.

    for i in range(n):                        for i in range(n):
        t[i] = x[i] * 2              ->           t[i] = x[i] * 2
    for j in range(n):                            y[i] = t[i] + 1
        y[j] = t[j] + 1

Legal where the iterations of the fused loop may run in any order: then no iteration of the second loop needs what
another iteration of the first does.

Does not handle: ranges that differ (`cut` and `Strips`, as in `shifted_fusion`); loops that carry dependences.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.dependences.free_loops import is_free
from appyc.analysis.dependences.fusion_legality import alone, joined_clauses
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.sets.allowance import Allowance
from appyc.ir.nodes import For, Var
from appyc.ir.visit import substitute
from appyc.passes.checks.check_parallel import rounds_differently


def why_not_fuse(first: For, second: For, trials: Allowance, *, exact: bool) -> str | None:
    """exact: sums of floats keep their order. trials: what the analysis may spend."""
    both = fuse(first, second)
    if not is_free(both, trials):
        return "an iteration of the second needs other iterations of the first"
    if exact and rounds_differently(Legality.of(alone(both), trials).judge(both)):
        return "with exact=True its sums keep their order"
    return None


def fuse(first: For, second: For) -> For:
    """The fused loop, with the variable of the first."""
    var = Var(first.var, loc=second.loc)
    body = substitute(second.body, {second.var: var})
    return replace(first, body=(*first.body, *body), clauses=joined_clauses(first, second))
