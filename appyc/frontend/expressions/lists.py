"""Local lists of numbers, or of tuples of numbers, as dynamic arrays with spare capacity.

    found = []                          found_n = 0; room = 16; found = empty(room)
    for i in range(n):                  for i in range(n):
        if a[i] > 0:            ->          if a[i] > 0:
            found.append(i)                     if found_n == room: (found moves to twice the room)
                                                found[found_n] = i; found_n += 1
    return np.array(found)              return found[:found_n]

The names of such lists are known in advance (`frontend/syntax/containers.py`). Their item types are inferred from
the first append, after which lowering restarts with them. A list of tuples is a structure of arrays: one array per
position in the tuple.

Other expressions that make a list (a comprehension, `list(...)`, a slice of a list) are first evaluated as tensors
and then copied into the list's storage, since they may read the name's old list.

Calls of `heapq` on such lists are library text that works on their storage.

Items that are ints and floats of Python's are floats, beside flags that tell which are ints. Other items of different
number types, which a Python list preserves, are not handled; nor are items that are arrays or lists, and
`nsmallest`, `nlargest` and `merge`.
"""

from __future__ import annotations

import ast
import heapq
from collections.abc import Callable
from functools import partial
from typing import Any

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.slice_bounds import tested_position
from appyc.frontend.arrays.tensors import as_tensor, equals, is_array, materialise, pinned, settled
from appyc.frontend.control.comprehensions import collected
from appyc.frontend.control.iterables import item_at
from appyc.frontend.desugar.building import constant, container_of, located, read
from appyc.frontend.desugar.comprehension_loops import items_of
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import cast, integer
from appyc.frontend.expressions.inlining import inlined
from appyc.frontend.expressions.list_parameters import list_calls
from appyc.frontend.expressions.list_storage import (
    item_in_variables,
    learn_item,
    list_named,
    list_of_columns,
    list_part,
    make_room,
    moved_to_more_room,
    row_of,
    storage_of,
)
from appyc.frontend.library.sort_functions import sort_in_place
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import copied_list, is_new_list
from appyc.frontend.types.numbers import NumberType
from appyc.frontend.types.values import (
    ListSlots,
    ListValue,
    Masked,
    Number,
    Tensor,
    TupleValue,
    Value,
    is_list_itself,
)
from appyc.ir.names import unused
from appyc.ir.nodes import Assign, Binary, Compare, Const, Expr, For, ForAll, If, Load, Select, Store, Var
from appyc.ir.types import DType
from appyc.library import heaps, sorting
from appyc.library.list_lookups import replace


def bind_list(scope: Scope, name: str, value: ast.expr, loc: Loc) -> None:
    """Binds a name to a new list: `name = [...]`, `name = [item] * n`, and other expressions that make lists."""
    if not isinstance(value, ast.BinOp | ast.List):
        items = _described(scope, value, loc)
        learn_item(scope, name, item_at(items, integer(0, loc), loc), loc)
        slots, count = storage_of(scope, name), Var(items.count, loc=loc)
        make_room(scope, slots, count, loc)
        _put(scope, slots, integer(0, loc), items, loc)
        _bound(scope, name, slots, count, loc)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "sorted":
            sort(scope, name, loc)
        return
    _bind_written(scope, name, value, loc)


def _bind_written(scope: Scope, name: str, value: ast.expr, loc: Loc) -> None:
    """Binds a name to a list that is written out, in parts that are put behind each other."""
    parts = _written_parts(value)
    nodes = [node for items, times in parts for node in (*items, *([times] if times is not None else []))]
    lowered = iter(expressions.lower_operands(scope, nodes))
    written: list[tuple[list[Value], Expr | None]] = []
    length: Expr = integer(0, loc)
    for nodes, node in parts:
        items = [expressions.pack_masked(scope, next(lowered), loc) for _ in nodes]
        repeats = None if node is None else _repeats(scope, next(lowered), loc)
        written.append((items, repeats))
        length = _sum(length, repeats or integer(len(items), loc), loc)
    for at, item in enumerate(item for items, _ in written for item in items):
        learn_item(scope, name, item, loc, at)
    slots = storage_of(scope, name)
    kept = [  # read before the list's storage is reallocated
        ([row_of(scope, slots, item, loc) for item in items], repeats) for items, repeats in written
    ]
    length = pinned(scope, "length", length)
    make_room(scope, slots, length, loc)
    first: Expr = integer(0, loc)
    for rows, repeats in kept:
        for at, row in enumerate(rows):
            for column, number in zip(slots.columns, row, strict=True):
                if repeats is None:
                    here = _sum(first, integer(at, loc), loc)
                    scope.emit(Store(column, (here,), number, checked=False, loc=loc))
                else:
                    axis = scope.supply.fresh("i", DType.INT64)
                    here = _sum(first, Var(axis, loc=loc), loc)
                    scope.emit(ForAll((axis,), (repeats,), column, (here,), number, loc=loc))
        first = _sum(first, repeats or integer(len(rows), loc), loc)
    _bound(scope, name, slots, length, loc)


