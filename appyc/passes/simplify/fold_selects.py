"""If-conversion of integer scalars: folds a condition into an operand, as a mask, instead of a branch."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from appyc.ir import nodes as ir
from appyc.ir.raising import may_raise
from appyc.ir.visit import contains, rewrite, walk
from appyc.passes.node_builders import negated, result_of
from appyc.passes.pass_context import PassContext

_MASKED = frozenset({"^", "|", "+", "-"})
"""Operators that a right operand of 0 makes the identity."""

_FEW = 16
"""The most nodes of what is computed whether or not the condition holds."""


def fold_selects(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Bits shifted and combined under a condition, in loops whose iterations wait for one another.

    Before:                                       After:
        for i in range(n):                            for i in range(n):
            if c & 1 != 0:                                c = c >> 1 ^ (-int(c & 1 != 0) & 0xEDB88320)
                c = c >> 1 ^ 0xEDB88320
            else:
                c = c >> 1

    A condition on the bits of a checksum or a random number is not predicted, and a misprediction takes longer than
    both sides. The C compiler keeps the branch, also of a conditional expression.

    Requires: integers that do not trap. Runs behind all passes that make lanes, for they look for conditions.

    Does not handle: floats, of which adding 0 changes -0.0; elements; loops around others, or with lanes; two sides
    that differ in more than an operand.
    """
    return rewrite(fn, _folded) if ctx.options.auto else fn


def _folded(loop: ir.Node) -> ir.Node:
    if not isinstance(loop, ir.For | ir.While) or contains(loop.body, ir.For | ir.While):
        return loop
    if isinstance(loop, ir.For) and loop.mode is not ir.LoopMode.SEQUENTIAL:
        return loop
    return replace(loop, body=tuple(rewrite(stmt, _without_branch) for stmt in loop.body))


def _without_branch(node: ir.Node) -> ir.Node:
    sides: tuple[ir.Expr, ir.Expr]
    match node:
        case ir.If(cond=cond, then=(one,), orelse=()) if _is_of_scalar(one):
            target, sides = one.target, (_value(one), ir.Var(one.target, loc=one.loc))
        case ir.If(cond=cond, then=(one,), orelse=(other,)) if (
            _is_of_scalar(one) and _is_of_scalar(other) and one.target == other.target
        ):
            target, sides = one.target, (_value(one), _value(other))
        case ir.Select(cond=cond):
            return _without_choice(cond, node.then, node.orelse) or node
        case _:
            return node
    value = _without_choice(cond, *sides)
    return node if value is None else ir.Assign(target, value, loc=node.loc)


def _is_of_scalar(stmt: ir.Stmt) -> TypeGuard[ir.Assign | ir.Update]:
    return isinstance(stmt, ir.Assign) or (isinstance(stmt, ir.Update) and not stmt.index and not stmt.trap)


def _value(stmt: ir.Assign | ir.Update) -> ir.Expr:
    return stmt.value if isinstance(stmt, ir.Assign) else result_of(stmt)


def _are_cheap(*sides: ir.Expr) -> bool:
    """Whether both sides may be computed in each iteration: a few operations of a cycle."""
    nodes = list(walk(sides))
    is_cheap = all(
        isinstance(n, ir.Const | ir.Var | ir.Cast)
        or (isinstance(n, ir.Binary) and n.op in _MASKED | {"&", "<<", ">>"})
        for n in nodes
    )
    return is_cheap and len(nodes) <= _FEW and not may_raise(nodes) and sides[0].dtype.kind in "iu"


def _without_choice(cond: ir.Expr, one: ir.Expr, other: ir.Expr) -> ir.Expr | None:
    """`one if cond else other` by a mask; None where that costs more, or is not possible."""
    return _merged(cond, one, other) if _are_cheap(one, other) else None


def _merged(cond: ir.Expr, one: ir.Expr, other: ir.Expr) -> ir.Expr | None:
    """`one if cond else other` by a mask, regardless of cost; None where the two differ in more than an
    operand."""
    if one == other:
        return one
    match one, other:
        case ir.Binary(op=op, lhs=kept, rhs=value), _ if op in _MASKED and kept == other:
            return replace(one, rhs=_masked(cond, value))
        case _, ir.Binary(op=op, lhs=kept, rhs=value) if op in _MASKED and kept == one:
            return replace(other, rhs=_masked(negated(cond), value))
        case ir.Binary(op=op), ir.Binary() if op == other.op and one.lhs == other.lhs:
            rhs = _merged(cond, one.rhs, other.rhs)
            return None if rhs is None else replace(one, rhs=rhs)
        case ir.Binary(op=op), ir.Binary() if op == other.op and one.rhs == other.rhs:
            lhs = _merged(cond, one.lhs, other.lhs)
            return None if lhs is None else replace(one, lhs=lhs)
        case _:
            return None


def _masked(cond: ir.Expr, value: ir.Expr) -> ir.Expr:
    """The value where the condition holds, and 0 elsewhere."""
    mask = ir.Unary("-", ir.Cast(cond, value.dtype, loc=value.loc), loc=value.loc)
    return ir.Binary("&", mask, value, loc=value.loc)
