"""Dicts, counters and sets of integers, as lists of their keys and values beside a hash table.

    seen = {}                            keys, values, table = [], [], [-1] * 16
    for x in a:                          for x in a:
        seen[x] = f(x)        ->             item = f(x); key = x; number = find(table, keys, key)
                                             if number < 0: (append item and key, and enter the key into the table)
                                             else: put(values, number, item)
    for k, v in seen.items():            for k, v in zip(keys, values):
        s += v * seen.get(k + 1, 0)          s += v * get(table, keys, values, k + 1, 0)

The functions are those of `appyc.library.hashing`, and the lists are the function's own (`expressions/lists.py`).

Requires: each binding of the name makes a container (`{}`, `set(a)`, `Counter()`, `defaultdict(int)`, a display). It
has no other name until the function returns it, since each other use is one that a rule replaces.

A key that is deleted leaves the table, and the lists before a loop runs over them.

Does not handle: keys that are deleted or added while a loop runs over them; loops over sets, whose order is CPython's;
missing keys of a defaultdict that are only read; nested functions.
"""

# ruff: noqa: N802  (names that `ast` gives)

from __future__ import annotations

import ast
import builtins
import copy
import re
import textwrap
from collections.abc import Mapping
from functools import partial
from typing import Any

from appyc.frontend.desugar.building import constant, located, read, template
from appyc.frontend.desugar.hashed_kinds import holds_lists, is_entered, kind_of, loser
from appyc.frontend.desugar.rewriting import Containers, Kind, ValueOf, bindings, listed, replaced
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import is_new_list, walk
from appyc.library.hashing import (
    by_count,
    delete,
    drop,
    enter,
    enter_all,
    find,
    found,
    get,
    mark,
    pack,
    put,
    take,
)

_LOOKERS = frozenset({"len", "sum", "min", "max", "any", "all", "sorted", "list", "enumerate", "zip"})
_WITHOUT_ORDER = _LOOKERS - {"list", "enumerate", "zip"}
"""Those of them whose result is the same for each order of the items."""

_ITEMS = "zip(keys, values)"
_MAKE = "keys = []; values = []; table = [-1] * 16"
_ENTER = """
number = find(table, keys, key)
if number < 0:
    enter(table, keys, number)
    number = len(keys)
    keys.append(key)
    values.append(item)
    if 2 * len(keys) > len(table):
        table = [-1] * (2 * len(table))
        enter_all(table, keys)
"""
_GROW = "        table = [-1] * (2 * len(table))\n"
_PACK = """
gone = [0]; live = [0] * len(keys); mark(live, table); pack(live, keys)
pack(live, values)
table = [-1] * (2 * len(table) if 4 * len(keys) > len(table) else len(table))
"""
_PACK_AND_GROW = textwrap.indent(f"{_PACK}number = len(keys) - 1\n", " " * 8)
"""What stands for `_GROW` where keys are deleted."""
_WITHOUT_VALUES = re.compile(
    r"    values.append\(item\)\n| *pack\(live, values\)\n|values = \[\]; |, values(?=\))"
)
"""What the templates for sets do without."""
_STORE = f"item = given; key = index{_ENTER}else:\n    put(values, number, item)"
_REPLACE = "item = given; key = index; values[found(table, keys, key)] = item"
_ENTER_LIST = f"key = index{_ENTER.replace('append(item)', 'append(given)')}"
_STORE_LIST = f"{_ENTER_LIST}else:\n    values[number] = again"
_UPDATE = "key = index; number = found(table, keys, key); values[number] += given"
_UPDATE_OR_ENTER = f"key = index; item = start{_ENTER}values[number] += given"


def without_hash_tables(source: Source, value_of: ValueOf) -> Source:
    """The function, with its dicts, counters and sets replaced."""
    found = bindings(source.ast, partial(kind_of, value_of=value_of))
    kinds = {name: kind for name, kind in found.items() if is_entered(source.ast, name)}
    return replaced(source, kinds, _HashTables, value_of)


