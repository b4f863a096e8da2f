"""Infers the argument types that a call is compiled for from its values.

    f(np.zeros((3, 4)), 2)   ->   float64[:,:], python int64

A value without such a type is the user's error, and the message says what to pass
instead. CuPy is never imported: what lives on a GPU shows it by `__cuda_array_interface__`.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Any

import numpy as np

from appyc.errors import Loc, TypeInferenceError
from appyc.ir.arguments import ArgType, NoneArg, ScalarArg, TupleArg, TupleKind, writeable
from appyc.ir.results import fields_of
from appyc.ir.types import ArrayType, Container, DType, Layout, fields_of_dtype, text_of_dtype
from appyc.runtime._dispatch import item_types

DTYPES: dict[np.dtype[np.generic], DType] = {d.numpy: d for d in DType if d.kind != "s"}
"""Equal dtypes hash alike, so `long` and `long long` of 64 bits both are int64 here."""

_NEAREST = {"longdouble": "float64", "clongdouble": "complex128"}
_LISTED = ", ".join(map(str, DTYPES.values()))


class ArgumentOverflowError(TypeInferenceError, OverflowError):
    """A Python int that no 64-bit integer holds."""

    code = "T002"


def typeof(value: object, name: str, loc: Loc) -> ArgType:
    """The type of one argument. `name` and `loc` are the parameter's, for the message."""
    if type(value) in (np.ndarray, np.void) and (records := records_type(value)) is not None:  # type: ignore[arg-type]
        return records
    if type(value) is np.ndarray or isinstance(value, np.memmap):
        return _array_type(value, name, loc)
    if isinstance(value, np.generic):
        return ScalarArg(_dtype(value.dtype, name, loc, "of type"), python=False)
    if isinstance(value, bool):
        return ScalarArg(DType.BOOL, python=True)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise _overflow(value, name, loc)
        return ScalarArg(DType.INT64 if value < 2**63 else DType.UINT64, python=True)
    if isinstance(value, float):
        return ScalarArg(DType.FLOAT64, python=True)
    if isinstance(value, complex):
        return ScalarArg(DType.COMPLEX128, python=True)
    if value is None:
        return NoneArg()
    if isinstance(value, tuple):
        items = tuple(typeof(item, f"{name}[{i}]", loc) for i, item in enumerate(value))
        return TupleArg(items, *fields_of(type(value)))
    if not isinstance(value, type) and hasattr(value, "__cuda_array_interface__"):
        return _cuda_type(value, name, loc)
    raise _unsupported(value, name, loc)


def records_type(value: np.ndarray[Any, Any] | np.void) -> TupleArg | None:
    """The type of a structured array with one axis, or of a record, whose fields are arrays or numbers of types that
    compiled code has; else None."""
    is_array, dtype = isinstance(value, np.ndarray), value.dtype
    fields = [of for _, of, _ in fields_of_dtype(dtype)]
    are_taken = all(of.base in DTYPES and of.ndim <= is_array for of in fields)
    if not (fields and are_taken and value.ndim == is_array):
        return None
    try:
        text = text_of_dtype(dtype)
    except ValueError:
        return None
    is_aligned = is_array and all(value[name].flags.aligned for name in dtype.names or ())
    container = Container.ARRAY if is_aligned else Container.PACKED
    first_bytes = ArrayType(DType.UINT8, 1, Layout.STRIDED)
    items = (ArrayType(DTYPES[of.base], 1 + of.ndim, Layout.STRIDED, container=container) for of in fields)
    kind = TupleKind.RECORDS if is_array else TupleKind.RECORD
    return TupleArg((first_bytes, *items), dtype.names or (), text, kind)


BYTES = ArrayType(DType.UINT8, 1, readonly=True, container=Container.BYTES)
TEXT = ArrayType(DType.UINT32, 1, readonly=True, container=Container.TEXT)


def list_type(value: object) -> ArrayType | TupleArg | None:
    """The type of a list of Python's own numbers, all of one type, or of tuples that have numbers of one type at each
    position, or of lists of such; else None. Lists inside each other, of one length at each depth, are axes."""
    found = item_types(value)
    if found is None:
        return None
    depth, are_even, width, columns = found
    if not width and (are_even or depth == 1):
        return ArrayType(DTYPES[columns[0]], depth, container=Container.LIST)
    if depth > 2:
        return None
    kind = TupleKind.TUPLES
    if depth == 2:
        kind = TupleKind.ROWS_OF_TUPLES if width else TupleKind.ROWS
        columns = (*columns, np.dtype(np.int64))
    items = (ArrayType(DTYPES[c], 1, readonly=True, container=Container.LIST) for c in columns)
    return TupleArg(tuple(items), kind=kind)


