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

Items that are ints of Python's and float64 are float64, beside flags that tell which are ints.

Does not handle: items that are arrays or lists; items of other number types, which a Python list preserves.
"""

from __future__ import annotations

import ast

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor, materialise, pinned
from appyc.frontend.control.comprehensions import collected
from appyc.frontend.desugar.building import located
from appyc.frontend.desugar.comprehension_loops import items_of
from appyc.frontend.expressions import expressions, list_storage
from appyc.frontend.expressions.arithmetic import cast, integer, python_number
from appyc.frontend.expressions.array_list_calls import ArrayItemError, common_array, learning
from appyc.frontend.expressions.inlining import inlined
from appyc.frontend.expressions.list_parameters import list_calls
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import copied_list, is_new_list
from appyc.frontend.types import values as vals
from appyc.frontend.types.numbers import NumberType
from appyc.frontend.types.value_parts import item_at
from appyc.ir.names import unused
from appyc.ir.nodes import Assign, Binary, Const, Expr, For, ForAll, Load, Store, Symbol, Var
from appyc.ir.types import DType
from appyc.library import sorting


def bind_list(scope: Scope, name: str, value: ast.expr, loc: Loc) -> None:
    """Binds a name to a new list: `name = [...]`, `name = [item] * n`, and other expressions that make lists."""
    match value:
        case ast.Call(func=ast.Name(id=made), args=[ast.Tuple(elts=elts) | ast.List(elts=elts)]) if (
            made not in scope.locals and not any(isinstance(e, ast.Starred) for e in elts)
        ):
            _bind_written(scope, name, located(ast.List(elts, ast.Load()), value), loc)
        case ast.BinOp() | ast.List():
            _bind_written(scope, name, value, loc)
        case _:
            with learning(scope, name):
                items = described(scope, value, loc)
            bind_items(scope, name, items, loc)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "sorted":
        sort(scope, name, loc)


def bind_items(scope: Scope, name: str, items: vals.ListSlots, loc: Loc) -> None:
    """Binds a name to a new list of the items of another one."""
    list_storage.learn_item(scope, name, item_at(items, integer(0, loc), loc), loc)
    slots, count = list_storage.storage_of(scope, name), Var(items.count, loc=loc)
    list_storage.make_room(scope, slots, count, loc)
    put(scope, slots, integer(0, loc), items, loc)
    _bound(scope, name, slots, count, loc)


def _bind_written(scope: Scope, name: str, value: ast.expr, loc: Loc) -> None:
    """Binds a name to a list that is written out, in parts that are put behind each other."""
    parts = _written_parts(value)
    nodes = [node for items, times in parts for node in (*items, *([times] if times is not None else []))]
    lowered = iter(expressions.lower_operands(scope, nodes))
    written: list[tuple[list[vals.Value], Expr | None]] = []
    length: Expr = integer(0, loc)
    for nodes, node in parts:
        items = [expressions.pack_masked(scope, next(lowered), loc) for _ in nodes]
        repeats = None if node is None else _repeats(scope, next(lowered), loc)
        written.append((items, repeats))
        length = _sum(length, repeats or integer(len(items), loc), loc)
    if any(vals.is_none(item) for items, _ in written for item in items):
        scope.facts.learn(scope.facts.none_lists, name)
        written = [([python_number(0, loc) for _ in items], repeats) for items, repeats in written]
    for item in (item for items, _ in written for item in items):
        list_storage.learn_item(scope, name, item, loc)
    slots = list_storage.storage_of(scope, name)
    kept = [  # read before the list's storage is reallocated
        ([list_storage.row_of(scope, slots, item, loc) for item in items], repeats)
        for items, repeats in written
    ]
    length = pinned(scope, "length", length)
    list_storage.make_room(scope, slots, length, loc)
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
                    scope.emit(ForAll((axis,), (repeats,), column, (here,), number, checked=False, loc=loc))
        first = _sum(first, repeats or integer(len(rows), loc), loc)
    _bound(scope, name, slots, length, loc)


def _repeats(scope: Scope, value: vals.Value, loc: Loc) -> Expr:
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


def _bound(scope: Scope, name: str, slots: vals.ListSlots, length: Expr, loc: Loc) -> None:
    scope.emit(Assign(slots.count, length, loc=loc))
    scope.env[name] = slots
    scope.set_flag(name, loc)


def described(scope: Scope, node: ast.expr, loc: Loc) -> vals.ListSlots:
    """The items of a new list, materialised in fresh arrays."""
    if (source := copied_list(node)) is not None and not is_list(scope, source.id, loc):
        node = items_of(node, unused("item", scope.locals))
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice() as part):
            return list_storage.list_part(scope, list_storage.list_named(scope, name, loc), part, loc)
        case ast.Name(id=name) | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="copy")):
            return copied(scope, list_storage.list_named(scope, name, loc), loc)
        case ast.Call() if not is_new_list(node) and list_calls(
            scope.source, scope.names, scope.facts
        ).makes_list(node):
            node = items_of(node, unused("item", scope.locals))
        case ast.Call(args=[ast.Name(id=name)]) if name in scope.list_names:
            return copied(scope, list_storage.list_named(scope, name, loc), loc)
        case ast.Call(args=[inner]):
            if isinstance(node.func, ast.Name) and node.func.id in scope.locals:
                raise UnsupportedError(f"{node.func.id!r} is a name of this function's own here", loc)
            if isinstance(inner, ast.ListComp | ast.GeneratorExp):
                return described(scope, inner, loc)
            node = items_of(inner, unused("item", scope.locals))
    if isinstance(node, ast.GeneratorExp):
        node = ast.copy_location(ast.ListComp(node.elt, node.generators), node)
    assert isinstance(node, ast.ListComp), "nothing else makes a new list"
    items = collected(scope, node)
    whole = items.tensor if isinstance(items, vals.Masked) else items
    python = isinstance(whole, vals.Tensor) and whole.python
    found = expressions.pack_masked(scope, items, loc)
    if isinstance(found, vals.ListSlots):
        return copied(scope, found, loc)
    if isinstance(found, vals.TupleValue):
        if (array := common_array(found.items)) is not None:
            raise ArrayItemError(
                "a list of arrays cannot be compiled", loc, ndim=array.ndim, dtype=vals.dtype_of(array)
            )
        numbers = [item for item in found.items if isinstance(item, vals.Number)]
        if len(numbers) < len(found.items) or len({number.type for number in numbers}) != 1:
            raise UnsupportedError("a list of items taken from a tuple is only looked at here", loc,
                                   "write the items out")  # fmt: skip
        python = numbers[0].python
    tensor = as_tensor(scope, found, loc)
    if tensor.ndim != 1:
        raise ArrayItemError("a list of arrays cannot be compiled", loc,
                             ndim=tensor.ndim - 1, dtype=tensor.element.dtype)  # fmt: skip
    own = materialise(scope, tensor, "items", loc)
    return list_storage.list_of_columns(scope, [own], (NumberType(tensor.element.dtype, python),), None, loc)


def copied(scope: Scope, slots: vals.ListSlots, loc: Loc) -> vals.ListSlots:
    return list_storage.list_part(scope, slots, ast.Slice(), loc)


def put(scope: Scope, slots: vals.ListSlots, first: Expr, items: vals.ListSlots, loc: Loc) -> None:
    """Stores the items of another list from a position on."""
    count = Var(items.count, loc=loc)
    if len(slots.columns) > len(items.columns):  # each item gets flags
        var = scope.supply.fresh("k", DType.INT64)
        with scope.collect() as block:
            row = list_storage.row_of(scope, slots, item_at(items, Var(var, loc=loc), loc), loc)
            here = _sum(first, Var(var, loc=loc), loc)
            for column, number in zip(slots.columns, row, strict=True):
                scope.emit(Store(column, (here,), number, checked=False, loc=loc))
        scope.emit(For(var, integer(0, loc), count, 1, tuple(block), implied=True, loc=loc))
        return
    # In a round of lowering before the list has flags, it takes the numbers alone.
    for column, source in zip(slots.columns, items.columns, strict=False):
        here = Var(scope.supply.fresh("i", DType.INT64), loc=loc)
        element = cast(Load(source, (here,), checked=False, loc=loc), column.dtype)
        at = (_sum(first, here, loc),)
        scope.emit(ForAll((here.symbol,), (count,), column, at, element, checked=False, loc=loc))


def sort(scope: Scope, name: str, loc: Loc) -> None:
    """Sorts a list in place: `name.sort()`."""
    owner = list_storage.list_named(scope, name, loc)
    if owner.of_tuples or owner.kinds[0].flagged:
        inlined(scope, sorting.sort_items, {"items": owner}, loc)
    else:
        sort_in_place(scope, owner.columns[0], Var(owner.count, loc=loc), loc)


def sort_in_place(scope: Scope, array: Symbol, count: Expr, loc: Loc) -> None:
    """Sorts the first `count` elements of a vector."""
    if array.dtype.is_complex:
        raise UnsupportedError("complex numbers are not sorted in compiled code", loc, "sort their sizes")
    arguments: dict[str, vals.Value] = {"a": vals.ArrayRef(array), "n": vals.Number(count, python=True)}
    inlined(scope, sorting.sort_vector, arguments, loc)


def is_list(scope: Scope, name: str, loc: Loc) -> bool:
    """Whether a name is bound to a list of the function's own, or of the caller's."""
    value = scope.read(name, loc)
    return isinstance(value, vals.ListSlots) or vals.is_list_itself(value)
