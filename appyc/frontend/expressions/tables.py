"""Lists that keep their lengths, as arrays of Python's own numbers: those that nested functions use, and lists of
equally long lists of numbers (`frontend/syntax/fixed_containers.table_names`), which are matrices.

    t = [[0] * m for _ in range(n)]
    t[i][j] = t[i - 1][j] + 1

The type of the items is inferred as that of a list's (`list_storage.learn_item`).
"""

from __future__ import annotations

import ast
from dataclasses import replace

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor, materialise, settled
from appyc.frontend.control.comprehensions import collected
from appyc.frontend.desugar.building import part_of
from appyc.frontend.expressions.arithmetic import cast
from appyc.frontend.expressions.ints_or_floats import is_int
from appyc.frontend.expressions.list_storage import learn_item, leave_large, list_named
from appyc.frontend.expressions.lists import bind_list
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.fixed_containers import only_indexed, own_tables, table
from appyc.frontend.types.numbers import NumberType
from appyc.frontend.types.values import ArrayRef, Number, Tensor, Value
from appyc.ir.nodes import Expr, Load, Store, Symbol
from appyc.ir.types import Container


def _described(scope: Scope, value: ast.expr, loc: Loc) -> Tensor:
    """The items of a table."""
    rows = table(value)
    assert rows is not None, "the name is bound to tables alone"
    items = as_tensor(scope, collected(scope, rows), loc)
    if items.ndim < 2:
        raise UnsupportedError("a list of lists of these items cannot be compiled", loc,
                               "use an array: np.zeros((n, m))")  # fmt: skip
    return items


def new_table(scope: Scope, value: ast.expr, name: str, loc: Loc) -> ArrayRef:
    """A table that no name is bound to, which gets no other items."""
    items = _described(scope, value, loc)
    if not items.python:
        raise UnsupportedError("a list of lists of NumPy's numbers cannot be compiled", loc, "use an array")
    return materialise(scope, items, name, loc, Container.LIST)


def bind_table(scope: Scope, name: str, value: ast.expr, loc: Loc) -> None:
    """Binds a name to a new table: `name = [[...] * m for _ in range(n)]`."""
    items = _described(scope, value, loc)
    item, first = Number(items.element, items.python), scope.tables[name]
    learn_item(scope, first, item, loc)
    kind = scope.facts.lists[first][1][0]
    is_list = not _is_own(scope, name)
    if is_list and (kind.flagged or not kind.python):
        raise UnsupportedError(f"{name!r} gets numbers of several types, and has other names or uses", loc,
                               "begin with numbers of the type that it gets: 0.0 for floats")  # fmt: skip
    element = cast(items.element, kind.dtype)
    container = Container.LIST if is_list else Container.ARRAY
    scope.bind(name, materialise(scope, replace(items, element=element), name, loc, container), loc)
    if kind.flagged:
        leave_large(scope, item, loc)
        flags = materialise(scope, replace(items, element=is_int(item, loc)), "is_int", loc)
        scope.bind(part_of(name, "is_int"), flags, loc)


def table_of(scope: Scope, node: ast.expr) -> str | None:
    """The name of the table that an expression is a row of, or a row of one: `t` of `t[i]`."""
    match node:
        case ast.Subscript(value=ast.Name(id=name)) if name in scope.tables:
            return name
        case ast.Subscript(value=ast.Subscript() as row):
            return table_of(scope, row)
        case _:
            return None


def as_item(scope: Scope, row: ast.expr, item: Value, index: tuple[Expr, ...] | None = None) -> Value:
    """An element as the item of a table, which is a number of Python's if all that are stored are. index: of the
    element, where that is no load."""
    name = table_of(scope, row)
    if name is None or not isinstance(item, Number) or not _is_own(scope, name):
        return item
    out = replace(item, python=_kind(scope, name).python)
    flags = _flags(scope, name, item.expr.loc)
    if flags is None:
        return out
    if index is None:
        assert isinstance(item.expr, Load), "the table is an array of its own"
        index = item.expr.index
    return replace(out, is_int=Load(flags, index, loc=item.expr.loc))


def _is_own(scope: Scope, name: str) -> bool:
    """Whether the table has one name, and is an array; else it is a list."""
    return name in scope.source.remember("own tables", lambda: own_tables(scope.source.ast))


def _kind(scope: Scope, name: str) -> NumberType:
    """The type of a table's items."""
    return scope.facts.lists[scope.tables[name]][1][0]


def _flags(scope: Scope, name: str, loc: Loc) -> Symbol | None:
    """The array that tells which items of a table are ints; None where the type does."""
    if not _is_own(scope, name) or not _kind(scope, name).flagged:
        return None
    flags = scope.read(part_of(name, "is_int"), loc)
    assert isinstance(flags, ArrayRef)
    return flags.symbol


def taken_by_table(scope: Scope, row: ast.expr, index: tuple[Expr, ...], item: Number, loc: Loc) -> Number:
    """The number, whose type a table learns that it is stored into, and whose flag is stored if that table has flags.
    Raises Restart if the type is new."""
    name = table_of(scope, row)
    if name is None:
        return item
    learn_item(scope, scope.tables[name], item, loc)
    flags = _flags(scope, name, loc)
    if flags is None:
        return item
    leave_large(scope, item, loc)
    kept = settled(scope, item)
    assert isinstance(kept, Number)
    scope.emit(Store(flags, index, is_int(kept, loc), loc=loc))
    return kept


def bind_shared(scope: Scope, name: str, value: ast.expr, loc: Loc) -> None:
    """Binds a name that nested functions use to a new list that keeps its length: an array of Python's numbers, or a
    matrix. Where it gets numbers of NumPy's, all of its items are such."""
    rows = table(value) if name in scope.shared_tables else None
    if rows is None:
        own = f"items of {name}"
        scope.list_names |= {own}
        bind_list(scope, own, value, loc)
        slots = list_named(scope, own, loc)
        is_python = slots.kinds[0].python and not slots.of_tuples
        items = as_tensor(scope, slots, loc) if is_python else None
    else:
        items = as_tensor(scope, collected(scope, rows), loc)
        is_python = items.python and items.ndim == 2
    if items is None or not is_python:
        raise UnsupportedError(f"{name!r} holds no numbers of Python's own, and a nested function uses it", loc,
                               "use an array")  # fmt: skip
    is_numpy = rows is None and loc in scope.callees.known.numpy_lists
    array = materialise(scope, items, name, loc, Container.ARRAY if is_numpy else Container.LIST)
    if rows is None and only_indexed(scope.source.ast, name):
        scope.callees.lists[array.symbol] = loc
    scope.bind(name, array, loc)
