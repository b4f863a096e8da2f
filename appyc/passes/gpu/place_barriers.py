"""Barriers between stores and loads of different threads of a program.

    tmp[j] = …                          tmp[j] = …
    out[j] = tmp[j] + tmp[j + 1]   ->   barrier
                                        out[j] = tmp[j] + tmp[j + 1]

Threads do not run in lockstep, so every flow, anti and output dependence through an array needs a
barrier between the two accesses, also if it is loop-carried. That includes lanes which access only their
own elements, as the mapping of lanes to threads differs between accesses. Within one statement no
barrier is needed: values flow from its loads to its store.

Different arrays do not overlap, nor do elements that all lanes find a constant distance apart along an axis: `b[i, j]`
and `b[i + 1, j]` for a j of each lane.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TypeAlias

from appyc.ir.affine import excess
from appyc.ir.array_accesses import accesses_in
from appyc.ir.gpu_program import Barrier, Branch, Loop, Repeat, ScheduledStmt
from appyc.ir.kernel_scalars import head_of, targets_of
from appyc.ir.nodes import Expr, Symbol
from appyc.ir.types import DType
from appyc.ir.visit import scalars_read

Access: TypeAlias = tuple[Symbol, tuple[Expr, ...] | None, bool]
"""An array, the subscripts of an element (None: any), and whether that is written."""

Pending: TypeAlias = frozenset[Access]
"""The accesses since the last barrier."""


def place_barriers(
    body: tuple[ScheduledStmt, ...], lane_scalars: Collection[Symbol]
) -> tuple[ScheduledStmt, ...]:
    """lane_scalars: those with one value a lane."""
    return _place(body, frozenset(), frozenset(lane_scalars))[0]


def _place(
    body: tuple[ScheduledStmt, ...], pending: Pending, varying: frozenset[Symbol]
) -> tuple[tuple[ScheduledStmt, ...], Pending]:
    out: list[ScheduledStmt] = []
    for stmt in body:
        own = frozenset(accesses_in(head_of(stmt)))
        if any(_conflict(one, other, varying) for one in pending for other in own):
            out.append(Barrier(loc=stmt.loc))
            pending = frozenset()
        pending = _after(pending | own, targets_of(stmt))
        match stmt:
            case Loop() | Repeat():
                around = pending | _anywhere(_place(stmt.body, pending, varying)[1])
                inner, after = _place(stmt.body, around, varying)
                out.append(replace(stmt, body=inner))
                pending |= _anywhere(after)
            case Branch(_, then, orelse):
                new_then, after_then = _place(then, pending, varying)
                new_else, after_else = _place(orelse, pending, varying)
                out.append(replace(stmt, then=new_then, orelse=new_else))
                pending = after_then | after_else
            case _:
                out.append(stmt)
    return tuple(out), pending


def _conflict(one: Access, other: Access, varying: frozenset[Symbol]) -> bool:
    (array, at, written), (same, there, also_written) = one, other
    if array != same or not (written or also_written):
        return False
    return (
        at is None or there is None or not any(_apart(*axis, varying) for axis in zip(at, there, strict=True))
    )


def _apart(one: Expr, other: Expr, varying: frozenset[Symbol]) -> bool:
    if one.dtype is not DType.INT64 or other.dtype is not DType.INT64:
        return False
    return bool(excess(one, other)) and not varying & scalars_read(one)


def _after(pending: Pending, changed: Iterable[Symbol]) -> Pending:
    """The accesses once some scalars have other values."""
    new = set(changed)
    if not new:
        return pending
    return frozenset(
        (array, None if at is None or new & scalars_read(at) else at, written)
        for array, at, written in pending
    )


def _anywhere(pending: Pending) -> Pending:
    """The accesses of a loop's body, in all of its iterations."""
    return frozenset((array, None, written) for array, _, written in pending)
