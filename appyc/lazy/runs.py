"""Loop rerolling: a run of calls whose indices advance by constant strides becomes one loop.

    f(a[0:10], b[0]); f(a[10:20], b[1]); ...    ->    for r in range(n): f(a[10*r : 10*r + 10], b[r])

Only what can be seen in the recorded indices counts: whether the loop may run in parallel is for the
dependence analysis to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from appyc.lazy._nodes import Index, View


class Move(NamedTuple):
    """One item of one index of one operand's path grows by `by` from call to call."""

    operand: int
    step: int
    item: int
    by: int


Moves: TypeAlias = tuple[Move, ...]

_NUMBERS = (bool, int, float, complex, np.generic)


def moves_between(one: Sequence[Any], two: Sequence[Any]) -> Moves | None:
    """What differs between the arguments of two calls; None where that is more than indices that moved."""
    out: list[Move] = []
    for number, (a, b) in enumerate(zip(one, two, strict=True)):
        if a is b:
            continue
        if issubclass(type(a), _NUMBERS):
            if type(a) is not type(b) or a != b or (a == 0 and str(a) != str(b)):  # -0.0 is another number
                return None
            continue
        if not isinstance(a, View) or not isinstance(b, View):
            return None
        if a.buffer is not b.buffer or len(a.path) != len(b.path):
            return None
        for step, (s, t) in enumerate(zip(a.path, b.path, strict=True)):
            if s == t:
                continue
            if not isinstance(s, Index) or not isinstance(t, Index) or len(s.items) != len(t.items):
                return None
            for item, (x, y) in enumerate(zip(s.items, t.items, strict=True)):
                if x == y:
                    continue
                by = _way(x, y)
                if by is None:
                    return None
                out.append(Move(number, step, item, by))
    return tuple(out)


def _way(x: int | slice | None, y: int | slice | None) -> int | None:
    """How far one index is from another of its kind."""
    if isinstance(x, int) and isinstance(y, int):
        return y - x if (x >= 0) == (y >= 0) else None
    if not isinstance(x, slice) or not isinstance(y, slice) or (x.step or 1) != (y.step or 1):
        return None
    bounds = x.start or 0, y.start or 0, x.stop, y.stop
    if any(b is None or b < 0 for b in bounds):
        return None
    by: int = bounds[1] - bounds[0]
    return by if y.stop - x.stop == by else None
