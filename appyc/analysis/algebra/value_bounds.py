"""Bounds of numbers, floats among them, by interval arithmetic without regard to the flow of control.

    x = (i + 0.5) / n           x: any number
    y = 4.0 / (1.0 + x * x)     the divisor is 1 or more, y is from 0 to 4

A scalar has the hull of all that the function assigns to it, and a condition bounds what it compares where it holds.
Rounding is monotone, so that bounds of operands, computed with in the same type, are bounds of the result. A NaN is
within all bounds. The source is R. E. Moore, Interval Analysis (1966).

Does not handle: float32 and complex numbers, elements of float arrays.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from appyc.ir import nodes as ir
from appyc.ir.integers import is_integer, is_within, limits, range_of_binary, range_of_comparison
from appyc.ir.invariance import arrays_made
from appyc.ir.types import DType
from appyc.ir.visit import arrays_written, contains, scalars_read, scalars_written, statements

Bounds: TypeAlias = tuple[float, float]

Source: TypeAlias = ir.For | ir.Assign | ir.Update
"""The statements that give a scalar a value."""

ANY: Bounds = (-math.inf, math.inf)
NEVER_NEGATIVE: Bounds = (0, math.inf)

MOST_NESTED = 3
"""The levels of conditional expressions, one in another's operands, within which conditions are looked at: each level
asks several times for the bounds of what its condition compares."""

EXACT_ROUNDS = 2
"""The number of rounds in which an assignment may extend the bounds of a scalar; after them the growing end
is infinite."""

_UNIT = 1 + 1e-12
"""1, with room for the rounding of library functions."""

FUNCTIONS: Mapping[str, Bounds] = {
    **dict.fromkeys(("exp", "exp2", "hypot"), NEVER_NEGATIVE),
    **dict.fromkeys(("sin", "cos", "tanh", "erf"), (-_UNIT, _UNIT)),
    "cosh": (2 - _UNIT, math.inf),
}

ROUNDINGS: Mapping[str, Callable[[float], float]] = {
    "floor": np.floor, "ceil": np.ceil, "rint": np.rint, "trunc": np.trunc,
}  # fmt: skip

DRAWN: Mapping[str, Bounds] = dict.fromkeys(("random_standard_uniform", "python_random"), (0, 1 - 2**-53))
"""The numbers that generators give."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts that hold at one point of the program. bounds: of expressions. nonzero: expressions that are not
    0. evaluated: expressions that have been evaluated without raising. indices: index expressions with the
    array and the axis for which they are in range, counted from the end where they are negative. nested: how many
    conditional expressions the point is in."""

    bounds: Mapping[ir.Expr, Bounds] = field(default_factory=dict)
    nonzero: frozenset[ir.Expr] = frozenset()
    evaluated: frozenset[ir.Expr] = frozenset()
    indices: frozenset[tuple[ir.Symbol, int, ir.Expr]] = frozenset()
    nested: int = 0

    def kept_in(self, body: ir.Node | Iterable[ir.Node]) -> Facts:
        """The facts that hold throughout a piece of code, because it changes nothing that they depend on."""
        body = [body] if isinstance(body, ir.Node) else list(body)
        written = scalars_written(body)
        made = arrays_made(body)
        stores = bool(arrays_written(body) or made)

        def holds(e: ir.Expr) -> bool:
            reads_memory = contains(e, ir.Load | ir.Extent)
            return not (stores and reads_memory) and not scalars_read(e) & written

        return Facts(
            {e: b for e, b in self.bounds.items() if holds(e)},
            frozenset(filter(holds, self.nonzero)),
            frozenset(filter(holds, self.evaluated)),
            frozenset(index for index in self.indices if index[0] not in made and holds(index[2])),
        )


class ValueBounds:
    """Bounds of the scalars of a function: the least fix-point, but for ends that move on, which are infinite."""

    def __init__(self, fn: ir.Function) -> None:
        sources: dict[ir.Symbol, list[tuple[Source, set[ir.Symbol]]]] = defaultdict(list)
        readers: dict[ir.Symbol, set[ir.Symbol]] = defaultdict(set)
        for node in statements(fn):
            match node:
                case ir.For(var=target) | ir.Assign(target=target):
                    pass
                case ir.Update(target=target) if not target.is_array:
                    pass
                case _:
                    continue
            operands = scalars_read(node.bounds if isinstance(node, ir.For) else node)
            sources[target].append((node, operands))
            for operand in operands:
                readers[operand].add(target)
        self._found: dict[ir.Symbol, Bounds] = {s: ANY for s in scalars_read(fn) if s not in sources}
        self._found |= dict.fromkeys(fn.params, ANY)
        changes = dict.fromkeys(sources, 0)
        self._finite: set[ir.Symbol] = {*sources} - {*fn.params}
        """Scalars to which, as far as is known, only finite numbers are assigned."""
        stale = {*sources}
        while stale:
            looked_at = set[ir.Symbol]()
            while stale:
                for symbol, same in sources.items():
                    if symbol in stale:
                        stale.remove(symbol)
                        looked_at.add(symbol)
                        if self._grow(symbol, same, changes):
                            stale |= readers[symbol]
            lost = {s for s in self._finite & looked_at if not all(self._is_finite(e) for e, _ in sources[s])}
            self._finite -= lost
            stale = set().union(*(readers[s] for s in lost))

    def _grow(
        self, symbol: ir.Symbol, sources: list[tuple[Source, set[ir.Symbol]]], changes: dict[ir.Symbol, int]
    ) -> bool:
        """Takes what is assigned to a scalar into its bounds, of those sources whose operands have a value by now."""
        known = [source for source, operands in sources if operands <= self._found.keys()]
        old = self._found.get(symbol)
        low, high = _hull(
            end for ends in (old, *map(self._of_source, known)) if ends is not None for end in ends
        )
        if not known or (low, high) == old:
            return False
        if old is not None and changes[symbol] >= EXACT_ROUNDS:
            low, high = low if low == old[0] else -math.inf, high if high == old[1] else math.inf
        changes[symbol] += 1
        self._found[symbol] = low, high
        return True

    def _is_finite(self, source: Source) -> bool:
        return isinstance(source, ir.Assign) and self.is_finite(source.value, Facts())

    def _of_source(self, source: Source) -> Bounds:
        nothing = Facts()
        match source:
            case ir.Assign(value=value):
                return self.of(value, nothing)
            case ir.Update(target=target, op=op, value=value):
                if op not in ir.BINARY_OPS:
                    return ANY
                old = ir.Var(target, loc=source.loc)
                return self.of(ir.Binary(op, old, value, python=source.python, loc=source.loc), nothing)
            case ir.For(lo=lo, hi=hi, step=step):
                low, high = self.of(lo, nothing), self.of(hi, nothing)
                return (low[0], high[1] - 1) if step > 0 else (high[0] + 1, low[1])

    def excludes_zero(self, expr: ir.Expr, facts: Facts) -> bool:
        """Whether an expression is surely not 0; it may be a NaN."""
        low, high = self.of(expr, facts)
        if low > 0 or high < 0 or expr in facts.nonzero:
            return True
        match expr:
            case ir.Cast(arg=arg) if arg.dtype.is_integer and expr.dtype.is_float:
                return self.excludes_zero(arg, facts)
            case ir.Unary(op="-", arg=arg) | ir.Intrinsic(name="abs" | "sqrt", args=(arg,)):
                return self.excludes_zero(arg, facts)
            case ir.Binary(op="*", python=True):
                return all(self.excludes_zero(e, facts) for e in (expr.lhs, expr.rhs))
            case _:
                return False

    def of(self, expr: ir.Expr, facts: Facts) -> Bounds:
        """Bounds of an expression of a real type."""
        low, high = self._of(expr, facts)
        if is_integer(expr.dtype):
            least, greatest = limits(expr.dtype)
            if _may_wrap(expr) and not least <= low <= high <= greatest:
                low, high = ANY
            low, high = max(low, least), min(high, greatest)
        elif expr.dtype is DType.FLOAT64:
            low, high = float(low), float(high)
        else:
            low, high = ANY
        fact = facts.bounds.get(expr, ANY) if facts.bounds else ANY  # the hash of an expression takes time
        return max(low, fact[0]), min(high, fact[1])

    def is_finite(self, expr: ir.Expr, facts: Facts) -> bool:
        """Whether a float is surely no NaN and no infinity."""
        low, high = self.of(expr, facts)
        if not (-math.inf < low and high < math.inf):
            return False
        match expr:
            case ir.Const() | ir.Draw():
                return True
            case ir.Var(symbol=symbol):
                return symbol in self._finite
            case ir.Intrinsic(name=name, args=(arg,)) if name == "abs" or name in ROUNDINGS:
                return self.is_finite(arg, facts)
            case ir.Intrinsic() | ir.Binary() if (radicand := _radicand(expr)) is not None:
                return self.of(radicand, facts)[0] >= 0 and self.is_finite(radicand, facts)
            case ir.Cast(arg=arg):
                return is_integer(arg.dtype) or self.is_finite(arg, facts)
            case ir.Unary(op="-", arg=arg):
                return self.is_finite(arg, facts)
            case ir.Binary(
                op="+" | "-" | "*" | "/" | "min" | "max" | "minimum" | "maximum" as op, lhs=lhs, rhs=rhs
            ):
                if op == "/" and not self.excludes_zero(rhs, facts):
                    return False  # zero divided by zero is a NaN
                return self.is_finite(lhs, facts) and self.is_finite(rhs, facts)
            case ir.Select(then=then, orelse=orelse):
                return self.is_finite(then, facts) and self.is_finite(orelse, facts)
            case _:
                return False

    def under(self, cond: ir.Expr, holds: bool, facts: Facts) -> Facts:
        """The facts behind a condition where it holds, or fails."""
        match cond:
            case ir.Likely(arg=arg):
                return self.under(arg, holds, facts)
            case ir.Unary(op="~", arg=arg):
                return self.under(arg, not holds, facts)
            case ir.Cast(arg=arg, dtype=DType.BOOL):
                return replace(facts, nonzero=facts.nonzero | {arg}) if holds else facts
            case ir.Logical(op=op, lhs=lhs, rhs=rhs) if (op == "and") == holds:
                return self.under(rhs, holds, self.under(lhs, holds, facts))
            case ir.Compare(op=op, lhs=lhs, rhs=rhs):
                one, other = self.of(lhs, facts), self.of(rhs, facts)
                behind = self._compared((lhs, one), op, (rhs, other), holds, facts)
                return self._compared((rhs, other), ir.MIRRORED[op], (lhs, one), holds, behind)
            case _:
                return facts

    def _inside(self, cond: ir.Expr, holds: bool, facts: Facts) -> Facts:
        """As `under`, for what a conditional expression evaluates."""
        if facts.nested >= MOST_NESTED:
            return facts
        return self.under(cond, holds, replace(facts, nested=facts.nested + 1))

    def _compared(
        self, of: tuple[ir.Expr, Bounds], op: str, to: tuple[ir.Expr, Bounds], holds: bool, facts: Facts
    ) -> Facts:
        """The facts with what follows for one expression where `one op other` holds (`holds`) or fails."""
        (expr, (low, high)), (other, (least, greatest)) = of, to
        if isinstance(expr, ir.Const):
            return facts
        if holds == (op == "!=") and other.dtype.is_float and not self.is_finite(other, facts):
            return facts  # compared with a NaN, the expression may be any number; a NaN itself is within all bounds
        op = op if holds else ir.NEGATED[op]
        match op:
            case "<" | "<=":
                high = min(high, greatest)
            case ">" | ">=":
                low = max(low, least)
            case "==":
                low, high = max(low, least), min(high, greatest)
        differs = (
            (op == "<" and greatest <= 0) or (op == ">" and least >= 0)
            or (op == "!=" and least == greatest == 0)
        )  # fmt: skip
        nonzero = facts.nonzero | {expr} if differs else facts.nonzero
        return replace(facts, bounds={**facts.bounds, expr: (low, high)}, nonzero=nonzero)

    def _of(self, expr: ir.Expr, facts: Facts) -> Bounds:
        match expr:
            case ir.Const(value=int() | float() as value) if not math.isnan(value):
                return value, value
            case ir.Var(symbol=symbol):
                return self._found.get(symbol, ANY)
            case ir.Extent():
                return NEVER_NEGATIVE
            case ir.Likely(arg=arg):
                return self.of(arg, facts)
            case ir.Cast(arg=arg):
                low, high = self.of(arg, facts)
                if not arg.dtype.is_float or expr.dtype.is_float:
                    return low, high
                truncates = self.is_finite(arg, facts) and expr.dtype is not DType.BOOL
                return (math.trunc(low), math.trunc(high)) if truncates else ANY
            case ir.Compare(op=op, lhs=lhs, rhs=rhs):
                never, ever = range_of_comparison(op, self.of(lhs, facts), self.of(rhs, facts))
                if all(e.dtype.is_integer or self.is_finite(e, facts) for e in (lhs, rhs)):
                    return never, ever
                return (never, 1) if op == "!=" else (0, ever)
            case ir.Logical(op=op, lhs=lhs, rhs=rhs):
                one = self.of(lhs, facts)
                other = self.of(rhs, self._inside(lhs, op == "and", facts))
                chosen = min if op == "and" else max
                return chosen(one[0], other[0]), chosen(one[1], other[1])
            case ir.Unary(op="~", arg=arg) if arg.dtype is DType.BOOL:
                low, high = self.of(arg, facts)
                return 1 - high, 1 - low
            case ir.Unary(op="-", arg=arg):
                low, high = self.of(arg, facts)
                return -high, -low
            case ir.Intrinsic() | ir.Binary() if (radicand := _radicand(expr)) is not None:
                low, high = (math.sqrt(max(end, 0)) for end in self.of(radicand, facts))
                return low, high
            case ir.Binary(op=op, lhs=lhs, rhs=rhs):
                return self._of_binary(expr, op, self.of(lhs, facts), self.of(rhs, facts), facts)
            case ir.Select(cond=cond, then=then, orelse=orelse):
                one = self.of(then, self._inside(cond, True, facts))
                other = self.of(orelse, self._inside(cond, False, facts))
                return min(one[0], other[0]), max(one[1], other[1])
            case ir.Intrinsic(name="abs", args=(arg,)):
                low, high = self.of(arg, facts)
                return max(low, -high, 0), max(-low, high)
            case ir.Intrinsic(name=name, args=(arg,)) if name in ROUNDINGS and arg.dtype is DType.FLOAT64:
                low, high = (float(ROUNDINGS[name](end)) for end in self.of(arg, facts))
                return low, high
            case ir.Draw(name=name):
                return DRAWN.get(name, ANY)
            case ir.Intrinsic(name=name):
                return FUNCTIONS.get(name, ANY)
            case _:
                return ANY

    def _of_binary(self, expr: ir.Binary, op: str, a: Bounds, b: Bounds, facts: Facts) -> Bounds:
        match op:
            case "+":
                return _hull((a[0] + b[0], a[1] + b[1]))
            case "-":
                return _hull((a[0] - b[1], a[1] - b[0]))
            case "*":
                low, high = _hull(_times(x, y) for x in a for y in b)
                return (max(low, 0), high) if expr.lhs == expr.rhs else (low, high)
            case "/" if b[0] > 0 or b[1] < 0:
                return _hull(x / y if abs(y) < math.inf else 0.0 for x in a for y in b)
            case "/" if a[0] >= 0 and b[0] >= 0 and (expr.trap or self.excludes_zero(expr.rhs, facts)):
                return NEVER_NEGATIVE  # a negative zero is not below 0, and divides into negative infinities
            case "**" if isinstance(expr.rhs, ir.Const) and expr.rhs.value in (2, 4, 6):
                return NEVER_NEGATIVE
            case "max" | "maximum":
                low = a[0] if op == "max" and _may_be_nan(expr.rhs) else max(a[0], b[0])
                return low, max(a[1], b[1])
            case "min" | "minimum":
                high = a[1] if op == "min" and _may_be_nan(expr.rhs) else min(a[1], b[1])
                return min(a[0], b[0]), high
        if not expr.dtype.is_integer:
            return ANY
        whole = limits(expr.dtype)
        ranges = [tuple(int(min(max(end, whole[0]), whole[1])) for end in ends) for ends in (a, b)]
        (a0, a1), (b0, b1) = ranges
        found = range_of_binary(op, (a0, a1), (b0, b1))
        return found if found is not None and is_within(found, whole) else whole


def _hull(ends: Iterable[float]) -> Bounds:
    """Around all ends, of which a NaN stands for any number."""
    ends = list(ends)
    return (min(ends), max(ends)) if ends and not any(map(math.isnan, ends)) else ANY


def _times(x: float, y: float) -> float:
    """A product of ends: what is bounded by infinity is finite, so that 0 times it is 0."""
    return x * y if x != 0 and y != 0 else 0


def _may_wrap(expr: ir.Expr) -> bool:
    """Whether an integer expression may be outside of the bounds that its operands give, modulo its type's size."""
    match expr:
        case ir.Binary() | ir.Unary():
            return not expr.python
        case ir.Cast() | ir.Intrinsic():
            return True
        case _:
            return False


def _radicand(expr: ir.Intrinsic | ir.Binary) -> ir.Expr | None:
    """The radicand x of `sqrt(x)` or `x ** 0.5`; None for other expressions."""
    match expr:
        case ir.Intrinsic(name="sqrt", args=(arg,)) | ir.Binary("**", arg, ir.Const(value=0.5)) if (
            expr.dtype is DType.FLOAT64
        ):
            return arg
        case _:
            return None


def _may_be_nan(expr: ir.Expr) -> bool:
    return expr.dtype.is_float and not isinstance(expr, ir.Const)
