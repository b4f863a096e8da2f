"""Cuts a loop to a window of its range, or into parts that follow each other (index-set splitting).

    for i in range(lo, hi):                     for i in range(max(lo, start), min(hi, end)):
        ...                          ->             ...

The iterations keep their order, so that parts which together cover the range are legal for any loop whose iterations
all run. Which windows run, and in which order, is for the caller to justify.

Requires: the bounds of a part may be evaluated where the part is (`has_fixed_bounds`).

Does not handle: loops that `break`; steps other than 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from appyc.ir.blocks import has_own
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Assign, Break, Expr, For, Function, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import map_loops, rename, symbols_of, walk
from appyc.passes.node_builders import fresh_variables, larger, smaller


def why_not_cut(loop: For) -> str | None:
    if has_own(loop.body, Break):
        return "it may end early"
    return None if loop.step == 1 else f"its step is {loop.step}"


def cut(loop: For, start: Expr, end: Expr) -> For:
    """The iterations of a loop from `start` to `end`, its bounds kept as conditions."""
    return replace(loop, lo=larger(start, loop.lo), hi=smaller(end, loop.hi))


def split(
    fn: Function,
    loop: For,
    points: Sequence[tuple[str, Expr]],
    names: NameSupply,
    *,
    ordered: bool = False,
) -> tuple[list[Assign], list[For]]:
    """The loop as parts that follow each other, split before each of these iterations, which come in order.

    points: each with the name of the scalar that holds it, clamped to the range unless they are all known to lie in it,
    `ordered`. The first part keeps the variables and the arrays of the loop, the others have their own.
    """
    before: list[Assign] = []
    ends: list[Expr] = [loop.lo]
    for name, point in points:
        symbol = names.fresh(name, DType.INT64)
        inside = point if ordered else larger(smaller(larger(point, ends[-1]), loop.hi), ends[-1])
        before.append(Assign(symbol, inside, loc=loop.loc))
        ends.append(Var(symbol, loc=loop.loc))
    parts = [replace(loop, lo=lo, hi=hi) for lo, hi in zip(ends, [*ends[1:], loop.hi], strict=True)]
    arrays = _own_arrays(fn, loop)
    return before, [parts[0], *(_renamed(part, arrays, names) for part in parts[1:])]


def _own_arrays(fn: Function, loop: For) -> list[Symbol]:
    """The arrays that are allocated in the loop and used nowhere else."""
    made = {n.array: None for n in walk(loop.body) if isinstance(n, Alloc)}
    used = set(symbols_of(map_loops(fn, lambda n: () if n.var == loop.var else n))) if made else set()
    return [array for array in made if array not in used]


def _renamed(loop: For, arrays: list[Symbol], names: NameSupply) -> For:
    fresh = fresh_variables(loop, names)
    return rename(loop, fresh | {array: names.fresh(array.name, array.type) for array in arrays})
