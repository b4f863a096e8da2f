"""The types of the IR: element types, array layouts, and what a symbol may be."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np


class DType(Enum):
    """An element type. The value is NumPy's name of it."""

    BOOL = "bool"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    FLOAT16 = "float16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    COMPLEX64 = "complex64"
    COMPLEX128 = "complex128"
    CHARACTER = "character"
    TEXT = "text"

    kind: str
    """'b' bool, 'i' signed, 'u' unsigned, 'f' float, 'c' complex, 's' characters and elements of texts, which only the
    front end has (`frontend/types/characters.py`)."""

    def __init__(self, name: str) -> None:
        self.kind = {"bool": "b", "character": "s", "text": "s"}.get(name, name[0])
        self.bits = int(name.lstrip("abcdefghijklmnopqrstuvwxyz") or (8 if name == "bool" else 32))
        self.itemsize = self.bits // 8
        self.is_integer = self.kind in "iu"
        self.is_float = self.kind == "f"
        self.is_complex = self.kind == "c"

    __hash__ = object.__hash__  # Enum's is written in Python

    @property
    def numpy(self) -> np.dtype[np.generic]:
        return np.dtype("<U1" if self.kind == "s" else self.value)

    @property
    def part(self) -> DType:
        """The type of the real and imaginary parts; a real type is its own part."""
        return {DType.COMPLEX64: DType.FLOAT32, DType.COMPLEX128: DType.FLOAT64}.get(self, self)

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return self.name


class Layout(Enum):
    """The order of an array's elements in memory.

    C: row-major and contiguous. F: column-major and contiguous. STRIDED: any strides, in
    bytes, negative and zero ones included, known only at the call.
    """

    C = "C"
    F = "F"
    STRIDED = "S"


class Container(Enum):
    """The Python type of an array parameter. LIST: a list of Python numbers, whose items a call copies to an
    array. BYTES: a bytes object, which is read in place. TEXT: the code points of a str. ARRAYS: a list of arrays,
    whose elements a call copies to one array. PACKED: an array whose elements may be unaligned."""

    ARRAY = "array"
    LIST = "list"
    BYTES = "bytes"
    TEXT = "text"
    ARRAYS = "arrays"
    PACKED = "packed"


@dataclass(frozen=True, slots=True)
class ScalarType:
    dtype: DType

    def __str__(self) -> str:
        return str(self.dtype)


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array in memory. Its extents are values (`Extent` nodes), not part of the type."""

    dtype: DType
    ndim: int
    layout: Layout = Layout.C
    readonly: bool = False
    container: Container = Container.ARRAY

    @property
    def is_list(self) -> bool:
        return self.container not in (Container.ARRAY, Container.ARRAYS, Container.PACKED)

    def __str__(self) -> str:
        dims = ",".join(":" * self.ndim)
        marks = ("" if self.layout is Layout.C else f",{self.layout.value}") + (
            ",readonly" if self.readonly else ""
        )
        named = self.is_list or self.container is Container.PACKED
        marks += f",{self.container.value}" if named else ""
        return f"{self.dtype}[{dims}{marks}]"


Type: TypeAlias = ScalarType | ArrayType


def fields_of_dtype(dtype: np.dtype[Any]) -> list[tuple[str, np.dtype[Any], int]]:
    """The name, the dtype and the offset of each field."""
    return [] if dtype.fields is None else [(name, *dtype.fields[name][:2]) for name in dtype.names or ()]


@functools.cache
def structured_dtype(text: str) -> np.dtype[Any]:
    """The dtype of a text that `text_of_dtype` gives."""
    found: np.dtype[Any] = np.lib.format.descr_to_dtype(ast.literal_eval(text))
    return found


def text_of_dtype(dtype: np.dtype[Any]) -> str:
    """The text of a structured dtype. Raises ValueError where fields overlap, or are not in order."""
    return repr(np.lib.format.dtype_to_descr(dtype))
