"""Operators on values: numbers, arrays, tuples and text."""

from __future__ import annotations

import ast

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays import tensors
from appyc.frontend.control.conditionals import lower_condition
from appyc.frontend.expressions import arithmetic, made_objects, selections, strings
from appyc.frontend.expressions.expressions import lower_operands, number
from appyc.frontend.expressions.inlining import inlined
from appyc.frontend.expressions.left_calls import leave_on_negative_power, leave_on_zero
from appyc.frontend.expressions.lists import described
from appyc.frontend.library.array_reductions import reduce_array
from appyc.frontend.library.linear_algebra import matmul
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import is_list, tuple_in_place
from appyc.frontend.types.numbers import PY_BOOL, PY_INT, PartedTypesError
from appyc.frontend.types.values import ListSlots, Number, Opaque, TupleRow, TupleValue, Value, is_listed
from appyc.frontend.types.weak_ints import refuse_unfit
from appyc.frontend.types.wide_ints import wide_operation, wide_sign
from appyc.ir.integers import is_within, range_of
from appyc.ir.types import DType
from appyc.library.list_lookups import joined

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip


def binary_symbol(op: ast.operator) -> str:
    """The IR's name of an operator."""
    return _BINARY[type(op)]


def lower_binary(scope: Scope, left: ast.expr, op: ast.operator, right: ast.expr, loc: Loc) -> Value:
    symbol = binary_symbol(op)
    if symbol == "+" and is_list(left) + is_list(right) < 2 and (_makes_list(left) or _makes_list(right)):
        return _joined(scope, left, right, loc)
    a, b = lower_operands(scope, [left, right])
    if (text := strings.operation(scope, symbol, a, b, loc)) is not None:
        return text
    if symbol == "+" and _is_list_value(a) and _is_list_value(b):
        return inlined(scope, joined, {"a": a, "b": b}, loc)
    if symbol == "+" and isinstance(a, TupleValue) and isinstance(b, TupleValue):
        return TupleValue(a.items + b.items)
    if symbol == "*" and (repeated := _repeated(a, b) or _repeated(b, a)) is not None:
        return repeated
    if (of_objects := made_objects.operation(scope, symbol, a, b, loc)) is not None:
        return of_objects
    if tensors.is_array(a) or tensors.is_array(b):
        return array_operation(scope, symbol, a, b, loc)
    refuse_text(symbol, a, b, loc)
    return scalar_operation(scope, symbol, (a, scope.loc(left)), (b, scope.loc(right)), loc)


def _makes_list(node: ast.expr) -> bool:
    return is_list(node) or isinstance(node, ast.ListComp)


def _joined(scope: Scope, left: ast.expr, right: ast.expr, loc: Loc) -> Value:
    """The sum of two lists of which one, or both, are written out or comprehensions: `xs + [x, y]`."""
    a, b = lower_operands(scope, [left, right], _lowered_list)
    if not all(is_list(node) or _is_list_value(value) for node, value in ((left, a), (right, b))):
        raise UnsupportedError("a list cannot be compiled", loc, "use a tuple or an array")
    return inlined(scope, joined, {"a": a, "b": b}, loc)


def _lowered_list(scope: Scope, node: ast.expr) -> Value:
    """The value of an operand; of a list that is written out, its items as a tuple."""
    if isinstance(node, ast.ListComp):
        return described(scope, node, scope.loc(node))
    return scope.lower(tuple_in_place(node) if is_list(node) else node)


def _is_list_value(value: Value) -> bool:
    return isinstance(value, ListSlots | TupleRow) or (is_listed(value) and value.ndim == 1)


def scalar_operation(
    scope: Scope, symbol: str, one: tuple[Value, Loc], other: tuple[Value, Loc], loc: Loc
) -> Value:
    """`one op other` of operands that are not arrays, each with its source location."""
    if (wide := wide_operation(symbol, one[0], other[0], loc)) is not None:
        return wide
    return number_operation(scope, symbol, number(*one), number(*other), loc)


def number_operation(scope: Scope, symbol: str, a: Number, b: Number, loc: Loc) -> Number:
    """`a op b` of numbers, with the run-time tests for operand values that NumPy refuses."""
    if symbol != "/":
        refuse_unfit(scope, (a, b), loc)
    if symbol == "**":
        _refuse_negative_powers(scope, a, b, loc)
    if symbol in ("<<", ">>") and a.python and b.python and b.constant is None:
        negative = selections.compare("<", b, arithmetic.python_number(0, loc), loc)
        scope.fail_if(negative.expr, "ValueError", "negative shift count", loc)
    both = _may_be_python(a) and _may_be_python(b) and not (a.python and b.python)
    if both and symbol in ("/", "//", "%") and not b.constant:  # a divisor of 0 raises if both are Python's
        either, divisors = a.either or b.either, b.either.python if b.either is not None else range_of(b.expr)
        in_loop = scope.in_loop or bool(scope.loops)
        if in_loop and either is not None and divisors is not None and is_within((0, 0), divisors):
            raise PartedTypesError(either, loc)
        leave_on_zero(scope, b.expr, loc)
    out = arithmetic.binary(symbol, a, b, loc)
    return arithmetic.untrapped(out) if scope.source.trusted else out


