"""Scalars with a single definition that reaches all their reads: no earlier value is ever read."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from appyc.ir.nodes import Assign, For, If, Stmt, Symbol, Update, While
from appyc.ir.visit import scalars_read, statements


def set_once(body: tuple[Stmt, ...]) -> set[Symbol]:
    """The scalars with a single definition in one iteration of a loop that carries none of them.

    In an inner loop the definition of its last iteration would reach a read ahead of the assignment, or outside
    of the block that holds the assignment: such scalars are left out.
    """
    targets = [n.target for n in statements(body) if isinstance(n, Assign | Update)]
    counts = Counter(targets)
    out: set[Symbol] = set()

    def look(block: tuple[Stmt, ...], outside: set[Symbol], *, repeated: bool) -> None:
        """outside: the scalars that are read outside of the block."""
        reads = [scalars_read(stmt) for stmt in block]
        for at, stmt in enumerate(block):
            if isinstance(stmt, Assign):
                ahead = outside.union(*reads[:at]) if repeated else set()
                if counts[stmt.target] == 1 and stmt.target not in ahead | reads[at]:
                    out.add(stmt.target)
                continue
            others = outside.union(*reads[:at], *reads[at + 1 :])
            match stmt:
                case For() | While():
                    look(stmt.body, others | scalars_read(replace(stmt, body=())), repeated=True)
                case If(then=then, orelse=orelse):
                    look(then, others | scalars_read(replace(stmt, then=())), repeated=repeated)
                    look(orelse, others | scalars_read(replace(stmt, orelse=())), repeated=repeated)

    look(body, set(), repeated=False)
    return out
