"""Functions of which some returns give a value and others None, or one of several arrays.

    if c:                          result = 1; result_is_none = False
        return 1            ->     result = 0; result_is_none = True
    return None

Numbers, tuples of numbers and lists get an is-None flag; of arrays, and of an array and None, what is returned is the
number of one of them (`returned_values`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from appyc.errors import Loc
from appyc.frontend.control.returned_values import NONE
from appyc.frontend.expressions.arithmetic import const, integer, python_number
from appyc.frontend.expressions.list_storage import make_room, storage_of
from appyc.frontend.facts import PresentForm, Restart
from appyc.frontend.scope import Scope
from appyc.frontend.types import values as vals
from appyc.frontend.types.value_parts import parts_of
from appyc.ir.types import DType

Leaf: TypeAlias = tuple[int, ...]
"""The position of an item in a returned value of tuples."""


def with_alternatives(scope: Scope, value: vals.Value, leaf: Leaf, loc: Loc) -> vals.Value:
    """The value with an is-None flag for each part that is None on another path, and with an array's number instead
    of the array where the returns choose among arrays.

    Raises Restart for a number that has no flag yet.
    """
    match value:
        case vals.MaybeNone(value=present) if leaf not in scope.facts.none_results:
            scope.facts.none_results[leaf] = _form_of(scope, present)
            raise Restart
        case vals.Opaque(obj=None) if leaf in scope.facts.none_results:
            return vals.MaybeNone(
                _placeholder(scope, scope.facts.none_results[leaf], loc), python_number(True, loc)
            )
        case vals.Number() | vals.TupleValue() | vals.ReturnedList() if (
            leaf in scope.facts.none_results and scope.facts.none_results[leaf] == _form_of(scope, value)
        ):
            return vals.MaybeNone(value, python_number(False, loc))
        case vals.TupleValue(items=items):
            found = tuple(with_alternatives(scope, v, (*leaf, k), loc) for k, v in enumerate(items))
            return replace(value, items=found, table=None)
        case vals.ArrayRef() if leaf in scope.facts.choices and may_be_chosen(scope, value):
            options = scope.options.setdefault(leaf, [])
            if value.symbol not in options:
                options.append(value.symbol)
            which = vals.Number(const(options.index(value.symbol), DType.INT64, loc), python=True)
            return vals.ReturnedChoice(leaf, which, value.ndim)
        case vals.Opaque(obj=None) if leaf in scope.facts.choices:
            return vals.ReturnedChoice(leaf, vals.Number(const(NONE, DType.INT64, loc), python=True), ndim=0)
        case _:
            return value


def may_be_chosen(scope: Scope, value: vals.Value) -> bool:
    """Whether the value may be an option of a `ReturnedChoice`: a whole array, not phi storage, or None."""
    is_whole = isinstance(value, vals.ArrayRef) and not value.index and value.symbol not in scope.memory.homes
    return is_whole or vals.is_none(value)


def _form_of(scope: Scope, value: vals.Number | vals.TupleValue | vals.ReturnedList) -> PresentForm:
    match value:
        case vals.Number():
            return None
        case vals.TupleValue():
            return len(value.items), value.names, value.made_by
        case vals.ReturnedList():
            return next(name for name, slots in scope.lists.items() if slots == value.slots)


def _placeholder(
    scope: Scope, form: PresentForm, loc: Loc
) -> vals.Number | vals.TupleValue | vals.ReturnedList:
    """A value of a form on a path that returns None: zeros, or the list, which is empty then."""
    zero = python_number(False, loc)
    match form:
        case None:
            return zero
        case (length, names, made_by):
            return vals.TupleValue((zero,) * length, names=names, made_by=made_by)
        case str(name):
            slots, nothing = storage_of(scope, name), integer(0, loc)
            make_room(scope, slots, nothing, loc)
            return vals.ReturnedList(slots, vals.Number(nothing, python=True))


def pairs_of(a: vals.Value, b: vals.Value, leaf: Leaf = ()) -> Iterator[tuple[Leaf, vals.Value, vals.Value]]:
    """The corresponding items of two returned values, with their positions."""
    match a, b:
        case vals.TupleValue(), vals.TupleValue() if (len(a.items), a.made_by) == (len(b.items), b.made_by):
            for k, (x, y) in enumerate(zip(a.items, b.items, strict=True)):
                yield from pairs_of(x, y, (*leaf, k))
        case _:
            yield leaf, a, b


def nones_in(scope: Scope, a: vals.Value, b: vals.Value) -> dict[Leaf, PresentForm]:
    """The items that are None in one of two returned values, and in the other a number, a tuple of numbers, or a list
    of the function's own."""
    out: dict[Leaf, PresentForm] = {}
    for leaf, x, y in pairs_of(a, b):
        match (x, y) if vals.is_none(y) else (y, x):
            case (vals.Number() | vals.TupleValue(items=(_, *_))) as present, vals.Opaque(obj=None):
                if all(isinstance(item, vals.Number) for item in parts_of(present)):
                    out[leaf] = _form_of(scope, present)
            case vals.ReturnedList() as present, vals.Opaque(obj=None) if not scope.is_inlined:
                out[leaf] = _form_of(scope, present)
    return out
