"""Calls of functions that the library has as text (`appyc/library/`): the text is inlined at the call."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from types import FunctionType

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays.array_creation import allocate, loops_over, shape_from
from appyc.frontend.arrays.masks import packed
from appyc.frontend.arrays.tensors import as_tensor, as_value, broadcast, numbers_of_elements, product
from appyc.frontend.expressions.arithmetic import cast
from appyc.frontend.expressions.inlining import called_with, inlined
from appyc.frontend.expressions.left_calls import leave_large, leave_unless
from appyc.frontend.expressions.local_functions import LocalFunction
from appyc.frontend.library.axis_arguments import Arguments, Entry
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import dtype_named, promoted
from appyc.frontend.types.values import Masked, Number, Opaque, Tensor, TupleValue, Value
from appyc.ir.block_values import is_short, values_behind
from appyc.ir.nodes import Const, Expr, Stmt, Store, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import substitute
from appyc.library.table import ANY, METHODS, Text, text_of

_LARGEST = 200
"""The most nodes of an element that is one expression; a larger one is computed by statements in a loop."""

OfNumbers = Callable[[list[Number]], Value]


def method(name: str) -> Entry | None:
    """The entry of an array method that has a library text; None for others."""
    return entry_of(METHODS[name]) if name in METHODS else None


def of_number(scope: Scope, function: object, number: Value, loc: Loc) -> Value:
    """The value of a method of Python's numbers that is library text: a number of Python's own."""
    text = text_of(function)
    assert text is not None, "the caller has asked"
    (parameter,), lower = entry_of(text)
    found = lower(scope, {parameter: number}, loc)
    assert isinstance(found, Number), "such a text is about one number"
    return Number(found.expr, python=True)


_OF_LISTS = "list | np.ndarray"


def takes_lists(text: Text) -> bool:
    """Whether a text takes lists as they are, by the annotation of its first parameter."""
    first, *_ = inspect.signature(text.function).parameters.values()
    return str(first.annotation) == _OF_LISTS


@cache
def entry_of(text: Text, function: object = None) -> Entry:
    """The parameters of the text of a function, and what inlines it."""
    parameters = inspect.signature(text.function).parameters

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        if text.in_loops:
            _test_in_loop(scope, function, next(iter(given.values())), text, loc)
        arguments = {n: given.get(n) or _default(scope, p, text, loc) for n, p in parameters.items()}
        for name, value in arguments.items():
            if isinstance(value, Masked):
                arguments[name] = packed(scope, value, loc)
            elif isinstance(value, TupleValue) and parameters[name].annotation in ("np.ndarray", _OF_LISTS):
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
            kinds = _in_floats(function, numbers, loc) if text.floats else numbers
            return inlined(scope, text.function, dict(zip(varied, kinds, strict=True)) | rest, loc)

        return per_element(scope, call, [arguments[n] for n in varied], loc)

    starred = inspect.Parameter.VAR_POSITIONAL
    return tuple(f"*{n}" if p.kind is starred else n for n, p in parameters.items()), make


def _test_in_loop(scope: Scope, function: object, array: Value, text: Text, loc: Loc) -> None:
    """Raises UnsupportedError where a call is the library's; emits the test that the array has few elements.

    A loop with a pragma is to be compiled, and in a nest of loops an array of unknown size is likely to be small.
    """
    if text.on_cpu and scope.callees.known.may_call:
        return
    count = product(as_tensor(scope, array, loc).extents, loc)
    is_callee = scope.calls[0] is None
    depth = len(scope.loops) + (scope.in_loop or is_callee)
    asked = any(frame.asked for frame in scope.loops)
    most = text.in_loops if depth or not scope.is_inlined else text.inlined
    is_few = isinstance(count, Const) and int(count.value.real) <= most
    least = scope.names.environment.texts_from
    in_loops = (depth > 0 or (scope.is_inlined and most > 0)) and (
        asked or most == ANY or leave_large(scope, count, most, loc) or depth != 1
    )
    is_ours = is_few or in_loops or (text.in_loops == ANY and depth >= least)
    if least == math.inf or not is_ours:
        name = f"{getattr(function, '__module__', '')}.{getattr(function, '__name__', '')}"
        what = "the method" if function is None else name.replace("numpy", "np", 1)
        raise UnsupportedError(f"{what} is left to the library here", loc)


def _default(scope: Scope, parameter: inspect.Parameter, text: Text, loc: Loc) -> Value:
    if parameter.kind is parameter.VAR_POSITIONAL:
        return TupleValue(())
    if parameter.default is parameter.empty:
        raise TypeInferenceError(
            f"{text.function.__name__}() missing a required argument: {parameter.name!r}", loc
        )
    return scope.names.constant(parameter.default, None, loc)


def _in_floats(function: object, numbers: list[Number], loc: Loc) -> list[Number]:
    """The numbers in the float types that a library's function computes with. Raises UnsupportedError for others."""
    if isinstance(function, np.ufunc):
        weak = {"i": int, "u": int, "f": float, "c": complex}
        given = (weak.get(n.type.dtype.kind) if n.python else None for n in numbers)
        types = [own or n.type.dtype.numpy for own, n in zip(given, numbers, strict=True)]
        try:
            found = function.resolve_dtypes((*types, *[None] * function.nout))[: len(numbers)]
        except TypeError as error:
            raise UnsupportedError(str(error), loc) from error
        kinds = [dtype_named(t.name) for t in found]
    else:  # NumPy's functions in Python, which take integers for float64
        kind = promoted(number.type for number in numbers).dtype
        kinds = [DType.FLOAT64 if kind.kind in "biu" else kind] * len(numbers)
        if kind is DType.FLOAT16:
            raise UnsupportedError("this function of float16 is not compiled", loc,
                                   "convert with .astype(np.float32)")  # fmt: skip
    out = [
        Number(cast(n.expr, k), python=False) for n, k in zip(numbers, kinds, strict=True) if k and k.is_float
    ]
    if len(out) < len(numbers):
        raise UnsupportedError("this function is compiled for results of real numbers", loc)
    return out


