"""Nested functions that `functools.cache` decorates, as functions that keep their results in a dict.

    @cache                             results = {}
    def ways(i, j):                    def ways(i, j):
        if i == 0:                         if (i, j) in results:
            return 1                           return results[i, j]
        return ways(i - 1, j)   ->         if i == 0:
                                               result = 1; results[i, j] = result; return result
                                           result = ways(i - 1, j); results[i, j] = result; return result

The dict is one of the program's from then on (`hash_tables.py`).

Requires: each path through the function returns a value, and no statement binds a parameter.

Does not handle: caches of a limited size, defaults, keywords, and functions of a module.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from typing import Any

from appyc.frontend.desugar.building import FreshNames, always_jumps, block_of, matched, template
from appyc.frontend.desugar.rewriting import Rewriter, ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.liveness import names_assigned
from appyc.frontend.syntax.tree import statements_in

_CACHES = (
    ("of", functools.cache),
    ("of(None)", functools.lru_cache),
    ("of(maxsize=None)", functools.lru_cache),
)
"""Decorators that keep all results."""


def without_caches(source: Source, value_of: ValueOf) -> Source:
    """The function, whose nested functions have dicts instead of caches."""
    nested = [s for s in source.ast.body if isinstance(s, ast.FunctionDef) and _is_cached(s, value_of)]
    if not nested:
        return source
    names = {f.name for f in nested}
    return rewritten(source, lambda copied: _Caches(names, FreshNames(copied)))


def _is_cached(function: ast.FunctionDef, value_of: ValueOf) -> bool:
    if len(function.decorator_list) != 1:
        return False
    found = ((matched(text, function.decorator_list[0]), maker) for text, maker in _CACHES)
    is_cache = any(names is not None and value_of(names["of"]) is maker for names, maker in found)
    own = function.args
    is_plain = bool(own.args) and not (
        own.posonlyargs or own.kwonlyargs or own.defaults or own.vararg or own.kwarg
    )
    returns = [s for s in statements_in(*function.body) if isinstance(s, ast.Return)]
    return (
        is_cache
        and is_plain
        and always_jumps(function.body, (ast.Return,))
        and all(s.value is not None for s in returns)
        and not parameter_names(function) & names_assigned(function.body)
    )


class _Caches(Rewriter):
    def __init__(self, names: set[str], unused: FreshNames) -> None:
        self.names, self.unused = names, unused

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if node.name not in self.names:
            return node
        keys: list[ast.expr] = [ast.Name(arg.arg, ast.Load()) for arg in node.args.args]
        given: dict[str, str | ast.expr] = {
            "key": keys[0] if len(keys) == 1 else ast.Tuple(keys, ast.Load()),
            "results": self.unused(f"{node.name}_results"),
            "result": self.unused(f"{node.name}_result"),
        }
        first, node.decorator_list = node.decorator_list[0], []
        known = template("if key in results:\n    return results[key]", given, first)
        node.body = [*known, *block_of(node.body, _Kept(given).visit)]
        return [*template("results = {}", given, first), node]


class _Kept(Rewriter):
    """given: what the names of a function's parameters, its dict and its results are."""

    def __init__(self, given: Mapping[str, str | ast.expr]) -> None:
        self.given = given

    def visit_Return(self, node: ast.Return) -> Any:
        assert node.value is not None, "each path returns a value"
        text = "result = value; results[key] = result; return result"
        return template(text, {**self.given, "value": node.value}, node)
