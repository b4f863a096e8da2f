"""Calls that are left to Python, before they have stored anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from appyc.errors import LARGE, LeftToPython, Loc, UnsupportedError
from appyc.frontend.expressions.arithmetic import cast, integer, truth_of
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import PY_INT
from appyc.frontend.types.values import Number, Slot
from appyc.ir import nodes as ir
from appyc.ir import raising
from appyc.ir.integers import is_within, range_of
from appyc.ir.types import DType
from appyc.ir.visit import arrays_written, contains, substitute, walk

EXACT = 2**53 - 1
"""Up to it a float64 holds each integer, and no other one is rounded to such."""


def leave_unless(scope: Scope, cond: ir.Expr, why: str, loc: Loc) -> None:
    """Emits a guard: where the condition does not hold, the call is left to Python."""
    test = _test(cond, why, loc)
    if _is_of_call(scope, cond):
        scope.tests.append(test)  # before every store
    else:
        scope.block.append(test)


def leave_on_zero(scope: Scope, divisor: ir.Expr, loc: Loc) -> None:
    """Emits such a guard for the divisor of a number that may be Python's own, as a sum over nothing is. It stands
    in no loop, and `settled_calls` removes it behind stores: there the quotient is NumPy's."""
    test = _test(truth_of(divisor), raising.DIVISION, loc)
    if _is_of_call(scope, truth_of(divisor)):
        scope.tests.append(test)
    elif not (scope.in_loop or scope.loops):
        scope.block.append(test)


def leave_without_items(scope: Scope, count: ir.Expr, loc: Loc) -> None:
    """Emits such a guard for an array of a list of ints or tuples, which is a vector of floats where the list has no
    items. `settled_calls` removes it behind stores."""
    leave_unless(scope, truth_of(count), raising.EMPTY, loc)


def leave_beyond_64_bits(scope: Scope, number: Number, loc: Loc) -> Number:
    """Emits such a guard for a float that becomes a Python int: NaN and infinities raise in Python, and large ones are
    ints of more bits. Gives the float. Behind stores, the guard raises (`raising_where_left`)."""
    e = number.expr
    if contains(e, ir.Load) or raising.may_raise(e):
        e = scope.temp("whole", e)
    size = ir.Intrinsic("abs", (e,), e.dtype, loc=loc)
    fits = ir.Compare("<", size, ir.Const(2.0**63, e.dtype, loc=loc), loc=loc)
    word = ir.Intrinsic("float_bits", (cast(e, DType.FLOAT64),), DType.INT64, loc=loc)
    fail = ir.Fail(LeftToPython.__name__, raising.CONVERSION, (word,), ("python float64",), loc=loc)
    scope.block.append(_unless(fits, fail))
    return replace(number, expr=e)


def leave_on_negative_power(scope: Scope, negative: ir.Expr, loc: Loc) -> None:
    """Emits such a guard for a power of Python's ints, which is a float where the exponent is negative."""
    scope.block.append(_test(ir.Unary("~", negative, loc=loc), raising.NEGATIVE_POWER, loc))


def leave_inexact(scope: Scope, numbers: Sequence[Number], joined: Number | Slot, loc: Loc) -> None:
    """Emits such guards for Python ints that are joined with floats, where no float64 may hold them. An int that a loop
    computes becomes the nearest float, and so does one behind stores (`settled_calls` removes the guard)."""
    for e in (n.expr for n in numbers if n.type == PY_INT and joined.type.dtype is DType.FLOAT64):
        if is_within(range_of(e), (-EXACT, EXACT)):
            continue
        ends = (("<=", EXACT), (">=", -EXACT))
        most, least = (ir.Compare(op, e, integer(end, loc), loc=loc) for op, end in ends)
        test = _test(ir.Binary("&", least, most, loc=loc), raising.INEXACT, loc)
        if _is_of_call(scope, e):
            scope.tests.append(test)
        elif not (scope.in_loop or scope.loops or raising.may_raise(e)):
            scope.block.append(test)