def _repeats(scope: Scope, value: Value, loc: Loc) -> Expr:
    count = expressions.as_index(expressions.number(value, loc), loc)
    return pinned(scope, "times", Binary("max", count, integer(0, loc), loc=loc))


def _written_parts(value: ast.expr) -> list[tuple[list[ast.expr], ast.expr | None]]:
    """The parts of a list that is written out: items, or one item and how often it stands there."""
    match value:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _written_parts(left) + _written_parts(right)
        case ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=times):
            return [([item], times)]
        case ast.List(elts=items):
            return [(items, None)]
        case _:
            raise AssertionError("nothing else makes a new list")


def _sum(a: Expr, b: Expr, loc: Loc) -> Expr:
    if isinstance(a, Const) and isinstance(b, Const):
        return integer(int(a.value.real) + int(b.value.real), loc)
    return b if a == integer(0, loc) else Binary("+", a, b, loc=loc)


def _bound(scope: Scope, name: str, slots: ListSlots, length: Expr, loc: Loc) -> None:
    scope.emit(Assign(slots.count, length, loc=loc))
    scope.env[name] = slots
    scope.set_flag(name, loc)


def _described(scope: Scope, node: ast.expr, loc: Loc) -> ListSlots:
    """The items of a new list, materialised in fresh arrays."""
    if (copied := copied_list(node)) is not None and not _is_list(scope, copied.id, loc):
        node = items_of(node, unused("item", scope.locals))
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice() as part):
            return list_part(scope, list_named(scope, name, loc).slots, part, loc).slots
        case ast.Name(id=name) | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="copy")):
            return _copy(scope, list_named(scope, name, loc).slots, loc)
        case ast.Call() if list_calls(scope.source, scope.names, scope.facts).makes_list(node):
            node = items_of(node, unused("item", scope.locals))
        case ast.Call(args=[ast.Name(id=name)]) if name in scope.list_names:
            return _copy(scope, list_named(scope, name, loc).slots, loc)
        case ast.Call(args=[inner]):
            if isinstance(node.func, ast.Name) and node.func.id in scope.locals:
                raise UnsupportedError(f"{node.func.id!r} is a name of this function's own here", loc)
            if isinstance(inner, ast.ListComp | ast.GeneratorExp):
                return _described(scope, inner, loc)
            node = items_of(inner, unused("item", scope.locals))
    if isinstance(node, ast.GeneratorExp):
        node = ast.copy_location(ast.ListComp(node.elt, node.generators), node)
    assert isinstance(node, ast.ListComp), "nothing else makes a new list"
    items = collected(scope, node)
    described = items.tensor if isinstance(items, Masked) else items
    python = isinstance(described, Tensor) and described.python
    found = expressions.pack_masked(scope, items, loc)
    if isinstance(found, ListValue):
        return _copy(scope, found.slots, loc)
    if isinstance(found, TupleValue):
        numbers = [item for item in found.items if isinstance(item, Number)]
        if len(numbers) < len(found.items) or len({number.type for number in numbers}) != 1:
            raise UnsupportedError("a list of items taken from a tuple is only looked at here", loc,
                                   hints=("write the items out",))  # fmt: skip
        python = numbers[0].python
    tensor = as_tensor(scope, found, loc)
    if tensor.ndim != 1:
        raise UnsupportedError("a list of arrays cannot be compiled", loc,
                               hints=("a list of numbers, or of tuples of numbers, can",))  # fmt: skip
    own = materialise(scope, tensor, "items", loc)
    return list_of_columns(scope, [own], (NumberType(tensor.element.dtype, python),), False, loc)


def _copy(scope: Scope, slots: ListSlots, loc: Loc) -> ListSlots:
    return list_part(scope, slots, ast.Slice(), loc).slots


