"""Unique C identifiers for a function's symbols, its arrays' extents and strides, and temporaries."""

from __future__ import annotations

from appyc.c_gen.text.c_helpers import reserved_names
from appyc.c_gen.text.c_types import C_TYPES
from appyc.ir.names import in_ascii
from appyc.ir.nodes import Function, Symbol
from appyc.ir.visit import symbols_of

_DERIVED = ("lo", "trips", "partial", "out", "held", "at", "held_at", "length_at")
"""The suffixes that the generator appends to a symbol's spelling for variables derived from it."""

MAX_NDIM = 64
"""NumPy's limit."""

_KEYWORDS = """
    asm auto bool break case char const continue default do double else enum extern false float for
    goto if inline int long register restrict return short signed sizeof static struct switch true
    typedef typeof union unsigned void volatile while
"""
_PREDEFINED = "linux unix i386 calloc aligned_alloc memset bytes_of main"
_OWN = """
    frame fault failed threads begin end piece pieces shared began trips leave value none slot term old again
    at_ count_ first_ row_ from_ width streams depth result
    ahead base copies_pay copy e first in_place last part
"""


def identifier(name: str) -> str:
    """A C identifier that reads like the Python one.

    A leading underscore is reserved in C, and C compilers differ in the letters that they take.
    """
    letters = in_ascii(name)
    return letters if letters[:1].isalpha() else f"v{letters}"


class Names:
    """Distinct spellings, the same in every C function of a module."""

    def __init__(self, fn: Function) -> None:
        whole = [fn, *(callee.function for callee in fn.callees)]
        positions = {f"position{axis}" for axis in range(MAX_NDIM)}
        self._taken = {*_words(), *positions, *C_TYPES.values(), *reserved_names()}
        self._symbols = {symbol: self._fresh_family(symbol.name) for symbol in symbols_of(whole)}
        arrays = [symbol for symbol in self._symbols if symbol.is_array]
        self._extents = {a: self._axes(a, "n") for a in arrays}
        self._strides = {a: self._axes(a, "s") for a in arrays}

    def fresh(self, name: str) -> str:
        """An identifier that is not in use yet, similar to `name`."""
        wanted = spelling = identifier(name)
        number = 1
        while spelling in self._taken:
            number += 1
            spelling = f"{wanted}_{number}"
        self._taken.add(spelling)
        return spelling

    def _fresh_family(self, name: str) -> str:
        """A spelling whose derived names (`i_lo`, `s_partial`, ...) are free too."""
        spelling = self.fresh(name)
        while any(f"{spelling}_{ending}" in self._taken for ending in _DERIVED):
            spelling = self.fresh(name)
        self._taken |= {f"{spelling}_{ending}" for ending in _DERIVED}
        return spelling

    def of(self, symbol: Symbol) -> str:
        return self._symbols[symbol]

    def extent(self, array: Symbol, axis: int) -> str:
        return self._extents[array][axis]

    def stride(self, array: Symbol, axis: int) -> str:
        return self._strides[array][axis]

    def _axes(self, array: Symbol, letter: str) -> tuple[str, ...]:
        return tuple(self.fresh(f"{array.name}_{letter}{axis}") for axis in range(array.array.ndim))


def _words() -> list[str]:
    return f"{_KEYWORDS} {_PREDEFINED} {_OWN}".split()
