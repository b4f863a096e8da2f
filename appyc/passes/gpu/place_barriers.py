"""Barriers between stores and loads of different threads of a program.

    tmp[j] = …                          tmp[j] = …
    out[j] = tmp[j] + tmp[j + 1]   ->   barrier
                                        out[j] = tmp[j] + tmp[j + 1]

Threads do not run in lockstep, so every flow, anti and output dependence through an array needs a
barrier between the two accesses, also if it is loop-carried. That includes lanes which access only their
own elements, as the mapping of lanes to threads differs between accesses. Within one statement no
barrier is needed: values flow from its loads to its store.

Different arrays do not overlap; subscripts are not analysed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from appyc.ir.gpu_program import Barrier, Branch, Loop, Repeat, ScheduledStmt
from appyc.ir.nodes import Node, Symbol
from appyc.ir.visit import arrays_read, arrays_written


@dataclass(frozen=True, slots=True)
class Pending:
    """The arrays touched since the last barrier."""

    read: frozenset[Symbol] = frozenset()
    written: frozenset[Symbol] = frozenset()

    def __or__(self, other: Pending) -> Pending:
        return Pending(self.read | other.read, self.written | other.written)

    def conflicts(self, later: Pending) -> bool:
        return bool((self.written & (later.read | later.written)) or (self.read & later.written))


def place_barriers(body: tuple[ScheduledStmt, ...]) -> tuple[ScheduledStmt, ...]:
    return _place(body, Pending())[0]


def _place(body: tuple[ScheduledStmt, ...], pending: Pending) -> tuple[tuple[ScheduledStmt, ...], Pending]:
    out: list[ScheduledStmt] = []
    for stmt in body:
        own = _touched(_head(stmt))
        if pending.conflicts(own):
            out.append(Barrier(loc=stmt.loc))
            pending = Pending()
        pending |= own
        match stmt:
            case Loop() | Repeat():
                around = pending | _place(stmt.body, pending)[1]
                inner, after = _place(stmt.body, around)
                out.append(replace(stmt, body=inner))
                pending |= after
            case Branch(_, then, orelse):
                new_then, after_then = _place(then, pending)
                new_else, after_else = _place(orelse, pending)
                out.append(replace(stmt, then=new_then, orelse=new_else))
                pending = after_then | after_else
            case _:
                out.append(stmt)
    return tuple(out), pending


def _head(stmt: ScheduledStmt) -> tuple[Node, ...]:
    """What a statement evaluates itself, before its body."""
    match stmt:
        case Loop(_, lo, hi):
            return (lo, hi)
        case Repeat(cond) | Branch(cond):
            return (cond,)
        case _:
            return (stmt,)


def _touched(nodes: Iterable[Node]) -> Pending:
    nodes = tuple(nodes)
    return Pending(frozenset(arrays_read(nodes)), frozenset(arrays_written(nodes)))
