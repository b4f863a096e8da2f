"""Scalars that are set at one place, and whose value from before that nobody sees."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from appyc.ir.nodes import Assign, For, If, Stmt, Symbol, Update, While
from appyc.ir.visit import scalars_read, statements


def set_once(body: tuple[Stmt, ...]) -> set[Symbol]:
    """Such scalars of one iteration of a loop, which hands none on to the next.

    In a loop inside, the value from that loop's last iteration is seen by who reads it ahead of the place, or outside
    of the block that the place is in.
    """
    targets = [n.target for n in statements(body) if isinstance(n, Assign | Update)]
    counts = Counter(targets)
    out: set[Symbol] = set()

    def look(block: tuple[Stmt, ...], outside: set[Symbol], *, repeated: bool) -> None:
        """outside: what is read outside of the block."""
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
