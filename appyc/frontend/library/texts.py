"""Calls of functions that the library has as text (`appyc/library/`): the text is inlined at the call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays.array_creation import allocate, loops_over
from appyc.frontend.arrays.masks import packed
from appyc.frontend.arrays.tensors import Aligned, as_tensor, as_value, broadcast
from appyc.frontend.expressions.arithmetic import cast
from appyc.frontend.expressions.inlining import called_with, inlined
from appyc.frontend.expressions.local_functions import LocalFunction
from appyc.frontend.library.axis_arguments import Arguments, Entry
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import float_type_of, promoted
from appyc.frontend.types.values import Masked, Number, Opaque, Tensor, TupleValue, Value
from appyc.ir.nodes import Assign, Expr, Stmt, Store, Symbol, Var
from appyc.ir.visit import substitute, walk
from appyc.library.table import METHODS, Text, text_of

_LARGEST = 200
"""The most nodes of an element that is one expression; a larger one is computed by statements in a loop."""

OfNumbers = Callable[[list[Number]], Value]


def method(name: str) -> Entry | None:
    """How a method of arrays is lowered that is text; None for others."""
    return entry_of(METHODS[name]) if name in METHODS else None


def of_number(scope: Scope, function: object, number: Value, loc: Loc) -> Value:
    """The value of a function of one number that is library text."""
    text = text_of(function)
    assert text is not None, "the caller has asked"
    (parameter,), lower = entry_of(text)
    return lower(scope, {parameter: number}, loc)


@cache
def entry_of(text: Text) -> Entry:
    """The parameters of a text, and what inlines it."""
    parameters = inspect.signature(text.function).parameters

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        arguments = {n: given.get(n) or _default(scope, p, text, loc) for n, p in parameters.items()}
        for name, value in arguments.items():
            if isinstance(value, Masked):
                arguments[name] = packed(scope, value, loc)
            elif isinstance(value, TupleValue) and parameters[name].annotation == "np.ndarray":
                arguments[name] = as_tensor(scope, value, loc)
            elif (
                not isinstance(value, TupleValue)
                and parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
            ):
                arguments[name] = TupleValue((value,))
        if not text.elements:
            return inlined(scope, text.function, arguments, loc, trusted=not text.tested)
        varied = list(parameters)[: text.elements]
        rest = {n: v for n, v in arguments.items() if n not in varied}

        def call(numbers: list[Number]) -> Value:
            kinds = _in_floats(numbers, loc) if text.floats else numbers
            return inlined(
                scope, text.function, dict(zip(varied, kinds, strict=True)) | rest, loc, trusted=True
            )

        return per_element(scope, call, [arguments[n] for n in varied], loc)

    starred = inspect.Parameter.VAR_POSITIONAL
    return tuple(f"*{n}" if p.kind is starred else n for n, p in parameters.items()), make


def _default(scope: Scope, parameter: inspect.Parameter, text: Text, loc: Loc) -> Value:
    if parameter.kind is parameter.VAR_POSITIONAL:
        return TupleValue(())
    if parameter.default is parameter.empty:
        raise TypeInferenceError(
            f"{text.function.__name__}() missing a required argument: {parameter.name!r}", loc
        )
    return scope.names.constant(parameter.default, None, loc)


def _in_floats(numbers: list[Number], loc: Loc) -> list[Number]:
    """The numbers in the float type that NumPy computes with. Raises UnsupportedError for others."""
    kind = promoted(number.type for number in numbers)
    kind = float_type_of(kind) if kind is not None else None
    if kind is None or not kind.dtype.is_float:
        raise UnsupportedError("this function is compiled for float32 and float64 results", loc)
    return [Number(cast(n.expr, kind.dtype), python=False) for n in numbers]


def per_element(scope: Scope, call: OfNumbers, values: Sequence[Value], loc: Loc) -> Value:
    """What `call` gives for the elements at each index of arrays and numbers, which are broadcast.

    An expression stays one; statements run in loops over the indices, and store into a new array, or one for each
    item of a tuple.
    """
    shape = broadcast(scope, [as_tensor(scope, value, loc, "an operand") for value in values], loc)
    numbers = [
        Number(element, python=isinstance(value, Number) and value.python)
        for element, value in zip(shape.elements, values, strict=True)
    ]
    with scope.collect() as block:
        found = call(numbers)
    if not shape.axes:
        scope.block += block
        return _strong(found)
    if isinstance(found, Number) and (expr := _as_expression(found.expr, block)) is not None:
        return as_value(Tensor(shape.axes, shape.extents, expr))
    items = found.items if isinstance(found, TupleValue) else (found,)
    made = [_stored(scope, shape, block, item, loc) for item in items]
    scope.block += loops_over(shape.axes, shape.extents, tuple(block), loc)
    return TupleValue(tuple(made), names=found.names) if isinstance(found, TupleValue) else made[0]


def _stored(scope: Scope, shape: Aligned, block: list[Stmt], item: Value, loc: Loc) -> Value:
    """The new array whose elements are the item; the store is added to the block."""
    if not isinstance(item, Number):
        raise TypeInferenceError("a function of numbers gives an array here", loc)
    out = allocate(scope, shape.extents, item.type.dtype, loc, zero=False, name="made")
    index = tuple(Var(axis, loc=loc) for axis in shape.axes)
    block.append(Store(out.symbol, index, item.expr, checked=False, loc=loc))
    return out


def _strong(value: Value) -> Value:
    """The value as NumPy's function gives it: no number is Python's own."""
    if isinstance(value, TupleValue):
        return TupleValue(tuple(map(_strong, value.items)), names=value.names)
    return Number(value.expr, python=False) if isinstance(value, Number) else value


def _as_expression(result: Expr, block: list[Stmt]) -> Expr | None:
    """The result with what assignments give its variables; None where there are other statements, or too many."""
    values: dict[Symbol, Expr] = {}
    for stmt in block:
        if not isinstance(stmt, Assign):
            return None
        values[stmt.target] = substitute(stmt.value, values)
        if sum(1 for _ in walk(values[stmt.target])) > _LARGEST:
            return None
    out = substitute(result, values)
    return out if sum(1 for _ in walk(out)) <= _LARGEST else None


def each(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """`primitives.each`."""
    function, arrays = given["function"], given["arrays"]
    assert isinstance(function, Opaque)
    fn = function.obj
    assert isinstance(fn, FunctionType | LocalFunction)
    values = arrays.items if isinstance(arrays, TupleValue) else (arrays,)
    return per_element(scope, lambda numbers: called_with(scope, fn, numbers, loc), values, loc)


def refuse(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """`primitives.refuse`."""
    message = given["message"]
    assert isinstance(message, Opaque)
    raise UnsupportedError(str(message.obj), loc)
