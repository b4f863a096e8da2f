"""Shape inference: the shapes of the arrays that a call would return, without running it.

    out = np.zeros((a.shape[0] - 1, n)); ...; return out        with a of 5 x 3 and n = 2: (4, 2)

Scalars are followed through the function's statements as far as they depend on shapes and on scalar arguments alone.
Where the elements of an array decide, or a loop does, a shape is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from appyc.analysis.sets.evaluate import evaluate
from appyc.ir.nodes import Alloc, Assign, Expr, Fail, Function, If, Load, Stmt, Symbol
from appyc.ir.visit import scalars_written, statements, walk

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Extents:
    """An array of which nothing but the shape may be asked."""

    shape: Shape


class _RaisedError(Exception):
    """The call would raise."""


def result_shapes(
    function: Function, shapes: Mapping[Symbol, Shape], scalars: Mapping[Symbol, Any]
) -> tuple[Shape, ...] | None:
    """The shapes of the results, () for numbers, of a function of arrays of these shapes and scalars that are known.

    None where one cannot be told, or the call is seen to raise.
    """
    known: dict[Symbol, Any] = {**scalars, **{symbol: _Extents(shape) for symbol, shape in shapes.items()}}
    try:
        _follow(function.body, known)
        return tuple(known[r.value].shape if isinstance(r.value, Symbol) else () for r in function.results)
    except (LookupError, _RaisedError):
        return None


def _follow(body: tuple[Stmt, ...], known: dict[Symbol, Any]) -> None:
    """Evaluates statements abstractly; a scalar or shape that a statement makes unknown is removed."""
    for stmt in body:
        match stmt:
            case Assign(target, value):
                _know(target, value, known)
            case Alloc(array, shape):
                try:
                    known[array] = _Extents(tuple(int(_value(extent, known)) for extent in shape))
                except LookupError:
                    known.pop(array, None)
            case If(cond, then, orelse):
                try:
                    holds = bool(_value(cond, known))
                except LookupError:
                    _forget((stmt,), known)
                    continue
                _follow(then if holds else orelse, known)
            case Fail():
                raise _RaisedError
            case _:
                _forget((stmt,), known)


def _know(target: Symbol, value: Expr, known: dict[Symbol, Any]) -> None:
    try:
        known[target] = _value(value, known)
    except LookupError:
        known.pop(target, None)


def _value(expr: Expr, known: Mapping[Symbol, Any]) -> Any:
    """Raises LookupError for what depends on elements."""
    if any(isinstance(part, Load) for part in walk(expr)):
        raise LookupError("an element")
    return evaluate(expr, known)


def _forget(body: tuple[Stmt, ...], known: dict[Symbol, Any]) -> None:
    """Scalars that the statements may change, and arrays that they may make."""
    made = {stmt.array for stmt in statements(body) if isinstance(stmt, Alloc)}
    for symbol in made | scalars_written(body):
        known.pop(symbol, None)