def _put(
    scope: Scope, slots: ListSlots, first: Expr, items: ListSlots, loc: Loc, *, backwards: bool = False
) -> None:
    """Stores the items of another list from a position on."""
    count = Var(items.count, loc=loc)
    if len(slots.columns) > len(items.columns):  # each item gets flags
        var = scope.supply.fresh("k", DType.INT64)
        with scope.collect() as block:
            row = row_of(scope, slots, item_at(items, Var(var, loc=loc), loc), loc)
            here = _sum(first, Var(var, loc=loc), loc)
            for column, number in zip(slots.columns, row, strict=True):
                scope.emit(Store(column, (here,), number, checked=False, loc=loc))
        scope.emit(For(var, integer(0, loc), count, 1, tuple(block), implied=True, loc=loc))
        return
    for column, source in zip(
        slots.columns, items.columns, strict=False
    ):  # without flags until these are needed
        here = Var(scope.supply.fresh("i", DType.INT64), loc=loc)
        index = Binary("-", count, _sum(here, integer(1, loc), loc), loc=loc) if backwards else here
        element = cast(Load(source, (index,), checked=False, loc=loc), column.dtype)
        at = (_sum(first, here, loc),)
        scope.emit(ForAll((here.symbol,), (count,), column, at, element, loc=loc))


def append(scope: Scope, name: str, item: Value, loc: Loc) -> None:
    """Appends an item to a list, which grows if it is full: `name.append(item)`."""
    owner = list_named(scope, name, loc)
    learn_item(scope, name, item, loc)
    slots = owner.slots
    row = row_of(scope, slots, item, loc)
    count = Var(slots.count, loc=loc)
    full = Compare("==", count, Var(slots.room, loc=loc), loc=loc)
    scope.emit(If(full, tuple(moved_to_more_room(scope, slots, loc)), loc=loc))
    for column, number in zip(slots.columns, row, strict=True):
        scope.emit(Store(column, (count,), number, checked=False, loc=loc))
    scope.emit(Assign(slots.count, Binary("+", count, integer(1, loc), loc=loc), loc=loc))


def pop(scope: Scope, name: str, at: Number | None, loc: Loc) -> Value:
    """Removes an item of a list and gives its value: `name.pop()`, `name.pop(at)`."""
    slots = list_named(scope, name, loc).slots
    count = Var(slots.count, loc=loc)
    scope.fail_if(equals(count, 0, loc), "IndexError", "pop from empty list", loc)
    if at is None:
        scope.emit(Assign(slots.count, Binary("-", count, integer(1, loc), loc=loc), loc=loc))
        return item_in_variables(scope, slots, count, loc)
    expressions.as_index(at, loc)
    index = pinned(scope, "at", tested_position(scope, at, count, loc, "pop index out of range"))
    item = item_in_variables(scope, slots, index, loc)
    scope.emit(Assign(slots.count, Binary("-", count, integer(1, loc), loc=loc), loc=loc))
    _moved_by_one(scope, slots, index, Var(slots.count, loc=loc), loc, up=False)
    return item


def _moved_by_one(scope: Scope, slots: ListSlots, lo: Expr, hi: Expr, loc: Loc, *, up: bool) -> None:
    """Shifts items by one position: those in [lo, hi) up, or else those in (lo, hi] down."""
    one = integer(1, loc)
    for column in slots.columns:
        var = scope.supply.fresh("k", DType.INT64)
        here = Var(var, loc=loc)
        further = Binary("+", here, one, loc=loc)
        to, source = (further, here) if up else (here, further)
        move = Store(column, (to,), Load(column, (source,), checked=False, loc=loc), checked=False, loc=loc)
        first, last, step = (
            (Binary("-", hi, one, loc=loc), Binary("-", lo, one, loc=loc), -1) if up else (lo, hi, 1)
        )
        scope.emit(For(var, first, last, step, (move,), implied=True, loc=loc))


