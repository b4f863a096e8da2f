"""Loop-invariant code motion on the host of a GPU program: what launches need is computed before a time loop.

    for t in range(steps):                        count = max(a.shape[0] - 2, 0)
        count = max(a.shape[0] - 2, 0)            blocks = ...
        blocks = ...                      ->      for t in range(steps):                 # repeats
        launch(kernel_1, blocks, a, count)            launch(kernel_1, blocks, a, count)

A loop in which nothing but launches is left, all with arguments that it does not change, `repeats`: a device may record
the launches of an iteration and run them again.

Requires: scalars that are moved are the program's own, which nothing reads after a loop without iterations. Does not
handle: what only some iterations launch; launches whose kernel takes the loop's variable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from appyc.ir.gpu_program import ChooseLanes, Launch, Loop, ScheduledStmt
from appyc.ir.kernel_scalars import free_scalars, targets_of
from appyc.ir.nodes import Alloc, Assign, Symbol
from appyc.ir.raising import may_raise
from appyc.ir.visit import symbols_of, walk


def hoist_launches(loop: Loop, users: Collection[Symbol]) -> list[ScheduledStmt]:
    """A host loop, and before it what does not change in it. users: scalars of the user's, which stay."""
    changed = Counter(loop.var for loop in walk(loop) if isinstance(loop, Loop))
    for stmt in walk(loop.body):
        changed.update([stmt.array] if isinstance(stmt, Alloc) else targets_of(stmt))  # type: ignore[arg-type]
    before: list[ScheduledStmt] = []
    rest: list[ScheduledStmt] = []
    for stmt in loop.body:
        own = [s for s in targets_of(stmt) if s not in users and changed[s] == 1]
        is_plain = isinstance(stmt, ChooseLanes) or (isinstance(stmt, Assign) and not may_raise(stmt))
        if own and is_plain and not any(changed[s] for s in symbols_of(stmt) if s not in own):
            changed.subtract(own)
            before.append(stmt)
        else:
            rest.append(stmt)
    repeats = bool(rest) and all(
        isinstance(stmt, Launch) and not any(changed[s] for s in _needed(stmt)) for stmt in rest
    )
    return [*before, replace(loop, body=tuple(rest), repeats=repeats)]


def _needed(launch: Launch) -> list[Symbol]:
    """What a launch passes to its kernel."""
    arrays = [s for s in symbols_of(launch.kernel.body) if s.is_array]
    return [*symbols_of(launch.programs), *arrays, *free_scalars(launch.kernel.body)]
