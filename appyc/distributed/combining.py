"""Reductions over blocks, of scalars and of small arrays: what blocks begin with, and the tree that combines results.

block 0   block 1   ...   block 15
   └── 8 of them ──┘   └── 8 ──┘
            └────── total ──┘
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from appyc.analysis.accesses.access_boxes import WHOLE
from appyc.analysis.accesses.scalar_flow import LoopScalars
from appyc.analysis.patterns.early_exits import leaves_early
from appyc.distributed.chunk_grids import Graph, Grid, Key
from appyc.distributed.scattering import accesses_by_array, is_indirect
from appyc.ir.nodes import Const, Expr, For, Load, Stmt, Symbol, Update
from appyc.ir.raising import trapping_sums
from appyc.ir.visit import scalars_read, scalars_written, walk
from appyc.passes.node_builders import identity, zero
from appyc.passes.parallelise.arg_reductions import first_extremes

LAST = "last"

FAN_IN = 8
"""Results that one task combines."""


def _least(a: Any, b: Any) -> Any:
    """The elementwise minimum, with Python's `min` for scalars."""
    return np.where(b < a, b, a) if np.ndim(a) else min(a, b)


def _greatest(a: Any, b: Any) -> Any:
    return np.where(b > a, b, a) if np.ndim(a) else max(a, b)


Combine: TypeAlias = Callable[[Any, Any], Any]

COMMUTING: dict[str, Combine] = {
    "+": operator.add, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "and": operator.and_, "or": operator.or_, "min": _least, "max": _greatest,
    "minimum": np.minimum, "maximum": np.maximum,
}  # fmt: skip
_FIRST: dict[str, Combine] = {
    "first min": partial(min, key=operator.itemgetter(0)), "first max": partial(max, key=operator.itemgetter(0)),
}  # fmt: skip
"""The combination of two results of an arg-reduction: the first where values are equal or unordered."""


@dataclass(frozen=True, slots=True)
class Combination:
    """Scalars that blocks of a nest have of each other, or an array of which each block has a copy. op: combines what
    blocks make of them, each of which begins with `starts`; LAST where the last block says what they are, None where a
    block begins with what the one before left. wraps: in 64 bits, which Python's integers do not."""

    symbols: tuple[Symbol, ...]
    op: str | None = None
    starts: tuple[Const, ...] = ()
    wraps: bool = True

    @property
    def has_order(self) -> bool:
        """Whether the order of the blocks counts."""
        return self.op in (None, LAST) or len(self.symbols) > 1

    def totals(self, blocks: Sequence[Key], number: int, before: Sequence[Any], graph: Graph) -> list[Key]:
        """The tasks that have them after the nest. number: of the first among a block's results. before: what they are
        before the nest: numbers and keys."""
        count = len(self.symbols)
        at: int | slice | None = number if count == 1 else slice(number, number + count or None)
        level: Sequence[Key] = blocks
        while len(level) > FAN_IN:
            parts = (level[k : k + FAN_IN] for k in range(0, len(level), FAN_IN))
            level = [graph.add("partial", _combine, self.op, self.wraps, at, part) for part in parts]
            at = None
        first = before[0] if count == 1 else list(before)
        total = graph.add("total", _total, self.op, self.wraps, first, at, level)
        if count == 1:
            return [total]
        return [graph.add("scalar", operator.getitem, total, k) for k in range(count)]


def combinations_of(stmt: Stmt, flow: Mapping[Symbol, LoopScalars]) -> list[Combination]:
    """The scalars that blocks of a nest have of each other: those that one block takes of another, arg-reductions, and
    reductions by operators that commute."""
    if not isinstance(stmt, For):
        return [Combination((s,)) for s in sorted(scalars_written(stmt), key=lambda s: s.uid)]
    of, loc = flow[stmt.var], stmt.loc
    reductions = [r for r in of.reductions if r.op in COMMUTING]
    handed_on = [r.symbol for r in of.reductions if r not in reductions]
    handed_on += [*(c.symbol for c in of.carried), *(of.last if leaves_early(stmt) else ())]
    extremes = [e for e in first_extremes(stmt) if {*e.symbols} <= {*handed_on}]
    found = {s for e in extremes for s in e.symbols}
    out = [Combination((s,)) for s in handed_on if s not in found]
    out += [Combination((s,), LAST, (zero(s.dtype, loc),)) for s in of.last if s not in handed_on]
    for extreme in extremes:
        value, *others = extreme.symbols
        starts = (identity(extreme.op, value.dtype, loc), *(zero(s.dtype, loc) for s in others))
        out.append(Combination(extreme.symbols, f"first {extreme.op}" if others else extreme.op, starts))
    exact = trapping_sums(stmt)
    for r in reductions:
        start = identity(r.op, r.symbol.dtype, loc)
        out.append(Combination((r.symbol,), r.op, (start,), wraps=r.symbol not in exact))
    return out


def arrays_reduced(loop: Stmt, arrays: Mapping[Symbol, Grid]) -> dict[Symbol, Combination]:
    """The arrays that the iterations of a loop only combine into, by one operator that commutes, at elements that do
    not move with them: histograms, gradients. Each block has a copy, so they are no larger than a chunk of another,
    nor, where indices are known only when it runs, than what a block takes whole."""
    if not isinstance(loop, For):
        return {}
    accesses = accesses_by_array(loop.body, arrays)
    out: dict[Symbol, Combination] = {}
    computed = scalars_written(loop)
    for array, nodes in accesses.items():
        ops = {node.op if isinstance(node, Update) else "" for node in nodes}
        is_apart = all(any(moves(e, loop) for e in node.index) for node in nodes)
        most = max((arrays[a].largest_chunk for a in accesses if a != array), default=0)
        if any(is_indirect(node.index, computed) for node in nodes):
            most = min(most, WHOLE)
        if len(ops) == 1 and ops <= COMMUTING.keys() and not is_apart and arrays[array].nbytes <= most:
            op = ops.pop()
            out[array] = Combination((array,), op, (identity(op, array.dtype, loop.loc),))
    return out


def moves(index: Expr, loop: For) -> bool:
    """Whether an index depends on a loop's variable, and not by way of an element of an array."""
    return loop.var in scalars_read(index) and not any(isinstance(n, Load) for n in walk(index))


def _combine(op: str, wraps: bool, number: int | slice | None, parts: list[Any]) -> Any:
    first, *others = parts if number is None else [part[number] for part in parts]
    return running({**COMMUTING, **_FIRST}[op], first, others, wraps=wraps)[-1]


def _total(op: str, wraps: bool, before: Any, number: int | slice | None, parts: list[Any]) -> Any:
    return _combine(op, wraps, None, [before, *([_combine(op, wraps, number, parts)] if parts else [])])


def running(combine: Combine, first: Any, others: Iterable[Any], *, wraps: bool) -> list[Any]:
    """The running combination of values, from `first` on. wraps: integers wrap at 64 bits, as NumPy's do."""
    first = np.int64(first) if wraps and type(first) is int else first
    with np.errstate(over="ignore"):
        found = itertools.accumulate(others, combine, initial=first)
        return [value.item() if type(value) is np.int64 else value for value in found]
