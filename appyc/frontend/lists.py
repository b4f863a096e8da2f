"""Lists of numbers, or of tuples of numbers, that a function makes for itself: arrays with room to grow.

    found = []                          found_n = 0; room = 16; found = empty(room)
    for i in range(n):                  for i in range(n):
        if a[i] > 0:            ->          if a[i] > 0:
            found.append(i)                     if found_n == room: (found moves to twice the room)
                                                found[found_n] = i; found_n += 1
    return np.array(found)              return found[:found_n]

Which names are such is known before (`frontend/list_names.py`); what their items are shows at the first
append, and lowering starts anew with it. Each item of a tuple has an array of its own.

Does not handle: items that are arrays or lists, and numbers of different types, which a list keeps apart.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend import expressions
from appyc.frontend.arithmetic import cast, integer
from appyc.frontend.numbers import PY_FLOAT, NumberType, promote
from appyc.frontend.scope import Restart, Scope
from appyc.frontend.slices import tested_position
from appyc.frontend.tensors import pinned
from appyc.frontend.values import ListSlots, ListValue, Number, TupleValue, Value, describe
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Binary,
    Compare,
    Expr,
    Fail,
    ForAll,
    If,
    Load,
    Stmt,
    Store,
    Symbol,
    Var,
)
from appyc.ir.types import ArrayType, DType

_ROOM = 16
"""Items that a new list has room for."""


def bind_list(scope: Scope, name: str, value: ast.expr, loc: Loc) -> None:
    """`name = [...]`, or `name = [item] * n`."""
    if isinstance(value, ast.BinOp):
        assert isinstance(value.left, ast.List), "nothing else makes a new list"
        parts = expressions.lower_operands(scope, [value.left.elts[0], value.right])
        item, count = parts[0], expressions.as_index(expressions.number(parts[1], loc), loc)
        times = pinned(scope, "times", Binary("max", count, integer(0, loc), loc=loc))
        items, length = [item], times
    else:
        assert isinstance(value, ast.List), "nothing else makes a new list"
        items = [
            expressions.put_together(scope, v, loc) for v in expressions.lower_operands(scope, value.elts)
        ]
        length = integer(len(items), loc)
    for place, item in enumerate(items):
        _learn(scope, name, item, loc, place)
    slots = _slots(scope, name)
    room = Binary("max", length, integer(_ROOM, loc), loc=loc)
    scope.emit(Assign(slots.room, room, loc=loc))
    rows = [_columns(item, loc) for item in items]  # read before the list's own memory is new
    kept = [[scope.temp("item", n.expr) for n in row] for row in rows]
    for column in slots.columns:
        scope.emit(Alloc(column, (Var(slots.room, loc=loc),), zero=False, loc=loc))
    for at, row in enumerate(kept):
        for column, number in zip(slots.columns, row, strict=True):
            if isinstance(value, ast.BinOp):
                axis = scope.supply.fresh("i", DType.INT64)
                element = cast(number, column.dtype)
                scope.emit(ForAll((axis,), (length,), column, (Var(axis, loc=loc),), element, loc=loc))
            else:
                scope.emit(
                    Store(column, (integer(at, loc),), cast(number, column.dtype), checked=False, loc=loc)
                )
    scope.emit(Assign(slots.count, length, loc=loc))
    scope.env[name] = slots
    scope.set_flag(name, loc)


def append(scope: Scope, name: str, item: Value, loc: Loc) -> None:
    """`name.append(item)`."""
    owner = list_named(scope, name, loc)
    _learn(scope, name, item, loc)
    slots = owner.slots
    row = [scope.temp("item", n.expr) for n in _columns(item, loc)]
    count = Var(slots.count, loc=loc)
    full = Compare("==", count, Var(slots.room, loc=loc), loc=loc)
    scope.emit(If(full, tuple(_moved(scope, slots, loc)), loc=loc))
    for column, number in zip(slots.columns, row, strict=True):
        scope.emit(Store(column, (count,), cast(number, column.dtype), checked=False, loc=loc))
    scope.emit(Assign(slots.count, Binary("+", count, integer(1, loc), loc=loc), loc=loc))


def pop(scope: Scope, name: str, loc: Loc) -> Value:
    """`name.pop()`."""
    slots = list_named(scope, name, loc).slots
    count = Var(slots.count, loc=loc)
    fail = Fail("IndexError", "pop from empty list", loc=loc)
    scope.emit(If(Compare("==", count, integer(0, loc), loc=loc), (fail,), loc=loc))
    scope.emit(Assign(slots.count, Binary("-", count, integer(1, loc), loc=loc), loc=loc))
    return _item(scope, slots, count, loc)


def list_item(scope: Scope, owner: ListValue, index: Number, loc: Loc) -> Value:
    """`name[index]`."""
    expressions.as_index(index, loc)
    at = tested_position(scope, index, Var(owner.slots.count, loc=loc), loc)
    return _item(scope, owner.slots, at, loc)


def store_item(scope: Scope, name: str, index: Number, item: Value, loc: Loc) -> None:
    """`name[index] = item`."""
    owner = list_named(scope, name, loc)
    _learn(scope, name, item, loc)
    expressions.as_index(index, loc)
    row = [scope.temp("item", n.expr) for n in _columns(item, loc)]
    at = tested_position(scope, index, Var(owner.slots.count, loc=loc), loc)
    for column, number in zip(owner.slots.columns, row, strict=True):
        scope.emit(Store(column, (at,), cast(number, column.dtype), checked=False, loc=loc))


def list_named(scope: Scope, name: str, loc: Loc) -> ListValue:
    value = scope.read(name, loc)
    assert isinstance(value, ListValue), "the name is bound to lists alone"
    return value


def item_at(slots: ListSlots, at: Expr, loc: Loc) -> Value:
    """The item at a position that is known to be one."""
    numbers = tuple(
        Number(Load(column, (at,), checked=False, loc=loc), kind.python)
        for column, kind in zip(slots.columns, slots.kinds, strict=True)
    )
    return TupleValue(numbers) if slots.of_tuples else numbers[0]


def _item(scope: Scope, slots: ListSlots, at: Expr, loc: Loc) -> Value:
    """The same, as it is now."""
    value = item_at(slots, at, loc)
    items = value.items if isinstance(value, TupleValue) else (value,)
    numbers = tuple(Number(scope.temp("item", n.expr), n.python) for n in items if isinstance(n, Number))
    return TupleValue(numbers) if slots.of_tuples else numbers[0]


def _columns(item: Value, loc: Loc) -> Sequence[Number]:
    items = item.items if isinstance(item, TupleValue) else (item,)
    numbers = [n for n in items if isinstance(n, Number)]
    if len(numbers) != len(items) or not items:
        raise UnsupportedError(f"a list of {describe(item)} cannot be compiled", loc,
                               hints=("a list of numbers, or of tuples of numbers, can",))  # fmt: skip
    return numbers


def _learn(scope: Scope, name: str, item: Value, loc: Loc, number: int = 0) -> None:
    """Notes what the list's items are. Raises Restart where that is more than was known.

    Whether an item has the type of all others shows when its statement is lowered for the last time:
    the types of a loop's variables only widen.
    """
    of_tuples = isinstance(item, TupleValue)
    kinds = tuple(n.type for n in _columns(item, loc))
    known = scope.facts.lists.get(name)
    if known is not None:
        if known[0] != of_tuples or len(known[1]) != len(kinds):
            raise UnsupportedError(f"the items of {name!r} are of different shapes", loc,
                                   hints=("use two lists",))  # fmt: skip
        kinds = tuple(_joined(a, b, name, loc) for a, b in zip(known[1], kinds, strict=True))
    if known != (of_tuples, kinds):
        scope.facts.lists[name] = (of_tuples, kinds)
        raise Restart
    own = tuple(n.type.dtype for n in _columns(item, loc))
    scope.narrower[name, loc, number] = own != tuple(kind.dtype for kind in kinds)


def refuse_mixed(scope: Scope) -> None:
    """Raises UnsupportedError for a list that gets numbers of different types, which it would keep apart."""
    for (name, loc, _), is_narrower in scope.narrower.items():
        if is_narrower:
            raise UnsupportedError(f"{name!r} gets numbers of different types, which a list keeps apart", loc,
                                   hints=("put numbers of one type into it, 0.0 among floats",))  # fmt: skip


def _joined(a: NumberType, b: NumberType, name: str, loc: Loc) -> NumberType:
    if a.dtype == b.dtype:
        return NumberType(a.dtype, a.python and b.python)
    joined = promote(NumberType(a.dtype, python=False), NumberType(b.dtype, python=False))
    if joined is None:
        raise UnsupportedError(f"the items of {name!r} are numbers of different kinds, which a list keeps apart",
                               loc, hints=("convert them to one type",))  # fmt: skip
    return joined


def _slots(scope: Scope, name: str) -> ListSlots:
    """The memory of a list, one for all that the name is bound to."""
    found = scope.lists.get(name)
    if found is None:
        of_tuples, kinds = scope.facts.lists.get(name, (False, (PY_FLOAT,)))
        columns = tuple(scope.supply.fresh(name, ArrayType(kind.dtype, 1)) for kind in kinds)
        scope.memory.made |= set(columns)
        count, room = (scope.supply.fresh(f"{name}_{what}", DType.INT64) for what in ("n", "room"))
        found = scope.lists[name] = ListSlots(columns, kinds, of_tuples, count, room)
    return found


def _moved(scope: Scope, slots: ListSlots, loc: Loc) -> list[Stmt]:
    """The list in memory of twice the size."""
    count, room = Var(slots.count, loc=loc), Var(slots.room, loc=loc)
    asides = [scope.supply.fresh(f"{column.name}_aside", column.type) for column in slots.columns]
    scope.memory.made |= set(asides)
    out: list[Stmt] = []
    for aside, column in zip(asides, slots.columns, strict=True):
        out.append(Alloc(aside, (count,), zero=False, loc=loc))
        out.append(_copied(scope, aside, column, count, loc))
    out.append(Assign(slots.room, Binary("*", room, integer(2, loc), loc=loc), loc=loc))
    for aside, column in zip(asides, slots.columns, strict=True):
        out.append(Alloc(column, (room,), zero=False, loc=loc))
        out.append(_copied(scope, column, aside, count, loc))
    return out


def _copied(scope: Scope, target: Symbol, source: Symbol, count: Expr, loc: Loc) -> ForAll:
    axis = scope.supply.fresh("i", DType.INT64)
    here = Var(axis, loc=loc)
    return ForAll((axis,), (count,), target, (here,), Load(source, (here,), checked=False, loc=loc), loc=loc)


def list_method(scope: Scope, owner: ListValue, node: ast.Call, loc: Loc) -> Value:
    """`stack.pop()` in an expression; appending gives nothing, and is a statement."""
    assert isinstance(node.func, ast.Attribute)
    assert isinstance(node.func.value, ast.Name)
    if node.func.attr == "pop":
        return pop(scope, node.func.value.id, loc)
    raise TypeInferenceError("append gives no value", loc, hints=("append in a statement of its own",))
