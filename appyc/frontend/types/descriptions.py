"""Values and objects in a few words, for messages, and what to pass instead of them."""

from __future__ import annotations

import numpy as np

from appyc.frontend.types import values as vals
from appyc.frontend.types.characters import is_text
from appyc.frontend.types.made_values import MadeGenerator, MadeMethod, MadeObject, ObjectMethod


def describe(value: vals.Value | vals.Binding) -> str:
    """A few words for messages."""
    match value:
        case vals.Wide() | vals.Slot(wide=True):
            return "a Python int that may have more than 64 bits"
        case vals.Number() | vals.Slot():
            t = value.type
            return f"a Python {t}" if t.python else f"a {t}"
        case vals.ArrayRef() | vals.Tensor() | vals.ListSlots() if is_text(value):
            return "a Python str"
        case vals.ArrayRef() | vals.Tensor() if value.python and value.ndim:
            return "a list of numbers"
        case vals.ArrayRef() | vals.Tensor() | vals.Masked():
            return f"a {value.ndim}-dimensional array of {vals.dtype_of(value)}"
        case vals.ReturnedView():
            return f"a {value.ndim}-dimensional view of an array"
        case vals.ReturnedChoice():
            return f"a {value.ndim}-dimensional array"
        case vals.DictValue() | vals.TupleSlots(keys=tuple()):
            return "a dict"
        case vals.MaybeNone():
            return f"{describe(value.value)} or None"
        case vals.ReturnedList(slots=slots):
            return describe(slots)
        case vals.ReturnedContainer():
            return f"a {value.makes.partition('(')[0]}"
        case vals.ListRows():
            return "a list of lists"
        case vals.TupleRow():
            return "a list of tuples"
        case vals.Records():
            return "a structured array" if value.rows.ndim else "a record of a structured array"
        case vals.ListSlots():
            return "a list of tuples" if value.of_tuples else "a list of numbers"
        case vals.TupleValue(names=(_, *_)) | vals.TupleSlots(names=(_, *_)):
            return "a named tuple"
        case vals.TupleValue() | vals.TupleSlots():
            return f"a tuple of {len(value.items)}"
        case vals.Opaque(MadeObject(kind=vals.Opaque(type() as kind))):
            return f"an object of class {kind.__name__}"
        case vals.Opaque(ObjectMethod() | MadeMethod()):
            return "a method"
        case vals.Opaque(MadeGenerator()):
            return "a generator of random numbers"
        case vals.Opaque(obj):
            return "None" if obj is None else describe_object(obj)
        case vals.Conflict():
            return value.reason


def describe_object(obj: object) -> str:
    """A few words for messages."""
    if type(obj) is np.ndarray:
        if obj.dtype.names is not None:
            return "a structured array"
        return "an array of objects" if obj.dtype == object else f"an array of {obj.dtype}"
    if isinstance(obj, tuple) and obj:
        return f"a sequence of {type(obj[0]).__name__} objects"
    kind, name = type(obj).__name__, getattr(obj, "__name__", None)
    return (
        f"{kind} {name!r}" if isinstance(name, str) else f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"
    )


def is_collection(obj: object) -> bool:
    return isinstance(obj, list | tuple | bytes | bytearray | np.ndarray)


def instead_of(obj: object) -> str:
    """A hint: what the caller may pass, or the function use, instead of an object."""
    match obj:
        case np.ndarray() if obj.dtype.names is not None:
            return f"pass the fields that are needed as arrays: a[{obj.dtype.names[0]!r}]"
        case np.ndarray() if type(obj) is not np.ndarray:
            return "pass numpy.asarray(a)"
        case np.ndarray() if obj.dtype.kind == "f":
            return "pass a.astype(np.float64)"
        case np.ndarray() if obj.dtype.kind in "mM":
            return "pass a.astype(np.int64)"
        case bytes() | bytearray() | memoryview():
            return "pass numpy.frombuffer(b, numpy.uint8)"
        case str():
            return "work with text outside the compiled function"
        case tuple():
            return "pass an array for each number that is read from the items"
        case list() | range() | np.ndarray():
            return "pass it as an array of numbers: np.array(x)"
        case _:
            return "use an array or a tuple"
