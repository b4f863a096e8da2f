"""Fields of objects that compiled code assigns, as arrays or lists of one item that a call puts back when it ends.

Apart from the front end, so that a call of compiled code needs nothing of the compiler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from appyc.errors import LeftToPython

CELL = "cell"
"""The last step of a path to such a field: from the field's value to its cell. Its name is what `cell_kind` gives."""

Cell: TypeAlias = list[Any] | np.ndarray[Any, Any]

_PYTHON = {"bool": bool, "int64": int, "float64": float, "complex128": complex}


def cell_kind(value: object, dtype: str, *, python: bool) -> str:
    """A text of the class of a field's present value, and its type in compiled code. python: it is a number
    of Python's own there."""
    return f"{_class_of(value)} {dtype} {'list' if python else 'array'}"


def _class_of(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def cell_of(value: Any, kind: str) -> Cell:
    """The cell of a field. Raises LookupError where its value is of another class."""
    known, dtype, container = kind.split()
    if _class_of(value) != known:
        raise LookupError(f"this is no {known} any more")
    return [_PYTHON[dtype](value)] if container == "list" else np.array([value], dtype)


@contextmanager
def put_back(
    cells: Sequence[tuple[object, str, Cell]], others: Sequence[tuple[object, str]]
) -> Iterator[None]:
    """Assigns the fields that a call has changed when it ends, by an exception too.

    cells: objects, the names of their fields, and the cells. others: fields that the call only reads. Raises
    LeftToPython where a field that is assigned is there twice: two arguments may be one object.
    """
    fields = [(id(owner), name) for owner, name, _ in cells]
    if len({*fields}) < len(fields) or any((id(owner), name) in fields for owner, name in others):
        raise LeftToPython
    before = [cell[0] for _, _, cell in cells]
    try:
        yield
    except LeftToPython:
        raise  # Python begins with the fields as they were
    except BaseException:
        _assign(cells, before)
        raise
    _assign(cells, before)


def _assign(cells: Sequence[tuple[object, str, Cell]], before: Sequence[object]) -> None:
    for (owner, name, cell), old in zip(cells, before, strict=True):
        is_same = cell[0] is old if isinstance(cell, list) else cell[0].tobytes() == np.asarray(old).tobytes()
        if not is_same:
            setattr(owner, name, cell[0])
