"""The storage of lists of numbers, or of tuples of numbers: arrays with spare capacity, one per number of an item.

The item types are inferred from what is put into a list, after which lowering restarts with them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn, TypeAlias

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.slice_bounds import tested_position
from appyc.frontend.arrays.slices import subscript
from appyc.frontend.arrays.tensors import as_tensor, fail_unless, materialise, pinned, settled
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import cast, index_of, integer
from appyc.frontend.expressions.array_list_calls import ArrayItemError, learning
from appyc.frontend.expressions.ints_or_floats import is_int
from appyc.frontend.expressions.left_calls import EXACT, leave_unless
from appyc.frontend.facts import Recursive, Restart
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.containers import PUSHES
from appyc.frontend.syntax.tree import walk
from appyc.frontend.types import values as vals
from appyc.frontend.types.characters import as_character
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import (
    PY_FLOAT,
    PY_INT,
    PY_LARGE_INT,
    NumberType,
    column_types,
    promote,
    promoted,
)
from appyc.frontend.types.value_parts import form_of, item_at, place_of
from appyc.ir.integers import is_within, range_of
from appyc.ir.names import container_of
from appyc.ir.nodes import Alloc, Assign, Binary, Compare, Expr, Load, Stmt, Store, Symbol, Unary, Var
from appyc.ir.types import ArrayType, DType

_ROOM = 16
"""The initial capacity of a list, in items."""

_STEPS = 4
"""How many names are followed to guess the types of a list's items."""

_Items: TypeAlias = tuple[vals.TupleValue | None, tuple[NumberType, ...]]
"""The types of a list's items, as in `Facts.lists`."""


def list_named(scope: Scope, name: str, loc: Loc) -> vals.ListSlots:
    value = scope.read(name, loc)
    if vals.is_list_itself(value):  # it is only copied
        value = list_value(scope, value, loc)
    assert isinstance(value, vals.ListSlots), "the name is bound to lists alone"
    return value


def list_value(scope: Scope, value: vals.ArrayRef, loc: Loc) -> vals.ListSlots:
    """A list of the caller's, or one that keeps its length, as others are described."""
    return list_of_columns(scope, [value], (NumberType(value.symbol.dtype, python=True),), None, loc)


def columns_of(scope: Scope, name: str, columns: Sequence[Symbol], loc: Loc) -> vals.ListSlots:
    """A list of tuples that is a parameter, which is only read."""
    kinds = tuple(NumberType(column.dtype, python=True) for column in columns)
    arrays = [*map(vals.ArrayRef, columns)]
    scope.lists[name] = slots = list_of_columns(scope, arrays, kinds, vals.TupleValue(()), loc)
    return slots


def give_list(scope: Scope, name: str, value: vals.ListSlots, giver: tuple[Scope, str] | None) -> None:
    """Binds a parameter to a list of the caller's. giver: the caller, and the list's name there, if it has one."""
    scope.env[name] = scope.lists[name] = value
    is_read = value.of_tuples and value.room is value.count
    if scope.source.trusted or not is_read:
        scope.list_names |= {name}
    if not (scope.source.trusted or is_read):
        scope.givers[name] = giver


def list_part(scope: Scope, slots: vals.ListSlots, part: ast.Slice, loc: Loc) -> vals.ListSlots:
    """A slice of a list, copied to fresh arrays: `name[part]`."""
    count = scope.temp("count", Var(slots.count, loc=loc))
    columns = []
    for column in slots.columns:
        axis = scope.supply.fresh("i", DType.INT64)
        items = vals.Tensor((axis,), (count,), Load(column, (Var(axis, loc=loc),), checked=False, loc=loc))
        if part.lower is not None or part.upper is not None or part.step is not None:
            items = as_tensor(scope, subscript(scope, items, [part], loc), loc)
        columns.append(materialise(scope, items, "items", loc))
    return list_of_columns(scope, columns, slots.kinds, slots.of_tuples, loc)


def list_of_columns(
    scope: Scope,
    columns: Sequence[vals.ArrayRef],
    kinds: tuple[NumberType, ...],
    of_tuples: vals.TupleValue | None,
    loc: Loc,
) -> vals.ListSlots:
    """A list whose items are in these arrays, and that keeps its length."""
    count = scope.temp("count", columns[0].extents(loc)[0]).symbol
    return vals.ListSlots(tuple(column.symbol for column in columns), kinds, of_tuples, count, count)


def list_item(scope: Scope, owner: vals.ListSlots, index: vals.Number, loc: Loc) -> vals.Value:
    """The item of a list at an index, with its bounds check: `name[index]`."""
    at = _position(scope, owner, index, "list index out of range", loc)
    return item_in_variables(scope, owner, at, loc)


