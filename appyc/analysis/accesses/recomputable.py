"""The values of an iteration that can be computed again elsewhere, as expressions of its loop variable."""

from __future__ import annotations

from collections import Counter

from appyc.ir import visit
from appyc.ir.nodes import Assign, Call, Expr, For, Load, Symbol


class Recomputable:
    """The recomputable values of a loop body: their operands are the loop variable, loop invariants, elements of arrays
    that the loop does not write, and scalars that are set once, before, to such values.

    reads, writes: how often the body reads and writes a scalar. values: of the scalars that are set before they are
    read. around: of those that are read first, and so hold what the iteration before has set.
    """

    def __init__(self, loop: For, size: int) -> None:
        """size: the most nodes of a value."""
        self.arrays = visit.arrays_written(loop.body)
        writers = Counter(symbol for stmt in loop.body for symbol in visit.scalars_written(stmt))
        self.written = frozenset(writers)
        self.reads = Counter(visit.scalar_reads(loop.body))
        self.writes = Counter(visit.scalar_writes(loop.body))
        self.values: dict[Symbol, Expr] = {}
        self.around: dict[Symbol, Expr] = {}
        read: set[Symbol] = set()
        for stmt in loop.body:
            if isinstance(stmt, Assign) and writers[stmt.target] == 1:
                value = self.of(stmt.value)
                if value is not None and sum(1 for _ in visit.walk(value)) <= size:
                    (self.around if stmt.target in read else self.values)[stmt.target] = value
            read |= visit.scalars_read(stmt)

    def of(self, expr: Expr) -> Expr | None:
        """The value in terms of the loop variable and of loop invariants; None where it is not recomputable."""
        value = visit.substitute(expr, self.values)
        loads = {n.array for n in visit.walk(value) if isinstance(n, Load)}
        if visit.contains(value, Call):
            return None
        return None if loads & self.arrays or visit.scalars_read(value) & self.written else value
