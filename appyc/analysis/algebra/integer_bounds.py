"""Bounds of all integers at a point of a function: the lattice of an abstract interpretation."""

from __future__ import annotations

from appyc.analysis.algebra.reachable import narrowed
from appyc.ir.integers import Range, is_within, limits
from appyc.ir.nodes import Expr, Symbol
from appyc.ir.types import DType
from appyc.ir.visit import symbols_of

Env = dict[Symbol, Range]
"""Bounds by variable; one that is not in it may have any value of its type. Of an array those of its extents."""

INT64 = limits(DType.INT64)

ROUNDS = 8
"""How often bounds are widened to the next step before they are dropped."""

_STEPS = sorted({-1, 0, 1} | {s << bits for bits in (20, 31, 46, 52, 61) for s in (-1, 1)})


def is_integer(dtype: DType) -> bool:
    return dtype.is_integer or dtype is DType.BOOL


def is_tracked(symbol: Symbol) -> bool:
    return not symbol.is_array and is_integer(symbol.dtype)


def hull(a: Range, b: Range) -> Range:
    return min(a[0], b[0]), max(a[1], b[1])


def cut(a: Range, b: Range) -> Range | None:
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else None


def put(env: Env, symbol: Symbol, found: Range | None) -> None:
    """Gives a variable bounds; None where it may have any value."""
    whole = limits(symbol.dtype)
    if found is not None and found != whole and is_within(found, whole):
        env[symbol] = found
    else:
        env.pop(symbol, None)


def join(a: Env | None, b: Env | None) -> Env | None:
    if a is None or b is None:
        return b if a is None else a
    return {s: r if (other := b[s]) is r else hull(r, other) for s, r in a.items() if s in b}


def joined(entry: Env, other: Env | None, carried: set[Symbol]) -> Env:
    """What holds on entry and on the other way; only the carried scalars are other ones there."""
    if other is None:
        return dict(entry)
    return {
        s: hull(r, other[s]) if s in carried else r
        for s, r in entry.items()
        if s not in carried or s in other
    }


def limited(env: Env, bounds: Env) -> Env:
    return {**env, **{s: cut(env.get(s, INT64), r) or r for s, r in bounds.items()}}


def widened(old: Env, new: Env, carried: set[Symbol], rounds: int) -> Env:
    """The old bounds, those that the new ones leave taken to the next step, at last to the type's limits."""
    out = {}
    for symbol, (low, high) in new.items():
        if symbol in carried:
            before = old.get(symbol)
            if before is None:
                continue
            least, greatest = limits(symbol.dtype)
            steps = _STEPS if rounds < ROUNDS else ()
            low = before[0] if low >= before[0] else max((s for s in steps if s <= low), default=least)
            high = before[1] if high <= before[1] else min((s for s in steps if s >= high), default=greatest)
            if (low, high) == (least, greatest):
                continue
        out[symbol] = (low, high)
    return out


def where(cond: Expr, holds: bool, env: Env) -> Env | None:
    """What holds where a condition does, or fails; None where it never does."""
    found = narrowed(cond, holds, frozenset((s, env[s]) for s in symbols_of(cond) if s in env))
    return None if found is None else {**env, **dict(found)}
