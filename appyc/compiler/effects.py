"""Summary of a function's effects for its callers: arrays written, and types and shapes of the results.

    out = np.zeros((a.shape[0] - 1, n)); ...; return out        with a of 5 x 3 and n = 2: (4, 2)

The shapes of what a call would return are inferred without running it. Scalars are followed through the function's
statements as far as they depend on shapes and on scalar arguments alone. Where the elements of an array decide, or a
loop does, a shape is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from appyc.analysis.cost.argument_sizes import Sized
from appyc.analysis.sets.evaluate import evaluate
from appyc.compiler.analyse import Analysed
from appyc.ir.invariance import changed_in
from appyc.ir.nodes import Alloc, Assign, Expr, Fail, Function, If, Load, Stmt, Symbol
from appyc.ir.visit import arrays_written, walk

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Effects:
    """written: parameters that are stored into, by number. results: dtypes of the numbers and arrays that are
    returned. single: one is returned, not a tuple of them. closed: it touches no array but its arguments, returns
    nothing but new arrays and numbers of NumPy's (what Python's own do depends on what they meet), and takes nothing
    but arrays and numbers."""

    written: tuple[int, ...]
    results: tuple[np.dtype, ...]
    single: bool
    closed: bool
    _function: Function = field(repr=False, compare=False)

    def shapes(self, args: Sequence[Any]) -> tuple[Shape, ...] | None:
        """The shapes of the results, () for numbers, of a call. None where they depend on the values of arrays, or
        the call would raise.

        args: an array's shape, as a tuple; a number; or None for a number that is not known.
        """
        function = self._function
        given = zip(function.params, args, strict=True)
        known = {s: Sized(value) if s.is_array else value for s, value in given if value is not None}
        try:
            _follow(function.body, known)
            return tuple(
                known[r.value].shape if isinstance(r.value, Symbol) else () for r in function.results
            )
        except (LookupError, _RaisedError):
            return None


def effects_of(analysed: Analysed) -> Effects:
    """The effects of a function that was analysed for some types of arguments."""
    function = analysed.plain
    stored = arrays_written(function)
    items = function.tree if isinstance(function.tree, tuple) else (function.tree,)
    count = len(function.results)
    has_pythons = any(result.python for result in function.results)
    flat = function.tree is None or items == tuple(range(count))
    new = [r.value for r in function.results if isinstance(r.value, Symbol)]
    fresh = len(set(new)) == len(new) and not set(new) & set(function.params)
    return Effects(
        tuple(k for k, symbol in enumerate(function.params) if symbol in stored),
        tuple(result.value.dtype.numpy for result in function.results),
        isinstance(function.tree, int),
        flat and fresh and not has_pythons and not analysed.outside.captures,
        function,
    )


# ---------------------------------------------------------------- shapes of results


class _RaisedError(Exception):
    """The call would raise."""


def _follow(body: tuple[Stmt, ...], known: dict[Symbol, Any]) -> None:
    """Evaluates statements abstractly; a scalar or shape that a statement makes unknown is removed."""
    for stmt in body:
        match stmt:
            case Assign(target, value):
                _know(target, _value(value, known), known)
            case Alloc(array, shape):
                lengths = [_value(extent, known) for extent in shape]
                _know(array, None if None in lengths else Sized(tuple(map(int, lengths))), known)
            case If(cond, then, orelse):
                holds = _value(cond, known)
                if holds is None:
                    _forget((stmt,), known)
                else:
                    _follow(then if holds else orelse, known)
            case Fail():
                raise _RaisedError
            case _:
                _forget((stmt,), known)


def _know(symbol: Symbol, value: Any, known: dict[Symbol, Any]) -> None:
    if value is None:
        known.pop(symbol, None)
    else:
        known[symbol] = value


def _value(expr: Expr, known: Mapping[Symbol, Any]) -> Any:
    """The value of an expression; None for one that depends on elements, or on what is not known."""
    if any(isinstance(part, Load) for part in walk(expr)):
        return None
    try:
        return evaluate(expr, known)
    except LookupError:
        return None


def _forget(body: tuple[Stmt, ...], known: dict[Symbol, Any]) -> None:
    """Scalars that the statements may change, and arrays that they may make."""
    for symbol in changed_in(body):
        known.pop(symbol, None)
