"""The cost model of a loop: its operations, by kind, and its memory footprint.

    for i in range(n):                      vector     m * 5               (in lanes over j)
        for j in range(m):                  scalar     m * 0.25 + 12       (the loops themselves)
            b[i, j] = a[i, j] + c[j]        bytes_each m * 8 + m * 16      (a row of a; one of b, written)
                                            bytes      m * 8               (c, used again for every i)

Trip counts enter as the expressions that they are, so that the estimate is made when the loop runs,
by a few multiplications. An inner loop whose bounds vary with an outer one counts with that one in
the middle of its range, which is half of a square for a triangle.

The result has an idea of what machines are like (lanes, lines of memory), none of this one's speed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import reduce
from typing import cast

from appyc.analysis.accesses.footprint import footprint
from appyc.analysis.algebra.amounts import NONE, number, product, total, trips_between
from appyc.analysis.algebra.strides import Pace, Strides
from appyc.analysis.cost.lane_forecast import LaneForecast
from appyc.errors import GENERATED
from appyc.ir import nodes as ir
from appyc.ir.array_accesses import AccessNode, array_of, is_access
from appyc.ir.intrinsics import VECTOR_FUNCTIONS
from appyc.ir.invariance import changed_in, is_invariant
from appyc.ir.schedule import LoopCost
from appyc.ir.types import DType
from appyc.ir.visit import children, contains, substitute, walk

UNKNOWN_TRIPS = 16
"""The trip count that is assumed where it is not known before the loop runs."""

LOOP_START = 12
"""The cost of a loop's set-up and of its remainder after whole vectors, in scalar operations."""

CHAIN = 5
"""The latency of a dependent operation, in scalar operations."""

_LINES = {Pace.FAR: 0.25, Pace.ANYWHERE: 1}
"""The weight of an access to a new cache line; at a constant stride it is mostly prefetched in time."""

CALL = 40
"""Scalar operations in the time of a function of the C library, called on a number."""

CALL_IN_LANES = 32
"""Operations in lanes in the time of one that is called on vectors, for each number of them. Where the
library at hand has none such, the estimate is too low, and threads share a little less than they might."""

_DEAR = {"/": (16, 8), "//": (20, 20), "%": (20, 20), "**": (CALL, CALL), "sqrt": (16, 8)}
"""The costs of expensive operations, in lanes and one by one, in units of a simple operation."""

_CHEAP = frozenset({"abs", "sign", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite",
                    "real", "imag", "conj", "complex", "copysign", "float_bits", "mulhi"})  # fmt: skip
"""Functions that are an instruction or two."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The operations and gathers of an iteration; the fields are those of LoopCost."""

    vector: ir.Expr = NONE
    scalar: ir.Expr = NONE
    gathers: ir.Expr = NONE

    def plus(self, other: Counts) -> Counts:
        return Counts(
            total(self.vector, other.vector),
            total(self.scalar, other.scalar),
            total(self.gathers, other.gathers),
        )

    def times(self, factor: ir.Expr) -> Counts:
        return Counts(
            product(factor, self.vector), product(factor, self.scalar), product(factor, self.gathers)
        )


def cost_of(loop: ir.For, around: Mapping[ir.Symbol, ir.Expr] | None = None) -> LoopCost:
    """The estimate for a loop; its expressions read nothing that the loop changes.

    around: values for the variables of loops around it, where they are not to be read either.
    """
    counter = _Counter(loop, around or {})
    counts = counter.body(loop.body, (loop,))
    once, each = footprint(loop, counter.touched, counter.trips, counter.strides)
    return LoopCost(counts.vector, counts.scalar, counts.gathers, once, each)


