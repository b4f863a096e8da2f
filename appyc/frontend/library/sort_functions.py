"""Sorting in compiled code: `window.sort()` of a list, `sorted(...)`, and np.sort, np.median and their like of little.

NumPy's own sort is faster for large arrays, so these functions are compiled where two loops stand around them or
one with a pragma, and where the number of elements is known and small; elsewhere the library is called.

Does not handle: `key` and `reverse` (`desugar/consumed_generators.py`), other axes than the last of a vector, complex
numbers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor, product
from appyc.frontend.expressions.inlining import inlined
from appyc.frontend.library.axis_arguments import Arguments, Entry, one_axis
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ArrayRef, Number, Value
from appyc.ir.nodes import Const, Expr, Symbol
from appyc.library import sorting

_SMALL = 64
"""So many elements are sorted in less time than a call of the library's takes."""


def sort_in_place(scope: Scope, array: Symbol, count: Expr, loc: Loc) -> None:
    """Sorts the first `count` elements of a vector."""
    if array.dtype.is_complex:
        raise UnsupportedError("complex numbers are not sorted in compiled code", loc, "sort their sizes")
    arguments: Arguments = {"a": ArrayRef(array), "n": Number(count, python=True)}
    inlined(scope, sorting.sort_vector, arguments, loc, trusted=True)


def _of_few(text: Callable[..., Any], *ways: str, of_all: bool = False) -> Entry:
    """A text that sorts what its first parameter is. Raises UnsupportedError where the library is better.
    ways: arguments that change nothing of what is computed. of_all: along all axes."""
    first, *others = names = (*inspect.signature(text).parameters,)

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        tensor = as_tensor(scope, given[first], loc)
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
            or not all(isinstance(given[name], Number) for name in others)
            or one_axis(given, loc, -1) not in (-1, 0)
        ):
            name = text.__name__
            raise UnsupportedError(f"np.{name} is left to the library, which sorts many elements faster", loc)
        return inlined(scope, text, {name: given[name] for name in names}, loc, trusted=True)

    return (*names, *ways), make


FUNCTIONS: dict[object, Entry] = {
    np.sort: _of_few(sorting.sort, "axis", "kind"),
    np.argsort: _of_few(sorting.argsort, "axis", "kind"),
    np.median: _of_few(sorting.median, of_all=True),
    np.quantile: _of_few(sorting.quantile, of_all=True),
    np.percentile: _of_few(sorting.percentile, of_all=True),
    np.unique: _of_few(sorting.unique, of_all=True),
}