def store_item(scope: Scope, name: str, index: vals.Number, item: vals.Value, loc: Loc) -> None:
    """Stores an item of a list, with its bounds check: `name[index] = item`."""
    owner = list_named(scope, name, loc)
    if owner.columns[0].array.readonly:
        raise UnsupportedError("a list of tuples that is an argument is only read in compiled code", loc,
                               "change a copy of it, such as sorted(items)")  # fmt: skip
    learn_item(scope, name, item, loc)
    row = row_of(scope, owner, item, loc)
    at = _position(scope, owner, index, "list assignment index out of range", loc)
    for column, number in zip(owner.columns, row, strict=True):
        scope.emit(Store(column, (at,), number, checked=False, loc=loc))


def _position(scope: Scope, owner: vals.ListSlots, index: vals.Number, message: str, loc: Loc) -> Expr:
    """The position of an item in a list, which is tested but in library text that is trusted."""
    expressions.as_index(index, loc)
    if scope.source.trusted:
        return pinned(scope, "at", index_of(index.expr))
    return tested_position(scope, index, Var(owner.count, loc=loc), loc, message)


def item_in_variables(scope: Scope, slots: vals.ListSlots, at: Expr, loc: Loc) -> vals.Value:
    """The item of a list at a position, copied to variables."""
    return settled(scope, item_at(slots, at, loc))


def items_of(scope: Scope, slots: vals.ListSlots, count: int, loc: Loc) -> vals.TupleValue:
    """The items of a list, of which there have to be so many, in variables."""
    fits = Compare("==", Var(slots.count, loc=loc), integer(count, loc), loc=loc)
    message = f"the list cannot be unpacked into {count} values: it has another length"
    fail_unless(scope, fits, None, message, loc)
    return vals.TupleValue(tuple(item_in_variables(scope, slots, integer(k, loc), loc) for k in range(count)))


def numbers_of_item(item: vals.Value, loc: Loc) -> Sequence[vals.Number]:
    items = tuple(as_character(part, loc) for part in _leaves(item))
    numbers = [n for n in items if isinstance(n, vals.Number)]
    if isinstance(item, vals.ArrayRef | vals.Tensor) and not item.python:
        raise ArrayItemError(f"a list of {describe(item)} cannot be compiled", loc,
                             ndim=item.ndim, dtype=vals.dtype_of(item))  # fmt: skip
    if len(numbers) != len(items):
        raise UnsupportedError(f"a list of {describe(item)} cannot be compiled", loc,
                               "a list of numbers, or of tuples of numbers, can")  # fmt: skip
    return numbers


def _leaves(item: vals.Value) -> list[vals.Value]:
    """The numbers of an item, and what else is in it; a tuple without items for itself."""
    if not isinstance(item, vals.TupleValue) or not item.items:
        return [item]
    return [leaf for part in item.items for leaf in _leaves(part)]


def row_of(scope: Scope, slots: vals.ListSlots, item: vals.Value, loc: Loc) -> list[Expr]:
    """The elements of a list's columns for an item, in variables."""
    numbers = numbers_of_item(item, loc)
    typed = list(zip(numbers, slots.kinds, strict=True))
    row: list[Expr] = [cast(scope.temp("item", n.expr), kind.dtype) for n, kind in typed]
    for n, kind in typed:
        if kind.flagged:
            row.append(pinned(scope, "is_int", is_int(n, loc)))
            leave_large(scope, n, loc)
    return row


def leave_large(scope: Scope, number: vals.Number, loc: Loc) -> None:
    """Leaves the call to Python where a number is an int that no float64 may hold."""
    e = number.expr
    if number.type != PY_INT and number.is_int is None:
        return
    if number.type == PY_INT and is_within(range_of(e), (-EXACT, EXACT)):
        return
    least, most = (cast(integer(limit, loc), e.dtype) for limit in (-EXACT, EXACT))
    fits: Expr = Binary("&", Compare(">=", e, least, loc=loc), Compare("<=", e, most, loc=loc), loc=loc)
    if number.is_int is not None:
        fits = Binary("|", Unary("~", number.is_int, loc=loc), fits, loc=loc)
    leave_unless(scope, fits, "an int among floats is a large one", loc)


