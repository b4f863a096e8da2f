"""The values that a value is made of, and the same value of other parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar, cast

from appyc.errors import Loc
from appyc.frontend.types import values as vals
from appyc.ir.nodes import Expr, Load

V = TypeVar("V", bound=vals.Value)

_PARTS: dict[type, tuple[str, ...]] = {
    vals.DictValue: ("values",), vals.MaybeNone: ("value", "is_none"), vals.ReturnedChoice: ("which",),
    vals.ReturnedList: ("count",), vals.ReturnedContainer: ("lists",), vals.ListRows: ("columns", "starts"),
    vals.TupleRow: ("columns",), vals.Records: ("fields", "rows"),
}  # fmt: skip
"""The fields of values that are made of others, each of which is one."""


def parts_of(value: vals.Value) -> tuple[vals.Value, ...]:
    """The values that a value is made of: items of a tuple, values of a dict, numbers beside what is returned."""
    match value:
        case vals.TupleValue():
            return value.items
        case vals.ReturnedView():
            return value.later
        case _:
            return tuple(getattr(value, name) for name in _PARTS.get(type(value), ()))


def with_parts(value: vals.Value, part: Callable[[vals.Value], Any]) -> vals.Value:
    """The value with each of its parts as `part` gives it, which must be of the same kind."""
    parts = tuple(part(inner) for inner in parts_of(value))
    match value:
        case vals.TupleValue():
            return replace(value, items=parts, table=None)
        case vals.ReturnedView():
            return replace(value, later=parts)
        case _:
            names = _PARTS.get(type(value), ())
            return replace(value, **dict(zip(names, parts, strict=True))) if names else value


def walk(value: vals.Value) -> Iterator[vals.Value]:
    """The value and what it is made of, in order."""
    yield value
    for part in parts_of(value):
        yield from walk(part)


def numbers_of(value: vals.Value) -> list[vals.Number]:
    """The numbers that a value is made of, in order."""
    return [part for part in walk(value) if isinstance(part, vals.Number)]


def with_numbers(value: V, numbers: Iterator[vals.Number]) -> V:
    """The value with these for its numbers, in order."""
    whole: vals.Value = value
    if isinstance(whole, vals.Number):
        return cast(V, next(numbers))
    return cast(V, with_parts(whole, lambda part: with_numbers(part, numbers)))


def item_at(slots: vals.ListSlots, at: Expr, loc: Loc) -> vals.Value:
    """The list's item at a position that is known to be in bounds; the access is not checked."""
    cells = [Load(column, (at,), checked=False, loc=loc) for column in slots.columns]
    flags = iter(cells[len(slots.kinds) :])
    numbers = tuple(
        vals.Number(cell, kind.python, is_int=next(flags) if kind.flagged else None)
        for cell, kind in zip(cells, slots.kinds, strict=False)
    )
    return replace(slots.of_tuples, items=numbers) if slots.of_tuples else numbers[0]
