"""Loops over `zip(..., strict=True)`, as those without it and a test behind them.

    for x, y in zip(a, b, strict=True):       for x, y in zip(a, b):
        s += x * y                                s += x * y
                                       ->     else:
                                                  refuse_unequal((len(a), len(b)))

Requires: arguments that can be measured again: names, attributes, slices. Does not handle: comprehensions.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from appyc.frontend.desugar.building import constant, expression, template
from appyc.frontend.desugar.rewriting import ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import walk
from appyc.library.zipping import refuse_unequal

_MEASURED = (ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant, ast.UnaryOp, ast.USub, ast.Load)


def without_strict_zips(source: Source, value_of: ValueOf) -> Source:
    """The function, with its loops over `zip(..., strict=True)` replaced."""
    calls = (n for n in walk(source.ast) if isinstance(n, ast.Call) and n.keywords)
    if not any(value_of(call.func) is zip for call in calls):
        return source
    return rewritten(source, lambda _: _StrictZips(value_of))


class _StrictZips(ast.NodeTransformer):
    def __init__(self, value_of: ValueOf) -> None:
        self.value_of = value_of

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        call = node.iter
        if isinstance(call, ast.Call) and call.args and self.value_of(call.func) is enumerate:
            call = call.args[0]
        match call:
            case ast.Call(keywords=[ast.keyword(arg="strict", value=ast.Constant(True))]) if self.value_of(
                call.func
            ) is zip and all(isinstance(part, _MEASURED) for arg in call.args for part in ast.walk(arg)):
                call.keywords = []
                lengths = [expression("len(it)", {"it": copy.deepcopy(arg)}, call) for arg in call.args]
                names = {"test": constant(refuse_unequal), "lengths": ast.Tuple(lengths, ast.Load())}
                node.orelse = [*template("test(lengths)", names, call), *node.orelse]
        return node
