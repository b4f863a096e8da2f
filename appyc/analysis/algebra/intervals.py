"""Interval analysis: the values that integer scalars can have, by abstract interpretation.

    p, q = 0, 1                         # at the loop:
    for t in range(steps):              #   p = 0 and q = 1, or p = 1 and q = 0
        u[q] = f(u[p])
        p, q = q, p

The abstract value at a point of the program is a set of boxes, each with bounds of variables; several of them
tell which values occur together. Where there would be more than allowed, their hull stands for all, and
widening takes each of its bounds that moves to the next step, at last to the limits of the type, so that a loop
reaches its fix-point in few rounds. Behind a loop holds what its last round gives, before widening.
A variable is dropped behind its last occurrence, so that a box is as large as what is live.

Does not handle: floats, elements of arrays, the sums of unknown values.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from appyc.analysis.algebra.integer_syntax import last_occurrences, setting_integers
from appyc.ir import integers
from appyc.ir import nodes as ir
from appyc.ir.types import DType
from appyc.ir.visit import statements, walk

Box = dict[ir.Symbol, integers.Range]
"""Bounds of variables; one that is not in it may have any value of its type. Of an array those of its extents."""

INT64 = integers.limits(DType.INT64)

MAX_BOXES = 8
"""How many boxes `reachable_values` keeps at a point."""

ROUNDS = 3
"""How often bounds are widened to the next step before they are dropped."""

FEW_TRIPS = 32
"""A nest of loops with no more iterations together is analysed iteration by iteration."""

WORK = 64
"""How often `reachable_values` looks at each node, on average, before all loops are widened to the limits at once."""


def range_in_64_bits(op: str, a: integers.Range, b: integers.Range) -> integers.Range:
    """Bounds of an operation on Python ints, whose result is not used where it leaves 64 bits."""
    exact = integers.range_of_binary(op, a, b)
    return (exact and integers.cut(exact, INT64)) or INT64


def with_bounds(box: Box, symbol: ir.Symbol, bounds: integers.Range | None) -> Box:
    """The box with other bounds of a variable; None, or what exceeds its type, where it may have any value."""
    whole = integers.limits(symbol.dtype)
    if bounds is not None and bounds != whole and integers.is_within(bounds, whole):
        return box if box.get(symbol) == bounds else {**box, symbol: bounds}
    return without(box, (symbol,))


def without(box: Box, symbols: Iterable[ir.Symbol]) -> Box:
    """The box in which some variables may have any value."""
    known = [s for s in symbols if s in box]
    if known:
        box = box.copy()
        for symbol in known:
            del box[symbol]
    return box


def hull_of(boxes: Iterable[Box]) -> Box:
    """One box around all."""
    first, *others = boxes
    for other in others:
        if other != first:
            first = {
                s: r
                if found is r
                else integers.hull(r, found)  # most bounds are those of a box that both have come of
                for s, r in first.items()
                if (found := other.get(s)) is not None
            }
    return first


def distinct(boxes: Iterable[Box]) -> list[Box]:
    out: list[Box] = []
    for box in boxes:
        if box not in out:
            out.append(box)
    return out


def widened(old: Box, new: Box, steps: Sequence[int]) -> Box:
    """The new box, which contains the old one, with bounds that have moved taken to the next step or the limit."""
    out = {}
    for symbol, (low, high) in new.items():
        before = old.get(symbol)
        if before is None:
            continue
        least, greatest = integers.limits(symbol.dtype)
        if low < before[0]:
            step = bisect_right(steps, low) - 1
            low = max(steps[step], least) if step >= 0 else least
        if high > before[1]:
            step = bisect_left(steps, high)
            high = min(steps[step], greatest) if step < len(steps) else greatest
        if (low, high) != (least, greatest):
            out[symbol] = (low, high)
    return out


def narrowed(cond: ir.Expr, holds: bool, box: Box) -> Box | None:
    """A box with what a condition says where it holds, or fails; None where it never does."""
    match cond:
        case ir.Likely(arg=arg):
            return narrowed(arg, holds, box)
        case ir.Logical(op=op, lhs=lhs, rhs=rhs) if (op == "and") == holds:
            left = narrowed(lhs, holds, box)
            return None if left is None else narrowed(rhs, holds, left)
        case ir.Compare(op=op, lhs=lhs, rhs=rhs) if integers.is_integer(lhs.dtype):
            relation = op if holds else ir.NEGATED[op]
            one, other = integers.range_of(lhs, box), integers.range_of(rhs, box)
            if not integers.range_of_comparison(relation, one, other)[1]:
                return None
            first = _compared(box, lhs, one, relation, other)
            return None if first is None else _compared(first, rhs, other, ir.MIRRORED[relation], one)
        case _:
            fails, may_hold = integers.range_of(cond, box)
            return None if holds > may_hold or holds < fails else box


def _compared(box: Box, expr: ir.Expr, bounds: integers.Range, op: str, other: integers.Range) -> Box | None:
    """What `expr op other` says of the variable in an expression of one variable; None where it cannot be."""
    (low, high), (least, greatest) = bounds, other
    match op:
        case "<":
            high = min(high, greatest - 1)
        case "<=":
            high = min(high, greatest)
        case ">":
            low = max(low, least + 1)
        case ">=":
            low = max(low, least)
        case "==":
            low, high = max(low, least), min(high, greatest)
        case _ if least == greatest:
            low, high = low + (low == least), high - (high == least)
    while True:
        match expr:
            case ir.Var(symbol=symbol):
                return with_bounds(box, symbol, (low, high)) if low <= high else None
            case ir.Binary("+", arg, ir.Const(value=int(by)), python=True):
                expr, low, high = arg, low - by, high - by
            case ir.Binary("-", arg, ir.Const(value=int(by)), python=True):
                expr, low, high = arg, low + by, high + by
            case ir.Binary("*", ir.Const(value=int(by)), arg, python=True) | ir.Binary(
                "*", arg, ir.Const(value=int(by)), python=True
            ) if by > 0:
                expr, low, high = arg, -(-low // by), high // by
            case _:
                return box


@dataclass(slots=True)
class _Jumps:
    """The boxes at the jumps that leave a loop's iterations."""

    breaks: list[Box] = field(default_factory=list)
    continues: list[Box] = field(default_factory=list)


