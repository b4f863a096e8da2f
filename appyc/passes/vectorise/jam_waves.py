"""Unroll-and-jam of a skewed nest: the rows of a strip are interleaved, each a few columns behind the one above it.

    for i in range(1, n):   # skew 1               for strip in range(1, n, 8):
        for j in range(1, m):                          for front in range(1, 8): ...          # the first rows only
            a[i, j] = a[i - 1, j] + a[i, j - 1]        if strip + 8 <= n:
                                            ->             for front in range(8, m):
                                                               a[strip, front] = ...
                                                               a[strip + 1, front - 1] = ...
                                                               ...
                                                       for front in range(m, m + 7): ...       # the last rows only

Each row is a chain of dependent operations, whose latency bounds a loop over one row. The rows of a front are
independent (`skew_loops` proves that), and the processor executes their chains at the same time. Vector lanes
would have to gather from eight rows, which costs more than the arithmetic of most bodies; lanes are used where the body
calls a mathematical function, selects a value (a branch that is predicted wrong delays all chains), or is too large to
be written eight times.

Requires: the schedule has the skew of the nest. Only for C.

Does not handle: values that the rows of a front have in common, each of which is loaded from the cache again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.ir.intrinsics import VECTOR_FUNCTIONS
from appyc.ir.names import NameSupply, ordered
from appyc.ir.nodes import Compare, Expr, For, Function, If, Intrinsic, LoopMode, Select, Stmt, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import map_loops, scalars_written, substitute, walk
from appyc.passes.node_builders import binary, integer, larger, scaled, shifted, smaller
from appyc.passes.pass_context import PassContext

ROWS = 8
"""Rows of a strip: the chains that cover the latency of an addition and a division, and the lanes of a vector."""

LARGEST = 150
"""Nodes of the largest body that is written for each row."""


def jam_waves(fn: Function, _ctx: PassContext) -> Function:
    """The function with its skewed nests in strips of interleaved rows."""
    skewed: dict[Symbol, int] = {
        loop: entry.skew for loop, entry in fn.schedule.loops if entry.skew is not None
    }
    if not skewed:
        return fn
    names = NameSupply.after(fn)

    def rule(loop: For) -> For:
        match loop.body:
            case (For() as inner,) if loop.var in skewed:
                return _Wave(loop, inner, skewed[loop.var], names).strips()
            case _:
                return loop

    return replace(map_loops(fn, rule), schedule=fn.schedule.updated({}, skewed))


@dataclass(frozen=True, slots=True)
class _Wave:
    """A nest of two loops. skew: the columns that each row is behind the one above it."""

    outer: For
    inner: For
    skew: int
    names: NameSupply

    def strips(self) -> For:
        top, bottom, first, last = self.outer.lo, self.outer.hi, self.inner.lo, self.inner.hi
        strip, loc = self.names.fresh("strip", DType.INT64), self.outer.loc
        row, lag = Var(strip, loc=loc), self.skew * (ROWS - 1)
        whole, end = shifted(first, lag), shifted(last, lag)

        def some(lo: Expr, hi: Expr) -> Stmt:
            return self._fronts(lo, hi, row, bottom, first, last)

        body: tuple[Stmt, ...] = (some(first, end),)
        if not self._wants_lanes():
            is_whole = Compare("<=", shifted(row, ROWS), bottom, loc=loc)
            middle = If(is_whole, (self._jammed(whole, last, row),), (some(whole, last),), loc=loc)
            body = (some(first, whole), middle, some(larger(whole, last), end))
        return For(strip, top, bottom, ROWS, body, loc=loc)

    def _wants_lanes(self) -> bool:
        nodes = list(walk(self.inner.body))
        dear = any(
            isinstance(n, Select) or (isinstance(n, Intrinsic) and n.name in VECTOR_FUNCTIONS) for n in nodes
        )
        return dear or len(nodes) > LARGEST

    def _jammed(self, lo: Expr, hi: Expr, strip: Expr) -> Stmt:
        """Fronts in which each row has a column."""
        front = self.names.fresh("front", DType.INT64)
        now = Var(front, loc=self.inner.loc)
        body: list[Stmt] = []
        for row in range(ROWS):
            column = shifted(now, -self.skew * row)
            here: dict[Symbol, Expr] = {self.outer.var: shifted(strip, row), self.inner.var: column}
            body += [substitute(stmt, here) for stmt in self.inner.body]
        return For(front, lo, hi, 1, tuple(body), loc=self.inner.loc)

    def _fronts(self, lo: Expr, hi: Expr, strip: Expr, bottom: Expr, first: Expr, last: Expr) -> Stmt:
        """Fronts in which some rows of the strip have a column: `first <= front - skew * row < last`."""
        front, i = self.names.fresh("front", DType.INT64), self.names.fresh(self.outer.var.name, DType.INT64)
        now = Var(front, loc=self.inner.loc)
        row = binary("-", Var(i, loc=self.inner.loc), strip)
        column = binary("-", now, scaled(row, self.skew))
        here: dict[Symbol, Expr] = {self.outer.var: Var(i, loc=self.inner.loc), self.inner.var: column}
        least = self._quotient(binary("-", now, shifted(last, -self.skew)))
        most = shifted(self._quotient(binary("-", now, first)), 1)
        rows = For(
            i,
            binary("+", strip, larger(least, integer(0, row.loc))),
            smaller(binary("+", strip, smaller(most, integer(ROWS, row.loc))), bottom),
            1,
            substitute(self.inner.body, here),
            LoopMode.SIMD if self._wants_lanes() else LoopMode.SEQUENTIAL,
            private=ordered(scalars_written(self.inner.body)),
            loc=self.inner.loc,
        )
        return For(front, lo, hi, 1, (rows,), loc=self.inner.loc)

    def _quotient(self, value: Expr) -> Expr:
        return binary("//", value, integer(self.skew, value.loc))
