"""Lists of lists of any lengths that are arguments, such as the neighbours of each vertex of a graph.

    for v in near[u]:          for k in range(starts[u + 1] - starts[u]):
        s += x[v]       ->         v = items[starts[u] + k]
                                   s += x[v]

A row of numbers is a tensor whose elements are loads from `items`; one of tuples is such a tensor for each of their
numbers. An array of a list of arrays is a view of `items`.

Does not handle: rows that are stored into, change their lengths, are returned, or compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from appyc.errors import Loc
from appyc.frontend.arrays.reshaping import linear_position
from appyc.frontend.arrays.slice_bounds import tested_position
from appyc.frontend.arrays.tensors import as_tensor, as_value
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.scope import Scope
from appyc.frontend.types.value_parts import walk, with_parts
from appyc.frontend.types.values import ArrayRef, ListRows, Number, Tensor, TupleRow, TupleValue, Value
from appyc.ir.nodes import Binary, Expr, Load, Symbol, Var
from appyc.ir.types import DType


def length(owner: ListRows | TupleRow, loc: Loc) -> Expr:
    """The number of rows of a list, or of tuples in a row."""
    if isinstance(owner, ListRows):
        return Binary("-", owner.starts.extents(loc)[0], integer(1, loc), loc=loc)
    first = next(part for part in walk(owner.columns) if not isinstance(part, TupleValue))
    assert isinstance(first, ArrayRef | Tensor)
    return first.extents(loc)[0] if isinstance(first, ArrayRef) else first.extents[0]


def item(scope: Scope, owner: ListRows | TupleRow, index: Number, loc: Loc) -> Value:
    """The row, or the tuple, at an index, which is tested."""
    at = tested_position(scope, index, length(owner, loc), loc, "list index out of range")
    return item_at(scope, owner, at, loc)


def item_at(scope: Scope, owner: ListRows | TupleRow, at: Expr, loc: Loc) -> Value:
    """The row, or the tuple, at a position that is within bounds."""
    if isinstance(owner, ListRows):
        return _row(scope, owner, at, loc)

    def part(column: Value) -> Value:
        if isinstance(column, TupleValue):
            return with_parts(column, part)
        return as_value(as_tensor(scope, column, loc).at({0: at}))

    return part(owner.columns)


def view_at(scope: Scope, items: Symbol, first: Expr, extents: Sequence[Expr], loc: Loc) -> Tensor:
    """The array of this shape whose elements stand in C order from `items[first]` on."""
    axes = tuple(scope.supply.fresh("i", DType.INT64) for _ in extents)
    position = linear_position([Var(axis, loc=loc) for axis in axes], extents, loc)
    index = Binary("+", first, position, loc=loc)
    return Tensor(axes, tuple(extents), Load(items, (index,), checked=False, loc=loc), view=True)


def _row(scope: Scope, rows: ListRows, at: Expr, loc: Loc) -> Tensor | TupleRow:
    starts = rows.starts.symbol
    if rows.of_arrays:
        elements, *shape = (column.symbol for column in rows.columns.items if isinstance(column, ArrayRef))
        loads = (Load(array, (at,), checked=False, loc=loc) for array in (starts, *shape))
        first, *extents = (scope.temp("n", load) for load in loads)
        return view_at(scope, elements, first, extents, loc)
    behind = Binary("+", at, integer(1, loc), loc=loc)
    first = scope.temp("first", Load(starts, (at,), checked=False, loc=loc))
    end = Load(starts, (behind,), checked=False, loc=loc)
    count = scope.temp("count", Binary("-", end, first, loc=loc))

    def part(column: Value) -> Tensor:
        assert isinstance(column, ArrayRef)
        axis = scope.supply.fresh("i", DType.INT64)
        position = Binary("+", first, Var(axis, loc=loc), loc=loc)
        element = Load(column.symbol, (position,), checked=False, loc=loc)
        return Tensor((axis,), (count,), element, view=True, python=True)

    columns = tuple(map(part, rows.columns.items))
    return TupleRow(TupleValue(columns)) if rows.of_tuples else columns[0]
