"""Rank-1 updates: a loop that adds a column times a row to a matrix in each step, and which updates may be delayed.

for k in range(n):
    for i in range(k + 1, n):                   # a column, which the step needs at once
        a[i, k] /= a[k, k]
    for i in range(k + 1, n):
        for j in range(k + 1, n):               # most of these elements no step needs for long
            a[i, j] -= a[i, k] * a[k, j]

A step may multiply copies of its column and row, which are contiguous in memory. A delayed update
reads the matrix instead, which still holds the columns of all steps when the copies are another step's:

    for i in range(k + 1, n):
        column[i] = a[i, k]
    for i in range(k + 1, n):
        for j in range(k + 1, i + 1):
            a[i, j] -= column[i] * column[j]        # as a[i, k] * a[j, k]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.accesses.accesses import Access
from appyc.analysis.dependences.fusion_legality import alone
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.statement_graph import statement_graph
from appyc.analysis.patterns.matrix_products import added_up
from appyc.analysis.patterns.product_sums import are_seen, is_still
from appyc.analysis.patterns.product_terms import Term, is_fixed, is_one_place_each, terms_of
from appyc.ir.affine import are_equal, coefficient, distance
from appyc.ir.nodes import Binary, Const, Expr, For, Load, Node, Stmt, Store, Symbol, Update, Var
from appyc.ir.types import DType
from appyc.ir.visit import arrays_read, arrays_written, rewrite, scalars_read, scalars_written, substitute


@dataclass(frozen=True, slots=True)
class Steps:
    """A loop whose last statement is `for rows: for columns: update`, by products of what `outer` moves along.

    The columns may end at the row, in a straight line; where else a bound moves, it moves with `outer`, no further on
    than the next step. update: reads the source of each copy instead of the copy.
    """

    outer: For
    rows: For
    columns: For
    update: Update
    terms: tuple[Term, ...]


def steps_of(outer: For, legality: Legality) -> Steps | None:
    """A loop's last statement as such products, if it is that."""
    rows = outer.body[-1] if outer.body else None
    if len(outer.body) < 2 or not isinstance(rows, For) or len(rows.body) != 1 or not is_still(outer):
        return None
    columns = rows.body[0]
    if not isinstance(columns, For) or (rows.step, columns.step) != (1, 1) or are_seen(columns, outer):
        return None
    updates, nest = _from_matrix(added_up(columns), outer, rows, columns), (outer, rows, columns)
    if len(updates) != 1 or not is_one_place_each(updates[0].index, (rows, columns), nest):
        return None
    terms = terms_of(updates[0].value, (rows, columns), outer)
    if terms is None or not is_fixed((outer.lo, outer.hi, rows.hi), nest):
        return None
    if not all(_begins_soon(loop.lo, outer, nest) for loop in (rows, columns)):
        return None
    slope = coefficient(columns.hi, rows.var)
    if slope is None or slope < 0 or not is_fixed(columns.hi, (outer, columns)):
        return None
    if not all(legality.judge(loop).may_run_in_any_order for loop in (rows, columns)):
        return None
    return Steps(outer, rows, columns, updates[0], tuple(terms))


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy that a step makes: `for loop: array[loop] = source`."""

    loop: For
    array: Symbol
    source: Load


def _from_matrix(updates: tuple[Update, ...], outer: For, rows: For, columns: For) -> tuple[Update, ...]:
    """The updates with each copy replaced by its source: copy propagation."""
    copies = {copy.array: copy for copy in _copies_in(outer)}

    def rule(node: Node) -> Node:
        if isinstance(node, Load) and node.array in copies and node.mask is None:
            for along in (rows, columns):
                copy = copies[node.array]
                if node.index == (Var(along.var, loc=node.loc),) and _covers(copy.loop, along, rows):
                    there: dict[Symbol, Expr] = {copy.loop.var: node.index[0]}
                    return replace(copy.source, index=tuple(substitute(e, there) for e in copy.source.index))
        return node

    return tuple(replace(update, value=rewrite(update.value, rule)) for update in updates)


def _copies_in(outer: For) -> list[_Copy]:
    """The available copies at a step's last statement: neither copy nor source has been overwritten."""
    found: list[_Copy] = []
    for stmt in outer.body[:-1]:
        written = arrays_written(stmt)
        found = [copy for copy in found if not {copy.array, copy.source.array} & written]
        if isinstance(stmt, For) and stmt.step == 1:
            found += [copy for s in stmt.body if (copy := _copy_by(s, stmt, outer)) is not None]
    return found


