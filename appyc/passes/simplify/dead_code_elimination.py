"""Removes dead scalars, and loops and branches that are empty.

    n = C.shape[0]                   for i in range(0, C.shape[0]):
    for i in range(0, C.shape[0]):       C[i] = 1.0
        C[i] = 1.0             ->
        t = i

A loop that assigns a scalar which is never read would otherwise keep its last value, and
carry it from iteration to iteration.

Requires: nothing. An expression that can raise (a checked access, a division that traps) is
kept, and with it its statement: the program raises where Python would.

Does not handle: scalars that are read only before they are assigned again; stores to arrays.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from functools import partial

from appyc.ir.blocks import map_blocks
from appyc.ir.nodes import Assign, Const, For, Function, If, Stmt, Symbol, Update, Var
from appyc.ir.raising import may_raise
from appyc.ir.visit import walk
from appyc.passes.pass_context import PassContext


def dead_code_elimination(fn: Function, ctx: PassContext) -> Function:
    """The function without assignments to scalars that are never read."""
    while True:
        read = {n.symbol for n in walk(fn) if isinstance(n, Var)}  # an update uses its scalar only for itself
        body = _block(fn.body, read)
        if body == fn.body:
            return fn
        fn = replace(fn, body=body)


def _block(body: tuple[Stmt, ...], read: Set[Symbol]) -> tuple[Stmt, ...]:
    inner = partial(_block, read=read)
    return tuple(new for stmt in body for new in _without(map_blocks(stmt, inner), read))


def _without(stmt: Stmt, read: Set[Symbol]) -> tuple[Stmt, ...]:
    match stmt:
        case Assign(target=target, value=value) if target not in read and not may_raise(value):
            return ()
        case Update(target=target, value=value) if not target.is_array and target not in read:
            return () if not may_raise(value) else (stmt,)
        case If(cond=cond, then=(), orelse=()) if not may_raise(cond):
            return ()
        case If(cond=Const(value=value), then=then, orelse=orelse):
            return then if value else orelse
        case For(lo=lo, hi=hi, body=()) if not may_raise((lo, hi)):
            return ()
        case _:
            return (stmt,)
