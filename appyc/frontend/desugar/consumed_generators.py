"""Calls that take all that a generator of the program yields, as loops over it in front of their statement.

    return sum(pairs(n)) / n     ->      total = 0
                                         for item in pairs(n):
                                             total = total + item
                                         return total / n

`list`, `max`, `min` and `sorted` get a list of the items. `generator_loops` replaces the loops.

Does not handle: calls that may not be reached (in `and`, `or`, conditional expressions), or that stand behind what may
raise; generators that change elements.
"""

from __future__ import annotations

import ast
from typing import Any

from appyc.frontend.desugar.building import FreshNames, assigned, located, read, template
from appyc.frontend.desugar.generator_loops import Finder, changes_elements
from appyc.frontend.desugar.rewriting import ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import walk

_SUM = "total = start\nfor item in source: total = total + item"
_LIST = "total = []\nfor item in source: total.append(item)"
_TAKERS = (sum, list, max, min, sorted)
_QUIET = (
    ast.Name,
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.USub,
    ast.expr_context,
)
"""What neither raises nor sees what a generator does."""


def without_generator_calls(source: Source, value_of: ValueOf) -> Source:
    """The function, with these calls replaced."""
    finder = Finder(source.ast, value_of)
    calls = (node for node in walk(source.ast) if isinstance(node, ast.Call))
    if not any(_taken(call, finder) for call in calls):
        return source
    return rewritten(source, lambda copied: _Calls(copied, finder))


def _taken(node: ast.expr, finder: Finder) -> bool:
    """Whether a call takes what a generator yields."""
    match node:
        case ast.Call(func=ast.Name() as func, args=[source, *others], keywords=[]):
            taker = finder.value_of(func)
            few = not others or (taker is sum and len(others) == 1)
            generator = finder.found(source) if few and taker in _TAKERS else None
            return generator is not None and not changes_elements(generator.tree.body)
        case _:
            return False


class _Calls(ast.NodeTransformer):
    def __init__(self, function: ast.FunctionDef, finder: Finder) -> None:
        self.finder = finder
        self.unused = FreshNames(function)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    def visit_Return(self, node: ast.Return | ast.Assign | ast.Expr | ast.AugAssign) -> Any:
        before: list[ast.stmt] = []
        node.value = self._hoisted(node.value, before) if node.value is not None else None
        return [*before, node]

    visit_Assign = visit_Expr = visit_Return  # noqa: N815  (as `ast` has it)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        return self.visit_Return(node) if isinstance(node.target, ast.Name) else node

    def _hoisted(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """An expression, of which calls are replaced; what replaces them goes to the statements before it."""
        match node:
            case ast.Call(func=ast.Name() as func, args=[source, *start]) if _taken(node, self.finder):
                names = {name: self.unused(name) for name in ("total", "item")}
                taker = self.finder.value_of(func)
                first = start[0] if start else ast.Constant(0)
                text = _SUM if taker is sum else _LIST
                before += template(text, {**names, "source": source, "start": first}, node)
                total = ast.copy_location(read(names["total"]), node)
                if taker is sum:
                    return total
                node.args = [total]
                if taker in (list, sorted):
                    return node
                taken = self.unused(func.id)
                before.append(located(assigned(taken, node), node))
                return ast.copy_location(read(taken), node)
            case ast.BinOp():
                node.left, node.right = self._in_order([node.left, node.right], before)
            case ast.UnaryOp():
                node.operand = self._hoisted(node.operand, before)
            case ast.Tuple(elts=elts) | ast.Call(args=elts):
                elts[:] = self._in_order(elts, before)
        return node

    def _in_order(self, nodes: list[ast.expr], before: list[ast.stmt]) -> list[ast.expr]:
        """Expressions that are evaluated one after the other: the calls behind one that may raise stay."""
        out: list[ast.expr] = []
        for node in nodes:
            is_first = all(isinstance(part, _QUIET) for known in out for part in walk(known))
            out.append(self._hoisted(node, before) if is_first else node)
        return out
