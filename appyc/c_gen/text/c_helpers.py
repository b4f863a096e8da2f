"""The C functions that one C file takes from the headers, and prototypes of library functions.

Each is emitted only where it is used, by the dtype of its elements where it is a template.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from appyc.c_gen.text.c_headers import DECLARED, PLAIN, TEMPLATES
from appyc.c_gen.text.c_types import TYPEDEFS, c_type, real_suffix
from appyc.c_gen.text.math_functions import IN_LANES, ONE_TOO_FAR, PROTOTYPES
from appyc.c_gen.translation_units import Definition
from appyc.ir.types import DType


def reserved_names() -> set[str]:
    """Every name that this module can put into a C file."""
    names = {*PLAIN, *DECLARED}
    names |= {f"{operation}_{dtype}" for operation in TEMPLATES for dtype in DType}
    names |= {name + suffix for name in PROTOTYPES for suffix in ("", "f")}
    return names


class Helpers:
    """The functions that one C file needs, each after those that it calls."""

    def __init__(self, vector_functions: frozenset[str] = frozenset()) -> None:
        self._texts: dict[str, str | Definition] = {}
        self._needs: dict[str, tuple[str, ...]] = {}
        self._asked: dict[str, None] = {}
        """The helpers that the functions of the module call directly."""
        self._vector_functions = vector_functions

    def plain(self, name: str) -> str:
        """Adds a helper that has no element type; returns its name."""
        return self._ask(self._plain(name))

    def typed(self, operation: str, dtype: DType) -> str:
        """Adds the helper of an operation on a type; returns its name."""
        return self._ask(self._typed(operation, dtype))

    def library(self, name: str, dtype: DType) -> str:
        """Adds the prototype of the C library's function for a type; returns its name."""
        return self._ask(self._library(name, dtype))

    def function(self, name: str, dtype: DType) -> str:
        """Adds a C library function for a call that may be vectorised; returns its name. Where results of its
        vector form can be out of range by one rounding, a helper that bounds them is added."""
        if name in ONE_TOO_FAR and name + real_suffix(dtype) in self._vector_functions:
            return self.typed(f"bounded_{name}", dtype)
        return self.library(name, dtype)

    def declared_reduction(self, op: str, dtype: DType) -> str:
        """Adds the declaration of an OpenMP reduction by one of our own functions; returns its name."""
        combine = self._typed(op, dtype)
        name = f"reduce_{combine}"
        text = (
            f"#pragma omp declare reduction({name} : {c_type(dtype)} : omp_out = {combine}(omp_out, omp_in)) "
            "initializer(omp_priv = omp_orig)"
        )
        return self._ask(self._add(name, text, (combine,)))

    def _ask(self, name: str) -> str:
        self._asked.setdefault(name)
        return name

    def _add(self, name: str, text: str | Definition, needs: tuple[str, ...] = ()) -> str:
        if name not in self._texts:
            self._texts[name] = text
            self._needs[name] = needs
        return name

    def _plain(self, name: str) -> str:
        if name not in self._texts:
            helper = PLAIN[name]
            self._add(name, helper.text, tuple(self._plain(need) for need in helper.needs))
        return name

    def _typed(self, operation: str, dtype: DType) -> str:
        name = f"{operation}_{dtype}"
        if name not in self._texts:
            special = f"{operation}_of_{'complex' if dtype.is_complex else 'float'}"
            is_special = (dtype.is_complex or dtype.is_float) and special in TEMPLATES
            helper = TEMPLATES[special if is_special else operation]
            needs = tuple(self._need(need, dtype) for need in helper.needs)
            self._add(name, _instantiated(helper.text, dtype), needs)
        return name

    def _need(self, need: str, dtype: DType) -> str:
        """The helper that a template needs, for a type."""
        if need in PLAIN:
            return self._plain(need)
        return self._typed(need, dtype) if need in TEMPLATES else self._library(need, dtype)

    def _library(self, name: str, dtype: DType) -> str:
        spelled = name + real_suffix(dtype)
        prototype = _filled(PROTOTYPES[name], dtype)
        if spelled in self._vector_functions:
            prototype = f"{IN_LANES} {prototype}"
        return self._add(spelled, prototype)

    # ---- texts

    def text(self) -> str:
        """The text of all helpers, for a module of one file."""
        return "\n".join(text if isinstance(text, str) else text.static for text in self._texts.values())

    def declared(self) -> str:
        """The text of the helpers for one file of several: functions that have files of their own are only declared."""
        return self._shared(self._asked, frozenset())

    def libraries(self) -> tuple[str, ...]:
        """The files of those functions, which are the same whatever else a module needs: one for what loops in
        threads and arrays take, and one for the products of each type of element."""
        own = [name for name, text in self._texts.items() if isinstance(text, Definition)]
        plain = [name for name in own if name in PLAIN]
        out = [_support()] if plain else []
        types = [t for t in DType if any(f"{operation}_{t}" in own for operation in PRODUCTS)]
        return (*out, *map(_products_of, types))

    def _shared(self, roots: Iterable[str], own: frozenset[str]) -> str:
        """The texts of some helpers and of all that these call: definitions for the names in `own`,
        declarations for others that are defined in a file of their own."""
        needed: set[str] = set()
        stack = list(roots)
        while stack:
            name = stack.pop()
            if name not in needed:
                needed.add(name)
                if isinstance(self._texts[name], str) or name in own:
                    stack += self._needs[name]
        texts = ((name, text) for name, text in self._texts.items() if name in needed)
        return "\n".join(
            text if isinstance(text, str) else text.shared if name in own else text.declared
            for name, text in texts
        )


SUPPORT = (
    "threads_pay", "threads_used", "writes_past", "allocate", "allocate_again", "resize",
    "release", "stack_end",
)  # fmt: skip
"""Functions without an element type that are compiled once for all programs."""

PRODUCTS = ("product", "products")
"""Functions for an element type that are compiled once for all programs."""


@cache
def team_text() -> str:
    """The functions that parallel loops call, as the start of a C file."""
    return Path(__file__).with_name("team.c").read_text()


@cache
def _support() -> str:
    helpers = Helpers()
    return f"{team_text()}\n{_defined(helpers, [helpers.plain(name) for name in SUPPORT])}"


@cache
def _products_of(dtype: DType) -> str:
    helpers = Helpers()
    return _defined(helpers, [helpers.typed(name, dtype) for name in PRODUCTS])


def _defined(helpers: Helpers, names: list[str]) -> str:
    """The text of a C file that defines these functions."""
    return f"{TYPEDEFS}\n\n{helpers._shared(names, frozenset(names))}\n"


def _instantiated(text: str | Definition, dtype: DType) -> str | Definition:
    if isinstance(text, Definition):
        return text.filled(lambda part: _filled(part, dtype))
    return _filled(text, dtype)


def _filled(template: str, dtype: DType) -> str:
    """The template with its placeholders filled in, word by word."""
    values = {
        "T": c_type(dtype),
        "U": f"uint{dtype.bits}_t",
        "R": c_type(dtype.part),
        "BITS": str(dtype.bits),
        "BYTES": str(dtype.itemsize),
    }

    def word(match: re.Match[str]) -> str:
        text = match[0]
        if text.endswith("_D"):
            return f"{text[:-1]}{dtype}"
        if text.endswith("F") and text[:-1] in PROTOTYPES:
            return text[:-1] + real_suffix(dtype)
        return values.get(text, text)

    return re.sub(r"\w+", word, template)
