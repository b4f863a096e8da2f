"""Reductions over blocks, of scalars and of small arrays: what blocks begin with, and the tree that combines results.

block 0   block 1   ...   block 15
   └── 8 of them ──┘   └── 8 ──┘
            └────── total ──┘
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from appyc.analysis.accesses.scalar_flow import LoopScalars
from appyc.distributed.chunk_grids import Graph, Grid, Key, Task
from appyc.errors import Loc
from appyc.ir.array_accesses import AccessNode, array_of, is_access
from appyc.ir.nodes import Assign, Const, Expr, For, Load, Stmt, Symbol, Update
from appyc.ir.visit import scalars_read, walk
from appyc.passes.node_builders import identity, zero
from appyc.passes.parallelise.arg_reductions import Extreme, first_extremes

FAN_IN = 8
"""Results that one task combines."""


def _least(a: Any, b: Any) -> Any:
    """As Python's `min`, of each element."""
    return np.where(b < a, b, a) if isinstance(a, np.ndarray) else min(a, b)


def _greatest(a: Any, b: Any) -> Any:
    return np.where(b > a, b, a) if isinstance(a, np.ndarray) else max(a, b)


def _first_least(a: Sequence[Any], b: Sequence[Any]) -> Sequence[Any]:
    """The scalars of an arg-reduction: those of the first where the values are equal, or no order is between them."""
    return min(a, b, key=operator.itemgetter(0))


def _first_greatest(a: Sequence[Any], b: Sequence[Any]) -> Sequence[Any]:
    return max(a, b, key=operator.itemgetter(0))


_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "and": operator.and_, "or": operator.or_, "min": _least, "max": _greatest,
    "minimum": np.minimum, "maximum": np.maximum,
    "first min": _first_least, "first max": _first_greatest,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BlockReduction:
    """How blocks combine a scalar or an array. identity: what each of them begins with."""

    op: str
    identity: Const


def reductions_of(stmt: Stmt, flow: Mapping[Symbol, LoopScalars]) -> dict[Symbol, BlockReduction]:
    """The scalars that the iterations of a loop only combine into, by an operator that commutes."""
    if not isinstance(stmt, For):
        return {}
    return {
        r.symbol: BlockReduction(r.op, identity(r.op, r.symbol.dtype, stmt.loc))
        for r in flow[stmt.var].reductions
        if r.op in _COMBINE
    }


def extremes_of(nest: For, carried: Collection[Symbol]) -> list[Extreme]:
    """The arg-reductions of a nest whose scalars one block would else have of another."""
    return [e for e in first_extremes(nest) if {*e.symbols} <= {*carried}]


def block_starts(
    reductions: Mapping[Symbol, BlockReduction], extremes: Sequence[Extreme], loc: Loc
) -> list[Assign]:
    """What sets scalars before a block's iterations."""
    starts = [Assign(s, of.identity, loc=loc) for s, of in reductions.items()]
    for extreme in extremes:
        value, *others = extreme.symbols
        starts.append(Assign(value, identity(extreme.op, value.dtype, loc), loc=loc))
        starts += (Assign(s, zero(s.dtype, loc), loc=loc) for s in others)
    return starts


def arrays_reduced(loop: Stmt, arrays: Mapping[Symbol, Grid]) -> dict[Symbol, BlockReduction]:
    """The arrays that the iterations of a loop only combine into, by one operator that commutes, at elements that do
    not move with them: histograms, gradients. Each block has a copy, so they are no larger than a chunk of another."""
    if not isinstance(loop, For):
        return {}
    accesses: dict[Symbol, list[AccessNode]] = {}
    for node in walk(loop.body):
        if is_access(node) and array_of(node) in arrays:
            accesses.setdefault(array_of(node), []).append(node)
    out: dict[Symbol, BlockReduction] = {}
    for array, nodes in accesses.items():
        ops = {node.op if isinstance(node, Update) else "" for node in nodes}
        is_apart = all(any(moves(e, loop) for e in node.index) for node in nodes)
        most = max((arrays[a].largest_chunk for a in accesses if a != array), default=0)
        if len(ops) == 1 and ops <= _COMBINE.keys() and not is_apart and arrays[array].nbytes <= most:
            op = ops.pop()
            out[array] = BlockReduction(op, identity(op, array.dtype, loop.loc))
    return out


def moves(index: Expr, loop: For) -> bool:
    """Whether an index depends on a loop's variable, and not by way of an element of an array."""
    return loop.var in scalars_read(index) and not any(isinstance(n, Load) for n in walk(index))


def combined(op: str, blocks: list[Key], number: int | slice, start: object, graph: Graph) -> Key:
    """The task that has the total. number: of the scalar among a block's results, or of several. start: what it is
    before the loop: a number, a Task, or a list of numbers and keys."""
    level = [
        graph.add("partial", _combine, op, number, blocks[k : k + FAN_IN])
        for k in range(0, len(blocks), FAN_IN)
    ]
    while len(level) > FAN_IN:
        level = [
            graph.add("partial", _combine, op, None, level[k : k + FAN_IN])
            for k in range(0, len(level), FAN_IN)
        ]
    first = start.key if isinstance(start, Task) else start
    return graph.add("total", _combine, op, None, [first, *level])


def _combine(op: str, number: int | slice | None, parts: list[Any]) -> Any:
    return reduce(_COMBINE[op], parts if number is None else [part[number] for part in parts])
