"""The calls that the rule about lists of arrays makes (`frontend/desugar/array_lists.py`), and how such lists are
found: an array is put into a list of numbers, after which lowering restarts."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.list_of_rows import view_at
from appyc.frontend.arrays.tensors import pinned
from appyc.frontend.desugar.building import part_of
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.expressions.left_calls import leave_unless
from appyc.frontend.facts import Restart
from appyc.frontend.scope import Scope
from appyc.frontend.types.numbers import PY_INT, NumberType
from appyc.frontend.types.value_parts import item_at
from appyc.frontend.types.values import ArrayRef, ListSlots, Number, Tensor, TupleValue, Value, dtype_of
from appyc.ir.nodes import Compare
from appyc.ir.types import DType


class ArrayItemError(UnsupportedError):
    """An array is put into a list of numbers."""

    def __init__(self, summary: str, loc: Loc, *, ndim: int, dtype: DType) -> None:
        super().__init__(summary, loc, "a list of numbers, or of tuples of numbers, can")
        self.ndim, self.dtype = ndim, dtype


@contextmanager
def learning(scope: Scope, name: str) -> Iterator[None]:
    """Raises Restart where the list `name` turns out to be one of arrays."""
    try:
        yield
    except ArrayItemError as error:
        learn_arrays(scope, name, error.ndim, error.dtype)
        raise


def common_array(items: Sequence[Value]) -> ArrayRef | Tensor | None:
    """One of some arrays, where all are of one element type and number of axes."""
    arrays = [item for item in items if isinstance(item, ArrayRef | Tensor) and not item.python]
    alike = len(arrays) == len(items) and len({(item.ndim, dtype_of(item)) for item in arrays}) == 1
    return arrays[0] if alike else None


def learn_arrays(scope: Scope, name: str, ndim: int, dtype: DType) -> None:
    """Notes that a list has arrays as its items, and raises Restart; returns where that does not help."""
    if name in scope.facts.array_lists or name in scope.givers or not name.isidentifier():
        return
    scope.facts.array_lists[name] = ndim
    scope.facts.lists[part_of(name, "items")] = None, (NumberType(dtype, python=False),)
    scope.facts.lists[part_of(name, "starts")] = None, (PY_INT,)
    scope.facts.lists[part_of(name, "shapes")] = TupleValue(()), (PY_INT,) * ndim
    raise Restart


def array_in(scope: Scope, values: Sequence[Value], loc: Loc, *, may_be_none: bool) -> Tensor:
    """A view of the array with a number: `array_in(items, starts, shapes, row)`. Of None the call is left to Python."""
    items, starts, shapes, row = values
    assert isinstance(items, ListSlots)
    assert isinstance(starts, ListSlots)
    assert isinstance(shapes, ListSlots)
    assert isinstance(row, Number)
    at = pinned(scope, "row", row.expr)
    start, shape = item_at(starts, at, loc), item_at(shapes, at, loc)
    assert isinstance(start, Number)
    assert isinstance(shape, TupleValue)
    first = pinned(scope, "start", start.expr)
    if may_be_none:
        leave_unless(scope, Compare(">=", first, integer(0, loc), loc=loc), "an item that is None", loc)
    extents = tuple(pinned(scope, "n", n.expr) for n in shape.items if isinstance(n, Number))
    return view_at(scope, items.columns[0], first, extents, loc)


def new_array(scope: Scope, node: ast.expr, loc: Loc) -> Value:
    """The value of an expression that makes a new array. Raises UnsupportedError for another one's."""
    before = frozenset(scope.memory.made)
    value = scope.lower(node)
    is_old = isinstance(value, ArrayRef) and (value.index or value.symbol not in scope.memory.made - before)
    if is_old or (isinstance(value, Tensor) and (value.view or value.unsettled)):
        raise UnsupportedError("a list gets an array that has another name, and one of both is stored into", loc,
                               "put a copy into the list: xs.append(x.copy())")  # fmt: skip
    return value