class Intervals:
    """The analysis of a function, which a subclass may watch: it sees each statement with the boxes before it.

    at: the boxes at each loop, by `id`, when an iteration may begin or the loop ends at its head. behind: those behind
    each loop and each `If`. wide: the loops at which bounds have been widened, where one box is kept from then on.
    ended: as `last_occurrences` says. most: how many boxes there may be at a point. steps: where widening stops.
    work: how many statements may be looked at before widening takes all bounds to the limits at once. repeated: how
    many iterations the loops around have that are looked at one by one.
    """

    def __init__(
        self, ended: Mapping[int, set[ir.Symbol]], steps: Sequence[int], work: int, most: int = 1
    ) -> None:
        self.ended, self.steps, self.most, self.work = ended, steps, most, work
        self.at: dict[int, list[Box]] = {}
        self.behind: dict[int, list[Box]] = {}
        self.wide: set[int] = set()
        self.jumps = _Jumps()
        self.repeated = 1

    def bounds(self, expr: ir.Expr, box: Mapping[ir.Symbol, integers.Range]) -> integers.Range:
        return integers.range_of(expr, box) if integers.is_integer(expr.dtype) else INT64

    def block(self, body: tuple[ir.Stmt, ...], boxes: list[Box]) -> list[Box]:
        """The boxes behind some statements; none where their end is never reached."""
        for stmt in body:
            if not boxes:
                break
            self.work -= len(boxes)
            boxes = self.statement(stmt, boxes)
            if ended := self.ended.get(id(stmt)):
                boxes = distinct(without(box, ended) for box in boxes)
        return boxes

    def statement(self, stmt: ir.Stmt, boxes: list[Box]) -> list[Box]:
        match stmt:
            case ir.Assign(target=target) if integers.is_integer(target.dtype) and not target.is_array:
                return distinct(with_bounds(box, target, self.assigned(stmt, box)) for box in boxes)
            case ir.Update(target=target) if integers.is_integer(target.dtype) and not target.is_array:
                return distinct(with_bounds(box, target, self._updated(stmt, box)) for box in boxes)
            case ir.If():
                then = self.block(stmt.then, _where(stmt.cond, True, boxes))
                orelse = self.block(stmt.orelse, _where(stmt.cond, False, boxes))
                return self.limited([*then, *orelse])
            case ir.For() | ir.While():
                return self.loop(stmt, boxes)
            case ir.Break() | ir.Continue():
                (self.jumps.breaks if isinstance(stmt, ir.Break) else self.jumps.continues).extend(boxes)
                return []
            case ir.Fail():
                return []
            case _:
                return boxes

    def assigned(self, stmt: ir.Assign, box: Box) -> integers.Range:
        return self.bounds(stmt.value, box)

    def _updated(self, stmt: ir.Update, box: Box) -> integers.Range | None:
        before, by = box.get(stmt.target, integers.limits(stmt.target.dtype)), self.bounds(stmt.value, box)
        return (range_in_64_bits if stmt.python else integers.range_of_binary)(stmt.op, before, by)

    def loop(self, loop: ir.For | ir.While, boxes: list[Box]) -> list[Box]:
        """The boxes behind a loop, by iteration up to a fix-point of those at its head."""
        if isinstance(loop, ir.For) and (values := self._few_values(loop, boxes)) is not None:
            return self._one_by_one(loop, values, boxes)
        outer, self.jumps = self.jumps, _Jumps()
        inside = self.iterations(loop, boxes) if isinstance(loop, ir.For) else None
        if isinstance(loop, ir.For):
            boxes = [with_bounds(box, loop.var, None) for box in boxes]
        new = seen = self.limited([*boxes, *self.at.get(id(loop), ())])
        most = 1 if id(loop) in self.wide else self.most
        if len(seen) > most:
            new = seen = [hull_of(seen)]
        after: list[Box] = []
        rounds = 0
        while new:
            self.jumps.continues = []
            after = (
                self.block(loop.body, self.entered(loop, self.at_head(loop, new), inside))
                + self.jumps.continues
            )
            if isinstance(loop, ir.For):
                after = [with_bounds(box, loop.var, None) for box in after]
            both = distinct([*seen, *after])
            if len(both) > most or rounds:
                rounds += 1
                self.wide.add(id(loop))
                steps = self.steps if rounds < ROUNDS and self.work > 0 else ()
                both = [widened(hull_of(seen), hull_of(both), steps)]
            # One box that stood beside others is looked at again: `after` is to be what is behind all.
            new = both if rounds and both != seen else [box for box in both if box not in seen]
            seen = both
        self.at[id(loop)] = seen
        ends = self.limited([*boxes, *after]) if id(loop) in self.wide else seen
        if isinstance(loop, ir.While):
            ends = _where(loop.cond, False, self.at_head(loop, ends))
        left = self.limited([*ends, *self.jumps.breaks])
        self.jumps = outer
        return left

    def _few_values(self, loop: ir.For, boxes: list[Box]) -> range | None:
        """The values of a loop's variable; None where they are unknown or many, or `work` does not suffice for them."""
        first, end = ({self.bounds(e, box) for box in boxes} for e in (loop.lo, loop.hi))
        if len(first) != 1 or len(end) != 1 or any(low != high for low, high in (*first, *end)):
            return None
        values = range(first.pop()[0], end.pop()[0], loop.step)
        is_cheap = (
            len(values) * self.repeated <= FEW_TRIPS
            and len(values) * len(list(statements(loop.body))) <= self.work // 16
        )
        return values if is_cheap else None

    def _one_by_one(self, loop: ir.For, values: range, boxes: list[Box]) -> list[Box]:
        """The boxes behind a loop whose iterations are looked at in turn: nothing is widened."""
        outer, self.jumps = self.jumps, _Jumps()
        around = self.repeated
        self.repeated *= max(1, len(values))
        seen = list(boxes)
        for value in values:
            self.jumps.continues = []
            inside = self.entered(loop, self.at_head(loop, boxes), (value, value))
            boxes = self.limited([*self.block(loop.body, inside), *self.jumps.continues])
            boxes = [with_bounds(box, loop.var, None) for box in boxes]
            seen += boxes
        self.at[id(loop)] = self.limited([*self.at.get(id(loop), ()), *seen])
        left = self.limited([*boxes, *self.jumps.breaks])
        self.jumps, self.repeated = outer, around
        return left

    def at_head(self, loop: ir.For | ir.While, boxes: list[Box]) -> list[Box]:
        """The boxes that a loop lets pass at its head, where a subclass knows of a test there."""
        return boxes

    def iterations(self, loop: ir.For, boxes: list[Box]) -> integers.Range:
        """The least and the greatest value of a loop's variable, in the wrong order where it has none."""
        first = reduce(integers.hull, (self.bounds(loop.lo, box) for box in boxes))
        end = reduce(integers.hull, (self.bounds(loop.hi, box) for box in boxes))
        return (first[0], end[1] - 1) if loop.step > 0 else (end[0] + 1, first[1])

    def entered(self, loop: ir.For | ir.While, boxes: list[Box], inside: integers.Range | None) -> list[Box]:
        """Of the boxes at a loop's head those in which an iteration begins. inside: as `iterations` says."""
        if isinstance(loop, ir.While):
            return _where(loop.cond, True, boxes)
        if inside is None or inside[0] > inside[1]:
            return []
        return [with_bounds(box, loop.var, inside) for box in boxes]

    def limited(self, boxes: list[Box]) -> list[Box]:
        boxes = distinct(boxes)
        return boxes if len(boxes) <= self.most else [hull_of(boxes)]


