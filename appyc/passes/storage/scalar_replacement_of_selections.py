"""Scalar replacement of selections: an element at the index of the best one so far is kept in a scalar."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from appyc.ir import visit
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Assign, Call, Compare, Draw, Expr, For, Function, If, Load, Stmt, Var
from appyc.ir.raising import may_raise
from appyc.passes.node_builders import if_it_runs, zero
from appyc.passes.parallelise.plain_loops import is_asked
from appyc.passes.pass_context import PassContext

_IMPURE = Draw | Call


def scalar_replacement_of_selections(fn: Function, ctx: PassContext) -> Function:
    """A comparison with a value at an index that its branch sets is one with a loop-carried scalar.

    Before:                                   After:
                                                  held = 0.0
                                                  if k < n: held = abs(a[p, k])
        for i in range(k, n):                     for i in range(k, n):
            if abs(a[i, k]) > abs(a[p, k]):           if abs(a[i, k]) > held:
                p = i                                     held = abs(a[i, k])
                                                          p = i

    No iteration waits for a load at the index that the one before has set, and `arg_reductions` recognises the result.
    The index is checked once, before the loop: the ones that iterations set have been compared.

    Runs after `check_bounds`, since what is compared must not raise, and before `if_conversion` and `arg_reductions`.

    Does not handle: values of arrays that the loop writes; an index that is set elsewhere in the loop, too; comparisons
    that are a part of a condition; what stands behind statements that store or raise, if the index is checked.
    """
    if not ctx.may_change_loops(fn):
        return fn
    names = NameSupply.after(fn)
    return visit.map_loops(fn, lambda loop: _replaced(loop, names))


def _replaced(loop: For, names: NameSupply) -> tuple[Stmt, ...]:
    before: list[Stmt] = []
    body = list(loop.body)
    for number, stmt in enumerate(loop.body if not is_asked(loop) else ()):
        if not isinstance(stmt, If) or (found := _selected(loop, stmt)) is None:
            continue
        cond, is_left = found
        held, other = (cond.lhs, cond.rhs) if is_left else (cond.rhs, cond.lhs)
        if may_raise(held) and not all(map(_is_plain, loop.body[:number])):
            continue
        one = names.fresh("held", held.dtype)
        value, loc = Var(one, loc=held.loc), stmt.loc
        before += [
            Assign(one, zero(held.dtype, loc), loc=loc),
            if_it_runs(loop, (Assign(one, held, loc=loc),)),
        ]
        compared = replace(cond, lhs=value) if is_left else replace(cond, rhs=value)
        body[number] = replace(stmt, cond=compared, then=(Assign(one, other, loc=loc), *stmt.then))
    return (*before, replace(loop, body=tuple(body)) if before else loop)


def _is_plain(stmt: Stmt) -> bool:
    return isinstance(stmt, Assign) and not may_raise(stmt)


def _selected(loop: For, stmt: If) -> tuple[Compare, bool] | None:
    """The comparison of a branch with the value at an index that the branch sets to that of the other side, and whether
    it is the left side that is held."""
    cond = stmt.cond
    if stmt.orelse or not isinstance(cond, Compare) or visit.contains(cond, _IMPURE):
        return None
    arrays, writes = visit.arrays_written(loop.body), Counter(visit.scalar_writes(loop.body))
    for assign in stmt.then:
        if not isinstance(assign, Assign) or writes[assign.target] > 1:
            continue
        for is_left, held, other in ((True, cond.lhs, cond.rhs), (False, cond.rhs, cond.lhs)):
            here = visit.substitute(_unchecked(held), {assign.target: assign.value})
            loads = [n for n in visit.walk(held) if isinstance(n, Load)]
            if (
                here == _unchecked(other) != _unchecked(held)
                and not may_raise(other)
                and visit.scalars_read(held) & writes.keys() == {assign.target}
                and loads
                and not arrays & {load.array for load in loads}
            ):
                return cond, is_left
    return None


def _unchecked(expr: Expr) -> Expr:
    return visit.rewrite(expr, lambda n: replace(n, checked=False) if isinstance(n, Load) else n)
