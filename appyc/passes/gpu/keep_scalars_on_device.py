"""Scalars that only kernels read stay on the device: a kernel loads the cell that an earlier one has left.

    launch(kernel_1_acc, 1, acc_shares, cell)         launch(kernel_1_acc, 1, acc_shares, cell)
    acc = read(cell)                                  launch(kernel_2, blocks, a, cell)
    norm = sqrt(acc)                           ->         acc = cell[0]
    launch(kernel_2, blocks, a, norm)                     norm = sqrt(acc)
                                                          ...

A copy to the host waits for all kernels before it. Without one the host runs ahead, and launches may be recorded.
Each program computes what the host did with the scalar, once.

Requires: each cell is written by one kernel, right before it is read. Does not handle: scalars that the host needs
itself, for a condition or a number of programs; what one iteration of a host loop hands to the next.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from appyc.ir.gpu_program import Branch, Launch, Loop, ReadBack, Recorded, Repeat, ScheduledStmt
from appyc.ir.kernel_scalars import bodies_of, free_scalars, head_of, scalars_set
from appyc.ir.nodes import Assign, Draw, Load, Symbol
from appyc.ir.raising import may_raise
from appyc.ir.visit import contains, scalars_read
from appyc.passes.node_builders import integer


def keep_scalars_on_device(block: list[ScheduledStmt], local: Collection[Symbol]) -> list[ScheduledStmt]:
    """A block of the host. local: the scalars that are read only in it, each time after it has set them."""
    out: list[ScheduledStmt] = []
    rest = block
    while rest:
        stmt, rest = rest[0], rest[1:]
        moved = None
        if isinstance(stmt, ReadBack) and stmt.target in local:
            cell = Load(stmt.cell, (integer(0, stmt.loc),), checked=False, loc=stmt.loc)
            moved = _into_kernels(Assign(stmt.target, cell, loc=stmt.loc), rest, local)
        if moved is None:
            out.append(stmt)
        else:
            rest = moved
    return out


def _into_kernels(
    made: Assign, rest: list[ScheduledStmt], local: Collection[Symbol]
) -> list[ScheduledStmt] | None:
    """The statements after an assignment to a scalar, with the assignment moved into the kernels that read
    the scalar; None where other statements read it."""
    out: list[ScheduledStmt] = []
    needed = {made.target, *scalars_read(made.value)}
    while rest:
        stmt, rest = rest[0], rest[1:]
        if isinstance(stmt, Assign) and made.target in scalars_read(stmt.value):
            moved = _into_kernels(stmt, rest, local) if _may_move(stmt, local) else None
            if moved is None:
                return None
            rest = moved
            continue
        received = _received(made, stmt)
        if received is None:
            return None
        out.append(received)
        written = scalars_set((stmt,)).keys()
        if made.target in written and isinstance(stmt, Assign | ReadBack):
            return out + rest
        if written & needed:
            return None
    return out


def _may_move(stmt: Assign, local: Collection[Symbol]) -> bool:
    drawn = contains(stmt.value, Draw)
    return stmt.target in local and not drawn and not may_raise(stmt)


def _received(made: Assign, stmt: ScheduledStmt) -> ScheduledStmt | None:
    """A statement whose kernels make the assignment where they read the scalar; None where the host reads it."""
    match stmt:
        case Launch(kernel, programs) if made.target not in scalars_read(programs):
            if made.target not in free_scalars(kernel.body) or made.target in kernel.lane_scalars:
                return stmt
            return replace(stmt, kernel=replace(kernel, body=(made, *kernel.body)))
        case Branch() | Loop() | Repeat() | Recorded():
            bodies = {name: tuple(_received(made, s) for s in body) for name, body in bodies_of(stmt).items()}
            if made.target in scalars_read(head_of(stmt)) or any(None in body for body in bodies.values()):
                return None
            return replace(stmt, **bodies)  # type: ignore[arg-type]
        case _:
            return None if made.target in free_scalars((stmt,)) else stmt
