"""Returns of different arrays, or of an array or None: what is returned is the number of one of them."""

from __future__ import annotations

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.control.conditionals import chosen_array
from appyc.frontend.expressions.arithmetic import const
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ArrayRef, ReturnedChoice, Value, with_parts
from appyc.ir.nodes import Alloc, Assign, Compare, Const, Stmt, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import statements

NONE = -1
"""The number that stands for None among the arrays that a function's returns choose from."""


def options_of(scope: Scope, choice: ReturnedChoice) -> list[Symbol]:
    """The arrays that a returned value may be, indexed by their numbers.

    Loops are lowered repeatedly until their types reach a fixed point. An array of an earlier round is no
    option any more; a valid one stands at its index.
    """
    numbers = _numbers_of(scope, choice) - {NONE}
    options = scope.options[choice.leaf]
    return [option if k in numbers else options[min(numbers)] for k, option in enumerate(options)]


def may_choose_none(scope: Scope, choice: ReturnedChoice) -> bool:
    """Whether None is one of the options of a returned value."""
    return NONE in _numbers_of(scope, choice)


def _numbers_of(scope: Scope, choice: ReturnedChoice) -> set[int]:
    assert isinstance(choice.which.expr, Var), "the function's returns have one number"
    slot = choice.which.expr.symbol
    return {
        int(stmt.value.value.real)
        for stmt in statements(scope.block)
        if isinstance(stmt, Assign) and stmt.target == slot and isinstance(stmt.value, Const)
    }


def without_elements(scope: Scope, loc: Loc) -> list[Stmt]:
    """Empty allocations of the arrays that only some paths allocate and return, for the other paths."""
    if not scope.options:
        return []
    always = {stmt.array for stmt in scope.block if isinstance(stmt, Alloc)}
    made = {stmt.array for stmt in statements(scope.block) if isinstance(stmt, Alloc)}
    options = dict.fromkeys(symbol for symbols in scope.options.values() for symbol in symbols)
    late = [symbol for symbol in options if symbol in made - always]
    zero = const(0, DType.INT64, loc)
    return [Alloc(symbol, (zero,) * symbol.array.ndim, zero=False, loc=loc) for symbol in late]


def with_chosen_arrays(caller: Scope, callee: Scope, value: Value, loc: Loc) -> Value:
    """The value of an inlined function in its caller; a choice among arrays becomes one array."""
    match value:
        case ReturnedChoice():
            if may_choose_none(callee, value):
                raise UnsupportedError(
                    "a function that returns an array or None cannot be built into another one", loc,
                    hints=("return an array without elements instead of None",),
                )  # fmt: skip
            options = [ArrayRef(symbol) for symbol in options_of(callee, value)]
            out: Value = options[-1]
            for number, option in reversed(list(enumerate(options[:-1]))):
                is_it = Compare("==", value.which.expr, const(number, DType.INT64, loc), loc=loc)
                out = chosen_array(caller, is_it, ((option, []), (out, [])), loc)
            return out
        case _:
            return with_parts(value, lambda part: with_chosen_arrays(caller, callee, part, loc))
