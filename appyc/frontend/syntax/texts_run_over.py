"""Which arguments of a function, if they are texts, are looked at character by character."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from appyc.frontend.syntax.character_names import iterated, root_of
from appyc.frontend.syntax.character_roles import bound_by
from appyc.frontend.syntax.tree import bound_arguments, walk


def texts_run_over(
    function: ast.FunctionDef,
    callee: Callable[[str], ast.FunctionDef | None] = lambda _: None,
    around: frozenset[str] = frozenset(),
) -> frozenset[str]:
    """The names that are indexed, run over, copied or measured, here or in a callee, and whose type is not tested: as
    arguments, texts are compiled for any characters. callee: the text of the function of a name. around: the
    callers."""
    tested = {
        node.args[0].id
        for node in walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
        if node.args and isinstance(node.args[0], ast.Name)
    }
    loops = [node for node in walk(function) if isinstance(node, ast.For | ast.comprehension)]
    items = {name for loop in loops for name, _ in bound_by(loop)}
    run_over = frozenset(
        root.id
        for node in walk(function)
        for part in (iterated(node) if node in loops else _looked_at(node, items))
        if isinstance(root := root_of(part), ast.Name)
    ) | {n.value.id for n in walk(function) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)}
    given = {
        argument.id
        for node in walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in around
        if (tree := callee(node.func.id)) is not None
        for name, argument in (bound_arguments(tree, node) or {}).items()
        if isinstance(argument, ast.Name) and name in texts_run_over(tree, callee, around | {node.func.id})
    }
    return (run_over | given) - tested


def _looked_at(node: ast.AST, items: Collection[str]) -> list[ast.expr]:
    """The expressions that a node uses as sequences of characters: copied, measured, or compared with a part
    of a sequence or an item of a loop."""
    match node:
        case ast.Call(func=ast.Name(id="list" | "sorted" | "set" | "Counter" | "deque" | "len"), args=args):
            return args
        case ast.Call(func=ast.Name(id="map" | "filter"), args=[_, *args]):
            return args
        case ast.Call(func=ast.Attribute(attr="extend"), args=args):
            return args
        case ast.Compare(left=left, comparators=[right]) if root_of(left) is not left:
            return [right]
        case ast.Compare(left=ast.Name(id=left), ops=[ast.In() | ast.NotIn()], comparators=[right]) if (
            left in items
        ):
            return [right]
        case _:
            return []
