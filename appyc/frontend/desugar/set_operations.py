"""Unions, intersections and differences of sets of the function's own, as sets with names.

    shared = len(a & b)      ->      made = a & b
                                     shared = len(made)

Requires: the operands are names that stand for sets alone, or such operations.

Does not handle: operations with sets of the caller's, and methods that get other iterables than sets.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from appyc.frontend.desugar.hashed_names import is_operation, operation_of
from appyc.frontend.desugar.hoisting import Hoisting
from appyc.frontend.desugar.rewriting import Kind, ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import walk


def with_named_operations(source: Source, kinds: Mapping[str, Kind], value_of: ValueOf) -> Source:
    """The function, in which each operation on sets is assigned to a name; itself if it has none."""
    sets = {name for name, kind in kinds.items() if kind.is_set}
    return rewritten(source, lambda copied: _Named(copied, value_of, sets), is_operation) if sets else source


class _Named(Hoisting):
    def __init__(self, function: ast.FunctionDef, value_of: ValueOf, sets: set[str]) -> None:
        super().__init__(function, value_of)
        self.sets = sets
        self.has_nested = any(isinstance(node, ast.FunctionDef) for node in walk(function)[1:])

    def is_free(self, node: ast.expr) -> bool:
        return not self.has_nested  # an operation on named sets neither raises nor changes what calls may see

    def instead(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr | None:
        if not self._is_on_sets(node, before):
            return None
        name = self.named(node, before)
        assert isinstance(name, ast.Name)
        self.sets.add(name.id)
        return name

    def _is_on_sets(self, node: ast.expr, before: list[ast.stmt]) -> bool:
        """Whether an expression is an operation on sets, once operations in it have names."""
        if isinstance(node, ast.BinOp) and is_operation(node):
            node.left, node.right = self._in_order([node.left, node.right], before)
        found = operation_of(node)
        return found is not None and {found[0], found[2]} <= self.sets

    def visit_Assign(self, node: Any) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        if isinstance(node, ast.Assign) and self._is_on_sets(node.value, before):
            return [*before, node]
        return [*before, *super().visit_Assign(node)]

    visit_Expr = visit_Return = visit_Assign
