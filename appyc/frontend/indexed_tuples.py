"""Tuples of numbers whose items a program picks by a position that only the run shows.

    weights = (0.1, 0.2, 0.7)               weights_items = [0.1, 0.2, 0.7]
    for k in range(3):               ->     for k in range(3):
        s += weights[k] * a[k]                  s += weights_items[k] * a[k]

The numbers of a tuple that has a name and is indexed so are put into an array beside it, once, where the
name is bound; a tuple of tuples of one length gets an array for each column. Items of several types are
of their common type.
"""

from __future__ import annotations

from collections.abc import Sequence

from appyc.errors import Loc
from appyc.frontend.arithmetic import cast, integer
from appyc.frontend.numbers import NumberType, promote
from appyc.frontend.scope import Scope
from appyc.frontend.values import Number, Table, TableColumn, TupleValue, Value
from appyc.ir.nodes import Alloc, Load, Store
from appyc.ir.nodes import Expr as IrExpr
from appyc.ir.types import ArrayType


def table_of(scope: Scope, items: Sequence[Value], name: str, loc: Loc) -> Table | None:
    """The items' numbers in arrays; None where they are no numbers, or tuples that differ in length."""
    if items and all(isinstance(item, TupleValue) for item in items):
        rows = [item.items for item in items if isinstance(item, TupleValue)]
        if len({len(row) for row in rows}) != 1 or not rows[0]:
            return None
        columns = [
            table_of(scope, column, f"{name}_{k}", loc) for k, column in enumerate(zip(*rows, strict=True))
        ]
        found = tuple(column for column in columns if column is not None)
        return found if len(found) == len(columns) else None
    numbers = [item for item in items if isinstance(item, Number)]
    if not numbers or len(numbers) != len(items):
        return None
    kind: NumberType | None = numbers[0].type
    for n in numbers[1:]:
        kind = promote(kind, n.type) if kind is not None else None
    if kind is None or any(n.python != kind.python for n in numbers):
        return None
    array = scope.supply.fresh(f"{name}_items", ArrayType(kind.dtype, 1))
    scope.memory.made.add(array)
    scope.emit(Alloc(array, (integer(len(numbers), loc),), zero=False, loc=loc))
    for k, n in enumerate(numbers):
        scope.emit(Store(array, (integer(k, loc),), cast(n.expr, kind.dtype), checked=False, loc=loc))
    return TableColumn(array, kind.python)


def table_of_constants(scope: Scope, items: Sequence[Value], loc: Loc) -> Table | None:
    """The same of items that are constants: filled before anything else runs. None for other items."""
    if not all(_is_constant(item) for item in items):
        return None
    with scope.collect() as block:
        table = table_of(scope, items, "constant", loc)
    scope.first += block
    return table


def _is_constant(value: Value) -> bool:
    if isinstance(value, TupleValue):
        return all(_is_constant(item) for item in value.items)
    return isinstance(value, Number) and value.constant is not None


def item_of(table: Table, position: IrExpr, loc: Loc) -> Value:
    """The item at a position, which the access to the array checks."""
    if isinstance(table, TableColumn):
        return Number(Load(table.array, (position,), loc=loc), table.python)
    return TupleValue(tuple(item_of(column, position, loc) for column in table))
