"""Launches of one program that follow one another are one launch.

    launch(kernel_1_acc, 1, acc_shares, cell)             launch(kernel_1_acc, 1, acc_shares, cell, a)
        cell[0] = ...                                         cell[0] = ...
    launch(kernel_2, 1, cell, a)                   ->         barrier
        acc = cell[0]                                         acc = cell[0]
        a[k] = sqrt(acc)                                      a[k] = sqrt(acc)

What combines the shares of a sum is such a kernel, and so is what uses the sum in statements outside of loops.

Requires: barriers are in the kernels. Does not handle: kernels of several programs, which would have to wait for each
other; kernels with strips of different length.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.gpu_program import Barrier, Kernel, Launch, ScheduledStmt
from appyc.ir.kernel_scalars import free_scalars, scalars_set
from appyc.ir.nodes import Alloc, Const


def join_launches(block: list[ScheduledStmt]) -> list[ScheduledStmt]:
    """A block of the host."""
    out: list[ScheduledStmt] = []
    for stmt in block:
        last = len(out) - 1
        while last >= 0 and isinstance(out[last], Alloc):
            last -= 1
        earlier = out[last] if last >= 0 else None
        if isinstance(stmt, Launch) and isinstance(earlier, Launch) and _is_one(earlier) and _is_one(stmt):
            joined = _joined(earlier.kernel, stmt.kernel)
            if joined is not None:
                del out[last]
                stmt = replace(stmt, kernel=joined)
        out.append(stmt)
    return out


def _is_one(launch: Launch) -> bool:
    return isinstance(launch.programs, Const) and launch.programs.value == 1 and launch.kernel.chosen is None


def _joined(one: Kernel, other: Kernel) -> Kernel | None:
    """A kernel that does what two do; None where a scalar means something else in the other, or lanes differ."""
    set_by_one, set_by_other = scalars_set(one.body).keys(), scalars_set(other.body).keys()
    both = set_by_one & set_by_other
    if not set_by_one.isdisjoint(free_scalars(other.body)) or both & (one.lane_scalars ^ other.lane_scalars):
        return None
    wide = one if one.lane_scalars else other
    if one.lane_scalars and other.lane_scalars and one.lanes != other.lanes:
        return None
    return replace(
        wide,
        name=one.name,
        body=(*one.body, Barrier(loc=other.loc), *other.body),
        lane_scalars=one.lane_scalars | other.lane_scalars,
        indices={**one.indices, **other.indices},
    )
