"""Loop normalisation: loops over moving slices run over the elements' indices, where they add products.

    for i in range(0, max(n - (k + 1), 0)):         for i in range(k + 1, n):
        s = 0.0                                         s = 0.0
        for j in range(0, max(k, 0)):         ->        for j in range(0, k):
            s += A[k + 1 + i, j] * x[j]                     s += A[i, j] * x[j]

A subscript relative to the start of a slice depends on two loop variables, while an operand of a matrix product must
have subscripts that depend on one variable each. An upper bound of the form `max(hi, lo)` is simplified to `hi`, as a
range with `hi <= lo` is empty either way.

Requires: nothing. Runs before `find_products`, and looks at the nests that this one does.

Does not handle: steps other than 1; loops whose subscripts have different loop-variant offsets, or a negative
coefficient of the loop variable.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.patterns.matrix_products import added_up
from appyc.analysis.patterns.product_terms import is_fixed
from appyc.ir.affine import LinearForm, linear_form, terms_with, written
from appyc.ir.blocks import replace_outermost
from appyc.ir.nodes import Binary, Const, Expr, For, Function, Load, Node, Stmt, Store, Symbol, Update, Var
from appyc.ir.visit import loops_of, rewrite_all, walk, with_body
from appyc.passes.pass_context import PassContext


def normalise_loops(fn: Function, ctx: PassContext) -> Function:
    """The function with such loops in nests that add up products."""
    if not leaves_products_to_library(ctx):
        return fn
    return with_body(fn, _statements(fn.body, frozenset()))


def leaves_products_to_library(ctx: PassContext) -> bool:
    """Whether products of matrices are looked for at all."""
    options = ctx.options
    return options.auto and options.blas and not options.exact


def _statements(body: tuple[Stmt, ...], around: frozenset[Symbol]) -> tuple[Stmt, ...]:
    def rule(stmt: Stmt) -> tuple[Stmt] | None:
        if not isinstance(stmt, For):
            return None
        return (_straight(stmt, around) if around or any(map(added_up, loops_of(stmt))) else stmt,)

    return replace_outermost(body, rule)


def _straight(loop: For, around: frozenset[Symbol]) -> For:
    loop = replace(loop, hi=_not_cut_off(loop))
    start = _start(loop, around)
    if start is not None:
        loop = shifted_range(loop, start)
    return replace(loop, body=_statements(loop.body, around | {loop.var}))


def _not_cut_off(loop: For) -> Expr:
    """The upper bound without a maximum that is no higher than the lower one: such a range is empty either way."""
    match loop.lo, loop.hi:
        case Const(value=int(lo)), Binary(op="max", lhs=bound, rhs=Const(value=int(least))) if (
            least <= lo and loop.step > 0
        ):
            return bound
        case _:
            return loop.hi


def _start(loop: For, around: frozenset[Symbol]) -> LinearForm[Expr] | None:
    """The offset of the loop's subscripts from its variable, if the offset varies in an enclosing loop.

    The offsets of two subscripts may differ by loop-invariant terms."""
    if loop.step != 1:
        return None
    var = Var(loop.var, loc=loop.loc)
    inner = frozenset(n.var for n in loops_of(loop.body))
    starts: list[LinearForm[Expr]] = []
    for node in walk(loop.body):
        for index in node.index if isinstance(node, Load | Store | Update) else ():
            total = linear_form(index)
            mine = terms_with(total, frozenset({loop.var}))
            if not mine:
                continue
            start = total.plus(LinearForm({var: 1}), -1)
            if mine != {var: 1} or terms_with(start, inner):
                return None
            starts.append(start)
    if len({frozenset(terms_with(start, around).items()) for start in starts}) != 1:
        return None
    first = starts[0]
    return first if terms_with(first, around) and is_fixed(first.terms, (loop,)) else None


def shifted_range(loop: For, start: LinearForm[Expr]) -> For:
    """The loop with its range shifted by `start`, and `var - start` for its variable in the body."""
    var, loc = Var(loop.var, loc=loop.loc), loop.loc
    number: LinearForm[Expr] = LinearForm({var: 1})
    before = written(number.plus(start, -1), loc)

    def rule(node: Node) -> Node:
        match node:
            case Var() if node == var:
                return before
            case Load() | Store() | Update():
                return replace(node, index=tuple(map(_together, node.index)))
            case For():
                return replace(node, lo=_together(node.lo), hi=_together(node.hi))
            case _:
                return node

    lo, hi = (written(linear_form(bound).plus(start), loc) for bound in loop.bounds)
    return replace(loop, lo=lo, hi=hi, body=rewrite_all(loop.body, rule))


def _together(index: Expr) -> Expr:
    """An index with like terms combined."""
    return written(linear_form(index), index.loc)
