"""Parameters whose texts are looked at character by character."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from appyc.frontend.syntax.tree import bound_arguments, parameters_of, walk

_METHODS = {
    **dict.fromkeys(("isalpha", "isdigit", "isalnum", "isspace", "isupper", "islower", "upper", "lower", "strip",
                     "lstrip", "rstrip"), 0),
    "startswith": 1, "endswith": 1, "count": 1, "find": 2, "index": 2, "replace": 2,
}  # fmt: skip
"""The most arguments with which methods of texts are compiled."""
_TAKERS = frozenset({"list", "sorted", "set", "Counter", "deque", "len", "reversed", "enumerate", "zip"})


def texts_run_over(
    function: ast.FunctionDef,
    callee: Callable[[str], ast.FunctionDef | None] = lambda _: None,
    around: frozenset[str] = frozenset(),
) -> frozenset[str]:
    """The parameters that are indexed, run over, copied, measured or compared with each other, here or in a callee, and
    whose type is not tested: as arguments, texts are compiled for any characters. callee: the text of the function of a
    name. around: the callers."""
    looked_at: frozenset[str] = frozenset()
    tested: set[str] = set()
    told = {
        n
        for stmt in walk(function)
        if isinstance(stmt, ast.Raise | ast.Assert | ast.Expr)
        for n in ast.walk(stmt)
    }
    for node in walk(function):
        looked_at |= {root.id for part in _looked_at(node) if (root := _root_of(part)) is not None}
        if node not in told:
            looked_at |= {part.id for part in _made_of(node) if isinstance(part, ast.Name)}
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), _]):
                tested.add(name)
            case ast.Call(func=ast.Name(id=called)) if (
                called not in around and (tree := callee(called)) is not None
            ):
                given = bound_arguments(tree, node) or {}
                there = texts_run_over(tree, callee, around | {called})
                looked_at |= {a.id for n, a in given.items() if n in there and isinstance(a, ast.Name)}
    return (looked_at & {p.arg for p in parameters_of(function)}) - tested


def _looked_at(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that a node uses as sequences of characters: run over, copied, measured, or compared with
    what is not written out."""
    match node:
        case ast.Subscript(value=value):
            yield value
        case ast.For(iter=over) | ast.comprehension(iter=over):
            yield over
        case ast.Call(func=ast.Name(id=function), args=args) if function in _TAKERS:
            yield from args
        case ast.Call(func=ast.Name(id="map" | "filter"), args=[_, *args]):
            yield from args
        case ast.Call(func=ast.Attribute(attr="extend"), args=args):
            yield from args
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            is_written = isinstance(left, ast.Constant) or not isinstance(right, ast.Name | ast.Subscript)
            if not is_written and not isinstance(op, ast.Is | ast.IsNot):
                yield right


def _made_of(node: ast.AST) -> list[ast.expr]:
    """The expressions of which a node makes a text, or a part of which it looks for."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return [left, right]
        case ast.Call(func=ast.Attribute(value=text, attr=method), args=args) if len(args) <= _METHODS.get(
            method, -1
        ):
            return [text, *args]
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return [value]
        case _:
            return []


def _root_of(node: ast.expr) -> ast.Name | None:
    """The name of which an expression is the whole, a part, or these reversed, sorted or joined."""
    match node:
        case (
            ast.Subscript(value=value)
            | ast.Call(
                func=ast.Name(id="reversed" | "sorted" | "list") | ast.Attribute(attr="join"), args=[value]
            )
        ):
            return _root_of(value)
        case _:
            return node if isinstance(node, ast.Name) else None
