"""Keeps short rows in the lanes of one program of a GPU, an element a lane.

    e = empty((n, m))                               if m <= 1024:
    for i in range(0, n):      # parallel               for i in range(0, n):      # parallel, 1024 lanes
        for j in range(0, m):                               e = empty((m,))
            t = max(t, x[i, j])                             for j in range(0, m): t = max(t, x[i, j])
        for j in range(0, m):             ->                for j in range(0, m): e[j] = exp(x[i, j] - t)
            e[i, j] = exp(x[i, j] - t)                      for j in range(0, m): y[i, j] = e[j] * 2.0
        for j in range(0, m):                           else:
            y[i, j] = e[i, j] * 2.0                         as before, and its `e`

A program that runs its loops in strips of lanes reads the row again in each loop, and passes `e`
through memory. With the whole row in its lanes, x is read once, y is written once, and `e` is in registers.
The length of rows is known when the host launches: there is a kernel for short rows, one for longer rows, and
the kernel with strips. `row_lanes` lowers the first two.

A nest qualifies if its body has only scalars and innermost loops over one range. One of these loops must read
elements that another one has read, or has written into a temporary that is dead outside the nest.

Requires: loops have their modes.

Does not handle: rows whose length depends on the iteration; temporaries of complex numbers; loops with
live-out scalars, or with loop-carried ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from appyc.analysis.accesses.uses import Uses
from appyc.analysis.dependences.verdicts import named
from appyc.ir import nodes as ir
from appyc.ir import visit
from appyc.ir.array_accesses import is_access_to
from appyc.ir.blocks import map_blocks
from appyc.ir.invariance import is_invariant
from appyc.ir.names import NameSupply
from appyc.ir.schedule import LoopSchedule
from appyc.ir.types import ArrayType
from appyc.passes.checks.lengths import tested
from appyc.passes.gpu.map_gpu import map_gpu, may_be_lanes, perfect_chain
from appyc.passes.node_builders import fresh_variables, integer, trip_count
from appyc.passes.pass_context import PassContext

SIZES = (1024, 4096)
"""Lanes of programs that hold a row: the next power of two is never far, and a thread has few registers for each."""


def keep_rows_on_chip(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with such nests in three versions."""
    rows = _RowsOnChip(fn, NameSupply.after(fn), ctx, {})
    body = rows.block(fn.body)
    return replace(fn, body=body, schedule=fn.schedule.updated(rows.decided)) if rows.decided else fn


@dataclass(frozen=True, slots=True)
class _Row:
    """A nest that is a chain of loops, and the loops in its innermost body. made: the temporaries from before it
    of which each iteration has a row. own: those that are made inside."""

    nest: ir.For
    chain: tuple[ir.Symbol, ...]
    loops: tuple[ir.For, ...]
    made: tuple[ir.Alloc, ...]
    own: tuple[ir.Alloc, ...]

    def count(self) -> ir.Expr:
        loop = self.loops[0]
        return trip_count(loop.lo, loop.hi, loop.step)


