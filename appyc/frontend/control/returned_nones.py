"""What some returns of a function give, and others have None for: numbers and tuples of numbers, each with a flag.

if c:                          result = 1; result_is_none = False
    return 1            ->     result = 0; result_is_none = True
return None
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from appyc.errors import Loc
from appyc.frontend.expressions.arithmetic import python_number
from appyc.frontend.facts import Restart
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import (
    MaybeNone,
    Number,
    Opaque,
    TupleValue,
    Value,
    is_none,
)

Leaf: TypeAlias = tuple[int, ...]
"""The position of an item in a returned value of tuples."""


def with_nones(scope: Scope, value: Value, leaf: Leaf, loc: Loc) -> Value:
    """The value with an is-None flag for each number that is None on another path.

    Raises Restart for a number that has no flag yet.
    """
    match value:
        case MaybeNone(value=present) if leaf not in scope.facts.none_results:
            scope.facts.none_results[leaf] = length_of(present)
            raise Restart
        case Opaque(obj=None) if leaf in scope.facts.none_results:
            length = scope.facts.none_results[leaf]
            zero = python_number(False, loc)
            present = zero if length is None else TupleValue((zero,) * length)
            return MaybeNone(present, python_number(True, loc))
        case Number() | TupleValue() if scope.facts.none_results.get(leaf, -1) == length_of(value):
            return MaybeNone(value, python_number(False, loc))
        case TupleValue(items=items):
            found = tuple(with_nones(scope, v, (*leaf, k), loc) for k, v in enumerate(items))
            return TupleValue(found, names=value.names)
        case _:
            return value


def length_of(value: Number | TupleValue) -> int | None:
    """The number of a tuple's items; None for a number."""
    return len(value.items) if isinstance(value, TupleValue) else None


def pairs_of(a: Value, b: Value, leaf: Leaf = ()) -> Iterator[tuple[Leaf, Value, Value]]:
    """The corresponding items of two returned values, with their positions."""
    if isinstance(a, TupleValue) and isinstance(b, TupleValue) and len(a.items) == len(b.items):
        for k, (x, y) in enumerate(zip(a.items, b.items, strict=True)):
            yield from pairs_of(x, y, (*leaf, k))
    else:
        yield leaf, a, b


def nones_in(a: Value, b: Value) -> dict[Leaf, int | None]:
    """The items that are None in one of two returned values, and a number or a tuple of numbers in the other.

    Each comes with the tuple's length, or None for a number.
    """
    out: dict[Leaf, int | None] = {}
    for leaf, x, y in pairs_of(a, b):
        match (x, y) if is_none(y) else (y, x):
            case Number() as present, Opaque(obj=None):
                out[leaf] = length_of(present)
            case TupleValue(names=()) as present, Opaque(obj=None) if present.items:
                if all(isinstance(item, Number) for item in present.items):
                    out[leaf] = length_of(present)
    return out