def traffic_of(loop: ir.For) -> dict[ir.Symbol, ir.Expr]:
    """The memory traffic of a loop: the bytes of each array, each element once, and twice if it is written."""
    counter = _Counter(loop, {})
    counter.body(loop.body, (loop,))
    trips = trips_of(loop, {})
    out: dict[ir.Symbol, ir.Expr] = {}
    touched_by_array: dict[ir.Symbol, list[AccessNode]] = {}
    for one in counter.touched:
        touched_by_array.setdefault(array_of(one), []).append(one)
    for array, touched in touched_by_array.items():
        once, each = footprint(loop, touched, counter.trips, counter.strides)
        out[array] = total(once, product(trips, each))
    return out


def bytes_moved(*loops: ir.For) -> ir.Expr:
    """The memory traffic of loops, of all arrays together."""
    sizes: list[ir.Expr] = [size for loop in loops for size in traffic_of(loop).values()]
    return reduce(total, sizes, cast(ir.Expr, NONE))


def operations_of(expr: ir.Expr) -> tuple[float, float]:
    """The operations that an expression is: those done in lanes, and those done one by one."""
    in_lanes, alone = 0.0, 0.0
    for part in dict.fromkeys(_computed(expr)):
        if isinstance(part, ir.Load):
            continue
        lanes, one = _weights(part)
        if lanes is None:
            alone += one
        else:
            in_lanes += lanes * _width(part)
    return in_lanes, alone


def trips_of(loop: ir.For, around: Mapping[ir.Symbol, ir.Expr]) -> ir.Expr:
    """The trip count of a loop, for values of the variables of those around it."""
    bounds = _bounds(loop, around, frozenset())
    return number(UNKNOWN_TRIPS) if bounds is None else trips_between(*bounds, loop.step)


def with_middle(loop: ir.For, around: Mapping[ir.Symbol, ir.Expr]) -> dict[ir.Symbol, ir.Expr]:
    """The values, with that of the loop's own variable in the middle of its range, where it is known."""
    bounds = _bounds(loop, around, frozenset())
    return {**around, loop.var: _middle(*bounds)} if bounds is not None else dict(around)


def _bounds(
    loop: ir.For, around: Mapping[ir.Symbol, ir.Expr], unknown: Set[ir.Symbol]
) -> tuple[ir.Expr, ir.Expr] | None:
    """The bounds, if their values are there before anything in `unknown` is, and cannot fail to be."""
    lo, hi = (substitute(bound, dict(around)) for bound in loop.bounds)
    return None if contains((lo, hi), ir.Intrinsic) or not is_invariant((lo, hi), unknown) else (lo, hi)


def _middle(lo: ir.Expr, hi: ir.Expr) -> ir.Expr:
    two = ir.Const(2, DType.INT64, loc=GENERATED)
    return ir.Binary("//", ir.Binary("+", lo, hi, loc=GENERATED), two, loc=GENERATED)


