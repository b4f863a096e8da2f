"""Lists of lists of numbers, as one list of their items, and where each row begins in it.

    near = [[] for _ in range(n)]        items = []; starts, counts, rooms = [], [], []; for _ in range(n): (a new row)
    for u, v in edges:                   for u, v in edges:
        near[u].append(v)         ->         row = row_of(counts, u); (room for v in the row); put_last(items, ..., v)
    for v in near[u]:                    row = row_of(counts, u)
        s += x[v]                        for k in range(length_of(counts, row)):
                                             v = items[first_of(starts, row) + k]; s += x[v]

The functions are those of `appyc.library.list_rows`. A name that is bound to rows alone (`row = near[u]`,
`for row in near`) is the row's number.

Requires: each binding of the name makes a list of lists that are new (`[[] for ...]`, `[[], [a, b]]`, or `[]` where
such lists are appended), and each other use is one that a rule replaces.

A nested function gets the lists of its parameters that are such lists, which `list_rules` has made of the names that
it uses.

Does not handle: rows that are removed, given to functions of the program's, or bound to a name that is bound to
something else too; rows that grow while a loop runs over one of the same list.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping
from textwrap import indent
from typing import Any

from appyc.errors import UnsupportedError
from appyc.frontend.desugar.building import assigned, constant, functions_of, located, part_of, read, template
from appyc.frontend.desugar.list_names import lists_of_lists, rows_of, same_in_calls
from appyc.frontend.desugar.rewriting import Containers, Kind, ValueOf, replaced
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.fixed_containers import table_names
from appyc.frontend.syntax.liveness import names_behind
from appyc.frontend.syntax.tree import assigned_names, is_new_list, names_in, walk
from appyc.frontend.types.values import ReturnedContainer
from appyc.library import list_rows

_MAKE = "items = []; starts = []; counts = []; rooms = []"
_NEW_ROW = "starts.append(len(items)); counts.append(0); rooms.append(0)"
_NEW_FULL_ROW = """
first = len(items)
items.extend(given)
starts.append(first)
counts.append(len(items) - first)
rooms.append(len(items) - first)
"""
_REPLACE = """
first = len(items)
items.extend(given)
replace_row(items, starts, counts, rooms, row_of(counts, index), first)
"""
_PUSH = """
item = given
if is_full(counts, rooms, row):
    first = len(items)
    for k in range(2 * length_of(counts, row) + 4):
        items.append(item)
    move_to_end(items, starts, counts, rooms, row, first)
