"""A fast test for parallel loops: whether a loop carries no dependence, without the reason.

    for i in range(n):            t: every access names the element i, so no other iteration touches it,
        t[i] = x[i] * 2.0            whatever i is: no question to isl
        y[i] = t[i] + y[i + 1]    y: isl is asked, and the first two iterations that meet end the search

The answer is that of `Legality.judge(loop).may_run_in_any_order` for a loop that stands alone.
"""

from __future__ import annotations

from appyc.analysis.accesses.access_relations import accesses_of
from appyc.analysis.accesses.scalar_flow import scalars_of
from appyc.analysis.dependences.dependences import Dependences
from appyc.analysis.dependences.fusion_legality import alone
from appyc.analysis.patterns.early_exits import leaves_early
from appyc.analysis.sets.allowance import Allowance
from appyc.analysis.sets.presburger import Presburger
from appyc.ir.affine import distance
from appyc.ir.array_accesses import array_of, is_access
from appyc.ir.nodes import Expr, For, Symbol, View
from appyc.ir.visit import arrays_written, scalars_written, walk


def is_free(loop: For, allowance: Allowance | None = None) -> bool:
    """Whether the loop is parallel, with private scalars and reductions, on threads or in lanes, in any context.

    allowance: the remainder of isl's work that the function may use.
    """
    if leaves_early(loop):
        return False
    fn = alone(loop)
    if scalars_written(loop.body) and scalars_of(fn)[loop.var].carried:
        return False
    apart = surely_apart(loop)
    if arrays_written(loop.body) <= apart:
        return True
    dependences = Dependences(accesses_of(fn, Presburger(allowance), skip=apart))
    return next(dependences.conflicts(loop), None) is None


def surely_apart(loop: For) -> frozenset[Symbol]:
    """The arrays on which the loop syntactically carries no dependence: no two iterations touch one element.

    All accesses name the loop's variable, plus the same constant, on the same axis. An index
    that is still tested may be counted from the end, so it does not qualify.
    """
    rows: dict[Symbol, set[tuple[int, int]]] = {}
    for node in walk(loop.body):
        if is_access(node):
            array, mine = array_of(node), set() if node.checked else _rows(node.index, loop.var)
            rows[array] = rows[array] & mine if array in rows else mine
        elif isinstance(node, View):
            rows[node.array] = set()
    return frozenset(array for array, found in rows.items() if found)


def _rows(index: tuple[Expr, ...], var: Symbol) -> set[tuple[int, int]]:
    """The axes on which an index is the loop variable plus a constant, each with that constant."""
    found = ((axis, distance(subscript, var)) for axis, subscript in enumerate(index))
    return {(axis, added) for axis, added in found if added is not None}
