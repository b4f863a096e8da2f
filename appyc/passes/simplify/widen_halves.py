"""Computes in float32 what the program computes in float16, and rounds each result, as NumPy does.

    c[i] = a[i] * b[i] + c[i]   ->   t = float16(float32(a[i]) * float32(b[i]))
                                     c[i] = float16(float32(t) + float32(c[i]))

Afterwards float16 is a type of storage alone: numbers of it are loaded, stored, chosen and converted, to and from
float32, and from float64. Integers are converted by way of float32, which gives the same: what float32 rounds is
infinite in float16.

Requires: no tensor statements. Does not handle: atomic updates, which it refuses.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.errors import UnsupportedError
from appyc.ir.nodes import Binary, Cast, Compare, Expr, Function, Intrinsic, Node, Unary, Update
from appyc.ir.types import DType
from appyc.ir.visit import map_operands, rewrite, walk
from appyc.passes.pass_context import PassContext


def widen_halves(fn: Function, ctx: PassContext) -> Function:
    if not any(getattr(node, "dtype", None) is DType.FLOAT16 for node in walk(fn)):
        return fn
    return rewrite(fn, _widened)


def _widened(node: Node) -> Node:
    match node:
        case Cast(arg=arg, dtype=DType.FLOAT16) if not arg.dtype.is_float:
            return replace(node, arg=Cast(arg, DType.FLOAT32, loc=node.loc))
        case Cast() if node.dtype is not DType.FLOAT32:
            return map_operands(node, _single)
        case Update() if node.target.dtype is DType.FLOAT16:
            raise UnsupportedError("an atomic update of a float16 is not compiled", node.loc,
                                   "use an array of float32")  # fmt: skip
        case Unary() | Binary() if node.dtype is DType.FLOAT16:
            return Cast(map_operands(node, _single), DType.FLOAT16, loc=node.loc)
        case Intrinsic(dtype=DType.FLOAT16):
            wide = replace(map_operands(node, _single), dtype=DType.FLOAT32)
            return Cast(wide, DType.FLOAT16, loc=node.loc)
        case Compare() | Intrinsic():
            return map_operands(node, _single)
        case _:
            return node


def _single(expr: Expr) -> Expr:
    return Cast(expr, DType.FLOAT32, loc=expr.loc) if expr.dtype is DType.FLOAT16 else expr
