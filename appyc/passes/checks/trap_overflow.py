"""Makes Python-integer arithmetic of callees trap on overflow.

    return n * factorial(n - 1)          ->      the product is tested: where it takes more than 64 bits,
                                                 Python runs the whole call, or OverflowError is raised

Python can run the call where nothing has been stored into arrays that others can see.

Requires: all callees are there. Sums, differences, products and shifts of int64 are marked with `trap`, but for
indices, which are out of range if they wrap, and for NumPy's integers, which wrap in Python too: what is made of an
array's elements.

Does not handle: powers; what the function does outside of its callees.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.nodes import (
    Assign,
    Binary,
    Call,
    Callee,
    Expr,
    Function,
    Load,
    Node,
    Store,
    Symbol,
    Update,
    Var,
)
from appyc.ir.types import DType
from appyc.ir.visit import rewrite, walk
from appyc.passes.pass_context import PassContext

_OPERATORS = ("+", "-", "*", "<<")


def trap_overflow(fn: Function, ctx: PassContext) -> Function:
    """The function with its callees' arithmetic tested."""
    if not fn.callees:
        return fn
    numpys = _of_elements([callee.function for callee in fn.callees])

    def marked(node: Node) -> Node:
        """The node with its own operation marked, and those in its indices not."""
        match node:
            case Binary(op=op) if (
                op in _OPERATORS and node.dtype is DType.INT64 and not _is_numpys(node, numpys)
            ):
                return replace(node, trap=True)
            case Load():
                return replace(node, index=tuple(rewrite(i, _unmarked) for i in node.index))
            case Store() | Update():
                return replace(node, index=tuple(rewrite(i, _unmarked) for i in node.index))
            case _:
                return node

    callees = tuple(Callee(replace(c.function, body=rewrite(c.function, marked).body)) for c in fn.callees)
    return replace(fn, callees=callees)


def _unmarked(node: Node) -> Node:
    if isinstance(node, Binary) and node.op in _OPERATORS and node.trap:
        return replace(node, trap=False)
    return node


def _is_numpys(expr: Expr, numpys: set[Symbol]) -> bool:
    return any(isinstance(n, Load) or (isinstance(n, Var) and n.symbol in numpys) for n in walk(expr))


def _of_elements(callees: list[Function]) -> set[Symbol]:
    """The scalars that may hold integers of NumPy's: made of elements of arrays."""
    params = {fn.name: fn.params for fn in callees}
    found: set[Symbol] = set()
    assigned = [n for n in walk(callees) if isinstance(n, Assign)]
    while True:
        before = len(found)
        for node in assigned:
            if isinstance(node.value, Call):
                for symbol, arg in zip(params[node.value.callee], node.value.args, strict=True):
                    if not symbol.is_array and _is_numpys(arg, found):  # type: ignore[arg-type]
                        found.add(symbol)
            elif _is_numpys(node.value, found):
                found.add(node.target)
        if len(found) == before:
            return found
