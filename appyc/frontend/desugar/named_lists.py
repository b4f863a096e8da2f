"""Names for lists, dicts and sets that an expression makes, where they are used at once; sums of lists.

    for value, n in counts.most_common(3):        pairs = counts.most_common(3)
        s += value * n                       ->   for value, n in pairs:
                                                      s += value * n

    return {k: k * k for k in range(n)}      ->   made = {k: k * k for k in range(n)}
                                                  return made

    rows = first[1:] + [x for x in a] + [0]  ->   items = first[1:]
                                                  items.extend([x for x in a])
                                                  items.extend([0])
                                                  rows = items

Requires: nothing is evaluated before it in its statement; each part of a sum is a list by its text.

Does not handle: sums of lists that are parameters, which may be arrays.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Set
from typing import Any

from appyc.frontend.desugar.building import FreshNames, assigned, located, read
from appyc.frontend.desugar.rewriting import Rewriter, ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.tree import copied_list, is_new_list, one_by_one, walk

_MAKERS = ("most_common",)


def with_named_lists(source: Source, value_of: ValueOf) -> Source:
    """The function, in which such lists, dicts and sets have names."""
    if any(value_of(read(name)) is not getattr(builtins, name) for name in ("list", "sorted")):
        return source
    lists = _lists(source.ast)
    if not any(_makes(node) or _is_sum(node, lists) for node in walk(source.ast)):
        return source
    return rewritten(source, lambda function: _Naming(function, lists))


def _lists(tree: ast.FunctionDef) -> frozenset[str]:
    """The names that are bound to lists alone."""
    values: dict[str, list[ast.expr]] = {}
    known: set[ast.AST] = set()
    for node in walk(tree):
        if isinstance(node, ast.Assign):
            for target, value in one_by_one(node):
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(value)
                    known.add(target)
        elif isinstance(node, ast.AugAssign):
            known.add(node.target)
    names = (n for n in walk(tree) if isinstance(n, ast.Name) and n not in known)
    others = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
    found = frozenset(values.keys() - others - parameter_names(tree))
    while any(not all(_is_list(v, found) for v in values[name]) for name in found):
        found = frozenset(name for name in found if all(_is_list(v, found) for v in values[name]))
    return found


def _is_list(value: ast.expr, lists: Set[str]) -> bool:
    if isinstance(value, ast.Name):
        return value.id in lists
    if (copied := copied_list(value)) is not None:
        return copied.id in lists
    return is_new_list(value) or _is_sum(value, lists)


def _is_sum(node: ast.AST, lists: Set[str]) -> bool:
    """Whether this is a sum of lists, of which not all are written out."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return not is_new_list(node) and _is_list(left, lists) and _is_list(right, lists)
        case _:
            return False


def _makes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=method)):
            return method in _MAKERS
        case _:
            return isinstance(node, ast.DictComp | ast.SetComp)


class _Naming(Rewriter):
    """lists: names that are bound to lists alone."""

    def __init__(self, function: ast.FunctionDef, lists: frozenset[str]) -> None:
        self.unused, self.lists = FreshNames(function), lists

    def visit_For(self, node: ast.For) -> Any:
        before, node.iter = self._named(node.iter)
        self.generic_visit(node)
        return [*before, node]

    def visit_Assign(self, node: ast.Assign | ast.Return | ast.Expr) -> Any:
        if node.value is None or (isinstance(node, ast.Assign) and _makes(node.value)):
            return node
        before, node.value = self._named(node.value)
        return [*before, node]

    visit_Return = visit_Expr = visit_Assign

    def _named(self, node: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """The statements that make the container which an expression evaluates first, and the expression with its
        name."""
        if _makes(node):
            name = self.unused("made")
            return [located(assigned(name, node), node)], located(read(name), node)
        if _is_sum(node, self.lists):
            return self._summed(node)
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

    def _summed(self, node: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """A list that is made of the first part of a sum, and extended by the others."""
        parts: list[ast.expr] = []
        while isinstance(node, ast.BinOp) and _is_sum(node, self.lists):
            parts, node = [node.right, *parts], node.left
        name = self.unused("items")
        if isinstance(node, ast.Name):
            node = ast.Subscript(node, ast.Slice(), ast.Load())
        whole = [assigned(name, node)]
        for part in parts:
            method = ast.Attribute(read(name), "extend", ast.Load())
            whole.append(ast.Expr(ast.Call(method, [part], [])))
        return [located(stmt, parts[0]) for stmt in whole], located(read(name), parts[0])
