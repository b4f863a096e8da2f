"""The values that a value is made of, and the same value of other parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar, cast

from appyc.errors import GENERATED, Loc
from appyc.frontend.types import values as vals
from appyc.ir.nodes import Cast, Const, Expr, Load
from appyc.ir.types import DType

V = TypeVar("V", bound=vals.Value)

_PARTS: dict[type, tuple[str, ...]] = {
    vals.DictValue: ("values",), vals.MaybeNone: ("value", "is_none"), vals.ReturnedChoice: ("which",),
    vals.ReturnedList: ("count",), vals.ReturnedContainer: ("lists",), vals.ListRows: ("columns", "starts"),
    vals.TupleRow: ("columns",), vals.Records: ("fields", "rows"),
}  # fmt: skip
"""The fields of values that are made of others, each of which is one."""


_PLACE = vals.Number(Const(0, DType.INT64, loc=GENERATED), python=True)
"""Stands for a number of a tuple."""


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


def with_numbers(value: V, numbers: Iterator[vals.Value]) -> V:
    """The value with these, or arrays of them, for its numbers, in order."""
    whole: vals.Value = value
    if isinstance(whole, vals.Number):
        return cast(V, next(numbers))
    return cast(V, with_parts(whole, lambda part: with_numbers(part, numbers)))


def item_at(slots: vals.ListSlots, at: Expr, loc: Loc) -> vals.Value:
    """The list's item at a position that is known to be in bounds; the access is not checked."""
    cells = [Load(column, (at,), checked=False, loc=loc) for column in slots.columns]
    flags = iter(cells[len(slots.kinds) :])
    if slots.kinds[0].dtype is DType.TEXT:
        return vals.Number(Cast(cells[0], DType.CHARACTER, loc=loc), python=True)
    numbers = tuple(
        vals.Number(cell, kind.python, is_int=next(flags) if kind.flagged else None)
        for cell, kind in zip(cells, slots.kinds, strict=False)
    )
    if slots.of_tuples is None:
        return numbers[0]
    if not slots.of_tuples.items:
        return replace(slots.of_tuples, items=numbers)
    return with_numbers(slots.of_tuples, iter(numbers))


def form_of(item: vals.TupleValue) -> vals.TupleValue:
    """What the tuples of a list have in common (`ListSlots.of_tuples`)."""
    is_flat = not any(isinstance(part, vals.TupleValue) for part in item.items)
    return replace(item, items=() if is_flat else _places(item).items, table=None)


def place_of(of_tuples: vals.TupleValue | None, count: int) -> vals.Value:
    """An item of such a list, of so many numbers, whatever these are."""
    if of_tuples is None:
        return _PLACE
    return of_tuples if of_tuples.items else replace(of_tuples, items=(_PLACE,) * count)


def _places(item: vals.TupleValue) -> vals.TupleValue:
    parts = (_places(part) if isinstance(part, vals.TupleValue) else _PLACE for part in item.items)
    return replace(item, items=tuple(parts), table=None)
