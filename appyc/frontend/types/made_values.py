"""Values at compile time of objects and random generators that compiled code makes for itself."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum

from appyc.errors import Loc
from appyc.frontend.types.values import Opaque, Value
from appyc.ir.nodes import Symbol


@dataclass(eq=False, slots=True)
class MadeObject:
    """An instance of a class, whose fields are variables, or lists that keep their lengths.

    kind: its class. site: tells it from others that the function makes. declared: the fields that its constructor
    assigns on every path; it gets no others. is_fixed: whether its fields may not be assigned any more.
    is_whole: whether its constructor has ended. lists: where its constructor makes the lists among them.
    """

    kind: Opaque
    site: Hashable
    declared: frozenset[str]
    is_fixed: bool = False
    is_whole: bool = False
    fields: dict[str, Value] = field(default_factory=dict)
    lists: dict[str, Loc] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ObjectMethod:
    """A method of one, before it is called."""

    owner: Opaque
    function: Opaque


@dataclass(frozen=True, slots=True)
class MadeGenerator:
    """A bit generator, or a Generator of one (`draws`): `fixed` and `changing` are the variables of its state, `half`
    those of 32 bits that wait."""

    name: str
    fixed: tuple[Symbol, ...]
    changing: tuple[Symbol, ...]
    half: tuple[Symbol, ...]
    draws: bool = False


@dataclass(frozen=True, slots=True)
class MadeMethod:
    """A method of one, before it is called."""

    owner: MadeGenerator
    name: str


def made_object(value: Value) -> MadeObject | None:
    return value.obj if isinstance(value, Opaque) and isinstance(value.obj, MadeObject) else None


def made_generator(value: Value) -> MadeGenerator | None:
    return value.obj if isinstance(value, Opaque) and isinstance(value.obj, MadeGenerator) else None


class ArrayListCall(Enum):
    """The operations that rules about lists of arrays call (`frontend/expressions/array_list_calls.py`)."""

    PART = "the array with a number"
    PART_OR_NONE = "the array with a number, which may be None"
    NEW = "an array that has no other name"