def leave_large(scope: Scope, count: ir.Expr, most: int, loc: Loc) -> bool:
    """Emits such a guard for a number of elements, of which the library takes more than `most` faster. False, and no
    guard, where only the loop finds the number. Of a slice this is the length as it is written: `w` of `x[i:i + w]`."""
    usual = substitute(count, scope.memory.usual)
    few = ir.Compare("<=", usual, integer(most, loc), loc=loc)
    is_known = _is_of_call(scope, few)
    if is_known:
        scope.tests.append(_test(few, LARGE, loc))
    return is_known


def _test(cond: ir.Expr, why: str, loc: Loc) -> ir.If:
    return _unless(cond, ir.Fail(LeftToPython.__name__, why, loc=loc))


def _unless(cond: ir.Expr, fail: ir.Fail) -> ir.If:
    return ir.If(ir.Unary("~", ir.Likely(cond, loc=fail.loc), loc=fail.loc), (fail,), loc=fail.loc)


def settled_calls(body: tuple[ir.Stmt, ...], given: frozenset[ir.Symbol]) -> tuple[ir.Stmt, ...]:
    """The statements, of which none leaves the call to Python after a store into one of the given arrays.

    Raises UnsupportedError where one does, and the result depends on it."""
    return _settled(body, frozenset(s for s in given if not (s.is_array and s.array.is_list)), set())


def tests_of_callee(scope: Scope) -> list[ir.Stmt]:
    """The tests of a callee's arguments, which it makes itself; but it takes arrays of any size."""
    return [
        test
        for test in scope.tests
        if not any(isinstance(n, ir.Fail) and n.message == LARGE for n in walk(test))
    ]


def settled_callees(fn: ir.Function) -> ir.Function:
    """The function, whose callees leave the call to Python only if it stores into none of its arrays but lists."""
    given = {s for s in fn.params if s.is_array and not s.array.is_list}
    if not arrays_written(fn.body) & given:
        return fn
    callees = (replace(callee, function=raising.never_left(callee.function)) for callee in fn.callees)
    return replace(fn, callees=tuple(callees))


def _settled(
    body: tuple[ir.Stmt, ...], given: frozenset[ir.Symbol], stored: set[ir.Symbol]
) -> tuple[ir.Stmt, ...]:
    """stored: the given arrays that may have been stored into before, and then behind the statements."""
    out: list[ir.Stmt] = []
    for stmt in body:
        match stmt:
            case ir.If(then=(ir.Fail(error=LeftToPython.__name__, message=why),)) if stored:
                raised = raising.raising_where_left(stmt)
                if raised != stmt:
                    out.append(raised)
                elif why not in raising.DISPENSABLE:
                    raise UnsupportedError(
                        "a name has another type after an iteration of this loop than before it; where there is none, "
                        f"Python would have to run the call, but '{min(s.name for s in stored)}' has been stored into "
                        "by then", stmt.loc, "use two names, so that each has one meaning",
                    )  # fmt: skip
                continue
            case ir.If(then=then, orelse=orelse):
                ends = stored.copy()
                stmt = replace(stmt, then=_settled(then, given, stored), orelse=_settled(orelse, given, ends))
                stored |= ends
            case ir.For(body=inner) | ir.While(body=inner):
                stored |= arrays_written(inner) & given  # an earlier iteration may have stored
                stmt = replace(stmt, body=_settled(inner, given, stored))
            case _:
                stored |= arrays_written(stmt) & given
        out.append(stmt)
    return tuple(out)


def _is_of_call(scope: Scope, cond: ir.Expr) -> bool:
    """Whether the condition depends only on the arguments, through arithmetic that cannot raise."""
    for node in walk(cond):
        match node:
            case ir.Const() | ir.Compare() | ir.Cast() | ir.Unary():
                continue
            case ir.Var(symbol=symbol) if symbol in scope.fixed:
                continue
            case ir.Extent(array=array) if array not in scope.memory.made:
                continue
            case ir.Binary(op="+" | "-" | "*" | "min" | "max"):
                continue
            case _:
                return False
    return True
