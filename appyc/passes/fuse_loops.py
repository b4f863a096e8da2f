"""Joins loops where one reads what another one wrote into a temporary array.

    new = empty((n,))                               new = empty((n,))
    for i in range(0, n):                           for i in range(0, n):
        new[i] = a[i] * x[i]                  ->        new[i] = a[i] * x[i]
    for j in range(0, n):                               y[i] = new[i] + y[i]
        y[j] = new[j] + y[j]

`contract_arrays` then keeps `new` in a register. Two loops become one where they run equally
often, and where the iterations of the joined loop may run in any order: then no iteration of
the second loop needs more of the first than the same iteration, and nothing is lost for
threads and lanes. Loops inside the joined loop are tried in turn.

What stands between the two goes before both, if the first loop does not need to come before
it, or else stays behind both.

Requires: `check_bounds` has run; accesses that may still raise keep their order, and their
loops apart.

Does not handle: loops of different lengths, or that match only when one of them is shifted;
loops that run in order; loops that share no temporary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.legality import Legality
from appyc.ir.nodes import (
    Alloc,
    Break,
    Continue,
    Extent,
    For,
    Function,
    If,
    Stmt,
    Symbol,
    Var,
    While,
)
from appyc.ir.raising import may_raise, raises_itself
from appyc.ir.visit import (
    arrays_read,
    arrays_written,
    scalars_read,
    scalars_written,
    substitute,
    symbols_of,
    walk,
)
from appyc.passes.context import PassContext

MAX_NODES = 2000
"""A joined loop does not grow beyond this."""


def fuse_loops(fn: Function, ctx: PassContext) -> Function:
    """The function with producers and consumers of temporary arrays in one loop each."""
    own = {n.array for n in walk(fn) if isinstance(n, Alloc)}
    if not own:
        return fn
    return replace(fn, body=_Fusion(frozenset(own), ctx).block(fn.body))


@dataclass(frozen=True, slots=True)
class _Touched:
    """What a statement reads and writes, arrays and scalars together."""

    reads: frozenset[Symbol]
    writes: frozenset[Symbol]

    @classmethod
    def by(cls, stmt: Stmt) -> _Touched:
        made = {n.array for n in walk(stmt) if isinstance(n, Alloc)}
        sizes = {n.array for n in walk(stmt) if isinstance(n, Extent)}
        return cls(
            frozenset(arrays_read(stmt) | scalars_read(stmt) | sizes),
            frozenset(arrays_written(stmt) | scalars_written(stmt) | made),
        )

    def is_free_of(self, other: _Touched) -> bool:
        """Whether the two may change places."""
        return not (self.writes & (other.reads | other.writes) or self.reads & other.writes)


class _Fusion:
    def __init__(self, own: frozenset[Symbol], ctx: PassContext) -> None:
        self.own, self.ctx = own, ctx

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for stmt in body:
            self._append(out, self._inside(stmt))
        return tuple(out)

    def _inside(self, stmt: Stmt) -> Stmt:
        match stmt:
            case For() | While():
                return replace(stmt, body=self.block(stmt.body))
            case If():
                return replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse))
            case _:
                return stmt

    def _append(self, out: list[Stmt], stmt: Stmt) -> None:
        """Adds the statement, joined with the nearest loop before it that it goes with."""
        if isinstance(stmt, For):
            for at in range(len(out) - 1, -1, -1):
                first = out[at]
                if isinstance(first, For) and self._is_producer(first, stmt):
                    joined = self._joined(first, stmt, out[at + 1 :])
                    if joined is not None:
                        out[at:] = joined
                        return
        out.append(stmt)

    def _is_producer(self, first: For, second: For) -> bool:
        return bool(arrays_written(first.body) & arrays_read(second.body) & self.own)

    def _joined(self, first: For, second: For, between: list[Stmt]) -> list[Stmt] | None:
        """What takes the place of both loops and the statements between them; None with a remark."""
        reason = self._why_not(first, second)
        places = None if reason else _placed(first, second, between)
        if places is None and reason is None:
            reason = "a statement between them needs the first and is needed by the second"
        loop = _one_loop(first, second)
        if reason is None and not _is_free(loop):
            reason = "an iteration of the second needs other iterations of the first"
        if reason is not None:
            text = f"not joined with the loop at line {first.loc.line} that fills an array it reads: {reason}"
            self.ctx.remark(second.loc, text, "missed")
            return None
        assert places is not None
        before, after = places
        loop = replace(loop, body=self.block(loop.body))
        self.ctx.remark(second.loc, f"joined with the loop at line {first.loc.line}")
        return [*before, loop, *after]

    def _why_not(self, first: For, second: For) -> str | None:
        if (first.lo, first.hi, first.step) != (second.lo, second.hi, second.step):
            return "they run over different ranges"
        if first.clauses != second.clauses:
            return "they have different pragmas"
        if any(_has_effects(loop.body) for loop in (first, second)):
            return "one of them may raise, or end early"
        if sum(1 for _ in walk((first, second))) > MAX_NODES:
            return "the loop would be too long"
        return None


def _has_effects(body: tuple[Stmt, ...]) -> bool:
    """Whether it matters how far a loop has come when something else happens."""
    return any(isinstance(n, Break | Continue | While) or raises_itself(n) for n in walk(body))


def _placed(first: For, second: For, between: list[Stmt]) -> tuple[list[Stmt], list[Stmt]] | None:
    """What stands between the loops, before and behind them; None where a statement fits neither."""
    one, two = _Touched.by(first), _Touched.by(second)
    before: list[Stmt] = []
    behind: list[Stmt] = []
    for stmt in between:
        mine = _Touched.by(stmt)
        raises = may_raise(stmt)
        if not raises and mine.is_free_of(one) and all(mine.is_free_of(_Touched.by(s)) for s in behind):
            before.append(stmt)
        elif not raises and mine.is_free_of(two):
            behind.append(stmt)
        else:
            return None
    return before, behind


def _one_loop(first: For, second: For) -> For:
    """The iterations of both, one after the other."""
    var = Var(first.var, loc=second.loc)
    body = tuple(substitute(stmt, {second.var: var}) for stmt in second.body)
    return replace(first, body=(*first.body, *body))


def _is_free(loop: For) -> bool:
    """Whether the loop's iterations may run in any order, whatever is around it."""
    bound = {n.var for n in walk(loop) if isinstance(n, For)}
    params = tuple(s for s in symbols_of(loop) if s not in bound)
    alone = Function("joined", params, (loop,), loc=loop.loc)
    return Legality.of(alone).judge(loop).may_run_in_any_order
