"""Summary of a function's effects for its callers: arrays written, and types and shapes of the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from appyc.compiler.analyse import Analysed
from appyc.compiler.result_shapes import Shape, result_shapes
from appyc.ir.nodes import Function, Result, Symbol
from appyc.ir.visit import arrays_written


@dataclass(frozen=True, slots=True)
class Effects:
    """written: parameters that are stored into, by number. results: dtypes of the numbers and arrays that are
    returned. python: which of them are numbers of Python's. single: one is returned, not a tuple of them.
    closed: it touches no array but its arguments, returns nothing but numbers and new arrays, and takes nothing
    but arrays and numbers."""

    written: tuple[int, ...]
    results: tuple[np.dtype, ...]
    python: tuple[bool, ...]
    single: bool
    closed: bool
    _function: Function = field(repr=False, compare=False)

    def shapes(self, args: Sequence[Any]) -> tuple[Shape, ...] | None:
        """The shapes of the results, () for numbers, of a call. None where they depend on the values of arrays, or
        the call would raise.

        args: an array's shape, as a tuple; a number; or None for a number that is not known.
        """
        function = self._function
        given = dict(zip(function.params, args, strict=True))
        shapes = {symbol: value for symbol, value in given.items() if symbol.is_array}
        known = {s: v for s, v in given.items() if not s.is_array and v is not None}
        return result_shapes(function, shapes, known)


def effects_of(analysed: Analysed) -> Effects:
    """The effects of a function that was analysed for some types of arguments."""
    function = analysed.plain
    stored = arrays_written(function)
    items = function.tree if isinstance(function.tree, tuple) else (function.tree,)
    count = len(function.results)
    flat = function.tree is None or items == tuple(range(count))
    new = [r.value for r in function.results if isinstance(r.value, Symbol)]
    fresh = len(set(new)) == len(new) and not set(new) & set(function.params)
    return Effects(
        tuple(k for k, symbol in enumerate(function.params) if symbol in stored),
        tuple(_dtype(result) for result in function.results),
        tuple(result.python for result in function.results),
        isinstance(function.tree, int),
        flat and fresh and not analysed.outside.captures,
        function,
    )


def _dtype(result: Result) -> np.dtype:
    return result.value.dtype.numpy
