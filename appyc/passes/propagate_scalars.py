"""Puts what a scalar stands for in its place, where that is known from the parameters alone.

    n = C.shape[0]
    last = n - 1
    for i in range(0, n):            for i in range(0, C.shape[0]):
        C[i, last] = alpha     ->        C[i, C.shape[0] - 1] = alpha

Later passes then see bounds and indices in terms of parameters, whatever names the program
gave them.

Requires: nothing. A scalar qualifies if it is assigned once in the whole function and its
value is made of constants, extents, parameters and scalars that qualify, by integer
operations that cannot fail; or if it is a copy of a constant or of a parameter. The
assignments stay; `remove_dead_code` drops those that are read no more.

Does not handle: scalars that are assigned more than once, whatever the values.
"""

from __future__ import annotations

from collections import Counter

from appyc.ir.nodes import (
    Assign,
    Binary,
    Cast,
    Const,
    Expr,
    Extent,
    Function,
    Node,
    Symbol,
    Unary,
    Update,
    Var,
)
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, rewrite, walk
from appyc.passes.context import PassContext

_OPERATORS = ("+", "-", "*", "min", "max")
_DIVISIONS = ("//", "%")


def propagate_scalars(fn: Function, ctx: PassContext) -> Function:
    """The function with qualifying scalars replaced by their values."""
    values = known_values(fn)
    return rewrite(fn, lambda n: values.get(n.symbol, n) if isinstance(n, Var) else n) if values else fn


def known_values(fn: Function) -> dict[Symbol, Expr]:
    """What qualifying scalars stand for, in terms of parameters."""
    written = Counter(
        n.target
        for n in walk(fn)
        if isinstance(n, Assign) or (isinstance(n, Update) and not n.target.is_array)
    )
    varying = {*written, *(loop.var for loop in loops_of(fn))}
    values: dict[Symbol, Expr] = {}

    def rule(n: Node) -> Node:
        return values.get(n.symbol, n) if isinstance(n, Var) else n

    for node in walk(fn):
        # A parameter has a value before its assignment too.
        if isinstance(node, Assign) and written[node.target] == 1 and node.target not in fn.params:
            value = rewrite(node.value, rule)
            if _qualifies(value, varying):
                values[node.target] = value
    return values


def _qualifies(expr: Expr, varying: set[Symbol]) -> bool:
    match expr:
        case Const() | Extent():
            return True
        case Var(symbol=symbol):
            return symbol not in varying
        case Unary(op="-", arg=arg) | Cast(arg=arg, dtype=DType.INT64):
            return arg.dtype.is_integer and _qualifies(arg, varying)
        case Binary(op=op, lhs=lhs, rhs=rhs) if expr.dtype is DType.INT64:
            if op in _DIVISIONS:
                return isinstance(rhs, Const) and rhs.value != 0 and _qualifies(lhs, varying)
            return op in _OPERATORS and _qualifies(lhs, varying) and _qualifies(rhs, varying)
        case _:
            return False
