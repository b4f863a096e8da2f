"""Which operations on Python ints may leave 64 bits, and which bounds loops had better test of what they carry.

    for i in range(n):                  # n <= 2**20:
        x = x * 3                       #   `*` may leave 64 bits, unless the loop tests -2**61 <= x < 2**61
        total += i * i                  #   fits, as total grows by less than 2**40 in each of 2**20 iterations

A client of the interval analysis, which marks each operation of a statement under the bounds before it. Three things
show that an operation fits: its interval; that a mask cuts it to its last bits, so that it may wrap; that its target is
a counter, to which loops only add, so that trip counts bound it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from appyc.analysis.accesses.scalar_flow import exposed
from appyc.analysis.algebra.integer_syntax import IntegerSyntax, added_in
from appyc.analysis.algebra.intervals import INT64, Box, Intervals, narrowed, range_in_64_bits
from appyc.ir import nodes as ir
from appyc.ir.blocks import has_own
from appyc.ir.integers import Range, cut, hull, is_integer, is_within, range_of, range_of_binary
from appyc.ir.names import ordered
from appyc.ir.raising import GROWING
from appyc.ir.types import DType
from appyc.ir.visit import children, scalars_written

_RING = ("+", "-", "*", "<<", "&", "|", "^")

_STEPS = sorted({-1, 0, 1} | {s << bits for bits in (20, 31, 46, 52, 61) for s in (-1, 1)})
"""The thresholds at which widening stops."""

TESTED = tuple((low, (1 << bits) - 1) for low in (INT64[0], 1 - (1 << 61)) for bits in (62, 61))
"""Bounds that a loop may test of a scalar that it carries, the cheapest and loosest first. Beyond them Python runs the
call, so that closer ones would not pay: an operation that traps is better."""

MOST_RUNS = 1 << 52
"""No statement is executed more often: at one in a nanosecond that takes 52 days."""

COUNTER_ROUNDS = 4
"""After so many rounds scalars whose bounds still grow are taken for no counters."""

WORK, ALWAYS = 10, 8_000
"""The limit on visits of statements: WORK for each statement of a function, plus ALWAYS."""

Occurrence = tuple[int, int]
"""A node, by `id`, and the loop in whose careful copy it stands, 0 for none."""


@dataclass(slots=True)
class _Counter:
    """A scalar to which loops only add: the values that it is set to, and by how much each statement may move it."""

    base: Range | None = None
    moves: dict[int, int] = field(default_factory=dict)

    def bounds(self) -> Range:
        low, high = self.base or (0, 0)
        drift = sum(self.moves.values())
        return low - drift, high + drift


class OverflowAnalysis(Intervals):
    """The analysis of one function under bounds of its parameters and of arrays' extents.

    leaves: whether a loop may leave the function where a scalar is beyond the bounds that it tests; else only a
    `while` without `break` tests any, and a careful copy of it goes on, in which operations may trap.
    assumes: whether loops may test bounds at all.

    traps: of each operation looked at, whether it may leave 64 bits. tested: the bounds of scalars that each loop
    tests, by `id`. tests: how many these are.
    """

    def __init__(
        self,
        fn: ir.Function,
        syntax: IntegerSyntax,
        known: Mapping[ir.Symbol, Range],
        *,
        leaves: bool,
        assumes: bool,
    ) -> None:
        self.most_work = WORK * syntax.size + ALWAYS
        super().__init__(syntax.ended, _STEPS, self.most_work)
        self.fn, self.known, self.leaves, self.assumes = fn, dict(known), leaves, assumes
        self.growing, self.moving = syntax.growing, syntax.moving
        self.sums = frozenset(syntax.counters)
        self.counters = {symbol: _Counter() for symbol in syntax.counters}
        self.traps: dict[Occurrence, bool] = {}
        self.tested: dict[int, Box] = {}
        self.tests = 0
        self.trips: list[int] = []
        self.copy = 0
        self.memo: dict[int, Range] = {}
        self.written: dict[int, frozenset[ir.Symbol]] = {}
        self._run()

    @property
    def unproven(self) -> int:
        return sum(self.traps.values())

    @property
    def looked_at(self) -> int:
        """The number of visits of statements so far."""
        return self.most_work - self.work

    def _run(self) -> None:
        for symbol in self.counters.keys() & set(self.fn.params):
            self.counters[symbol].base = self.known.get(symbol, INT64)
        rounds, is_stable = 0, False
        while not is_stable:
            rounds += 1
            before = {symbol: counter.bounds() for symbol, counter in self.counters.items()}
            self.traps, self.at, self.tests = {}, {}, 0
            boxes = self.block(self.fn.body, [dict(self.known)])
            for result in self.fn.results:
                if not isinstance(result.value, ir.Symbol):
                    self.memo = {}
                    self._look(result.value, boxes[0] if boxes else {})
            grown = [s for s, c in self.counters.items() if c.bounds() != before[s]]
            is_stable = not grown
            for symbol in grown if rounds % COUNTER_ROUNDS == 0 else ():
                del self.counters[symbol]

    def bounds(self, expr: ir.Expr, box: Mapping[ir.Symbol, Range]) -> Range:
        return range_of(expr, box, self.memo) if is_integer(expr.dtype) else INT64

    # ------------------------------------------------------------ statements

    def statement(self, stmt: ir.Stmt, boxes: list[Box]) -> list[Box]:
        self.memo = {}
        (box,) = boxes
        match stmt:
            case ir.For() | ir.While() if id(stmt) not in self.growing and id(stmt) not in self.moving:
                return boxes
            case ir.If():
                self._look(stmt.cond, box)
            case ir.For():
                self._look(stmt.lo, box)
                self._look(stmt.hi, box)
            case ir.While():
                pass  # its condition belongs to an iteration
            case ir.Assign():
                self._look(stmt.value, box, counts=self._counted(stmt, box))
            case _:
                for part in children(stmt):
                    self._look(part, box)
        return super().statement(stmt, boxes)

    def assigned(self, stmt: ir.Assign, box: Box) -> Range:
        found = self._returned(stmt.value, box)
        if (counter := self.counters.get(stmt.target)) is not None and is_within(counter.bounds(), INT64):
            # The exact sum, cut to what the counter can be.
            return cut(self._exact(stmt.value, box) or found, counter.bounds()) or found
        return found

    def _counted(self, stmt: ir.Assign, box: Box) -> Range | None:
        """The bounds of what a counter may be, noting what this statement does to it."""
        counter = self.counters.get(stmt.target)
        if counter is None:
            return None
        by = added_in(stmt)
        if by is None or not self.trips:
            found = self.bounds(stmt.value, box)
            counter.base = found if counter.base is None else hull(counter.base, found)
            return None
        runs = min(math.prod(self.trips), max(MOST_RUNS, *self.trips))
        move = max(map(abs, self.bounds(by, box))) * runs
        counter.moves[id(stmt)] = max(move, counter.moves.get(id(stmt), 0))
        bounds = counter.bounds()
        return bounds if is_within(bounds, INT64) else None

    # ------------------------------------------------------------ loops

    def loop(self, loop: ir.For | ir.While, boxes: list[Box]) -> list[Box]:
        if id(loop) in self.tested or not self._may_test(loop):
            after = self._loop(loop, boxes)
        else:
            before = dict(self.traps), dict(self.at), self.tests
            after = self._loop(loop, boxes)
            if self.unproven > sum(before[0].values()):
                after = self._choose(loop, boxes, *before)
        bounds = self.tested.get(id(loop))
        if not bounds:
            return after
        self.tests += sum(1 + (low > INT64[0]) for low, _ in bounds.values())
        return after if self.leaves else self.limited([*after, *self._careful(loop, boxes)])

    def _loop(self, loop: ir.For | ir.While, boxes: list[Box]) -> list[Box]:
        """The analysis of a loop under the bounds that it tests."""
        trips = MOST_RUNS
        if isinstance(loop, ir.For):
            least, greatest = self.iterations(loop, boxes)
            trips = max(0, (greatest - least) // abs(loop.step) + 1)
        self.trips.append(trips)
        after = super().loop(loop, boxes)
        self.trips.pop()
        self.memo = {}
        return after

    def _careful(self, loop: ir.For | ir.While, boxes: list[Box]) -> list[Box]:
        """The analysis of the copy of a loop that goes on where a tested bound does not hold."""
        outer = self.at, self.tested, self.copy, self.assumes
        self.at, self.tested = {}, {**self.tested, id(loop): {}}
        self.copy, self.assumes = id(loop), False
        after = self._loop(loop, boxes)
        self.at, self.tested, self.copy, self.assumes = outer
        return after

    def at_head(self, loop: ir.For | ir.While, boxes: list[Box]) -> list[Box]:
        known = {**self._counter_bounds(loop), **self.tested.get(id(loop), {})}
        return [{**box, **{s: cut(box.get(s, INT64), r) or r for s, r in known.items()}} for box in boxes]

    def _counter_bounds(self, loop: ir.For | ir.While) -> Box:
        """The bounds of the counters that a loop adds to: widening goes beyond them."""
        if id(loop) not in self.written:
            self.written[id(loop)] = self.sums & scalars_written(loop.body)
        added = {s: self.counters[s].bounds() for s in self.written[id(loop)] if s in self.counters}
        return {s: found for s, found in added.items() if is_within(found, INT64)}

    def entered(self, loop: ir.For | ir.While, boxes: list[Box], inside: Range | None) -> list[Box]:
        if isinstance(loop, ir.While):
            self.memo = {}
            self._look(loop.cond, boxes[0])
        return super().entered(loop, boxes, inside)

    def _may_test(self, loop: ir.For | ir.While) -> bool:
        """Whether the loop can be left where a scalar is beyond its bounds."""
        if not self.assumes or self.work < self.most_work // 2:
            return False
        return self.leaves or leaves_by_condition(loop)

    def _choose(
        self,
        loop: ir.For | ir.While,
        boxes: list[Box],
        traps: dict[Occurrence, bool],
        at: dict[int, list[Box]],
        tests: int,
    ) -> list[Box]:
        """Chooses bounds of scalars that the loop carries, under which fewer of its operations may overflow: the boxes
        behind the loop under these. traps, at, tests: as they were before the loop. A sum of a `for` is none of them: a
        test of what iterations before have added would carry a dependence, and an addition that traps is a
        reduction."""
        (head,) = self.at_head(loop, self.at[id(loop)])
        sums = self.sums if isinstance(loop, ir.For) else frozenset()
        wide = [
            s for s in ordered((scalars_written(loop.body) & exposed((loop,)).keys()) - sums)
            if s.dtype is DType.INT64 and not is_within(head.get(s, INT64), TESTED[-1])
        ]  # fmt: skip
        best: Box = {}
        fewest = self.unproven
        after: list[Box] = []

        def unproven(bounds: Box) -> int:
            nonlocal after
            self.traps, self.at, self.tests = dict(traps), dict(at), tests
            self.tested[id(loop)] = bounds
            after = self._loop(loop, boxes)
            return self.unproven

        closest = dict.fromkeys(wide, TESTED[-1])
        if wide and (least := unproven(closest)) < fewest:
            best, fewest = closest, least
            for limit in TESTED[:-1]:
                if unproven(trial := dict.fromkeys(wide, limit)) == least:
                    best = trial
                    break
        for symbol in wide if best and len(wide) <= 6 else ():
            fewer = {s: r for s, r in best.items() if s != symbol}
            if fewer and unproven(fewer) <= fewest:
                best = fewer
        if self.tested.get(id(loop)) != best:
            unproven(best)
        return after

    # ------------------------------------------------------------ expressions

    def _returned(self, expr: ir.Expr, box: Box) -> Range:
        """The bounds of a value that is used in full: where an operation leaves 64 bits, it traps."""
        if isinstance(expr, ir.Binary) and expr.python and expr.op in GROWING and expr.dtype is DType.INT64:
            lhs, rhs = self._returned(expr.lhs, box), self._returned(expr.rhs, box)
            if expr.op == "<<":
                rhs = cut(rhs, (0, 64)) or rhs
            return range_in_64_bits(expr.op, lhs, rhs)
        return self.bounds(expr, box)

    def _exact(self, expr: ir.Expr, box: Box) -> Range | None:
        if isinstance(expr, ir.Binary) and is_integer(expr.dtype):
            return range_of_binary(expr.op, self.bounds(expr.lhs, box), self.bounds(expr.rhs, box))
        return None

    def _cuts(self, op: str, mask: ir.Expr, box: Box) -> bool:
        """Whether `x & mask` or `x % mask` is made of the last bits of x, all but the sign."""
        least, greatest = self.bounds(mask, box)
        if op == "&":
            return least >= 0
        return 0 < least == greatest and least & (least - 1) == 0

    def _mark(self, e: ir.Expr, *, fits: bool) -> None:
        key = id(e), self.copy
        self.traps[key] = not fits or self.traps.get(key, False)

    def _look(self, e: ir.Node, box: Box, *, ring: bool = False, counts: Range | None = None) -> None:
        """Marks the operations of an expression. ring: only its last bits are used, which are right if it wraps.
        counts: it adds to a counter that stays within these bounds."""
        if id(e) not in self.growing:
            return
        match e:
            case ir.Binary(op="&" | "%" as op, lhs=lhs, rhs=rhs) if e.dtype is DType.INT64 and (
                self._cuts(op, rhs, box) or (op == "&" and self._cuts(op, lhs, box))
            ):
                is_left = not self._cuts(op, rhs, box)
                self._look(lhs, box, ring=not is_left)
                self._look(rhs, box, ring=is_left)
            case ir.Cast(arg=arg) if (
                arg.dtype is DType.INT64 and e.dtype.is_integer and e.dtype is not DType.INT64
            ):
                self._look(arg, box, ring=True)
            case ir.Binary(op=op) if op in _RING and ring:
                self._look(e.lhs, box, ring=True)
                self._look(e.rhs, box, ring=op != "<<")
                self._mark(e, fits=True)
            case ir.Unary() if ring:
                self._look(e.arg, box, ring=True)
            case ir.Binary():
                self._look(e.lhs, box)
                self._look(e.rhs, box)
                if e.python and e.dtype is DType.INT64:
                    self._check(e, box, counts)
            case ir.Unary(op="-", python=True) if self.bounds(e.arg, box)[0] == INT64[0]:
                self._look(e.arg, box)
                self._mark(e, fits=False)
            case ir.Select(cond=cond, then=then, orelse=orelse):
                self._look(cond, box)
                self._look_where(cond, True, then, box)
                self._look_where(cond, False, orelse, box)
            case ir.Logical(op=op, lhs=lhs, rhs=rhs):
                self._look(lhs, box)
                self._look_where(lhs, op == "and", rhs, box)
            case _:
                for part in children(e):
                    self._look(part, box)

    def _look_where(self, cond: ir.Expr, holds: bool, e: ir.Expr, box: Box) -> None:
        """Visits a subexpression that is evaluated only where a condition holds (`holds`) or fails."""
        inside = narrowed(cond, holds, box)
        if inside is not None:
            outer, self.memo = self.memo, {}
            self._look(e, inside)
            self.memo = outer

    def _check(self, e: ir.Binary, box: Box, counts: Range | None) -> None:
        """Marks an operation on Python ints."""
        if e.op == "//":
            lhs, rhs = self.bounds(e.lhs, box), self.bounds(e.rhs, box)
            self._mark(e, fits=lhs[0] > INT64[0] or not rhs[0] <= -1 <= rhs[1])
        elif e.op in GROWING:
            exact = self._exact(e, box)
            self._mark(e, fits=counts is not None or (exact is not None and is_within(exact, INT64)))


def leaves_by_condition(loop: ir.For | ir.While) -> bool:
    """Whether a loop is a `while` that ends only where its condition fails."""
    return isinstance(loop, ir.While) and not has_own(loop.body, ir.Break)
