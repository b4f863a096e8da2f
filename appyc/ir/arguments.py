"""The signature that a call is compiled for: the type of each argument, as the caller sees it.

The front end reads these to type a function's parameters; the runtime makes them from the
values of a call. Extents are not part of them, so one compiled version serves every size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from appyc.ir.types import ArrayType, DType


@dataclass(frozen=True, slots=True)
class ScalarArg:
    """A number. python: Python's own, whose type gives way to an array's (NEP 50)."""

    dtype: DType
    python: bool = False

    def __str__(self) -> str:
        return f"python {self.dtype}" if self.python else str(self.dtype)


class TupleKind(Enum):
    """The Python type that a tuple of parameters represents. Lists are read-only: there is an array of the
    values that their tuples have at each position, or of the elements of arrays, and of their lengths along each axis;
    for a list of lists or arrays there is one more with the start of each row and the end of the last. Of a structured
    array there is one with the first byte of each record, and one for each field; a record is an array of one."""

    TUPLE = "tuple"
    TUPLES = "list of tuples"
    ROWS = "list of lists"
    ROWS_OF_TUPLES = "list of lists of tuples"
    ARRAYS = "list of arrays"
    RECORDS = "structured array"
    RECORD = "record"


@dataclass(frozen=True, slots=True)
class TupleArg:
    """A tuple; each item is a parameter of its own (a tuple again is flattened in turn). names: of the items of
    a named tuple, or of fields; made_by: the path of its class (`ir.results`), or a text of the structured dtype."""

    items: tuple[ArgType, ...]
    names: tuple[str, ...] = ()
    made_by: str = ""
    kind: TupleKind = TupleKind.TUPLE

    @property
    def is_records(self) -> bool:
        return self.kind in (TupleKind.RECORDS, TupleKind.RECORD)

    def __str__(self) -> str:
        text = f"({', '.join(str(item) for item in self.items)}{',' if len(self.items) == 1 else ''})"
        return text if self.kind is TupleKind.TUPLE else f"{self.kind.value}: {text}"


@dataclass(frozen=True, slots=True)
class NoneArg:
    """None, or the one text of all calls: known when compiling, so it takes no parameter."""

    text: str | None = None

    def __str__(self) -> str:
        return repr(self.text)


ArgType: TypeAlias = ArrayType | ScalarArg | TupleArg | NoneArg


def leaves(types: Iterable[ArgType]) -> Iterator[ArrayType | ScalarArg]:
    """The arguments that become parameters, in order: tuples flattened, None left out."""
    for item in types:
        if isinstance(item, TupleArg):
            yield from leaves(item.items)
        elif not isinstance(item, NoneArg):
            yield item


def writeable(type_: ArgType) -> ArgType:
    """The type without its read-only mark: such an array will do for code that only reads it."""
    if isinstance(type_, ArrayType) and type_.readonly and not type_.is_list:
        return replace(type_, readonly=False)
    return type_
