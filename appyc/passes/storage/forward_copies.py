"""Copy forwarding: reads of a copy of an array become reads of the array.

    holds = empty((n,))
    for i in range(0, n):                       for i_2 in range(0, n):
        holds[i] = m[i]                  ->         if m[i_2]:
    for i_2 in range(0, n):                             a[i_2] = 0.0
        if holds[i_2]:
            a[i_2] = 0.0

A tensor statement reads all elements before any store. `expand_tensors` therefore makes copies of arrays that its
stores may change if arguments share memory. Where they do not, the copies are redundant.

Requires: `check_bounds` has run; written arrays share no memory with others.

Does not handle: a copy in another order or of a part; a copy of an array that is not C-contiguous, which the
program may make for contiguous access; a copy that is written or returned, or whose shape is read; checked
reads; copies that are made and read in different blocks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from appyc.ir.blocks import map_blocks
from appyc.ir.invariance import arrays_made
from appyc.ir.nodes import Alloc, Const, Expr, For, Function, Load, Node, Stmt, Store, Symbol, Var
from appyc.ir.types import Layout
from appyc.ir.visit import arrays_written, contains, own_symbols, rewrite_all, symbols_of, walk
from appyc.passes.pass_context import PassContext


def forward_copies(fn: Function, ctx: PassContext) -> Function:
    """The function without arrays that are copies of other arrays."""
    if not contains(fn, Alloc):
        return fn
    return replace(fn, body=_Copies(fn).block(fn.body))


class _Copies:
    def __init__(self, fn: Function) -> None:
        self.uses = Counter(symbol for node in walk(fn) for symbol in {*own_symbols(node)})
        """The number of nodes that name each array: its allocation, stores, loads and all others."""
        self._known: dict[int, tuple[Stmt, frozenset[Symbol]]] = {}

    def _symbols(self, stmt: Stmt) -> frozenset[Symbol]:
        """The symbols of a statement, which each copy asks for."""
        known = self._known.get(id(stmt))
        if known is None:
            known = self._known[id(stmt)] = stmt, frozenset(symbols_of(stmt))
        return known[1]

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        body = tuple(map_blocks(stmt, self.block) for stmt in body)
        for stmt in body:
            if isinstance(stmt, Alloc):
                body = self._without(stmt, body)
        return body

    def _without(self, alloc: Alloc, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The block without the array, where that is a copy."""
        copy = alloc.array
        touching = [k for k, stmt in enumerate(body) if copy in self._symbols(stmt) and stmt is not alloc]
        if not touching:
            return body
        filled, *readers = touching
        source = _copied(body[filled], alloc)
        if source is None:
            return body
        reads = [n for k in readers for n in walk(body[k]) if isinstance(n, Load) and n.array == copy]
        if len(reads) + 2 != self.uses[copy] or any(n.checked or n.mask is not None for n in reads):
            return body
        between = body[filled + 1 : readers[-1] + 1] if readers else ()
        if source in arrays_written(between) | arrays_made(between):
            return body
        rest = tuple(s for k, s in enumerate(body) if k != filled and s is not alloc)
        self.uses[source] += len(reads) - 1
        return rewrite_all(rest, lambda n: _read(n, copy, source))


def _read(node: Node, copy: Symbol, source: Symbol) -> Node:
    return replace(node, array=source) if isinstance(node, Load) and node.array == copy else node


def _copied(stmt: Stmt, alloc: Alloc) -> Symbol | None:
    """The array that a statement copies into a new one, element by element and all of it."""
    loops: dict[Symbol, Expr] = {}
    while isinstance(stmt, For):
        if stmt.lo != Const(0, stmt.lo.dtype, loc=stmt.loc) or stmt.step != 1 or len(stmt.body) != 1:
            return None
        loops[stmt.var] = stmt.hi
        (stmt,) = stmt.body
    match stmt:
        case Store(
            array=array, index=index, value=Load(array=source, index=loop_index, checked=False, mask=None)
        ):
            whole = len(loops) == len(index) and index == loop_index
            in_order = whole and [i.symbol for i in index if isinstance(i, Var)] == list(loops)
            same = array == alloc.array and array.dtype is source.dtype and source.array.layout is Layout.C
            return source if in_order and same and tuple(loops.values()) == alloc.shape else None
        case _:
            return None
