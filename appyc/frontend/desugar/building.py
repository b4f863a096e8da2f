"""New syntax for desugared statements, and patterns of what they replace."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Mapping
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, TypeAlias, TypeVar

from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.tree import leaves_loop, walk
from appyc.ir.names import unused

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


class Refused(Exception):  # noqa: N818  (no error: what is rewritten stays as it is)
    """Raised for what a rule has no statements for."""


class FreshNames:
    """Names that a function does not have yet."""

    def __init__(self, function: ast.FunctionDef) -> None:
        names = (node.id for node in walk(function) if isinstance(node, ast.Name))
        self.taken = {*names, *parameter_names(function)}

    def __call__(self, name: str) -> str:
        out = unused(name, self.taken)
        self.taken.add(out)
        return out


def part_of(name: str, part: str) -> str:
    """The variable that holds a part of a container: no name of the program's is like it."""
    return f"{name}.{part}"


def constant(value: object) -> ast.expr:
    """A value that no text has: a function of appyc's own, say."""
    return ast.Constant(value)  # type: ignore[arg-type]


def functions_of(library: ModuleType) -> dict[str, ast.expr]:
    """The functions of a module by name, as constants for the names in a template."""
    return {name: constant(f) for name, f in vars(library).items() if isinstance(f, FunctionType)}


def read(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def assigned(name: str, value: ast.expr | int) -> ast.stmt:
    """`name = value`"""
    value = value if isinstance(value, ast.expr) else ast.Constant(value)
    return ast.Assign([ast.Name(name, ast.Store())], value)


def block_of(body: list[ast.stmt], visit: Callable[[ast.stmt], Any]) -> list[ast.stmt]:
    """The statements that a transformer's `visit` makes of a block, in order."""
    made = (visit(stmt) for stmt in body)
    return [new for one in made for new in (one if isinstance(one, list) else [one])]


def negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def always_jumps(body: list[ast.stmt], kinds: tuple[type[ast.stmt], ...]) -> bool:
    """Whether each path through the statements ends in one of these jumps, raises, or goes round for ever."""
    match body:
        case [*_, ast.If(body=then, orelse=orelse)]:
            return always_jumps(then, kinds) and always_jumps(orelse, kinds)
        case [*_, ast.While(test=ast.Constant(value=test)) as loop] if test:
            return not leaves_loop(loop)
        case [*_, ast.For(orelse=[*_, _] as orelse) | ast.While(orelse=[*_, _] as orelse) as loop]:
            return always_jumps(orelse, kinds) and not leaves_loop(loop)
        case [*_, last]:
            return isinstance(last, (*kinds, ast.Raise))
        case _:
            return False


Names: TypeAlias = Mapping[str, str | ast.expr | ast.operator]
"""The replacements of the names in a template; that of "@" replaces any operator."""


def template(text: str, names: Names, at: ast.AST) -> list[ast.stmt]:
    """The statements of a text, whose names stand for others or for expressions."""
    return [located(stmt, at) for stmt in renamed(copy.deepcopy(_parsed(text)), names)]


def expression(text: str, names: Names, at: ast.AST) -> ast.expr:
    """The expression of such a text."""
    (stmt,) = template(text, names, at)
    assert isinstance(stmt, ast.Expr)
    return stmt.value


def renamed(body: list[ast.stmt], names: Names) -> list[ast.stmt]:
    """The statements, changed in place, whose names stand for others or for expressions."""
    rule = _Named(names)
    return [rule.visit(stmt) for stmt in body]


def with_names(value: ast.expr, names: Names) -> ast.expr:
    """The expression, changed in place, whose names stand for others."""
    (stmt,) = renamed([ast.Expr(value)], names)
    assert isinstance(stmt, ast.Expr)
    return stmt.value


@cache
def _parsed(text: str) -> list[ast.stmt]:
    body = ast.parse(text).body
    for node in ast.walk(ast.Module(body, [])):
        node.__dict__.pop("lineno", None)  # it gets the location of what it replaces
    return body


class _Named(ast.NodeTransformer):
    def __init__(self, names: Names) -> None:
        self.names = names
        self.used: set[str] = set()

    def visit_Name(self, node: ast.Name) -> ast.AST:
        new = self.names.get(node.id, node)
        if isinstance(new, str):
            return ast.Name(new, node.ctx)
        if node.id not in self.used:
            self.used.add(node.id)
            return new
        return copy.deepcopy(new)

    def visit_MatMult(self, node: ast.MatMult) -> ast.AST:
        new = self.names.get("@", node)
        return node if isinstance(new, str) else new


# ---------------------------------------------------------------- patterns


def matched(pattern: str, node: ast.AST) -> dict[str, ast.expr] | None:
    """The parts of a node that the names of a pattern match, slices apart; None if it does not match.

    Names of builtins stand for themselves, as far as the text tells; one of a bound that is left out stands for None.
    A name that is there twice stands for one text, and `@` for any operator.
    """
    found: dict[str, ast.expr] = {}
    (stmt,) = _parsed(pattern)
    wanted = stmt.value if isinstance(stmt, ast.Expr) and not isinstance(node, ast.stmt) else stmt
    return found if _fits(wanted, node, found) else None


def _fits(pattern: object, node: object, found: dict[str, ast.expr]) -> bool:
    match pattern, node:
        case ast.Name(id=name), ast.expr():
            if (other := found.setdefault(name, node)) is not node and ast.dump(other) != ast.dump(node):
                return False
            if hasattr(builtins, name):
                return isinstance(node, ast.Name) and node.id == name
            return not isinstance(node, ast.Slice | ast.Starred)
        case ast.Name(id=name), None:
            found[name] = ast.Constant(None)
            return True
        case ast.MatMult(), ast.operator():
            found["@"] = node  # type: ignore[assignment]
            return True
        case ast.AST(), ast.AST():
            return type(pattern) is type(node) and all(
                _fits(getattr(pattern, field), getattr(node, field, None), found) for field in pattern._fields
            )
        case list(), list():
            return len(pattern) == len(node) and all(map(_fits, pattern, node, [found] * len(node)))
        case _:
            return pattern == node
