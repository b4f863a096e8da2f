"""Scalars with a single definition that reaches all their reads: no earlier value is ever read."""

from __future__ import annotations

from collections import Counter

from appyc.ir.blocks import blocks_of, without_blocks
from appyc.ir.nodes import Assign, For, Stmt, Symbol, Update, While
from appyc.ir.visit import scalar_reads, statements


def set_once(body: tuple[Stmt, ...]) -> set[Symbol]:
    """The scalars with a single definition in one iteration of a loop that carries none of them.

    In an inner loop the definition of its last iteration would reach a read ahead of the assignment, or outside
    of the block that holds the assignment: such scalars are left out.
    """
    counts = Counter(n.target for n in statements(body) if isinstance(n, Assign | Update))
    reads = Counter(scalar_reads(body))
    out: set[Symbol] = set()

    def look(block: tuple[Stmt, ...], *, repeated: bool) -> Counter[Symbol]:
        """Returns how often scalars are read in the block."""
        behind: Counter[Symbol] = Counter()
        for stmt in reversed(block):
            own = Counter(scalar_reads(without_blocks(stmt)))
            if (
                isinstance(stmt, Assign) and counts[stmt.target] == 1 and not own[stmt.target]
                and (not repeated or behind[stmt.target] == reads[stmt.target])
            ):  # fmt: skip
                out.add(stmt.target)
            for inner in blocks_of(stmt):
                own.update(look(inner, repeated=repeated or isinstance(stmt, For | While)))
            behind.update(own)
        return behind

    look(body, repeated=False)
    return out
