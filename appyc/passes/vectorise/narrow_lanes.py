"""Narrowing: lanes compute small integers in the width of the elements that they are made of.

Before:                                           After:
    for j in range(1, m - 1):   # simd                for j in range(1, m - 1):   # simd
        v = 0                                             v = uint8(0)
        v = max(v, int64(a[i, j - 1]))                    v = max(v, a[i, j - 1])
        v = max(v, int64(a[i, j]))                        v = max(v, a[i, j])
        o[i, j] = uint8(v)                                o[i, j] = v

A vector holds eight bytes for each int64, and no processor divides vectors of int64. Interval analysis gives the range
of each scalar and intermediate result; the narrowest type that holds those of a loop is used for all of them, so that
no operand is converted in between. Elements of 64 bits have no range, and what is made of them stays.

Requires: modes of loops, and no element whose check is left. Runs behind all passes that make lanes.

Does not handle: reductions of the loop and scalars that are live-out, loops around `while`, arrays that are indexed by
what is narrowed (their indices are converted back).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from appyc.analysis.algebra.intervals import Box
from appyc.analysis.algebra.values_before import ValuesBefore
from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.integers import Range, hull, is_within, limits, range_of
from appyc.ir.names import NameSupply
from appyc.ir.schedule import LoopSchedule
from appyc.ir.types import DType
from appyc.ir.visit import (
    children,
    contains,
    loops_of,
    map_loops,
    map_operands,
    rename,
    scalars_written,
    statements,
    substitute,
    walk,
)
from appyc.passes.node_builders import with_private
from appyc.passes.pass_context import PassContext
from appyc.passes.vectorise.narrow_totals import NARROW, narrow_totals

_EXACT = frozenset({"+", "-", "*", "&", "|", "^", "min", "max", "minimum", "maximum", "<<", ">>"})
"""Operators whose results are the same in any type that holds these and the operands."""

_OPERATIONS = (ir.Binary, ir.Unary, ir.Select, ir.Intrinsic)


def narrow_lanes(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Lanes of bytes, and of other narrow integers, on CPUs; what they are reduced into is narrow for a while, too."""
    return _narrowed(fn, ctx, NARROW, totals=True)