def _copy_by(stmt: Stmt, loop: For, outer: For) -> _Copy | None:
    """The copy that a statement of a loop makes, if nothing else in the loop accesses the copy, or changes what
    another iteration copies."""
    if not isinstance(stmt, Store) or not isinstance(source := stmt.value, Load):
        return None
    if stmt.mask is not None or source.mask is not None or stmt.index != (Var(loop.var, loc=stmt.loc),):
        return None
    if not any(distance(index, loop.var) is not None for index in source.index):
        return None
    changing = (scalars_read(source.index) - {loop.var, outer.var}) & scalars_written(outer.body)
    if changing or arrays_read(source.index):
        return None
    at = next(number for number, other in enumerate(loop.body) if other is stmt)
    for number, other in enumerate(loop.body):
        written = arrays_written(other)
        is_source = isinstance(other, Store) and (other.array, other.index) == (source.array, source.index)
        if (stmt.array in written and number != at) or (
            source.array in written and not (is_source and number < at)
        ):
            return None
    return _Copy(loop, stmt.array, source)


def _covers(copied: For, along: For, rows: For) -> bool:
    """Whether the iteration domain of a copying loop contains that of another loop, in every row."""
    last: dict[Symbol, Expr] = {
        rows.var: Binary("-", rows.hi, Const(1, DType.INT64, loc=rows.loc), loc=rows.loc)
    }
    return are_equal(copied.lo, along.lo) and are_equal(copied.hi, substitute(along.hi, last))


def is_apart(steps: Steps) -> bool:
    """Whether rows and columns that lie behind all steps of a group are none that these multiply: what the group
    adds to the matrix may be added at once, in place."""
    return all(
        load.array != steps.update.target or _lies_before(load, steps)
        for term in steps.terms
        for load in (term.left, term.right)
    )


def _lies_before(load: Load, steps: Steps) -> bool:
    """Whether along some axis a step reads no further on than where it stands, and the update is behind that."""
    for read, written in zip(load.index, steps.update.index, strict=True):
        reach = distance(read, steps.outer.var)
        distances = [distance(written, loop.var) for loop in (steps.rows, steps.columns)]
        if reach is not None and any(apart is not None and reach <= apart for apart in distances):
            return True
    return False


def _begins_soon(lo: Expr, outer: For, nest: tuple[For, ...]) -> bool:
    """Whether a lower bound stays, or is no further on than the next step."""
    ahead = distance(lo, outer.var)
    return is_fixed(lo, nest) if ahead is None else ahead <= 1


def last_may_wait(loop: For) -> bool:
    """Whether the last statement, an update of a matrix by products, may be done for all iterations when they are
    over: nothing else in the loop accesses what it writes, or changes what it reads."""
    legality = Legality.of(alone(loop))
    graph = statement_graph(legality, loop)
    last = len(loop.body) - 1
    if graph is None or any(source == last for source, _ in graph.ordered):
        return False
    for edge in graph.carried:
        adds_up = edge.conflict.source.updates and edge.conflict.sink.updates
        if edge.source == last and not (edge.sink == last and adds_up):
            return False
    mine = [a for a in legality.dependences.found.within(loop) if _is_in(loop.body[last], a)]
    return not any(
        legality.dependences.may_ever_meet(loop, one, other)
        for one in mine
        for other in mine
        if one.updates and not other.updates and one.array == other.array
    )


def _is_in(stmt: Stmt, access: Access) -> bool:
    return isinstance(stmt, For) and any(
        isinstance(around, For) and around.var == stmt.var for around in access.loops
    )
