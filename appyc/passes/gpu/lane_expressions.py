"""Expressions of a kernel under masks: checks, and subexpressions that only some lanes evaluate.

    x = a[idx[i]] if c else 0.0

becomes, for lanes i that `mask` lets act (`ok` is a new bool, `record` a `Fault`),

    at = load(idx[i], mask & c)
    at = at + n if at < 0 else at
    ok = (at >= 0) & (at < n)
    record(mask & c & ~ok)
    x = load(a[at], mask & c & ok) if c else 0.0
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.errors import InternalError, LibraryCallError, Loc
from appyc.ir import nodes as ir
from appyc.ir.fault_words import FaultSite, FaultSites, index_error
from appyc.ir.gpu_program import Fault, ScheduledStmt
from appyc.ir.names import NameSupply
from appyc.ir.raising import divisor_may_be_zero, traps_overflow
from appyc.ir.types import DType
from appyc.ir.visit import map_operands, scalar_reads, scalars_read, walk
from appyc.passes.node_builders import both, integer, is_simple, less, let, negated, zero


@dataclass(frozen=True, slots=True)
class Where:
    """The active lanes at a statement of a kernel. mask: None if all lanes are active.

    lanes: whether the statement is in a loop that runs in lanes. in_row: in the lanes of a row. narrow: whether the
    mask is stricter than the bounds of that loop, so that there may be no active lane at all. busy: whether there is
    one all the same. safe: what holds where no statement before has raised: only accesses depend on it, since nothing
    else is harmed by what a program computes after a fault. rows: in the lanes of a tile, the mask of its rows.
    columns: there, the mask of the lanes of a row.
    """

    mask: ir.Expr | None = None
    lanes: bool = False
    in_row: bool = False
    narrow: bool = False
    busy: bool = False
    safe: ir.Expr | None = None
    rows: ir.Expr | None = None
    columns: ir.Expr | None = None

    def only(self, cond: ir.Expr) -> Where:
        return replace(self, mask=self.at(cond), narrow=True, busy=False)

    def while_any(self, cond: ir.Expr) -> Where:
        """The lanes in a loop that runs as long as any of them is active."""
        return replace(self.only(cond), busy=True)

    def at(self, cond: ir.Expr) -> ir.Expr:
        """The active lanes in which a condition holds."""
        return both(self.mask, cond) or cond

    @property
    def access(self) -> ir.Expr | None:
        """The lanes that may access memory."""
        return both(self.mask, self.safe)


class ExpressionLowering:
    """Lowers expressions for one kernel; appends what has to happen before them to `out`. lanes: how many lanes a row
    has, at most."""

    def __init__(self, names: NameSupply, sites: FaultSites, lanes: int = 1) -> None:
        self.names = names
        self.sites = sites
        self.lanes = lanes
        self.width: int | ir.Var = lanes
        """The number of lanes of a row: a scalar where the launch chooses it."""
        self.accumulators: set[ir.Symbol] = set()
        """Scalars that inactive lanes must not change."""
        self.varying: set[ir.Symbol] = set()
        self.in_row: set[ir.Symbol] = set()
        """The subset of `varying` that differs between the lanes of a row."""
        self.columns: set[ir.Symbol] = set()
        """Loop variables, and lanes, that all rows of a tile have alike, those beyond its end too."""
        self.alive: ir.Symbol | None = None
        """Inside a `while`: a bool that a fault clears, because a lane that has read nothing
        may never see the loop's end."""

    def block(self, body: tuple[ir.Stmt, ...], where: Where) -> list[ScheduledStmt]:
        """The statements of a block, lowered."""
        raise NotImplementedError

    def is_varying(self, node: ir.Node) -> bool:
        return mentions(node, self.varying)

    def temp(self, name: str, value: ir.Expr, out: list[ScheduledStmt]) -> ir.Var:
        """The value in a new scalar, unless it is one already."""
        return value if isinstance(value, ir.Var) else self.held(name, value, out)

    def held(self, name: str, value: ir.Expr, out: list[ScheduledStmt]) -> ir.Var:
        """The value in a new scalar, whatever becomes of those that it reads."""
        found = let(name, value, self.names, out)
        for scalars in (self.varying, self.in_row):
            if mentions(value, scalars):
                scalars.add(found.symbol)
        return found

    def expr(self, e: ir.Expr, where: Where, out: list[ScheduledStmt]) -> ir.Expr:
        match e:
            case ir.Load():
                return self.load(e, where, out)
            case ir.Binary():
                return self._binary(e, where, out)
            case ir.Select():
                return self._select(e, where, out)
            case ir.Logical():
                return self._logical(e, where, out)
            case ir.Draw():
                raise LibraryCallError("numbers are drawn on the host only", e.loc)
            case ir.Apart() | ir.Ascending() | ir.Workers() | ir.Call() | ir.Reduce():
                raise InternalError("predicate_lanes", f"{type(e).__name__} inside a kernel")
            case _:
                return map_operands(e, lambda part: self.expr(part, where, out))

    def load(self, e: ir.Load, where: Where, out: list[ScheduledStmt]) -> ir.Expr:
        index, here = self.index(e.array, e.index, e.checked, e.loc, where, out)
        return replace(e, index=index, checked=False, mask=self.access_mask(index, here))

    def access_mask(self, index: tuple[ir.Expr, ...], where: Where) -> ir.Expr | None:
        """The mask that a load needs. Lanes that wait for an active one need none where the address is the same in all
        lanes. Those that are only past the end of their loop need none where it is the same in all lanes of a row; nor
        do rows, where it is the same in all rows."""
        is_shared = where.lanes and not any(self.is_varying(i) for i in index)
        if is_shared and (not where.narrow or (where.busy and where.safe is None)):
            return where.safe
        if not where.lanes or where.narrow:
            return where.access
        if any(mentions(i, self.in_row) for i in index):
            if where.columns is None or any(mentions(i, self.varying - self.columns) for i in index):
                return where.access
            return both(where.columns, where.safe)
        return both(where.rows, where.safe) if where.rows is not None else where.access

    def index(
        self,
        array: ir.Symbol,
        index: tuple[ir.Expr, ...],
        checked: bool,
        loc: Loc,
        where: Where,
        out: list[ScheduledStmt],
    ) -> tuple[tuple[ir.Expr, ...], Where]:
        """The indices of an access, and who may perform it."""
        lowered = tuple(self.expr(i, where, out) for i in index)
        if not checked:
            return lowered, where
        safe: list[ir.Expr] = []
        for axis, given in enumerate(lowered):
            extent = ir.Extent(array, axis, loc=loc)
            at, inside = self.in_range(given, extent, index_error(array.name, axis, loc), where, out)
            safe.append(at)
            where = where.only(inside)
        return tuple(safe), where

    def in_range(
        self, given: ir.Expr, extent: ir.Expr, site: FaultSite, where: Where, out: list[ScheduledStmt]
    ) -> tuple[ir.Expr, ir.Expr]:
        """The index counted from the start, and whether it lies inside; notes a fault if not."""
        loc = extent.loc
        none = integer(0, loc)
        value = self.temp("index", given, out)
        from_end = ir.Select(less(value, none), ir.Binary("+", value, extent, loc=loc), value, loc=loc)
        at = self.temp("at", from_end, out)
        inside = ir.Binary("&", ir.Compare(">=", at, none, loc=loc), less(at, extent), loc=loc)
        ok = self.temp("ok", inside, out)
        words = (value, extent)
        self.fault(self.sites.number(site), where.at(negated(ok)), words, out)
        return at, ok

    def fault(self, site: int, cond: ir.Expr, words: tuple[ir.Expr, ...], out: list[ScheduledStmt]) -> None:
        bad = self.temp("bad", cond, out)
        out.append(Fault(site, bad, words, loc=cond.loc))
        if self.alive is not None:
            stop: ir.Expr = bad
            if self.is_varying(bad) and self.alive not in self.varying:
                stop = ir.AnyLane(bad, loc=bad.loc)
            alive = ir.Var(self.alive, loc=bad.loc)
            out.append(ir.Assign(self.alive, ir.Binary("&", alive, negated(stop), loc=bad.loc), loc=bad.loc))

    def _binary(self, e: ir.Binary, where: Where, out: list[ScheduledStmt]) -> ir.Expr:
        lhs, rhs = self.expr(e.lhs, where, out), self.expr(e.rhs, where, out)
        if traps_overflow(e):
            return self._without_overflow(e, lhs, rhs, where, out)
        if not divisor_may_be_zero(replace(e, rhs=rhs)):
            return replace(e, lhs=lhs, rhs=rhs, trap=False)
        if not is_simple(rhs):
            rhs = self.temp("divisor", rhs, out)
        wrong: ir.Expr = ir.Compare("==", rhs, zero(rhs.dtype, e.loc), loc=e.loc)
        site = self.sites.add("ZeroDivisionError", _zero_division(e), e.loc)
        self.fault(site, where.at(wrong), (), out)
        return replace(e, lhs=lhs, rhs=rhs, trap=False)

    def _without_overflow(
        self, e: ir.Binary, lhs: ir.Expr, rhs: ir.Expr, where: Where, out: list[ScheduledStmt]
    ) -> ir.Expr:
        a, b = (s if is_simple(s) else self.temp("operand", s, out) for s in (lhs, rhs))
        result = self.temp("result", replace(e, lhs=a, rhs=b, trap=False), out)
        wrong = _has_overflown(e, a, b, result)
        site = self.sites.add(*self.sites.overflow, e.loc)
        self.fault(site, where.at(wrong), (), out)
        return result

    def _select(self, e: ir.Select, where: Where, out: list[ScheduledStmt]) -> ir.Expr:
        cond = self.expr(e.cond, where, out)
        if not may_act(e.then) and not may_act(e.orelse):
            then, orelse = self.expr(e.then, where, out), self.expr(e.orelse, where, out)
            return replace(e, cond=cond, then=then, orelse=orelse)
        chosen = self.temp("chosen", cond, out)
        then = self.expr(e.then, where.only(chosen), out)
        orelse = self.expr(e.orelse, where.only(negated(chosen)), out)
        return replace(e, cond=chosen, then=then, orelse=orelse)

    def _logical(self, e: ir.Logical, where: Where, out: list[ScheduledStmt]) -> ir.Expr:
        lhs = self.expr(e.lhs, where, out)
        if not may_act(e.rhs):
            return replace(e, lhs=lhs, rhs=self.expr(e.rhs, where, out))
        first = self.temp("first", lhs, out)
        decides = first if e.op == "and" else negated(first)
        return replace(e, lhs=first, rhs=self.expr(e.rhs, where.only(decides), out))