def halve_lanes(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Lanes of 32 bits on GPUs, whose registers are that wide: an int64 takes two, and several instructions."""
    return _narrowed(fn, ctx, NARROW[-1:])


def _narrowed(
    fn: ir.Function, ctx: PassContext, widths: Sequence[DType], *, totals: bool = False
) -> ir.Function:
    found = {
        loop.var
        for loop in loops_of(fn.body)
        if _has_lanes(loop) and (any(map(_is_widened, walk(loop.body))) or (totals and loop.reductions))
    }
    if not ctx.options.auto or not found:
        return fn
    values, supply = ValuesBefore(fn), NameSupply.after(fn)
    made, replaced = set[ir.Symbol](), set[ir.Symbol]()
    decided: dict[ir.Symbol, LoopSchedule] = {}

    def rule(loop: ir.For) -> ir.For:
        if loop.var not in found:
            if gone := (replaced & {*loop.private}) - scalars_written(loop.body):
                loop = replace(loop, private=tuple(s for s in loop.private if s not in gone))
            return with_private(loop, made)
        if totals and (narrow := narrow_totals(loop, values, supply)) is not None:
            decided[loop.var] = replace(fn.schedule[loop.var], narrow=narrow)
        lanes = _Lanes(loop, values, widths, supply)
        made.update(lanes.narrow.values())
        replaced.update(lanes.narrow)
        return lanes.narrowed()

    out = map_loops(fn, rule)
    return replace(out, schedule=fn.schedule.updated(decided)) if decided else out


def _has_lanes(loop: ir.For) -> bool:
    inner = loops_of(loop.body)
    is_innermost = all(n.mode is ir.LoopMode.SEQUENTIAL for n in inner) and not contains(loop.body, ir.While)
    return loop.mode is not ir.LoopMode.SEQUENTIAL and is_innermost


def _is_widened(node: ir.Node) -> TypeGuard[ir.Cast]:
    """Whether a node is a narrow integer as an int64."""
    match node:
        case ir.Cast(arg=arg, dtype=DType.INT64):
            return arg.dtype is DType.BOOL or (arg.dtype.is_integer and arg.dtype.bits < 64)
        case _:
            return False


def _divides(e: ir.Binary) -> bool:
    """Whether a number is divided by a positive constant."""
    return e.op in ("//", "%") and isinstance(e.rhs, ir.Const) and e.rhs.value.real > 0


class _Lanes:
    """Narrows the integers of one loop's lanes.

    chosen: the private scalars that are narrowed. dtype: their narrow type, None where nothing is narrowed. wide: the
    int64 expression for a chosen scalar.
    """

    def __init__(
        self, loop: ir.For, values: ValuesBefore, widths: Sequence[DType], supply: NameSupply
    ) -> None:
        self.loop, self.before = loop, values.before
        self.changing = {loop.var, *scalars_written(loop.body), *(inner.var for inner in loops_of(loop.body))}
        body = list(statements(loop.body))
        self.dtype: DType | None = None
        self.chosen: set[ir.Symbol] = set()
        self.narrow: dict[ir.Symbol, ir.Symbol] = {}
        if any(id(stmt) not in self.before for stmt in body):
            return  # no value reaches it
        self.chosen = {s for s in loop.private if s.dtype is DType.INT64 and s not in loop.last}
        while others := {target for target, found in self._assigned(body) if found is None}:
            self.chosen -= others
        ranges = [found for _, found in self._assigned(body) if found is not None]
        for stmt in body:
            box = self.before[id(stmt)]
            parts = [
                e for e in walk(_operands(stmt)) if isinstance(e, _OPERATIONS) and e.dtype is DType.INT64
            ]
            ranges += (
                found for e in parts if self._is_mixed(e) and (found := self._range(e, box)) is not None
            )
            compared = (self._limits(e, box) for e in walk(_operands(stmt)) if isinstance(e, ir.Compare))
            ranges += (found for found in compared if found is not None)
        if ranges:
            whole = min(low for low, _ in ranges), max(high for _, high in ranges)
            self.dtype = next((dtype for dtype in widths if is_within(whole, limits(dtype))), None)
        if self.dtype is not None:
            self.narrow = {s: supply.fresh(s.name, self.dtype) for s in loop.private if s in self.chosen}
            self.wide: dict[ir.Symbol, ir.Expr] = {
                s: ir.Cast(ir.Var(new, loc=loop.loc), DType.INT64, loc=loop.loc)
                for s, new in self.narrow.items()
            }

    def narrowed(self) -> ir.For:
        """The loop with what is computed in the narrow type."""
        if self.dtype is None:
            return self.loop
        renamed = rename(replace(self.loop, body=self._block(self.loop.body)), self.narrow)
        return replace(renamed, lo=self.loop.lo, hi=self.loop.hi)  # they read what is there before the loop

    # ------------------------------------------------------------ ranges

    def _assigned(self, body: Sequence[ir.Node]) -> Iterator[tuple[ir.Symbol, Range | None]]:
        """The chosen scalars, with the range of all that is computed for an assignment."""
        for stmt in body:
            match stmt:
                case ir.Assign(target=target, value=value) if target in self.chosen:
                    yield target, self._range(value, self.before[id(stmt)])
                case ir.Update(target=target, op=op, value=value) if target in self.chosen:
                    whole = ir.Binary(op, ir.Var(target, loc=stmt.loc), value, stmt.trap, loc=stmt.loc)
                    yield target, self._range(whole, self.before[id(stmt)])

    def _range(self, e: ir.Expr, box: Box) -> Range | None:
        """The range of an int64 and of all that it is computed from; None where that takes more than 32 bits."""
        own = range_of(e, box)
        if e.dtype is not DType.INT64 or not is_within(own, limits(DType.INT32)):
            return None
        match e:
            case ir.Const():
                return own
            case ir.Cast() if _is_widened(e):
                return own
            case ir.Var(symbol=symbol) if symbol in self.chosen:
                return own
            case ir.Binary(op=op, lhs=lhs, rhs=rhs, trap=False) if op in _EXACT or _divides(e):
                parts = (lhs, rhs)
            case ir.Unary(arg=arg) | ir.Intrinsic(name="abs", args=(arg,)):
                parts = (arg, arg)
            case ir.Select(then=then, orelse=orelse):
                parts = (then, orelse)
            case _:
                return None
        one, other = (self._range(part, box) for part in parts)
        return None if one is None or other is None else hull(own, hull(one, other))

    def _limits(self, e: ir.Compare, box: Box) -> Range | None:
        """The range of an expression that is compared with a loop-invariant number, extended by one on each
        side, to which that number can be clamped; None where the comparison is of another kind."""
        for one, other in ((e.lhs, e.rhs), (e.rhs, e.lhs)):
            is_fixed = isinstance(other, ir.Var) and other.symbol not in self.changing
            if is_fixed and self._is_mixed(one) and (found := self._range(one, box)) is not None:
                return found[0] - 1, found[1] + 1
        return None

    def _is_mixed(self, e: ir.Expr) -> bool:
        """Whether an expression is made of what is narrow already."""
        return any(_is_widened(n) or (isinstance(n, ir.Var) and n.symbol in self.chosen) for n in walk(e))

    def _fits(self, *parts: ir.Expr, box: Box) -> bool:
        """Whether some integers can be computed in the narrow type, and one of them is made of such."""
        assert self.dtype is not None
        ranges = [self._range(part, box) for part in parts]
        whole = limits(self.dtype)
        return all(r is not None and is_within(r, whole) for r in ranges) and any(map(self._is_mixed, parts))

    # ------------------------------------------------------------ rewriting

    def _block(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        return tuple(map(self._statement, body))

    def _statement(self, stmt: ir.Stmt) -> ir.Stmt:
        box = self.before[id(stmt)]
        match stmt:
            case ir.Assign() | ir.Update(index=()) if stmt.target in self.chosen:
                return replace(stmt, value=self._narrow(stmt.value, box))
            case _:
                return map_operands(map_blocks(stmt, self._block), lambda e: self._outside(e, box))

    def _outside(self, e: ir.Expr, box: Box) -> ir.Expr:
        """An expression of the same type, in which parts are computed in the narrow type."""
        assert self.dtype is not None
        match e:
            case ir.Load():
                return substitute(e, self.wide)
            case ir.Var(symbol=symbol):
                return self.wide.get(symbol, e)
            case ir.Cast():
                arg = self._outside(e.arg, box)
                return replace(e, arg=arg.arg if _is_widened(arg) else arg)
            case ir.Compare() if self._fits(e.lhs, e.rhs, box=box):
                return replace(e, lhs=self._narrow(e.lhs, box), rhs=self._narrow(e.rhs, box))
            case ir.Compare() if (ends := self._limits(e, box)) and is_within(ends, limits(self.dtype)):
                return map_operands(e, lambda side: self._narrow_or_cut(side, ends, box))
            case ir.Binary() | ir.Unary() | ir.Intrinsic() | ir.Select() if self._fits(e, box=box):
                return ir.Cast(self._narrow(e, box), DType.INT64, loc=e.loc)
            case _:
                return map_operands(e, lambda operand: self._outside(operand, box))

    def _narrow_or_cut(self, e: ir.Expr, ends: Range, box: Box) -> ir.Expr:
        """A side of a comparison in the narrow type; a loop-invariant number is cut to these limits."""
        assert self.dtype is not None
        if self._is_mixed(e):
            return self._narrow(e, box)
        least, most = (ir.Const(end, DType.INT64, loc=e.loc) for end in ends)
        cut = ir.Binary("min", ir.Binary("max", e, least, loc=e.loc), most, loc=e.loc)
        return ir.Cast(cut, self.dtype, loc=e.loc)

    def _narrow(self, e: ir.Expr, box: Box) -> ir.Expr:
        """An int64 in the narrow type, which holds all that it is computed from."""
        assert self.dtype is not None
        match e:
            case ir.Const(value=value):
                return ir.Const(value, self.dtype, loc=e.loc)
            case ir.Cast(arg=arg):
                arg = self._outside(arg, box)
                return arg if arg.dtype is self.dtype else ir.Cast(arg, self.dtype, loc=e.loc)
            case ir.Var(symbol=symbol):
                return ir.Var(self.narrow[symbol], loc=e.loc)
            case ir.Select(cond=cond, then=then, orelse=orelse):
                return ir.Select(
                    self._outside(cond, box), self._narrow(then, box), self._narrow(orelse, box), loc=e.loc
                )
            case ir.Intrinsic(name=name):
                return ir.Intrinsic(name, (self._narrow(e.args[0], box),), self.dtype, loc=e.loc)
            case ir.Binary() | ir.Unary():
                return replace(map_operands(e, lambda operand: self._narrow(operand, box)), python=False)
            case _:
                raise AssertionError("nothing else has a range in `_range`")


def _operands(stmt: ir.Node) -> list[ir.Expr]:
    """The expressions right inside a statement but for indices."""
    indices = stmt.index if isinstance(stmt, ir.Store | ir.Update) else ()
    return [e for e in children(stmt) if isinstance(e, ir.Expr) and all(e is not index for index in indices)]