def arrays_type(value: Sequence[object]) -> TupleArg | None:
    """The type of a list of arrays of one element type and number of axes; None for another list."""
    first = value[0] if value else None
    if type(first) is not np.ndarray or first.ndim == 0 or first.dtype not in DTYPES:
        return None
    for item in value:
        if type(item) is not np.ndarray or (item.dtype, item.ndim) != (first.dtype, first.ndim):
            return None
    elements = ArrayType(DTYPES[first.dtype], 1, readonly=True, container=Container.ARRAYS)
    integers = ArrayType(DType.INT64, 1, readonly=True, container=Container.LIST)
    return TupleArg((elements, *(integers,) * (first.ndim + 1)), kind=TupleKind.ARRAYS)


def typeof_captured(value: object, name: str, loc: Loc) -> ArgType:
    """The type of a value from outside the arguments, of which a list holds a field that is assigned."""
    return (list_type(value) if type(value) is list else None) or writeable(typeof(value, name, loc))


def is_on_gpu(value: object) -> bool:
    """Whether a value is in a GPU's memory; a tuple is where one of its items is."""
    if isinstance(value, tuple):
        return any(map(is_on_gpu, value))
    on_host = isinstance(value, np.ndarray | np.generic | int | float | complex) or value is None
    return not on_host and hasattr(value, "__cuda_array_interface__")


def layout_of(array: np.ndarray[Any, Any]) -> Layout:
    """C where both hold (one axis, none, or a single row), so that each array has one layout."""
    flags = array.flags
    if flags.c_contiguous:
        return Layout.C
    return Layout.F if flags.f_contiguous else Layout.STRIDED


def _array_type(array: np.ndarray[Any, Any], name: str, loc: Loc) -> ArrayType:
    dtype = _dtype(array.dtype, name, loc, "an array of")
    is_aligned = array.flags.aligned
    container = Container.ARRAY if is_aligned else Container.PACKED
    layout = layout_of(array) if is_aligned else Layout.STRIDED
    return ArrayType(dtype, array.ndim, layout, not array.flags.writeable, container)


def _cuda_type(value: object, name: str, loc: Loc) -> ArrayType:
    """The type of an array on a GPU, from its CUDA array interface."""
    interface = value.__cuda_array_interface__  # type: ignore[attr-defined]
    dtype = _dtype(np.dtype(interface["typestr"]), name, loc, "an array of")
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    layout = Layout.C
    if strides is not None:  # NumPy tells of an array of these, which is not read
        layout = layout_of(np.lib.stride_tricks.as_strided(np.empty(1, dtype.numpy), shape, tuple(strides)))
    return ArrayType(dtype, len(shape), layout, readonly=bool(interface["data"][1]))


def _dtype(dtype: np.dtype[np.generic], name: str, loc: Loc, what: str) -> DType:
    found = DTYPES.get(dtype)
    if found is not None:
        return found
    nearest = _NEAREST.get(dtype.name) or _NEAREST.get(dtype.type.__name__)
    if dtype.names is not None:
        hint = f"pass the fields as arrays of their own, such as {name}[{dtype.names[0]!r}].copy()"
    elif not dtype.isnative:
        hint = f"swap its bytes: {name}.astype({name}.dtype.newbyteorder('='))"
    else:
        hint = f"supported are {_LISTED}" if nearest is None else f"use {name}.astype(np.{nearest})"
    raise TypeInferenceError(f"argument '{name}' is {what} dtype {dtype}, which is not supported", loc, hint)


def _overflow(value: int, name: str, loc: Loc) -> ArgumentOverflowError:
    text = str(value) if value.bit_length() < 256 else f"an integer of {value.bit_length()} bits"
    return ArgumentOverflowError(
        f"argument '{name}' is {text}, which does not fit in 64 bits",
        loc,
        f"pass a float, or np.uint64({name}) where it is below 2**64",
    )


def _unsupported(value: object, name: str, loc: Loc) -> TypeInferenceError:
    module, kind = type(value).__module__, type(value).__qualname__
    kind = kind if module == "builtins" else f"{module}.{kind}"
    article = "an" if kind[0].lower() in "aeiou" else "a"
    rules = ", whose rules differ from those of an ndarray" if isinstance(value, np.ndarray) else ""
    hint = "compiled functions take numbers, arrays, tuples of them, and None"
    if isinstance(value, np.ndarray | MutableSequence | range):
        hint = f"pass np.asarray({name})"
    elif isinstance(value, dict | set | frozenset):
        hint = "pass its values as arrays or scalars of their own"
    elif hasattr(value, "__dlpack__"):
        hint = f"pass np.from_dlpack({name})"
    elif hasattr(value, "__array__"):
        hint = f"pass np.asarray({name})"
    return TypeInferenceError(f"argument '{name}' is {article} {kind}{rules}", loc, hint)
