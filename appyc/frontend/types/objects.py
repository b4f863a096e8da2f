"""Words for objects that are no values of compiled code: what they are, and what to pass instead."""

from __future__ import annotations

import numpy as np


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
        case np.ndarray() if obj.dtype == np.float16:
            return "pass a.astype(np.float32)"
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
