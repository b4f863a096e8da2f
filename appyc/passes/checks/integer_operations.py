"""Marks the operations on Python ints that may leave 64 bits, under bounds of what they read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from appyc.analysis.algebra.integer_bounds import INT64, Env, cut, hull, is_integer, is_tracked, put, where
from appyc.ir.integers import Range, is_within, range_of, range_of_binary
from appyc.ir.nodes import (
    Assign,
    Binary,
    Cast,
    Compare,
    Const,
    Expr,
    Function,
    Logical,
    Node,
    Select,
    Symbol,
    Unary,
    Update,
    Var,
)
from appyc.ir.raising import GROWING
from appyc.ir.types import DType
from appyc.ir.visit import children, map_children, scalars_read, walk
from appyc.passes.node_builders import integer

N = TypeVar("N", bound=Node)
_RING = ("+", "-", "*", "<<", "&", "|", "^")

MOST_RUNS = 1 << 52
"""No statement is executed more often: at one in a nanosecond that takes 52 days."""


@dataclass(slots=True)
class Counter:
    """A scalar to which loops only add: the values that it is set to, and by how much each statement may move it."""

    base: Range | None = None
    moves: dict[int, int] = field(default_factory=dict)

    def bounds(self) -> Range:
        low, high = self.base or (0, 0)
        drift = sum(self.moves.values())
        return low - drift, high + drift


def _growing(fn: Function) -> frozenset[int]:
    """The nodes of a function that are or contain operations on Python ints, by `id`."""
    found: set[int] = set()
    for node in reversed(list(walk(fn))):  # parts before what they are parts of
        is_one = isinstance(node, Binary | Unary) and (
            node.python or (isinstance(node, Binary) and node.trap)
        )
        if is_one or any(id(part) in found for part in children(node)):
            found.add(id(node))
    return frozenset(found)


class IntegerOperations:
    """Marks expressions of a function one by one.

    unproven: how many operations may overflow. trips: how often each loop around the statement at hand runs at most.
    memo: bounds of subexpressions of that statement.
    """

    def __init__(self, fn: Function) -> None:
        self.growing = _growing(fn)
        self.counters = _counters(fn)
        self.trips: list[int] = []
        self.memo: dict[int, Range] = {}
        self.unproven = 0

    def bounds(self, expr: Expr, env: Env) -> Range:
        return range_of(expr, env, self.memo) if is_integer(expr.dtype) else INT64

    def _exact(self, expr: Expr, env: Env) -> Range | None:
        if isinstance(expr, Binary) and is_integer(expr.dtype):
            return range_of_binary(expr.op, self.bounds(expr.lhs, env), self.bounds(expr.rhs, env))
        return None

    def expr(self, e: Expr, env: Env, *, ring: bool = False, counts: Range | None = None) -> Expr:
        """The expression with its operations marked. ring: only its last bits are used, which are right if it wraps.
        counts: it adds to a counter that stays within these bounds."""
        if id(e) not in self.growing:
            return e
        match e:
            case Binary(op="&" | "%" as op, lhs=lhs, rhs=rhs) if e.dtype is DType.INT64 and (
                _cuts(op, rhs) or (op == "&" and _cuts(op, lhs))
            ):
                is_left = not _cuts(op, rhs)
                return _with_parts(
                    e, (self.expr(lhs, env, ring=not is_left), self.expr(rhs, env, ring=is_left))
                )
            case Cast(arg=arg) if (
                arg.dtype is DType.INT64 and e.dtype.is_integer and e.dtype is not DType.INT64
            ):
                return _with_parts(e, (self.expr(arg, env, ring=True),))
            case Binary(op=op) if op in _RING and ring:
                new = _with_parts(
                    e, (self.expr(e.lhs, env, ring=True), self.expr(e.rhs, env, ring=op != "<<"))
                )
                return replace(new, trap=False) if new.trap else new
            case Unary(op=op) if ring:
                return _with_parts(e, (self.expr(e.arg, env, ring=True),))
            case Binary():
                new = _with_parts(e, (self.expr(e.lhs, env), self.expr(e.rhs, env)))
                return self._checked(new, e, env, counts) if e.python and e.dtype is DType.INT64 else new
            case Unary(op="-", python=True) if self.bounds(e.arg, env)[0] == INT64[0]:
                self.unproven += 1
                return Binary("-", integer(0, e.loc), self.expr(e.arg, env), True, True, loc=e.loc)
            case Select(cond=cond, then=then, orelse=orelse):
                yes, no = where(cond, True, env), where(cond, False, env)
                then = then if yes is None else self._within(then, yes)
                orelse = orelse if no is None else self._within(orelse, no)
                return _with_parts(e, (self.expr(cond, env), then, orelse))
            case Logical(op=op, lhs=lhs, rhs=rhs):
                behind = where(lhs, op == "and", env)
                rhs = rhs if behind is None else self._within(rhs, behind)
                return _with_parts(e, (self.expr(lhs, env), rhs))
            case _:
                return map_children(e, lambda part: self.expr(cast(Expr, part), env))

    def _within(self, e: Expr, env: Env) -> Expr:
        """The same for a part that is evaluated where more is known."""
        outer, self.memo = self.memo, {}
        new = self.expr(e, env)
        self.memo = outer
        return new

    def _checked(self, new: Binary, old: Binary, env: Env, counts: Range | None) -> Binary:
        """An operation on Python ints, marked if it may leave 64 bits."""
        if old.op == "//":
            lhs, rhs = self.bounds(old.lhs, env), self.bounds(old.rhs, env)
            if lhs[0] > INT64[0] or not rhs[0] <= -1 <= rhs[1]:
                return new
            self.unproven += 1
            minus = Binary("-", integer(0, old.loc), new.lhs, True, True, loc=old.loc)
            is_one = Compare("==", new.rhs, integer(-1, old.loc), loc=old.loc)
            return cast(Binary, Select(is_one, minus, new, loc=old.loc))
        if old.op not in GROWING:
            return new
        exact = self._exact(old, env)
        fits = counts is not None or (exact is not None and is_within(exact, INT64))
        self.unproven += not fits
        return new if new.trap is not fits else replace(new, trap=not fits)

    def counted(self, stmt: Assign, env: Env) -> Range | None:
        """The bounds of what a counter may be, noting what this statement does to it."""
        counter = self.counters.get(stmt.target)
        if counter is None:
            return None
        by = added_in(stmt)
        if by is None or not self.trips:
            found = self.bounds(stmt.value, env)
            counter.base = found if counter.base is None else hull(counter.base, found)
            return None
        runs = min(math.prod(self.trips), max(MOST_RUNS, *self.trips))
        move = max(map(abs, self.bounds(by, env))) * runs
        counter.moves[id(stmt)] = max(move, counter.moves.get(id(stmt), 0))
        bounds = counter.bounds()
        return bounds if is_within(bounds, INT64) else None

    def counted_bounds(self, symbols: Iterable[Symbol]) -> Env:
        """The bounds of those that are counters: widening goes beyond them."""
        counters = {s: self.counters[s].bounds() for s in symbols if s in self.counters}
        return {s: found for s, found in counters.items() if is_within(found, INT64)}

    def assign(self, stmt: Assign, env: Env) -> None:
        """Gives what is assigned to its bounds."""
        if not is_tracked(stmt.target):
            return
        found = self.bounds(stmt.value, env)
        if (counter := self.counters.get(stmt.target)) is not None and is_within(counter.bounds(), INT64):
            # The exact sum, cut to what the counter can be.
            exact = self._exact(stmt.value, env) or found
            found = cut(exact, counter.bounds()) or found
        put(env, stmt.target, found)


def _with_parts(e: N, parts: Sequence[Node]) -> N:
    new = iter(parts)
    return map_children(e, lambda _: next(new))


def _cuts(op: str, mask: Expr) -> bool:
    """Whether `x & mask` or `x % mask` is made of the last bits of x."""
    if not isinstance(mask, Const) or not isinstance(mask.value, int) or mask.value <= 0:
        return False
    return op == "&" or mask.value & (mask.value - 1) == 0


# ---------------------------------------------------------------- counters


def _counters(fn: Function) -> dict[Symbol, Counter]:
    """Scalars to which loops only add what they do not read them for."""
    found: dict[Symbol, Counter] = {}
    others: set[Symbol] = set()
    for node in walk(fn.body):
        if isinstance(node, Assign) and node.target.dtype is DType.INT64:
            if added_in(node) is not None:
                found.setdefault(node.target, Counter())
            elif node.target in scalars_read(node.value):
                others.add(node.target)
        elif isinstance(node, Update) and not node.target.is_array:
            others.add(node.target)
    return {s: c for s, c in found.items() if s not in others}


def added_in(node: Assign) -> Expr | None:
    """What `s = s + e` and `s = s - e` add, where e does not read s."""
    match node.value:
        case Binary(op="+" | "-", lhs=Var(symbol=symbol), rhs=other) if symbol == node.target:
            pass
        case Binary(op="+", lhs=other, rhs=Var(symbol=symbol)) if symbol == node.target:
            pass
        case _:
            return None
    return None if node.target in scalars_read(other) else other
