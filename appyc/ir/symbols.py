"""The names of scalars and arrays, and the root of all nodes of the IR."""

from __future__ import annotations

from dataclasses import dataclass, field

from appyc.errors import Loc
from appyc.ir.types import ArrayType, DType, Type


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that cannot be captured: two symbols are one only if their numbers agree.

    Numbers are unique within a function (`appyc.ir.names.NameSupply` hands them out). A
    `For`'s variable is bound by that loop alone, so it also names the loop.
    """

    name: str
    uid: int
    type: Type

    def __hash__(self) -> int:
        return self.uid  # symbols of one function differ in it, and tables of symbols are asked all the time

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def is_array(self) -> bool:
        return isinstance(self.type, ArrayType)

    @property
    def array(self) -> ArrayType:
        assert isinstance(self.type, ArrayType), f"{self.name} is a scalar"
        return self.type

    def __str__(self) -> str:
        return f"{self.name}.{self.uid}"


@dataclass(frozen=True, slots=True)
class Node:
    loc: Loc = field(kw_only=True, compare=False, repr=False)
