"""Numbers of items of values: lengths."""

from __future__ import annotations

from appyc.errors import Loc
from appyc.frontend.arrays import list_of_rows
from appyc.frontend.expressions import arithmetic
from appyc.frontend.types import values as vals
from appyc.ir.nodes import Var


def length_of(value: vals.Value, loc: Loc) -> vals.Number | None:
    """The number of items of a value, as `len` counts them; None of what has no length."""
    match value:
        case vals.TupleValue(items=items) | vals.DictValue(keys=items):
            return arithmetic.python_number(len(items), loc)
        case vals.Opaque(obj=str() | bytes() as text):
            return arithmetic.python_number(len(text), loc)
        case vals.ListSlots(count=count):
            return vals.Number(Var(count, loc=loc), python=True)
        case vals.ListRows() | vals.TupleRow():
            return vals.Number(list_of_rows.length(value, loc), python=True)
        case vals.Records():
            return length_of(value.rows, loc)
        case vals.ArrayRef() if value.ndim > 0:
            return vals.Number(value.extents(loc)[0], python=True)
        case vals.Tensor(extents=(extent, *_)):
            return vals.Number(extent, python=True)
        case _:
            return None