def learn_item(scope: Scope, name: str, item: vals.Value, loc: Loc) -> None:
    """Records the type of a list's item. Raises Restart if it widens a type that statements before depend on."""
    if scope.source.trusted and name in scope.given_lists:
        return
    if name in scope.givers:
        _learn_for_giver(scope, name, item, loc)
        return
    of_tuples = form_of(item) if isinstance(item, vals.TupleValue) else None
    with learning(scope, name):
        numbers = numbers_of_item(item, loc)
    kinds = tuple(n.type for n in numbers)
    known = scope.facts.lists.get(name)
    if known is not None:
        if known[0] != of_tuples or len(known[1]) != len(kinds):
            raise UnsupportedError(f"the items of {container_of(name)!r} are of different shapes", loc,
                                   "use two lists")  # fmt: skip
        kinds = tuple(_joined(a, b) for a, b in zip(known[1], kinds, strict=True))
    if known != (of_tuples, kinds) or name in scope.facts.empty_lists:
        scope.facts.empty_lists.discard(name)
        scope.facts.lists[name] = (of_tuples, kinds)
        stored = scope.lists.get(name)
        if known is not None or (
            stored is not None and (stored.of_tuples, stored.kinds) != (of_tuples, kinds)
        ):
            raise Restart
    scope.stored = scope.stored | {(name, loc, tuple(map(_own_type, numbers, kinds))): None}


def _own_type(number: vals.Number, kind: NumberType) -> NumberType:
    """The type of a number that a list gets; an int from 0 on is as good as one of 64 bits without a sign."""
    if number.type == PY_INT and kind == PY_LARGE_INT and range_of(number.expr)[0] >= 0:
        return kind
    return PY_INT if number.is_int is not None else number.type


def _learn_for_giver(scope: Scope, name: str, item: vals.Value, loc: Loc) -> None:
    """Records the type of an item of a list of the caller's there. Raises Recursive if it widens the list's type."""
    giver, slots = scope.givers[name], scope.lists[name]
    if giver is not None:
        caller, own = giver
        try:
            learn_item(caller, own, item, loc)
        except Restart:
            _lower_anew(caller, own)
        if slots.columns == caller.lists[own].columns:
            return
    for k, (number, kind) in enumerate(zip(numbers_of_item(item, loc), slots.kinds, strict=True)):
        if (t := _own_type(number, kind)).dtype is kind.dtype or kind.flagged:
            continue
        if giver is None or t != PY_INT or kind.dtype is not DType.FLOAT64:
            raise UnsupportedError(f"{container_of(name)!r} gets numbers of another type than the list has", loc,
                                   "put numbers of one type into it, 0.0 among floats")  # fmt: skip
        while (before := giver[0].givers.get(giver[1])) is not None:
            giver = before
        _flag(*giver, k)
        _lower_anew(*giver)


def _lower_anew(scope: Scope, name: str) -> NoReturn:
    """Raises Recursive, so that the function is lowered anew whose list has got another type of items."""
    if scope.is_inlined:
        scope.callees.known.items[scope.calls[-1], name] = scope.facts.lists[name]
    raise Recursive


def _flag(scope: Scope, name: str, number: int) -> None:
    """Gives a number of a list's items flags, which tell the ints among floats."""
    of_tuples, kinds = scope.facts.lists[name]
    flagged = replace(kinds[number], flagged=True)
    scope.facts.lists[name] = of_tuples, (*kinds[:number], flagged, *kinds[number + 1 :])


def settle_mixed(scope: Scope) -> None:
    """Raises Restart for a list that gets ints of Python's among float64, which has flags from then on.

    Raises UnsupportedError for one of other numbers of different types, which a Python list preserves. Raises Restart
    for a list that is always empty: its items are taken for integers, which are valid wherever numbers are, and NumPy's
    array of it is one of floats.
    """
    for name in scope.facts.none_lists - scope.facts.array_lists.keys():
        raise UnsupportedError(f"{container_of(name)!r} is a list of None, into which no array is put",
                               scope.loc(scope.source.ast), "put numbers into the list where it is made")  # fmt: skip
    empty = scope.guessed - scope.facts.lists.keys()
    # Callees that are lowered only in part may put something into them.
    if empty and not scope.callees.asked:
        scope.facts.lists |= dict.fromkeys(empty, (None, (PY_INT,)))
        scope.facts.empty_lists |= empty
        raise Restart
    flagged: set[tuple[str, int]] = set()
    for name, loc, own in scope.stored:
        for k, (t, kind) in enumerate(zip(own, scope.facts.lists[name][1], strict=True)):
            if t == PY_INT and kind.dtype is DType.FLOAT64:
                flagged |= {(name, k)} if not kind.flagged else set()
            elif t.dtype is not kind.dtype:
                raise UnsupportedError(
                    f"{container_of(name)!r} gets numbers of different types, which a list keeps apart", loc,
                    "put numbers of one type into it, 0.0 among floats",
                )  # fmt: skip
    for name, k in flagged:
        _flag(scope, name, k)
    if flagged:
        raise Restart


