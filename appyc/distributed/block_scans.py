"""Scans over blocks in two passes, where the analysis of loops knows how the steps of a block compose.

    for i in range(n):        the total of each block:    for i in block: total += a[i]
        s += a[i]             what each begins with:      s, s + total of 0, s + total of 0 + total of 1, ...
        b[i] = s              each block from there:      for i in block: s += a[i]; b[i] = s

The totals wait for nothing, one small task makes what the blocks begin with, and then no block waits for another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.patterns.compaction_pattern import packed_arrays
from appyc.analysis.patterns.scans import LINEAR
from appyc.analysis.sets.evaluate import evaluate
from appyc.distributed.combining import COMMUTING, running
from appyc.ir.names import NameSupply
from appyc.ir.nodes import For, Function, Guard, Stmt, Symbol
from appyc.ir.visit import loops_of, scalars_read, scalars_written
from appyc.options import Options
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.parallelise.scan_composition import Totals
from appyc.passes.pass_context import PassContext


@dataclass(frozen=True, slots=True)
class BlockScans:
    """The scans of a loop. reason: what they are, in words. body: computes the totals of a block, which are the scalars
    `results`. parts: of each scan the operator, and the numbers of its total, or of its total and its factor.
    guards: under these, no index leaves its array or counts from its end, as the analysis assumes."""

    reason: str
    body: tuple[Stmt, ...]
    results: tuple[Symbol, ...]
    parts: dict[Symbol, tuple[str, tuple[int, ...]]]
    guards: tuple[Guard, ...]

    def hold(self, values: Mapping[Symbol, Any]) -> bool:
        """Whether the guards hold."""
        try:
            return all(evaluate(guard.holds, values) for guard in self.guards)
        except LookupError:
            return False


def block_scans(
    fn: Function, loop: For, handed_on: Collection[Symbol], names: NameSupply
) -> BlockScans | None:
    """The scans that a loop's blocks can make in two passes; None where they hand on anything else, or where products
    of factors might lose what a start of infinity or of great size would show."""
    if loop.clauses is not None and loop.clauses.request != "parallel":
        return None
    inside = check_bounds(fn, PassContext(Options()))
    verdict = Legality.of(inside).judge(next(n for n in loops_of(inside.body) if n.var == loop.var))
    if scalars_written(fn.body) & {s for guard in inside.guards for s in scalars_read(guard.holds)}:
        return None  # the guards are about the values that parameters had at the call
    if {scan.symbol for scan in verdict.scans} != {*handed_on} or packed_arrays(loop, verdict.scans):
        return None
    totals = Totals(replace(loop, scans=verdict.scans), names)
    if totals.guarded or any(t.scan.op not in (*COMMUTING, LINEAR) for t in totals.totals):
        return None
    results = [s for t in totals.totals for s in (t.value, t.factor) if s is not None]
    parts = {
        t.scan.symbol: (t.scan.op, tuple(results.index(s) for s in (t.value, t.factor) if s is not None))
        for t in totals.totals
    }
    return BlockScans(verdict.reason, (*totals.first(), totals.loop()), tuple(results), parts, inside.guards)


def starts(op: str, numbers: Sequence[int], before: Any, blocks: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What a scalar holds where each block begins, and behind the last. blocks: what the first pass makes of each."""
    if op == LINEAR:
        value, factor = numbers
        return running(lambda s, block: block[factor] * s + block[value], before, blocks)
    (number,) = numbers
    return running(COMMUTING[op], before, (block[number] for block in blocks))
