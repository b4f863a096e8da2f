"""Queues of numbers, or of tuples of numbers, as a list of their items and the number of those that are gone.

    q = deque([start])                   items = [start]; head = [0]
    while q:                             while len(items) > head[0]:
        i = q.popleft()                      i = pop_left(items, head)
        if not seen[i]:           ->         if not seen[i]:
            q.append(i + 1)                      items.append(i + 1)

The functions are those of `appyc.library.queues`.

Requires: each binding of the name makes a deque (`deque()`, `deque([a, b])`, `deque(items)`), and each other use is one
that a rule replaces.

Does not handle: loops over a queue that change it; nested functions; what extends, rotates or
returns a queue with `maxlen`, or puts items in front of it.
"""

# ruff: noqa: N802  (names that `ast` gives)

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any

from appyc.frontend.desugar.building import constant
from appyc.frontend.desugar.rewriting import Containers, Kind, ValueOf, bindings, replaced
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import walk
from appyc.library.queues import bound, drop_front, item_of, leave_room, pop, pop_left, push_left, rotate


def without_deques(source: Source, value_of: ValueOf) -> Source:
    """The function, with its deques replaced."""
    return replaced(source, bindings(source.ast, partial(_made, value_of=value_of)), _Deques, value_of)


def _made(value: ast.expr, value_of: ValueOf) -> Kind | None:
    match value:
        case ast.Call(func=func, args=[] | [_], keywords=[]) if value_of(func) is deque:
            return Kind("deque")
        case ast.Call(func=func, args=[], keywords=[ast.keyword(arg="maxlen")]) if value_of(func) is deque:
            return Kind("deque", is_bounded=True)
        case _:
            return None


_LOOKERS = ("sum", "min", "max", "any", "all", "list", "sorted")
"""Functions of Python's that look at all items."""

_ALL = "items[head[0] :]"

_FUNCTIONS = (bound, drop_front, item_of, leave_room, pop, pop_left, push_left, rotate)


class _Deques(Containers):
    PARTS = ("items", "head", "most")
    STATEMENTS = {  # noqa: RUF012
        "it.append(given)": "items.append(given)",
        "it.append(last)": "leave_room(items, head, most)\nif most > 0: items.append(last)",
        "it.appendleft(given)": "push_left(items, head, given)",
        "it.extend(given)": "items.extend(given)",
        "it.rotate(given)": "rotate(items, head, given)",
        "it.clear()": "items.clear(); head = [0]",
    }
    EXPRESSIONS = {  # noqa: RUF012
        "len(it)": "len(items) - head[0]",
        "it.pop()": "pop(items, head)",
        "it.popleft()": "pop_left(items, head)",
        "it[index]": "item_of(items, head, index)",
        "it.maxlen": "most",
        "item in it": f"item in {_ALL}",
        "item not in it": f"item not in {_ALL}",
        **{f"{name}(it)": f"{name}({_ALL})" for name in _LOOKERS},
    }
    CONSTANTS = {f.__name__: constant(f) for f in _FUNCTIONS}  # noqa: RUF012
    FULL = "len(items) > head[0]"
    RETURNED = "made(items)"
    HINT = (
        "append, appendleft, extend, popleft, pop, rotate and clear are compiled, and to index, measure, sum up, look "
        "into, run over and return it"
    )

    def takes(self, pattern: str, node: ast.AST, name: str, found: Mapping[str, ast.expr]) -> bool:
        of_bounded = {
            "it.append(given)": False,
            "it.appendleft(given)": False,
            "it.rotate(given)": False,
            "it.extend(given)": False,
            "it.append(last)": True,
            "it.maxlen": True,
        }
        return of_bounded.get(pattern, self.kinds[name].is_bounded) == self.kinds[name].is_bounded

    def visit_Return(self, node: ast.Return) -> Any:
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        names = [name for value in values if (name := self.owner(value)) is not None]
        return node if any(self.kinds[name].is_bounded for name in names) else super().visit_Return(node)

    def as_lists(self, name: str, at: ast.AST) -> list[ast.stmt]:
        return self.statements("drop_front(items, head)", name, at)

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(keywords=[ast.keyword(value=most)])
            ) if name in self.kinds:
                text = "most = bound(given); items = []; head = [0]"
                return self.statements(text, name, node, given=self.visit(most))
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=args)) if name in self.kinds:
                given = self.visit(args[0]) if args else ast.List([], ast.Load())
                text = (
                    "items = given; head = [0]"
                    if isinstance(given, ast.List)
                    else "items = list(given); head = [0]"
                )
                return self.statements(text, name, node, given=given)
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        name = self.owner(node.iter)
        if name is None or self._is_changed(node.body, name):
            return self.generic_visit(node)
        node.iter = self.expression("items", name, node)
        self.generic_visit(node)
        return [*self.as_lists(name, node), node]

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        if (name := self.owner(node.iter)) is not None:
            node.iter = self.expression(_ALL, name, node.iter)
        return self.generic_visit(node)

    def _is_changed(self, body: list[ast.stmt], name: str) -> bool:
        """Whether statements may add or remove items, or bind the name anew."""
        for node in (node for stmt in body for node in walk(stmt)):
            match node:
                case ast.Attribute(value=ast.Name(id=owner)) | ast.Name(id=owner, ctx=ast.Store()) if (
                    owner == name
                ):
                    return True
        return False
