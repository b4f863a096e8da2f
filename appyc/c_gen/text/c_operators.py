"""C text of operators, given the texts of their operands, none of which is repeated."""

from __future__ import annotations

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.text.c_types import c_type, constant, is_promoted
from appyc.c_gen.text.math_functions import POWERS
from appyc.errors import InternalError
from appyc.ir.nodes import Binary, Const, Var
from appyc.ir.types import DType


def combine(ctx: FunctionContext, op: str, dtype: DType, lhs: str, rhs: str) -> str:
    """`lhs op rhs` for two texts of one type; `and` and `or` too."""
    typed = ctx.module.helpers.typed
    kind = dtype.kind
    match op:
        case "and":
            return f"({lhs} && {rhs})"
        case "or":
            return f"({lhs} || {rhs})"
        case "*" if dtype.is_complex:
            return f"{typed('cmul', dtype)}({lhs}, {rhs})"
        case "/" if dtype.is_complex:
            return f"{typed('cdiv', dtype)}({lhs}, {rhs})"
        case "+" | "-" | "*" | "/" | "&" | "|" | "^":
            return narrowed(f"({lhs} {op} {rhs})", dtype)
        case "//" | "%":
            name = "floordiv" if op == "//" else "mod"
            return f"{typed(f'{name}_{kind}' if kind in 'iuf' else f'{name}_u', dtype)}({lhs}, {rhs})"
        case "<<":
            return f"{typed('shl', dtype)}({lhs}, {rhs})"
        case ">>":
            return f"{typed('shr_i' if kind == 'i' else 'shr_u', dtype)}({lhs}, {rhs})"
        case "min" | "max" | "minimum" | "maximum":
            return f"{typed(op, dtype)}({lhs}, {rhs})"
        case _:
            raise InternalError("c_gen", f"no operator {op!r} on {dtype}")


def power(ctx: FunctionContext, expr: Binary, lhs: str, rhs: str) -> str:
    """`lhs ** rhs`; powers by constants are products and roots."""
    dtype = expr.dtype
    helpers = ctx.module.helpers
    exponent = expr.rhs.value if isinstance(expr.rhs, Const) else None
    if exponent == 2 and isinstance(expr.lhs, Var):
        return combine(ctx, "*", dtype, lhs, lhs)
    if exponent == 2:
        return f"{helpers.typed('csquare' if dtype.is_complex else 'square', dtype)}({lhs})"
    if dtype.is_complex:
        return f"{helpers.typed('cpow_', dtype)}({lhs}, {rhs})"
    if not dtype.is_float:
        return f"{helpers.typed('ipow', dtype)}({lhs}, {rhs})"
    if exponent == 1:
        return lhs
    if exponent == 0.5:
        return f"{helpers.typed('pow_half', dtype)}({lhs})"
    if exponent == -1:
        return f"({constant(1, dtype)} / {lhs})"
    if exponent in POWERS and not ctx.module.options.exact:
        return f"{helpers.typed(POWERS[exponent], dtype)}({lhs})"
    return f"{helpers.library('pow', dtype)}({lhs}, {rhs})"


def narrowed(text: str, dtype: DType) -> str:
    """A cast of what C computes as `int` back to a narrow type, which wraps."""
    return f"({c_type(dtype)}){text}" if is_promoted(dtype) else text