def insert(scope: Scope, name: str, at: Number, item: Value, loc: Loc) -> None:
    """Inserts an item into a list: `name.insert(at, item)`."""
    owner = list_named(scope, name, loc)
    slots = owner.slots
    count = scope.temp("count", Var(slots.count, loc=loc))
    index = expressions.as_index(at, loc)
    from_end = Binary("+", index, count, loc=loc)
    index = Select(Compare("<", index, integer(0, loc), loc=loc), from_end, index, loc=loc)
    inside = Binary("min", Binary("max", index, integer(0, loc), loc=loc), count, loc=loc)
    kept_index = scope.temp("at", inside)
    kept = settled(scope, item)
    append(scope, name, kept, loc)  # grows the list
    _moved_by_one(scope, slots, kept_index, count, loc, up=True)
    for column, number in zip(slots.columns, row_of(scope, slots, kept, loc), strict=True):
        scope.emit(Store(column, (kept_index,), number, checked=False, loc=loc))


def increase(scope: Scope, name: str, given: ast.expr, loc: Loc) -> None:
    """`name += items`, where arrays would be added up."""
    if not isinstance(given, ast.ListComp | ast.GeneratorExp) and (
        copied_list(given) or not is_new_list(given)
    ):
        with scope.collect():
            value = scope.lower(given)
        if is_array(value) and not is_list_itself(value):
            raise UnsupportedError("the sum of a list and an array is an array", loc,
                                   hints=("extend the list, or use two names",))  # fmt: skip
    extend(scope, name, given, loc)


def extend(scope: Scope, name: str, given: ast.expr, loc: Loc) -> None:
    """Extends a list: `name.extend(items)`."""
    refuse_out_of_order(scope, name, loc)
    if isinstance(given, ast.List | ast.Tuple):
        values = [settled(scope, expressions.pack_masked(scope, v, loc))
                  for v in expressions.lower_operands(scope, given.elts)]  # fmt: skip
        for value in values:
            append(scope, name, value, loc)
        return
    whole = _as_list(scope, given, loc)
    if isinstance(given, ast.BinOp) and is_new_list(given):
        more = _named(scope, name, given, loc)
        whole = ast.copy_location(ast.Subscript(more, ast.Slice(), ast.Load()), given)
    if not isinstance(whole, ast.ListComp | ast.GeneratorExp | ast.Subscript | ast.Call | ast.Name):
        raise UnsupportedError("a list cannot be extended by this in compiled code", loc,
                               hints=("append the items in a loop",))  # fmt: skip
    items = _described(scope, whole, loc)
    learn_item(scope, name, item_at(items, integer(0, loc), loc), loc)
    slots = list_named(scope, name, loc).slots
    old = Var(slots.count, loc=loc)
    new = pinned(scope, "count", Binary("+", old, Var(items.count, loc=loc), loc=loc))
    short = Compare(">", new, Var(slots.room, loc=loc), loc=loc)
    scope.emit(If(short, tuple(moved_to_more_room(scope, slots, loc, new)), loc=loc))
    first = scope.temp("first", old)
    _put(scope, slots, first, items, loc)
    scope.emit(Assign(slots.count, new, loc=loc))


def _named(scope: Scope, name: str, given: ast.expr, loc: Loc) -> ast.Name:
    """A list under a name of its own, beside the list `name`."""
    more = unused(f"{name}.more", scope.locals)
    scope.list_names |= {more}
    scope.locals |= {more}
    bind_list(scope, more, given, loc)
    return ast.Name(more, ast.Load())


def _is_list(scope: Scope, name: str, loc: Loc) -> bool:
    value = scope.read(name, loc)
    return isinstance(value, ListValue) or is_list_itself(value)


def _as_list(scope: Scope, given: ast.expr, loc: Loc) -> ast.expr:
    """An expression for a new list with the items of a sequence."""
    copied = given if isinstance(given, ast.Name) else copied_list(given)
    if copied is not None:
        is_new = _is_list(scope, copied.id, loc)
    else:
        is_new = isinstance(given, ast.ListComp | ast.GeneratorExp) or is_new_list(given)
    return given if is_new else ast.copy_location(ast.Call(ast.Name("list", ast.Load()), [given], []), given)


def store_part(scope: Scope, name: str, part: ast.Slice, given: ast.expr, loc: Loc) -> None:
    """Replaces a part of a list: `name[part] = given`."""
    refuse_out_of_order(scope, name, loc)
    more = _named(scope, name, _as_list(scope, given, loc), loc)
    learn_item(scope, name, item_at(list_named(scope, more.id, loc).slots, integer(0, loc), loc), loc)
    bounds = (bound or ast.Constant(None) for bound in (part.lower, part.upper, part.step))
    scope.lower(located(ast.Call(constant(replace), [more, read(name), *bounds], []), given))


