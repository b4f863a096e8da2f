"""Reductions over masked elements run under the mask, without compacting the elements first.

    chosen = empty(count)
    for all (i) below n where m[i]:
        chosen[position] = a[i]                ->
    total = sum(k below count) chosen[k]           total = sum(i below n) a[i] if m[i] else 0.0

For `a[m].sum()`, the front end builds the masked reduction itself. A program that gives `a[m]` a name has it
compacted first. Compaction is sequential, as its counter is loop-carried. A masked reduction runs in lanes and
on threads, and may be fused with the loop that counts the elements.

Only arrays whose every use is a reduction over all elements qualify; the others must be compacted anyhow. Arrays
that are compacted under the same mask may be read in one reduction. With more than MAX_READERS reductions, reading all
elements of the original array that often costs more than compaction.

Requires: no statement between the compaction and the reduction writes an operand of the mask or of the
elements; arguments may share memory here. Runs before `expand_tensors`.

Does not handle: reductions in loops that the compaction is outside of, which would evaluate the mask in each
iteration; values that depend on the index into the compacted array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Binary,
    Const,
    Expr,
    Extent,
    For,
    ForAll,
    Function,
    If,
    Load,
    Node,
    Reduce,
    Select,
    Stmt,
    Store,
    Symbol,
    Update,
    Var,
    While,
)
from appyc.ir.visit import (
    arrays_read,
    arrays_written,
    map_blocks,
    rename,
    rewrite,
    scalars_read,
    scalars_written,
    walk,
)
from appyc.passes.node_builders import identity
from appyc.passes.pass_context import PassContext

MAX_READERS = 4


def elide_compaction(fn: Function, ctx: PassContext) -> Function:
    """The function with reductions of packed arrays as masked reductions of the original elements."""
    arrays = _packed_for_reductions(fn)
    while arrays:
        out = replace(fn, body=_Elision(fn, arrays).block(fn.body, {}))
        left = {n.array for n in walk(out.body) if isinstance(n, Load) and n.array in arrays}
        if not left:
            return out
        arrays -= left  # what is read otherwise stays packed, and may keep others so
    return fn


def _packed_for_reductions(fn: Function) -> set[Symbol]:
    """Arrays that one statement packs, and that only a few loads read."""
    nodes = list(walk(fn.body))
    writes = [array for n in nodes if isinstance(n, Store | Update | ForAll) for array in arrays_written(n)]
    reads = [n.array for n in nodes if isinstance(n, Load)]
    named = {n.array for n in nodes if isinstance(n, Extent)} | {result.value for result in fn.results}
    packed = {n.array for n in nodes if isinstance(n, ForAll) and _packs(n)}
    return {
        array for array in packed - named - {*fn.params}
        if writes.count(array) == 1 and reads.count(array) <= MAX_READERS
    }  # fmt: skip


def _packs(stmt: ForAll) -> bool:
    """Whether a statement is a compaction: it stores the elements under its mask at consecutive indices, in order."""
    at = stmt.position
    return (
        at is not None and stmt.where is not None and stmt.op is None and not stmt.clauses
        and stmt.index == (Var(at, loc=stmt.loc),)
        and at not in scalars_read((stmt.value, stmt.where))
        and not any(isinstance(n, Binary) and n.trap for n in walk(stmt.value))
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Packed:
    """A packed array: the statement that packs it, and its length."""

    stmt: ForAll
    length: Expr

    def depends_on(self, scalars: set[Symbol], arrays: set[Symbol], own: set[Symbol]) -> bool:
        """Whether writes to these would change the packed elements; arrays that are not in `own` may share memory."""
        computed = [e for e in (self.stmt.value, self.stmt.where, *self.stmt.extents) if e is not None]
        read = arrays_read(computed)
        foreign = bool(arrays - own) and bool(read - own)
        return foreign or bool(read & arrays) or bool(scalars_read([*computed, self.length]) & scalars)


class _Elision:
    """own: arrays made in the function. lengths: of those that are packed."""

    def __init__(self, fn: Function, arrays: set[Symbol]) -> None:
        self.names = NameSupply.after(fn)
        allocs = [n for n in walk(fn.body) if isinstance(n, Alloc)]
        self.own = {n.array for n in allocs}
        self.lengths = {n.array: n.shape[0] for n in allocs if n.array in arrays}

    def block(self, body: tuple[Stmt, ...], outer: Mapping[Symbol, _Packed]) -> tuple[Stmt, ...]:
        packed = dict(outer)
        out: list[Stmt] = []
        for stmt in body:
            if not (isinstance(stmt, Alloc | ForAll) and stmt.array in self.lengths):
                out.append(self.statement(stmt, packed))
            scalars, arrays = scalars_written(stmt), arrays_written(stmt)
            if isinstance(stmt, Alloc):
                arrays = arrays | {stmt.array}
            packed = {a: p for a, p in packed.items() if not p.depends_on(scalars, arrays, self.own)}
            if isinstance(stmt, ForAll) and stmt.array in self.lengths:
                packed[stmt.array] = _Packed(stmt, self.lengths[stmt.array])
        return tuple(out)

    def statement(self, stmt: Stmt, packed: Mapping[Symbol, _Packed]) -> Stmt:
        match stmt:
            case For() | While():
                return map_blocks(stmt, lambda body: self.block(body, {}))
            case If():
                return map_blocks(stmt, lambda body: self.block(body, packed))
            case Assign() | ForAll() if isinstance(stmt, Assign) or all(map(_is_one, stmt.extents)):
                return rewrite(stmt, lambda n: self.reduction(n, packed) if isinstance(n, Reduce) else n)
            case _:
                return stmt

    def reduction(self, old: Reduce, packed: Mapping[Symbol, _Packed]) -> Reduce:
        """The masked reduction over all elements of the original array, or the reduction unchanged."""
        if len(old.axes) != 1 or old.clauses:
            return old
        (axis,), (length,) = old.axes, old.extents
        index = Var(axis, loc=old.loc)
        read = [packed[n.array] for n in walk(old.value) if isinstance(n, Load) and n.array in packed]
        if not read or any(p.length != length or not _same_mask(p.stmt, read[0].stmt) for p in read):
            return old
        axes = tuple(self.names.fresh(a.name, a.type) for a in read[0].stmt.axes)

        def element(node: Node) -> Node:
            if isinstance(node, Load) and node.array in packed and node.index == (index,):
                stmt = packed[node.array].stmt
                return rename(stmt.value, dict(zip(stmt.axes, axes, strict=True)))
            return node

        value = rewrite(old.value, element)
        if axis in scalars_read(value):
            return old
        holds = _mask(read[0].stmt, axes)
        none = identity(old.op, old.dtype, old.loc)
        value = Select(holds, value, none, loc=old.loc)
        return replace(old, axes=axes, extents=read[0].stmt.extents, value=value)


def _is_one(extent: Expr) -> bool:
    """Whether it is the length of an axis that a reduction has kept."""
    return isinstance(extent, Const) and extent.value == 1


def _mask(stmt: ForAll, axes: tuple[Symbol, ...]) -> Expr:
    assert stmt.where is not None
    return rename(stmt.where, dict(zip(stmt.axes, axes, strict=True)))


def _same_mask(a: ForAll, b: ForAll) -> bool:
    return a.extents == b.extents and len(a.axes) == len(b.axes) and _mask(a, b.axes) == b.where
