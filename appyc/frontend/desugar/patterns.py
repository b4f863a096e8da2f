"""Patterns of Python's text: `xs.insert(at, item)` matches each such call, and tells what `xs`, `at` and `item` are."""

from __future__ import annotations

import ast
import builtins
from functools import cache


def matched(pattern: str, node: ast.AST) -> dict[str, ast.expr] | None:
    """What the names of a pattern stand for in a statement or an expression, slices apart; None if it does not match.

    Names of builtins stand for themselves, as far as the text tells.
    """
    found: dict[str, ast.expr] = {}
    return found if _fits(_parsed(pattern, isinstance(node, ast.stmt)), node, found) else None


@cache
def _parsed(pattern: str, is_statement: bool) -> ast.AST:
    return ast.parse(pattern).body[0] if is_statement else ast.parse(pattern, mode="eval").body


def _fits(pattern: object, node: object, found: dict[str, ast.expr]) -> bool:
    match pattern, node:
        case ast.Name(id=name), ast.expr():
            found[name] = node
            if hasattr(builtins, name):
                return isinstance(node, ast.Name) and node.id == name
            return not isinstance(node, ast.Slice | ast.Starred)
        case ast.AST(), ast.AST():
            return type(pattern) is type(node) and all(
                _fits(getattr(pattern, field), getattr(node, field, None), found) for field in pattern._fields
            )
        case list(), list():
            return len(pattern) == len(node) and all(map(_fits, pattern, node, [found] * len(node)))
        case _:
            return pattern == node
