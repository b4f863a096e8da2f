"""Changes of lists: what their methods, `+=` and stores into parts of them do, `heapq` and `insort`.

xs.append(x)                   xs_n and room grow, the item is stored (`list_storage`)
xs[a:b] = ys           ->      replace(ys, xs, a, b, None), which is library text
heappush(xs, x)                xs.append(x); rise(xs)
insort(xs, x)                  xs.append(x); move_last(xs, True)
"""

from __future__ import annotations

import ast
import bisect
import heapq
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.slice_bounds import tested_position
from appyc.frontend.arrays.tensors import equals, is_array, pinned, settled
from appyc.frontend.desugar.building import constant, located, read
from appyc.frontend.expressions import expressions, list_storage
from appyc.frontend.expressions.arithmetic import cast, integer, python_number
from appyc.frontend.expressions.inlining import inlined
from appyc.frontend.expressions.lists import bind_list, described, is_list, put, sort, sort_in_place
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import copied_list, is_new_list
from appyc.frontend.types.characters import is_text
from appyc.frontend.types.value_parts import item_at
from appyc.frontend.types.values import ArrayRef, Number, Opaque, TupleValue, Value, is_listed
from appyc.ir.names import container_of, unused
from appyc.ir.nodes import Assign, Binary, Compare, Extent, If, Store, Var
from appyc.ir.types import Container, DType
from appyc.library import heaps
from appyc.library.list_lookups import close_gap, count, index, move_last_to, overwrite, replace, turn
from appyc.library.searching import move_last


def append(scope: Scope, name: str, item: Value, loc: Loc) -> None:
    """Appends an item to a list, which grows if it is full: `name.append(item)`."""
    slots = list_storage.list_named(scope, name, loc)
    list_storage.learn_item(scope, name, item, loc)
    row = list_storage.row_of(scope, slots, item, loc)
    count = Var(slots.count, loc=loc)
    full = Compare("==", count, Var(slots.room, loc=loc), loc=loc)
    scope.emit(If(full, tuple(list_storage.moved_to_more_room(scope, slots, loc)), loc=loc))
    for column, number in zip(slots.columns, row, strict=True):
        scope.emit(Store(column, (count,), number, checked=False, loc=loc))
    scope.emit(Assign(slots.count, Binary("+", count, integer(1, loc), loc=loc), loc=loc))


def pop(scope: Scope, name: str, at: Number | None, loc: Loc) -> Value:
    """Removes an item of a list and gives its value: `name.pop()`, `name.pop(at)`."""
    slots = list_storage.list_named(scope, name, loc)
    count = Var(slots.count, loc=loc)
    scope.fail_if(equals(count, 0, loc), "IndexError", "pop from empty list", loc)
    if at is None:
        scope.emit(Assign(slots.count, Binary("-", count, integer(1, loc), loc=loc), loc=loc))
        return list_storage.item_in_variables(scope, slots, count, loc)
    expressions.as_index(at, loc)
    index = pinned(scope, "at", tested_position(scope, at, count, loc, "pop index out of range"))
    item = list_storage.item_in_variables(scope, slots, index, loc)
    inlined(scope, close_gap, {"items": slots, "at": Number(index, python=True)}, loc)
    scope.emit(Assign(slots.count, Binary("-", count, integer(1, loc), loc=loc), loc=loc))
    return item


def insert(scope: Scope, name: str, at: Number, item: Value, loc: Loc) -> None:
    """Inserts an item into a list: `name.insert(at, item)`."""
    index = Number(scope.temp("at", expressions.as_index(at, loc)), python=True)
    append(scope, name, settled(scope, item), loc)
    slots = list_storage.list_named(scope, name, loc)
    inlined(scope, move_last_to, {"items": slots, "at": index}, loc)


def increase(scope: Scope, name: str, given: ast.expr, loc: Loc) -> None:
    """`name += items`, where arrays would be added up."""
    value = _looked_at(scope, given)
    if value is not None and is_array(value) and not is_listed(value):
        raise UnsupportedError("the sum of a list and an array is an array", loc,
                               "extend the list, or use two names")  # fmt: skip
    extend(scope, name, given, loc)


