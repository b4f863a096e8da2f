"""Serialisation of a kernel's `Interface` as JSON, to be stored beside its machine code.

    ArrayType(DType.FLOAT64, 1)   ->   {"ArrayType": [{"DType": ["float64"]}, 1, {"Layout": ["C"]}, ...]}

Lines of the function's own text are stored from its first line on, so that code which was
moved within its file, or to another one, reports faults at the lines where it is now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any

from appyc.ir.abi import FrameLayout
from appyc.ir.arguments import NoneArg, ScalarArg, TupleArg, TupleKind
from appyc.ir.fault_words import FaultSite
from appyc.ir.results import Chosen, DictOf, ListOf, MadeOf, NoneOr, ViewOf
from appyc.ir.types import ArrayType, Container, DType, Layout
from appyc.runtime.frame import Interface, KernelResult

_CLASSES: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        Interface, FrameLayout, KernelResult, FaultSite, frozenset, ArrayType, ScalarArg, NoneArg, TupleArg, TupleKind,
        DType, Layout, Container, Chosen, DictOf, ListOf, MadeOf, NoneOr, ViewOf,
    )
}  # fmt: skip
"""The classes that an interface contains, beside tuples, numbers and strings, by name."""


@dataclass(frozen=True, slots=True)
class SourceExtent:
    """The location of a function's text: its file, its first line, and its number of lines."""

    file: str
    line: int
    lines: int

    def without(self, fault: FaultSite) -> FaultSite:
        """The site by the lines of the function's own text, and without a file, if it lies there."""
        is_own = fault.file == self.file and 0 <= fault.line - self.line < self.lines
        return replace(fault, file="", line=fault.line - self.line) if is_own else fault

    def within(self, fault: FaultSite) -> FaultSite:
        """The site where the function's text is now."""
        return fault if fault.file else replace(fault, file=self.file, line=self.line + fault.line)


def to_json(face: Interface, extent: SourceExtent) -> object:
    """JSON values that `from_json` reads."""
    return _stored(replace(face, faults=tuple(map(extent.without, face.faults))))


def from_json(data: object, extent: SourceExtent) -> Interface:
    """The interface, with the fault sites of the function's own text at its present location."""
    face: Interface = _read(data)
    return replace(face, faults=tuple(map(extent.within, face.faults)))


def _stored(value: object) -> object:
    if isinstance(value, tuple):
        return [*map(_stored, value)]
    if isinstance(value, frozenset):
        return {"frozenset": [sorted(value)]}
    if isinstance(value, Enum):
        return {type(value).__name__: [value.value]}
    if is_dataclass(value):
        return {type(value).__name__: [_stored(getattr(value, field.name)) for field in fields(value)]}
    return value


def _read(data: object) -> Any:
    if isinstance(data, list):
        return tuple(map(_read, data))
    if isinstance(data, dict):
        ((name, given),) = data.items()
        return _CLASSES[name](*map(_read, given))
    return data