class _Counter:
    """One walk over a loop nest: the counts, the trip counts of its loops, the accesses in it."""

    def __init__(self, loop: ir.For, around: Mapping[ir.Symbol, ir.Expr]) -> None:
        self.strides = Strides.of(loop)
        self.trips: dict[ir.Symbol, ir.Expr] = {}
        self.touched: list[AccessNode] = []
        self._inside = changed_in(loop)
        self._middle = dict(around)
        """Loop variables at the middle of their ranges, where these are known."""
        self._forecast = LaneForecast(self.strides)
        self._lanes: dict[ir.Symbol, ir.For | None] = {}
        """The loop that becomes lanes around the statements of a loop, by the latter's variable."""
        self._enter(loop)

    def _enter(self, loop: ir.For) -> ir.Expr:
        """The trip count of a loop, whose variable then has a value for the bounds of loops inside."""
        bounds = _bounds(loop, self._middle, self._inside)
        if bounds is None:
            return number(UNKNOWN_TRIPS)
        self._middle[loop.var] = _middle(*bounds)
        self.trips[loop.var] = trips_between(*bounds, loop.step)
        return self.trips[loop.var]

    def body(self, body: tuple[ir.Stmt, ...], around: tuple[ir.For, ...]) -> Counts:
        """around: the loops that the statements are in, from the one asked about inwards."""
        inner = around[-1].var
        if inner not in self._lanes:
            self._lanes[inner] = self._forecast.lanes_of(around)
        lanes = self._lanes[inner]
        counts = Counts(vector=number(0.25)) if lanes is not None else Counts(scalar=number(1))
        for stmt in body:
            counts = counts.plus(self._statement(stmt, around, lanes))
        return counts

    def _statement(self, stmt: ir.Stmt, around: tuple[ir.For, ...], lanes: ir.For | None) -> Counts:
        match stmt:
            case ir.For():
                trips = self._enter(stmt)
                below = self.body(stmt.body, (*around, stmt)).times(trips)
                return below.plus(Counts(scalar=number(LOOP_START)))
            case ir.While():
                inner = self._single(stmt.cond, around, None).plus(self.body(stmt.body, around))
                return inner.times(number(UNKNOWN_TRIPS))
            case ir.If():
                condition = self._single(stmt.cond, around, lanes)
                return condition.plus(self.body(stmt.then, around)).plus(self.body(stmt.orelse, around))
            case _:
                return self._single(stmt, around, lanes)

    def _single(self, node: ir.Stmt | ir.Expr, around: tuple[ir.For, ...], lanes: ir.For | None) -> Counts:
        """A statement without others in it, or a condition."""
        vector, scalar, gathers = 0.0, 0.0, 0.0
        # What an iteration of a loop in order does waits for what the one before did.
        waiting = CHAIN if around[-1].mode is ir.LoopMode.SEQUENTIAL and around[-1] is not around[0] else 1
        moving = self.strides.moving_parts(node, frozenset({(lanes or around[-1]).var}))
        # An element that is read twice is loaded once.
        for part in dict.fromkeys(_computed(node)):
            in_lanes, alone = _weights(part)
            if is_access(part):
                self.touched.append(part)
                pace = self.strides.pace(array_of(part), part.index, lanes or around[-1])
                if pace is Pace.STILL:
                    continue  # the C compiler keeps it in a register
                gathers += _LINES.get(pace, 0)
            elif not (isinstance(part, ir.Update) or id(part) in moving):
                continue  # nor is it computed again
            elif lanes is None:
                alone *= waiting
            if lanes is None or in_lanes is None:
                scalar += alone
            else:
                vector += in_lanes * _width(part)
        return Counts(number(vector), number(scalar), number(gathers))


def _computed(node: ir.Node) -> Iterator[ir.Node]:
    """The parts of a statement or an expression that take time. Of indices, what is read or divided
    for them: sums and products are part of an access."""
    match node:
        case ir.Var() | ir.Const() | ir.Extent():
            return
        case ir.Load() | ir.Store() | ir.Update():
            yield node
            for index in node.index:
                yield from (
                    n for n in walk(index) if isinstance(n, ir.Load) or getattr(n, "op", "") in ("//", "%")
                )
            if not isinstance(node, ir.Load):
                yield from _computed(node.value)
            return
        case ir.Assign():
            pass
        case _:
            yield node
    for child in children(node):
        yield from _computed(child)


def _weights(node: ir.Node) -> tuple[float | None, float]:
    """The operations that a node is: in lanes (None: there are no lanes for it), and one by one."""
    match node:
        case ir.Binary():
            return _DEAR.get(node.op, (1, 1))
        case ir.Intrinsic():
            if node.name in VECTOR_FUNCTIONS and node.dtype.is_float:
                return CALL_IN_LANES, CALL
            return _DEAR.get(node.name, (1, 1) if node.name in _CHEAP else (None, CALL))
        case ir.Update():
            return 2, 2
        case _:
            return 1, 1


def _width(node: ir.Node) -> float:
    """Bytes of a value, by those of a double."""
    match node:
        case ir.Store():
            return node.array.dtype.itemsize / 8
        case ir.Update():
            return node.target.dtype.itemsize / 8
        case _:
            return max(node.dtype.itemsize, 1) / 8  # type: ignore[attr-defined,no-any-return]
