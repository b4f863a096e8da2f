"""Results of callees: numbers, parameters, and new arrays, whose elements an array of the caller's gets.

    def halves(x):                        def halves(x, n, out):
        y = x / 2                             resize(out, len(x)); out[:] = x / 2
        return y                   ->         n[0] = len(out)

    y = halves(x)                         out = empty(0); halves(x, n, out); y = out

The lengths are numbers among the results. An array of one axis is made in `out` from the start (`made_in_place`).
One of several axes has its elements passed in C order, and is copied on both sides, as lists are.

Of an array that may be one of the parameters instead, a number tells which one; the caller has a copy all the same,
and neither may be stored into any more (`phi_storage.py`).

Views of new arrays are copied.

Does not handle: an array that is returned twice; views of arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.allocations import Memory
from appyc.frontend.arrays.tensors import as_tensor, materialise, product
from appyc.frontend.control.phi_storage import Move, copy_in_parallel, new_home, origin_of_copy, root
from appyc.frontend.expressions.arithmetic import const, integer
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
from appyc.ir.blocks import map_blocks
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Binary,
    Compare,
    Expr,
    ForAll,
    Function,
    Load,
    Select,
    Stmt,
    Symbol,
    Var,
)
from appyc.ir.types import ArrayType, Container, DType
from appyc.ir.visit import rename


@dataclass(frozen=True, slots=True)
class NewArray:
    """The type of a new array in a result type. given: the parameters of which it may be one instead."""

    kind: ArrayType
    given: tuple[int, ...] = ()


def with_copied_views(scope: Scope, value: Value, loc: Loc) -> Value:
    """The value with copies of views of arrays that the callee has made, and that nothing else has a name for."""
    arrays = [root(part) for part in _arrays_of(value)]

    def copied(part: Value) -> Value:
        array = root(part) if isinstance(part, ArrayRef | Tensor) else None
        if array is None:
            return with_parts(part, copied)
        is_view = isinstance(part, Tensor) or bool(part.index)  # type: ignore[union-attr]
        if not is_view or arrays.count(array) > 1 or not scope.memory.origins(array) <= scope.memory.made:
            return part
        return materialise(scope, as_tensor(scope, part, loc), "result", loc)

    return copied(value)


def new_arrays(value: Value, memory: Memory, params: Sequence[Symbol]) -> list[ArrayRef]:
    """The arrays in a returned value that the callee makes, on some path at least, in order; none if two of them may be
    one."""
    arrays = (array for array in _arrays_of(value) if isinstance(array, ArrayRef))
    found = [array for array in arrays if _is_new(array, memory, params)]
    origins = [memory.origins(array.symbol) for array in found]
    return found if sum(map(len, origins)) == len(frozenset().union(*origins)) else []


def _arrays_of(value: Value) -> Iterator[ArrayRef | Tensor]:
    if isinstance(value, ArrayRef | Tensor):
        yield value
    for part in parts_of(value):
        yield from _arrays_of(part)


def _is_new(array: ArrayRef, memory: Memory, params: Sequence[Symbol]) -> bool:
    """Whether an array is the callee's own, or phi storage that may stand for parameters."""
    origins = memory.origins(array.symbol)
    is_own = array.symbol in memory.made and origins <= memory.made | {*params}
    return is_own and not array.index and not origins & memory.seen


def _may_be_given(array: ArrayRef, memory: Memory) -> bool:
    return not memory.origins(array.symbol) <= memory.made


def with_lengths(
    value: Value, arrays: Sequence[ArrayRef], memory: Memory, params: Sequence[Symbol], loc: Loc
) -> Value:
    """The value with lengths instead of these arrays, behind the number of the parameter that one may be."""
    if isinstance(value, ArrayRef) and value in arrays:
        which = (_which(value, memory, params, loc),) if _may_be_given(value, memory) else ()
        return TupleValue(tuple(Number(n, python=True) for n in (*which, *value.extents(loc))))
    return with_parts(value, lambda part: with_lengths(part, arrays, memory, params, loc))


def _which(array: ArrayRef, memory: Memory, params: Sequence[Symbol], loc: Loc) -> Expr:
    """The number of the parameter that an array is, from 1 on; 0 for a new one."""
    origin = Var(memory.homes[array.symbol], loc=loc)
    which: Expr = integer(0, loc)
    for number, symbol in enumerate(memory.outside, 1):
        is_it = Compare("==", origin, integer(number, loc), loc=loc)
        which = Select(is_it, integer(params.index(symbol) + 1, loc), which, loc=loc)
    return which


def put_elements(scope: Scope, array: ArrayRef, out: Symbol, loc: Loc) -> list[Stmt]:
    """The statements at a callee's end that put an array's elements into an array of its caller's."""
    extents = array.extents(loc)
    with scope.collect() as block:
        count = scope.temp("count", product(extents, loc))
        scope.emit(Alloc(out, (count,), zero=False, kept=integer(0, loc), loc=loc))
        axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in extents)
        index = tuple(Var(axis, loc=loc) for axis in axes)
        element = Load(array.symbol, index, checked=False, loc=loc)
        at = (_position(index, extents, loc),)
        scope.emit(ForAll(axes, extents, out, at, element, checked=False, loc=loc))
    return block