def reverse(scope: Scope, name: str, loc: Loc) -> None:
    """Reverses a list in place: `name.reverse()`."""
    slots = list_named(scope, name, loc).slots
    _put(scope, slots, integer(0, loc), _copy(scope, slots, loc), loc, backwards=True)


def sort(scope: Scope, name: str, loc: Loc) -> None:
    """Sorts a list in place: `name.sort()`."""
    owner = list_named(scope, name, loc)
    if owner.slots.of_tuples or owner.slots.kinds[0].flagged:
        inlined(scope, sorting.sort_items, {"items": owner}, loc, trusted=True)
    else:
        sort_in_place(scope, owner.slots.columns[0], Var(owner.slots.count, loc=loc), loc)


def refuse_out_of_order(scope: Scope, name: str, loc: Loc) -> None:
    """Raises UnsupportedError in a loop that a pragma or `prange` makes parallel or vectorised."""
    if any(frame.asked for frame in scope.loops):
        raise UnsupportedError(
            f"{container_of(name)!r} grows or shrinks in a loop whose iterations run in any order", loc,
            hints=("store each item in an element of its own of an array, or drop the pragma",),
        )  # fmt: skip


def change(scope: Scope, name: str, method: str, args: list[ast.expr], loc: Loc) -> None:
    """A call of a mutating list method as a statement; its value is not used."""
    refuse_out_of_order(scope, name, loc)
    match method:
        case "append":
            append(scope, name, expressions.lower_expression(scope, args[0]), loc)
        case "extend":
            extend(scope, name, args[0], loc)
        case "insert":
            at, item = expressions.lower_operands(scope, args)
            insert(scope, name, expressions.number(at, loc), expressions.pack_masked(scope, item, loc), loc)
        case "reverse":
            reverse(scope, name, loc)
        case "sort":
            sort(scope, name, loc)
        case "clear":
            slots = list_named(scope, name, loc).slots
            scope.emit(Assign(slots.count, integer(0, loc), loc=loc))
        case _:
            pop(scope, name, expressions.lower_number(scope, args[0]) if args else None, loc)


def list_method(scope: Scope, node: ast.Call, loc: Loc) -> Value:
    """A list method in an expression: `stack.pop()`. Other methods are statements without a value."""
    assert isinstance(node.func, ast.Attribute)
    assert isinstance(node.func.value, ast.Name)
    if node.func.attr == "pop":
        refuse_out_of_order(scope, node.func.value.id, loc)
        at = expressions.lower_number(scope, node.args[0]) if node.args else None
        return pop(scope, node.func.value.id, at, loc)
    raise UnsupportedError(f"{node.func.attr} of a list gives no value here", loc,
                           hints=("call it in a statement of its own",))  # fmt: skip


# ---------------------------------------------------------------- heapq


def _call(function: str, scope: Scope, node: ast.Call, loc: Loc) -> Value:
    match node.args:
        case [ast.Name(id=name), *given] if name in scope.list_names and not node.keywords:
            refuse_out_of_order(scope, name, loc)
        case _:
            raise UnsupportedError(
                "a heap is compiled if it is a list that the function makes, with a name", loc
            )
    values = [settled(scope, value) for value in expressions.lower_operands(scope, given)]
    heap = list_named(scope, name, loc)
    text: Callable[..., Any] = heaps.exchange
    if function in ("heappop", "heapreplace"):
        empty = equals(Var(heap.slots.count, loc=loc), 0, loc)
        scope.fail_if(empty, "IndexError", "index out of range", loc)
    arguments: dict[str, Value] = {"heap": heap}
    match function, values:
        case "heappush", [item]:
            append(scope, name, item, loc)
            text = heaps.rise
        case "heapreplace", [item]:
            learn_item(scope, name, item, loc)
            arguments["item"] = item
        case "heappop", []:
            arguments["item"] = pop(scope, name, None, loc)
        case "heapify", []:
            text = heaps.order
        case _:
            raise UnsupportedError("heapq takes another number of arguments", loc)
    return inlined(scope, text, arguments, loc, trusted=True)


HEAP_CALLS: dict[object, Callable[[Scope, ast.Call, Loc], Value]] = {
    function: partial(_call, function.__name__)
    for function in (heapq.heappush, heapq.heapreplace, heapq.heappop, heapq.heapify)
}
"""How calls are lowered; they raise UnsupportedError for other arguments than such a list and its items."""
