"""Speculative search: loops with an early exit look for the exiting iteration in parallel blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from appyc.analysis.accesses.scalar_flow import LoopScalars, exposed, surely_assigned
from appyc.analysis.dependences.verdicts import Refusal, named
from appyc.analysis.patterns.early_exits import EarlyExit, early_exit, leaves_early
from appyc.analysis.patterns.scans import backward_slice
from appyc.ir import nodes as ir
from appyc.ir.blocks import blocks_of
from appyc.ir.invariance import changed_in, is_invariant
from appyc.ir.names import NameSupply, ordered
from appyc.ir.raising import may_raise
from appyc.ir.types import DType
from appyc.ir.visit import contains, loops_of, rename, rewrite, scalars_written, substitute, walk, with_loops
from appyc.passes.node_builders import integer, iteration, most_trips, trip_count, with_breaks
from appyc.passes.pass_context import PassContext

S = TypeVar("S", bound=ir.Stmt)

FIRST_BLOCK = 256
"""Iterations that are tested together at first, in less time than fifty in order."""

FIRST_LONG_BLOCK = 8
"""Iterations of the first block where an iteration has loops of its own."""

LAST_BLOCK = 1 << 20
"""Blocks double up to this length: speculative tests are no more than those before, and threads get enough work."""

LAST_WORKING_BLOCK = 1 << 18
"""The longest block where the iterations have work besides the test, so that its operands are still in a
cache after the test."""


def speculative_search(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Loops with an early exit become a search by blocks, and a loop that does the work up to the exit.

    Before:                                   After:
        for i in range(n):                        end, first, reach = 0, 0, 256
            if a[i] > t:                          while first == end and end < n:
                where = i                             at = end
                break                                 end = at + reach if at < n - reach else n
            b[i] = a[i]                               first = end
                                                      for i in range(at, end):
                                                          if a[i] > t: first = min(first, i)
                                                      for i_2 in range(at, first):
                                                          b[i_2] = a[i_2]
                                                      reach = min(reach + reach, 262144)
                                                  if first < end:
                                                      if a[first] > t:
                                                          where = first
                                                      else:
                                                          b[first] = a[first]

    Only tests are speculative: those of iterations behind the exit, in the same block. Tests have no side
    effects and cannot raise. The work loop is omitted if there is no work besides the test. It is reduced
    to the last iteration if only the last values of scalars are live-out. An exception ends the loop like a
    `break`, and is raised when its iteration is executed in order.

    Runs after `check_bounds`, since a test must not raise, and before the passes that make loops
    parallel, which the new loops are meant for.

    Does not handle: conditions that depend on what earlier iterations did, or may raise; loops inside others without
    a pragma, which may well end soon each time.
    """
    if not ctx.options.auto and all(loop.clauses is None for loop in loops_of(fn.body)):
        return fn
    tried: set[ir.Symbol] = set()
    names = NameSupply.after(fn)
    while candidates := list(_candidates(fn.body, tried, ctx, inside=False)):
        legality = ctx.legality(fn)
        searches: dict[ir.Symbol, tuple[ir.Stmt, ...]] = {}
        for loop in candidates:
            tried.add(loop.var)
            found = early_exit(loop, legality.dependences)
            if isinstance(found, Refusal):
                continue
            searches[loop.var] = _Search(loop, found, legality.scalars[loop.var], names).build()
            ctx.remark(
                loop.loc,
                f"{named(loop)} may end early: it is searched in blocks, and its work done up to the end",
            )
        fn = with_loops(fn, searches)
    return fn


def _candidates(
    body: tuple[ir.Stmt, ...], tried: set[ir.Symbol], ctx: PassContext, *, inside: bool
) -> Iterator[ir.For]:
    """The loops to take next, none in another one: outer loops come first. inside: the block is in a loop."""
    for stmt in body:
        if isinstance(stmt, ir.For) and stmt.var not in tried and _is_candidate(stmt, ctx, inside=inside):
            yield stmt
            continue
        for block in blocks_of(stmt):
            yield from _candidates(block, tried, ctx, inside=inside or isinstance(stmt, ir.For | ir.While))


def _is_candidate(loop: ir.For, ctx: PassContext, *, inside: bool) -> bool:
    if not leaves_early(loop):
        return False
    if loop.clauses is not None:
        return loop.clauses.request != "sequential" and loop.clauses.collapse == 1
    trips = most_trips(loop)
    return ctx.options.auto and not inside and (trips is None or trips > FIRST_BLOCK)


