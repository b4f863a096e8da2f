"""Array fills: loop nests that store one expression into every element of an array."""

from __future__ import annotations

from dataclasses import dataclass

from appyc.analysis.dependences.fusion_legality import EqualExtents, has_effects
from appyc.ir.array_accesses import is_access_to
from appyc.ir.nodes import Alloc, Const, Expr, Extent, For, Function, Load, Stmt, Store, Symbol, Var
from appyc.ir.raising import may_raise
from appyc.ir.visit import arrays_read, walk


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


def fills(nest: For, alloc: Alloc, equal: EqualExtents) -> bool:
    """Whether each iteration stores one element before reading it, reads no other, and all elements are stored."""
    array = alloc.array
    if has_effects(nest.body):
        return False
    axes: dict[Symbol, For] = {}
    body: tuple[Stmt, ...] = (nest,)
    while True:
        users = [at for at, stmt in enumerate(body) if any(is_access_to(n, array) for n in walk(stmt))]
        first = body[users[0]]
        if not isinstance(first, For):
            break
        if len(users) > 1 or array in arrays_read((first.lo, first.hi)):
            return False
        axes[first.var] = first
        body = first.body
    if not isinstance(first, Store) or array in arrays_read(first):
        return False
    named = [index.symbol for index in first.index if isinstance(index, Var)]
    if len(named) < len(first.index) or set(named) != axes.keys() or len(axes) < len(named):
        return False
    if not all(is_whole(axes[var], size, equal) for var, size in zip(named, alloc.shape, strict=True)):
        return False
    loads = (n for n in walk(nest) if isinstance(n, Load) and n.array == array)
    return all(load.index == first.index for load in loads)


def overwritten_arguments(fn: Function) -> frozenset[Symbol]:
    """The parameters whose elements are all stored before anything reads one, or raises."""
    equal = EqualExtents.of(fn.guards)
    out = set()
    for param in fn.params:
        if not param.is_array:
            continue
        alloc = Alloc(
            param, tuple(Extent(param, k, loc=fn.loc) for k in range(param.array.ndim)), False, loc=fn.loc
        )
        for stmt in fn.body:
            if any(is_access_to(n, param) for n in walk(stmt)):
                if isinstance(stmt, For) and fills(stmt, alloc, equal):
                    out.add(param)
                break
            if may_raise(stmt):
                break
    return frozenset(out)
