"""What a call does to the arrays it is given, and what it returns, as far as others need to know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from appyc.compiler.analyse import Analysed
from appyc.ir.nodes import Symbol
from appyc.ir.visit import arrays_written


@dataclass(frozen=True, slots=True)
class Effects:
    """written: parameters that are stored into, by number. results: dtypes of the numbers that are
    returned. single: one is returned, not a tuple of them. closed: it touches no array but its
    arguments, returns nothing but numbers, and takes nothing but arrays and numbers."""

    written: tuple[int, ...]
    results: tuple[np.dtype, ...]
    single: bool
    closed: bool


def effects_of(analysed: Analysed) -> Effects:
    """The effects of a function that was analysed for some types of arguments."""
    function = analysed.plain
    stored = arrays_written(function)
    numbers = [r.value for r in function.results if not isinstance(r.value, Symbol)]
    items = function.tree if isinstance(function.tree, tuple) else (function.tree,)
    flat = function.tree is None or all(isinstance(t, int) for t in items)
    return Effects(
        tuple(k for k, symbol in enumerate(function.params) if symbol in stored),
        tuple(value.dtype.numpy for value in numbers),
        isinstance(function.tree, int),
        flat and len(numbers) == len(function.results) and not analysed.outside.captures,
    )
