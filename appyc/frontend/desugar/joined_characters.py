"""Characters that a comprehension gives to `"".join` are collected in a list.

    return "".join(c for c in s if c in t)     ->      characters = []
                                                       for c in s:
                                                           if c in t:
                                                               characters.append(c)
                                                       return "".join(characters)

Requires, and does not handle: as `hoisting`.
"""

from __future__ import annotations

import ast

from appyc.frontend.desugar.building import located, read
from appyc.frontend.desugar.comprehension_loops import LIST, Comprehension, folded, with_own_names
from appyc.frontend.desugar.hoisting import Hoisting
from appyc.frontend.desugar.rewriting import rewritten
from appyc.frontend.source import Source


def with_joined_lists(source: Source) -> Source:
    """The function, in which `"".join` gets lists alone."""
    return rewritten(source, lambda copied: _Joined(copied, lambda _: None), _joined)


def _joined(node: ast.AST) -> Comprehension | None:
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=""), attr="join"),
            args=[ast.ListComp() | ast.GeneratorExp() as items],
        ):
            return items
        case _:
            return None


class _Joined(Hoisting):
    def instead(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr | None:
        if (items := _joined(node)) is None:
            return None
        assert isinstance(node, ast.Call)
        name = self.unused("characters")
        before += folded(with_own_names(items, self.unused), name, LIST)
        node.args = [located(read(name), node)]
        return node
