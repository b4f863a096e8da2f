"""Negative indices that count from the end become selects, where an index is affine and only sometimes negative.

    for i in range(0, n):                             for i in range(0, n):
        b[i] = a[i - 1]                  ->               b[i] = a[i - 1 + a.shape[0] if i - 1 < 0 else i - 1]

Such indices come from periodic boundaries: Python takes the last element for the one before the first. Otherwise the
sign is tested at each access, and a loop with such a test has neither lanes nor threads. `check_bounds` proves the
bounds of the select, and `split_at_conditions` cuts the loop where it changes.

An index is negative in some iteration whatever the arguments are: `if i > 0: b[i] = a[i - 1]` is left as it is, and
`for i in range(k, n)` too, where a guard says that k is at least 1. Another guard says that no index is less than
minus the length, for which Python raises IndexError.

Requires: `copy_propagation` has run; the function's guards hold.

Does not handle: constant indices, which the front end counts from the end; indices that are not affine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from appyc.analysis.accesses.access_relations import numbered_accesses
from appyc.analysis.accesses.accesses import Access
from appyc.analysis.sets.presburger import Presburger
from appyc.ir import nodes as ir
from appyc.ir.affine import linear_form
from appyc.ir.array_accesses import AccessNode, by_number, is_access
from appyc.ir.visit import loops_of, rewrite, walk
from appyc.passes.checks.guards import GuardWriter, asked_in_order, in_range
from appyc.passes.node_builders import counted_from_end
from appyc.passes.pass_context import PassContext


def wrap_negative_indices(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with such indices as selects, and the guards that they need."""
    first = {loop.var: int(loop.lo.value.real) for loop in loops_of(fn) if isinstance(loop.lo, ir.Const)}
    if not ctx.options.boundscheck or not any(
        _may_be_negative(index, first) for node in _checked(fn) for index in node.index
    ):
        return fn
    found = numbered_accesses(fn, Presburger(ctx.allowance))
    writer = GuardWriter(found.affine, fn.params)
    guards: dict[ir.Guard, None] = {}

    def wrapped(access: Access, index: ir.Expr, axis: int) -> ir.Expr:
        if not _may_be_negative(index, first):
            return index
        value, length = access.index[axis], access.extents[axis]
        domain = found.affine.in_context(access.domain)
        negative = domain.intersect(value.lt_set(found.sets.constant(0)))
        if negative.is_empty() or writer.without(domain, negative) is not None:
            return index
        holds = writer.without(domain, domain.intersect(value.lt_set(length.neg())))
        asked = None if holds is None else writer.guards(holds, in_range(access.array.name), access.loc)
        if asked is None:
            return index
        guards.update(dict.fromkeys(asked))
        return counted_from_end(index, ir.Extent(access.array, axis, loc=index.loc))

    def counted(number: int, node: AccessNode) -> ir.Node:
        access = found.accesses[number]
        if not node.checked:
            return node
        return replace(node, index=tuple(wrapped(access, i, axis) for axis, i in enumerate(node.index)))

    new = rewrite(fn, by_number(counted))
    if new == fn:
        return fn
    return replace(new, guards=asked_in_order((*fn.guards, *guards, *writer.sizes([*guards]))))


def _checked(fn: ir.Function) -> Iterator[AccessNode]:
    return (n for n in walk(fn.body) if is_access(n) and n.checked)


def _may_be_negative(index: ir.Expr, first: dict[ir.Symbol, int]) -> bool:
    """Whether an index is less than 0 where each loop variable has its first value. first: those that are constants."""
    form = linear_form(index)
    least = form.constant
    for term, factor in form.terms.items():
        if isinstance(term, ir.Var) and term.symbol in first and factor > 0:
            least += factor * first[term.symbol]
    return bool(form.terms) and least < 0
