"""Results that the programs of a kernel leave in memory for the host: shares of reductions, last values,
scalars.

    s_shares = empty(programs)                      programs of the kernel, each:  s_shares[program] = s
    launch(kernel, programs)              ->        one more kernel, of one program:
    s = combine(s_shares)                                for part in range(programs): s += s_shares[part]
                                                        s_cell[0] = s

Shares are combined in the same order on every run.
"""

from __future__ import annotations

from dataclasses import dataclass

from appyc.errors import Loc
from appyc.ir.fault_words import FaultSites
from appyc.ir.gpu_program import Kernel, LaneReduce, Launch, Loop, ProgramIndex, ReadBack, ScheduledStmt
from appyc.ir.names import NameSupply, spellings
from appyc.ir.nodes import Alloc, Binary, Expr, Load, LoopMode, Reduction, Store, Symbol, Update, Var
from appyc.ir.types import ArrayType, DType
from appyc.passes.gpu.lane_expressions import Where
from appyc.passes.gpu.place_barriers import place_barriers
from appyc.passes.gpu.predicate_lanes import KernelLowering
from appyc.passes.node_builders import begun, ceiling_quotient, counting, integer, let

SHARE_LANES = 1024
"""Lanes of the program that combines shares."""


@dataclass(frozen=True, slots=True)
class KernelResults:
    """Adds to the kernel `name` what it leaves. host: the statements before its launch, where arrays are made."""

    name: str
    names: NameSupply
    sites: FaultSites
    host: list[ScheduledStmt]
    loc: Loc

    def with_shares(
        self,
        reductions: tuple[Reduction, ...],
        kept: dict[Symbol, Symbol],
        axes: frozenset[int],
        number: Var,
        blocks: Expr,
        programs: Var,
        body: list[ScheduledStmt],
    ) -> tuple[list[ScheduledStmt], list[ScheduledStmt]]:
        """A program that runs `body` for several blocks in a row, each with its `number`, and stores its shares; and
        what combines them. kept, axes: as in `share`."""
        loc = self.loc
        some = Binary("max", programs, integer(1, loc), loc=loc)
        each = let("each", ceiling_quotient(blocks, some), self.names, self.host)
        program = Var(self.names.fresh("program", DType.INT64), loc=loc)
        first = Binary("*", program, each, loc=loc)
        end = Binary("min", Binary("+", first, each, loc=loc), blocks, loc=loc)
        whole: list[ScheduledStmt] = [
            ProgramIndex((program.symbol,), (), loc=loc),
            *(begun(kept[r.symbol], r.op, loc) for r in reductions),
            Loop(number.symbol, first, end, 1, tuple(body), loc=loc),
        ]
        combined: list[ScheduledStmt] = []
        names = spellings(r.symbol for r in reductions)
        for r in reductions:
            store, shares = self.share(r, kept[r.symbol], program, programs, axes)
            whole += store
            combined += self.combined(r, shares, programs, names[r.symbol])
        return whole, combined

    def share(
        self, reduction: Reduction, kept: Symbol, program: Var, programs: Expr, axes: frozenset[int]
    ) -> tuple[list[ScheduledStmt], Symbol]:
        """The statements by which a program stores its share of a reduction, and the array that they store
        into. kept: the program's share, or, with `axes`, the shares of its lanes along these axes."""
        loc, out, share = self.loc, list[ScheduledStmt](), Var(kept, loc=self.loc)
        shares = self.names.fresh(f"{reduction.symbol.name}_shares", ArrayType(reduction.symbol.dtype, 1))
        self.host.append(Alloc(shares, (programs,), zero=False, loc=loc))
        if axes:
            total = self.names.fresh(reduction.symbol.name, reduction.symbol.dtype)
            out.append(LaneReduce(total, reduction.op, share, axes, loc=loc))
            share = Var(total, loc=loc)
        out.append(Store(shares, (program,), share, checked=False, loc=loc))
        return out, shares

    def combined(
        self, reduction: Reduction, shares: Symbol, programs: Expr, spelled: str
    ) -> list[ScheduledStmt]:
        """A kernel that combines the shares. spelled: the scalar's name, for that of the kernel."""
        symbol, loc = reduction.symbol, self.loc
        part = self.names.fresh("part", DType.INT64)
        each = Load(shares, (Var(part, loc=loc),), checked=False, loc=loc)
        update = Update(symbol, (), reduction.op, each, loc=loc)
        combine = counting(part, programs, (update,), LoopMode.SIMD, (reduction,))
        lower = KernelLowering(self.names, self.sites, SHARE_LANES, frozenset({part}))
        return finish_kernel(
            f"{self.name}_{spelled}", lower, lower.block((combine,), Where()), (symbol,), loc
        )

    def last(
        self, symbol: Symbol, kept: Symbol, is_last: Expr | None, body: list[ScheduledStmt]
    ) -> ScheduledStmt:
        """The program and lane that has the last iteration stores the scalar; returns how the host gets it."""
        return _in_cell(symbol, Var(kept, loc=self.loc), is_last, self.names, self.host, body)


def _in_cell(
    symbol: Symbol, value: Var, mask: Expr | None, names: NameSupply, host: list[ScheduledStmt],
    body: list[ScheduledStmt],
) -> ReadBack:  # fmt: skip
    """Stores a value in an array of one element, which `host` makes; returns how the host gets it."""
    loc = value.loc
    cell = names.fresh(f"{symbol.name}_cell", ArrayType(symbol.dtype, 1))
    host.append(Alloc(cell, (integer(1, loc),), zero=False, loc=loc))
    body.append(Store(cell, (integer(0, loc),), value, checked=False, mask=mask, loc=loc))
    return ReadBack(symbol, cell, loc=loc)


def finish_kernel(
    name: str, lower: KernelLowering, body: list[ScheduledStmt], outputs: tuple[Symbol, ...], loc: Loc
) -> list[ScheduledStmt]:
    """A kernel of one program, and how the host gets the scalars that it leaves."""
    host: list[ScheduledStmt] = []
    body = list(body)
    back = [_in_cell(symbol, Var(symbol, loc=loc), None, lower.names, host, body) for symbol in outputs]
    lanes, warps = (lower.lanes, 4) if lower.varying else (1, 1)
    kernel = Kernel(
        name,
        place_barriers(tuple(body), lower.varying),
        lanes,
        lanes,
        None,
        warps,
        frozenset(lower.varying),
        lower.indices,
        loc=loc,
    )
    return [*host, Launch(kernel, integer(1, loc), loc=loc), *back]
