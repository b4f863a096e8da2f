"""Rematerialisation: an element is recomputed at each read where that costs less than its memory traffic.

    t = empty((n,))                                 for j in range(0, n - 2):
    for i in range(0, n):                               b[1 + j] = a[j] * 2.0 + a[2 + j] * 2.0
        t[i] = a[i] * 2.0                    ->
    for j in range(0, n - 2):
        b[1 + j] = t[j] + t[2 + j]

A stencil over a temporary has another trip count than the loop that fills it, and needs elements of several
iterations of that loop: the two cannot be fused. Without the array, fusion is not needed. A cost model in
operations and bytes (`ir/machine_model.py`) decides whether that pays. It weighs the recomputation at each
additional read against the memory traffic of the array and of the operands of its elements.

An array qualifies if one nest fills it with one expression, and if all reads are behind the nest in the same
block, with subscripts at a constant distance from the variables of the enclosing loops. The operands of the
expression must not change before the last read.

Requires: `check_bounds` has run; nothing in the expression can raise. Runs before `fuse_loops`,
which handles the arrays that every loop reads at the index of its own iteration.

Does not handle: arrays that are filled by several statements, or returned; reads in loops with
further loops around that would compute an element over and over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from appyc.analysis.accesses.syntactic_effects import Texts, Touched
from appyc.analysis.cost.costs import operations_of
from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.analysis.patterns.fill_pattern import filled_by, is_whole
from appyc.ir.affine import apart
from appyc.ir.array_accesses import accesses_in
from appyc.ir.blocks import blocks_of, perfect_nest, walk_in_loops
from appyc.ir.machine_model import Machine
from appyc.ir.nodes import Alloc, Expr, Extent, For, Function, Load, Node, Stmt, Symbol, Var, View
from appyc.ir.visit import rewrite, substitute, walk
from appyc.passes.checks.lengths import tested
from appyc.passes.pass_context import PassContext


def rematerialise(fn: Function, ctx: PassContext) -> Function:
    """The function without the temporary arrays that are cheaper to compute than to keep."""
    allocs = [n for n in walk(fn) if isinstance(n, Alloc)]
    returned = {result.value for result in fn.results}
    times = [a.array for a in allocs]
    left = [a for a in allocs if times.count(a.array) == 1 and a.array not in returned]
    equal = EqualExtents.of(fn.guards)
    known = _Known.of(fn, ctx.facts.texts)
    while left:
        # The last one first: what it is computed from is then read where it was read itself.
        alloc = left.pop()
        producer = _producer(fn, alloc, equal, known)
        if producer is None or not producer.reads:
            continue
        name, reads = alloc.array.name, len(producer.reads)
        if producer.gain() < 0:
            if any(read.is_elsewhere for read in producer.reads):
                text = f"'{name}' is not computed at each of {reads} reads: that would take longer than to keep it"
                ctx.missed(alloc.loc, text, "read fewer elements of it, or compute less for each")
            continue
        if any(read.is_elsewhere for read in producer.reads):
            fn = _without(fn, producer)
            known = _Known.of(fn, ctx.facts.texts)
            ctx.recomputed[alloc.array] = alloc.loc
            ctx.remark(alloc.loc, f"'{name}' is never stored: it is computed at each of {reads} reads")
            left = [a for a in left if a.array != alloc.array]
    return fn


@dataclass(frozen=True, slots=True)
class _Read:
    """A read of the array. nest: the number of the loop nest that it is in. is_elsewhere: after fusion of the
    loops, another iteration than that of the read would store the element."""

    load: Load
    nest: int
    is_elsewhere: bool


@dataclass(frozen=True, slots=True)
class _Producer:
    """The nest that fills an array: it stores `value` at the index `axes`, one loop variable for each axis."""

    alloc: Alloc
    nest: For
    axes: tuple[Symbol, ...]
    value: Expr
    reads: tuple[_Read, ...]

    def gain(self) -> float:
        """Nanoseconds that one element costs less if it is computed at every read."""
        machine = Machine()
        in_lanes, alone = operations_of(self.value)
        once = in_lanes * machine.vector + alone * machine.scalar
        loads = len({(n.array, n.index) for n in walk(self.value) if isinstance(n, Load)})
        sites = len({(read.load.index, read.nest) for read in self.reads})
        computing = (sites - 1) * once + (sites * loads - loads - sites) * machine.vector
        consumers = len({read.nest for read in self.reads})
        inputs = {n.array for n in walk(self.value) if isinstance(n, Load)}
        kept = (2 + consumers) * self.alloc.array.dtype.itemsize
        read_again = (consumers - 1) * sum(array.dtype.itemsize for array in inputs)
        return (kept - read_again) * machine.byte_far - computing


@dataclass(frozen=True, slots=True)
class _Known:
    """Facts about a function before the rewrite: the number of accesses to each array, and the arrays whose
    extents are read."""

    accesses: Counter[Symbol]
    sized: frozenset[Symbol]
    texts: Texts

    @classmethod
    def of(cls, fn: Function, texts: Texts) -> _Known:
        sized = frozenset(n.array for n in walk(fn) if isinstance(n, Extent))
        return cls(Counter(array for array, _, _ in accesses_in(fn)), sized, texts)


def _producer(fn: Function, alloc: Alloc, equal: EqualExtents, known: _Known) -> _Producer | None:
    """The nest that fills the array, if its elements may be recomputed at every read."""
    array = alloc.array
    if array in known.sized:
        return None
    for body in _blocks(fn.body):
        for at, stmt in enumerate(body):
            store = filled_by(stmt, alloc, equal) if isinstance(stmt, For) else None
            if not isinstance(stmt, For) or store is None:
                continue
            axes, value = tuple(loop.var for loop in perfect_nest(stmt)), store.value
            reads = _reads(body[at + 1 :], alloc, axes, equal, known.texts)
            if reads is None or known.accesses[array] != len(reads) + 1:
                return None
            last = max((read.nest for read in reads), default=-1)
            needed = Touched.by(value)
            changed = known.texts.by(body[at + 1 : at + 2 + last]).touched
            if changed.writes & needed.reads or changed.made & needed.sizes:
                return None
            return _Producer(alloc, stmt, axes, value, reads)
    return None


def _blocks(body: tuple[Stmt, ...]) -> Iterator[tuple[Stmt, ...]]:
    yield body
    for stmt in body:
        for block in blocks_of(stmt):
            yield from _blocks(block)


def _reads(
    later: tuple[Stmt, ...], alloc: Alloc, axes: tuple[Symbol, ...], equal: EqualExtents, texts: Texts
) -> tuple[_Read, ...] | None:
    """The reads behind the nest; None where one would recompute an element repeatedly, or has other subscripts."""
    out: list[_Read] = []
    for number, stmt in enumerate(later):
        if alloc.array not in texts.of(stmt).loaded:
            continue
        for load, loops in walk_in_loops(stmt):
            if isinstance(load, View) and load.array == alloc.array:
                return None
            if not isinstance(load, Load) or load.array != alloc.array:
                continue
            around = [loop for loop in loops if isinstance(loop, For)]  # a `while` has no name
            bases = [apart(index)[0] for index in load.index]
            named = {base.symbol if isinstance(base, Var) else None for base in bases}
            if len(around) != len(axes) or named != {loop.var for loop in around}:
                return None
            is_there = load.index == tuple(Var(loop.var, loc=loop.loc) for loop in around) and all(
                is_whole(loop, extent, equal) for loop, extent in zip(around, alloc.shape, strict=True)
            )
            out.append(_Read(load, number, not is_there))
    return tuple(out)


def _without(fn: Function, producer: _Producer) -> Function:
    """The function without the array: every read is replaced by the value."""
    array = producer.alloc.array

    def rule(node: Node) -> Node | tuple[Node, ...]:
        match node:
            case Alloc() if node.array == array:
                return tested(node)
            case For() if node.var == producer.nest.var:
                return ()
            case Load() if node.array == array:
                return substitute(producer.value, dict(zip(producer.axes, node.index, strict=True)))
            case _:
                return node

    return rewrite(fn, rule)
