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

A key that is deleted leaves the table, and the lists before a loop runs over them. What `min` and its like look at
are the keys that the table has.

A loop over a set has CPython's order (`appyc.library.set_order`).

Does not handle: keys that are deleted or added while a loop runs over them; loops over sets of which keys are deleted,
or that are copies of others; reads of a defaultdict of which keys are deleted; lambdas.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping
from typing import Any

from appyc.frontend.desugar.building import functions_of, located, part_of, read, template, with_names
from appyc.frontend.desugar.hashed_names import hashed_names, holds_lists, is_added_to, loser, operation_of
from appyc.frontend.desugar.rewriting import Containers, Kind, ValueOf, replaced
from appyc.frontend.desugar.set_operations import with_named_operations
from appyc.frontend.source import Source
from appyc.frontend.syntax.liveness import names_assigned
from appyc.frontend.syntax.tree import assigned_names, is_new_list, names_in, walk
from appyc.library import hashing, set_order

_WITHOUT_ORDER = frozenset({"len", "sum", "min", "max", "any", "all", "sorted"})
"""Functions whose result is the same for each order of the items that they look at."""
_GENERATOR_TAKERS = _WITHOUT_ORDER - {"len"} | {"list"}

_ITEMS = "zip(keys, values)"
_ALL = "for at in range(len(keys))"
_LIVE = f"{_ALL} if find(table, keys, keys[at]) == at"
_NUMBERED = {"keys": "keys[at]", "values": "values[at]", _ITEMS: "(keys[at], values[at])"}
"""The items of a container, by their numbers, over which `_ALL` runs, or `_LIVE` where keys are deleted."""
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
"""The replacement of `_GROW` for tables of which keys are deleted."""
_IN_PLACE = {
    "table = [-1] * (2 * len(table))": "free(table); table.extend([-1] * len(table))",
    "table = [-1] * (2 * len(table) if 4 * len(keys) > len(table) else len(table))":
        "free(table); table.extend([-1] * (len(table) if 4 * len(keys) > len(table) else 0))",
    "gone = [0]; live": "gone[0] = 0; live",
}  # fmt: skip
"""The replacements of new lists by changes in place, for containers that nested functions share."""
_WITHOUT_VALUES = re.compile(
    r"    values.append\(item\)\n| *pack\(live, values\)\n|values = \[\]; |, values(?=\))"
)
"""The parts of the templates that handle values, which sets leave out."""
_ENTER_LIST = f"key = index{_ENTER.replace('append(item)', 'append(items)')}"


def without_hash_tables(source: Source, value_of: ValueOf, of_texts: frozenset[str] = frozenset()) -> Source:
    """The function, with its dicts, counters and sets replaced. of_texts: as in `hashed_names`."""
    kinds = hashed_names(source.ast, value_of, of_texts)
    named = with_named_operations(source, kinds, value_of)
    kinds = kinds if named is source else hashed_names(named.ast, value_of, of_texts)
    return replaced(named, kinds, _HashTables, value_of)


