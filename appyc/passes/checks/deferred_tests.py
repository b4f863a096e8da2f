"""Tests of iterations that are deferred to the end of a block of them, for `check_in_blocks`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from appyc.analysis.accesses.set_once import set_once
from appyc.ir.invariance import is_invariant
from appyc.ir.nodes import (
    Assign,
    Binary,
    Cast,
    Compare,
    Const,
    Expr,
    For,
    If,
    Likely,
    Load,
    Logical,
    Node,
    Stmt,
    Store,
    Symbol,
    Unary,
    Update,
    Var,
    While,
)
from appyc.ir.raising import may_raise
from appyc.ir.types import DType
from appyc.ir.visit import children, rewrite, scalars_read, scalars_written, statements, substitute, walk
from appyc.passes.node_builders import integer

MAX_LINEAR = 1 << 32
"""The limit for values that are linear in the iteration: within it, a wrap-around in a block cannot go unnoticed."""


class DeferredTests:
    """Rewrites the body of a loop so that its tests set a flag, which is read behind a block of iterations.

    at, end: the range of a block. unfit: the flag, not 0 where a test has failed. linear: conditions under which a
    test of linear values fails in a block, evaluated before it. notes: how many tests set the flag.
    """

    def __init__(self, loop: For, at: Symbol, end: Symbol, unfit: Symbol) -> None:
        self.loop, self.at, self.end, self.unfit, self.loc = loop, at, end, unfit, loop.loc
        self.written = scalars_written(loop.body)
        self.changed = {loop.var, *self.written}
        once = set_once(loop.body)
        self.once = {n.target: n.value for n in loop.body if isinstance(n, Assign) and n.target in once}
        self.linear: list[Expr] = []
        self.notes = 0

    def any_linear(self) -> Expr:
        found: Expr = self._integer(0)
        for test in self.linear:
            found = Binary("|", found, Cast(test, DType.INT64, loc=self.loc), loc=self.loc)
        return found

    def _at_the_ends(self, cond: Expr) -> Expr | None:
        """Whether a test fails in the block, of a value that grows by as much in each iteration: it fails in the
        first, the second or the last one. (In the second, where it grows by so much that it wraps around.)"""
        whole = substitute(cond, self.once)
        compared = [n for n in walk(whole) if isinstance(n, Compare)]
        for n in compared:
            number, limit = (n.rhs, n.lhs) if isinstance(n.lhs, Const) else (n.lhs, n.rhs)
            if not isinstance(limit, Const) or abs(limit.value) > MAX_LINEAR or not self._is_linear(number):
                return None
        if not compared or may_raise(whole):
            return None
        one = self._integer(1)
        at, last = self._var(self.at), Binary("-", self._var(self.end), one, loc=self.loc)
        second = Binary("min", Binary("+", at, one, loc=self.loc), last, loc=self.loc)
        first, *others = (substitute(whole, {self.loop.var: index}) for index in (at, second, last))
        for other in others:
            first = Logical("or", first, other, loc=self.loc)
        return first

    def _is_linear(self, expr: Expr) -> bool:
        if expr.dtype is not DType.INT64:
            return False
        match expr:
            case Binary(op="+" | "-", lhs=lhs, rhs=rhs):
                return self._is_linear(lhs) and self._is_linear(rhs)
            case Binary(op="*", lhs=lhs, rhs=rhs):
                return (self._is_linear(lhs) and is_invariant(rhs, self.changed)) or (
                    self._is_linear(rhs) and is_invariant(lhs, self.changed)
                )
            case Var(symbol=symbol) if symbol == self.loop.var:
                return True
            case _:
                return is_invariant(expr, self.changed)

    def deferred(self, body: tuple[Stmt, ...], after: tuple[Stmt, ...]) -> tuple[Stmt, ...] | None:
        """The statements with tests deferred; `after` is what the iteration does behind them."""
        out: list[Stmt] = []
        for number, stmt in enumerate(body):
            rest = body[number + 1 :]
            match stmt:
                case If(cond=cond) if is_test(stmt):
                    behind = self.deferred(rest, after)
                    if behind is None:
                        return None
                    plain = rewrite(cond, lambda n: n.arg if isinstance(n, Likely) else n)
                    if (ends := self._at_the_ends(plain)) is not None:
                        self.linear.append(ends)
                        return (*out, *behind)
                    self.notes += 1
                    relies = self._relies((*rest, *after), cond)
                    if relies and after:
                        return None
                    seen = self._integer(1) if relies else _bits_outside(plain)
                    note = Update(self.unfit, (), "|", seen, loc=stmt.loc)
                    new = (If(plain, (note,), behind, loc=stmt.loc),) if relies else (note, *behind)
                    return (*out, *new)
                case If():
                    then = self.deferred(stmt.then, (*rest, *after))
                    orelse = self.deferred(stmt.orelse, (*rest, *after))
                    if then is None or orelse is None:
                        return None
                    out.append(replace(stmt, then=then, orelse=orelse))
                case _:
                    if may_raise(stmt):
                        return None
                    out.append(stmt)
        return tuple(out)

    def _relies(self, rest: tuple[Stmt, ...], cond: Expr) -> bool:
        """Whether statements may be wrong to run where a test has failed: they loop, or an index may owe its bounds
        to the test."""
        if any(isinstance(n, While) for n in statements(rest)):
            return True
        subscripts = [index for n in walk(rest) for index in _subscripts_of(n)]
        return bool(scalars_read(subscripts) & (self._tested(cond) | self.written))

    def _tested(self, cond: Expr) -> set[Symbol]:
        """The scalars that a condition says something about; elements of arrays tell nothing of their indices."""
        found = {n.symbol for n in _outside_loads(cond) if isinstance(n, Var)}
        assigned = [
            n for n in walk(self.loop.body) if isinstance(n, Assign | Update) and not n.target.is_array
        ]
        while True:
            new = {
                n.symbol
                for a in assigned
                if a.target in found
                for n in _outside_loads(a.value)
                if isinstance(n, Var)
            }
            if new <= found:
                return found
            found |= new

    def _var(self, symbol: Symbol) -> Var:
        return Var(symbol, loc=self.loc)

    def _integer(self, value: int) -> Expr:
        return integer(value, self.loc)


def is_test(stmt: If) -> bool:
    """Whether an `If` leaves the usual way: it raises, or goes on in statements that may raise."""
    return not stmt.orelse and not may_raise(stmt.cond) and may_raise(stmt.then[-1:])


def _bits_outside(cond: Expr) -> Expr:
    """An int64 that is not 0 where a test fails: of `not 0 <= v <= 255`, the bits of v that are beyond the last 8."""
    match cond:
        case Unary(
            "~",
            Logical("and", Compare(">=", v, Const(value=int(lo))), Compare("<=", same, Const(value=int(hi)))),
        ) if v == same and v.dtype is DType.INT64 and (hi - lo) & (hi - lo + 1) == 0:
            above = Binary("-", v, integer(lo, v.loc), loc=v.loc) if lo else v
            return Binary("&", above, integer(~(hi - lo), v.loc), loc=v.loc)
        case _:
            return Cast(cond, DType.INT64, loc=cond.loc)


def _subscripts_of(node: Node) -> tuple[Expr, ...]:
    return node.index if isinstance(node, Load | Store | Update) else ()


def _outside_loads(expr: Expr) -> Iterator[Node]:
    stack: list[Node] = [expr]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, Load):
            stack += children(node)
