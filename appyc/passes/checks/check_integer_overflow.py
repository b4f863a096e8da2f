"""Python ints beyond 64 bits: guards bound arguments, loops test what they carry, or operations trap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from appyc.errors import LeftToPython
from appyc.ir.integers import Range, is_within
from appyc.ir.nodes import (
    Binary,
    Compare,
    Const,
    Expr,
    Extent,
    Fail,
    Function,
    Guard,
    Logical,
    Symbol,
    Unary,
    Var,
)
from appyc.ir.raising import overflow_error, traps_overflow
from appyc.ir.types import DType
from appyc.ir.visit import rewrite, walk
from appyc.passes.checks.integer_flow import IntegerFlow
from appyc.passes.pass_context import PassContext

LIMITS = tuple((low, 1 << bits) for bits in (61, 46, 31, 28, 20, 15) for low in (-(1 << bits), 0))
"""Bounds of arguments that guards may test, the loosest first."""

LONGEST = (0, 1 << 48)
"""What memory allows an array's extent to be."""

FEW = 8
"""Of so many parameters each gets a bound of its own."""

WORK, ALWAYS = 10, 8_000
"""How often each node of a function may be looked at, on average, to find bounds; how many more in any function."""


def trap_overflow(fn: Function, ctx: PassContext) -> Function:
    """The function for any arguments: where an operation on Python ints may leave 64 bits, it traps.

        return n * n + 1        ->      both operations trap

    Python runs the call again where it has stored into no argument; else OverflowError is raised.
    """
    if not _has_python_ints(fn):
        return fn
    return IntegerFlow(fn, _extents(fn, LONGEST), None, assumes=False).run().function


def assume_no_overflow(fn: Function, ctx: PassContext) -> Function:
    """The function without traps, for an analysis that takes integers to be unbounded."""
    return rewrite(fn, lambda n: replace(n, trap=False) if traps_overflow(n) else n)


def check_integer_overflow(fn: Function, ctx: PassContext) -> Function:
    """The usual version of a function: guards bound its arguments, loops test the scalars that they carry.

    Before:                              After:
        for i in range(n):                   guard: -2**31 <= n <= 2**31
            total += i * i * 3               for i in range(n): total += i * i * 3
        while x != 1:                        while -2**61 <= x <= 2**61 and x != 1:
            x = x // 2 if ... else 3 * x + 1     x = x // 2 if ... else 3 * x + 1
                                             if not -2**61 <= x <= 2**61: Python runs the call

    Interval analysis shows that operations do not overflow under such bounds, the loosest ones that show as much as
    others. Where the function stores into arguments, so that Python cannot run the call again, a `while` goes on in a
    copy of itself whose operations trap.

    Requires: the front end has marked Python's arithmetic (`python`). Does not handle: `abs` of -2**63; other loops of
    functions that store into arguments, in which operations that are not proven trap.
    """
    if not _has_python_ints(fn):
        return fn
    error, message = overflow_error(fn)
    leave = Fail(error, message, loc=fn.loc) if error == LeftToPython.__name__ else None
    found = _Search(fn, leave)
    found.lower()
    found.raise_each()
    return _guarded(found.best.function, found.known)


class _Search:
    """Looks for the loosest bounds of parameters and extents under which the fewest operations are unproven, then the
    fewest tests are needed."""

    def __init__(self, fn: Function, leave: Fail | None) -> None:
        self.fn, self.leave = fn, leave
        self.longest = _extents(fn, LONGEST)
        self.work = WORK * sum(1 for _ in walk(fn.body)) + ALWAYS
        self.known: dict[Symbol, Range] = {}
        self.best = self._flow({})

    def _flow(self, known: Mapping[Symbol, Range]) -> IntegerFlow:
        flow = IntegerFlow(self.fn, {**self.longest, **known}, self.leave, assumes=True).run()
        self.work -= flow.looked_at
        return flow

    def _cost(self) -> tuple[int, int]:
        return self.best.unproven, self.best.tests

    def _is_done(self) -> bool:
        return self._cost() == (0, 0) or self.work < 0

    def _try(self, known: dict[Symbol, Range], *, is_looser: bool) -> bool:
        found = self._flow(known)
        cost = found.unproven, found.tests
        if cost < self._cost() or (is_looser and cost == self._cost()):
            self.best, self.known = found, known
            return True
        return False

    def lower(self) -> None:
        numbers = [p for p in self.fn.params if not p.is_array and p.dtype is DType.INT64]
        for low, high in LIMITS:
            if self._is_done():
                return
            if low < 0 or self.best.tests:
                extents = _extents(self.fn, (0, high)) if high < LONGEST[1] else {}
                self._try({**dict.fromkeys(numbers, (low, high)), **extents}, is_looser=False)

    def raise_each(self) -> None:
        for symbol, bounds in self.known.items() if len(self.known) <= FEW else ():
            others = {s: r for s, r in self.known.items() if s != symbol}
            looser = (r for r in LIMITS if r[0] < 0 and r != bounds and is_within(bounds, r))
            for known in (others, *({**others, symbol: r} for r in looser)):
                if self.work < 0 or self._try(known, is_looser=True):
                    break


def _has_python_ints(fn: Function) -> bool:
    return any(isinstance(n, Binary | Unary) and n.python for n in walk(fn))


def _extents(fn: Function, bounds: Range) -> dict[Symbol, Range]:
    """Bounds of the extents of the function's arrays."""
    return {n.array: bounds for n in walk(fn) if isinstance(n, Extent)}


def _guarded(fn: Function, known: Mapping[Symbol, Range]) -> Function:
    guards = []
    for symbol, (low, high) in known.items():
        if not symbol.is_array:
            value: Expr = Var(symbol, loc=fn.loc)
            guards.append(
                _guard(Logical("and", _compared(">=", value, low), _compared("<=", value, high), loc=fn.loc))
            )
        elif symbol in fn.params:
            axes = sorted({n.axis for n in walk(fn) if isinstance(n, Extent) and n.array == symbol})
            guards += [_guard(_compared("<=", Extent(symbol, axis, loc=fn.loc), high)) for axis in axes]

    return replace(fn, guards=(*fn.guards, *guards))


def _compared(op: str, value: Expr, bound: int) -> Expr:
    return Compare(op, value, Const(bound, DType.INT64, loc=value.loc), loc=value.loc)


def _guard(holds: Expr) -> Guard:
    return Guard(holds, "integers stay within 64 bits", loc=holds.loc)