def is_vector(kind: ArrayType) -> bool:
    """Whether an array of this type may be made where the caller has it."""
    return kind.ndim == 1 and kind.container is Container.ARRAY


def made_in_place(scope: Scope, callee: Function, outs: Mapping[Symbol, Symbol]) -> Function:
    """The callee with arrays of its caller's, which it resizes, instead of its own. outs: these, by array."""

    def rule(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(s for stmt in block for s in _resizing(scope, map_blocks(stmt, rule), outs))

    body = rule(callee.body)
    return rename(replace(callee, body=body), dict(outs))


def _resizing(scope: Scope, stmt: Stmt, outs: Mapping[Symbol, Symbol]) -> list[Stmt]:
    """A statement, with a resize instead of an allocation of one of these arrays."""
    if not isinstance(stmt, Alloc) or stmt.array not in outs:
        return [stmt]
    loc = stmt.loc
    resize = replace(stmt, zero=False, in_frame=False, kept=integer(0, loc))
    if not stmt.zero:
        return [resize]
    axis, zero = scope.supply.fresh("i", DType.INT64), const(0, stmt.array.dtype, loc)
    fill = ForAll((axis,), stmt.shape, stmt.array, (Var(axis, loc=loc),), zero, checked=False, loc=loc)
    return [resize, fill]


def _taken(
    scope: Scope,
    out: Symbol,
    type_: NewArray,
    numbers: Iterator[Number],
    arguments: Sequence[Value],
    loc: Loc,
) -> ArrayRef:
    """The caller's array of the elements that a callee has given."""
    which = [number.expr for number in islice(numbers, len(type_.given) > 0)]
    lengths = tuple(number.expr for number in islice(numbers, type_.kind.ndim))
    if not which and is_vector(type_.kind):
        scope.memory.made.add(out)
        return ArrayRef(out, shape=lengths)
    axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in lengths)
    at = _position(tuple(Var(axis, loc=loc) for axis in axes), lengths, loc)
    tensor = Tensor(axes, lengths, Load(out, (at,), checked=False, loc=loc), python=type_.kind.is_list)
    if not which:
        return materialise(scope, tensor, "result", loc, type_.kind.container)
    home = new_home(scope, "result", tensor.element.dtype, tensor.ndim, loc)
    copy_in_parallel(scope, [Move("result", home, tensor)], loc, first=True)
    origin: Expr = integer(0, loc)
    for number in type_.given:
        is_it, argument = Compare("==", which[0], integer(number + 1, loc), loc=loc), arguments[number]
        assert isinstance(argument, ArrayRef | Tensor), "what is copied into phi storage is an array"
        origin = Select(is_it, origin_of_copy(scope, home, argument, loc), origin, loc=loc)
    scope.emit(Assign(scope.memory.homes[home.symbol], origin, loc=loc))
    return home


def _position(index: Sequence[Expr], extents: Sequence[Expr], loc: Loc) -> Expr:
    """The position of an element in C order."""
    out = index[0]
    for at, extent in zip(index[1:], extents[1:], strict=True):
        out = Binary("+", Binary("*", out, extent, loc=loc), at, loc=loc)
    return out


def _type_of(array: ArrayRef, memory: Memory, params: Sequence[Symbol]) -> NewArray:
    """The type of an array that a callee makes."""
    made = array.symbol.array
    kind = replace(ArrayType(made.dtype, made.ndim), container=made.container)
    given = [params.index(symbol) for symbol in memory.outside] if _may_be_given(array, memory) else ()
    return NewArray(kind, tuple(sorted(given)))


def result_shape(
    value: Value,
    params: Sequence[Symbol],
    new: Sequence[ArrayRef],
    memory: Memory,
    name: str,
    loc: Loc,
) -> Shape:
    """The type of a returned value, in which these arrays are new. Raises UnsupportedError for values that a callee
    cannot return."""
    match value:
        case Number():
            return value.type
        case ArrayRef(symbol=symbol, index=()) if symbol in params:
            return params.index(symbol)
        case ArrayRef() if value in new:
            return _type_of(value, memory, params)
        case Opaque(obj=None) | TupleValue() | DictValue() | MaybeNone() | TupleRow():
            return with_parts(value, lambda part: result_shape(part, params, new, memory, name, loc))
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
        case NewArray(kind, given):
            return [PY_INT] * (kind.ndim + bool(given))
        case _:
            return [t for part in parts_of(shape) for t in numbers_in(part)]


def arrays_in(shape: Shape) -> list[NewArray]:
    """The types of the new arrays in a result type, in order."""
    if isinstance(shape, NewArray):
        return [shape]
    return [type_ for part in parts_of(shape) for type_ in arrays_in(part)]


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
        case NewArray():
            return _taken(scope, next(outs), shape, numbers, parameters, loc)
        case int(number):
            return parameters[number]
        case _:
            return with_parts(shape, lambda part: built(scope, part, numbers, outs, parameters, loc))
