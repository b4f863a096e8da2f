"""Stencil chains for overlapped tiling: consecutive loops, each of which reads rows near its own from earlier ones.

    for i in range(1, n - 1): t[i] = x[i + 1] - x[i - 1]        a member: its row is i, of t
    for i in range(0, n - 2): y[i + 1] = t[i + 2] - t[i]        a member: its row is i + 1, of y; it wants t[row - 1]
    for i in range(0, n):     s += y[i] * t[i]                  a member: its row is i   and t[row + 1]

A row is an index on the first axis. For a block of rows of the last loops' results, the earlier loops
have to compute some more rows at each end of the block, its halo: `Member.near` (0 or less) and `Member.far`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from appyc.analysis.accesses.scalar_flow import scalars_of
from appyc.analysis.accesses.syntactic_effects import Texts
from appyc.analysis.cost.costs import traffic_of
from appyc.analysis.cost.fusion_benefit import Traffic, is_worthwhile, matrix_of_all_iterations
from appyc.analysis.dependences.fusion_legality import alone, has_effects
from appyc.ir.affine import distance
from appyc.ir.array_accesses import accesses_in
from appyc.ir.blocks import jumps
from appyc.ir.invariance import arrays_made, changed_in, is_invariant
from appyc.ir.nodes import Expr, For, If, Load, Node, Stmt, Store, Symbol, Update
from appyc.ir.raising import may_raise
from appyc.ir.visit import arrays_read, rewrite_all, scalars_read, scalars_written, walk


@dataclass(frozen=True, slots=True)
class Fresh:
    """Arrays that are made just before the chain, and what becomes of them: `temporary` are those that only the
    chain touches."""

    made: frozenset[Symbol]
    temporary: frozenset[Symbol]


@dataclass(frozen=True, slots=True)
class Member:
    """A loop of a chain.

    row: what is added to its variable to name its row. writes: arrays that it stores into. totals: scalars that its
    iterations combine into. traffic: the bytes of each array that it moves. near, far: how many rows before a block
    (as a number below 0) and behind it are needed of what it writes. wanted: the arrays of which these are.
    """

    loop: For
    row: int
    writes: frozenset[Symbol]
    totals: frozenset[Symbol]
    traffic: Traffic
    near: int = 0
    far: int = 0
    wanted: frozenset[Symbol] = frozenset()

    @property
    def extra(self) -> int:
        """Rows that are computed once more for each block."""
        return self.far - self.near

    def is_temporary(self, fresh: Fresh) -> bool:
        """Whether it makes nothing that is there after the chain."""
        return self.writes <= fresh.temporary and not self.totals

    def reads(self, arrays: Collection[Symbol]) -> Iterator[tuple[Symbol, int | None]]:
        """The reads of some arrays, each with its distance in rows from the member's own row; None where that
        is not constant."""
        for node in walk(self.loop.body):
            if isinstance(node, Load) and node.array in arrays:
                apart = distance(node.index[0], self.loop.var) if node.index else None
                yield node.array, None if apart is None else apart - self.row


def member(loop: For) -> Member | None:
    """The loop, whose iterations are free and whose reductions are updates, if it stores into one row at a time."""
    if loop.step != 1 or loop.clauses is not None or has_effects(loop.body):
        return None
    own = arrays_made(loop.body)
    rows: set[int | None] = set()
    writes: set[Symbol] = set()
    for node in walk(loop.body):
        if isinstance(node, Store) and node.array not in own:
            rows.add(distance(node.index[0], loop.var) if node.index else None)
            writes.add(node.array)
        elif isinstance(node, Update) and node.target.is_array and node.target not in own:
            return None
    found = scalars_of(alone(loop))[loop.var]
    if len(rows) > 1 or matrix_of_all_iterations(loop) is not None:
        return None
    (row,) = rows or {0}
    if row is None or not (writes or found.reductions):
        return None
    return Member(
        loop, row, frozenset(writes), frozenset(r.symbol for r in found.reductions), traffic_of(loop)
    )


def reaching(members: Sequence[Member], fresh: Fresh) -> tuple[Member, ...] | None:
    """The members with what is needed of each; None where blocks of them are not possible.

    An array is written by one member, before others read it. Who needs rows that other blocks compute, too, has them
    in an array of the block's own, which starts as the array itself did: so that one must be fresh.
    """
    writer = {array: at for at, one in enumerate(members) for array in one.writes}
    if sum(len(one.writes) for one in members) > len(writer):
        return None
    found = list(members)
    needs: dict[Symbol, tuple[int, int]] = {}
    for at in range(len(members) - 1, -1, -1):
        one = found[at]
        mine = [needs[array] for array in one.writes if array in needs]
        if not one.is_temporary(fresh):
            mine.append((0, 0))
        if not mine:
            return None  # what it writes is dead
        near, far = min(n for n, _ in mine), max(f for _, f in mine)
        wanted = one.writes if one.is_temporary(fresh) else _wanted(one, needs)
        if wanted and not wanted <= fresh.made:
            return None
        found[at] = one = replace(one, near=near, far=far, wanted=wanted)
        for array, apart in one.reads(writer.keys()):
            if apart is None or writer[array] > at or (writer[array] == at and apart != 0):
                return None
            if writer[array] < at:
                low, high = needs.get(array, (near + apart, far + apart))
                needs[array] = min(low, near + apart), max(high, far + apart)
    return tuple(found)


def _wanted(one: Member, needs: dict[Symbol, tuple[int, int]]) -> frozenset[Symbol]:
    """The arrays of which rows outside a block are needed, and those that these are computed from."""
    wanted = {array for array in one.writes if needs.get(array, (0, 0)) != (0, 0)}
    while wanted:
        read = arrays_read(only(one.loop.body, one.totals, frozenset(one.writes - wanted))) & one.writes
        if read <= wanted:
            break
        wanted |= read
    return frozenset(wanted)


def only(body: tuple[Stmt, ...], totals: frozenset[Symbol], unwanted: frozenset[Symbol]) -> tuple[Stmt, ...]:
    """Statements without what they store into some arrays, and combine into some scalars."""

    def rule(node: Node) -> Node | tuple[Node, ...]:
        match node:
            case Store(array=array) if array in unwanted:
                return ()
            case Update(target=target) if target in totals:
                return ()
            case For(body=()) | If(then=(), orelse=()):
                return ()
            case _:
                return node

    return rewrite_all(body, rule)


def is_fixed(exprs: Sequence[Expr], members: Sequence[Member]) -> bool:
    """Whether expressions have one value before the chain and in all of it."""
    return is_invariant(exprs, changed_in([one.loop for one in members]))


def share_scalars(loops: Sequence[For], last: For) -> bool:
    """Whether the last loop needs what another one leaves in a scalar, or the other way round."""
    second = scalars_written(last)
    touched = scalars_read(last) | second
    shared: dict[Symbol, set[Symbol]] = {}
    for one in loops:
        both = scalars_written(one) & touched
        if second:
            both |= second & scalars_read(one)
        if both:
            shared[one.var] = both
    if not shared:
        return False
    found = scalars_of(alone(*loops, last))
    mine = set(found[last.var].private)
    return any(both - (set(found[var].private) & mine) for var, both in shared.items())


SAVED = 1 / 16
"""The part of what a loop and one before it move that a chain must save. Half of what joins two loops: they save that
for each other, and those that follow save as much again."""


def saves_traffic(one: Member, last: Member) -> bool:
    """Whether temporal reuse saves much of the last loop's traffic, if it accesses the rows that another member has
    just accessed. One of the reused arrays must be written by that member."""
    apart = dict(last.reads(one.writes | arrays_read(one.loop)))
    there = {array for array, rows in apart.items() if rows is not None}
    return bool(there & one.writes) and is_worthwhile(one.traffic, last.traffic, there, SAVED)


def passes_by(
    stmt: Stmt, members: Sequence[Member], behind: Sequence[Stmt], made: frozenset[Symbol], texts: Texts
) -> bool:
    """Whether a statement behind the members may be moved before them. Where it may raise, the members may write
    only arrays made in the function, so that their writes are not observable."""
    if jumps(stmt) or (may_raise(stmt) and not all(one.writes <= made for one in members)):
        return False
    mine = texts.of(stmt).touched
    others = (*(one.loop for one in members), *behind)
    return all(mine.is_free_of(texts.of(other).touched) for other in others)


def touched_outside(
    arrays: Collection[Symbol], whole: Counter[Symbol], members: Sequence[Member]
) -> set[Symbol]:
    """The arrays that are accessed outside the members too. whole: how often all are accessed in the function."""
    if not arrays:
        return set()
    inside = Counter(array for array, _, _ in accesses_in([one.loop for one in members]))
    return {array for array in arrays if whole[array] > inside[array]}
