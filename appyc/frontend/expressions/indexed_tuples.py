"""Lookup tables for tuples of numbers that are indexed at run time.

    weights = (0.1, 0.2, 0.7)               weights_items = [0.1, 0.2, 0.7]
    for k in range(3):               ->     for k in range(3):
        s += weights[k] * a[k]                  s += weights_items[k] * a[k]

The numbers of a named tuple that is indexed at run time are copied into an array once, where the name is bound.
A tuple of tuples of one length has a two-dimensional table, or a table per column if the columns differ in type.
Items of several types are converted to their common type.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from appyc.errors import Loc
from appyc.frontend.expressions.arithmetic import cast, integer
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import PY_LARGE_INT, NumberType, promote
from appyc.frontend.types.value_parts import numbers_of
from appyc.frontend.types.values import Number, Table, TableColumn, TupleValue, Value
from appyc.ir.nodes import Const, Load, Store, Symbol
from appyc.ir.nodes import Expr as IrExpr
from appyc.ir.types import DType


def table_of(scope: Scope, items: Sequence[Value], name: str, loc: Loc) -> Table | None:
    """The lookup table of a tuple's items; None for items that are not numbers, or tuples of different lengths."""
    lengths = _lengths(items)
    if lengths is None:
        return None
    numbers = [n for item in items for n in numbers_of(item)]
    if len({n.type == PY_LARGE_INT for n in numbers}) > 1:
        return None  # no type of the IR holds all of them
    kind: NumberType | None = numbers[0].type
    for n in numbers[1:]:
        one = kind is not None and (n.type == kind if len(lengths) > 1 else n.python == kind.python)
        kind = promote(kind, n.type) if one and kind is not None else None
    if kind is not None:
        return TableColumn(_filled(scope, numbers, lengths, kind.dtype, name, loc), kind.python)
    if len(lengths) == 1:
        return None
    rows = [item.items for item in items if isinstance(item, TupleValue)]
    columns = [
        table_of(scope, column, f"{name}_{k}", loc) for k, column in enumerate(zip(*rows, strict=True))
    ]
    found = tuple(column for column in columns if column is not None)
    return found if len(found) == len(columns) else None


def _lengths(items: Sequence[Value]) -> tuple[int, ...] | None:
    """The shape of nested tuples of numbers; None unless all tuples at one depth have the same length and class."""
    if all(isinstance(item, Number) for item in items):
        return (len(items),) if items else None
    classes = {replace(item, items=()) for item in items if isinstance(item, TupleValue)}
    inner = {_lengths(item.items) if isinstance(item, TupleValue) else None for item in items}
    one = inner.pop()
    return None if inner or one is None or len(classes) > 1 else (len(items), *one)


def _filled(
    scope: Scope, numbers: Sequence[Number], lengths: tuple[int, ...], dtype: DType, name: str, loc: Loc
) -> Symbol:
    array = scope.new_array(f"{name}_items", dtype, [integer(n, loc) for n in lengths], loc)
    for position, n in zip(itertools.product(*map(range, lengths)), numbers, strict=True):
        index = tuple(integer(k, loc) for k in position)
        scope.emit(Store(array, index, cast(n.expr, dtype), checked=False, loc=loc))
    return array


def table_of_constants(scope: Scope, items: Sequence[Value], loc: Loc) -> Table | None:
    """The lookup table of constant items, which is filled in the function's prologue; None for other items."""
    if not all(_is_constant(item) for item in items):
        return None
    with scope.collect() as block:
        table = table_of(scope, items, "constant", loc)
    scope.first += block
    return table


def _is_constant(value: Value) -> bool:
    if isinstance(value, TupleValue):
        return all(_is_constant(item) for item in value.items)
    return isinstance(value, Number) and isinstance(value.expr, Const)


def item_of(table: Table, position: IrExpr, like: Value, loc: Loc) -> Value:
    """The table's item at a position; the array access checks its bounds. like: another item."""
    inner = like.items if isinstance(like, TupleValue) else ()
    if not isinstance(table, TableColumn):
        columns = zip(table, inner, strict=True)
        return _like(like, tuple(item_of(column, position, item, loc) for column, item in columns), None)
    index = (*table.index, position)
    if len(index) == table.array.array.ndim:
        return Number(Load(table.array, index, loc=loc), table.python)
    row = replace(table, index=index)
    return _like(like, tuple(item_of(row, integer(k, loc), item, loc) for k, item in enumerate(inner)), row)


def _like(one: Value, items: tuple[Value, ...], table: Table | None) -> TupleValue:
    assert isinstance(one, TupleValue), "a table has tuples of one class"
    return replace(one, items=items, table=table)