class _HashTables(Containers):
    PARTS = ("keys", "values", "table", "gone", "live")
    STATEMENTS = {  # noqa: RUF012
        "it.clear()": _MAKE,
        "it.add(index)": f"key = index{_ENTER}",
        "it.discard(key)": "drop(gone, table, keys, key)",
        "it.remove(key)": "delete(gone, table, keys, key)",
    }
    EXPRESSIONS = {  # noqa: RUF012
        "it.get(key, default)": "get(table, keys, values, key, default)",
        "it.pop(key)": "values[delete(gone, table, keys, key)]",
        "it.pop(key, default)": "take(gone, table, keys, values, key, default)",
        "it.most_common()": "[(keys[at], values[at]) for at in by_count(values)]",
        "it.most_common(most)": "[(keys[at], values[at]) for at in by_count(values)[:max(most, 0)]]",
        "key in it": "find(table, keys, key) >= 0",
        "key not in it": "find(table, keys, key) < 0",
        "len(it)": "len(keys) - gone[0]",
    }
    TEMPORARIES = ("key", "item", "number")
    CONSTANTS = {  # noqa: RUF012
        f.__name__: constant(f)
        for f in (by_count, delete, drop, enter, enter_all, find, found, get, mark, pack, put, take)
    }
    FULL = "len(keys) > 0"
    RETURNED = "made(keys, values)"
    HINT = (
        "keys may be stored, searched, asked for with get, deleted, measured, run over (in a dict) and returned: not "
        "deleted or added by a loop over them"
    )

    present: frozenset[tuple[str, str]] = frozenset()
    """Containers, and the names of keys that they have, since a loop runs over them."""

    def takes(self, pattern: str, node: ast.AST, name: str, found: Mapping[str, ast.expr]) -> bool:
        is_set = self.kinds[name].is_set
        match pattern.partition("(")[0]:
            case "it.add" | "it.discard" | "it.remove":
                return is_set
            case "it.pop":
                return not is_set and name not in self.of_lists
            case "it.most_common":
                return self.kinds[name].makes == "Counter" and name not in self.losing
            case "it.get":
                return not is_set
            case "len":
                return name in self.losing
            case _:
                return True

    def from_template(
        self, text: str, name: str, at: ast.AST, given: Mapping[str, str | ast.expr]
    ) -> list[ast.stmt]:
        if name in self.losing:
            text += "; gone = [0]" * (text == _MAKE)
            text = text.replace(_GROW, _PACK_AND_GROW).replace(self.FULL, "len(keys) > gone[0]")
        return super().from_template(
            _WITHOUT_VALUES.sub("", text) if self.kinds[name].is_set else text, name, at, given
        )

    def __init__(self, function: ast.FunctionDef, kinds: Mapping[str, Kind], value_of: ValueOf) -> None:
        super().__init__(function, kinds, value_of)
        self.losing = {name for node in walk(function) if (name := loser(node)) in kinds}
        """Those of which keys are deleted."""
        self.of_lists = {name for name in kinds if holds_lists(function, name, kinds[name])}

    # ------------------------------------------------------------ statements

    def as_lists(self, name: str, at: ast.AST) -> list[ast.stmt]:
        if name not in self.losing:
            return []
        text = f"if gone[0] > 0:{textwrap.indent(_PACK, '    ')}    enter_all(table, keys)"
        return self.statements(text, name, at)

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in self.kinds:
                return [*self.statements(_MAKE, name, node), *self._filled(name, value)]
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)], value=value) if (
                name in self.kinds
            ):
                if is_new_list(value) and not self.kinds[name].is_set:
                    given = self.visit(value)
                    again = copy.deepcopy(given)
                    return self.statements(
                        _STORE_LIST, name, node, index=self.visit(key), given=given, again=again
                    )
                text = _REPLACE if self._is_present(name, key) else _STORE
                return self.statements(text, name, node, given=self.visit(value), index=self.visit(key))
        return self.generic_visit(node)

    def _filled(self, name: str, value: ast.expr) -> list[ast.stmt]:
        """The statements that put the first items into a container."""
        owner = read(name)
        match value:
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                filling: list[ast.stmt] = [
                    ast.Assign([ast.Subscript(owner, k, ast.Store())], v) for k, v in pairs if k is not None
                ]
            case ast.Set(elts=elts):
                filling = [
                    stmt for e in elts for stmt in template("owner.add(e)", {"owner": owner, "e": e}, e)
                ]
            case ast.DictComp(key=key, value=item):
                filling = self.nest(value, ast.Assign([ast.Subscript(owner, key, ast.Store())], item))
            case ast.SetComp(elt=item):
                filling = self.nest(value, *template("owner.add(e)", {"owner": owner, "e": item}, item))
            case ast.Call(args=[items]) if self.kinds[name].makes in ("set", "Counter"):
                text = "owner.add(e)" if self.kinds[name].is_set else "owner[e] += 1"
                given: dict[str, str | ast.expr] = {"owner": owner, "items": items, "e": self.unused("item")}
                filling = template(f"for e in items: {text}", given, value)
            case _:
                return []
        return [new for stmt in filling for new in listed(self.visit(ast.copy_location(stmt, value)))]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        match node.target:
            case ast.Subscript(value=ast.Name(id=name), slice=key) if name in self.kinds:
                kind = self.kinds[name]
                given = {"index": self.visit(key), "given": self.visit(node.value)}
                if kind.start is None or self._is_present(name, key):
                    out = self.statements(_UPDATE, name, node, **given)
                else:
                    start = ast.Constant(kind.start)
                    out = self.statements(_UPDATE_OR_ENTER, name, node, start=start, **given)
                last = out[-1]
                assert isinstance(last, ast.AugAssign)
                last.op = node.op
                return out
        return self.generic_visit(node)

    def _entered(self, owner: ast.expr) -> tuple[list[ast.stmt], ast.expr] | None:
        """The statements after which a dict of lists has a key, and the key's list: of `d[key]` in a defaultdict, and
        of `d.setdefault(key, [])`."""
        match owner:
            case ast.Subscript(value=ast.Name(id=name), slice=key) if (
                name in self.kinds and self.kinds[name].makes == "defaultdict(list)"
            ):
                if self._is_present(name, key):
                    return None
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="setdefault"), args=[key, ast.List(elts=[])]
            ) if name in self.kinds and self.kinds[name].makes == "dict":
                pass
            case _:
                return None
        number = self.unused(f"{name}_number")
        out = self.from_template(
            _ENTER_LIST,
            name,
            owner,
            {
                "index": self.visit(key),
                "key": self.unused(f"{name}_key"),
                "number": number,
                "given": ast.List([], ast.Load()),
            },
        )
        return out, self.expression("values[number]", name, owner, number=read(number))

    def visit_Expr(self, node: ast.Expr) -> Any:
        match node.value:
            case ast.Call(func=ast.Attribute(value=owner) as method) if (
                entered := self._entered(owner)
            ) is not None:
                before, method.value = entered
                node.value.args = [self.visit(arg) for arg in node.value.args]
                return [*before, node]
        return self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> Any:
        match node.targets:
            case [ast.Subscript(value=ast.Name(id=name), slice=key)] if name in self.losing - self.of_lists:
                taker = "drop" if self.kinds[name].makes == "Counter" else "delete"
                return self.statements(f"{taker}(gone, table, keys, key)", name, node, key=self.visit(key))
        return node

    def visit_For(self, node: ast.For) -> Any:
        if (entered := self._entered(node.iter)) is not None:
            before, node.iter = entered
            self.generic_visit(node)
            return [*before, node]
        over = self._over(node.iter)
        if over is not None:
            name, text = over
            key = node.target if text == "keys" else None
            if text == _ITEMS and isinstance(node.target, ast.Tuple):
                key = node.target.elts[0]
            body = [inner for stmt in node.body for inner in walk(stmt)]
            bound = {n.id for n in body if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            outer = self.present
            if isinstance(key, ast.Name) and key.id not in bound:
                self.present = outer | {(name, key.id)}
            if text == _ITEMS and isinstance(node.target, ast.Tuple) and name in self.of_lists:
                self._over_numbers(node, name)
                text = "range(len(keys))"
            if name not in bound and not self._enters(body, name):
                node.iter = self.expression(text, name, node.iter)
            self.generic_visit(node)
            self.present = outer
            return [*self.as_lists(name, node), node]
        return self.generic_visit(node)

    def _over_numbers(self, node: ast.For, name: str) -> None:
        """Makes `for key, items in d.items()` a loop over the numbers of the keys, with the pair as its first
        statements."""
        assert isinstance(node.target, ast.Tuple)
        number = self.unused(f"{name}_number")
        pair = zip(("keys[number]", "values[number]"), node.target.elts, strict=True)
        own = [(self.expression(text, name, node, number=read(number)), target) for text, target in pair]
        node.body[:0] = [located(ast.Assign([target], value), target) for value, target in own]
        node.target = located(ast.Name(number, ast.Store()), node.target)

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        over = self._over(node.iter)
        over = None if over is None or over[0] in self.losing else over
        node.iter = self.visit(node.iter) if over is None else self.expression(over[1], over[0], node.iter)
        node.ifs = [self.visit(test) for test in node.ifs]
        return node

    def _is_present(self, name: str, key: ast.expr) -> bool:
        return isinstance(key, ast.Name) and (name, key.id) in self.present

    def _enters(self, body: list[ast.AST], name: str) -> bool:
        """Whether one of these nodes may put a key into a container, or take all away."""
        updates = [node.target for node in body if isinstance(node, ast.AugAssign)]
        for node in body:
            match node:
                case ast.Subscript(value=ast.Name(id=owner), slice=key, ctx=ast.Store()) if owner == name:
                    is_update = node in updates and self.kinds[name].start is None
                    if not is_update and not self._is_present(name, key):
                        return True
                case ast.Attribute(value=ast.Name(id=owner), attr="clear" | "add") if owner == name:
                    return True
                case _ if loser(node) == name:
                    return True
        return False

    # ------------------------------------------------------------ expressions

    def _over(self, node: ast.expr) -> tuple[str, str] | None:
        """A container that is run over, and the template of the lists that are instead."""
        match node:
            case (
                ast.Name(id=name)
                | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="keys"), args=[], keywords=[])
            ):
                text = "keys"
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="values" | "items" as which),
                args=[],
                keywords=[],
            ):
                text = "values" if which == "values" else _ITEMS
            case _:
                return None
        if name not in self.kinds or self.kinds[name].is_set:
            return None
        return name, text

    def visit_Call(self, node: ast.Call) -> Any:
        match node:
            case ast.Call(func=ast.Name(id=looker) as func, args=args) if looker in _LOOKERS:
                if self.value_of(func) is not getattr(builtins, looker):
                    return self.generic_visit(node)
                for at, arg in enumerate(args):
                    owner, over = self.owner(arg), self._over(arg)
                    if {owner, over and over[0]} & self.losing:
                        continue
                    if owner is not None and looker in _WITHOUT_ORDER:
                        args[at] = self.expression("keys", owner, arg)
                    elif over is not None:
                        args[at] = self.expression(over[1], over[0], arg)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        name = self.owner(node.value)
        if name is not None and isinstance(node.ctx, ast.Load):
            kind, key = self.kinds[name], self.visit(node.slice)
            if kind.makes == "dict" or (
                kind.makes == "defaultdict(list)" and self._is_present(name, node.slice)
            ):
                return self.expression("values[found(table, keys, key)]", name, node, key=key)
            if kind.makes == "Counter":
                return self.expression("get(table, keys, values, key, 0)", name, node, key=key)
        return self.generic_visit(node)
