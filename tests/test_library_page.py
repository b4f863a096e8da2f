"""docs/library.md: which functions of NumPy and scipy.special are compiled, and for which element types."""

from __future__ import annotations

import textwrap
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from scipy import special

from appyc.errors import CompileError
from appyc.frontend.expressions.calls import _SPECIAL
from appyc.frontend.library.array_calls import _FUNCTIONS
from appyc.frontend.library.scalar_functions import FUNCTIONS
from appyc.library.table import text_of
from tests.lowering import lowered

PAGE = Path(__file__).parent.parent / "docs" / "library.md"
NAMESPACES = {"numpy": np, "numpy.linalg": np.linalg, "scipy.special": special}
DTYPES = ("bool", "int8", "int64", "uint8", "float32", "float64", "complex128")


def one(a: Any) -> Any:
    return function(a)  # noqa: F821  (a global of the copy)


def two(a: Any, b: Any) -> Any:
    return function(a, b)  # noqa: F821


def three(a: Any, b: Any, c: Any) -> Any:
    return function(a, b, c)  # noqa: F821


def pair(a: Any) -> Any:
    return function((a, a))  # noqa: F821


def one_in_a_loop(a: Any) -> Any:
    for _ in range(2):
        function(a)  # noqa: F821


def two_in_a_loop(a: Any, b: Any) -> Any:
    for _ in range(2):
        function(a, b)  # noqa: F821


def lowers(template: Callable[..., Any], obj: object, *args: object) -> bool:
    """Whether a call of the function compiles for arguments of these types."""
    fn = types.FunctionType(template.__code__, {**globals(), "function": obj}, template.__name__)
    try:
        lowered(fn, *args)
    except CompileError:
        return False
    return True


def compiled_for(obj: object) -> str:
    """The element types that a function is compiled for; "" where it has no form as loops."""
    known = text_of(obj) is not None or any(obj in table for table in (_FUNCTIONS, FUNCTIONS, _SPECIAL))
    if not known:
        return ""
    found, likely = [], 0  # a call that compiles for one element type most often does for the next
    for dtype in DTYPES:
        vector, matrix, row = (np.ones(shape, dtype) for shape in (3, (3, 3), (1, 3)))
        calls = [
            (one, vector),
            (two, vector, vector),
            (one, matrix),
            (three, vector, vector, vector),
            (two, matrix, matrix),
            (pair, vector),
            (two, vector, 0),
            (two, vector, (1, 3)),
            (two, row, 0),
        ]
        if (text := text_of(obj)) is not None and text.in_loops:
            calls = [(one_in_a_loop, matrix), (two_in_a_loop, matrix, vector), (two_in_a_loop, matrix, 2)]
        for number in sorted(range(len(calls)), key=lambda k: k != likely):
            template, *args = calls[number]
            if lowers(template, obj, *args):
                found.append(dtype)
                likely = number
                break
    return "all" if len(found) == len(DTYPES) else " ".join(found) or "as numbers"


def page() -> str:
    """The page's text."""
    lines = [
        "# Which functions of NumPy and SciPy are compiled",
        "",
        "Calls with arrays of each element type "
        f"({', '.join(f'`{d}`' for d in DTYPES)}) in a function under `appyc.jit`; those that factorise a matrix, in "
        "a loop of it. All other functions run in Python "
        "between the parts that are compiled. What `appyc.numpy` records is in recorded.md. Made by "
        "`pytest tests/test_library_page.py --update-golden`.",
    ]
    for name, module in NAMESPACES.items():
        lines += ["", f"## {name}"]
        found: dict[str, list[str]] = {}
        for attribute in sorted(n for n in module.__all__ if not n.startswith("_")):
            obj = getattr(module, attribute)
            if callable(obj) and not isinstance(obj, type) and not issubclass(type(obj), type):
                found.setdefault(compiled_for(obj), []).append(attribute)
        for kinds, names in sorted(found.items(), key=lambda item: (item[0] == "", item[0])):
            title = f"**{kinds or 'in Python'}** ({len(names)}): `{' '.join(names)}`"
            lines += ["", *textwrap.wrap(title, 120, break_on_hyphens=False)]
    return "\n".join([*lines, ""])


@pytest.mark.skipif(
    not np.__version__.startswith("2.4.") or not scipy.__version__.startswith("1.17."),
    reason="the page lists the functions of other versions",
)
def test_the_page_of_functions_is_up_to_date(request: pytest.FixtureRequest) -> None:
    text = page()
    if request.config.getoption("--update-golden"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text
