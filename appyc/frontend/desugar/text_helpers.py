"""Functions that are given characters or texts, nested in their caller.

    best += score(s[i], t[j])      ->    score                       # the code depends on what the name is bound to
                                         def score_of(x, y):
                                             return 1 if x == y else -1
                                         ...
                                         best += score_of(s[i], t[j])

What their parameters stand for is then found from the calls (`syntax/character_roles.py`).

Requires: the function's globals mean the same in the caller.

Does not handle: functions with a closure.
"""

from __future__ import annotations

import ast
import builtins
import copy
from types import FunctionType

from appyc.frontend.access import python_function
from appyc.frontend.desugar.building import read, renamed
from appyc.frontend.desugar.rewriting import Rewriter, ValueOf, rewritten
from appyc.frontend.source import Source, capture, read_source
from appyc.frontend.syntax.character_roles import character_names
from appyc.frontend.syntax.liveness import names_assigned
from appyc.frontend.syntax.tree import names_in, parameters_of, walk
from appyc.library.table import text_of


def with_nested_helpers(source: Source, texts: frozenset[str], value_of: ValueOf) -> Source:
    """The function, in which the functions are nested to which it gives characters or texts."""
    tried: set[str] = set()
    while True:
        names = character_names(source.ast, texts)
        helpers = {}
        for node in walk(source.ast):
            match node:
                case ast.Call(func=ast.Name(id=name) as func, args=args, keywords=words) if (
                    name not in tried
                    and any(
                        names.is_character(a) or names.is_sequence(a)
                        for a in [*args, *(word.value for word in words)]
                    )
                ):
                    tried.add(name)
                    if (helper := _helper(func, value_of)) is not None:
                        helpers[name] = helper
        if not helpers:
            return source
        source = rewritten(source, lambda copied, found=helpers: _Nesting(copied, value_of, found))  # type: ignore[misc]


def _helper(name: ast.Name, value_of: ValueOf) -> ast.FunctionDef | None:
    """A copy of the text of the function of the program's own that a name is bound to; None for others."""
    value = value_of(name)
    function = python_function(value)
    if function is None or function.__closure__ or text_of(value) is not None:
        return None
    tree = copy.deepcopy(read_source(capture(function)).ast)
    if any(
        isinstance(node, ast.Global | ast.Yield | ast.YieldFrom | ast.FunctionDef) for node in walk(tree)[1:]
    ):
        return None
    outer = names_in(*tree.body) - names_assigned(tree.body) - {p.arg for p in parameters_of(tree)}
    is_same = all(value_of(read(n)) is _outside(function, n) for n in outer)
    return tree if is_same else None


def _outside(function: FunctionType, name: str) -> object:
    return function.__globals__.get(name, getattr(builtins, name, None))


class _Nesting(Rewriter):
    """helpers: the functions that become nested ones, by the names in their calls."""

    def __init__(
        self, function: ast.FunctionDef, value_of: ValueOf, helpers: dict[str, ast.FunctionDef]
    ) -> None:
        super().__init__(function, value_of)
        self.named = {name: self.unused(f"{name}_of") for name in helpers}
        self.parameters: dict[str, dict[str, str]] = {}
        nested = [part for name, tree in helpers.items() for part in self._nested(name, tree, function)]
        has_text = ast.get_docstring(function, clean=False) is not None
        function.body[has_text:has_text] = nested

    def _nested(self, name: str, tree: ast.FunctionDef, at: ast.FunctionDef) -> list[ast.stmt]:
        own = names_assigned(tree.body) | {p.arg for p in parameters_of(tree)}
        new = self.parameters[name] = {n: self.unused(f"{name}_{n}") for n in sorted(own)}
        for parameter in parameters_of(tree):
            parameter.arg, parameter.annotation = new[parameter.arg], None
        tree.body = renamed(tree.body, new)
        tree.name, tree.decorator_list, tree.returns = self.named[name], [], None
        out: list[ast.stmt] = [ast.Expr(read(name)), tree]
        for part in walk(*out):
            if isinstance(part, ast.expr | ast.stmt | ast.arg):
                ast.copy_location(part, at.body[0])
        return out

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.named:
            for word in node.keywords:
                word.arg = self.parameters[node.func.id].get(word.arg or "", word.arg)
            node.func.id = self.named[node.func.id]
        return node
