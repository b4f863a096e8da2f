"""Reads in front of the choice that they stand in, in loops whose iterations wait for one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from appyc.ir import nodes as ir
from appyc.ir.affine import excess, linear_form
from appyc.ir.invariance import evaluated_always
from appyc.ir.names import NameSupply
from appyc.ir.visit import contains, loops_of, map_loops, rewrite, walk
from appyc.passes.node_builders import with_private
from appyc.passes.pass_context import PassContext


def speculate_loads(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Elements beside the one that an iteration stores are read whether or not a condition asks for them.

    Before:                                               After:
        for j in range(1, m):                                 for j in range(1, m):
            if a[i] == b[j]:                                      near, near_2 = d[i - 1, j - 1], d[i, j - 1]
                d[i, j] = d[i - 1, j - 1] + 1                     d[i, j] = near + 1 if a[i] == b[j] else max(near_2, 0)
            else:
                d[i, j] = max(d[i, j - 1], 0)

    The C compiler keeps what the next iteration reads in a register then, and chooses without a branch. Otherwise the
    iterations wait for memory and for mispredictions.

    Requires: the store is executed in each iteration, and proven to be in range (`check_bounds`). The elements have
    indices from 0 on that are no larger than the store's, so that they are in range, too. Runs behind all passes that
    change the form of loops.

    Does not handle: loops around others, or with lanes; other statements under conditions.
    """
    if not ctx.options.auto:
        return fn
    least = {
        loop.var: loop.lo.value
        for loop in loops_of(fn.body)
        if isinstance(loop.lo, ir.Const) and isinstance(loop.lo.value, int) and loop.step > 0
    }
    skewed = {inner.var for loop in loops_of(fn) if fn.schedule[loop.var].skew for inner in loops_of(loop)}
    names, made = NameSupply.after(fn), set[ir.Symbol]()

    def rule(loop: ir.For) -> ir.For:
        loop = with_private(loop, made)
        if (
            loop.mode is not ir.LoopMode.SEQUENTIAL
            or loop.var in skewed
            or contains(loop.body, ir.For | ir.While)
        ):
            return loop
        body = [_as_choice(stmt) for stmt in loop.body]
        if not all(isinstance(stmt, ir.Assign | ir.Store) for stmt in body):
            return loop
        new = [part for stmt in body for part in _with_reads_ahead(stmt, least, names)]
        if len(new) == len(body):
            return loop
        made.update(stmt.target for stmt in new if isinstance(stmt, ir.Assign) and stmt not in body)
        return replace(loop, body=tuple(new))

    return map_loops(fn, rule)


def _as_choice(stmt: ir.Stmt) -> ir.Stmt:
    """Two stores to one element, one on each side of a condition, as a store of a choice."""
    match stmt:
        case ir.If(cond=cond, then=(ir.Store(mask=None) as one,), orelse=(ir.Store(mask=None) as other,)) if (
            one.array,
            one.index,
            one.checked,
        ) == (other.array, other.index, False):
            value = ir.Select(cond, one.value, other.value, loc=stmt.loc)
            return ir.Store(one.array, one.index, value, checked=False, loc=one.loc)
        case _:
            return stmt


def _with_reads_ahead(stmt: ir.Stmt, least: Mapping[ir.Symbol, int], names: NameSupply) -> list[ir.Stmt]:
    if not isinstance(stmt, ir.Store) or stmt.checked or stmt.mask is not None:
        return [stmt]
    always = {id(node) for node in evaluated_always(stmt)}
    ahead: dict[ir.Load, ir.Symbol] = {}
    for node in walk(stmt.value):
        if isinstance(node, ir.Load) and id(node) not in always and _is_near(node, stmt, least):
            ahead.setdefault(node, names.fresh(f"{node.array.name}_near", node.dtype))
    reads = [ir.Assign(scalar, load, loc=load.loc) for load, scalar in ahead.items()]
    return [*reads, rewrite(stmt, lambda n: ir.Var(ahead[n], loc=n.loc) if n in ahead else n)]


def _is_near(load: ir.Load, store: ir.Store, least: Mapping[ir.Symbol, int]) -> bool:
    """Whether a load is of the store's array, with indices from 0 on that are no larger than the store's."""
    if load.array != store.array or load.checked or load.mask is not None:
        return False
    for at, limit in zip(load.index, store.index, strict=True):
        form = linear_form(at)
        ahead = excess(at, limit)
        known = all(
            isinstance(term, ir.Var) and term.symbol in least and n > 0 for term, n in form.terms.items()
        )
        if ahead is None or ahead > 0 or not known:
            return False
        lowest = sum(n * least[term.symbol] for term, n in form.terms.items() if isinstance(term, ir.Var))
        if lowest + form.constant < 0:
            return False
    return True
