"""What a block of assignments makes of scalars, as expressions of what was there before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from appyc.ir.nodes import Assign, Expr, If, Select, Stmt, Symbol
from appyc.ir.visit import scalars_read, substitute, walk


def values_behind(
    block: Iterable[Stmt], before: Mapping[Symbol, Expr], most: int, unsure: Set[Symbol] = frozenset()
) -> dict[Symbol, Expr] | None:
    """The values of scalars behind a block; what both arms of an `if` give is a selection.

    None where the block does anything else than assign scalars, where a value has more than `most` nodes, or is made
    of one that not every path has assigned. before: the values that are known. unsure: the scalars without one.
    """
    values, lost = dict(before), set(unsure)
    for stmt in block:
        match stmt:
            case Assign(target=target, value=value):
                if scalars_read(value) & lost:
                    return None
                values[target] = substitute(value, values)
                lost.discard(target)
            case If(cond=cond, then=then, orelse=orelse):
                one, other = (values_behind(arm, values, most, lost) for arm in (then, orelse))
                if one is None or other is None or scalars_read(cond) & lost:
                    return None
                cond = substitute(cond, values)
                lost = (lost | (one.keys() ^ other.keys())) - (one.keys() & other.keys())
                for target in one.keys() & other.keys():
                    if one[target] is other[target]:
                        values[target] = one[target]
                    else:
                        values[target] = Select(cond, one[target], other[target], loc=stmt.loc)
            case _:
                return None
        if not all(is_short(value, most) for value in values.values()):
            return None
    return values


def is_short(expr: Expr, most: int) -> bool:
    """Whether an expression has at most so many nodes."""
    return sum(1 for _ in walk(expr)) <= most
