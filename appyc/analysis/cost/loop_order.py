"""The cost of loop orders in a band, for loop interchange.

The elements that follow each other in time should follow each other in memory, at least for
the loop whose iterations become lanes; then the outermost loop should be one that threads can
share; then elements should stay in registers for as long as they can. In this order of
importance, so that an answer can be foreseen:

    for k:                        for i:                A, C move by rows, B not at all along j;
        for j:          ->            for j:            i and j are free; C[i, j] stays where it
            for i:                        for k:        is while k runs
                C[i, j] += A[i, k] * B[k, j]

The lanes are those of the innermost loop, if it is free or adds up; else those of the free
loop around it, where vectors can be held in registers for it (`_may_hold_lanes`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from appyc.analysis.algebra.strides import Pace, Strides
from appyc.analysis.dependences.bands import Band, Order
from appyc.ir import nodes as ir
from appyc.ir.array_accesses import array_of, repeated_accesses
from appyc.ir.types import Layout
from appyc.ir.visit import arrays_written, contains, loops_of, scalars_read, scalars_written

_VECTOR_OPS = ("+", "-", "*", "/")


@dataclass(frozen=True, slots=True, order=True)
class Cost:
    """The cost of a loop order, compared lexicographically; less is better.

    distance: accesses with a large stride in the vectorised loop, twice, and all accesses
    once where no loop is vectorised. waiting: the number of loops around the outermost
    parallel one. moving: accesses that are not invariant in the innermost loop. crossing:
    pairs of loops that traverse an array against its order in memory.
    """

    distance: int
    waiting: int
    moving: int
    crossing: int

    def is_worth(self, written: Cost) -> bool:
        """Whether the gain justifies an interchange: a quarter less distance, or else any lower cost."""
        if self.distance != written.distance:
            return 4 * self.distance <= 3 * written.distance
        return self < written


class OrderCosts:
    """The costs of a band's orders. any_lanes: lanes are to be had from any free loop, as on a GPU.

    threads_around: a loop around the band is shared by threads already.
    """

    def __init__(self, band: Band, any_lanes: bool, threads_around: bool) -> None:
        self.band, self.any_lanes, self.threads_around = band, any_lanes, threads_around
        self._body = band.loops[-1].body
        self._strides = Strides.of(band.loops[0])
        # A store counts for two: a line that is not in the cache is read before, and written back.
        self._touches = [
            _Touch(array_of(access), access.index, times if isinstance(access, ir.Load) else 2 * times)
            for stmt in self._body
            for access, times in repeated_accesses(stmt)
            if access.index
        ]

    def of(self, order: Order) -> Cost:
        lanes = self._lanes(order)
        distance = 2 * min(self._moved(loop, (Pace.FAR, Pace.ANYWHERE)) for loop in lanes or order[-1:])
        if not lanes:
            distance += sum(touch.weight for touch in self._touches)
        if self.threads_around:
            return Cost(distance, 0, 0, self._crossing(order))
        free = [level for level in range(len(order)) if self._is_free(order, level)]
        return Cost(
            distance,
            free[0] if free else len(order),
            self._moved(order[-1], (Pace.STEADY, Pace.FAR, Pace.ANYWHERE)),
            self._crossing(order),
        )

    def _var(self, number: int) -> ir.Symbol:
        return self.band.loops[number].var

    def _moved(self, loop: int, how: Iterable[Pace]) -> int:
        moving = self.band.loops[loop]
        return sum(t.weight for t in self._touches if self._strides.pace(t.array, t.index, moving) in how)

    def _is_free(self, order: Order, level: int) -> bool:
        return not self.band.carried(order, level)

    def _lanes(self, order: Order) -> list[int]:
        """The loops whose iterations may become lanes."""
        found: list[int] = []
        last = len(order) - 1
        if self._adds_up(order, last) and not any(isinstance(node, ir.For) for node in self._body):
            found.append(order[last])
        while last > 0 and not self._is_free(order, last):
            last -= 1
        if self._is_free(order, last) and (self.any_lanes or self._may_hold_lanes(order, last)):
            found.append(order[last])
        return found

    def _adds_up(self, order: Order, level: int) -> bool:
        """Whether the loop is free but for sums, of elements that stay the same along it."""
        loop = self.band.loops[order[level]]
        carried = self.band.carried(order, level)
        into = {conflict.source.array for conflict in carried}
        moving = {
            t.array for t in self._touches if self._strides.pace(t.array, t.index, loop) is not Pace.STILL
        }
        return all(conflict.kind == "reduction" for conflict in carried) and not into & moving

    def _may_hold_lanes(self, order: Order, level: int) -> bool:
        """Whether vectors of the loop's iterations can be kept while the loops inside it run: the
        body is arithmetic on one type of float, on elements that are adjacent in memory or the same."""
        var = self._var(order[level])
        inner = [self.band.loops[number] for number in order[level + 1 :]]
        inner += loops_of(self._body)
        return (
            is_arithmetic(self._body)
            and self.band.loops[order[level]].step == 1
            and var not in scalars_read([bound for loop in inner for bound in loop.bounds])
            and all(self._is_side_by_side(touch, var) for touch in self._touches)
        )

    def _is_side_by_side(self, touch: _Touch, var: ir.Symbol) -> bool:
        if touch.array.array.layout is Layout.STRIDED or contains(touch.index, ir.Load):
            return False
        if scalars_read(touch.index) & scalars_written(self._body):
            return False
        *slow, fast = (self._strides.coefficient(index, var) for index in touch.slow_to_fast)
        return all(factor == 0 for factor in slow) and fast in (0, 1)

    def _crossing(self, order: Order) -> int:
        """The number of pairs of loops in the opposite order of the axes that they traverse."""
        at = {self._var(number): level for level, number in enumerate(order)}
        count = 0
        for touch in self._touches:
            along = [
                max((at[s] for s in self._strides.depends_on(i, frozenset(at)) if s in at), default=None)
                for i in touch.slow_to_fast
            ]
            known = [at for at in along if at is not None]
            count += touch.weight * sum(slow > fast for slow, fast in combinations(known, 2))
        return count


@dataclass(frozen=True, slots=True)
class _Touch:
    """One access, and how often it runs in one iteration of the band."""

    array: ir.Symbol
    index: tuple[ir.Expr, ...]
    weight: int

    @property
    def slow_to_fast(self) -> tuple[ir.Expr, ...]:
        """The indices in the order of memory, the one whose steps are longest first."""
        return self.index[::-1] if self.array.array.layout is Layout.F else self.index


def is_arithmetic(body: tuple[ir.Stmt, ...]) -> bool:
    """Whether the statements do sums and products of one type of float, and nothing else."""
    dtypes = {symbol.dtype for symbol in arrays_written(body) | scalars_written(body)}
    if len(dtypes) != 1 or not next(iter(dtypes)).is_float:
        return False
    for stmt in body:
        match stmt:
            case ir.Assign() | ir.Store() | ir.Update():
                operator = stmt.op if isinstance(stmt, ir.Update) else "+"
                if operator not in _VECTOR_OPS or not is_sum(stmt.value):
                    return False
            case ir.For():
                if not is_arithmetic(stmt.body):
                    return False
            case _:
                return False
    return True


def is_sum(value: ir.Expr) -> bool:
    """Whether a value is sums and products of elements and scalars of one type of float."""
    dtype = value.dtype
    match value:
        case ir.Binary(op=op, lhs=lhs, rhs=rhs):
            return op in _VECTOR_OPS and is_sum(lhs) and is_sum(rhs)
        case ir.Unary(op="-", arg=arg):
            return is_sum(arg)
        case ir.Load() | ir.Var():
            return dtype.is_float
        case _:
            return dtype.is_float and not contains(value, ir.Load | ir.Var)