class _HashTables(Containers):
    PARTS = ("keys", "values", "table", "gone", "live")
    STATEMENTS = {
        "it[index] = items": f"{_ENTER_LIST}else:\n    values[number] = items",
        "it[known] = given": "item = given; key = known; values[found(table, keys, key)] = item",
        "it[index] = given": f"item = given; key = index{_ENTER}else:\n    put(values, number, item)",
        "it[known] @= given": "key = known; number = found(table, keys, key); values[number] @= given",
        "it[index] @= given": f"key = index; item = start{_ENTER}values[number] @= given",
        "del it[counted]": "drop(gone, table, keys, counted)",
        "del it[key]": "delete(gone, table, keys, key)",
        "it.clear()": _MAKE,
        "it.add(index)": f"key = index{_ENTER}",
        "it.discard(key)": "drop(gone, table, keys, key)",
        "it.remove(key)": "delete(gone, table, keys, key)",
        "target = it.setdefault(index, given)": f"key = index; item = given{_ENTER}target = values[number]",
    }
    EXPRESSIONS = {
        "it.get(key, default)": "get(table, keys, values, key, default)",
        "it.pop(key)": "values[delete(gone, table, keys, key)]",
        "it.pop(key, default)": "take(gone, table, keys, values, key, default)",
        "it.most_common()": "[(keys[at], values[at]) for at in by_count(values)]",
        "it.most_common(most)": "[(keys[at], values[at]) for at in by_count(values)[:max(most, 0)]]",
        "max(it, key=it.get)": f"keys[-max((values[at], -at) {_ALL})[1]]",
        "min(it, key=it.get)": f"keys[min((values[at], at) {_ALL})[1]]",
        "it[counted]": "get(table, keys, values, counted, 0)",
        "it[key]": "values[found(table, keys, key)]",
        "it[missing]": "values[entered(table, keys, values, missing, start)]",
        "key in it": "find(table, keys, key) >= 0",
        "key not in it": "find(table, keys, key) < 0",
        "len(it)": "len(keys) - gone[0]",
    }
    OVER = {"it": "keys", "it.keys()": "keys", "it.values()": "values", "it.items()": _ITEMS}
    LOOKERS = _WITHOUT_ORDER | {"list", "enumerate", "zip"}
    TEMPORARIES = ("key", "item", "number")
    CONSTANTS = functions_of(hashing) | functions_of(set_order)
    FULL = "len(keys) > 0"
    RETURNED = "made(keys, values)"
    HINT = (
        "keys may be stored, searched, asked for with get, deleted, measured, run over (in a dict) and returned: not "
        "deleted or added by a loop over them"
    )

    present: frozenset[tuple[str, str]] = frozenset()
    """Containers, and the names of keys that they have, since a loop runs over them."""

    def takes(self, pattern: str, node: ast.AST, name: str, found: Mapping[str, ast.expr]) -> bool:
        kind = self.kinds[name]
        match pattern:
            case "it[index] = items":
                return not kind.is_set and is_new_list(found["items"])
            case "it[known] = given":
                return self._is_present(name, found["known"])
            case "it[known] @= given":
                return kind.start is None or self._is_present(name, found["known"])
            case "it[counted]" | "del it[counted]":
                return kind.makes == "Counter"
            case "it[key]":
                return kind.makes == "dict" or self._is_present(name, found["key"])
            case "it[missing]":
                return kind.start is not None and not kind.is_set and name not in self.losing
            case "it.clear()":
                return name not in self.shared
            case "it.add(index)" | "it.discard(key)" | "it.remove(key)":
                return kind.is_set
            case "it.pop(key)" | "it.pop(key, default)":
                return not kind.is_set and name not in self.of_lists
            case _ if "setdefault" in pattern:
                return not (kind.is_set or name in self.of_lists or is_new_list(found["given"]))
            case "del it[key]":
                return name not in self.of_lists
            case "it.most_common()" | "it.most_common(most)":
                return kind.makes == "Counter" and name not in self.losing
            case "len(it)":
                return name in self.losing
            case "it":
                return not kind.is_set or name in self.ordered
            case _:
                return not (kind.is_set and (pattern in self.OVER or pattern == "it.get(key, default)"))

    def from_template(
        self, text: str, name: str, at: ast.AST, given: Mapping[str, str | ast.expr]
    ) -> list[ast.stmt]:
        if name in self.losing:
            text += "; gone = [0]" * (text == _MAKE)
            text = (
                text.replace(_GROW, _PACK_AND_GROW)
                .replace(self.FULL, "len(keys) > gone[0]")
                .replace(_ALL, _LIVE)
            )
        for new, changed in _IN_PLACE.items() if name in self.shared else ():
            text = text.replace(new, changed)
        text = _WITHOUT_VALUES.sub("", text) if self.kinds[name].is_set else text
        return super().from_template(text, name, at, {"start": ast.Constant(self.kinds[name].start), **given})

    def __init__(self, function: ast.FunctionDef, kinds: dict[str, Kind], value_of: ValueOf) -> None:
        super().__init__(function, kinds, value_of)
        nested = [node for node in walk(function)[1:] if isinstance(node, ast.FunctionDef)]
        self.shared = {n for f in nested for n in kinds.keys() & names_in(f) - assigned_names(f)}
        """Containers that nested functions use: their lists become parameters of these
        (`with_lifted_lists`)."""
        self.parts |= {n: {part: self.unused(f"{n}_{part}") for part in self.PARTS} for n in self.shared}
        self.losing = {name for node in walk(function) if (name := loser(node)) in kinds}
        """Containers of which keys are deleted."""
        self.ordered = {name for name in kinds if is_added_to(function, name, kinds, value_of)}
        """Sets of which the order in CPython is known."""
        self.of_lists = {name for name in kinds if holds_lists(function, name, kinds[name])}

    # ------------------------------------------------------------ statements

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self.generic_visit(node) if self.shared & names_in(node) else node

    def as_lists(self, name: str, at: ast.AST) -> list[ast.stmt]:
        if name not in self.losing:
            return []
        text = f"if gone[0] > 0:{textwrap.indent(_PACK, '    ')}    enter_all(table, keys)"
        return self.statements(text, name, at)

    def made(self, name: str, value: ast.expr, at: ast.stmt) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        if name in names_in(value):  # the next container is made of this one
            if name in self.of_lists:
                return [at]  # which is refused
            old = self.unused(f"{name}_before")
            before = self._copied(name, old, at)
            value = with_names(value, {name: old})

        def first(text: str, **items: str | ast.expr) -> list[ast.stmt]:
            return template(text, {"it": name, **items}, value)

        operation = operation_of(value)
        match value:
            case _ if operation is not None:
                filling = self._operation(name, *operation, value)
            case ast.Name(id=copied):
                filling = self._added(name, copied, value)
            case ast.Call(args=[ast.Name(id=copied)]) if copied in self.kinds and self.kinds[copied].is_set:
                filling = self._added(name, copied, value)
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                filling = [stmt for k, v in pairs if k is not None for stmt in first("it[k] = v", k=k, v=v)]
            case ast.Set(elts=elts):
                filling = [stmt for item in elts for stmt in first("it.add(item)", item=item)]
            case ast.DictComp(key=key, value=item):
                filling = first("it[k] = v", k=key, v=item)
            case ast.SetComp(elt=item):
                filling = first("it.add(item)", item=item)
            case ast.Call(args=[items]) if self.kinds[name].makes in ("set", "Counter"):
                text = "it.add(item)" if self.kinds[name].is_set else "it[item] += 1"
                filling = first(f"for item in items: {text}", items=items, item=self.unused("item"))
            case _:
                filling = []
        return [*before, *self.statements(_MAKE, name, at), *self.filled(value, filling)]

    def _operation(self, name: str, a: str, operator: type, b: str, at: ast.AST) -> list[ast.stmt]:
        """Statements that put what an operation on two sets gives into a third one."""
        if operator is ast.BitOr:
            return [part for of in dict.fromkeys((a, b)) for part in self._added(name, of, at)]
        test = "item in other" if operator is ast.BitAnd else "item not in other"
        found = self._added(name, a, at, test, b)
        return found + self._added(name, b, at, test, a) if operator is ast.BitXor else found

    def _added(self, name: str, of: str, at: ast.AST, test: str = "", other: str = "") -> list[ast.stmt]:
        """Statements that add the items of another set to one, those that pass a test."""
        add = f"if {test}:\n        it.add(item)" if test else "it.add(item)"
        names: dict[str, str | ast.expr] = {"it": name, "other": other, "item": self.unused("item")}
        names["keys"] = self.expression("keys", of, at)
        return [*self.as_lists(of, at), *template(f"for item in keys:\n    {add}", names, at)]

    def _united(self, name: str, other: str, at: ast.AST) -> list[ast.stmt]:
        return self.block(self._added(name, other, at)) if name != other else []

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """`a |= b` and its like, for sets."""
        name, other = self.owner(node.target), self.owner(node.value)
        if name is None or other is None or not (self.kinds[name].is_set and self.kinds[other].is_set):
            return super().visit_AugAssign(node)
        if isinstance(node.op, ast.BitOr):
            return self._united(name, other, node)
        assert isinstance(node.target, ast.Name)
        value = ast.BinOp(read(name), node.op, read(other))
        return self.visit(located(ast.Assign([node.target], value), node))

    def _copied(self, name: str, new: str, at: ast.stmt) -> list[ast.stmt]:
        """Statements that copy a container, which the new name stands for from then on."""
        self.kinds[new] = self.kinds[name]
        for known in (self.losing, self.ordered):
            known |= {new} if name in known else set()
        parts = ["keys", "table"] if self.kinds[name].is_set else ["keys", "table", "values"]
        parts += ["gone"] * (name in self.losing)
        text = "; ".join(f"{part}_of_copy = {part}[:]" for part in parts)
        return self.from_template(text, name, at, {f"{part}_of_copy": part_of(new, part) for part in parts})

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
        given = {"index": self.visit(key), "items": ast.List([], ast.Load())}
        names = {"key": self.unused(f"{name}_key"), "number": number}
        out = self.from_template(_ENTER_LIST, name, owner, {**given, **names})
        return out, self.expression("values[number]", name, owner, number=read(number))

    def visit_Expr(self, node: ast.Expr) -> Any:
        match node.value:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="update"), args=[items], keywords=[]
            ) if name in self.kinds and self.kinds[name].is_set:
                other = self.owner(items)
                if other is not None and self.kinds[other].is_set:
                    return self._united(name, other, node)
                names: dict[str, str | ast.expr] = {"it": name, "items": items, "item": self.unused("item")}
                return self.block(template("for item in items: it.add(item)", names, node))
            case ast.Call(func=ast.Attribute(value=owner) as method) if (
                entered := self._entered(owner)
            ) is not None:
                before, method.value = entered
                node.value.args = [self.visit(arg) for arg in node.value.args]
                return [*before, node]
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        if (entered := self._entered(node.iter)) is not None:
            before, node.iter = entered
            self.generic_visit(node)
            return [*before, node]
        rule = self.rule_for(node.iter, self.OVER)
        if rule is None:
            return self.generic_visit(node)
        text, name, _ = rule
        pair = node.target.elts if text == _ITEMS and isinstance(node.target, ast.Tuple) else None
        key = node.target if text == "keys" else pair[0] if pair is not None else None
        outer = self.present
        if isinstance(key, ast.Name) and key.id not in names_assigned(node.body):
            self.present = outer | {(name, key.id)}
        if self.kinds[name].is_set:
            self._over_numbers(node, name, {"keys[number]": node.target})
            text = "set_order(keys)"
        elif pair is not None and name in self.of_lists:
            self._over_numbers(node, name, dict(zip(("keys[number]", "values[number]"), pair, strict=True)))
            text = "range(len(keys))"
        if not self.is_changed(node.body, name):
            node.iter = self.expression(text, name, node.iter)
        self.generic_visit(node)
        self.present = outer
        return [*self.as_lists(name, node), node]

    def _over_numbers(self, node: ast.For, name: str, targets: Mapping[str, ast.expr]) -> None:
        """Makes a loop over a container one over the numbers of its keys, with what the targets get as its first
        statements."""
        number = self.unused(f"{name}_number")
        own = [(self.expression(t, name, node, number=read(number)), target) for t, target in targets.items()]
        node.body[:0] = [located(ast.Assign([target], value), target) for value, target in own]
        node.target = located(ast.Name(number, ast.Store()), node.target)

    def _is_present(self, name: str, key: ast.expr) -> bool:
        return isinstance(key, ast.Name) and (name, key.id) in self.present

    def is_changed(self, body: list[ast.stmt], name: str) -> bool:
        kind, nodes = self.kinds[name], walk(*body)
        updates = [n.target for n in nodes if isinstance(n, ast.AugAssign) and kind.start is None]
        only_reads = kind.start is None or kind.makes == "Counter"
        for node in nodes:
            match node:
                case ast.Subscript(value=ast.Name(id=owner), slice=key, ctx=ctx) if owner == name:
                    is_old = only_reads if isinstance(ctx, ast.Load) else node in updates
                    if not (is_old or self._is_present(name, key)):
                        return True
                case ast.Attribute(
                    value=ast.Name(id=owner), attr="clear" | "add" | "update" | "setdefault"
                ) if owner == name:
                    return True
                case ast.Name(id=owner, ctx=ast.Store()) if owner == name:
                    return True
                case _ if loser(node) == name:
                    return True
        return False

    # ------------------------------------------------------------ expressions

    def looked_at(self, node: ast.expr, looker: str = "") -> ast.expr:
        rule, name = self.rule_for(node, self.OVER), self.owner(node)
        if rule is None and name is not None and looker in _WITHOUT_ORDER:
            rule = "keys", name, {}
        if rule is None:
            return node
        text, owner, _ = rule
        if self.kinds[owner].is_set and looker not in _WITHOUT_ORDER:
            return self.expression(
                "[keys[at] for at in set_order(keys)]", owner, node, at=read(self.unused("at"))
            )
        if owner not in self.losing:
            return self.expression(text, owner, node)
        if looker not in _GENERATOR_TAKERS:
            return node
        at = self.unused(f"{owner}_number")
        return self.expression(f"({_NUMBERED[text]} {_ALL})", owner, node, at=read(at))
