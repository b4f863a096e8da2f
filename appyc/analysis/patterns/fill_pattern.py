"""Array fills: loop nests that store one expression into every element of an array."""

from __future__ import annotations

from dataclasses import dataclass

from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.ir.nodes import Alloc, Const, Expr, For, Stmt, Store, Symbol, Var
from appyc.ir.raising import may_raise


@dataclass(frozen=True, slots=True)
class Filled:
    """loop: the nest. axes: its variables, which name the element that `store` is to, one for each axis."""

    loop: For
    axes: tuple[Symbol, ...]
    store: Store


def filled_by(loop: For, alloc: Alloc, equal: EqualExtents) -> Filled | None:
    """The nest, if it stores every element of the array once, can do so in any order, and nothing else."""
    loops: dict[Symbol, For] = {}
    stmt: Stmt = loop
    while isinstance(stmt, For):
        loops[stmt.var] = stmt
        if len(stmt.body) != 1 or stmt.clauses is not None:
            return None
        stmt = stmt.body[0]
    if not isinstance(stmt, Store) or stmt.array != alloc.array or may_raise(stmt):
        return None
    axes = tuple(subscript.symbol for subscript in stmt.index if isinstance(subscript, Var))
    if len(axes) != len(stmt.index) or axes != tuple(loops):
        return None
    if not all(is_whole(loops[var], extent, equal) for var, extent in zip(axes, alloc.shape, strict=True)):
        return None
    return Filled(loop, axes, stmt)


def is_whole(loop: For, extent: Expr, equal: EqualExtents) -> bool:
    """Whether a loop runs over a whole axis, from its start."""
    starts = isinstance(loop.lo, Const) and loop.lo.value == 0
    return starts and loop.step == 1 and equal.same(loop.hi, extent)
