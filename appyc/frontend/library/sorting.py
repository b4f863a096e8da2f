"""Sorting in compiled code: `window.sort()` of a list, `sorted(...)`, and np.sort and np.median of little.

NumPy's own sort is faster for large arrays, so np.sort and np.median are compiled where two loops stand around them or
one with a pragma, and where the number of elements is known and small; elsewhere the library is called.

Does not handle: lists of tuples, `key` and `reverse`, other axes than the last of a vector, complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor, product
from appyc.frontend.expressions.inlining import inlined
from appyc.frontend.library.axis_arguments import Arguments, Entry
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ArrayRef, Number, Value
from appyc.ir.nodes import Const, Expr, Symbol
from appyc.library import sorting

_SMALL = 64
"""So many elements are sorted in less time than a call of the library's takes."""


def sort_in_place(scope: Scope, array: Symbol, count: Expr, loc: Loc) -> None:
    """Sorts the first `count` elements of a vector."""
    if array.dtype.is_complex:
        raise UnsupportedError("complex numbers are not sorted in compiled code", loc,
                               hints=("sort their sizes",))  # fmt: skip
    arguments: Arguments = {"a": ArrayRef(array), "n": Number(count, python=True)}
    inlined(scope, sorting.sort_vector, arguments, loc, trusted=True)


def _of_few(text: Callable[..., Any], *, of_all: bool) -> Entry:
    """A text that sorts. Raises UnsupportedError where the library is better. of_all: along all axes."""

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        tensor = as_tensor(scope, given["a"], loc)
        count = product(tensor.extents, loc)
        asked = any(
            frame.asked for frame in scope.loops
        )  # to run in any order, which no call of a library can
        is_small = isinstance(count, Const) and int(count.value.real) <= _SMALL
        is_vector = tensor.ndim == 1 or (of_all and tensor.ndim > 0)
        if (
            not is_vector
            or tensor.element.dtype.is_complex
            or not (asked or len(scope.loops) > 1 or is_small)
        ):
            name = text.__name__
            raise UnsupportedError(f"np.{name} is left to the library, which sorts many elements faster", loc)
        return inlined(scope, text, {"a": given["a"]}, loc, trusted=True)

    return ("a",), make


FUNCTIONS: dict[object, Entry] = {
    np.sort: _of_few(sorting.sort, of_all=False),
    np.median: _of_few(sorting.median, of_all=True),
}
