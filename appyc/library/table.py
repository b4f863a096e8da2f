"""The table of library text: which Python function is compiled where a program calls a library's function.

    @of(np.cross)
    def cross(a, b): ...

The text is inlined at the call. It may use all that appyc compiles, other functions of the library, and
`primitives.py`. Its indices are in bounds and not negative, so accesses to single elements are not tested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a library function. elements: the first so many parameters are numbers, and arrays given for them
    are gone through element by element; 0 for a function of whole arrays. floats: they are converted to the float
    type that NumPy computes in. users: it was registered by a user, so that its accesses are tested, and its errors
    point into it."""

    function: FunctionType
    elements: int = 0
    floats: bool = False
    users: bool = False


FUNCTIONS: dict[object, Text] = {}
METHODS: dict[str, Text] = {}


def of(*functions: object, method: str = "", elements: int = 0, floats: bool = False) -> Callable[[F], F]:
    """Says that the decorated text is what these functions, and the array method of a name, do."""

    def add(text: F) -> F:
        assert isinstance(text, FunctionType)
        entry = Text(text, elements, floats)
        FUNCTIONS.update(dict.fromkeys(functions, entry))
        if method:
            METHODS[method] = entry
        return text

    return add
