"""Scalar expansion over lanes: statements with one value a lane become loops over the lanes.

`predicate_lanes` lowers a loop's body to statements that all lanes execute in lockstep, under masks. Here each run of
such statements becomes one loop, which a C compiler vectorises. Scalars that are live across runs, or carried by a
`while`, become arrays with an element for each lane:

    z = 0.0                                          z_lanes = zeros(16);  live_lanes = zeros(16)
    live = inside & (z < 4.0)                        any = 0
    while any lane is live:                          for lane in range(16):      # simd, reduction(| : any)
        z = z * z + c if live else z          ->         z = 0.0;  live = inside & (z < 4.0)
        live = live & (z < 4.0)                          z_lanes[lane] = z;  live_lanes[lane] = live;  any |= live
                                                     while any:
                                                         any = 0
                                                         for lane in range(16):  # simd, reduction(| : any)
                                                             z = z_lanes[lane];  live = live_lanes[lane] != 0
                                                             z = z * z + c if live else z
                                                             ...

Flags are stored in integers as wide as the other operands: C compilers do not vectorise loops with flags of one byte.

Needs: statements that cannot raise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from appyc.errors import InternalError, Loc
from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.gpu_program import Branch, LaneReduce, Loop, Repeat, ScheduledStmt
from appyc.ir.names import NameSupply, ordered
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import (
    arrays_read,
    arrays_written,
    rename,
    rewrite,
    scalars_read,
    scalars_written,
    statements,
)
from appyc.passes.node_builders import begun, counting, integer, less, negated, zero

FEW = 2
"""The number of active lanes up to which they finish a loop one after another: a step of all lanes takes the
time of two or three steps of a single lane."""


def expand_lanes(
    body: Iterable[ScheduledStmt],
    lane: ir.Symbol,
    lanes: int,
    varying: set[ir.Symbol],
    names: NameSupply,
    loc: Loc,
) -> tuple[ir.Stmt, ...]:
    """The statements as loops of `lane` from 0 to `lanes`. varying: the scalars with one value a lane."""
    loops = _Runs(lane, lanes, varying, names, loc)
    stmts = loops.block(tuple(body), [])
    return _Kept(loops, stmts).block(stmts)


class _Runs:
    """Makes the loops."""

    def __init__(
        self, lane: ir.Symbol, lanes: int, varying: set[ir.Symbol], names: NameSupply, loc: Loc
    ) -> None:
        self.lane, self.lanes, self.varying, self.names, self.loc = lane, lanes, varying, names, loc

    def block(self, body: tuple[ScheduledStmt, ...], run: list[ir.Stmt]) -> tuple[ir.Stmt, ...]:
        """run: what the lanes do after it."""
        out: list[ir.Stmt] = []
        gathered: list[ir.Stmt] = []
        for stmt in body:
            match stmt:
                case ir.Assign() if stmt.target not in self.varying:
                    if not _stands_apart(stmt, gathered):
                        self._close(gathered, out)
                    out.append(replace(stmt, value=_plain(stmt.value)))
                case ir.Assign() | ir.Store() | ir.Update():
                    gathered.append(rewrite(stmt, _flags_at_once))
                case LaneReduce(target, op, value):
                    gathered.append(begun(target, op, stmt.loc))
                    gathered.append(ir.Update(target, (), op, _plain(value), loc=stmt.loc))
                    self._close(gathered, out)
                case Repeat():
                    self._repeat(stmt, gathered, out)
                case Loop(var, lo, hi, int(step), body):
                    self._close(gathered, out)
                    out.append(ir.For(var, lo, hi, step, self.block(body, []), loc=stmt.loc))
                case Branch():
                    self._close(gathered, out)
                    then, orelse = self.block(stmt.then, []), self.block(stmt.orelse, [])
                    out.append(ir.If(_plain(stmt.cond), then, orelse, loc=stmt.loc))
                case _:
                    raise InternalError("vectorise_outer_loops", f"{type(stmt).__name__} in lanes")
        gathered += run
        self._close(gathered, out)
        return tuple(out)

    def _repeat(self, stmt: Repeat, gathered: list[ir.Stmt], out: list[ir.Stmt]) -> None:
        if not isinstance(stmt.cond, ir.AnyLane):
            self._close(gathered, out)
            out.append(ir.While(_plain(stmt.cond), self.block(stmt.body, []), loc=stmt.loc))
            return
        loc, goes_on = stmt.loc, _plain(stmt.cond.arg)
        going = self.names.fresh("going", DType.INT64)
        start = ir.Assign(going, integer(0, loc), loc=loc)
        count = ir.Update(going, (), "+", ir.Cast(goes_on, DType.INT64, loc=loc), loc=loc)
        gathered += [start, count]
        self._close(gathered, out)
        many = less(integer(FEW, loc), ir.Var(going, loc=loc))
        out.append(ir.While(many, self.block(stmt.body, [start, count]), loc=loc))
        rest = ir.While(goes_on, self._alone(stmt.body), loc=loc)
        each = counting(self.lane, integer(self.lanes, loc), (rest,))
        out.append(ir.If(less(integer(0, loc), ir.Var(going, loc=loc)), (each,), loc=loc))

    def _alone(self, body: tuple[ScheduledStmt, ...]) -> tuple[ir.Stmt, ...]:
        """The statements of a single active lane."""
        out: list[ir.Stmt] = []
        for stmt in body:
            loc = stmt.loc
            match stmt:
                case ir.Assign() | ir.Store() | ir.Update():
                    out.append(rewrite(stmt, _flags_at_once))
                case LaneReduce(target, _, value):
                    out.append(ir.Assign(target, _plain(value), loc=loc))
                case Repeat(cond, inner):
                    goes_on = cond.arg if isinstance(cond, ir.AnyLane) else cond
                    out.append(ir.While(_plain(goes_on), self._alone(inner), loc=loc))
                case Loop(var, lo, hi, int(step), inner):
                    again = {var: self.names.fresh(var.name, DType.INT64)}
                    out.append(ir.For(again[var], lo, hi, step, rename(self._alone(inner), again), loc=loc))
                case Branch(cond, then, orelse):
                    out.append(ir.If(_plain(cond), self._alone(then), self._alone(orelse), loc=loc))
                case _:
                    raise InternalError("vectorise_outer_loops", f"{type(stmt).__name__} in a lane")
        return tuple(out)

    def _close(self, gathered: list[ir.Stmt], out: list[ir.Stmt]) -> None:
        """Ends a run: scalars that the lanes combine into are set before its loop."""
        if not gathered:
            return
        loc = self.loc
        starts = [s for s in gathered if isinstance(s, ir.Assign) and s.target not in self.varying]
        body = tuple(s for s in gathered if s not in starts)
        updates = [s for s in body if isinstance(s, ir.Update) and not s.target.is_array]
        reductions = tuple(ir.Reduction(s.op, s.target) for s in updates)
        out += starts
        if body:
            out.append(counting(self.lane, integer(self.lanes, loc), body, ir.LoopMode.SIMD, reductions))
        gathered.clear()


class _Kept:
    """Gives scalars that one loop over the lanes leaves to another an element for each lane."""

    def __init__(self, loops: _Runs, body: tuple[ir.Stmt, ...]) -> None:
        self.runs = loops
        self.kept = self._find(body)

    def _find(self, body: tuple[ir.Stmt, ...]) -> dict[ir.Symbol, ir.Symbol]:
        found = [n for n in statements(body) if isinstance(n, ir.For) and self._is_run(n)]
        own = [self._own(loop) for loop in found]
        uses = Counter(symbol for scalars in own for symbol in scalars)
        carried = {s for loop, scalars in zip(found, own, strict=True) for s in scalars if not _sets(loop, s)}
        widths = {s.dtype.itemsize for s in uses if s.dtype is not DType.BOOL}
        flag = DType.INT32 if widths and max(widths) <= DType.INT32.itemsize else DType.INT64
        return {
            s: self.runs.names.fresh(
                f"{s.name}_lanes", ArrayType(flag if s.dtype is DType.BOOL else s.dtype, 1)
            )
            for s in ordered({s for s in uses if uses[s] > 1 or s in carried})
        }

    def _is_run(self, loop: ir.For) -> bool:
        return loop.var == self.runs.lane and loop.mode is ir.LoopMode.SIMD

    def _own(self, loop: ir.For) -> set[ir.Symbol]:
        """The scalars of the lanes that a run names."""
        return _scalars(loop.body) & self.runs.varying - {self.runs.lane}

    def block(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        loc, size = self.runs.loc, integer(self.runs.lanes, self.runs.loc)
        made = tuple(
            ir.Alloc(array, (size,), zero=True, in_frame=True, loc=loc) for array in self.kept.values()
        )
        return (*made, *self._block(body))

    def _block(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        return tuple(
            self._own_lane(self._loop(stmt))
            if isinstance(stmt, ir.For) and stmt.var == self.runs.lane
            else map_blocks(stmt, self._block)
            for stmt in body
        )

    def _own_lane(self, loop: ir.For) -> ir.For:
        """The loop with a variable of its own."""
        lane = self.runs.lane
        return rename(loop, {lane: self.runs.names.fresh(lane.name, DType.INT64)})

    def _loop(self, loop: ir.For) -> ir.For:
        """A run with its scalars taken from their elements before it, and put back after it."""
        loc, lane = loop.loc, (ir.Var(self.runs.lane, loc=loop.loc),)
        before: list[ir.Stmt] = []
        after: list[ir.Stmt] = []
        written = scalars_written(loop.body)
        for symbol in ordered(self._own(loop)):
            if symbol not in self.kept:
                continue
            array = self.kept[symbol]
            if not _sets(loop, symbol):
                element: ir.Expr = ir.Load(array, lane, checked=False, loc=loc)
                if symbol.dtype is DType.BOOL:
                    element = ir.Compare("!=", element, zero(array.dtype, loc), loc=loc)
                before.append(ir.Assign(symbol, element, loc=loc))
            if symbol in written:
                value: ir.Expr = ir.Var(symbol, loc=loc)
                if symbol.dtype is DType.BOOL:
                    value = ir.Cast(value, array.dtype, loc=loc)
                after.append(ir.Store(array, lane, value, checked=False, loc=loc))
        body = (*before, *loop.body, *after)
        if not self._is_run(loop):
            return replace(loop, body=body)
        reduced = {r.symbol for r in loop.reductions}
        return replace(loop, body=body, private=ordered(scalars_written(body) - reduced))


def _scalars(body: Iterable[ir.Stmt]) -> set[ir.Symbol]:
    body = tuple(body)
    return scalars_read(body) | scalars_written(body)


def _sets(loop: ir.For, symbol: ir.Symbol) -> bool:
    """Whether a loop over the lanes sets a scalar before it reads it."""
    first = next(stmt for stmt in loop.body if symbol in _scalars((stmt,)))
    return isinstance(first, ir.Assign) and first.target == symbol and symbol not in scalars_read(first.value)


def _stands_apart(stmt: ir.Assign, run: list[ir.Stmt]) -> bool:
    """Whether what all lanes share may be computed before a run that comes first in the program."""
    return stmt.target not in _scalars(run) and not arrays_read(stmt) & arrays_written(run)


def _plain(expr: ir.Expr) -> ir.Expr:
    return rewrite(expr, _flags_at_once)


def _flags_at_once(node: ir.Node) -> ir.Node:
    """The logical operators and selects of bools as bitwise operations that evaluate both sides. Reads in
    them have masks, and C compilers make branches of operands that need not be evaluated."""
    match node:
        case ir.Logical(op, lhs, rhs):
            return ir.Binary("&" if op == "and" else "|", lhs, rhs, loc=node.loc)
        case ir.Select(cond, then, orelse) if node.dtype is DType.BOOL:
            sides = (then, cond), (orelse, negated(cond))
            first, second = (ir.Binary("&", side, where, loc=node.loc) for side, where in sides)
            return ir.Binary("|", first, second, loc=node.loc)
        case _:
            return node
