"""The table of library text: which Python function is compiled where a program calls a library's function.

    @of(np.cross)
    def cross(a, b): ...

The text is inlined at the call. It may use all that appyc compiles, other functions of the library, and
`primitives.py`. Nothing is tested in it: indices are in bounds and not negative, integers fit into 64 bits, and
divisions are NumPy's. A tuple given for a parameter annotated `np.ndarray` is made an array. A list is made one
too, but for a parameter annotated `list | np.ndarray`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a library function. elements: the first so many parameters are numbers, and arrays given for them
    are gone through element by element; 0 for a function of whole arrays. floats: they are converted to the float
    type that NumPy computes in. tested: its integers are Python's, which do not wrap. in_loops: it is compiled where a
    loop stands around the call, for so many elements of the first array; else the library is called, which takes large
    arrays faster. With the limit ANY, C has it outside of loops, too. on_cpu: code for a CPU has it for any number of
    elements, as it calls the library itself (`LIBRARY`). inlined: it is compiled in a function that is
    inlined, which cannot be parted around the call, for so many. users: a user has registered it, so that all is tested
    as in the user's functions."""

    function: FunctionType
    elements: int = 0
    floats: bool = False
    tested: bool = False
    in_loops: int = 0
    inlined: int = 0
    on_cpu: bool = False
    users: bool = False


ANY = sys.maxsize
"""The limit on elements that allows any number of them."""

FUNCTIONS: dict[object, Text] = {}
METHODS: dict[str, Text] = {}
SCIPY: dict[str, Text] = {}
"""The texts of scipy.special's functions by name, since the program imports that module if at all."""

LIST_LOOPS: set[object] = set()
"""The code of the texts that loop over lists."""


LIBRARY: dict[object, str] = {}
"""By the code of a text, the function of C that does the same by a library (`c_gen/headers/sorting.h`). The text is
called, not inlined, and runs where the library has no such function."""

FEW = 64
"""The most elements that a text sorts in less time than a call of NumPy's sort from Python takes."""


def in_library(name: str) -> Callable[[F], F]:
    """Says that a function of C does what the text does, for arrays in C's order."""

    def add(text: F) -> F:
        LIBRARY[text.__code__] = name
        return text

    return add


def list_loop(text: F) -> F:
    """Says that a text loops over lists: in a function with many of them it is called, not inlined."""
    LIST_LOOPS.add(text.__code__)
    return text


def of(
    *functions: object,
    method: str = "",
    elements: int = 0,
    floats: bool = False,
    tested: bool = False,
    in_loops: int = 0,
    inlined: int = 0,
    on_cpu: bool = False,
) -> Callable[[F], F]:
    """Says that the decorated text is what these functions, and the array method of a name, do."""

    def add(text: F) -> F:
        assert isinstance(text, FunctionType)
        entry = Text(text, elements, floats, tested, in_loops, inlined, on_cpu)
        FUNCTIONS.update(dict.fromkeys(functions, entry))
        if method:
            METHODS[method] = entry
        return text

    return add


def of_scipy(elements: int) -> Callable[[F], F]:
    """Says that the decorated text is what the function of its name in scipy.special does."""

    def add(text: F) -> F:
        assert isinstance(text, FunctionType)
        SCIPY[text.__name__] = Text(text, elements, floats=True)
        return text

    return add


def text_of(function: object) -> Text | None:
    """The text of a library's function; None for other objects."""
    if not isinstance(function, Hashable):
        return None
    found = FUNCTIONS.get(function)
    if found is None and isinstance(function, np.ufunc) and function.__name__ in SCIPY:
        is_it = getattr(sys.modules.get("scipy.special"), function.__name__, None) is function
        return SCIPY[function.__name__] if is_it else None
    return found


def register(function: Callable[..., Any], replacement: Callable[..., Any]) -> None:
    """Compiles calls of a function as those of a Python function, which is inlined: for functions that appyc cannot
    compile, or whose text is not Python. Functions that were compiled before keep what they have."""
    home = sys.modules.get(replacement.__module__)
    if (
        not isinstance(replacement, FunctionType)
        or getattr(home, replacement.__name__, None) is not replacement
    ):
        raise TypeError(
            f"{replacement!r} cannot be registered: it must be a function of a module's top level"
        )
    FUNCTIONS[function] = Text(replacement, users=True)


def registered() -> str:
    """The names of what users have registered, as a part of keys of compiled code."""
    users = [(f, t.function) for f, t in FUNCTIONS.items() if t.users]
    return repr(sorted(f"{getattr(f, '__name__', f)}: {t.__module__}.{t.__qualname__}" for f, t in users))