def _where(cond: ir.Expr, holds: bool, boxes: Iterable[Box]) -> list[Box]:
    """The boxes in which a condition may hold, or fail, with what that says of their variables."""
    return distinct(box for each in boxes if (box := narrowed(cond, holds, each)) is not None)


# ---------------------------------------------------------------- the values that scalars have


class _Reachable(Intervals):
    """Passes over loops and branches that change no integer, and says nothing of them. What a Python int grows by does
    not take it beyond 64 bits: `check_integer_overflow` has seen to that."""

    def __init__(self, fn: ir.Function, moving: frozenset[int]) -> None:
        nodes = list(walk(fn.body))
        constants = {int(n.value) for n in nodes if isinstance(n, ir.Const) and isinstance(n.value, int)}
        steps = sorted({c + d for c in constants for d in (-1, 0, 1)})
        super().__init__(last_occurrences(fn), steps, WORK * (len(nodes) + MAX_BOXES), MAX_BOXES)
        self.moving = moving

    def statement(self, stmt: ir.Stmt, boxes: list[Box]) -> list[Box]:
        if isinstance(stmt, ir.For | ir.While) and id(stmt) not in self.moving:
            return boxes
        boxes = super().statement(stmt, boxes)
        if id(stmt) in self.moving:
            self.behind[id(stmt)] = self.limited([*self.behind.get(id(stmt), ()), *boxes])
        return boxes

    def assigned(self, stmt: ir.Assign, box: Box) -> integers.Range:
        match stmt.value:
            case ir.Binary("+" | "-" as op, ir.Var(symbol=same), by, python=True) if same == stmt.target:
                return range_in_64_bits(op, box.get(same, integers.limits(same.dtype)), self.bounds(by, box))
            case _:
                return super().assigned(stmt, box)


def reachable_values(fn: ir.Function) -> Intervals:
    """The boxes of a function at its loops and behind branches, as far as they change integers."""
    if not (moving := setting_integers(fn.body)):
        return Intervals({}, (), work=0)
    found = _Reachable(fn, moving)
    found.block(fn.body, [{}])
    return found
