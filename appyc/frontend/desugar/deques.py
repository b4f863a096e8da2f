"""Queues of numbers, or of tuples of numbers, as a list of their items and the number of those that are gone.

    q = deque([start])                   items = [start]; head = [0]
    while q:                             while len(items) > head[0]:
        i = q.popleft()                      i = pop_left(items, head)
        if not seen[i]:           ->         if not seen[i]:
            q.append(i + 1)                      items.append(i + 1)

The functions are those of `appyc.library.queues`.

Requires: each binding of the name makes a deque (`deque()`, `deque([a, b])`, `deque(items)`), and each other use is one
that a rule replaces.

Does not handle: `appendleft`, `rotate` and `maxlen`; loops over a queue that change it; nested functions.
"""

# ruff: noqa: N802  (names that `ast` gives)

from __future__ import annotations

import ast
from collections import deque
from functools import partial
from typing import Any

from appyc.frontend.desugar.building import constant
from appyc.frontend.desugar.rewriting import Containers, Kind, ValueOf, bindings, replaced
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import walk
from appyc.library.queues import drop_front, item_of, pop, pop_left

_TAKERS = {"pop": "pop(items, head)", "popleft": "pop_left(items, head)"}


def without_deques(source: Source, value_of: ValueOf) -> Source:
    """The function, with its deques replaced."""
    return replaced(source, bindings(source.ast, partial(_made, value_of=value_of)), _Deques, value_of)


def _made(value: ast.expr, value_of: ValueOf) -> Kind | None:
    match value:
        case ast.Call(func=func, args=[] | [_], keywords=[]) if value_of(func) is deque:
            return Kind("deque")
        case _:
            return None


class _Deques(Containers):
    PARTS = ("items", "head")
    TEMPORARIES = ()
    CONSTANTS = {f.__name__: constant(f) for f in (drop_front, item_of, pop, pop_left)}  # noqa: RUF012
    FULL = "len(items) > head[0]"
    RETURNED = "made(items)"
    HINT = (
        "append, extend, popleft, pop and clear are compiled, and to index, measure, run over and return it"
    )

    def as_lists(self, name: str, at: ast.AST) -> list[ast.stmt]:
        return self.statements("drop_front(items, head)", name, at)

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=args)) if name in self.kinds:
                given = self.visit(args[0]) if args else ast.List([], ast.Load())
                text = (
                    "items = given; head = [0]"
                    if isinstance(given, ast.List)
                    else "items = list(given); head = [0]"
                )
                return self.statements(text, name, node, given=given)
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        match node.value:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr=method), args=args, keywords=[]
            ) if name in self.kinds:
                match method, args:
                    case "append" | "extend", [item]:
                        return self.statements(f"items.{method}(given)", name, node, given=self.visit(item))
                    case "clear", []:
                        return self.statements("items.clear(); head = [0]", name, node)
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        name = self.owner(node.iter)
        if name is None or self._is_changed(node.body, name):
            return self.generic_visit(node)
        node.iter = self.expression("items", name, node)
        self.generic_visit(node)
        return [*self.as_lists(name, node), node]

    def _is_changed(self, body: list[ast.stmt], name: str) -> bool:
        """Whether statements may add or remove items, or bind the name anew."""
        for node in (node for stmt in body for node in walk(stmt)):
            match node:
                case ast.Attribute(value=ast.Name(id=owner)) | ast.Name(id=owner, ctx=ast.Store()) if (
                    owner == name
                ):
                    return True
        return False

    def visit_Call(self, node: ast.Call) -> Any:
        match node:
            case ast.Call(func=ast.Name(id="len") as func, args=[arg], keywords=[]) if (
                self.value_of(func) is len
            ):
                if (name := self.owner(arg)) is not None:
                    return self.expression("len(items) - head[0]", name, node)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[], keywords=[]):
                if name in self.kinds and method in _TAKERS:
                    return self.expression(_TAKERS[method], name, node)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        name = self.owner(node.value)
        if name is not None and isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice):
            return self.expression("item_of(items, head, index)", name, node, index=self.visit(node.slice))
        return self.generic_visit(node)
