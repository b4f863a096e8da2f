"""Numbers that are computed when another one is asked for, because they are made of the same arrays.

    loss, norm = (e * e).sum(), (w * e).sum()
    print(float(loss), float(norm))             one pass over e, not two

Each number that is asked for would else be a program of its own, which comes to all that it reads once more, and `e`
would be stored for the second. What such numbers need besides must be no more than what is there for them.

Whether anybody reads a number is not known. Where one went unread, its line is left alone from then on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from appyc.lazy.recorded_nodes import Buffer, Site
from appyc.lazy.recording import Recorded

MOST = 32
"""Numbers that are looked at."""


def companions(
    statements: Sequence[Recorded], wanted: Sequence[Buffer], alone: Collection[Site], least: int
) -> list[tuple[Buffer, Site]]:
    """The numbers that are computed with what is wanted, and where they were recorded.

    alone: places of which the numbers go unread. least: bytes of arrays that it takes.
    """
    candidates = [
        at
        for at, s in enumerate(statements)
        if not s.shape and not s.stores and not s.operation.hosted and s.site not in alone
    ]
    if len(candidates) < 2:
        return []
    chosen = _needed(statements, len(statements), wanted)
    there = _arrays(statements, chosen, least)
    numbers = _numbers(statements, chosen)
    found: list[tuple[Buffer, Site]] = []
    for at in [at for at in candidates if at not in chosen][:MOST] if there else ():
        made = list(statements[at].writes())
        if any(buffer.shape for buffer in made):
            continue
        mine = _needed(statements, at + 1, made) - chosen
        inputs = _arrays(statements, mine, least) - {b for k in mine for b in statements[k].writes()}
        shared = sum(buffer.nbytes for buffer in inputs & there)
        if inputs:
            is_at_hand = 2 * shared >= sum(buffer.nbytes for buffer in inputs)
        else:
            is_at_hand = not numbers.isdisjoint(statements[at].reads())
        if is_at_hand:
            found += [(buffer, statements[at].site) for buffer in made]
            chosen |= mine
            there |= inputs
            numbers |= _numbers(statements, mine)
    return found


def _needed(statements: Sequence[Recorded], end: int, wanted: Sequence[Buffer]) -> set[int]:
    """Which of the first statements must run for some buffers: as `recording.parted` has it."""
    needed = set(wanted)
    changed: set[Buffer] = set()
    out: set[int] = set()
    for at in range(end - 1, -1, -1):
        statement = statements[at]
        if needed.isdisjoint(statement.writes()) and changed.isdisjoint(statement.reads()):
            continue
        out.add(at)
        needed.update(statement.reads())
        if statement.stores:
            stored = statement.stored()
            needed.update(stored)
            changed.update(stored)
    return out


def _arrays(statements: Sequence[Recorded], chosen: Collection[int], least: int) -> set[Buffer]:
    """What statements read and make, of so many bytes."""
    found = (b for at in chosen for b in (*statements[at].reads(), *statements[at].writes()))
    return {buffer for buffer in found if buffer.shape and buffer.nbytes >= least}


def _numbers(statements: Sequence[Recorded], chosen: Collection[int]) -> set[Buffer]:
    return {b for at in chosen for b in statements[at].writes() if not b.shape}