class _Search:
    """Builds the search that replaces the loop."""

    def __init__(self, loop: ir.For, parts: EarlyExit, scalars: LoopScalars, names: NameSupply) -> None:
        self.loop, self.parts, self.names, self.loc = loop, parts, names, loop.loc
        self.seen = frozenset(
            {*scalars.last, *(r.symbol for r in scalars.reductions), *(c.symbol for c in scalars.carried)}
        )
        self.work = backward_slice(parts.rest, self.seen, effects=True)
        self.at, self.end, self.first, self.reach = (
            names.fresh(name, DType.INT64) for name in ("at", "end", "first", "reach")
        )

    def build(self) -> tuple[ir.Stmt, ...]:
        at, end, first = self._var(self.at), self._var(self.end), self._var(self.first)
        before = [self._assign(self.end, self.loop.lo)]
        hi = self.loop.hi
        if not (
            isinstance(hi, ir.Const | ir.Extent | ir.Var) and is_invariant(hi, changed_in(self.loop.body))
        ):
            stop = self.names.fresh("stop", DType.INT64)
            before.append(self._assign(stop, hi))
            hi = self._var(stop)
        body = (
            self._assign(self.at, end),
            self._assign(self.end, self._end_of_block(hi)),
            self._assign(self.first, end),
            self._test(at, end),
            *self._work(at, first),
            self._assign(self.reach, self._longer()),
        )
        nothing_found = ir.Compare("==", first, end, loc=self.loc)
        goes_on = ir.Logical("and", nothing_found, self._comes_before(end, hi), loc=self.loc)
        leave = ir.If(self._comes_before(first, end), self._at(self.parts.leaving, first), loc=self.loc)
        has_loops = contains(self.parts.test, ir.For)
        reach = (FIRST_LONG_BLOCK if has_loops else FIRST_BLOCK) * self.loop.step
        return (
            *before,
            self._assign(self.first, end),
            self._assign(self.reach, integer(reach, self.loc)),
            ir.While(goes_on, body, loc=self.loc),
            leave,
        )

    def _end_of_block(self, hi: ir.Expr) -> ir.Expr:
        """Without a sum that could overflow: `at + reach` where that lies before `hi`."""
        at, reach = self._var(self.at), self._var(self.reach)
        fits = self._comes_before(at, ir.Binary("-", hi, reach, loc=self.loc))
        return ir.Select(fits, ir.Binary("+", at, reach, loc=self.loc), hi, loc=self.loc)

    def _longer(self) -> ir.Expr:
        reach = self._var(self.reach)
        twice = ir.Binary("+", reach, reach, loc=self.loc)
        most = integer((LAST_WORKING_BLOCK if self._works() else LAST_BLOCK) * self.loop.step, self.loc)
        return ir.Binary("min" if self.loop.step > 0 else "max", twice, most, loc=self.loc)

    def _test(self, lo: ir.Expr, hi: ir.Expr) -> ir.For:
        """The loop that finds the first iteration which leaves. Its scalars are its own: those
        of the program must not see iterations that are not run."""
        own = {s: self.names.fresh(s.name, s.type) for s in ordered(scalars_written(self.parts.test))}
        op = "min" if self.loop.step > 0 else "max"
        here = ir.Update(self.first, (), op, self._var(self.loop.var), loc=self.loc)
        body = rename(with_breaks(self.parts.test, (here,)), own)
        clauses = self.loop.clauses
        if clauses is not None and self._works():
            clauses = replace(clauses, reductions=(), private=())
        return self._copy(replace(self.loop, lo=lo, hi=hi, body=body, clauses=clauses))

    def _work(self, lo: ir.Expr, hi: ir.Expr) -> tuple[ir.Stmt, ...]:
        """The statements that do the work of the iterations from `lo` to before `hi`."""
        if not self.work:
            return ()
        if self._works():
            return (self._copy(replace(self.loop, lo=lo, hi=hi, body=self.work)),)
        step, one = self.loop.step, integer(1, self.loc)
        last: ir.Expr = ir.Binary("-", hi if step == 1 else trip_count(lo, hi, step), one, loc=self.loc)
        if step != 1:
            last = iteration(lo, step, last)
        return (ir.If(self._comes_before(lo, hi), self._at(self.work, last), loc=self.loc),)

    def _works(self) -> bool:
        """Whether iterations before the end have work to do, each of them."""
        return bool(self.work) and not self._only_last_counts()

    def _only_last_counts(self) -> bool:
        """Whether the work only sets scalars, each in every iteration, so that only the last one is live-out."""
        written = scalars_written(self.work)
        return (
            all(isinstance(s, ir.Assign | ir.If) for s in walk(self.work) if isinstance(s, ir.Stmt))
            and not may_raise(self.work)
            and not written & exposed(self.work).keys()
            and written & self.seen <= surely_assigned(self.work)
        )

    def _at(self, body: tuple[ir.Stmt, ...], number: ir.Expr) -> tuple[ir.Stmt, ...]:
        """One iteration, as statements in no loop."""
        return tuple(self._copy(substitute(stmt, {self.loop.var: number})) for stmt in body)

    def _copy(self, stmt: S) -> S:
        """The statement with fresh loop variables: the code behind a jump may occur in both branches.

        Of two loops in it with one variable each gets its own, which `fresh_variables` does not do.
        """

        def rule(node: ir.Node) -> ir.Node:
            if not isinstance(node, ir.For):
                return node
            return rename(node, {node.var: self.names.fresh(node.var.name, node.var.type)})

        return rewrite(stmt, rule)

    def _var(self, symbol: ir.Symbol) -> ir.Var:
        return ir.Var(symbol, loc=self.loc)

    def _assign(self, target: ir.Symbol, value: ir.Expr) -> ir.Assign:
        return ir.Assign(target, value, loc=self.loc)

    def _comes_before(self, one: ir.Expr, other: ir.Expr) -> ir.Compare:
        return ir.Compare("<" if self.loop.step > 0 else ">", one, other, loc=self.loc)
