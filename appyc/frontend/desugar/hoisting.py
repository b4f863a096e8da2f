"""Parts of expressions as statements of their own, in front of the statement that evaluates them.

    return sum(pairs(n)) / n     ->      total = 0
                                         for item in pairs(n):
                                             total = total + item
                                         return total / n

Requires: nothing that may raise is evaluated before the part in its statement.

Does not handle: parts that may not be reached (in `and`, `or`, conditional expressions), and conditions of `while`.
"""

from __future__ import annotations

import ast
from typing import Any

from appyc.frontend.desugar.building import assigned, located, read
from appyc.frontend.desugar.rewriting import Rewriter
from appyc.frontend.syntax.tree import walk

_QUIET = (
    ast.Name | ast.Constant | ast.BinOp | ast.UnaryOp | ast.Add | ast.Sub | ast.Mult | ast.USub | ast.Load
)
"""AST nodes whose evaluation neither raises nor depends on side effects."""


class Hoisting(Rewriter):
    """A rule about parts of expressions, also of nested functions."""

    def instead(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr | None:
        """The replacement of an expression, whose statements are added to `before`; None where its parts are
        to be visited."""
        raise NotImplementedError

    def is_free(self, node: ast.expr) -> bool:
        """Whether the parts of an expression may be evaluated before what stands in front of it."""
        return False

    def hoisted(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """An expression without such parts; the statements that make them are added."""
        if (new := self.instead(node, before)) is not None:
            return new
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Call(args=parts):
                parts[:] = self._in_order(parts, before)
            case ast.BinOp():
                node.left, node.right = self._in_order([node.left, node.right], before)
            case ast.Compare():
                node.left, *node.comparators = self._in_order([node.left, *node.comparators], before)
            case ast.UnaryOp():
                node.operand = self.hoisted(node.operand, before)
            case ast.Subscript() | ast.Attribute():
                node.value = self.hoisted(node.value, before)
            case ast.ListComp(generators=[first, *_]) | ast.GeneratorExp(generators=[first, *_]):
                first.iter = self.hoisted(first.iter, before)
        return node

    def _in_order(self, nodes: list[ast.expr], before: list[ast.stmt]) -> list[ast.expr]:
        """Replaces parts of expressions evaluated in sequence, as far as the order of side effects
        stays."""
        out: list[ast.expr] = []
        for node in nodes:
            is_first = all(isinstance(part, _QUIET) for part in walk(*out))
            out.append(self.hoisted(node, before) if is_first or self.is_free(node) else node)
        return out

    def named(self, node: ast.expr, before: list[ast.stmt], name: str = "made") -> ast.expr:
        """A new name of an expression."""
        name = self.unused(name)
        before.append(located(assigned(name, node), node))
        return located(read(name), node)

    # ------------------------------------------------------------ statements

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.body = self.block(node.body)
        return node

    def visit_Assign(self, node: Any) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        node.value = self.hoisted(node.value, before) if node.value is not None else None
        return [*before, node]

    visit_Expr = visit_Return = visit_Assign

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        before: list[ast.stmt] = []
        match node.target:
            case ast.Name():
                return self.visit_Assign(node)
            case ast.Subscript(value=ast.Name()) as target:
                target.slice = self.hoisted(target.slice, before)
        return [*before, node]

    def visit_For(self, node: ast.For) -> Any:
        before: list[ast.stmt] = []
        node.iter = self.hoisted(node.iter, before)
        self.generic_visit(node)
        return [*before, node]

    def visit_If(self, node: ast.If) -> Any:
        before: list[ast.stmt] = []
        node.test = self.hoisted(node.test, before)
        self.generic_visit(node)
        return [*before, node]
