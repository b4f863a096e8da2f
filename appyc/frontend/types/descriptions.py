"""Values in a few words, for messages."""

from __future__ import annotations

from appyc.frontend.types.objects import describe_object
from appyc.frontend.types.values import (
    ArrayRef,
    Binding,
    Conflict,
    DictSlots,
    DictValue,
    ListSlots,
    ListValue,
    Masked,
    MaybeNone,
    Number,
    Opaque,
    ReturnedChoice,
    ReturnedContainer,
    ReturnedList,
    ReturnedView,
    Slot,
    Tensor,
    TupleSlots,
    TupleValue,
    Value,
    Wide,
    dtype_of,
)


def describe(value: Value | Binding) -> str:
    """A few words for messages."""
    match value:
        case Wide() | Slot(wide=True):
            return "a Python int that may have more than 64 bits"
        case Number() | Slot():
            t = value.type
            return f"a Python {t}" if t.python else f"a {t}"
        case ArrayRef() | Tensor() if value.python and value.ndim:
            return "a list of numbers"
        case ArrayRef() | Tensor() | Masked():
            return f"a {value.ndim}-dimensional array of {dtype_of(value)}"
        case ReturnedView():
            return f"a {value.ndim}-dimensional view of an array"
        case ReturnedChoice():
            return f"a {value.ndim}-dimensional array"
        case DictValue() | DictSlots():
            return "a dict"
        case MaybeNone():
            return f"{describe(value.value)} or None"
        case ListValue(slots=slots) | ReturnedList(slots=slots):
            return describe(slots)
        case ReturnedContainer():
            return f"a {value.makes.partition('(')[0]}"
        case ListSlots():
            return "a list of tuples" if value.of_tuples else "a list of numbers"
        case TupleValue(names=(_, *_)) | TupleSlots(names=(_, *_)):
            return "a named tuple"
        case TupleValue() | TupleSlots():
            return f"a tuple of {len(value.items)}"
        case Opaque(obj):
            return "None" if obj is None else describe_object(obj)
        case Conflict():
            return value.reason
