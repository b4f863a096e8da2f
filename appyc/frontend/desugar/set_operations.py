"""Unions, intersections and differences of sets of the function's own, as sets with names.

    shared = len(a & set(b))      ->      made = set(b)
                                          made_2 = a & made
                                          shared = len(made_2)

Requires: the operands are names that stand for sets alone, sets that are made there, or such operations; a method's
argument may be any iterable.

Does not handle: operations with sets of the caller's.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from appyc.frontend.desugar.building import located, read
from appyc.frontend.desugar.hashed_names import kind_of, operands_of
from appyc.frontend.desugar.hoisting import Hoisting
from appyc.frontend.desugar.rewriting import Kind, ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import walk


def with_named_operations(source: Source, kinds: Mapping[str, Kind], value_of: ValueOf) -> Source:
    """The function, in which each operation on sets is assigned to a name; itself if it has none."""
    sets = {name for name, kind in kinds.items() if kind.is_set}
    expressions = (node for node in walk(source.ast) if isinstance(node, ast.expr))
    if not any(kind_of(node, value_of) == Kind("set") for node in expressions):
        return source
    return rewritten(source, lambda copied: _Named(copied, value_of, sets), operands_of)


class _Named(Hoisting):
    def __init__(self, function: ast.FunctionDef, value_of: ValueOf, sets: set[str]) -> None:
        super().__init__(function, value_of)
        self.sets = sets
        self.has_nested = any(isinstance(node, ast.FunctionDef) for node in walk(function)[1:])

    def is_free(self, node: ast.expr) -> bool:
        return not self.has_nested  # an operation on named sets neither raises nor changes what calls may see

    def instead(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr | None:
        return self._named(node, before) if operands_of(node) and self._is_set(node) else None

    def _is_set(self, node: ast.expr) -> bool:
        """Whether an expression is a set, or an operation on sets."""
        if (operands := operands_of(node)) is None:
            return ast.unparse(node) in self.sets or kind_of(node, self.value_of) == Kind("set")
        left, _, right = operands
        return self._is_set(left) and (isinstance(node, ast.Call) or self._is_set(right))

    def _named(self, node: ast.expr, before: list[ast.stmt]) -> ast.Name:
        """The name of a set, whose operands have names."""
        if isinstance(node, ast.Name):
            return node
        self._name_operands(node, before)
        name = self.named(node, before)
        assert isinstance(name, ast.Name)
        self.sets.add(name.id)
        return name

    def _name_operands(self, node: ast.expr, before: list[ast.stmt]) -> None:
        match node:
            case ast.BinOp():
                node.left, node.right = self._named(node.left, before), self._named(node.right, before)
            case ast.Call(func=ast.Attribute() as method, args=[other]) if operands_of(node):
                method.value = self._named(method.value, before)
                other = other if self._is_set(other) else located(ast.Call(read("set"), [other], []), other)
                node.args = [self._named(other, before)]

    def visit_Assign(self, node: Any) -> list[ast.stmt]:
        if not (isinstance(node, ast.Assign) and operands_of(node.value) and self._is_set(node.value)):
            return super().visit_Assign(node)
        before: list[ast.stmt] = []
        self._name_operands(node.value, before)
        return [*before, node]

    visit_Expr = visit_Return = visit_Assign
