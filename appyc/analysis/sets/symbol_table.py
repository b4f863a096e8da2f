"""The parameters of a function's sets: what each name stands for, and what is known of its values.

A name stands for a parameter, an extent, a loop variable, a value of which nothing is known but how deep in the loops
it may vary (an *opaque* one), or a product of names. Facts are sets that speak of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import prod

from appyc.analysis.algebra.intervals import Box
from appyc.analysis.algebra.value_products import Factors, Products, written_out
from appyc.analysis.sets.lazy_isl import isl
from appyc.analysis.sets.presburger import Presburger
from appyc.errors import GENERATED
from appyc.ir.names import ordered
from appyc.ir.nodes import Expr, Extent, For, Symbol
from appyc.ir.types import DType

SMALL = 1 << 40
"""Parameters within +-SMALL, times factors up to FACTOR of `affine_values`, add up without overflow in 64 bits."""

PRODUCTS = {2: 1 << 28, 3: 1 << 18}
"""The bounds on each factor of a product of two or three values: REACH times such a product fits 64 bits."""

REACH = 64

UNBOUNDED = 1 << 10
"""A reach of which nothing is known: more than REACH."""


@dataclass(frozen=True, slots=True)
class Name:
    """The meaning of a set's parameter.

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
    """The value of a scalar at one point of the program.

    pieces: the integer value, None where nothing is known of it and for other types. Two values of one version are
    equal.
    """

    version: int
    depth: int
    pieces: isl.PwAff | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """The sets on which a condition may be true and may be false; it is exact where these are disjoint."""

    may_hold: isl.Set
    may_fail: isl.Set
    exact: bool

    def negated(self) -> Truth:
        return Truth(self.may_fail, self.may_hold, self.exact)


@dataclass(slots=True)
class State:
    """The values of the scalars, and of the extents of local arrays, at one point of the program.

    allocated: how many loops are around all allocations of a local array that reach this point, where one does on each
    path.
    """

    scalars: dict[Symbol, Value] = field(default_factory=dict)
    extents: dict[tuple[Symbol, int], Value] = field(default_factory=dict)
    allocated: dict[Symbol, int] = field(default_factory=dict)

    def copy(self) -> State:
        return State(dict(self.scalars), dict(self.extents), dict(self.allocated))


class SymbolTable:
    """The names of one function's sets.

    wary: do not trust 64-bit arithmetic on values of unknown size. lengths: the scalars that always hold
    the extents of local arrays.
    """

    def __init__(self, sets: Presburger, wary: bool) -> None:
        self.sets = sets
        self.wary = wary
        self.lengths: Mapping[tuple[Symbol, int], Symbol] = {}
        self.names: dict[str, Name] = {}
        self.facts: dict[str, isl.Set] = {}
        self._about: dict[str, list[isl.Set]] = {}
        self._versions = 0
        self.products = Products()
        self.multiplied: dict[str, int] = {}

    def named(self, name: Name, key: str) -> isl.PwAff:
        """The value of a parameter, entered into the table on first sight."""
        self.names.setdefault(key, name)
        return self.sets.parameter(key)

    def version(self) -> int:
        self._versions += 1
        return self._versions

    def unknown(self, depth: int) -> Value:
        """A value of which nothing is known but its depth."""
        return Value(self.version(), depth)

    def held(self, symbol: Symbol, state: State) -> isl.PwAff | None:
        """The value of an integer scalar. Where it is unknown, a set parameter of its own stands for it, made
        on demand since few are needed."""
        known = state.scalars.get(symbol)
        if known is None or known.pieces is not None or not is_counted(symbol.dtype):
            return known.pieces if known is not None else None
        name = Name(symbol.name, known.depth, small=symbol.dtype.bits < 64)
        return self.named(name, f"{symbol}@{known.version}")

    def bound(self, targets: set[Symbol], boxes: Sequence[Box], state: State) -> None:
        """Keeps which values scalars have where a name of its own begins to stand for each of them."""
        named: dict[Symbol, str] = {}
        for symbol in ordered(targets.intersection(*boxes) if boxes else ()):
            known, pieces = state.scalars.get(symbol), self.held(symbol, state)
            names = self.sets.names(pieces) if pieces is not None else ()
            if known is not None and names == [f"{symbol}@{known.version}"] and names[0] not in self.facts:
                named[symbol] = names[0]
                small = all(-SMALL <= end <= SMALL for box in boxes for end in box[symbol])
                self.names[names[0]] = replace(self.names[names[0]], small=small)
        if named:
            fact = self.sets.bounded(lambda: self._one_of(boxes, named), self.sets.everything)
            for name in named.values():
                self.facts[name] = fact
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
        """The set of parameters of the function for which a set has a point."""
        moving = [name for name in self.sets.names(points) if self.names[name].origin is None]
        return self.sets.project_out(points, moving)

    def know(self, name: str, fact: isl.Set) -> None:
        """Keeps what is true of a name whatever the arguments are."""
        self.facts[name] = fact
        self.assume(fact)

    def assume(self, fact: isl.Set) -> None:
        """Keeps what is true, or may be taken for true."""
        for name in self.sets.names(fact):
            self._about.setdefault(name, []).append(fact)

    def possible(self, points: isl.Set) -> isl.Set:
        """The set, with what is known of the names that it speaks of."""
        facts = [self.facts[name] for name in self.sets.names(points) if name in self.facts]
        return points.intersect(reduce(lambda a, b: a.intersect(b), facts)) if facts else points

    def context_of(self, *things: isl.Set) -> isl.Set:
        """The known facts about the names in some sets, and about the names in those facts.

        All facts speak of every length in the function, and isl works on all names of a set at once.
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

    def without(self, fails: isl.Set, happens: isl.Set, context: isl.Set | None = None) -> isl.Set | None:
        """The parameters for which nothing in `happens` is in `fails`, or a subset of them; None where all of
        `happens` is.

        "Or nothing happens" would make conditions long, and one may fail for an empty loop.
        """
        if happens.is_subset(fails):
            return None
        context = self.context_of(fails) if context is None else context
        return fails.gist(happens).complement().gist(context).coalesce()

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
        """The length of an axis, which is not negative: of a local array what it was allocated with, else a
        parameter."""
        local = state.extents.get((array, axis))
        if local is None:
            origin = Extent(array, axis, loc=GENERATED)
            return self._length(Name(f"{array.name}.shape[{axis}]", 0, origin, small=True), f"{array}#{axis}")
        held = self.held(self.lengths[array, axis], state) if (array, axis) in self.lengths else local.pieces
        if held is not None:
            return held
        name = Name(f"{array.name}.shape[{axis}]", local.depth, small=True)
        return self._length(name, f"{array}#{axis}@{local.version}")

    def _length(self, name: Name, key: str) -> isl.PwAff:
        if key not in self.names:
            self.know(key, self.named(name, key).ge_set(self.sets.constant(0)))
        return self.sets.parameter(key)

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
        """The most that the values can be, as a multiple of the largest of the names in them."""
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

    def fits(self, value: isl.PwAff) -> bool:
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


def is_counted(dtype: DType) -> bool:
    """Whether values of the type are tracked: integers whose every value an int64 holds."""
    return dtype.is_integer and dtype is not DType.UINT64