def _may_be_python(a: Number) -> bool:
    return a.python or a.mixed or (a.either is not None and a.either.python is not None)


def _refuse_negative_powers(scope: Scope, base: Value, exponent: Value, loc: Loc) -> None:
    """Emits the test of integer exponents that are not constant; a single negative exponent raises ValueError. A power
    of Python's ints is a float then, and left to Python."""
    if not (tensors.element_type(base).is_integer and tensors.element_type(exponent).kind == "i"):
        return
    if isinstance(exponent, Number) and exponent.constant is not None:
        return
    zero = arithmetic.python_number(0, loc)
    negative = tensors.elementwise(scope, [exponent], lambda n: selections.compare("<", n[0], zero, loc), loc)
    if not isinstance(negative, Number):
        negative = reduce_array(scope, "any", negative, loc)
    assert isinstance(negative, Number), "a reduction over all axes"
    if isinstance(base, Number) and isinstance(exponent, Number) and base.python and exponent.python:
        leave_on_negative_power(scope, negative.expr, loc)
        return
    message = "Integers to negative integer powers are not allowed."
    scope.fail_if(negative.expr, "ValueError", message, loc)


def _repeated(items: Value, times: Value) -> TupleValue | None:
    """A tuple repeated a constant number of times: `(x, y) * 3`; None for other operands."""
    if (
        not isinstance(items, TupleValue)
        or not isinstance(times, Number)
        or not isinstance(times.constant, int)
    ):
        return None
    return TupleValue(items.items * times.constant)


def refuse_text(symbol: str, a: Value, b: Value, loc: Loc) -> None:
    """Raises UnsupportedError for operations whose result is text in Python, such as concatenation."""
    texts = [isinstance(v, Opaque) and isinstance(v.obj, str) for v in (a, b)]
    if (symbol == "+" and all(texts)) or (symbol == "*" and any(texts)) or (symbol == "%" and texts[0]):
        raise UnsupportedError("text cannot be concatenated, repeated or formatted in compiled code", loc,
                               "work with text outside the compiled function")  # fmt: skip


def array_operation(scope: Scope, symbol: str, a: Value, b: Value, loc: Loc) -> Value:
    """`a op b` where at least one operand is an array."""
    tensors.refuse_lists([a, b], loc)
    if isinstance(a, ListSlots) or isinstance(b, ListSlots):
        raise UnsupportedError("this operation on a list is not compiled", loc, "np.array(x) is an array")
    if symbol == "@":
        return matmul(scope, {"a": a, "b": b}, loc)

    if symbol != "/":
        refuse_unfit(scope, (a, b), loc)
    if symbol == "**":
        _refuse_negative_powers(scope, a, b, loc)

    is_square = (
        symbol == "**" and isinstance(b, Number) and b.python and type(b.constant) is int and b.constant == 2
    )
    is_of_bools = is_square and tensors.element_type(a) is DType.BOOL

    def make(numbers: list[Number]) -> Number:
        if is_of_bools:  # NumPy's square, other than its power of the same exponent
            return Number(arithmetic.cast(numbers[0].expr, DType.INT8), python=False)
        return arithmetic.binary(symbol, numbers[0], numbers[1], loc)

    return tensors.elementwise(scope, [a, b], make, loc)


def lower_unary(scope: Scope, op: ast.unaryop, operand: ast.expr, loc: Loc) -> Value:
    if isinstance(op, ast.Not):
        return arithmetic.logical_not(Number(lower_condition(scope, operand), python=True), loc)
    value = scope.lower(operand)
    tensors.refuse_lists([value], loc)
    if tensors.is_array(value):
        return tensors.elementwise(scope, [value], lambda numbers: _signed(op, numbers[0], loc), loc)
    if isinstance(op, ast.USub) and (of_object := made_objects.negative(scope, value, loc)) is not None:
        return of_object
    symbol = {ast.USub: "-", ast.Invert: "~"}.get(type(op))
    if symbol is not None and (wide := wide_sign(symbol, value, loc)) is not None:
        return wide
    return _signed(op, number(value, scope.loc(operand)), loc)


def _signed(op: ast.unaryop, value: Number, loc: Loc) -> Number:
    match op:
        case ast.USub():
            return arithmetic.negative(value, loc)
        case ast.Invert():
            return arithmetic.invert(value, loc)
        case _:
            return arithmetic.to_type(value, PY_INT) if value.type == PY_BOOL else value