def _looked_at(scope: Scope, given: ast.expr) -> Value | None:
    """The value of an expression whose statements are not emitted; None for what makes a new list."""
    if isinstance(given, ast.ListComp | ast.GeneratorExp) or (
        is_new_list(given) and copied_list(given) is None
    ):
        return None
    with scope.collect():
        return scope.lower(given)


def extend(scope: Scope, name: str, given: ast.expr, loc: Loc) -> None:
    """Extends a list: `name.extend(items)`."""
    refuse_out_of_order(scope, name, loc)
    if isinstance(given, ast.List | ast.Tuple):
        values: Iterable[Value] = [settled(scope, expressions.pack_masked(scope, v, loc))
                                   for v in expressions.lower_operands(scope, given.elts)]  # fmt: skip
    elif isinstance(given, ast.Name) and isinstance(written := scope.read(given.id, loc), TupleValue):
        values = written.items
    else:
        _extend_by_list(scope, name, given, loc)
        return
    for value in values:
        append(scope, name, value, loc)


def _extend_by_list(scope: Scope, name: str, given: ast.expr, loc: Loc) -> None:
    whole = _as_list(scope, given, loc)
    if isinstance(given, ast.BinOp) and is_new_list(given):
        more = _named(scope, name, given, loc)
        whole = ast.copy_location(ast.Subscript(more, ast.Slice(), ast.Load()), given)
    if not isinstance(whole, ast.ListComp | ast.GeneratorExp | ast.Subscript | ast.Call | ast.Name):
        raise UnsupportedError("a list cannot be extended by this in compiled code", loc,
                               "append the items in a loop")  # fmt: skip
    items = described(scope, whole, loc)
    item = item_at(items, integer(0, loc), loc)
    if name != container_of(name) and is_text(_looked_at(scope, given)):  # a row of a list of texts
        assert isinstance(item, Number)
        item = Number(cast(item.expr, DType.TEXT), python=True)
    list_storage.learn_item(scope, name, item, loc)
    slots = list_storage.list_named(scope, name, loc)
    old = Var(slots.count, loc=loc)
    new = pinned(scope, "count", Binary("+", old, Var(items.count, loc=loc), loc=loc))
    short = Compare(">", new, Var(slots.room, loc=loc), loc=loc)
    scope.emit(If(short, tuple(list_storage.moved_to_more_room(scope, slots, loc, new)), loc=loc))
    first = scope.temp("first", old)
    put(scope, slots, first, items, loc)
    scope.emit(Assign(slots.count, new, loc=loc))


def _named(scope: Scope, name: str, given: ast.expr, loc: Loc) -> ast.Name:
    """A list under a name of its own, beside the list `name`."""
    more = unused(f"{name}.more", scope.locals)
    scope.list_names |= {more}
    scope.locals |= {more}
    bind_list(scope, more, given, loc)
    return ast.Name(more, ast.Load())


def new_list(scope: Scope, given: ast.expr, loc: Loc) -> Value:
    """The value of an expression that makes a new list."""
    own = _named(scope, "made", given, loc)
    value = scope.read(own.id, loc)
    del scope.env[own.id]  # no other path needs to bind it
    return value


def _as_list(scope: Scope, given: ast.expr, loc: Loc) -> ast.expr:
    """An expression for a new list with the items of a sequence."""
    source = given if isinstance(given, ast.Name) else copied_list(given)
    if source is not None:
        is_new = is_list(scope, source.id, loc)
    else:
        is_new = isinstance(given, ast.ListComp | ast.GeneratorExp) or is_new_list(given)
    return given if is_new else ast.copy_location(ast.Call(ast.Name("list", ast.Load()), [given], []), given)


def store_part(scope: Scope, name: str, part: ast.Slice, given: ast.expr, loc: Loc) -> None:
    """Replaces a part of a list: `name[part] = given`."""
    refuse_out_of_order(scope, name, loc)
    more = _named(scope, name, _as_list(scope, given, loc), loc)
    is_own = name in scope.list_names
    if is_own:
        list_storage.learn_item(
            scope, name, item_at(list_storage.list_named(scope, more.id, loc), integer(0, loc), loc), loc
        )
    bounds = (bound or ast.Constant(None) for bound in (part.lower, part.upper, part.step))
    text = constant(replace if is_own else overwrite)
    scope.lower(located(ast.Call(text, [more, read(name), *bounds], []), given))