put_last(items, starts, counts, row, item)
"""
_ITEM = "item = item_at(items, first_of(starts, row) + k)"
_PART = "items[first_of(starts, row):end_of(starts, counts, row)]"


def without_nested_lists(source: Source, value_of: ValueOf, *, gives_tables: bool = False) -> Source:
    """The function, with its lists of lists replaced. Equally long ones stay where a use has no rule, and in a function
    that gives them to its caller: they are matrices (`fixed_containers.table_names`)."""
    kinds = lists_of_lists(source.ast, value_of)
    tables = table_names(source.ast) if kinds else {}
    others = {name: kind for name, kind in kinds.items() if name not in tables}
    if not gives_tables or others == kinds:
        try:
            return _replaced(source, kinds, value_of)
        except UnsupportedError:
            if others == kinds:
                raise
    return _replaced(source, others, value_of)


def _replaced(source: Source, kinds: dict[str, Kind], value_of: ValueOf) -> Source:
    rows = rows_of(source.ast, kinds) if kinds else {}
    kinds = kinds | {name: Kind("row", rows_of=owner) for name, owner in rows.items()}
    return replaced(source, kinds, _NestedLists, value_of)


class _NestedLists(Containers):
    PARTS = ("items", "starts", "counts", "rooms")
    STATEMENTS = {
        "it[index] = given": _REPLACE,
        "it[index], it[other] = it[other], it[index]": (
            "swap_rows(starts, counts, rooms, row_of(counts, index), row_of(counts, other))"
        ),
        "it.append([])": _NEW_ROW,
        "it.append(given)": _NEW_FULL_ROW,
        "one.append(given)": f"row = one{_PUSH}",
        "one.extend(more)": f"row = one\nfor given in more:{indent(_PUSH, '    ')}",
        "one.sort()": f"row = one; part = {_PART}; part.sort(); put_back(items, starts, row, part)",
        "one.reverse()": f"row = one; part = {_PART}; part.reverse(); put_back(items, starts, row, part)",
        "one.clear()": "row = one; empty(counts, row)",
    }
    EXPRESSIONS = {
        "len(it)": "len(counts)",
        "len(one)": "length_of(counts, one)",
        "one.pop()": "pop_last(items, starts, counts, one)",
        "item in one": "holds(items, starts, counts, one, item)",
        "item not in one": "not holds(items, starts, counts, one, item)",
    }
    """Templates of expressions. `one` matches a row of `it`, and is replaced by the row's number."""
    LOOKERS = frozenset(
        {"sum", "min", "max", "any", "all", "sorted", "list", "tuple", "set", "enumerate", "zip", "reversed"}
    )
    TEMPORARIES = ("given", "item", "first", "part", "k", "row")
    CONSTANTS = functions_of(list_rows)
    FULL = "len(counts) > 0"
    RETURNED = "made(items, starts, counts)"
    HINT = (
        "rows may get items at their end and lose them, be sorted, indexed, measured, searched and run over; "
        "rows that are empty may be appended, and all be returned"
    )

    def __init__(self, function: ast.FunctionDef, kinds: dict[str, Kind], value_of: ValueOf) -> None:
        super().__init__(function, kinds, value_of)
        self.rows = {name: kind.rows_of for name, kind in kinds.items() if kind.rows_of}
        self.behind = names_behind(function.body)
        self.own, self.parameters = assigned_names(function), parameter_names(function)
        nested = [node for node in function.body if isinstance(node, ast.FunctionDef)]
        lists = kinds.keys() - self.rows.keys()
        self.given = {f.name: lists & same_in_calls(f, function) for f in nested}
        """The lists of lists that each nested function gets as parameters of the same names."""

    # ------------------------------------------------------------ nested functions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        lists = self.given.get(node.name)
        if not lists:
            return node
        own = assigned_names(node)
        kinds = {
            name: kind
            for name, kind in self.kinds.items()
            if name in lists or (name in own and kind.rows_of in lists)
        }
        inner = _NestedLists(node, kinds, self.value_of)
        inner.given |= self.given
        inner.parts = {name: {part: inner.unused(f"{name}_{part}") for part in self.PARTS} for name in lists}
        node.args.args = [
            located(ast.arg(part), arg)
            for arg in node.args.args
            for part in inner.parts.get(arg.arg, {"": arg.arg}).values()
        ]
        node.body = inner.block(node.body)
        return node

    def _as_parts(self, arg: ast.expr, lists: Container[str]) -> list[ast.expr]:
        """The arguments that a nested function gets for one: the parts of a list of lists, else the argument
        itself."""
        name = self.owner(arg)
        if name is None or name not in lists:
            return [arg]
        return [self.expression(part, name, arg) for part in self.PARTS]

    # ------------------------------------------------------------ rows

    def owner(self, node: ast.AST | None) -> str | None:
        name = super().owner(node)
        return None if name in self.rows else name

    def container(self, found: dict[str, ast.expr]) -> str | None:
        return self._list_of(found["one"]) if "one" in found else super().container(found)

    def takes(self, pattern: str, node: ast.AST, name: str, found: Mapping[str, ast.expr]) -> bool:
        if pattern.startswith("it[") and not self._keeps_names(node, name):
            return False
        if pattern in ("it[index] = given", "it.append(given)"):
            return is_new_list(found["given"]) or self._is_dead_after(found["given"], node)
        return True

    def value(self, word: str, found: ast.expr) -> ast.expr:
        row = self._of_row("row", found) if word == "one" else None
        return row or super().value(word, self.looked_at(found) if word == "more" else found)

    def _list_of(self, node: ast.AST) -> str | None:
        """The list of lists that an expression is a row of."""
        match node:
            case ast.Name(id=name):
                return self.rows.get(name)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if not isinstance(index, ast.Slice):
                return name if name in self.kinds and name not in self.rows else None
            case _:
                return None

    def _of_row(self, text: str, node: ast.AST, **given: ast.expr) -> ast.expr | None:
        """The expression of a template for a row, by its number, which is tested; None for what is no row."""
        name = self._list_of(node)
        if name is None:
            return None
        if isinstance(node, ast.Name):
            return self.expression(text, name, node, row=read(part_of(node.id, "row")), **given)
        assert isinstance(node, ast.Subscript)
        number = self.expression("row_of(counts, index)", name, node, index=self.visit(node.slice))
        return self.expression(text, name, node, row=number, **given)

    def _is_dead_after(self, item: ast.expr, stmt: ast.AST) -> bool:
        """Whether a list has no name but that of a row after a statement."""
        behind = self.behind.get(stmt) if isinstance(stmt, ast.stmt) else None
        if not isinstance(item, ast.Name) or item.id in self.parameters:
            return False
        return behind is not None and item.id not in behind

    # ------------------------------------------------------------ statements

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node.targets:
            case [ast.Name(id=name)] if name in self.rows:
                row = self._of_row("row", node.value)
                assert row is not None, "the name is bound to rows alone"
                node.targets, node.value = [ast.Name(part_of(name, "row"), ast.Store())], row
                return node
            case [ast.Name(id=name)] if name in self.kinds and name in names_in(node.value):
                return node  # its rows would be gone before they are read
        return super().visit_Assign(node)

    def _keeps_names(self, node: ast.AST, name: str) -> bool:
        """Whether no name of a row of a list is live behind a statement that moves rows."""
        names = {row for row in self.rows if self.rows[row] == name and row in self.own}
        behind = self.behind.get(node) if isinstance(node, ast.stmt) else None
        return not (self.rows.keys() if behind is None else behind) & names

    def made(self, name: str, value: ast.expr, at: ast.stmt) -> list[ast.stmt]:
        assert isinstance(value, ast.List | ast.ListComp), "nothing else makes a list of lists"
        rows = value.elts if isinstance(value, ast.List) else [value.elt]
        first = [
            stmt for item in rows for stmt in template("it.append(item)", {"it": name, "item": item}, item)
        ]
        return [*self.statements(_MAKE, name, at), *self.filled(value, first)]

    def visit_For(self, node: ast.For) -> Any:
        match node.target:
            case ast.Name(id=target) if target in self.rows:
                return self._over_rows(node, target)
            case ast.Tuple(elts=[index, ast.Name(id=target)]) if target in self.rows:
                number = read(part_of(target, "row"))
                node.body.insert(0, ast.copy_location(ast.Assign([index], number), index))
                return self._over_rows(node, target)
        name = self._list_of(node.iter)
        if (
            name is None
            or self.is_changed(node.body, name)
            or (row := self._of_row("row", node.iter)) is None
        ):
            return self.generic_visit(node)
        names = {"k": self.unused("k"), "row": self.unused(f"{name}_row")}
        before = self.from_template("row = number", name, node, {**names, "number": row})
        (first,) = self.from_template(_ITEM, name, node, {**names, "item": node.target})
        (loop,) = self.from_template("for k in range(length_of(counts, row)): pass", name, node, names)
        assert isinstance(loop, ast.For)
        node.target, node.iter = loop.target, loop.iter
        node.body, node.orelse = [first, *self.block(node.body)], self.block(node.orelse)
        return [*before, node]

    def _over_rows(self, node: ast.For | ast.comprehension, target: str) -> ast.AST:
        node.target = located(ast.Name(part_of(target, "row"), ast.Store()), node.target)
        node.iter = self.expression("range(len(counts))", self.rows[target], node.iter)
        return self.generic_visit(node)

    def is_changed(self, body: list[ast.stmt], name: str) -> bool:
        for node in walk(*body):
            match node:
                case ast.Name(id=owner, ctx=ast.Store()) if owner == name:
                    return True
                case ast.Subscript(value=ast.Name(id=owner), ctx=ast.Store()) if owner == name:
                    return True
                case ast.Attribute(value=owner) if self._list_of(owner) == name:
                    return True
        return False

    def returned_part(self, value: ast.expr, values: list[ast.expr], before: list[ast.stmt]) -> ast.expr:
        """A row that is returned without its list is a copy, with a name."""
        row = None if self._list_of(value) in map(self.owner, values) else self._of_row(_PART, value)
        if row is None:
            return super().returned_part(value, values, before)
        name = self.unused("part")
        before.append(located(assigned(name, row), value))
        return located(read(name), value)

    # ------------------------------------------------------------ expressions

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if self._list_of(node.value) is None or isinstance(node.slice, ast.Slice):
            return self.generic_visit(node)
        text = "items[position(starts, counts, row, index)]"
        out = self._of_row(text, node.value, index=self.visit(node.slice))
        assert isinstance(out, ast.Subscript)
        out.ctx = node.ctx
        return out

    def visit_Call(self, node: ast.Call) -> Any:
        match node:
            case ast.Call(func=ast.Name(id=callee), args=args) if lists := self.given.get(callee):
                node.args = [part for arg in args for part in self._as_parts(arg, lists)]
            case ast.Call(func=ast.Constant(value=ReturnedContainer()), args=args):
                for at, arg in enumerate(args):
                    if (name := self.owner(arg)) is not None:
                        made = constant(ReturnedContainer("lists"))
                        args[at] = self.expression(self.RETURNED, name, arg, made=made)
        return super().visit_Call(node)

    def looked_at(self, node: ast.expr, looker: str = "") -> ast.expr:
        return self._of_row(_PART, node) or node  # a copy

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        if isinstance(node.target, ast.Name) and node.target.id in self.rows:
            return self._over_rows(node, node.target.id)
        return super().visit_comprehension(node)

    def _test(self, node: ast.expr) -> ast.expr:
        row = None if isinstance(node, ast.BoolOp) else self._of_row("length_of(counts, row) > 0", node)
        return row or super()._test(node)
