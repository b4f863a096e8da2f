"""Speculative computation of scalars: those that share inputs with a wanted one run in the same program.

    loss, norm = (e * e).sum(), (w * e).sum()
    print(float(loss), float(norm))             one pass over e, not two

Otherwise each scalar that is needed runs as a separate program, which reads its inputs again, and `e` is stored for the
second. The inputs that a further scalar shares with the wanted ones must be at least half of its bytes.

Whether a scalar is live is not known. A site whose scalar went unread is excluded from then on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from appyc.lazy._nodes import Buffer
from appyc.lazy.recorded_calls import Recorded
from appyc.lazy.recorded_nodes import Site
from appyc.lazy.recording import Demand

MOST = 32
"""Maximum number of candidate scalars per flush."""


def companions(
    statements: Sequence[Recorded], wanted: Sequence[Buffer], alone: Collection[Site], least: int
) -> list[tuple[Buffer, Site]]:
    """The scalars to compute along with the wanted buffers, and the sites where they were recorded.

    alone: sites whose scalars go unread. least: minimum bytes of an array that counts as a shared input.
    """
    candidates = [
        at
        for at, s in enumerate(statements)
        if not s.shape and not s.stored() and not s.operation.hosted and s.site not in alone
    ]
    if len(candidates) < 2:
        return []
    chosen = _slice(statements, len(statements), wanted)
    there = _arrays(statements, chosen, least)
    numbers = _numbers(statements, chosen)
    found: list[tuple[Buffer, Site]] = []
    for at in [at for at in candidates if at not in chosen][:MOST] if there else ():
        made = list(statements[at].writes())
        if any(buffer.shape for buffer in made):
            continue
        mine = _slice(statements, at + 1, made) - chosen
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


def _slice(statements: Sequence[Recorded], end: int, wanted: Sequence[Buffer]) -> set[int]:
    """The backward slice of some buffers among the first statements."""
    demand = Demand(wanted)
    return {at for at in range(end - 1, -1, -1) if demand.takes(statements[at])}


def _arrays(statements: Sequence[Recorded], chosen: Collection[int], least: int) -> set[Buffer]:
    """The arrays of at least so many bytes that statements read or make."""
    found = (b for at in chosen for b in (*statements[at].reads(), *statements[at].writes()))
    return {buffer for buffer in found if buffer.shape and buffer.nbytes >= least}


def _numbers(statements: Sequence[Recorded], chosen: Collection[int]) -> set[Buffer]:
    return {b for at in chosen for b in statements[at].writes() if not b.shape}
