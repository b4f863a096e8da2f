"""Array fills: loop nests that store one expression into every element of an array."""

from __future__ import annotations

from appyc.analysis.dependences.fusion_legality import EqualExtents, has_effects
from appyc.ir.array_accesses import is_access_to
from appyc.ir.blocks import perfect_nest
from appyc.ir.nodes import Alloc, Const, Expr, Extent, For, Function, Load, Stmt, Store, Symbol, Var
from appyc.ir.raising import may_raise
from appyc.ir.visit import arrays_read, walk


def filled_by(loop: For, alloc: Alloc, equal: EqualExtents) -> Store | None:
    """The store of a nest that stores every element of the array once, can do so in any order, and does nothing else.
    The nest has one loop for each axis, in their order."""
    nest = perfect_nest(loop)
    store = nest[-1].body[0] if len(nest[-1].body) == 1 else None
    if not isinstance(store, Store) or store.array != alloc.array or may_raise(store):
        return None
    if store.index != tuple(Var(n.var, loc=n.loc) for n in nest) or any(n.clauses for n in nest):
        return None
    is_filled = all(is_whole(n, extent, equal) for n, extent in zip(nest, alloc.shape, strict=True))
    return store if is_filled else None


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
        if len(users) > 1 or array in arrays_read(first.bounds):
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
