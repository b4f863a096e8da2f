"""Loops around others, for calls in which these have one iteration or none: arrays with an axis of length 1."""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.nodes import Const, For, Stmt
from appyc.ir.visit import substitute


def flat_counts(loop: For) -> tuple[tuple[For, int], ...]:
    """The loops right inside a loop, and how many iterations each has over an axis of length 1: none where it begins
    behind the first element."""
    inner = (stmt for stmt in loop.body if isinstance(stmt, For))
    return tuple((stmt, 0 if isinstance(stmt.lo, Const) and stmt.lo.value != 0 else 1) for stmt in inner)


def flattened(loop: For) -> For:
    """The loop with those iterations in place of the loops inside it."""
    counts, private = dict(flat_counts(loop)), list(loop.private)
    body: list[Stmt] = []
    for stmt in loop.body:
        if not isinstance(stmt, For):
            body.append(stmt)
        elif counts[stmt]:
            body += [substitute(part, {stmt.var: stmt.lo}) for part in stmt.body]
            private += stmt.private
    return replace(loop, body=tuple(body), private=tuple(dict.fromkeys(private)))
