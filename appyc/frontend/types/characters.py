"""Characters and texts among the values of the front end.

A character is a `Number` of the type CHARACTER: its code point, or -1 for the empty text. A text is an array with one
axis, or a list that grows, whose elements have the type TEXT; or an `Opaque`, where the program has it written out.
A list of characters has items of the type CHARACTER. Where the front end ends, all of these are int32.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.types.values import (
    ArrayRef,
    Binding,
    ListSlots,
    Number,
    Opaque,
    ReturnedList,
    Tensor,
    TupleValue,
    Value,
    dtype_of,
)
from appyc.ir import nodes as ir
from appyc.ir.types import ArrayType, Container, DType, ScalarType
from appyc.ir.visit import children, rename, rewrite, symbols_of
from appyc.ir.visit import walk as ir_walk

HINT = "characters are compared, tested, given to ord and int, put into lists, sets and dicts, and returned"


def refused_text(loc: Loc) -> UnsupportedError:
    return UnsupportedError("this use of a text is not compiled", loc, HINT)


def is_character(value: Value | Binding | None) -> TypeGuard[Number]:
    return isinstance(value, Number) and value.expr.dtype.kind == "s"


def is_text(value: Value | Binding | None) -> TypeGuard[ArrayRef | Tensor | ListSlots]:
    """Whether a value is a text that the program has not written out, of any length."""
    match value:
        case ArrayRef() | Tensor():
            return value.ndim == 1 and dtype_of(value) is DType.TEXT
        case ListSlots():
            return value.kinds[0].dtype is DType.TEXT
        case _:
            return False


def is_returned_text(value: Value) -> bool:
    """Whether a part of a returned value is such a text."""
    return is_text(value.slots if isinstance(value, ReturnedList) else value)


def is_written(value: Value | Binding | None) -> TypeGuard[Opaque]:
    return isinstance(value, Opaque) and isinstance(value.obj, str)


def is_string(value: Value) -> bool:
    """Whether it is a str in Python."""
    return is_text(value) or is_character(value) or is_written(value)


def as_character(value: Value, loc: Loc) -> Value:
    """One character that is written out, or an empty text, as others are described; other values as they are."""
    if is_written(value) and len(text := str(value.obj)) < 2:
        return Number(ir.Const(ord(text) if text else -1, DType.CHARACTER, loc=loc), python=True)
    return value


def sequence(value: Value, loc: Loc) -> Value:
    """A text, or bytes, that are written out as the tuple of their items; another value as it is."""
    match value:
        case Opaque(obj=str(text)):
            return TupleValue(tuple(as_character(Opaque(c), loc) for c in text))
        case Opaque(obj=bytes(numbers)):
            return TupleValue(tuple(Number(ir.Const(n, DType.INT64, loc=loc), python=True) for n in numbers))
        case _:
            return value


def recast(expr: ir.Expr, dtype: DType) -> ir.Expr:
    """A character as its code point, or the other way round."""
    return (
        ir.Const(expr.value, dtype, loc=expr.loc)
        if isinstance(expr, ir.Const)
        else ir.Cast(expr, dtype, loc=expr.loc)
    )


def cast_character(expr: ir.Expr, dtype: DType) -> ir.Expr:
    """A character as an element of a text, or the other way round. Raises UnsupportedError for what is a number."""
    is_nothing = isinstance(expr, ir.Const) and not expr.value  # what stands where nothing is read
    if expr.dtype.kind != dtype.kind and not is_nothing:
        raise refused_text(expr.loc)
    return recast(expr, dtype)


def without_characters(function: ir.Function) -> ir.Function:
    """The function, to which characters are numbers."""
    for node in ir_walk(function):
        if isinstance(node, ir.Unary | ir.Binary | ir.Intrinsic | ir.Reduce) and not _keeps_characters(node):
            raise refused_text(node.loc)
    new = {s: _numbered(s, s in function.params) for s in symbols_of(function) if s.dtype.kind == "s"}

    def rule(node: ir.Node) -> ir.Node:
        match node:
            case ir.Const(dtype=dtype) if dtype.kind == "s":
                return replace(node, dtype=DType.INT32)
            case ir.Load(array=array) if array in given:
                return ir.Cast(node, DType.INT32, loc=node.loc)
            case ir.Cast(arg=arg, dtype=dtype):
                dtype = DType.INT32 if dtype.kind == "s" else dtype
                return arg if arg.dtype is dtype else replace(node, dtype=dtype)
            case _:
                return node

    given = {new[s] for s in function.params if s in new and s.is_array}
    callees = tuple(replace(c, function=without_characters(c.function)) for c in function.callees)
    return replace(rewrite(rename(function, new), rule), callees=callees)


def _keeps_characters(node: ir.Unary | ir.Binary | ir.Intrinsic | ir.Reduce) -> bool:
    """Whether an operation has no characters for operands, or gives one of them."""
    is_choice = isinstance(node, ir.Binary | ir.Reduce) and node.op in ("min", "max")
    return is_choice or not any(isinstance(n, ir.Expr) and n.dtype.kind == "s" for n in children(node))


def _numbered(symbol: ir.Symbol, is_given: bool) -> ir.Symbol:
    if not isinstance(symbol.type, ArrayType):
        return replace(symbol, type=ScalarType(DType.INT32))
    if is_given and symbol.type.container is Container.TEXT:
        return replace(symbol, type=replace(symbol.type, dtype=DType.UINT32))
    container = Container.LIST if symbol.type.is_list else symbol.type.container
    return replace(symbol, type=replace(symbol.type, dtype=DType.INT32, container=container))
