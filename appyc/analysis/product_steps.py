"""Products that a loop adds to a matrix step by step, a column times a row each, and which of it may wait.

for k in range(n):
    for i in range(k + 1, n):                   # a column, which the step needs at once
        a[i, k] /= a[k, k]
    for i in range(k + 1, n):
        for j in range(k + 1, n):               # most of these elements no step needs for long
            a[i, j] -= a[i, k] * a[k, j]
"""

from __future__ import annotations

from dataclasses import dataclass

from appyc.analysis.accesses import Access
from appyc.analysis.filled import distance
from appyc.analysis.joining import alone
from appyc.analysis.legality import Legality
from appyc.analysis.matrix_products import added_up
from appyc.analysis.product_sums import are_seen, is_still
from appyc.analysis.product_terms import Term, coefficient, is_fixed, is_one_place_each, terms_of
from appyc.analysis.statement_graph import statement_graph
from appyc.ir.nodes import Expr, For, Stmt, Update


@dataclass(frozen=True, slots=True)
class Steps:
    """A loop whose last statement is `for rows: for columns: update`, by products of what `outer` moves along.

    The columns may end at the row, in a straight line; where else a bound moves, it moves with `outer`, no further on
    than the next step.
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
    updates, nest = added_up(columns), (outer, rows, columns)
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


def _begins_soon(lo: Expr, outer: For, nest: tuple[For, ...]) -> bool:
    """Whether a lower bound stays, or is no further on than the next step."""
    ahead = distance(lo, outer.var)
    return is_fixed(lo, nest) if ahead is None else ahead <= 1


def last_may_wait(loop: For) -> bool:
    """Whether the last statement, an update of a matrix by products, may be done for all iterations when they are
    over: nothing in the loop comes to what it writes, or changes what it reads."""
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
