"""Copy coalescing of arrays: an array whose last use is a copy of all of it is made in the copy's memory.

    if c:                              if c:
        a = empty(n)                       x = empty(n)
        for i in range(n):                 for i in range(n):
            a[i] = ...                         x[i] = ...
        x_n = n                  ->        x_n = n
        x = empty(x_n)                 else:
        for all i: x[i] = a[i]             ...
    else:
        ...

The front end copies arrays so where paths bind one name to different arrays (`phi_storage.py`), and where returns have
different arrays.

Requires: tensor statements. Does not handle: an array that is allocated in another block than it is copied in; copies
into memory that is kept when its length is the same, as loops do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from appyc.ir.blocks import map_blocks
from appyc.ir.invariance import changed_in
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Break,
    Continue,
    Expr,
    Extent,
    ForAll,
    Function,
    Load,
    Node,
    Stmt,
    Symbol,
    Var,
)
from appyc.ir.visit import contains, own_symbols, rename, symbols_of, walk, with_body
from appyc.passes.pass_context import PassContext


def coalesce_arrays(fn: Function, ctx: PassContext) -> Function:
    """The function without arrays that are only made to be copied."""
    uses = _uses([fn])

    def rule(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for stmt in (map_blocks(inner, rule) for inner in block):
            out.append(stmt)
            source = _copied(out)
            if source is not None and (at := _last_use(out, source, uses[source])) is not None:
                before, target = _uses(out[at:]), out[-1].array  # type: ignore[union-attr]
                out[at:] = _in_memory_of_copy(out[at:], source)
                uses[target] += _uses(out[at:])[target] - before[target]
        return tuple(out)

    return with_body(fn, rule(fn.body))


def _uses(nodes: Iterable[Node]) -> Counter[Symbol]:
    """How often these trees name each symbol."""
    return Counter(symbol for n in walk(nodes) for symbol in own_symbols(n))


def _copied(block: Sequence[Stmt]) -> Symbol | None:
    """The array of which the block's last two statements make a copy of the same type."""
    match block[-2:]:
        case [Alloc(in_frame=False) as alloc, ForAll(value=Load() as load, op=None, where=None) as copy]:
            axes = tuple(Var(axis, loc=copy.loc) for axis in copy.axes)
            is_whole = (copy.array, copy.extents, copy.index, load.index) == (
                alloc.array,
                alloc.shape,
                axes,
                axes,
            )
            is_alike = load.array.type == alloc.array.type and load.array != alloc.array
            return load.array if is_whole and is_alike and not any(copy.clauses) else None
        case _:
            return None


def _last_use(block: Sequence[Stmt], source: Symbol, uses: int) -> int | None:
    """The position of the allocation of an array that the block's end copies, if the array has no uses before it or
    behind the copy, and the memory of the copy is free in between. Else None."""
    start = next((k for k, s in enumerate(block) if isinstance(s, Alloc) and s.array == source), None)
    if start is None:
        return None
    made, since, alloc = block[start], block[start + 1 : -2], block[-2]
    assert isinstance(made, Alloc)
    assert isinstance(alloc, Alloc)
    changed = changed_in(since)
    is_free = _uses(block[start:])[source] == uses and alloc.array not in _uses(since)
    is_settled = made.kept is None and not changed & {source, *symbols_of(made.shape)}
    can_be = not (made.zero and alloc.kept is not None) and not contains(since, Break | Continue)
    assigned = _assigned_at_end(since)
    lengths = zip(alloc.shape, made.shape, range(len(made.shape)), strict=True)
    is_long = all(
        _value(n, assigned) in (length, Extent(source, k, loc=alloc.loc)) for n, length, k in lengths
    )
    return start if is_free and is_settled and can_be and is_long else None


def _assigned_at_end(block: Sequence[Stmt]) -> dict[Symbol, Expr]:
    """The scalars that the last statements of a block assign, with their values."""
    out: dict[Symbol, Expr] = {}
    for stmt in reversed(block):
        if not isinstance(stmt, Assign):
            break
        out.setdefault(stmt.target, stmt.value)
    return out


def _value(expr: Expr, assigned: Mapping[Symbol, Expr]) -> Expr:
    return assigned.get(expr.symbol, expr) if isinstance(expr, Var) else expr


def _in_memory_of_copy(block: Sequence[Stmt], source: Symbol) -> list[Stmt]:
    """The statements from an array's allocation up to its copy, with the array in the copy's memory."""
    made, *since, alloc, _ = block
    assert isinstance(made, Alloc)
    assert isinstance(alloc, Alloc)
    new = replace(made, array=alloc.array, kept=alloc.kept)
    return [new, *(rename(stmt, {source: alloc.array}) for stmt in since)]
