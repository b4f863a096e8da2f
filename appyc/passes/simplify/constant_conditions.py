"""Constant folding of conditions: what follows where they are known."""

from __future__ import annotations

from dataclasses import replace
from operator import eq, ge, gt, le, lt, ne

from appyc.ir.nodes import Binary, Compare, Const, If, Likely, Logical, Node, Select, Unary
from appyc.ir.raising import may_raise
from appyc.ir.types import DType
from appyc.passes.node_builders import truth

_COMPARED = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def folded(node: Node) -> Node | tuple[Node, ...]:
    """The node with its own constant conditions folded. What may raise is evaluated all the same."""
    match node:
        case Likely(arg=Const() as arg):
            return arg
        case Unary(op="~", arg=Const(value=bool(value)) as arg):
            return replace(arg, value=not value)
        case Compare(op, Const(value=int(lhs)), Const(value=int(rhs))):
            return truth(bool(_COMPARED[op](lhs, rhs)), node.loc)
        case Compare(op="==" | "<=" | ">=", lhs=lhs, rhs=rhs) if (
            lhs == rhs and lhs.dtype.is_integer and not may_raise(lhs)
        ):
            return truth(True, node.loc)
        case Select(cond=Const(value=value)) | If(cond=Const(value=value)):
            return node.then if value else node.orelse
        case Select(cond=cond, then=then, orelse=orelse) if then == orelse and not may_raise(cond):
            return then
        case Logical(op=op, lhs=Const(value=value) as lhs, rhs=rhs):
            return rhs if bool(value) == (op == "and") else lhs
        case (
            Logical(op=op, lhs=known, rhs=Const(value=value) as const)
            | Binary(op="&" | "|" as op, lhs=known, rhs=Const(value=value) as const)
            | Binary(op="&" | "|" as op, lhs=Const(value=value) as const, rhs=known)
        ) if const.dtype is DType.BOOL:
            if bool(value) == (op in ("and", "&")):
                return known
            return node if may_raise(known) else const
        case _:
            return node
