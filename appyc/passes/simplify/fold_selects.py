"""If-conversion of integer scalars: masks instead of branches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeGuard

from appyc.ir import nodes as ir
from appyc.ir.names import NameSupply
from appyc.ir.raising import may_raise
from appyc.ir.visit import contains, rewrite, rewrite_all, scalars_read, scalars_written, walk
from appyc.passes.node_builders import combine, let, negated, result_of, with_private
from appyc.passes.pass_context import PassContext

_MASKED = frozenset({"^", "|", "+", "-"})
"""Operators that a right operand of 0 makes the identity."""

_Scalar: TypeAlias = ir.Assign | ir.Update
_Side: TypeAlias = tuple[ir.Symbol, ir.Expr, ir.Expr]
"""A scalar with its values where a condition holds, and where it does not."""

_FEW = 24
"""The most nodes of what is computed whether or not the condition holds."""


def fold_selects(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Integers computed under a condition, in loops whose iterations wait for one another.

    Before:                                       After:
        for i in range(n):                            for i in range(n):
            if c & 1 != 0:                                c = c >> 1 ^ (-int(c & 1 != 0) & 0xEDB88320)
                c = c >> 1 ^ 0xEDB88320
            else:
                c = c >> 1
            if d >= step:                                 holds = d >= step
                code = code | 4                           code = code | (-int(holds) & 4)
                d = d - step                              d = d - (-int(holds) & step)

    A condition on the bits of a checksum, or on the state of a codec, is not predicted, and a misprediction takes
    longer than both sides. The C compiler keeps the branch, also of a conditional expression.

    Requires: integers that do not trap. Runs behind all passes that make lanes, for they look for conditions.

    A branch that sets the index of an element that its condition reads to the loop's variable is marked as unlikely, so
    that the C compiler keeps it: few iterations find a better element, and a select would let each wait for the loads
    of the one before.

    Does not handle: floats, of which adding 0 changes -0.0; elements; loops around others, or with lanes; what seldom
    happens, which is predicted: a new extreme value, or a counter that has reached its end.
    """
    if not ctx.options.auto:
        return fn
    names, made = NameSupply.after(fn), set[ir.Symbol]()
    writes = Counter(n.target for n in walk(fn) if isinstance(n, ir.Assign | ir.Update))

    def folded(loop: ir.Node) -> ir.Node:
        if isinstance(loop, ir.For):
            loop = with_private(loop, made)
        if not isinstance(loop, ir.For | ir.While) or contains(loop.body, ir.For | ir.While):
            return loop
        if isinstance(loop, ir.For) and loop.mode is not ir.LoopMode.SEQUENTIAL:
            return loop
        marked = tuple(_marked(loop, stmt) for stmt in loop.body)
        return replace(loop, body=rewrite_all(marked, without_branch))

    def without_branch(node: ir.Node) -> ir.Node | tuple[ir.Stmt, ...]:
        match node:
            case ir.If(cond=ir.Unary(arg=ir.Likely())):
                return node
            case ir.If():
                return _predicated(node, writes, names, made) or node
            case ir.Select(cond=cond, then=one, orelse=other) if one.dtype.kind in "iu" and _are_cheap(
                (one, other)
            ):
                return _merged(cond, one, other) or node
            case _:
                return node

    return rewrite(fn, folded)


def _marked(loop: ir.For | ir.While, branch: ir.Stmt) -> ir.Stmt:
    """A branch, unlikely if it sets the index of an element that its condition reads to the loop's variable."""
    if not isinstance(branch, ir.If) or not isinstance(loop, ir.For) or branch.orelse:
        return branch
    if not all(map(_is_of_scalar, branch.then)):
        return branch
    here = ir.Var(loop.var, loc=loop.loc)
    chosen = {stmt.target for stmt in branch.then if isinstance(stmt, ir.Assign) and stmt.value == here}
    values = {stmt.target: stmt.value for stmt in loop.body if isinstance(stmt, ir.Assign)}
    nodes = list(walk(branch.cond))
    for node in nodes:
        if isinstance(node, ir.Var) and node.symbol in values:
            nodes += walk(values.pop(node.symbol))
    indices = [index for node in nodes if isinstance(node, ir.Load) for index in node.index]
    if not any(isinstance(index, ir.Var) and index.symbol in chosen for index in indices):
        return branch
    return replace(branch, cond=negated(ir.Likely(negated(branch.cond), loc=branch.loc)))


