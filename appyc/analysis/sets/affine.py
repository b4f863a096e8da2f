"""Piecewise affine functions and Presburger sets for the expressions and conditions of the IR.

Every integer expression has a value here. Where it is affine (`+ - *` by constants, `//`
and `%` by positive constants, minimum, maximum, choice by an affine condition) the value
is exact. Where it is not (`a[idx[i]]`, `n * m`, a narrow type that may wrap) a new name
stands for it: an *opaque* parameter of which nothing is known but how deep in the loops it
may vary. `idx[i]` inside a loop over i differs from iteration to iteration; `n * m` does
not. Equal expressions over equal values share their name, so `A[lab[i], j] = A[lab[i], j] + x`
is seen to touch one element.

Dependence analysis takes 64-bit arithmetic as exact. Where memory safety rests on the
answer (`wary`), only sums and products of values that are known to be small are affine, and
the parameters that take part are listed in `combined`, for a guard to bound them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, assert_never

from appyc.analysis.algebra.intervals import Box
from appyc.analysis.algebra.value_products import Factors, Products, written_out
from appyc.analysis.sets.presburger import Presburger
from appyc.errors import GENERATED
from appyc.ir.affine import LinearForm
from appyc.ir.nodes import (
    AnyLane,
    Apart,
    Ascending,
    Binary,
    Call,
    Cast,
    Compare,
    Const,
    Draw,
    Expr,
    Extent,
    For,
    Intrinsic,
    Likely,
    Load,
    Logical,
    Reduce,
    Select,
    Symbol,
    Unary,
    Var,
    Workers,
)
from appyc.ir.types import DType
from appyc.ir.visit import walk

if TYPE_CHECKING:
    import islpy as isl

SMALL = 1 << 40
"""Parameters within +-SMALL, times factors up to FACTOR, add up without overflow in 64 bits."""

FACTOR = 1 << 20

PRODUCTS = {2: 1 << 28, 3: 1 << 18}
"""The same for values that are multiplied, two or three of them: products add up to REACH times this."""

REACH = 64

MAX_BIT = 1 << 16
"""Bits below it are told apart: `x ^ 1` is x + 1 - 2 * (x % 2)."""

UNBOUNDED = 1 << 10
"""A reach of which nothing is known: more than REACH."""


@dataclass(frozen=True, slots=True)
class Name:
    """What a parameter of a set stands for.

    depth: how many enclosing loops its value may depend on; 0 is fixed for a call, and the
    variable of the n-th loop from outside has depth n. origin: the same value as an
    expression over the function's parameters, where there is one. loop: for a loop variable.
    small: surely within +-SMALL (of a parameter of 64 bits a guard makes it so). within: the
    names that bound a loop variable, or are factors of a product. reach: how many times as large
    as the largest of those a loop variable may be.
    """

    text: str
    depth: int
    origin: Expr | None = None
    loop: For | None = None
    small: bool = False
    within: frozenset[str] = frozenset()
    reach: int = 1


@dataclass(frozen=True, slots=True)
class Value:
    """What a scalar holds at one point of the program.

    pieces: the integer value, None for other types. Two values of one version are equal.
    """

    version: int
    depth: int
    pieces: isl.PwAff | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """Where a condition may be true and where it may be false; exact where these are disjoint."""

    may_hold: isl.Set
    may_fail: isl.Set
    exact: bool

    def negated(self) -> Truth:
        return Truth(self.may_fail, self.may_hold, self.exact)


@dataclass(slots=True)
class State:
    """What is known of the scalars, and of the extents of local arrays, at one point."""

    scalars: dict[Symbol, Value] = field(default_factory=dict)
    extents: dict[tuple[Symbol, int], isl.PwAff] = field(default_factory=dict)

    def copy(self) -> State:
        return State(dict(self.scalars), self.extents)


class Affine:
    """Converts the expressions of one function, and keeps the table of names.

    written: arrays that the function writes; a load from any other one is as constant as
    its index. wary: do not trust 64-bit arithmetic on values of unknown size. refused: where
    it is given, every `Likely` condition is taken to hold but for those in it, by identity.
    """

    def __init__(
        self,
        sets: Presburger,
        written: set[Symbol],
        wary: bool = False,
        refused: frozenset[int] | None = None,
    ) -> None:
        self.refused = refused
        self.sets = sets
        self.wary = wary
        self.combined: set[str] = set()
        self.names: dict[str, Name] = {}
        self.context: isl.Set = sets.everything
        self._facts: dict[str, isl.Set] = {}
        self._about: dict[str, list[isl.Set]] = {}
        self._written = written
        self._versions = 0
        self._opaque: dict[tuple[Expr, tuple[int, ...]], isl.PwAff] = {}
        self.products = Products()
        self.multiplied: dict[str, int] = {}

    # ---- names and values

    def named(self, name: Name, key: str) -> isl.PwAff:
        """The value of a parameter, entered into the table on first sight."""
        self.names.setdefault(key, name)
        return self.sets.parameter(key)

    def version(self) -> int:
        self._versions += 1
        return self._versions

    def unknown(self, symbol: Symbol, depth: int) -> Value:
        """A value of which nothing is known but its depth."""
        version = self.version()
        if not _is_counted(symbol.dtype):
            return Value(version, depth)
        small = symbol.dtype.bits < 64
        pieces = self.named(Name(symbol.name, depth, small=small), f"{symbol}@{version}")
        return Value(version, depth, pieces)

    def bound(self, targets: set[Symbol], boxes: Sequence[Box], state: State) -> None:
        """Keeps which values scalars have where a name of its own begins to stand for each of them."""
        named: dict[Symbol, str] = {}
        for symbol in sorted(targets.intersection(*boxes) if boxes else (), key=lambda s: s.uid):
            known = state.scalars.get(symbol)
            names = self.sets.names(known.pieces) if known is not None and known.pieces is not None else ()
            if known is not None and names == [f"{symbol}@{known.version}"] and names[0] not in self._facts:
                named[symbol] = names[0]
                small = all(-SMALL <= end <= SMALL for box in boxes for end in box[symbol])
                self.names[names[0]] = replace(self.names[names[0]], small=small)
        if named:
            fact = self.sets.bounded(lambda: self._one_of(boxes, named), self.sets.everything)
            for name in named.values():
                self._facts[name] = fact
            self.assume(fact)

    def _one_of(self, boxes: Sequence[Box], named: dict[Symbol, str]) -> isl.Set:
        out = self.sets.nothing
        for box in boxes:
            inside = self.sets.everything
            for symbol, name in named.items():
                low, high = (self.sets.constant(end) for end in box[symbol])
                value = self.sets.parameter(name)
                inside = inside.intersect(value.ge_set(low)).intersect(value.le_set(high))
            out = out.union(inside)
        return out.coalesce()

    def depth_of(self, pieces: isl.PwAff) -> int:
        return max((self.names[n].depth for n in self.sets.names(pieces)), default=0)

    def settled(self, points: isl.Set) -> isl.Set:
        """The same for the function's parameters alone: for which of them the set has a point."""
        moving = [name for name in self.sets.names(points) if self.names[name].origin is None]
        return self.sets.project_out(points, moving)

    def _know(self, name: str, fact: isl.Set) -> None:
        """Keeps what is true of a name whatever the arguments are."""
        self._facts[name] = fact
        self.assume(fact)

    def assume(self, fact: isl.Set) -> None:
        """Keeps what is true, or may be taken for true."""
        self.context = self.context.intersect(fact)
        for name in self.sets.names(fact):
            self._about.setdefault(name, []).append(fact)

    def possible(self, points: isl.Set) -> isl.Set:
        """The set, with what is known of the names that it speaks of."""
        facts = [self._facts[name] for name in self.sets.names(points) if name in self._facts]
        return points.intersect(reduce(lambda a, b: a.intersect(b), facts)) if facts else points

    def context_of(self, *things: isl.Set) -> isl.Set:
        """What is known of the names that some sets speak of, and of those that this speaks of.

        The whole context speaks of every length in the function, and isl works on all names of a set at once.
        """
        out = self.sets.everything
        todo = [name for thing in things for name in self.sets.names(thing)]
        seen: set[str] = set()
        taken: set[int] = set()
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            for fact in self._about.get(name, ()):
                if id(fact) not in taken:
                    taken.add(id(fact))
                    out = out.intersect(fact)
                    todo += self.sets.names(fact)
        return out

    def in_context(self, points: isl.Set) -> isl.Set:
        """The set, with all that is known of the names that it speaks of."""
        return points.intersect(self.context_of(points))

    def roots(self, names: Iterable[str]) -> set[str]:
        """The names, with those that bound the loop variables among them."""
        out: set[str] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if name not in out:
                out.add(name)
                todo += self.names[name].within
        return out

    def extent(self, array: Symbol, axis: int, state: State) -> isl.PwAff:
        """The length of an axis: known for local arrays, else a parameter that is not negative."""
        local = state.extents.get((array, axis))
        if local is not None:
            return local
        key = f"{array}#{axis}"
        if key not in self.names:
            origin = Extent(array, axis, loc=GENERATED)
            pieces = self.named(Name(f"{array.name}.shape[{axis}]", 0, origin, small=True), key)
            self._know(key, pieces.ge_set(self.sets.constant(0)))
        return self.sets.parameter(key)

    # ---- expressions

    def value(self, expr: Expr, state: State, depth: int) -> isl.PwAff:
        """The value of an integer expression; an opaque parameter where it is not affine, or too hard to tell."""
        if isinstance(expr, Const | Var | Extent):
            exact = self._exact(expr, state, depth)
        else:
            exact = self.sets.bounded(lambda: self._simple(expr, state, depth), None)
        return exact if exact is not None else self._as_opaque(expr, state, depth)

    def _simple(self, expr: Expr, state: State, depth: int) -> isl.PwAff | None:
        exact = self._exact(expr, state, depth)
        return exact if exact is not None and self.sets.is_simple(exact) and self._fits(exact) else None

    def _exact(self, expr: Expr, state: State, depth: int) -> isl.PwAff | None:
        match expr:
            case Const():
                return self._constant(expr)
            case Var():
                known = state.scalars.get(expr.symbol)
                return known.pieces if known is not None else None
            case Extent():
                return self.extent(expr.array, expr.axis, state)
            case Unary():
                if expr.op == "-" and expr.dtype is DType.INT64:
                    arg = self.value(expr.arg, state, depth)
                    return arg.neg() if self._adds_up(arg) else None
                return None
            case Binary():
                return self._binary(expr, state, depth)
            case Cast():
                if expr.arg.dtype is DType.BOOL and _is_counted(expr.dtype):
                    truth = self.truth(expr.arg, state, depth)
                    one, zero = self.sets.constant(1), self.sets.constant(0)
                    return self.sets.choose(truth.may_hold, one, zero) if truth.exact else None
                if _holds(expr.dtype, expr.arg.dtype):
                    return self.value(expr.arg, state, depth)
                return None
            case Select():
                return self._select(expr, state, depth)
            case Intrinsic():
                if expr.name == "abs" and expr.dtype is DType.INT64:
                    arg = self.value(expr.args[0], state, depth)
                    return arg.max(arg.neg()) if self._adds_up(arg) else None
                return None
            case (
                Compare()
                | Logical()
                | AnyLane()
                | Load()
                | Draw()
                | Apart()
                | Ascending()
                | Workers()
                | Likely()
                | Call()
                | Reduce()
            ):
                return None
            case _:
                assert_never(expr)

    def _binary(self, expr: Binary, state: State, depth: int) -> isl.PwAff | None:
        if expr.op in ("min", "max", "minimum", "maximum") and _is_counted(expr.dtype):
            lhs, rhs = self.value(expr.lhs, state, depth), self.value(expr.rhs, state, depth)
            return lhs.min(rhs) if expr.op.startswith("min") else lhs.max(rhs)
        if expr.dtype is not DType.INT64:
            return None  # a narrower type may wrap
        lhs, rhs = self.value(expr.lhs, state, depth), self.value(expr.rhs, state, depth)
        if expr.op in ("+", "-"):
            if not (self._adds_up(lhs) and self._adds_up(rhs)):
                return None
            return lhs.add(rhs) if expr.op == "+" else lhs.sub(rhs)
        factor = self.sets.constant_of(rhs)
        if factor is None and expr.op == "%":
            return self._remainder(expr, rhs, state, depth)
        if factor is not None or expr.op != "*":
            return None if factor is None else self._by_constant(expr.op, lhs, factor)
        factor = self.sets.constant_of(lhs)
        return self._product(expr, lhs, rhs, state) if factor is None else self._by_constant("*", rhs, factor)

    def _remainder(self, expr: Binary, base: isl.PwAff, state: State, depth: int) -> isl.PwAff:
        """A remainder by a value that is no constant: a name, from 0 to below the value where that is positive."""
        value = self._as_opaque(expr, state, depth)
        (name,) = self.sets.names(value)
        if name not in self._facts:
            small = all(self.names[part].small for part in self.sets.names(base))
            self.names[name] = replace(self.names[name], small=small)
            zero = self.sets.constant(0)
            inside = value.ge_set(zero).intersect(value.lt_set(base))
            self._know(name, inside.union(base.le_set(zero)))
        return value

    def _product(self, expr: Binary, lhs: isl.PwAff, rhs: isl.PwAff, state: State) -> isl.PwAff | None:
        """A sum of named products; None where one of the values is no sum."""
        one, two = self._factor(expr.lhs, lhs, rhs, state), self._factor(expr.rhs, rhs, lhs, state)
        if one is None or two is None or (self.wary and not (one.terms and two.terms)):
            return None
        terms = self.products.times(one, two)
        if terms is None:
            return None
        if self.wary:
            if all(self.names[name].depth == 0 for name in one.terms.keys() | two.terms.keys()):
                return None  # as good with a name for the whole
            if not (self._adds_up(lhs) and self._adds_up(rhs)):
                return None
        return self.sum_of(terms, expr if self._is_fixed(expr, state) else None)

    def _factor(self, expr: Expr, value: isl.PwAff, other: isl.PwAff, state: State) -> LinearForm[str] | None:
        """A value that is multiplied by another, as a sum. One that is fixed for the call, while
        the other moves, is kept whole: the `n - 2` of `i*(n - 2) + j` is the length of a row."""
        numbers = self.sets.linear_of(value)
        if numbers is None or self.depth_of(value) > 0 or self.depth_of(other) == 0:
            return numbers
        if len(numbers.terms) == 1 and numbers.constant == 0:
            return numbers
        whole = self._as_opaque(expr, state, 0)
        (name,) = self.sets.names(whole)
        if name not in self._facts:
            self._know(name, whole.eq_set(value))
        return self.sets.linear_of(whole)

    def sum_of(self, terms: Mapping[Factors, int], written: Expr | None = None) -> isl.PwAff:
        """The sum of products with factors. written: the expression, where there is only one of them."""
        total = self.sets.constant(terms.get((), 0))
        for factors, number in terms.items():
            if factors:
                alone = len(terms) == 1 and number == 1
                name = self._product_name(factors, written if alone else None)
                total = total.add(self.sets.scale(self.sets.parameter(name), number))
        return total

    def _product_name(self, factors: Factors, written: Expr | None) -> str:
        name = self.products.named(factors)
        if name not in self.names:
            parts = [self.names[factor] for factor in factors]
            origin = written or self.written(factors)
            self.names[name] = Name(
                "*".join(part.text for part in parts),
                max(part.depth for part in parts),
                origin,
                small=all(part.small for part in parts),
                within=frozenset(factors),
                reach=prod(part.reach for part in parts),
            )
        if len(factors) > 1:
            for factor in factors:
                self.multiplied[factor] = max(self.multiplied.get(factor, 2), len(factors))
        return name

    def written(self, factors: Factors) -> Expr | None:
        """A product as an expression over the function's parameters, where it is one."""
        return written_out(factors, {factor: self.names[factor].origin for factor in factors})

    def reach(self, *bounds: isl.PwAff) -> int:
        """How many times as large as the largest of the names in them the values may be."""
        largest = 0
        for _, piece in (pair for bound in bounds for pair in bound.get_pieces()):
            constant, _ = self.sets.constant_term(piece)
            total = 1 if abs(constant) <= min(PRODUCTS.values()) else UNBOUNDED
            for factor, part in self.sets.terms(piece):
                total += abs(factor) * (self._reach_of(part) if isinstance(part, str) else UNBOUNDED)
            largest = max(largest, total)
        return min(largest, UNBOUNDED)

    def _reach_of(self, name: str) -> int:
        known = self.names[name]
        bounded = (known.loop is not None or known.origin is not None) and name not in self.products.factors
        return known.reach if bounded else UNBOUNDED

    def _fits(self, value: isl.PwAff) -> bool:
        """Whether the products in a value are small enough to add up without overflow."""
        if not self.wary or not self.products.factors:
            return True
        products = self.products.factors
        for _, piece in value.get_pieces():
            total = 0
            for factor, part in self.sets.terms(piece):
                if isinstance(part, str) and part in products:
                    total += abs(factor) * prod(self._reach_of(f) for f in products[part])
            if total > REACH:
                return False
        return True

    def _by_constant(self, op: str, value: isl.PwAff, number: int) -> isl.PwAff | None:
        if op == "<<" and 0 <= number < 32:
            op, number = "*", 1 << number
        if op == ">>" and 0 <= number < 63:
            op, number = "//", 1 << number
        if op == "&" and number > 0 and number & (number + 1) == 0:
            op, number = "%", number + 1
        if (
            op in ("^", "|", "&")
            and 0 < number < MAX_BIT
            and number & (number - 1) == 0
            and self._adds_up(value)
        ):
            bit = self.sets.scale(self.sets.modulo(self.sets.floor_divide(value, number), 2), number)
            added = self.sets.constant(number).sub(bit)
            return bit if op == "&" else value.add(added) if op == "|" else value.add(added).sub(bit)
        if op == "*" and self._adds_up(value) and abs(number) <= FACTOR:
            product = self.sets.scale(value, number)
            return product if self.sets.largest_factor(product) <= FACTOR else None
        if op == "//" and number > 0:
            return self.sets.floor_divide(value, number)
        if op == "%" and number > 0:
            return self.sets.modulo(value, number)
        return None

    def _constant(self, expr: Const) -> isl.PwAff | None:
        if isinstance(expr.value, complex | float) or abs(expr.value) > SMALL:
            return None
        return self.sets.constant(int(expr.value))

    def _adds_up(self, value: isl.PwAff) -> bool:
        """Whether arithmetic on the value can be trusted not to wrap."""
        if not self.wary:
            return True
        names = self.sets.names(value)
        if not all(self.names[name].small for name in names):
            return False
        self.combined.update(names)
        return True

    def is_assumed(self, cond: Expr) -> bool:
        return isinstance(cond, Likely) and self.refused is not None and id(cond) not in self.refused

    def _select(self, expr: Select, state: State, depth: int) -> isl.PwAff | None:
        if not _is_counted(expr.dtype):
            return None
        if self.is_assumed(expr.cond):
            return self.value(expr.then, state, depth)
        truth = self.truth(expr.cond, state, depth)
        if not truth.exact:
            return None
        then, orelse = self.value(expr.then, state, depth), self.value(expr.orelse, state, depth)
        return self.sets.choose(truth.may_hold, then, orelse)

    def _as_opaque(self, expr: Expr, state: State, depth: int) -> isl.PwAff:
        small = expr.dtype.bits < 64
        parts = list(walk(expr))
        moving = any(
            (isinstance(part, Load) and part.array in self._written)
            or (isinstance(part, Extent) and (part.array, part.axis) in state.extents)
            for part in parts
        )
        read = [part.symbol for part in parts if isinstance(part, Var)]
        known = [state.scalars[symbol] for symbol in read if symbol in state.scalars]
        if moving or len(known) < len(read):
            return self._new_opaque(depth, None, small)
        key = (expr, tuple(value.version for value in known))
        if key not in self._opaque:
            origin = expr if self._is_fixed(expr, state) else None
            inner = max((v.depth for v in known), default=0)
            self._opaque[key] = self._new_opaque(inner, origin, small or origin is not None)
        return self._opaque[key]

    def _is_fixed(self, expr: Expr, state: State) -> bool:
        """Whether the expression has the same value at the start of the function."""
        for part in walk(expr):
            match part:
                case Var():
                    if part.symbol not in state.scalars or state.scalars[part.symbol].version != 0:
                        return False
                case Extent():
                    if (part.array, part.axis) in state.extents:
                        return False
                case Load() | Select() | Intrinsic() | Draw() | Binary(trap=True):
                    return False
        return True

    def _new_opaque(self, depth: int, origin: Expr | None, small: bool) -> isl.PwAff:
        return self.named(Name("?", depth, origin, small=small), f"?{self.version()}")

    # ---- conditions

    def truth(self, expr: Expr, state: State, depth: int) -> Truth:
        """Where a condition may hold and may fail; everywhere, where that cannot be told."""
        found = self.sets.bounded(lambda: self._truth(expr, state, depth), None)
        return found if found is not None else Truth(self.sets.everything, self.sets.everything, False)

    def _truth(self, expr: Expr, state: State, depth: int) -> Truth:
        match expr:
            case Const():
                everything, nothing = self.sets.everything, self.sets.nothing
                return Truth(everything, nothing, True) if expr.value else Truth(nothing, everything, True)
            case Compare() if _is_counted(expr.lhs.dtype) and _is_counted(expr.rhs.dtype):
                return self._compare(expr, state, depth)
            case Logical():
                lhs, rhs = self.truth(expr.lhs, state, depth), self.truth(expr.rhs, state, depth)
                return _both(lhs, rhs) if expr.op == "and" else _either(lhs, rhs)
            case Binary() if expr.dtype is DType.BOOL and expr.op in ("&", "|"):
                lhs, rhs = self.truth(expr.lhs, state, depth), self.truth(expr.rhs, state, depth)
                return _both(lhs, rhs) if expr.op == "&" else _either(lhs, rhs)
            case Unary() if expr.op == "~" and expr.dtype is DType.BOOL:
                return self.truth(expr.arg, state, depth).negated()
            case Likely() if self.is_assumed(expr):
                return Truth(self.sets.everything, self.sets.nothing, True)
            case Likely():
                return self.truth(expr.arg, state, depth)
            case Cast() if expr.dtype is DType.BOOL and _is_counted(expr.arg.dtype):
                value = self.value(expr.arg, state, depth)
                zero = value.eq_set(self.sets.constant(0))
                return Truth(zero.complement(), zero, True)
            case _:
                return Truth(self.sets.everything, self.sets.everything, False)

    def _compare(self, expr: Compare, state: State, depth: int) -> Truth:
        lhs, rhs = self.value(expr.lhs, state, depth), self.value(expr.rhs, state, depth)
        not_above = self.sets.not_above
        match expr.op:
            case "<":
                return Truth(not_above(lhs, rhs, strict=True), not_above(rhs, lhs), True)
            case "<=":
                return Truth(not_above(lhs, rhs), not_above(rhs, lhs, strict=True), True)
            case ">":
                return Truth(not_above(rhs, lhs, strict=True), not_above(lhs, rhs), True)
            case ">=":
                return Truth(not_above(rhs, lhs), not_above(lhs, rhs, strict=True), True)
            case "==":
                return Truth(*self.sets.equal(lhs, rhs), True)
            case _:
                return Truth(*self.sets.equal(lhs, rhs), True).negated()


def _both(lhs: Truth, rhs: Truth) -> Truth:
    return Truth(
        lhs.may_hold.intersect(rhs.may_hold),
        lhs.may_fail.union(rhs.may_fail),
        lhs.exact and rhs.exact,
    )


def _either(lhs: Truth, rhs: Truth) -> Truth:
    return _both(lhs.negated(), rhs.negated()).negated()


def _is_counted(dtype: DType) -> bool:
    """Whether values of the type are tracked: integers whose every value an int64 holds."""
    return dtype.is_integer and dtype is not DType.UINT64


def _holds(wide: DType, narrow: DType) -> bool:
    """Whether every value of `narrow` is the same number in `wide`."""
    if not (_is_counted(wide) and (_is_counted(narrow) or narrow is DType.BOOL)):
        return False
    if narrow.kind == wide.kind:
        return wide.bits >= narrow.bits
    return wide.kind == "i" and (narrow is DType.BOOL or wide.bits > narrow.bits)
