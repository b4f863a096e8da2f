"""Results of callees: numbers, parameters, and new arrays, whose elements an array of the caller's gets.

    def halves(x):                        def halves(x, n, out):
        y = x / 2                             y = x / 2
        return y                   ->         n[0] = len(y); resize(out, len(y)); out[:] = y

    y = halves(x)                         out = empty(0); halves(x, n, out); y = copy(out[:n[0]])

The lengths are numbers among the results. An array of several axes has its elements passed in C order.

Does not handle: an array that is returned twice; one that may be the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.allocations import Memory
from appyc.frontend.arrays.tensors import materialise, product
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.expressions.callee_facts import Shape
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import PY_INT, NumberType
from appyc.frontend.types.value_parts import parts_of, with_parts
from appyc.frontend.types.values import (
    ArrayRef,
    DictValue,
    MaybeNone,
    Number,
    Opaque,
    Tensor,
    TupleRow,
    TupleValue,
    Value,
)
from appyc.ir.nodes import Alloc, Binary, Expr, ForAll, Load, Stmt, Symbol, Var
from appyc.ir.types import ArrayType, DType


@dataclass(frozen=True, slots=True)
class NewArray:
    """The type of a new array in a result type."""

    kind: ArrayType


def new_arrays(value: Value, memory: Memory) -> list[ArrayRef]:
    """The arrays in a returned value that the callee has made, in order; none if two of them may be one."""
    found = [array for array in _arrays_of(value) if _is_new(array, memory)]
    origins = [memory.origins(array.symbol) for array in found]
    return found if sum(map(len, origins)) == len(frozenset().union(*origins)) else []


def _arrays_of(value: Value) -> Iterator[ArrayRef]:
    if isinstance(value, ArrayRef):
        yield value
    for part in parts_of(value):
        yield from _arrays_of(part)


def _is_new(array: ArrayRef, memory: Memory) -> bool:
    """Whether an array is the callee's own, whose names end with it."""
    origins = memory.origins(array.symbol)
    return not array.index and origins <= memory.made and not origins & memory.seen


def with_lengths(value: Value, arrays: Sequence[ArrayRef], loc: Loc) -> Value:
    """The value with the lengths of these arrays in their place."""
    if isinstance(value, ArrayRef) and value in arrays:
        return TupleValue(tuple(Number(n, python=True) for n in value.extents(loc)))
    return with_parts(value, lambda part: with_lengths(part, arrays, loc))


def put_elements(scope: Scope, array: ArrayRef, out: Symbol, loc: Loc) -> list[Stmt]:
    """The statements at a callee's end that put an array's elements into an array of its caller's."""
    extents = array.extents(loc)
    with scope.collect() as block:
        count = scope.temp("count", product(extents, loc))
        scope.emit(Alloc(out, (count,), zero=False, kept=integer(0, loc), loc=loc))
        axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in extents)
        index = tuple(Var(axis, loc=loc) for axis in axes)
        element = Load(array.symbol, index, checked=False, loc=loc)
        scope.emit(ForAll(axes, extents, out, (_position(index, extents, loc),), element, loc=loc))
    return block


def _taken(scope: Scope, out: Symbol, kind: ArrayType, lengths: tuple[Expr, ...], loc: Loc) -> ArrayRef:
    """The caller's array of the elements that a callee has given."""
    axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in lengths)
    at = _position(tuple(Var(axis, loc=loc) for axis in axes), lengths, loc)
    tensor = Tensor(axes, lengths, Load(out, (at,), checked=False, loc=loc), python=kind.is_list)
    return materialise(scope, tensor, "result", loc, kind.container)


def _position(index: Sequence[Expr], extents: Sequence[Expr], loc: Loc) -> Expr:
    """The position of an element in C order."""
    out = index[0]
    for at, extent in zip(index[1:], extents[1:], strict=True):
        out = Binary("+", Binary("*", out, extent, loc=loc), at, loc=loc)
    return out


def _kind_of(array: ArrayRef) -> NewArray:
    """The type of a new array that a callee returns."""
    made = array.symbol.array
    return NewArray(replace(ArrayType(made.dtype, made.ndim), container=made.container))


def result_shape(
    value: Value, params: Sequence[Symbol], new: Sequence[ArrayRef], name: str, loc: Loc
) -> Shape:
    """The type of a returned value, in which these arrays are new. Raises UnsupportedError for values that a callee
    cannot return."""
    match value:
        case Number():
            return value.type
        case ArrayRef(symbol=symbol, index=()) if symbol in params:
            return params.index(symbol)
        case ArrayRef() if value in new:
            return _kind_of(value)
        case Opaque(obj=None) | TupleValue() | DictValue() | MaybeNone() | TupleRow():
            return with_parts(value, lambda part: result_shape(part, params, new, name, loc))
        case _:
            raise UnsupportedError(
                f"{name} is recursive and returns {describe(value)}, which cannot be compiled", loc,
                "return numbers and new arrays: x.copy() of an argument, or of a view",
            )  # fmt: skip


def numbers_in(shape: Shape) -> list[NumberType]:
    """The types of the numbers in a result type, in order; an array has its lengths."""
    match shape:
        case NumberType():
            return [shape]
        case NewArray(kind):
            return [PY_INT] * kind.ndim
        case _:
            return [t for part in parts_of(shape) for t in numbers_in(part)]


def arrays_in(shape: Shape) -> list[ArrayType]:
    """The types of the new arrays in a result type, in order."""
    if isinstance(shape, NewArray):
        return [shape.kind]
    return [kind for part in parts_of(shape) for kind in arrays_in(part)]


def built(
    scope: Scope,
    shape: Shape,
    numbers: Iterator[Number],
    outs: Iterator[Symbol],
    parameters: Sequence[Value],
    loc: Loc,
) -> Value:
    """The value of a result type, built from these numbers, and from the elements of the arrays `outs`. parameters: the
    values of those."""
    match shape:
        case NumberType():
            return next(numbers)
        case NewArray(kind):
            lengths = tuple(number.expr for number in islice(numbers, kind.ndim))
            return _taken(scope, next(outs), kind, lengths, loc)
        case int(number):
            return parameters[number]
        case _:
            return with_parts(shape, lambda part: built(scope, part, numbers, outs, parameters, loc))
