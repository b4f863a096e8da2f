"""New syntax for desugared statements."""

from __future__ import annotations

import ast
from typing import TypeVar

_Node = TypeVar("_Node", bound=ast.AST)


def located(new: _Node, at: ast.AST) -> _Node:
    """The new node; each part of it that has no source location gets that of `at`."""
    stack: list[ast.AST] = [new]
    while stack:
        node = stack.pop()
        if not hasattr(node, "lineno"):
            ast.copy_location(node, at)
            stack.extend(ast.iter_child_nodes(node))
    return new


def read(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def assigned(name: str, value: ast.expr | bool) -> ast.stmt:
    """`name = value`"""
    value = value if isinstance(value, ast.expr) else ast.Constant(value)
    return ast.Assign([ast.Name(name, ast.Store())], value)


def negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def always_jumps(body: list[ast.stmt], kinds: tuple[type[ast.stmt], ...]) -> bool:
    """Whether each path through the statements ends in one of these jumps, or raises."""
    match body:
        case [*_, ast.If(body=then, orelse=orelse)]:
            return always_jumps(then, kinds) and always_jumps(orelse, kinds)
        case [*_, last]:
            return isinstance(last, (*kinds, ast.Raise))
        case _:
            return False
