"""Types of numbers, found by applying operations to ones, and what names of a random program stand for.

A type is the name of a Python or a NumPy class, `bool_` for NumPy's bool. An expression has a set of them, since what a
name is bound to may depend on the way there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTS = SIGNED + UNSIGNED
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
Types = frozenset[str]
INT: Types = frozenset({"int"})

BITS = {"int": 20, "bool": 1, "bool_": 1, **{name: np.dtype(name).itemsize * 8 for name in INTS}}


def one(name: str) -> Any:
    """The number 1 of a type."""
    return PYTHON[name](1) if name in PYTHON else np.dtype(name.removesuffix("_")).type(1)


def type_name(value: object) -> str:
    return "bool_" if isinstance(value, np.bool_) else type(value).__name__


def kind(name: str) -> str:
    """Of a type: b, i, f or c."""
    return np.dtype(name.removesuffix("_")).kind.replace("u", "i")


@cache
def _operation(template: str) -> Callable[..., Any]:
    names = "xyz"[: template.count("{")]
    operation: Callable[..., Any] = eval(
        f"lambda {', '.join(names)}: {template.format(*names)}", {"np": np, "math": math}
    )
    return operation


@cache
def result_types(template: str, operands: tuple[Types, ...]) -> Types:
    """The types of an operation's result; empty where some combination of operands raises TypeError."""
    found = set()
    with np.errstate(all="ignore"):
        for combination in itertools.product(*map(sorted, operands)):
            try:
                found.add(type_name(_operation(template)(*map(one, combination))))
            except TypeError:
                return frozenset()
    return frozenset(found)


@dataclass(frozen=True)
class Expr:
    """bits: of the largest absolute value that it may have, where it is an int."""

    text: str
    types: Types
    bits: int = 0

    def has(self, kinds: str) -> bool:
        return all(kind(t) in kinds for t in self.types)


@dataclass
class Name:
    """A name for a number. allowed: the types that it may ever get; seen: those that it was given. over: the
    length that a loop's index runs over, with iterations left out at its start and end."""

    allowed: Types
    seen: set[str] = field(default_factory=set)
    bits: int = 20
    assignable: bool = True
    over: str = ""
    left_out: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Array:
    """lengths: a text for each axis."""

    dtype: str
    lengths: tuple[str, ...]
    writable: bool = True

    @property
    def item(self) -> str:
        return "bool_" if self.dtype == "bool" else self.dtype


@dataclass(frozen=True)
class Helper:
    """A function of numbers, or of an array and a number. array: its dtype."""

    parameters: tuple[Types, ...]
    returns: Types
    array: str = ""
    defaults: int = 0