def _joined(a: NumberType, b: NumberType) -> NumberType:
    own = a.python and b.python
    if a.dtype == b.dtype:
        return NumberType(a.dtype, own, flagged=a.flagged)
    if own and {a.dtype, b.dtype} == {DType.INT64, DType.UINT64}:
        return PY_LARGE_INT
    t = promote(a, b)
    return replace(t, flagged=a.flagged and t.dtype is DType.FLOAT64)


def storage_of(scope: Scope, name: str) -> vals.ListSlots:
    """The storage of a list, which is shared by all lists that the name is bound to."""
    found = scope.lists.get(name)
    if found is None:
        if name not in scope.facts.lists:
            scope.guessed.add(name)
        of_tuples, kinds = scope.facts.lists.get(name) or _guessed_items(scope, name)
        columns = tuple(scope.supply.fresh(name, ArrayType(dtype, 1)) for dtype in column_types(kinds))
        scope.memory.made |= set(columns)
        count, room = (scope.supply.fresh(f"{name}_{what}", DType.INT64) for what in ("n", "room"))
        found = scope.lists[name] = vals.ListSlots(columns, kinds, of_tuples, count, room)
    return found


def _guessed_items(scope: Scope, name: str) -> _Items:
    """The item types of a list of which no item is known yet, as far as the source text tells of what is put into it;
    integers elsewhere."""
    for node in walk(scope.source.ast):
        match node:
            case (
                ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=push), args=[item])
                | ast.Call(func=ast.Name(id=push) | ast.Attribute(attr=push), args=[ast.Name(id=owner), item])
            ) if owner == name and push in PUSHES | {"append"} and (found := _guessed(scope, item, _STEPS)):
                return found
    return None, (PY_INT,)


def _guessed(scope: Scope, item: ast.expr, steps: int) -> _Items | None:
    """What the source text tells of the type of an item: of what is written out, an item of an array or of a list, a
    name of such. steps: how many names of names are followed."""
    match item:
        case ast.Constant(value=float()):
            return None, (PY_FLOAT,)
        case ast.Constant(value=str()) | ast.Call(func=ast.Name(id="chr")):
            return None, (NumberType(DType.CHARACTER, python=True),)
        case ast.Tuple(elts=elts):
            parts = [_guessed(scope, part, steps) or (None, (PY_INT,)) for part in elts]
            form = vals.TupleValue(tuple(place_of(of_tuples, len(kinds)) for of_tuples, kinds in parts))
            return form_of(form), tuple(kind for _, kinds in parts for kind in kinds)
        case ast.BinOp(left=left, right=right):
            both = [found for part in (left, right) if (found := _guessed(scope, part, steps))]
            return (None, (promoted(kinds[0] for _, kinds in both),)) if both else None
        case ast.Subscript(value=ast.Name(id=owner), slice=index) if not isinstance(index, ast.Slice):
            return _items_of_name(scope, owner)
        case ast.Name(id=name) if steps:
            for node in walk(scope.source.ast):
                match node:
                    case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                        if found := _guessed(scope, value, steps - 1):
                            return found
                    case ast.For(target=ast.Name(id=target), iter=ast.Name(id=owner)) if target == name:
                        return _items_of_name(scope, owner)
    return None


def _items_of_name(scope: Scope, name: str) -> _Items | None:
    """The types of the items of a bound list, or of an array with one axis."""
    if (slots := scope.lists.get(name)) is not None:
        return slots.of_tuples, slots.kinds
    value = scope.env.get(name)
    if isinstance(value, vals.ArrayRef | vals.Tensor) and value.ndim == 1:
        kind = vals.dtype_of(value)
        return None, (NumberType(DType.CHARACTER if kind is DType.TEXT else kind, value.python),)
    return scope.facts.lists.get(name)


def make_room(scope: Scope, slots: vals.ListSlots, length: Expr, loc: Loc) -> None:
    """Allocates storage for a list of this length."""
    room = Binary("max", length, integer(_ROOM, loc), loc=loc)
    scope.emit(Assign(slots.room, room, loc=loc))
    for column in slots.columns:
        scope.emit(Alloc(column, (Var(slots.room, loc=loc),), zero=False, loc=loc))


def moved_to_more_room(
    scope: Scope, slots: vals.ListSlots, loc: Loc, least: Expr | None = None
) -> list[Stmt]:
    """The statements that grow a list: to twice its capacity, and to at least `least` items."""
    count, room = Var(slots.count, loc=loc), Var(slots.room, loc=loc)
    double: Expr = Binary("*", room, integer(2, loc), loc=loc)
    if least is not None:
        double = Binary("max", double, least, loc=loc)
    grown = (Alloc(column, (room,), zero=False, kept=count, loc=loc) for column in slots.columns)
    return [Assign(slots.room, double, loc=loc), *grown]
