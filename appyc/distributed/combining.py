"""Scalar reductions over blocks: what each block begins with, and the tree of tasks that combines their results.

block 0   block 1   ...   block 15
   └── 8 of them ──┘   └── 8 ──┘
            └────── total ──┘
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from appyc.analysis.accesses.scalar_flow import LoopScalars
from appyc.distributed.chunk_grids import Graph, Key, Task
from appyc.ir.nodes import Const, For, Stmt, Symbol
from appyc.passes.node_builders import identity

FAN_IN = 8
"""Results that one task combines."""

_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "and": operator.and_, "or": operator.or_, "min": min, "max": max,
    "minimum": np.minimum, "maximum": np.maximum,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BlockReduction:
    """How blocks combine a scalar. identity: what each of them begins with."""

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


def combined(op: str, blocks: list[Key], number: int, start: object, graph: Graph) -> Key:
    """The task that has the total. number: of the scalar among a block's results. start: what it is before the loop, a
    number or a Task."""
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


def _combine(op: str, number: int | None, parts: list[Any]) -> Any:
    return reduce(_COMBINE[op], parts if number is None else [part[number] for part in parts])
