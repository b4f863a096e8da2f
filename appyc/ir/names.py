"""Fresh symbols, and readable spellings for the symbols of a function."""

from __future__ import annotations

import keyword
import re
from collections.abc import Container, Iterable

from appyc.ir.nodes import Function, Symbol
from appyc.ir.types import DType, ScalarType, Type
from appyc.ir.visit import symbols_of


class NameSupply:
    """Hands out symbols whose numbers are new to a function.

    A supply belongs to one function at a time: a front end starts one at 0, a pass takes
    `NameSupply.after(fn)`, which looks through the function when the first symbol is asked for:
    most passes that take one find nothing to do.
    """

    def __init__(self, start: int = 0) -> None:
        self._next = start
        self._after: Function | None = None

    @classmethod
    def after(cls, fn: Function) -> NameSupply:
        supply = cls()
        supply._after = fn
        return supply

    @property
    def number(self) -> int:
        """The number of the symbol that is handed out next."""
        if self._after is not None:
            self._next = 1 + max((s.uid for s in symbols_of(self._after)), default=-1)
            self._after = None
        return self._next

    def fresh(self, name: str, type_: Type | DType) -> Symbol:
        symbol = Symbol(name, self.number, ScalarType(type_) if isinstance(type_, DType) else type_)
        self._next += 1
        return symbol


def ordered(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
    """The symbols sorted by number, so that the text of a program does not change between runs."""
    return tuple(sorted(symbols, key=lambda symbol: symbol.uid))


def of_function(name: str) -> str:
    """A function's name as one may be defined by it: a lambda's is no identifier."""
    letters = re.sub(r"\W", "", name)
    return f"{letters}_" if keyword.iskeyword(letters) else letters


def in_ascii(name: str) -> str:
    """The name with numbers for the letters that some compilers do not take."""
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"u{ord(c):x}" for c in name)


def unused(name: str, taken: Container[str]) -> str:
    """The name where it is free, else name_2, name_3, ..."""
    out, number = name, 1
    while out in taken:
        number += 1
        out = f"{name}_{number}"
    return out


def spellings(symbols: Iterable[Symbol], reserved: Iterable[str] = ()) -> dict[Symbol, str]:
    """One distinct identifier for each symbol: its own name where that is free, else name_2, ….

    Symbols are spelt in the order given, so the result does not depend on their numbers.
    """
    taken = set(reserved)
    out: dict[Symbol, str] = {}
    for symbol in symbols:
        if symbol in out:
            continue
        spelling = unused(re.sub(r"\W", "_", symbol.name), taken)
        taken.add(spelling)
        out[symbol] = spelling
    return out


def container_of(name: str) -> str:
    """The program's name for a container, of the name of a part of it."""
    return name.partition(".")[0]
