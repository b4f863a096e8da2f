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

Does not handle: rows that are removed, given to functions of the program's, or bound to a name that is bound to
something else too; rows that grow while a loop runs over one of the same list.
"""

# ruff: noqa: N802  (names that `ast` gives)

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from appyc.frontend.desugar.building import constant, located, read, template
from appyc.frontend.desugar.rewriting import Containers, Kind, ValueOf, bindings, listed, replaced
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import METHODS
from appyc.frontend.syntax.fixed_containers import table_names
from appyc.frontend.syntax.liveness import names_behind
from appyc.frontend.syntax.tree import assigned_names, is_new_list, walk
from appyc.frontend.types.values import ReturnedContainer
from appyc.library import list_rows

_LOOKERS = frozenset(
    {"sum", "min", "max", "any", "all", "sorted", "list", "tuple", "set", "enumerate", "zip", "reversed"}
)
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
_LISTS = Kind("lists")
_PART = "items[first_of(starts, row):end_of(starts, counts, row)]"


def without_nested_lists(source: Source, value_of: ValueOf) -> Source:
    """The function, with its lists of lists replaced."""
    written = bindings(source.ast, lambda value: _LISTS if isinstance(value, ast.ListComp) else None)
    grown = _grown(source.ast) | (written.keys() - table_names(source.ast))
    kinds = {name: kind for name, kind in bindings(source.ast, _kind_of).items() if name in grown}
    kinds |= {name: Kind("row", rows_of=owner) for name, owner in _rows_of(source.ast, kinds).items()}
    return replaced(source, kinds, _NestedLists, value_of)


def _kind_of(value: ast.expr) -> Kind | None:
    match value:
        case ast.List(elts=elts) if all(map(is_new_list, elts)):
            return _LISTS
        case ast.ListComp(elt=item) if is_new_list(item):
            return _LISTS
        case _:
            return None


def _grown(tree: ast.FunctionDef) -> set[str]:
    """The names of lists of empty lists, of lists that get lists as items, or the items of which get items or are
    replaced."""
    new = bindings(tree, lambda value: _LISTS if is_new_list(value) else None)
    found = set()
    for node in walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp(elt=ast.List(elts=[]))):
                found.add(name)
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item])
            ):
                if is_new_list(item) or (isinstance(item, ast.Name) and item.id in new):
                    found.add(name)
            case ast.Attribute(value=ast.Subscript(value=ast.Name(id=name)), attr=attr) if attr in METHODS:
                found.add(name)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=value) if is_new_list(
                value
            ):
                found.add(name)
    return found


def _rows_of(tree: ast.FunctionDef, kinds: Collection[str]) -> dict[str, str]:
    """The names that are bound to rows of one list of lists and to nothing else, and that list's name. None of them is
    live where that name is bound anew."""
    bound: Counter[str] = Counter()
    owners: dict[str, list[str]] = {}
    own = assigned_names(tree)
    for node in walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound[name] += 1
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Subscript(value=ast.Name(id=owner), slice=index)
            ) if owner in kinds and not isinstance(index, ast.Slice):
                owners.setdefault(name, []).append(owner)
            case (
                ast.For(target=ast.Name(id=name), iter=ast.Name(id=owner))
                | ast.For(
                    target=ast.Tuple(elts=[_, ast.Name(id=name)]),
                    iter=ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name(id=owner)], keywords=[]),
                )
                | ast.comprehension(target=ast.Name(id=name), iter=ast.Name(id=owner))
            ) if owner in kinds:
                owners.setdefault(name, []).append(owner)
    rebound: dict[str, frozenset[str]] = {}
    for stmt, behind in names_behind(tree.body).items():
        if isinstance(stmt, ast.Assign) and isinstance(target := stmt.targets[0], ast.Name):
            rebound[target.id] = rebound.get(target.id, frozenset()) | behind
    return {
        name: owner
        for name, (owner, *others) in owners.items()
        if {owner}.issuperset(others) and bound[name] == 1 + len(others) and name not in kinds
        if (name not in own or name not in rebound.get(owner, ()))
    }


class _NestedLists(Containers):
    PARTS = ("items", "starts", "counts", "rooms")
    STATEMENTS = {  # noqa: RUF012
        "it.append([])": _NEW_ROW,
        "it.append(given)": _NEW_FULL_ROW,
        "one.append(given)": f"row = one{_PUSH}",
        "one.sort()": f"row = one; part = {_PART}; part.sort(); put_back(items, starts, row, part)",
        "one.reverse()": f"row = one; part = {_PART}; part.reverse(); put_back(items, starts, row, part)",
        "one.clear()": "row = one; empty(counts, row)",
    }
    EXPRESSIONS = {  # noqa: RUF012
        "len(it)": "len(counts)",
        "len(one)": "length_of(counts, one)",
        "one.pop()": "pop_last(items, starts, counts, one)",
        "item in one": "holds(items, starts, counts, one, item)",
        "item not in one": "not holds(items, starts, counts, one, item)",
    }
    """In these, `one` is a row of `it`, and what becomes of it the row's number."""
    TEMPORARIES = ("item", "first", "part", "k", "row")
    CONSTANTS = {  # noqa: RUF012
        name: constant(f) for name, f in vars(list_rows).items() if callable(f)
    }
    FULL = "len(counts) > 0"
    RETURNED = "made(items, starts, counts)"
    HINT = (
        "rows may get items at their end and lose them, be sorted, indexed, measured, searched and run over; "
        "rows that are empty may be appended, and all be returned"
    )

    def __init__(self, function: ast.FunctionDef, kinds: Mapping[str, Kind], value_of: ValueOf) -> None:
        super().__init__(function, kinds, value_of)
        self.rows = {name: kind.rows_of for name, kind in kinds.items() if kind.rows_of}
        self.behind = names_behind(function.body)
        self.own = assigned_names(function)

    # ------------------------------------------------------------ rows

    def owner(self, node: ast.AST | None) -> str | None:
        name = super().owner(node)
        return None if name in self.rows else name

    def container(self, found: dict[str, ast.expr]) -> str | None:
        return self._list_of(found["one"]) if "one" in found else super().container(found)

    def takes(self, pattern: str, node: ast.AST, name: str, found: Mapping[str, ast.expr]) -> bool:
        if pattern != "it.append(given)":
            return True
        assert isinstance(node, ast.stmt)
        return is_new_list(found["given"]) or self._is_dead_after(found["given"], node)

    def value(self, word: str, found: ast.expr) -> ast.expr:
        row = self._row(found) if word == "one" else None
        return super().value(word, found) if row is None else row[1]

    def _list_of(self, node: ast.AST) -> str | None:
        """The list of lists that an expression is a row of."""
        match node:
            case ast.Name(id=name):
                return self.rows.get(name)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if not isinstance(index, ast.Slice):
                return name if name in self.kinds and name not in self.rows else None
            case _:
                return None

    def _row(self, node: ast.AST) -> tuple[str, ast.expr] | None:
        """The list of lists that an expression is a row of, and the row's number, tested."""
        name = self._list_of(node)
        if name is None:
            return None
        if isinstance(node, ast.Name):
            return name, read(_number_of(node.id))
        assert isinstance(node, ast.Subscript)
        return name, self.expression("row_of(counts, index)", name, node, index=self.visit(node.slice))

    def _numbered(self, row: tuple[str, ast.expr], at: ast.AST) -> tuple[list[ast.stmt], ast.expr]:
        """The statement that keeps a row's number in a variable, and that."""
        name, number = row
        own = self.unused(f"{name}_row")
        target = ast.Name(own, ast.Store())
        return self.statements("row = number", name, at, row=target, number=number), read(own)

    def _of_row(self, text: str, row: tuple[str, ast.expr], at: ast.AST, **given: ast.expr) -> ast.expr:
        """The expression of a template for a row."""
        name, number = row
        return self.expression(text, name, at, row=number, **given)

    def _is_dead_after(self, item: ast.expr, stmt: ast.stmt) -> bool:
        """Whether a list has no name but that of a row after a statement."""
        return isinstance(item, ast.Name) and item.id not in self.behind.get(stmt, {item.id})

    # ------------------------------------------------------------ statements

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in self.rows:
                row = self._row(value)
                assert row is not None, "the name is bound to rows alone"
                node.targets, node.value = [ast.Name(_number_of(name), ast.Store())], row[1]
                return node
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in self.kinds:
                return [*self.statements(_MAKE, name, node), *self._filled(name, value)]
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=index)], value=value) if (
                name in self.kinds and self._keeps_names(node, name)
            ):
                if is_new_list(value) or self._is_dead_after(value, node):
                    return self.statements(
                        _REPLACE, name, node, given=self.visit(value), index=self.visit(index)
                    )
            case ast.Assign(
                targets=[ast.Tuple(elts=[ast.Subscript(value=ast.Name(id=name), slice=one) as to, other])],
                value=ast.Tuple(elts=[source, last]),
            ) if name in self.kinds and name not in self.rows and self._keeps_names(node, name):
                is_swap = ast.unparse(to) == ast.unparse(last) and ast.unparse(other) == ast.unparse(source)
                if is_swap and self._list_of(other) == name and isinstance(other, ast.Subscript):
                    given = {"one": self.visit(one), "other": self.visit(other.slice)}
                    text = "swap_rows(starts, counts, rooms, row_of(counts, one), row_of(counts, other))"
                    return self.statements(text, name, node, **given)
        return self.generic_visit(node)

    def _keeps_names(self, node: ast.stmt, name: str) -> bool:
        """Whether no name of a row of a list is live behind a statement that moves rows."""
        names = {row for row in self.rows if self.rows[row] == name and row in self.own}
        return not self.behind.get(node, self.rows.keys()) & names

    def _filled(self, name: str, value: ast.expr) -> list[ast.stmt]:
        """The statements that append the first rows of a list."""

        def appended(item: ast.expr) -> list[ast.stmt]:
            return template("owner.append(item)", {"owner": read(name), "item": item}, item)

        match value:
            case ast.ListComp(elt=item):
                filling = self.nest(value, *appended(item))
            case ast.List(elts=elts):
                filling = [stmt for item in elts for stmt in appended(item)]
            case _:
                raise AssertionError("nothing else makes a list of lists")
        return [new for stmt in filling for new in listed(self.visit(ast.copy_location(stmt, value)))]

    def visit_Expr(self, node: ast.Expr) -> Any:
        match node.value:
            case ast.Call(func=ast.Attribute(value=owner, attr="extend"), args=[items], keywords=[]):
                if (row := self._row(owner)) is not None:
                    return self._extended(row, items, node)
        return self.generic_visit(node)

    def _extended(self, row: tuple[str, ast.expr], items: ast.expr, node: ast.Expr) -> list[ast.stmt]:
        before, own = self._numbered(row, node)
        item = self.unused("item")
        push = self.statements(_PUSH, row[0], node, row=own, given=read(item))
        loop = ast.For(ast.Name(item, ast.Store()), self.visit(self._whole(items)), push, [])
        return [*before, ast.fix_missing_locations(ast.copy_location(loop, node))]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if isinstance(node.target, ast.Subscript) and self._list_of(node.target.value) is not None:
            node.target = self._element(node.target)
            node.value = self.visit(node.value)
            return node
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        match node:
            case ast.For(target=ast.Name(id=target)) if target in self.rows:
                return self._over_rows(node, target)
            case ast.For(target=ast.Tuple(elts=[index, ast.Name(id=target)])) if target in self.rows:
                node.body.insert(0, ast.copy_location(ast.Assign([index], read(_number_of(target))), index))
                return self._over_rows(node, target)
        owner = self._list_of(node.iter)
        row = None if owner is None or self._grows(node.body, owner) else self._row(node.iter)
        if row is None:
            return self.generic_visit(node)
        name, k = row[0], self.unused("k")
        before, own = self._numbered(row, node)
        item = self.statements(
            "item = item_at(items, first_of(starts, row) + k)",
            name,
            node,
            item=node.target,
            row=own,
            k=read(k),
        )
        node.iter = self.expression("range(length_of(counts, row))", name, node, row=own)
        node.target = located(ast.Name(k, ast.Store()), node.target)
        node.body = [*item, *(new for stmt in node.body for new in listed(self.visit(stmt)))]
        node.orelse = [new for stmt in node.orelse for new in listed(self.visit(stmt))]
        return [*before, node]

    def _over_rows(self, node: ast.For, target: str) -> ast.AST:
        number: ast.expr = ast.Name(_number_of(target), ast.Store())
        node.target = located(number, node.target)
        node.iter = self.expression("range(len(counts))", self.rows[target], node)
        return self.generic_visit(node)

    def _grows(self, body: list[ast.stmt], name: str) -> bool:
        """Whether statements may add or remove items of the list's rows, or bind the name anew."""
        for node in (node for stmt in body for node in walk(stmt)):
            match node:
                case ast.Name(id=owner, ctx=ast.Store()) if owner == name:
                    return True
                case ast.Subscript(value=ast.Name(id=owner), ctx=ast.Store()) if owner == name:
                    return True
                case ast.Attribute(value=owner) if self._list_of(owner) == name:
                    return True
        return False

    # ------------------------------------------------------------ expressions

    def _element(self, node: ast.Subscript) -> ast.Subscript:
        """The item of the list of all items that an item of a row is."""
        row = self._row(node.value)
        assert row is not None
        text = "items[position(starts, counts, row, index)]"
        out = self._of_row(text, row, node, index=self.visit(node.slice))
        assert isinstance(out, ast.Subscript)
        out.ctx = node.ctx
        return out

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if self._list_of(node.value) is None or isinstance(node.slice, ast.Slice):
            return self.generic_visit(node)
        return self._element(node)

    def visit_Call(self, node: ast.Call) -> Any:
        match node:
            case ast.Call(func=ast.Constant(value=ReturnedContainer()), args=args):
                for at, arg in enumerate(args):
                    if (name := self.owner(arg)) is not None:
                        made = constant(ReturnedContainer("lists"))
                        args[at] = self.expression(self.RETURNED, name, arg, made=made)
            case ast.Call(func=ast.Name(id=looker), args=args) if looker in _LOOKERS:
                node.args = [self._whole(arg) for arg in args]
        return self.generic_visit(node)

    def _whole(self, node: ast.expr) -> ast.expr:
        """An argument that is looked at; of a row, a copy."""
        row = self._row(node)
        return node if row is None else self._of_row(_PART, row, node)

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        if isinstance(node.target, ast.Name) and node.target.id in self.rows:
            owner = self.rows[node.target.id]
            node.target = located(ast.Name(_number_of(node.target.id), ast.Store()), node.target)
            node.iter = self.expression("range(len(counts))", owner, node.iter)
        node.iter = self._whole(node.iter)
        return self.generic_visit(node)

    def _test(self, node: ast.expr) -> ast.expr:
        row = None if isinstance(node, ast.BoolOp) else self._row(node)
        return super()._test(node) if row is None else self._of_row("length_of(counts, row) > 0", row, node)


def _number_of(name: str) -> str:
    """The variable that holds the number of the row that a name is bound to."""
    return f"{name}.row"