def mentions(node: ir.Node, symbols: set[ir.Symbol]) -> bool:
    """Whether an expression reads one of these scalars."""
    return not symbols.isdisjoint(scalar_reads(node))


def is_in_subscript(loop: ir.For) -> bool:
    """Whether the loop variable is in a subscript; it should then have the same value in all lanes."""
    accesses = (n for n in walk(loop.body) if isinstance(n, ir.Load | ir.Store | ir.Update))
    return any(loop.var in scalars_read(n.index) for n in accesses)


def may_act(e: ir.Expr) -> bool:
    """Whether evaluating an expression reads memory or may raise."""
    return any(isinstance(n, ir.Load) or (isinstance(n, ir.Binary) and n.trap) for n in walk(e))


def _has_overflown(e: ir.Binary, a: ir.Expr, b: ir.Expr, result: ir.Expr) -> ir.Expr:
    """Whether `a op b`, wrapped around to int64, is another value. Powers are compared as floats, so that those next to
    the limit count as beyond it."""

    def binary(op: str, lhs: ir.Expr, rhs: ir.Expr) -> ir.Expr:
        return ir.Binary(op, lhs, rhs, loc=e.loc)

    def compared(op: str, lhs: ir.Expr, rhs: ir.Expr) -> ir.Expr:
        return ir.Compare(op, lhs, rhs, loc=e.loc)

    none = integer(0, e.loc)
    match e.op:
        case "+":
            return compared("<", binary("&", binary("^", a, result), binary("^", b, result)), none)
        case "-":
            return compared("<", binary("&", binary("^", a, b), binary("^", a, result)), none)
        case "*":
            divisor = ir.Select(compared("==", a, none), integer(1, e.loc), a, loc=e.loc)
            least = binary(
                "&", compared("==", a, integer(-1, e.loc)), compared("==", b, integer(-(2**63), e.loc))
            )
            back = ir.Select(compared("==", a, none), none, b, loc=e.loc)
            return binary("|", least, compared("!=", binary("//", result, divisor), back))
        case "<<":
            lost = compared("!=", binary(">>", result, b), a)
            return binary(
                "&", compared("!=", a, none), binary("|", compared(">", b, integer(63, e.loc)), lost)
            )
        case _:
            base, exponent = (ir.Cast(s, DType.FLOAT64, loc=e.loc) for s in (a, b))
            size = ir.Intrinsic("abs", (binary("**", base, exponent),), DType.FLOAT64, loc=e.loc)
            return compared(">=", size, ir.Const(2.0**63 * (1 - 2**-40), DType.FLOAT64, loc=e.loc))


def _zero_division(e: ir.Binary) -> str:
    if e.op == "/":
        return "float division by zero" if not e.dtype.is_complex else "complex division by zero"
    if e.op == "%":
        return "integer modulo by zero" if e.dtype is not DType.FLOAT64 else "float modulo"
    return (
        "integer division or modulo by zero"
        if e.dtype is not DType.FLOAT64
        else "float floor division by zero"
    )
