"""Operations of str on texts and characters (`types/characters.py`)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays.item_counts import length_of
from appyc.frontend.arrays.tensors import as_tensor, materialise, renamed
from appyc.frontend.expressions import arithmetic, expressions, list_storage, selections
from appyc.frontend.expressions.arithmetic import cast, integer, python_number
from appyc.frontend.expressions.indexed_tuples import table_of_constants
from appyc.frontend.expressions.inlining import called_with
from appyc.frontend.expressions.left_calls import leave_unless
from appyc.frontend.scope import Scope
from appyc.frontend.types.characters import (
    as_character,
    is_character,
    is_string,
    is_text,
    is_written,
    recast,
    refused_text,
    sequence,
)
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import NumberType
from appyc.frontend.types.values import ArrayRef, ListSlots, Number, Tensor, TupleValue, Value
from appyc.ir import nodes as ir
from appyc.ir.types import Container, DType
from appyc.ir.visit import arrays_read, substitute
from appyc.library import code_points, numerals
from appyc.library.list_lookups import equal

_TEXT = NumberType(DType.TEXT, python=True)
_NUMERALS: dict[object, Callable[..., object]] = {
    str: numerals.decimal, bin: numerals.binary, oct: numerals.octal, hex: numerals.hexadecimal,
}  # fmt: skip
FUNCTIONS: tuple[object, ...] = (*_NUMERALS, int, chr, ord)
"""Functions of Python that take or give texts."""


def described(scope: Scope, value: Value, loc: Loc) -> Tensor:
    """A text, or a character, as its elements."""
    if not is_written(value) and not is_character(value):
        return as_tensor(scope, value, loc)
    axis = scope.supply.fresh("i", DType.INT64)
    items = sequence(value, loc)
    if isinstance(items, TupleValue) and len(items.items) > 1:
        table: Any = table_of_constants(scope, items.items, loc)
        element = cast(ir.Load(table.array, (ir.Var(axis, loc=loc),), checked=False, loc=loc), DType.TEXT)
        return Tensor((axis,), (integer(len(items.items), loc),), element, python=True)
    one = expressions.number(as_character(value, loc), loc).expr
    one = one if isinstance(one, ir.Const) else scope.temp("character", one)
    return Tensor((axis,), (_length(scope, one, loc),), cast(one, DType.TEXT), python=True)


def _length(scope: Scope, one: ir.Expr, loc: Loc) -> ir.Expr:
    if isinstance(one, ir.Const) or not may_be_empty(scope, one):
        return integer(int(one != ir.Const(-1, DType.CHARACTER, loc=one.loc)), loc)
    return cast(arithmetic.truth_of(one), DType.INT64)


def may_be_empty(scope: Scope, one: ir.Expr) -> bool:
    """Whether a character may be an empty text."""
    match one:
        case ir.Const(value=code):
            return code == -1
        case ir.Cast(arg=ir.Load(array=array)) if array.dtype is DType.TEXT:
            return False
        case _:
            return scope.callees.known.has_empty


def held(scope: Scope, value: Value, loc: Loc) -> Value:
    """A text as it is now, in an array of its own."""
    return materialise(scope, described(scope, value, loc), "text", loc)


# ---------------------------------------------------------------- texts that are made


def as_text(scope: Scope, given: dict[str, Value], loc: Loc) -> Value:
    """`primitives.as_text`."""
    items = as_tensor(scope, given["items"], loc)
    return replace(items, element=recast(items.element, DType.TEXT), python=True)


def joined(scope: Scope, parts: Sequence[Value], loc: Loc) -> Value:
    """The text of these, one behind the other."""
    texts = [described(scope, part, loc) for part in parts]
    lengths = [scope.unchanging(text.extents[0]) for text in texts]
    firsts: list[ir.Expr] = [integer(0, loc)]
    for length in lengths:
        firsts.append(_sum(firsts[-1], length, loc))
    total = scope.unchanging(firsts[-1])
    array = scope.new_array("text", DType.TEXT, [total], loc, Container.TEXT)
    for text, first, length in zip(texts, firsts, lengths, strict=False):
        _put(scope, array, first, text, length, loc)
    return ArrayRef(array, shape=(total,))


def _sum(a: ir.Expr, b: ir.Expr, loc: Loc) -> ir.Expr:
    return arithmetic.untrapped(
        arithmetic.binary("+", Number(a, python=True), Number(b, python=True), loc)
    ).expr


def _put(scope: Scope, array: ir.Symbol, first: ir.Expr, text: Tensor, length: ir.Expr, loc: Loc) -> None:
    """Stores the characters of a text from a position on."""
    axes, element = renamed(scope, text)
    at = (_sum(first, ir.Var(axes[0], loc=loc), loc),)
    scope.emit(ir.ForAll(axes, (length,), array, at, cast(element, array.dtype), checked=False, loc=loc))


def _repeated(scope: Scope, text: Value, times: Value, loc: Loc) -> Value:
    items = described(scope, text, loc)
    length = scope.unchanging(items.extents[0])
    count = selections.extremum("max", expressions.number(times, loc), python_number(0, loc), loc)
    total = arithmetic.binary("*", count, Number(length, python=True), loc)
    at = ir.Binary(
        "%", ir.Var(items.axes[0], loc=loc), ir.Binary("max", length, integer(1, loc), loc=loc), loc=loc
    )
    element = substitute(items.element, {items.axes[0]: at})
    return replace(items, extents=(scope.unchanging(total.expr),), element=element)


def operation(scope: Scope, symbol: str, a: Value, b: Value, loc: Loc) -> Value | None:
    """A sum of texts, or a multiple of one; None for other operations, and for those of texts written out alone."""
    strings = [value for value in (a, b) if is_string(value)]
    if not strings or all(map(is_written, (a, b))):
        return None
    if symbol == "+" and len(strings) == 2:
        return joined(scope, (a, b), loc)
    other = b if is_string(a) else a
    if symbol == "*" and len(strings) == 1 and isinstance(other, Number) and other.type.dtype.kind in "biu":
        return _repeated(scope, strings[0], other, loc)
    if all(map(is_written, strings)):
        return None
    raise refused_text(loc)


def formatted(scope: Scope, node: ast.JoinedStr) -> Value | None:
    """A text with texts and integers that are put in as they are; None for other forms."""
    parts: list[ast.expr] = []
    for part in node.values:
        match part:
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                parts.append(value)
            case ast.Constant():
                parts.append(part)
            case _:
                return None
    loc = scope.loc(node)
    values = expressions.lower_operands(scope, parts)
    if not all(is_string(v) or _is_integer(v) for v in values):
        return None
    return joined(scope, [v if is_string(v) else _numeral(scope, str, v, loc) for v in values], loc)


# ---------------------------------------------------------------- texts that grow


def grows(scope: Scope, name: str) -> bool:
    """Whether a name is bound to a text, or to a character, to which something is added."""
    if name in scope.facts.grown:
        return True
    is_bound = name in scope.env and name in scope.locals
    return is_bound and is_string(scope.read_maybe(name, scope.bound_at.get(name) or Loc("", 0)))


def bind_grown(scope: Scope, name: str, value: Value, loc: Loc) -> None:
    """`name = value` for a text that grows."""
    text = described(scope, value, loc)
    slots = _slots(scope, name)
    if arrays_read(text.element) & set(slots.columns):
        text = as_tensor(scope, held(scope, value, loc), loc)
    length = scope.unchanging(text.extents[0])
    list_storage.make_room(scope, slots, length, loc)
    _put(scope, slots.columns[0], integer(0, loc), text, length, loc)
    scope.emit(ir.Assign(slots.count, length, loc=loc))
    scope.env[name] = slots
    scope.bound_at[name] = loc
    scope.set_flag(name, loc)


def _slots(scope: Scope, name: str) -> ListSlots:
    scope.facts.lists[name] = (None, (_TEXT,))
    return list_storage.storage_of(scope, name)


def extend(scope: Scope, name: str, value: Value, loc: Loc) -> None:
    """`name += value`"""
    if not is_string(value):
        raise TypeInferenceError("a text and what is none are not added up", loc)
    if name not in scope.facts.grown:
        scope.facts.learn(scope.facts.grown, name)
    slots = _slots(scope, name)
    if (before := scope.read(name, loc)) != slots:  # a parameter, or what a loop runs over
        bind_grown(scope, name, before, loc)
    text = described(scope, value, loc)
    count = ir.Var(slots.count, loc=loc)
    length = scope.unchanging(text.extents[0])
    if length == integer(0, loc):
        return
    first = scope.temp("first", count)
    end = scope.temp("end", _sum(first, length, loc))
    is_one = is_character(as_character(value, loc)) or length == integer(1, loc)
    needed = scope.unchanging(_sum(first, integer(1, loc), loc)) if is_one else end
    short = ir.Compare(">", needed, ir.Var(slots.room, loc=loc), loc=loc)
    more = list_storage.moved_to_more_room(scope, slots, loc, needed)
    scope.emit(ir.If(short, tuple(more), loc=loc))
    if is_one:
        element = substitute(text.element, {text.axes[0]: integer(0, loc)})
        scope.emit(ir.Store(slots.columns[0], (first,), element, checked=False, loc=loc))
    else:
        _put(scope, slots.columns[0], first, text, length, loc)
    scope.emit(ir.Assign(slots.count, end, loc=loc))


def bound(scope: Scope, name: str, value: Value, loc: Loc) -> Value | None:
    """What a name is bound to for a value; None where it is bound to a text that grows."""
    if name in scope.facts.grown and is_string(value):
        bind_grown(scope, name, value, loc)
        return None
    if name in scope.facts.texts and (is_character(value) or is_written(value)):
        return held(scope, value, loc)
    if name in scope.facts.characters:
        value = as_character(value, loc)
    return held(scope, value, loc) if isinstance(value, ListSlots) and is_text(value) else value


def bind_parameters(scope: Scope, loc: Loc) -> None:
    """Binds names of texts to parameters again."""
    facts = scope.facts
    for name in sorted((facts.grown | facts.texts | facts.characters) & scope.env.keys()):
        value = scope.read(name, loc)
        if is_string(value) and (own := bound(scope, name, value, loc)) is not None:
            scope.bind(name, own, loc)


# ---------------------------------------------------------------- what texts are asked


def compared(scope: Scope, op: ast.cmpop, pair: Sequence[Value], loc: Loc) -> Number | None:
    """A comparison of texts; None for other values."""
    a, b = pair
    if not (is_text(a) or is_text(b) or is_character(a) or is_character(b)) or not isinstance(
        op, ast.Eq | ast.NotEq | ast.Lt | ast.LtE | ast.Gt | ast.GtE
    ):
        return None
    symbol = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}[type(op)]
    one, other = as_character(a, loc), as_character(b, loc)
    if not (is_text(a) or is_text(b)) and isinstance(one, Number) and isinstance(other, Number):
        return selections.compare(symbol, one, other, loc)
    if not (is_string(a) and is_string(b)):
        if symbol in ("==", "!="):
            return python_number(symbol == "!=", loc)
        raise TypeInferenceError(f"'{symbol}' not supported between a str and another value", loc)
    if symbol in ("==", "!="):
        for text, empty in ((a, b), (b, a)):
            if is_written(empty) and not empty.obj and is_text(text):
                length = length_of(text, loc)
                assert length is not None
                return selections.compare(symbol, length, python_number(0, loc), loc)
        return _negated(scope, symbol == "!=", equal, [a, b], loc)
    order = [a, b] if symbol in ("<", ">=") else [b, a]
    return _negated(scope, symbol in ("<=", ">="), code_points.before, order, loc)


def _negated(scope: Scope, negated: bool, text: Callable[..., object], pair: list[Value], loc: Loc) -> Number:
    found = called_with(scope, text, whole_texts(scope, pair, loc), loc)
    assert isinstance(found, Number)
    return arithmetic.logical_not(found, loc) if negated else found


def whole_texts(scope: Scope, values: Sequence[Value], loc: Loc) -> list[Value]:
    """Arguments of library text about whole texts."""
    return [described(scope, v, loc) if is_written(v) or is_character(v) else v for v in values]


def contains(scope: Scope, wanted: Value, found: Value, loc: Loc) -> Number | None:
    """`wanted in found`, for a text that is looked into; None for other values."""
    if not is_string(found) or not is_string(wanted) or (is_written(found) and is_written(wanted)):
        return None
    one = as_character(wanted, loc)
    if is_written(found) and is_character(one):
        codes = dict.fromkeys(map(ord, str(found.obj)))
        empty = [-1] if may_be_empty(scope, one.expr) else []
        tests: list[ir.Expr] = [
            ir.Compare("==", one.expr, ir.Const(code, DType.CHARACTER, loc=loc), loc=loc)
            for code in (*empty, *codes)
        ]
        none: ir.Expr = arithmetic.const(False, DType.BOOL, loc)
        whole = reduce(lambda a, b: ir.Logical("or", a, b, loc=loc), tests) if tests else none
        return Number(whole, python=True)
    if is_character(one):
        at = called_with(scope, code_points.find_in, [found, one], loc)
    else:
        at = called_with(
            scope, code_points.find, [*whole_texts(scope, (found, wanted), loc), python_number(0, loc)], loc
        )
    return selections.compare(">=", expressions.number(at, loc), python_number(0, loc), loc)


# ---------------------------------------------------------------- functions


def value_of(scope: Scope, function: object, values: Sequence[Value], loc: Loc) -> Value | None:
    """The value of one of FUNCTIONS; None where that has nothing to do with texts."""
    if len(values) != 1 or (is_written(values[0]) and function is not ord):
        return None
    value = as_character(values[0], loc)
    if function in _NUMERALS:
        return value if is_string(value) and function is str else _numeral(scope, function, value, loc)
    if function is chr and isinstance(value, Number) and value.type.dtype.is_integer:
        number = replace(value, expr=scope.temp("code", value.expr))
        outside = ir.Logical(
            "or",
            selections.compare("<", number, python_number(0, loc), loc).expr,
            selections.compare(">", number, python_number(0x10FFFF, loc), loc).expr,
            loc=loc,
        )
        if not scope.source.trusted:
            scope.fail_if(outside, "ValueError", "chr() arg not in range(0x110000)", loc)
        return Number(recast(number.expr, DType.CHARACTER), python=True)
    if function is ord and is_character(value):
        if not scope.source.trusted and may_be_empty(scope, value.expr):
            value = replace(value, expr=scope.temp("character", value.expr))
            leave_unless(scope, arithmetic.truth_of(value.expr), "an empty text", loc)
        return Number(recast(value.expr, DType.INT64), python=True)
    if function is ord:
        raise UnsupportedError(
            "ord is compiled of a character of a text, and of one that is written out", loc
        )
    if function is int and is_string(value):
        text = code_points.digit if is_character(value) else numerals.parsed
        return called_with(scope, text, [value], loc)
    return None


def _is_integer(value: Value) -> bool:
    return isinstance(value, Number) and value.type.dtype.kind in "iu"


def _numeral(scope: Scope, function: object, value: Value, loc: Loc) -> Value:
    if is_string(value):
        raise refused_text(loc)
    if not _is_integer(value):
        raise UnsupportedError(f"the text of {describe(value)} is not compiled", loc, "that of an integer is")
    return called_with(scope, _NUMERALS[function], [value], loc)
