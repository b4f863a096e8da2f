"""Predicates on nodes that may raise at run time, for all passes that move, repeat or remove code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeGuard, TypeVar

from appyc.errors import LARGE, LeftToPython, conversion_error
from appyc.ir import nodes as ir
from appyc.ir.blocks import jumps
from appyc.ir.types import DType
from appyc.ir.visit import arrays_written, rewrite, walk

N = TypeVar("N", bound=ir.Node)

GROWING = ("+", "-", "*", "**", "<<")
"""Operations on Python ints whose result may take more than 64 bits."""

CONVERSION = "a float that is no int of 64 bits"
NEGATIVE_POWER = "a power of ints with a negative exponent"
"""A reason why a guard leaves a call to Python. The guard of a conversion has the float as its word."""

DIVISION, EMPTY = "a division by zero", "an array of a list without items"
INEXACT = "an int that meets floats is a large one"
DISPENSABLE = (DIVISION, EMPTY, INEXACT, LARGE)
"""The reasons of guards that are dispensable: without them a call gives what NumPy would."""

CONVERSION_ERROR = f"{conversion_error.__module__}:{conversion_error.__name__}"

_RAISED = {
    CONVERSION: (CONVERSION_ERROR, ""),
    NEGATIVE_POWER: ("ValueError", "Integers to negative integer powers are not allowed."),
}
"""The exception, and its message, where a call cannot be left to Python."""


def raises_itself(node: ir.Node) -> bool:
    """Whether a node can raise, be its parts what they may, but for want of memory. A draw counts as one that can: it
    is made as often as the program says, and where."""
    return isinstance(node, ir.Draw) or (is_fault_site(node) and not isinstance(node, ir.Alloc))


def traps_overflow(node: ir.Node) -> TypeGuard[ir.Binary]:
    """Whether a node is arithmetic of Python ints that must not wrap."""
    return isinstance(node, ir.Binary) and node.trap and node.dtype is DType.INT64 and node.op in GROWING


def trapping_sums(body: ir.Node | Iterable[ir.Node]) -> set[ir.Symbol]:
    """The scalars with updates that must not wrap."""
    return {n.target for n in walk(body) if isinstance(n, ir.Update) and n.trap}


def overflow_error(fn: ir.Function) -> tuple[str, str]:
    """The exception, and its message, for a Python int beyond 64 bits. Python runs the call again if the function
    stores into no argument but lists, of which the call has copies."""
    if all(s.array.is_list for s in arrays_written(fn.body) & set(fn.params)):
        return LeftToPython.__name__, "an integer takes more than 64 bits"
    return "OverflowError", (
        "a Python int takes more than 64 bits where elements have been stored: cut it with % or &, or compute in "
        "np.int64, which wraps around"
    )


def raising_where_left(node: N) -> N:
    """The code, with exceptions where guards would leave the call to Python because of a number."""

    def rule(n: ir.Node) -> ir.Node:
        if isinstance(n, ir.Fail) and n.error == LeftToPython.__name__ and n.message in _RAISED:
            error, message = _RAISED[n.message]
            return replace(n, error=error, message=message)
        return n

    return rewrite(node, rule)


def is_settled(fail: ir.Fail) -> bool:
    """Whether there is another thing to do, raise or go on, where a call cannot be left to Python."""
    return fail.error != LeftToPython.__name__ or fail.message in _RAISED or fail.message in DISPENSABLE


def never_left(fn: ir.Function) -> ir.Function:
    """The function without dispensable guards, and with exceptions for others that are about a number."""

    def rule(n: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
        if isinstance(n, ir.Fail) and n.error == LeftToPython.__name__ and n.message in DISPENSABLE:
            return ()
        return n

    return raising_where_left(rewrite(fn, rule))


def must_be_first(fail: ir.Fail) -> bool:
    """Whether of several iterations that fail the first one must raise. Indices out of range, and conversions, are
    faults of which any may be reported."""
    return fail.error not in (LeftToPython.__name__, CONVERSION_ERROR)


def is_never_negative(expr: ir.Expr) -> bool:
    """Whether an integer is seen to be 0 or more, as what is made of lengths is."""
    match expr:
        case ir.Const(value=value):
            return value.real >= 0
        case ir.Extent():
            return True
        case ir.Binary("+" | "*" | "min", lhs, rhs):
            return is_never_negative(lhs) and is_never_negative(rhs)
        case ir.Binary("max", lhs, rhs):
            return is_never_negative(lhs) or is_never_negative(rhs)
        case _:
            return False


def may_raise(node: ir.Node | Iterable[ir.Node]) -> bool:
    """Whether the node, one of several, or something below may raise."""
    return any(raises_itself(n) for n in walk(node))


def may_leave(stmt: ir.Stmt) -> bool:
    """Whether a statement may raise or jump, so that what follows it is not executed in any case."""
    return jumps(stmt) or may_raise(stmt)


# ---------------------------------------------------------------- of code in C

CHECKED = {"+": "add", "-": "sub", "*": "mul", "<<": "shift", "**": "power"}
"""Operators of integers that have forms which must not wrap, and the names of those."""


def can_fault(node: ir.Node | Sequence[ir.Node]) -> bool:
    """True where running the node may end the program with an exception."""
    return any(is_fault_site(n) for n in walk(node))


def is_fault_site(node: ir.Node) -> bool:
    """Whether the node itself may end the program with an exception."""
    test = _FAULT_SITES.get(type(node))
    return test is not None and test(node)


def divisor_may_be_zero(node: ir.Binary) -> bool:
    """True for a division that must raise where its divisor is 0."""
    if not node.trap or node.op not in ("/", "//", "%"):
        return False
    return not (isinstance(node.rhs, ir.Const) and node.rhs.value != 0)


def exponent_may_be_negative(node: ir.Binary) -> bool:
    """True for an integer power whose exponent may be negative, which NumPy refuses."""
    if node.op != "**" or node.dtype.kind != "i":
        return False
    return not is_never_negative(node.rhs)


_FAULT_SITES: dict[type[ir.Node], Callable[[Any], bool]] = {
    ir.Load: lambda n: n.checked,
    ir.Store: lambda n: n.checked,
    ir.Update: lambda n: n.trap or (n.checked and bool(n.index)),
    ir.Alloc: lambda n: not n.in_frame,
    ir.Fail: lambda _: True,
    ir.BoundsCheck: lambda _: True,
    ir.Call: lambda _: True,
    ir.Binary: lambda n: divisor_may_be_zero(n) or exponent_may_be_negative(n) or traps_overflow(n),
}
"""The condition under which a node of each class can raise."""
