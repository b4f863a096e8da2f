"""Computes a temporary that a stencil reads in blocks of rows, each just before the rows that need it.

    t = empty((n, m))                               for b in range(blocks):
    for i in range(0, n):                               t = empty((16 + 2, m))
        for j in range(0, m):                           first = 16 * b, last = min(first + 16, n - 2)
            t[i, j] = sqrt(x[i, j])                     for i in range(first, last + 2):
    for i in range(0, n - 2):             ->                for j in range(0, m):
        for j in range(0, m):                                   t[i - first, j] = sqrt(x[i, j])
            y[i, j] = t[i, j] + t[i + 2, j]             for i in range(first, last):
                                                            for j in range(0, m):
                                                                y[i, j] = t[i - first, j] + t[i + 2 - first, j]

The loops cannot be joined, since an iteration of the second needs several of the first; and to compute
an element at each of its reads may take longer than memory does (`recompute_producers`). A block of rows
is still in the cache when it is read. Blocks compute the rows that two of them need twice; this is
counted, with what they are computed from, against the array's way to memory and back. No block waits
for another one.

Runs after `contract_arrays` and its like, whose arrays need no blocks. Requires: `check_bounds` has run.

Does not handle: arrays that several nests read, or that are filled with more than one expression;
stencils of stencils, but for the last; GPUs, where the two stay kernels of their own; operands of a product
of matrices, whose tiles would be cut by blocks: the other matrix would come from memory for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from appyc.analysis.costs import operations_of
from appyc.analysis.filled import Filled, distance, filled_by, touches
from appyc.analysis.joining import EqualExtents, Touched, alone
from appyc.analysis.legality import Legality
from appyc.analysis.sharing_pays import matrix_of_all_iterations
from appyc.ir.machine import Machine
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Alloc,
    Binary,
    Expr,
    Extent,
    For,
    Function,
    If,
    Load,
    Node,
    Stmt,
    Store,
    Symbol,
    Var,
)
from appyc.ir.raising import may_raise
from appyc.ir.types import DType
from appyc.ir.visit import arrays_read, rewrite, rewrite_all, scalars_read, scalars_written, walk
from appyc.passes.build import integer, shifted, trip_count
from appyc.passes.check_parallel import rounds_differently
from appyc.passes.context import PassContext
from appyc.passes.contract_rows import GPUS
from appyc.passes.lengths import tested
from appyc.passes.recognise_reductions import recognise_reductions

ROWS = {1: 4096, 2: 32, 3: 8}
"""Places along the first axis in a block, for arrays of so many axes: some hundred KiB of ordinary ones.
Numbers and no variables, for the dependences of blocks to be exact."""


def block_producers(fn: Function, ctx: PassContext) -> Function:
    """The function with such arrays a block at a time."""
    allocs = [n for n in walk(fn) if isinstance(n, Alloc)]
    if ctx.options.target in GPUS or not ctx.options.auto:
        return fn
    made = [alloc.array for alloc in allocs]
    taken = {r.value for r in fn.results} | {n.array for n in walk(fn) if isinstance(n, Extent)}
    left = [
        a for a in allocs if made.count(a.array) == 1 and a.array not in taken and a.array.array.ndim in ROWS
    ]
    names = NameSupply.after(fn)
    equal = EqualExtents.of(fn.guards)
    for alloc in left:
        pairs = (_pair(fn, body, alloc, equal, ctx.options.exact) for body in _bodies(fn.body))
        pair = next((found for found in pairs if found is not None), None)
        if pair is None:
            continue
        block = names.fresh("block", DType.INT64)
        fn = _in_blocks(fn, pair, block)
        ctx.contracted[alloc.array] = block
        halo = pair.far - pair.near
        ctx.remark(
            alloc.loc,
            f"'{alloc.array.name}' is never stored whole: it is computed in blocks of {pair.rows} rows, "
            f"with {halo} more for each that others compute, too",
        )
    return fn


@dataclass(frozen=True, slots=True)
class _Pair:
    """A nest that fills an array, and a loop whose iterations read rows of it, `near` to `far` from their own."""

    alloc: Alloc
    filled: Filled
    reader: For
    near: int
    far: int

    @property
    def rows(self) -> int:
        return ROWS[len(self.filled.axes)]

    def gain(self) -> float:
        """Nanoseconds for each element, where there are more than caches hold."""
        machine, value = Machine(), self.filled.store.value
        in_lanes, single = operations_of(value)
        inputs = {n.array: n.array.dtype.itemsize for n in walk(value) if isinstance(n, Load)}
        again = in_lanes * machine.vector + single * machine.scalar + sum(inputs.values()) * machine.byte_far
        kept = 3 * self.alloc.array.dtype.itemsize * machine.byte_far
        return kept - again * (self.far - self.near) / self.rows


def _bodies(body: tuple[Stmt, ...]) -> Iterator[tuple[Stmt, ...]]:
    """Lists of statements in no loop."""
    yield body
    for stmt in body:
        if isinstance(stmt, If):
            yield from _bodies(stmt.then)
            yield from _bodies(stmt.orelse)


def _pair(
    fn: Function, body: tuple[Stmt, ...], alloc: Alloc, equal: EqualExtents, exact: bool
) -> _Pair | None:
    """The two loops of an array that nobody else touches, if blocks of it are possible, and pay."""
    array = alloc.array
    users = [at for at, stmt in enumerate(body) if any(touches(n, array) for n in walk(stmt))]
    if len(users) != 2:
        return None
    first, reader = body[users[0]], body[users[1]]
    filled = filled_by(first, alloc, equal) if isinstance(first, For) else None
    if filled is None or not isinstance(reader, For) or reader.step != 1 or reader.clauses is not None:
        return None
    loads = [n for n in walk(reader) if isinstance(n, Load) and n.array == array]
    if sum(touches(n, array) for n in walk(fn)) != len(loads) + 1:
        return None
    offsets = [distance(load.index[0], reader.var) for load in loads]
    known = [offset for offset in offsets if offset is not None]
    if len(known) < len(offsets):
        return None
    pair = _Pair(alloc, filled, reader, min(known), max(known))
    if matrix_of_all_iterations(reader) is not None:
        return None
    if pair.gain() <= 0 or not _may_wait(filled, body[users[0] + 1 : users[1] + 1]):
        return None
    if not _is_fixed((*alloc.shape[1:], reader.lo, reader.hi), reader):
        return None
    (combining,) = recognise_reductions(alone(reader), PassContext()).body
    assert isinstance(combining, For)
    verdict = Legality.of(alone(combining)).judge(combining)
    return pair if verdict.may_run_in_any_order and not (exact and rounds_differently(verdict)) else None


def _may_wait(filled: Filled, later: Sequence[Stmt]) -> bool:
    """Whether what the array is computed from, and how far, is the same after other statements."""
    needed, changed = Touched.by(filled.loop), Touched.by(later)
    own = frozenset({filled.store.array})
    return not (changed.writes & (needed.reads | needed.writes) - own or changed.made & needed.sizes)


def _is_fixed(exprs: Sequence[Expr], loop: For) -> bool:
    """Whether expressions have one value before the loop and in all of it."""
    inside = scalars_written(loop) | {n.var for n in walk(loop) if isinstance(n, For)}
    made = {n.array for n in walk(loop) if isinstance(n, Alloc)}
    lengths = {n.array for n in walk(exprs) if isinstance(n, Extent)}
    return not (may_raise(exprs) or arrays_read(exprs) or scalars_read(exprs) & inside or lengths & made)


def _in_blocks(fn: Function, pair: _Pair, block: Symbol) -> Function:
    """The function with blocks of both loops in the place of the second one."""
    loc, reader, array = pair.reader.loc, pair.reader, pair.alloc.array
    rows = integer(pair.rows, loc)
    passed = Binary("*", Var(block, loc=loc), rows, loc=loc)
    first = passed if reader.lo == integer(0, loc) else Binary("+", reader.lo, passed, loc=loc)
    last = Binary("min", Binary("+", first, rows, loc=loc), reader.hi, loc=loc)
    base = shifted(first, pair.near)

    def moved(index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return (Binary("-", index[0], base, loc=loc), *index[1:])

    def in_block(node: Node) -> Node:
        match node:
            case Load() | Store() if node.array == array:
                return replace(node, index=moved(node.index))
            case _:
                return node

    fill = replace(pair.filled.loop, lo=base, hi=shifted(last, pair.far))
    read = replace(reader, lo=first, hi=last)
    held = Binary("min", integer(pair.rows + pair.far - pair.near, loc), pair.alloc.shape[0], loc=loc)
    made = replace(pair.alloc, shape=(held, *pair.alloc.shape[1:]), zero=False)
    blocks = trip_count(reader.lo, reader.hi, pair.rows)
    loop = For(block, integer(0, loc), blocks, 1, rewrite_all((made, fill, read), in_block), loc=loc)

    def rule(node: Node) -> Node | tuple[Node, ...]:
        match node:
            case Alloc() if node.array == array:
                return tested(node)
            case For() if node.var == pair.filled.loop.var:
                return ()
            case For() if node.var == reader.var:
                return loop
            case _:
                return node

    return rewrite(fn, rule)
