"""Names for lists that a method makes, where they are used at once.

    for value, n in counts.most_common(3):        pairs = counts.most_common(3)
        s += value * n                       ->   for value, n in pairs:
                                                      s += value * n

Requires: nothing is evaluated before the method in its statement.
"""

from __future__ import annotations

import ast
from typing import Any

from appyc.frontend.desugar.building import FreshNames, assigned, located, read
from appyc.frontend.desugar.rewriting import ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import walk

_MAKERS = ("most_common",)


def with_named_lists(source: Source, value_of: ValueOf) -> Source:
    """The function, in which lists have names that methods make."""
    return rewritten(source, _Naming) if any(map(_makes, walk(source.ast))) else source


def _makes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=method)):
            return method in _MAKERS
        case _:
            return False


class _Naming(ast.NodeTransformer):
    def __init__(self, function: ast.FunctionDef) -> None:
        self.unused = FreshNames(function)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    def visit_For(self, node: ast.For) -> Any:
        before, node.iter = self._named(node.iter)
        self.generic_visit(node)
        return [*before, node]

    def visit_Assign(self, node: ast.Assign | ast.Return | ast.Expr) -> Any:
        if node.value is None or (isinstance(node, ast.Assign) and _makes(node.value)):
            return node
        before, node.value = self._named(node.value)
        return [*before, node]

    visit_Return = visit_Expr = visit_Assign  # noqa: N815

    def _named(self, node: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """The statement that makes the list which an expression evaluates first, and the expression with its name."""
        if _makes(node):
            name = self.unused("pairs")
            return [located(assigned(name, node), node)], located(read(name), node)
        before: list[ast.stmt] = []
        match node:
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                for k, item in enumerate(elts):
                    if not isinstance(item, ast.Name | ast.Constant):
                        before, elts[k] = self._named(item)
                        break
            case ast.Subscript() | ast.Attribute():
                before, node.value = self._named(node.value)
            case ast.BinOp() | ast.Compare():
                before, node.left = self._named(node.left)
            case ast.Call(func=ast.Name(), args=[first, *_]):
                before, node.args[0] = self._named(first)
            case ast.ListComp(generators=[first, *_]) | ast.GeneratorExp(generators=[first, *_]):
                before, first.iter = self._named(first.iter)
        return before, node
