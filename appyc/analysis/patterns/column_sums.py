"""Column reductions: loops over columns that reduce each one: `for i: s = 0; for k: s += x[k, i]; out[i] = s / n`.

The inner loops walk down the array, far from one element to the next; the outer one goes along its rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from appyc.analysis.accesses.scalar_flow import exposed
from appyc.analysis.algebra.strides import Pace, Strides
from appyc.analysis.cost.loop_order import is_arithmetic
from appyc.analysis.dependences.fusion_legality import asks_for_no_more_than_threads, has_effects
from appyc.ir.invariance import is_invariant
from appyc.ir.nodes import Alloc, Assign, For, If, Load, Symbol, Update, While
from appyc.ir.visit import arrays_read, arrays_written, contains, scalars_read, scalars_written, walk

MAX_SUMS = 6
"""The most sums in one loop over columns."""


@dataclass(frozen=True, slots=True)
class ColumnSum:
    """A loop down a column, statement number `at` of the loop over columns. It combines into scalars by `updates`,
    of values that are there before the loop over columns.

    is_arithmetic: sums and products of one type of float, for lanes that hold their sums in registers.
    """

    at: int
    loop: For
    updates: tuple[Update, ...]
    is_arithmetic: bool


def column_sums(columns: For) -> tuple[ColumnSum, ...] | None:
    """The loops down the columns, all over one range; None where the loop over columns is none of that kind."""
    inner = [(at, stmt) for at, stmt in enumerate(columns.body) if isinstance(stmt, For)]
    if not 0 < len(inner) <= MAX_SUMS or columns.step != 1:
        return None
    if not asks_for_no_more_than_threads(columns.clauses):
        return None
    if has_effects(columns.body) or contains(columns.body, Alloc | While):
        return None
    if any(isinstance(n, For) for s in columns.body if isinstance(s, If) for n in walk(s)):
        return None
    first = inner[0][1]
    if not is_invariant(first.bounds, {columns.var, *scalars_written(columns.body)}):
        return None
    strides = Strides.of(columns)
    found: list[ColumnSum] = []
    for at, loop in inner:
        if (loop.lo, loop.hi, loop.step) != (first.lo, first.hi, 1) or loop.clauses is not None:
            return None
        one = _column_sum(columns, at, loop) if _walks_down(columns, loop, strides) else None
        if one is None:
            return None
        found.append(one)
    return tuple(found)


def first_that_waits(columns: For) -> int | None:
    """The first loop down a column that needs a scalar which is computed for the column before it."""
    for at, stmt in enumerate(columns.body):
        if isinstance(stmt, For):
            combined = {n.target for n in walk(stmt.body) if isinstance(n, Update)}
            if (exposed((stmt,)).keys() - combined) & scalars_written(columns.body[:at]):
                return at
    return None


def _walks_down(columns: For, loop: For, strides: Strides) -> bool:
    """Whether elements that follow each other along the rows are far apart down the columns."""
    far = False
    for node in walk(loop.body):
        if isinstance(node, Load):
            along = strides.pace(node.array, node.index, columns)
            down = strides.pace(node.array, node.index, loop)
            if along in (Pace.FAR, Pace.ANYWHERE) or down is Pace.ANYWHERE:
                return False
            far |= along is Pace.STEADY and down is Pace.FAR
    return far


def _column_sum(columns: For, at: int, loop: For) -> ColumnSum | None:
    if arrays_read(loop.body) & arrays_written(columns.body):
        return None
    updates = _plain_updates(columns, loop)
    if updates is None:
        return None
    return ColumnSum(at, loop, updates, is_arithmetic(loop.body) and all(u.op == "+" for u in updates))


def _plain_updates(columns: For, loop: For) -> tuple[Update, ...] | None:
    """The scalar reductions of a loop; None where they depend on values from the previous column, or where
    the loop has other statements."""
    own: set[Symbol] = set()
    outside = scalars_written(columns.body)
    updates: list[Update] = []
    for stmt in loop.body:
        match stmt:
            case Assign() if not (scalars_read(stmt.value) & outside) - own:
                own.add(stmt.target)
            case Update(mask=None, atomic=False) if not stmt.target.is_array and stmt.op not in ("and", "or"):
                if (scalars_read(stmt.value) & outside) - own:
                    return None
                updates.append(stmt)
            case _:
                return None
    targets = {update.target for update in updates}
    others = scalars_read([stmt for stmt in columns.body if stmt is not loop])
    if not updates or len(targets) < len(updates) or own & (targets | others):
        return None
    return tuple(updates)