def refuse_out_of_order(scope: Scope, name: str, loc: Loc) -> None:
    """Raises UnsupportedError in a loop that a pragma or `prange` makes parallel or vectorised."""
    if any(frame.asked for frame in scope.loops):
        raise UnsupportedError(
            f"{container_of(name)!r} grows or shrinks in a loop whose iterations run in any order", loc,
            "store each item in an element of its own of an array, or drop the pragma",
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
            inlined(scope, turn, {"items": list_storage.list_named(scope, name, loc)}, loc)
        case "sort":
            sort(scope, name, loc)
        case "clear":
            slots = list_storage.list_named(scope, name, loc)
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
                           "call it in a statement of its own")  # fmt: skip


def method_of_given(scope: Scope, owner: Value, node: ast.Call, loc: Loc) -> Value | None:
    """The value of a method of a list that keeps its length: an argument, or a row of a matrix; None for others."""
    assert isinstance(node.func, ast.Attribute)
    if (
        not isinstance(owner, ArrayRef)
        or owner.ndim != 1
        or owner.symbol.array.container is not Container.LIST
    ):
        return None
    method = node.func.attr
    items: dict[str, Value] = {"items": owner}
    match method, node.args, list(map(ast.unparse, node.keywords)):
        case "sort" | "reverse", _, _ if owner.index:
            return None
        case "sort", [], []:
            sort_in_place(scope, owner.symbol, Extent(owner.symbol, 0, loc=loc), loc)
        case "sort", [], ["reverse=True"]:  # equal items keep their order
            inlined(scope, turn, items, loc)
            sort_in_place(scope, owner.symbol, Extent(owner.symbol, 0, loc=loc), loc)
            inlined(scope, turn, items, loc)
        case "reverse", [], []:
            inlined(scope, turn, items, loc)
        case "count" | "index", [item], []:
            text = count if method == "count" else index
            return inlined(scope, text, {**items, "value": scope.lower(item)}, loc)
        case _:
            return None
    return Opaque(None)


# ---------------------------------------------------------------- heapq and bisect


def _call(function: str, scope: Scope, node: ast.Call, loc: Loc) -> Value:
    match node.args:
        case [ast.Name(id=name), *given] if name in scope.list_names and not node.keywords:
            refuse_out_of_order(scope, name, loc)
        case _:
            raise UnsupportedError(
                f"{function} is compiled for a list that the function makes, with a name", loc
            )
    values = [settled(scope, value) for value in expressions.lower_operands(scope, given)]
    heap = list_storage.list_named(scope, name, loc)
    text: Callable[..., Any] = heaps.exchange
    if function in ("heappop", "heapreplace"):
        empty = equals(Var(heap.count, loc=loc), 0, loc)
        scope.fail_if(empty, "IndexError", "index out of range", loc)
    arguments: dict[str, Value] = {"heap": heap}
    match function, values:
        case "heappush", [item]:
            append(scope, name, item, loc)
            text = heaps.rise
        case "heapreplace", [item]:
            list_storage.learn_item(scope, name, item, loc)
            arguments["item"] = item
        case "heappop", []:
            arguments["item"] = pop(scope, name, None, loc)
        case "heapify", []:
            text = heaps.order
        case "insort_left" | "insort_right", [item]:
            append(scope, name, item, loc)
            text, arguments = (
                move_last,
                {"items": heap, "behind": python_number(function != "insort_left", loc)},
            )
        case _:
            raise UnsupportedError(f"{function} with these arguments cannot be compiled", loc)
    return inlined(scope, text, arguments, loc)


LIST_CALLS: dict[object, Callable[[Scope, ast.Call, Loc], Value]] = {
    function: partial(_call, function.__name__)
    for function in (
        heapq.heappush, heapq.heapreplace, heapq.heappop, heapq.heapify, bisect.insort_left, bisect.insort_right
    )
}  # fmt: skip
"""The function that lowers a call of each library function on lists. It raises UnsupportedError for other
arguments."""