@dataclass(frozen=True, slots=True)
class _RowsOnChip:
    fn: ir.Function
    names: NameSupply
    ctx: PassContext
    decided: dict[ir.Symbol, LoopSchedule]

    def block(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        """Statements around which no loop runs in parallel."""
        out: list[ir.Stmt] = []
        for stmt in body:
            match stmt:
                case ir.For() if stmt.mode is not ir.LoopMode.SEQUENTIAL:
                    self._nest(stmt, out)
                case _:
                    out.append(map_blocks(stmt, self.block))
        return tuple(out)

    def _nest(self, nest: ir.For, out: list[ir.Stmt]) -> None:
        row = _row_of(nest, self._temporaries(nest, out))
        if row is None:
            out.append(nest)
            return
        for alloc in row.made:
            at = out.index(alloc)
            out[at : at + 1] = tested(alloc)
        stmt: ir.Stmt = nest
        body: tuple[ir.Stmt, ...] = (*row.made, stmt)
        for lanes in reversed(SIZES):
            short = ir.Compare("<=", row.count(), integer(lanes, nest.loc), loc=nest.loc)
            body = (ir.If(short, (self._with_lanes(row, lanes),), body, loc=nest.loc),)
        out += body
        self.ctx.remark(
            nest.loc, f"{named(nest)}: rows of up to {SIZES[-1]} elements stay in the registers of a program"
        )

    def _temporaries(self, nest: ir.For, before: Sequence[ir.Stmt]) -> list[ir.Alloc]:
        """Arrays made before the nest, in the same block, that only the nest touches."""
        inside = visit.symbols_of(nest)
        out: list[ir.Alloc] = []
        for number, stmt in enumerate(before):
            if not isinstance(stmt, ir.Alloc) or stmt.array not in inside or stmt.array.dtype.is_complex:
                continue
            changed = visit.scalars_read(stmt.shape) & visit.scalars_written(before[number:])
            if not changed and not visit.arrays_read(stmt.shape) and _is_seen_by(nest, stmt.array, self.fn):
                out.append(stmt)
        return out

    def _with_lanes(self, row: _Row, lanes: int) -> ir.For:
        """The nest with a lane for each element of a row, and with fresh loop variables and arrays."""
        fresh = fresh_variables(row.nest, self.names)
        rows = {a.array: self.names.fresh(a.array.name, ArrayType(a.array.dtype, 1)) for a in row.made}
        fresh |= {a.array: self.names.fresh(a.array.name, a.array.type) for a in row.own}
        self.decided.update((fresh[var], LoopSchedule(row_lanes=lanes)) for var in row.chain)
        row_axes = {a.array: _axis(a.array, row.loops, row.chain, row.nest) for a in row.made}
        own = tuple(
            replace(a, array=rows[a.array], shape=(a.shape[at],))
            for a in row.made
            if (at := row_axes[a.array]) is not None
        )

        def rule(node: ir.Node) -> ir.Node:
            match node:
                case ir.Load() | ir.Store() if (
                    node.array in rows and (at := row_axes[node.array]) is not None
                ):
                    return replace(node, array=rows[node.array], index=(node.index[at],))
                case ir.For() if node.var in row.chain:
                    body = (*own, *node.body) if node.var == row.chain[-1] else node.body
                    return replace(node, body=body)
                case _:
                    return node

        return visit.rename(visit.rewrite(row.nest, rule), fresh)


def _is_seen_by(nest: ir.For, array: ir.Symbol, fn: ir.Function) -> bool:
    """Whether the array is local to the nest: no other statement uses it or its shape, and it is not returned."""
    if any(r.value == array for r in fn.results):
        return False
    if any(isinstance(n, ir.Extent) and n.array == array for n in visit.walk(fn)):
        return False
    return len(Uses.of(fn).by_array[array]) == sum(is_access_to(n, array) for n in visit.walk(nest))


def _row_of(nest: ir.For, temporaries: Sequence[ir.Alloc]) -> _Row | None:
    """The nest as a program that has a row in its lanes; None where it cannot be one, or nothing is gained."""
    around = perfect_chain(nest)
    chain, body = tuple(loop.var for loop in around), around[-1].body
    loops = tuple(stmt for stmt in body if isinstance(stmt, ir.For))
    if len(loops) < 2 or any(loop.last or _is_asked(loop) for loop in around):
        return None
    inside = {*chain, *visit.scalars_written(nest)}
    own = tuple(stmt for stmt in body if isinstance(stmt, ir.Alloc))
    if not all(_is_uniform(stmt) for stmt in body if not isinstance(stmt, ir.For | ir.Alloc)):
        return None
    first = loops[0]
    if not all(_is_lanes(loop, inside) and _range(loop) == _range(first) for loop in loops):
        return None
    if any(a.array.dtype.is_complex or _axis(a.array, loops, (), nest) is None for a in own):
        return None
    made = tuple(a for a in temporaries if _axis(a.array, loops, chain, nest) is not None)
    gains = made or own or (not _splits(nest, loops) and _reads_again(loops, visit.arrays_written(nest)))
    return _Row(nest, chain, loops, made, own) if gains else None


def _is_asked(loop: ir.For) -> bool:
    """Whether a pragma says what programs the loop gets."""
    return loop.clauses is not None and bool(loop.clauses.launch)


def _splits(nest: ir.For, loops: Sequence[ir.For]) -> bool:
    """Whether nothing but sums is computed, each by a lane of its own that goes along the row: `split_reductions` has
    more lanes, and these load adjacent elements."""
    return map_gpu(nest).lane is not None and not any(visit.arrays_written(loop.body) for loop in loops)


def _range(loop: ir.For) -> tuple[ir.Expr, ir.Expr, int]:
    return loop.lo, loop.hi, loop.step


def _is_uniform(stmt: ir.Stmt) -> bool:
    """Whether a statement between the loops is one that all lanes share."""
    match stmt:
        case ir.Assign() | ir.Store():
            return True
        case ir.Update():
            return not stmt.target.is_array
        case _:
            return False


def _is_lanes(loop: ir.For, inside: set[ir.Symbol]) -> bool:
    """Whether lanes may run all of a loop at once, as many as the host knows."""
    if not may_be_lanes(loop) or loop.scans or loop.last or _is_asked(loop):
        return False
    return not visit.contains(loop.body, ir.For | ir.While | ir.Alloc) and is_invariant(loop.bounds, inside)


def _axis(array: ir.Symbol, loops: Sequence[ir.For], chain: Sequence[ir.Symbol], nest: ir.For) -> int | None:
    """The axis of a temporary along the row; None for other arrays. Each iteration of the chain must access its own
    row, each lane its own element, and no other statement of the nest may access the array."""
    found: set[int] = set()
    seen = 0
    for loop in loops:
        for node in visit.walk(loop.body):
            if not is_access_to(node, array):
                continue
            seen += 1
            if not isinstance(node, ir.Load | ir.Store) or node.checked:
                return None
            named = [index.symbol if isinstance(index, ir.Var) else None for index in node.index]
            if sorted(map(str, named)) != sorted(map(str, (*chain, loop.var))):
                return None
            found.add(named.index(loop.var))
    everywhere = sum(is_access_to(n, array) for n in visit.walk(nest))
    return found.pop() if len(found) == 1 and seen == everywhere else None


def _reads_again(loops: Sequence[ir.For], written: set[ir.Symbol]) -> bool:
    """Whether a loop loads elements along the row that another one has loaded."""
    seen: set[tuple[ir.Symbol, tuple[ir.Expr, ...]]] = set()
    for loop in loops:
        here: dict[ir.Symbol, ir.Expr] = {loop.var: ir.Var(loops[0].var, loc=loop.loc)}
        loads = [n for n in visit.walk(loop.body) if isinstance(n, ir.Load) and n.array not in written]
        along = [n for n in loads if loop.var in visit.scalars_read(n.index)]
        mine = {(n.array, tuple(visit.substitute(index, here) for index in n.index)) for n in along}
        if mine & seen:
            return True
        seen |= mine
    return False
