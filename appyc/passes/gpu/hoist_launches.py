"""Loop-invariant code motion on the host of a GPU program: what launches need is computed before a time loop.

    for t in range(steps):                        count = max(a.shape[0] - 2, 0)
        count = max(a.shape[0] - 2, 0)            blocks = ...
        blocks = ...                      ->      for t in range(steps):                 # repeats
        launch(kernel_1, blocks, a, count)            launch(kernel_1, blocks, a, count)

A loop in which nothing but launches is left, all with arguments that it does not change, `repeats`: a device may record
the launches of an iteration and run them again. In other loops `record_launches` finds what can be recorded. For it,
arrays for what kernels leave are made before the loop too, launches and copies to the host under one condition are
separated, and a launch takes a value that each iteration starts a scalar with from a scalar of its own. What launches
under a condition need is computed in any case.

Requires: scalars and arrays that are moved are the program's own, which nothing reads after a loop without iterations.
Does not handle: what only some iterations launch; launches whose kernel takes the loop's variable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

from appyc.ir.gpu_program import Branch, ChooseLanes, Launch, Loop, ReadBack, Repeat, ScheduledStmt
from appyc.ir.kernel_scalars import all_statements, free_scalars, scalars_set, targets_of
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Assign, Symbol
from appyc.ir.raising import may_raise
from appyc.ir.visit import rename, symbols_of
from appyc.passes.gpu.record_launches import record_launches


def hoist_launches(
    loop: Loop | Repeat, users: Collection[Symbol], names: NameSupply, recordings: Iterator[int] | None
) -> list[ScheduledStmt]:
    """A host loop, and before it what does not change in it. users: symbols of the user's, which stay. recordings:
    their numbers; None where a loop of the host is around this one."""
    changed = scalars_set((loop,))
    changed.update(stmt.array for stmt in all_statements((loop,)) if isinstance(stmt, Alloc))
    before: list[ScheduledStmt] = []
    rest: list[ScheduledStmt] = []
    first = dict[Symbol, Assign]()
    for stmt in _apart(loop.body, users, changed):
        made = (
            [stmt.array]
            if isinstance(stmt, Alloc) and not stmt.zero and stmt.kept is None
            else targets_of(stmt)
        )
        own = [s for s in made if s not in users and changed[s] == 1]
        is_plain = isinstance(stmt, Alloc) or _is_pure(stmt)
        if own and is_plain and not any(changed[s] for s in symbols_of(stmt) if s not in own):
            changed.subtract(own)
            before.append(stmt)
            continue
        rest.append(_with_first_values(stmt, first, before))
        for symbol in scalars_set((stmt,)):
            first.pop(symbol, None)
        if is_plain and isinstance(stmt, Assign) and not any(changed[s] for s in symbols_of(stmt.value)):
            fresh = names.fresh(stmt.target.name, stmt.target.type)
            first[stmt.target] = replace(stmt, target=fresh)
    repeats = bool(rest) and all(is_same(stmt, changed) for stmt in rest)
    if isinstance(loop, Loop) and repeats:
        return [*before, replace(loop, body=tuple(rest), repeats=True)]
    if recordings is not None:
        rest = record_launches(rest, lambda stmt: is_same(stmt, changed), recordings)
    return [*before, replace(loop, body=tuple(rest))]


def _apart(
    body: tuple[ScheduledStmt, ...], users: Collection[Symbol], changed: Counter[Symbol]
) -> Iterator[ScheduledStmt]:
    """The statements, those under a condition that the loop does not change each by itself; arrays of the program's
    own are made in any case."""
    for stmt in body:
        match stmt:
            case Branch(cond, then, ()) if all(
                isinstance(s, Alloc | Launch | ReadBack) for s in then
            ) and not any(changed[s] for s in symbols_of(cond)):
                for part in then:
                    is_own = isinstance(part, Alloc) and part.array not in users
                    yield part if is_own else replace(stmt, then=(part,))
            case Branch(cond, then, orelse) if not any(changed[s] for s in symbols_of(cond)) and all(
                isinstance(s, Launch) or _is_own(s, users) for s in (*then, *orelse)
            ):
                yield from (s for s in (*then, *orelse) if not isinstance(s, Launch))
                then, orelse = (tuple(s for s in arm if isinstance(s, Launch)) for arm in (then, orelse))
                yield replace(stmt, then=then, orelse=orelse)
            case _:
                yield stmt


def _is_pure(stmt: ScheduledStmt) -> bool:
    """Whether a statement does nothing but compute a number."""
    return isinstance(stmt, ChooseLanes) or (isinstance(stmt, Assign) and not may_raise(stmt))


def _is_own(stmt: ScheduledStmt, users: Collection[Symbol]) -> bool:
    """Whether a statement computes a number of the program's own, which it may do in any case."""
    return _is_pure(stmt) and not any(s in users for s in targets_of(stmt))


def _with_first_values(
    stmt: ScheduledStmt, first: dict[Symbol, Assign], before: list[ScheduledStmt]
) -> ScheduledStmt:
    """A launch, or one under a condition, that takes these values from scalars that are set before the loop."""
    match stmt:
        case Launch(kernel):
            taken = {s: first[s] for s in free_scalars(kernel.body) if s in first}
            before += (made for made in taken.values() if made not in before)
            return replace(stmt, kernel=rename(kernel, {s: made.target for s, made in taken.items()}))
        case Branch(_, then, orelse) if all(isinstance(s, Launch) for s in (*then, *orelse)):
            then, orelse = (
                tuple(_with_first_values(s, first, before) for s in arm) for arm in (then, orelse)
            )
            return replace(stmt, then=then, orelse=orelse)
        case _:
            return stmt


def is_same(stmt: ScheduledStmt, changed: Counter[Symbol]) -> bool:
    """Whether a statement is a launch, or launches under a condition, that every iteration makes with the same
    arguments."""
    match stmt:
        case Launch(kernel, programs):
            arrays = [s for s in symbols_of(kernel.body) if s.is_array]
            return not any(changed[s] for s in (*symbols_of(programs), *arrays, *free_scalars(kernel.body)))
        case Branch(cond, then, orelse):
            launches = all(isinstance(s, Launch) and is_same(s, changed) for s in (*then, *orelse))
            return launches and not any(changed[s] for s in symbols_of(cond))
        case _:
            return False
