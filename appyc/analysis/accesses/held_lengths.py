"""Local arrays whose lengths scalars hold wherever the arrays are used, however often they are allocated.

if c:
    n = 3                   # each value of n is the length of an `a` that is allocated right then:
    a = np.empty((n,))      # a.shape[0] is n, also where the paths meet
else:
    n = 5
    a = np.empty((n,))
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from appyc.ir.blocks import blocks_of
from appyc.ir.nodes import Alloc, Assign, For, Function, Stmt, Symbol, Update, Var, View, While
from appyc.ir.visit import arrays_read, statements, walk


def lengths_held(fn: Function) -> dict[tuple[Symbol, int], Symbol]:
    """The scalar that holds each length, by array and axis."""
    held: dict[tuple[Symbol, int], Symbol | None] = {}
    for made in (stmt for stmt in statements(fn.body) if isinstance(stmt, Alloc)):
        for axis, length in enumerate(made.shape):
            scalar = length.symbol if isinstance(length, Var) and made.kept is None else None
            known = held.setdefault((made.array, axis), scalar)
            held[made.array, axis] = scalar if scalar == known else None
    for view in (n for n in walk(fn.body) if isinstance(n, View) and n.resized):
        held[view.array, 0] = None
    if not any(held.values()):
        return {}
    moving = {stmt.var for stmt in statements(fn.body) if isinstance(stmt, For)}
    moving |= {stmt.target for stmt in statements(fn.body) if isinstance(stmt, Update)}
    set_: dict[Symbol, list[tuple[set[Symbol], bool]]] = {}
    for stmt, behind, is_in_loop in _in_blocks(fn.body, False):
        if isinstance(stmt, Assign):
            set_.setdefault(stmt.target, []).append((_allocated_next(behind), is_in_loop))
    return {
        key: scalar
        for key, scalar in held.items()
        if scalar is not None
        and scalar not in moving
        and all(
            key[0] in allocated or not (is_in_loop or scalar in fn.params or len(set_[scalar]) > 1)
            for allocated, is_in_loop in set_.get(scalar, ())
        )
    }


def _in_blocks(body: tuple[Stmt, ...], is_in_loop: bool) -> Iterator[tuple[Stmt, tuple[Stmt, ...], bool]]:
    """Each statement with those behind it in its block, and whether a loop is around it."""
    for at, stmt in enumerate(body):
        yield stmt, body[at + 1 :], is_in_loop
        for block in blocks_of(stmt):
            yield from _in_blocks(block, is_in_loop or isinstance(stmt, For | While))


def _allocated_next(behind: tuple[Stmt, ...]) -> set[Symbol]:
    """The arrays that are allocated before any array is read or another statement follows."""
    next_ = takewhile(lambda s: isinstance(s, Assign | Alloc) and not arrays_read(s), behind)
    return {stmt.array for stmt in next_ if isinstance(stmt, Alloc)}
