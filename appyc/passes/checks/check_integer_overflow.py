"""Python ints beyond 64 bits: guards bound arguments, loops test what they carry, or operations trap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from appyc.analysis.algebra.integer_syntax import IntegerSyntax
from appyc.analysis.algebra.intervals import INT64, Box
from appyc.analysis.algebra.overflow import OverflowAnalysis, leaves_by_condition
from appyc.errors import LeftToPython
from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.integers import Range, is_within
from appyc.ir.names import NameSupply
from appyc.ir.raising import overflow_error, traps_overflow
from appyc.ir.types import DType
from appyc.ir.visit import map_operands, rewrite, walk
from appyc.passes.node_builders import both, copy_of, integer, negated, within
from appyc.passes.pass_context import PassContext

LIMITS = tuple((low, 1 << bits) for bits in (61, 46, 31, 28, 20, 15) for low in (-(1 << bits), 0))
"""Bounds of arguments that guards may test, the loosest first."""

LONGEST = (0, 1 << 48)
"""What memory allows an array's extent to be."""

FEW = 8
"""Of so many parameters each gets a bound of its own."""

WORK, ALWAYS = 10, 8_000
"""How often each node of a function may be looked at, on average, to find bounds; how many more in any function."""


def trap_overflow(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function for any arguments: where an operation on Python ints may leave 64 bits, it traps.

        return n * n + 1        ->      both operations trap

    Python runs the call again where it has stored into no argument; else OverflowError is raised.
    """
    if not _has_python_ints(fn):
        return fn
    return _Marking(
        fn,
        OverflowAnalysis(fn, IntegerSyntax.of(fn), _extents(fn, LONGEST), leaves=False, assumes=False),
        None,
    ).function()


def assume_no_overflow(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function without traps, for an analysis that takes integers to be unbounded."""
    return rewrite(fn, lambda n: replace(n, trap=False) if traps_overflow(n) else n)


def check_integer_overflow(fn: ir.Function, ctx: PassContext) -> ir.Function:
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

    Requires: the front end has marked Python's arithmetic (`python`). Does not handle: other loops of
    functions that store into arguments, in which operations that are not proven trap.
    """
    if not _has_python_ints(fn):
        return fn
    error, message = overflow_error(fn)
    leave = ir.Fail(error, message, loc=fn.loc) if error == LeftToPython.__name__ else None
    found = _Search(fn, leaves=leave is not None)
    found.lower()
    found.raise_each()
    return _guarded(_Marking(fn, found.best, leave).function(), found.known)


class _Search:
    """Looks for the loosest bounds of parameters and extents under which the fewest operations are unproven, then the
    fewest tests are needed."""

    def __init__(self, fn: ir.Function, *, leaves: bool) -> None:
        self.fn, self.leaves = fn, leaves
        self.longest = _extents(fn, LONGEST)
        self.known: dict[ir.Symbol, Range] = {}
        self.syntax = IntegerSyntax.of(fn)
        self.work = WORK * self.syntax.size + ALWAYS
        self.flows: dict[frozenset[tuple[ir.Symbol, Range]], OverflowAnalysis] = {}
        self.best = self._flow({})

    def _flow(self, known: Mapping[ir.Symbol, Range]) -> OverflowAnalysis:
        bounds = {**self.longest, **known}
        key = frozenset(bounds.items())
        if key not in self.flows:
            analysis = OverflowAnalysis(self.fn, self.syntax, bounds, leaves=self.leaves, assumes=True)
            self.flows[key] = analysis
        self.work -= self.flows[key].looked_at
        return self.flows[key]

    def _cost(self) -> tuple[int, int]:
        return self.best.unproven, self.best.tests

    def _try(self, known: dict[ir.Symbol, Range], *, is_looser: bool) -> bool:
        found = self._flow(known)
        cost = found.unproven, found.tests
        if cost < self._cost() or (is_looser and cost == self._cost()):
            self.best, self.known = found, known
            return True
        return False

    def lower(self) -> None:
        numbers = [p for p in self.fn.params if not p.is_array and p.dtype is DType.INT64]
        helps = None
        for low, high in LIMITS:
            if self._cost() == (0, 0) or self.work < 0:
                return
            if low < 0 or self.best.tests:
                extents = _extents(self.fn, (0, high)) if high < LONGEST[1] else {}
                better = self._try({**dict.fromkeys(numbers, (low, high)), **extents}, is_looser=False)
                helps = helps or better or self._helps(numbers)
                if not helps:
                    return

    def _helps(self, numbers: Sequence[ir.Symbol]) -> bool:
        """Whether the closest bounds prove more than what is known."""
        closest = LIMITS[-1]
        found = self._flow({**dict.fromkeys(numbers, closest), **_extents(self.fn, closest)})
        return (found.unproven, found.tests) < self._cost()

    def raise_each(self) -> None:
        for symbol, bounds in self.known.items() if len(self.known) <= FEW else ():
            others = {s: r for s, r in self.known.items() if s != symbol}
            looser = (r for r in LIMITS if r[0] < 0 and r != bounds and is_within(bounds, r))
            for known in (others, *({**others, symbol: r} for r in looser)):
                if self.work < 0 or self._try(known, is_looser=True):
                    break


class _Marking:
    """Writes into a function what the analysis found of it. leave: where a scalar is beyond the bounds that a loop
    tests; where it is None, a careful copy of the loop goes on."""

    def __init__(self, fn: ir.Function, found: OverflowAnalysis, leave: ir.Fail | None) -> None:
        self.fn, self.found, self.leave = fn, found, leave
        self.names = NameSupply.after(fn)
        self.copy = 0

    def function(self) -> ir.Function:
        results = tuple(
            r if isinstance(r.value, ir.Symbol) else replace(r, value=self._expr(r.value))
            for r in self.fn.results
        )
        return replace(self.fn, body=self._block(self.fn.body), results=results)

    def _expr(self, e: ir.Expr) -> ir.Expr:
        new = map_operands(e, self._expr)
        traps = self.found.traps.get((id(e), self.copy))
        match new:
            case ir.Binary("//") if traps:
                minus = ir.Binary("-", integer(0, e.loc), new.lhs, True, True, loc=e.loc)
                is_one = ir.Compare("==", new.rhs, integer(-1, e.loc), loc=e.loc)
                return ir.Select(is_one, minus, new, loc=e.loc)
            case ir.Binary("+", lhs, ir.Binary("-", ir.Const(value=0), term, trap=True)) if traps:
                return ir.Binary(
                    "-", lhs, term, True, True, loc=e.loc
                )  # whose negation alone may leave 64 bits
            case ir.Binary(op=op) if traps is not None and op != "//" and new.trap is not traps:
                return replace(new, trap=traps)
            case ir.Unary() if traps:
                return ir.Binary("-", integer(0, e.loc), new.arg, True, True, loc=e.loc)
            case _:
                return new

    def _block(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        return tuple(new for stmt in body for new in self._statement(stmt))

    def _statement(self, stmt: ir.Stmt) -> tuple[ir.Stmt, ...]:
        if (
            isinstance(stmt, ir.For | ir.While)
            and (bounds := self.found.tested.get(id(stmt)))
            and id(stmt) != self.copy
        ):
            return self._tested(stmt, bounds)
        return (self._marked(stmt),)

    def _marked(self, stmt: ir.Stmt) -> ir.Stmt:
        return map_blocks(map_operands(stmt, self._expr), self._block)

    def _tested(self, loop: ir.For | ir.While, bounds: Box) -> tuple[ir.Stmt, ...]:
        """The loop with the test of its scalars in each iteration."""
        loc = loop.loc
        fits: ir.Expr | None = None
        for symbol, ends in bounds.items():
            fits = both(fits, _is_between(ir.Var(symbol, loc=loc), *ends))
        assert fits is not None
        new = self._marked(loop)
        assert isinstance(new, ir.For | ir.While)
        leave = () if self.leave is None else (replace(self.leave, loc=loc),)
        if isinstance(new, ir.While) and leaves_by_condition(loop):
            tested = replace(new, cond=ir.Logical("and", fits, new.cond, loc=loc))
            return tested, ir.If(negated(fits), leave or (self._careful(loop),), loc=loc)
        body = (ir.If(negated(fits), leave, loc=loc), *new.body)
        if isinstance(new, ir.For):
            return (replace(new, body=body),)
        # The condition is evaluated where they fit.
        return (replace(new, cond=ir.Logical("or", negated(fits), new.cond, loc=loc), body=body),)

    def _careful(self, loop: ir.For | ir.While) -> ir.Stmt:
        outer, self.copy = self.copy, id(loop)
        new = self._marked(loop)
        self.copy = outer
        return copy_of(new, self.names)


def _is_between(value: ir.Expr, low: int, high: int) -> ir.Expr:
    """`low <= value <= high` as one comparison, where need be of what wraps to a large number below `low`."""
    loc = value.loc
    if low == INT64[0]:
        return ir.Compare("<=", value, integer(high, loc), loc=loc)
    distance = ir.Binary(
        "-", ir.Cast(value, DType.UINT64, loc=loc), ir.Const(low % 2**64, DType.UINT64, loc=loc), loc=loc
    )
    return ir.Compare("<=", distance, ir.Const(high - low, DType.UINT64, loc=loc), loc=loc)


def _has_python_ints(fn: ir.Function) -> bool:
    return any(isinstance(n, ir.Binary | ir.Unary) and n.python for n in walk(fn))


def _extents(fn: ir.Function, bounds: Range) -> dict[ir.Symbol, Range]:
    """Bounds of the extents of the function's arrays."""
    return {n.array: bounds for n in walk(fn) if isinstance(n, ir.Extent)}


def _guarded(fn: ir.Function, known: Mapping[ir.Symbol, Range]) -> ir.Function:
    tests: list[ir.Expr] = []
    loc = fn.loc
    for symbol, (low, high) in known.items():
        if not symbol.is_array:
            tests.append(within(ir.Var(symbol, loc=loc), low, high))
        elif symbol in fn.params:
            axes = sorted({n.axis for n in walk(fn) if isinstance(n, ir.Extent) and n.array == symbol})
            lengths = (ir.Extent(symbol, axis, loc=loc) for axis in axes)
            tests += [ir.Compare("<=", length, integer(high, loc), loc=loc) for length in lengths]
    guards = (ir.Guard(test, "integers stay within 64 bits", loc=loc) for test in tests)
    return replace(fn, guards=(*fn.guards, *guards))
