"""Which chains of loops `overlapped_tiling` tiles: those whose blocks save more memory traffic than they recompute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from appyc.analysis.cost.costs import operations_of
from appyc.analysis.patterns import block_chains as chains
from appyc.ir.machine_model import Machine
from appyc.ir.nodes import Alloc, Assign, For, Load, Stmt, Store, Symbol, Update
from appyc.ir.raising import may_leave
from appyc.ir.visit import arrays_read, scalars_written, walk
from appyc.passes.fuse.shifted_fusion import ROWS, may_be_cut
from appyc.passes.fuse.tiled_loops import storing
from appyc.passes.parallelise.recognise_reductions import with_updates
from appyc.passes.pass_context import PassContext

MOST_MEMBERS = 12
"""The most loops in one chain: the analysis of the tiled loop takes quadratic time."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Loops that run in blocks, with what goes before and behind them. end: how many statements that is."""

    members: tuple[chains.Member, ...]
    fresh: chains.Fresh
    before: tuple[Stmt, ...]
    behind: tuple[Stmt, ...]
    end: int

    @property
    def rows(self) -> int:
        arrays = {n.array for one in self.members for n in walk(one.loop) if isinstance(n, Load | Store)}
        return ROWS[min(max(array.array.ndim for array in arrays), max(ROWS))]

    def gain(self) -> float:
        """Nanoseconds for each element, where there are more than caches hold."""
        machine = Machine()
        kept, again = 0.0, 0.0
        for at, one in enumerate(self.members):
            later = self.members[at + 1 :]
            for array in one.writes:
                readers = sum(array in arrays_read(other.loop) for other in later)
                ways = readers + (2 if array in self.fresh.temporary else 0)
                kept += ways * array.dtype.itemsize * machine.byte_far
            loads = {n.array: n.array.dtype.itemsize for n in walk(one.loop.body) if isinstance(n, Load)}
            values = [n.value for n in walk(one.loop.body) if isinstance(n, Store | Assign | Update)]
            counts = [operations_of(value) for value in values]
            work = sum(lanes * machine.vector + single * machine.scalar for lanes, single in counts)
            again += (work + sum(loads.values()) * machine.byte_far) * one.extra / self.rows
        return kept - again


@dataclass(frozen=True, slots=True)
class ChainFinder:
    """accesses: the number of accesses to each array. once: arrays with a single allocation. private: those of `once`
    that are not returned and whose shapes are not read. live: the live-out scalars of each loop. members: the loops as
    members of chains, by identity. saving: whether the second of two members saves traffic behind the first: a chain
    that ends too soon is tried again from its second loop on."""

    accesses: Counter[Symbol]
    once: frozenset[Symbol]
    private: frozenset[Symbol]
    live: Mapping[Symbol, frozenset[Symbol]]
    ctx: PassContext
    members: dict[int, tuple[For, chains.Member | None]] = field(default_factory=dict)
    saving: dict[tuple[int, int], bool] = field(default_factory=dict)

    def chain(self, body: tuple[Stmt, ...], at: int) -> Chain | None:
        """The chain of loops to tile that starts at statement `at`; None where none pays."""
        text = self.ctx.facts.texts.by(body[:at])
        touched = text.loaded | text.stored
        allocs = frozenset(s.array for s in body if isinstance(s, Alloc)) & self.once - touched
        members: list[chains.Member] = []
        before: list[Stmt] = []
        behind: list[Stmt] = []
        found: Chain | None = None
        for end, stmt in enumerate(body[at:], 1):
            if isinstance(stmt, For):
                one = self._member(stmt)
                if one is None or len(members) == MOST_MEMBERS:
                    break
                if members and not self._goes_on(members, behind, one):
                    break
                members.append(one)
                chain = self._reaching(members, allocs, before, behind, end)
                found = chain or found
            elif chains.passes_by(stmt, members, behind, allocs, self.ctx.facts.texts):
                before.append(stmt)
            elif may_leave(stmt):
                break
            else:
                behind.append(stmt)
        return found

    def _member(self, loop: For) -> chains.Member | None:
        """The loop as a member of a chain."""
        known = self.members.get(id(loop))
        if known is None:
            known = self.members[id(loop)] = loop, self._found_member(loop)
        return known[1]

    def _found_member(self, loop: For) -> chains.Member | None:
        (combining,) = with_updates((loop,), self.ctx)
        assert isinstance(combining, For)
        found = chains.member(storing(combining))
        if found is None or self.live[loop.var] & scalars_written(loop) - found.totals:
            return None
        return found if may_be_cut(combining, self.ctx) else None

    def _goes_on(self, members: Sequence[chains.Member], behind: Sequence[Stmt], one: chains.Member) -> bool:
        texts = self.ctx.facts.texts
        mine = texts.of(one.loop).touched
        return (
            any(self._saves(other, one) for other in members)
            and all(mine.is_free_of(texts.of(stmt).touched) for stmt in behind)
            and not chains.share_scalars([other.loop for other in members], one.loop)
        )

    def _saves(self, one: chains.Member, last: chains.Member) -> bool:
        pair = id(one), id(last)
        if pair not in self.saving:
            self.saving[pair] = chains.saves_traffic(one, last)
        return self.saving[pair]

    def _reaching(
        self, members: Sequence[chains.Member], allocs: frozenset[Symbol], before: Sequence[Stmt],
        behind: Sequence[Stmt], end: int,
    ) -> Chain | None:  # fmt: skip
        """The chain of these loops, if blocks of them are possible, and pay."""
        written = frozenset[Symbol]().union(*(one.writes for one in members))
        private = written & allocs & self.private
        temporary = private - chains.touched_outside(private, self.accesses, members)
        text = self.ctx.facts.texts.by(before)
        fresh = chains.Fresh(allocs - text.loaded - text.stored, temporary)
        found = chains.reaching(members, fresh)
        if found is None:
            return None
        chain = Chain(found, fresh, tuple(before), tuple(behind), end)
        if len(members) < 2 or (len(members) == 2 and not temporary):
            return None  # `shifted_fusion` sees to two loops without computing anything twice
        return chain if chain.gain() > 0 else None
