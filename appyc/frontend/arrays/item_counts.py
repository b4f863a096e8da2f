"""Numbers of items of values: lengths."""

from __future__ import annotations

from appyc.errors import Loc
from appyc.frontend.arrays import list_of_rows
from appyc.frontend.expressions import arithmetic
from appyc.frontend.types.values import (
    ArrayRef,
    DictValue,
    ListRows,
    ListSlots,
    Number,
    Opaque,
    Tensor,
    TupleRow,
    TupleValue,
    Value,
)
from appyc.ir.nodes import Var


def length_of(value: Value, loc: Loc) -> Number | None:
    """The number of items of a value, as `len` counts them; None of what has no length."""
    match value:
        case TupleValue(items=items) | DictValue(keys=items):
            return arithmetic.python_number(len(items), loc)
        case Opaque(obj=str() | bytes() as text):
            return arithmetic.python_number(len(text), loc)
        case ListSlots(count=count):
            return Number(Var(count, loc=loc), python=True)
        case ListRows() | TupleRow():
            return Number(list_of_rows.length(value, loc), python=True)
        case ArrayRef() if value.ndim > 0:
            return Number(value.extents(loc)[0], python=True)
        case Tensor(extents=(extent, *_)):
            return Number(extent, python=True)
        case _:
            return None
