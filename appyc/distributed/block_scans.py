"""Scans over blocks in two passes, where the analysis of loops knows how the steps of a block compose.

    for i in range(n):        the total of each block:    for i in block: total += a[i]
        s += a[i]             what each begins with:      s, s + total of 0, s + total of 0 + total of 1, ...
        b[i] = s              each block from there:      for i in block: s += a[i]; b[i] = s

The totals wait for nothing, one small task makes what the blocks begin with, and then no block waits for another.

Of a linear recurrence a block has two totals: the product of its factors, and what it makes of 0. Of floats, factors
may not be larger than 1, which would let rounding errors grow, and a product that would vanish is kept with a power of
2: what becomes of an infinity or of a huge number depends on it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.patterns.compaction_pattern import packed_arrays
from appyc.analysis.patterns.scans import LINEAR
from appyc.distributed.combining import COMMUTING, running
from appyc.ir import nodes as ir
from appyc.ir.names import NameSupply
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, rewrite_all, scalars_read, scalars_written, walk
from appyc.passes.node_builders import integer
from appyc.passes.parallelise.scan_composition import Totals

SMALL = {DType.FLOAT64: 2.0**-500, DType.FLOAT32: 2.0**-60}
"""Two factors that are no smaller have a normal number as their product."""


@dataclass(frozen=True, slots=True)
class BlockScans:
    """The scans of a loop. reason: what they are, in words. body: computes the totals of a block, which are the scalars
    `results`. parts: of each scan the operator, and which of them are its own: a total; of a linear recurrence what it
    makes of 0 and the product of factors; of one of floats also how often that was multiplied by 1 / SMALL.
    guards: under these, no index leaves its array or counts from its end, as the analysis assumes. factors: those of
    floats, which must be from SMALL to 1."""

    reason: str
    body: tuple[ir.Stmt, ...]
    results: tuple[ir.Symbol, ...]
    parts: dict[ir.Symbol, tuple[str, tuple[int, ...]]]
    guards: tuple[ir.Guard, ...]
    factors: tuple[ir.Expr, ...]


def block_scans(
    legality: Legality, inside: ir.Function, loop: ir.For, handed_on: Collection[ir.Symbol], names: NameSupply
) -> BlockScans | None:
    """The scans that a loop's blocks can make in two passes; None where they hand on anything else, or where factors
    of floats change with the iterations. inside: the function with the guards under which no index leaves its array."""
    if loop.request not in (None, "parallel"):
        return None
    verdict = legality.judge(next(n for n in loops_of(inside.body) if n.var == loop.var))
    if scalars_written(inside.body) & {s for guard in inside.guards for s in scalars_read(guard.holds)}:
        return None  # the guards are about the values that parameters had at the call
    if {scan.symbol for scan in verdict.scans} != {*handed_on} or packed_arrays(loop, verdict.scans):
        return None
    totals = Totals(replace(loop, scans=verdict.scans), names)
    times = {t.factor: names.fresh("times", DType.INT64) for t in totals.guarded if t.factor is not None}
    if (
        totals.largest is not None
        or any(isinstance(n, ir.Load) for factor in totals.fixed for n in walk(factor))
        or any(t.scan.op not in (*COMMUTING, LINEAR) for t in totals.totals)
        or any(factor.dtype not in SMALL for factor in (*times, *totals.fixed))
    ):
        return None
    results, parts = list[ir.Symbol](), dict[ir.Symbol, tuple[str, tuple[int, ...]]]()
    for t in totals.totals:
        own = [s for s in (t.value, t.factor, times.get(t.factor or t.value)) if s is not None]
        parts[t.scan.symbol] = t.scan.op, tuple(range(len(results), len(results) + len(own)))
        results += own
    none = (ir.Assign(s, integer(0, loop.loc), loc=loop.loc) for s in times.values())
    body: tuple[ir.Stmt, ...] = (
        *totals.first(),
        *none,
        replace(totals.loop(), body=_scaled(totals.loop().body, times)),
    )
    return BlockScans(verdict.reason, body, tuple(results), parts, inside.guards, tuple(totals.fixed))


def _scaled(body: tuple[ir.Stmt, ...], times: Mapping[ir.Symbol, ir.Symbol]) -> tuple[ir.Stmt, ...]:
    """A product that has become small is multiplied by a power of 2, and how often that was is counted."""

    def rule(node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
        if not isinstance(node, ir.Assign) or node.target not in times:
            return node
        product, loc = ir.Var(node.target, loc=node.loc), node.loc
        small = ir.Const(SMALL[node.target.dtype], node.target.dtype, loc=loc)
        larger = ir.Assign(node.target, ir.Binary("/", product, small, loc=loc), loc=loc)
        counted = ir.Update(times[node.target], (), "+", integer(1, loc), loc=loc)
        is_small = ir.Compare("<", ir.Intrinsic("abs", (product,), product.dtype, loc=loc), small, loc=loc)
        return node, ir.If(is_small, (larger, counted), loc=loc)

    return rewrite_all(body, rule)


def starts(op: str, numbers: Sequence[int], before: Any, blocks: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The values of a scalar at each block's start, and behind the last. blocks: the results of the first pass."""
    of_each = [[block[number] for number in numbers] for block in blocks]
    if op == LINEAR:
        return running(lambda s, totals: _grown(s, *totals), before, of_each, wraps=True)
    return running(COMMUTING[op], before, (total for (total,) in of_each), wraps=True)


def _grown(s: Any, of_zero: Any, factor: Any, times: int = 0) -> Any:
    """The value of a linear recurrence behind a block that begins with `s`."""
    grown = factor * s
    small = SMALL[DType.FLOAT32 if isinstance(s, np.float32) else DType.FLOAT64]
    while times and grown != 0 and np.isfinite(grown):
        grown, times = grown * small, times - 1
    return grown + of_zero
