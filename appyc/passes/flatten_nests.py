"""Nests that add up whole arrays, as one loop over all elements.

    for i in range(0, a.shape[0]):                        for place in range(0, a.shape[0] * a.shape[1]):
        for k in range(0, a.shape[1]):             ->         total += a[place // a.shape[1], place % a.shape[1]]
            total += a[i, k]

Lanes that combine into a scalar are put together at the end of each loop of lanes, which takes longer than a short
row does: of points with three coordinates and of images with three colours, or where the operation is not OpenMP's own.
Elements of a C-contiguous array follow each other, whatever the lengths of its axes: what the indices divide, the
generator puts together again (`c_gen/expressions.py`), and nothing of it is left.

The order of the elements stays what it was. A nest is one if each of its arrays has as many axes as it has loops, is
C-contiguous, and is read or stored at the variables of the loops alone, each of which runs over a whole axis of all of
them; and if all its loops combine into the same scalars.

Requires: loops have their modes and costs, and indices are not checked. Runs last: no other pass knows what to make of
such indices.

Does not handle: nests that combine into nothing, which take their rows as quickly; arrays that are stretched along an
axis; the last axes of arrays of which the first is an outer loop's. Of a GPU's lanes nothing is gained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from appyc.analysis.costs import cost_of
from appyc.analysis.filled import is_whole
from appyc.analysis.joining import EqualExtents
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Alloc,
    Binary,
    Expr,
    Extent,
    For,
    Function,
    Load,
    LoopMode,
    Node,
    Store,
    Symbol,
    Update,
    Var,
)
from appyc.ir.types import DType, Layout
from appyc.ir.visit import map_loops, rewrite_all, scalars_read, scalars_written, walk
from appyc.passes.build import integer
from appyc.passes.context import PassContext


def flatten_nests(fn: Function, ctx: PassContext) -> Function:
    """The function with one loop for each nest that combines all elements of arrays."""
    if ctx.options.on_gpu:
        return fn
    names = NameSupply.after(fn)
    equal = EqualExtents.of(fn.guards)
    made = {
        Extent(n.array, axis, loc=n.loc): size
        for n in walk(fn)
        if isinstance(n, Alloc)
        for axis, size in enumerate(n.shape)
    }

    def rule(loop: For) -> For:
        nest = _nest(loop)
        arrays = _arrays(nest)
        if (
            not arrays
            or not _is_flat(nest)
            or not all(_is_whole(nest, array, equal, made) for array in arrays)
        ):
            return loop
        joined = _flattened(nest, names.fresh("place", DType.INT64), equal)
        if joined is None:
            return loop
        ctx.remark(
            loop.loc,
            f"the rows of {_named(arrays)} follow each other in memory: {len(nest)} loops run as one",
        )
        if (verdict := ctx.verdicts.get(loop.var)) is not None:
            ctx.verdicts[joined.var] = replace(verdict, var=joined.var)
        return joined

    return map_loops(fn, rule)


def _named(arrays: Sequence[Symbol]) -> str:
    return ", ".join(dict.fromkeys(f"'{array.name}'" for array in arrays))


def _nest(loop: For) -> list[For]:
    """The loop, and those that are all there is in the one around them."""
    nest = [loop]
    while len(nest[-1].body) == 1 and isinstance(nest[-1].body[0], For):
        nest.append(nest[-1].body[0])
    return nest


def _arrays(nest: Sequence[For]) -> list[Symbol]:
    """The arrays that the nest touches; none where that is not at the variables of its loops alone."""
    index = tuple(Var(loop.var, loc=loop.loc) for loop in nest)
    arrays: dict[Symbol, None] = {}
    for node in walk(nest[-1].body):
        match node:
            case Load() | Store():
                if node.index != index or node.checked or node.array.array.layout is not Layout.C:
                    return []
                arrays[node.array] = None
            case Update() if node.target.is_array:
                return []
            case For() | Alloc():
                return []
            case _:
                pass
    return list(arrays) if len(nest) > 1 else []


def _is_flat(nest: Sequence[For]) -> bool:
    """Whether the loops may be one, with what they are said to do."""
    first, last = nest[0], nest[-1]
    changed = scalars_written(last.body) | {loop.var for loop in nest}
    return (
        bool(last.reductions)
        and all(set(loop.reductions) == set(last.reductions) for loop in nest)
        and not any(
            loop.clauses or loop.last or loop.safelen or loop.in_step or loop.scans or loop.product
            for loop in nest
        )
        and not any(set(scalars_read(loop.hi)) & changed for loop in nest)
        and (first.mode is LoopMode.PARALLEL or last.mode is LoopMode.SIMD)
    )


def _is_whole(nest: Sequence[For], array: Symbol, equal: EqualExtents, made: dict[Extent, Expr]) -> bool:
    """Whether the loops run over all elements of the array."""
    extents = [Extent(array, axis, loc=loop.loc) for axis, loop in enumerate(nest)]
    return all(
        is_whole(loop, extent, equal)
        or (isinstance(made.get(extent), Extent) and is_whole(loop, made[extent], equal))
        for loop, extent in zip(nest, extents, strict=True)
    )


def _flattened(nest: Sequence[For], place: Symbol, equal: EqualExtents) -> For | None:
    """The loop over all places; None where a variable of the loops is read for itself."""
    first, last = nest[0], nest[-1]

    def rule(node: Node) -> Node:
        if isinstance(node, Load | Store):
            return replace(node, index=_digits(node, place))
        return Var(place, loc=node.loc) if isinstance(node, Binary) and _is_place(node, nest, equal) else node

    body = rewrite_all(last.body, rule)
    if {loop.var for loop in nest} & set(scalars_read(body)):
        return None
    hi: Expr = first.hi
    for loop in nest[1:]:
        hi = Binary("*", hi, loop.hi, loc=first.loc)
    around = {loop.var: integer(0, loop.loc) for loop in nest[:-1]}
    return replace(
        last,
        var=place,
        lo=integer(0, first.loc),
        hi=hi,
        body=body,
        mode=first.mode if first.mode is LoopMode.PARALLEL else last.mode,
        private=tuple(dict.fromkeys(symbol for loop in nest for symbol in loop.private)),
        cost=None if first.cost is None else cost_of(replace(last, mode=LoopMode.PARALLEL), around),
        loc=first.loc,
    )


def _is_place(expr: Expr, nest: Sequence[For], equal: EqualExtents) -> bool:
    """Whether it is the place in C order that the loops have come to: (i * rows + j) * columns + k."""
    if len(nest) == 1:
        return isinstance(expr, Var) and expr.symbol == nest[0].var
    match expr:
        case Binary("+", Binary("*", rows, width), Var(symbol=symbol)):
            last = nest[-1]
            return symbol == last.var and equal.same(width, last.hi) and _is_place(rows, nest[:-1], equal)
        case _:
            return False


def _digits(access: Load | Store, place: Symbol) -> tuple[Expr, ...]:
    """The index of the element at a place in C order."""
    rest: Expr = Var(place, loc=access.loc)
    out: list[Expr] = []
    for axis in range(len(access.index) - 1, 0, -1):
        extent = Extent(access.array, axis, loc=access.loc)
        out.insert(0, Binary("%", rest, extent, loc=access.loc))
        rest = Binary("//", rest, extent, loc=access.loc)
    return (rest, *out)
