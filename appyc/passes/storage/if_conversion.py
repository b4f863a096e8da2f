"""If-conversion of exchanges between neighbours: selects instead of a branch, and the element that the next iteration
reads in a scalar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from appyc.analysis.accesses.scalar_flow import exposed
from appyc.ir import nodes as ir
from appyc.ir.affine import LinearForm, are_apart, linear_form
from appyc.ir.invariance import evaluated_always
from appyc.ir.names import NameSupply
from appyc.ir.raising import may_raise
from appyc.ir.visit import map_loops, rewrite, scalar_reads, scalars_written, substitute
from appyc.passes.node_builders import if_it_runs, shifted
from appyc.passes.pass_context import PassContext

_Index: TypeAlias = tuple[LinearForm[ir.Expr], ...]


def if_conversion(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Loops in which a condition decides what the next iteration reads have no branch on it.

    Before:                                   After:
                                              if 0 < n:
                                                  carried = a[0]
        for j in range(n):                        for j in range(n):
            if a[j] > a[j + 1]:                       holds, other = carried > a[j + 1], a[j + 1]
                t = a[j]                              t = carried
                a[j] = a[j + 1]                       a[j] = other if holds else carried
                a[j + 1] = t                          carried = t if holds else other
                                                      a[j + 1] = carried

    Such iterations wait for one another in any case, and a branch on their elements is hard to predict: a misprediction
    takes as long as five iterations with selects.

    Requires: accesses are proven to be in range, which `check_bounds` does, and arrays do not overlap. Runs before
    loops are judged.

    Does not handle: an `else`; statements behind the condition; arithmetic under it but a sum of two terms; stores to
    elements that the iteration has not read, whose lines may not be in a cache.
    """
    if not ctx.options.auto:
        return fn
    names, reads = NameSupply.after(fn), Counter(scalar_reads(fn))
    return map_loops(fn, lambda loop: _converted(loop, names, reads))


def _converted(loop: ir.For, names: NameSupply, reads: Counter[ir.Symbol]) -> ir.Stmt:
    if not loop.body or loop.clauses is not None or may_raise(loop.body):
        return loop
    *before, last = loop.body
    if not isinstance(last, ir.If) or last.orelse or not all(isinstance(stmt, ir.Assign) for stmt in before):
        return loop
    stores = [stmt for stmt in last.then if isinstance(stmt, ir.Store)]
    arrays = {store.array for store in stores}
    if len(arrays) != 1:
        return loop
    loads = {_index(n): n for n in _loads(*before, last.cond) if n.array in arrays}
    moves = all(_is_move(stmt, loads) for stmt in last.then)
    if not moves or scalars_written(loop.body) & {*scalar_reads(loads.values())}:
        return loop
    if not all(one == other or are_apart(one, other) for one in loads for other in loads):
        return loop
    step = shifted(ir.Var(loop.var, loc=loop.loc), loop.step)
    stored = {_index(store) for store in stores}
    for index, load in loads.items():
        following = substitute(load, {loop.var: step})
        if _index(following) in stored and _index(following) != index:
            inside = Counter(scalar_reads(last.then))
            own = {s for s in scalars_written(last) if reads[s] == inside[s]} - exposed(last.then).keys()
            return _carried(loop, last, load, _index(following), own, names)
    return loop


def _index(node: ir.Load | ir.Store) -> _Index:
    return tuple(linear_form(i) for i in node.index)


def _loads(*nodes: ir.Node) -> Iterator[ir.Load]:
    """The loads that are made in each iteration."""
    for node in nodes:
        yield from (n for n in evaluated_always(node) if isinstance(n, ir.Load) and n.mask is None)


def _is_move(stmt: ir.Stmt, loads: dict[_Index, ir.Load]) -> bool:
    """Whether a statement assigns or stores what each iteration may compute at the cost of a select."""
    match stmt:
        case ir.Assign(value=value) | ir.Store(value=value, mask=None):
            pass
        case _:
            return False
    if isinstance(stmt, ir.Store) and _index(stmt) not in loads:
        return False
    match value:
        case (
            ir.Const()
            | ir.Var()
            | ir.Binary(op="+" | "-", lhs=ir.Var() | ir.Const(), rhs=ir.Var() | ir.Const())
        ):
            return True
        case ir.Load(mask=None):
            return any(value.array == load.array for load in loads.values()) and _index(value) in loads
        case _:
            return False


def _carried(
    loop: ir.For, last: ir.If, load: ir.Load, following: _Index, own: set[ir.Symbol], names: NameSupply
) -> ir.Stmt:
    """The loop with `load` in a scalar, which each iteration sets to the element that the next one loads.

    own: scalars that only the statements under the condition read.
    """
    loc, array = last.loc, load.array
    carried = names.fresh("carried", load.dtype)
    values: dict[_Index, ir.Expr] = {_index(load): ir.Var(carried, loc=loc)}

    def value(node: ir.Node) -> ir.Node:
        is_known = isinstance(node, ir.Load) and node.array == array and _index(node) in values
        return values[_index(node)] if is_known else node  # type: ignore[arg-type]

    def kept(name: str, expr: ir.Expr) -> ir.Var:
        symbol = names.fresh(name, expr.dtype)
        body.append(ir.Assign(symbol, expr, loc=loc))
        return ir.Var(symbol, loc=loc)

    body: list[ir.Stmt] = [rewrite(stmt, value) for stmt in loop.body[:-1]]
    holds = kept("holds", rewrite(last.cond, value))
    for other in _loads(*loop.body[:-1], last.cond):
        if other.array == array and _index(other) not in values:
            values[_index(other)] = kept("other", other)
    for stmt in last.then:
        assert isinstance(stmt, ir.Assign | ir.Store)
        new = rewrite(stmt.value, value)
        if isinstance(stmt, ir.Assign):
            old = ir.Var(stmt.target, loc=loc)
            body.append(
                ir.Assign(
                    stmt.target, new if stmt.target in own else ir.Select(holds, new, old, loc=loc), loc=loc
                )
            )
            continue
        values[_index(stmt)] = chosen = kept("chosen", ir.Select(holds, new, values[_index(stmt)], loc=loc))
        body.append(ir.Store(array, stmt.index, chosen, checked=False, loc=loc))
    body.append(ir.Assign(carried, values[following], loc=loc))
    first = ir.Assign(carried, substitute(load, {loop.var: loop.lo}), loc=loc)
    return if_it_runs(loop, (first, replace(loop, body=tuple(body))))