def _predicated(
    branch: ir.If, writes: Counter[ir.Symbol], names: NameSupply, made: set[ir.Symbol]
) -> tuple[ir.Stmt, ...] | None:
    """The statements of both sides, each without effect where the other side is taken; None where they stay a branch.

    writes: how often each scalar is assigned; one that only this branch assigns has no value to keep. made: the
    scalars that hold such conditions, to which that of this branch is added.
    """
    then, orelse = ([s for s in side if _is_of_scalar(s)] for side in (branch.then, branch.orelse))
    if len(then) < len(branch.then) or len(orelse) < len(branch.orelse):
        return None
    sides = _sides(then, orelse)
    if sides is None or not _are_cheap([value for _, *values in sides for value in values]):
        return None
    inside = Counter(stmt.target for stmt in (*then, *orelse))
    if any(
        writes[target] == inside[target]
        for target, *values in sides
        if ir.Var(target, loc=branch.loc) in values
    ):
        return None
    out: list[ir.Stmt] = []
    cond = branch.cond if len(sides) == 1 else let("holds", branch.cond, names, out)
    blends = not _is_predicted(branch.cond, sides)
    for target, one, other in sides:
        value = one if target in made else _merged(cond, one, other, blends=blends)
        if value is None or (target not in made and target.dtype.kind not in "iu"):
            return None
        out.append(ir.Assign(target, value, loc=branch.loc))
    made.update(scalars_written(out[:1]) if cond is not branch.cond else ())
    return tuple(out)


def _is_of_scalar(stmt: ir.Stmt) -> TypeGuard[_Scalar]:
    return isinstance(stmt, ir.Assign) or (isinstance(stmt, ir.Update) and not stmt.index and not stmt.trap)


def _value(stmt: _Scalar) -> ir.Expr:
    return stmt.value if isinstance(stmt, ir.Assign) else result_of(stmt)


def _sides(then: list[_Scalar], orelse: list[_Scalar]) -> list[_Side] | None:
    """Scalars with their values on both sides, in an order in which they can be assigned; None where there is none."""
    one, other = ({stmt.target: _value(stmt) for stmt in side} for side in (then, orelse))
    kept = {stmt.target: ir.Var(stmt.target, loc=stmt.loc) for stmt in (*then, *orelse)}
    both = [(target, one.get(target, old), other.get(target, old)) for target, old in kept.items()]
    sides: list[Any] = [*([(s.target, _value(s)) for s in side] for side in (then, orelse)), both]
    are_old = not any(
        scalars_read(values) & {target for target, *_ in side[:at]}
        for side in sides
        for at, (_, *values) in enumerate(side)
    )
    if are_old and len(one) == len(then) and len(other) == len(orelse):
        return both
    if one.keys() & other.keys():
        return None
    return [
        *((stmt.target, _value(stmt), kept[stmt.target]) for stmt in then),
        *((stmt.target, kept[stmt.target], _value(stmt)) for stmt in orelse),
    ]


def _is_predicted(cond: ir.Expr, sides: Sequence[_Side]) -> bool:
    """Whether a condition seldom holds: that a counter has reached its end, or that there is a new extreme value."""
    match cond:
        case ir.Compare(op="==", lhs=ir.Binary(op="&")):
            return False
        case ir.Compare(op="==") if all(isinstance(other, ir.Var) for *_, other in sides):
            return True
        case ir.Compare(lhs=lhs, rhs=rhs):
            return any({one, other} == {lhs, rhs} for _, one, other in sides)
        case _:
            return False


def _are_cheap(values: Sequence[ir.Expr]) -> bool:
    """Whether all may be computed in each iteration: a few operations of a cycle."""
    nodes = list(walk(values))
    is_cheap = all(
        isinstance(n, ir.Const | ir.Var | ir.Cast | ir.Unary | ir.Compare)
        or (isinstance(n, ir.Binary) and n.op in _MASKED | {"&", "<<", ">>"})
        for n in nodes
    )
    return (
        is_cheap
        and len(nodes) <= _FEW
        and not may_raise(nodes)
        and all(v.dtype.kind in "iub" for v in values)
    )


def _merged(cond: ir.Expr, one: ir.Expr, other: ir.Expr, blends: bool = False) -> ir.Expr | None:
    """`one if cond else other` by a mask, regardless of cost; None where the two differ in more than an operand, and
    their bits are not to be blended either."""
    if one == other:
        return one
    match one, other:
        case ir.Binary(op=op, lhs=kept, rhs=value), _ if op in _MASKED and kept == other:
            return replace(one, rhs=_masked(cond, value))
        case _, ir.Binary(op=op, lhs=kept, rhs=value) if op in _MASKED and kept == one:
            return replace(other, rhs=_masked(negated(cond), value))
        case ir.Binary(op=op), ir.Binary() if op == other.op and one.lhs == other.lhs:
            rhs = _merged(cond, one.rhs, other.rhs, blends)
            return None if rhs is None else replace(one, rhs=rhs)
        case ir.Binary(op=op), ir.Binary() if op == other.op and one.rhs == other.rhs:
            lhs = _merged(cond, one.lhs, other.lhs, blends)
            return None if lhs is None else replace(one, lhs=lhs)
        case _, ir.Const(value=0):
            return _masked(cond, one)
        case _ if blends:
            return combine("^", other, _masked(cond, combine("^", one, other)))
        case _:
            return None


def _masked(cond: ir.Expr, value: ir.Expr) -> ir.Expr:
    """The value where the condition holds, and 0 elsewhere."""
    mask = ir.Unary("-", ir.Cast(cond, value.dtype, loc=value.loc), loc=value.loc)
    return ir.Binary("&", mask, value, loc=value.loc)