def per_element(scope: Scope, call: OfNumbers, values: Sequence[Value], loc: Loc) -> Value:
    """The value of `call` for the elements at each index of arrays and numbers, which are broadcast.

    An expression stays one; statements run in loops over the indices, and store into a new array, or one for each
    item of a tuple.
    """
    shape = broadcast(scope, [as_tensor(scope, value, loc, "an operand") for value in values], loc)
    numbers = numbers_of_elements(shape.elements, values)
    return _over(scope, shape.axes, shape.extents, lambda: call(numbers), loc)


def by_index(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """`primitives.by_index`."""
    extents = shape_from(scope, given["shape"], loc)
    axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in extents)
    at = TupleValue(tuple(Number(Var(axis, loc=loc), python=True) for axis in axes))
    scope.fixed |= set(axes)
    return _over(
        scope, axes, extents, lambda: called_with(scope, _function(given["element"]), [at], loc), loc
    )


def _over(
    scope: Scope, axes: Sequence[Symbol], extents: Sequence[Expr], element: Callable[[], Value], loc: Loc
) -> Value:
    """The array, or the arrays, of the elements that are lowered for an index of these axes."""
    with scope.collect() as block:
        found = element()
    if not axes:
        scope.block += block
        return _strong(found)
    if isinstance(found, Number) and (expr := _as_expression(found.expr, block)) is not None:
        return as_value(Tensor(tuple(axes), tuple(extents), expr))
    items = found.items if isinstance(found, TupleValue) else (found,)
    index = tuple(Var(axis, loc=loc) for axis in axes)
    made = []
    for item in items:
        if not isinstance(item, Number):
            raise TypeInferenceError("a function of numbers gives an array here", loc)
        made.append(allocate(scope, extents, item.type.dtype, loc, zero=False, name="made"))
        block.append(Store(made[-1].symbol, index, item.expr, checked=False, loc=loc))
    scope.block += loops_over(axes, extents, tuple(block), loc)
    return replace(found, items=tuple(made), table=None) if isinstance(found, TupleValue) else made[0]


def _strong(value: Value) -> Value:
    """The value as NumPy's function gives it: no number is Python's own."""
    if isinstance(value, TupleValue):
        return replace(value, items=tuple(map(_strong, value.items)), table=None)
    return Number(value.expr, python=False) if isinstance(value, Number) else value


def _as_expression(result: Expr, block: list[Stmt]) -> Expr | None:
    """The result with what assignments give its variables; None where there are other statements, or too many."""
    values = values_behind(block, {}, _LARGEST)
    out = substitute(result, values) if values is not None else None
    return out if out is not None and is_short(out, _LARGEST) else None


def _function(value: Value) -> FunctionType | LocalFunction:
    assert isinstance(value, Opaque)
    assert isinstance(value.obj, FunctionType | LocalFunction)
    return value.obj


def each(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """`primitives.each`."""
    fn, arrays = _function(given["function"]), given["arrays"]
    values = arrays.items if isinstance(arrays, TupleValue) else (arrays,)
    return per_element(scope, lambda numbers: called_with(scope, fn, numbers, loc), values, loc)


def as_list(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """`primitives.as_list`."""
    items = given["items"]
    assert isinstance(items, TupleValue)
    return replace(items, made_by="list")


def refuse(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """`primitives.refuse`."""
    message, *hints = (text.obj for text in given.values() if isinstance(text, Opaque))
    raise UnsupportedError(str(message), loc, *map(str, hints))


def left_unless(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """`primitives.left_unless`."""
    condition, why = given["condition"], given["why"]
    assert isinstance(condition, Number)
    assert isinstance(why, Opaque)
    leave_unless(scope, condition.expr, str(why.obj), loc)
    return Opaque(None)
