"""Lambda lifting: lists that grow, and that nested functions use, become parameters of these.

    parent = [0]                               parent = [0]
    def find(x):                               def find(parent, x):
        while parent[x] != x:         ->           while parent[x] != x:
            x = parent[x]                              x = parent[x]
        return x                                   return x
    parent.append(1)                           parent.append(1)
    a = find(1)                                a = find(parent, 1)

Requires: the functions are only called, by the one name that they have.

Does not handle: lists that keep their lengths, which nested functions share as arrays; lambdas.
"""

from __future__ import annotations

import ast
from typing import Any

from appyc.frontend.desugar.building import located, read
from appyc.frontend.desugar.rewriting import Kind, ValueOf, bindings, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import METHODS
from appyc.frontend.syntax.tree import assigned_names, is_new_list, walk

_GROWING = METHODS.keys() - {"sort", "reverse"}


def with_lifted_lists(source: Source, value_of: ValueOf) -> Source:
    """The function, whose nested functions get the lists that they use and that grow."""
    lifted = _lifted(source.ast)
    return rewritten(source, lambda _: _Lifting(lifted)) if lifted else source


def _lifted(tree: ast.FunctionDef) -> dict[str, list[str]]:
    """By nested function, the lists that it gets."""
    nodes = walk(tree)
    nested = [n for n in nodes if isinstance(n, ast.FunctionDef) and n is not tree]
    made = bindings(tree, lambda value: Kind("list") if is_new_list(value) else None)
    growing = made.keys() & set(map(_grown, nodes))
    uses = {f: growing & _names(f) - assigned_names(f) for f in nested}
    for _ in nested:  # what is called gets its lists from the caller
        uses = {f: own.union(*(uses[g] for g in nested if g.name in _names(f))) for f, own in uses.items()}
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    values = {n.id for n in nodes if isinstance(n, ast.Name) and n not in called}
    names = [f.name for f in nested]
    unfit = set[str]().union(*(_names(n) for n in nodes if isinstance(n, ast.Lambda)))
    for f, used in uses.items():
        unfit |= used if f.name in values or names.count(f.name) > 1 else used & assigned_names(f)
    return {f.name: sorted(used - unfit) for f, used in uses.items() if used - unfit}


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in walk(node) if isinstance(n, ast.Name)}


def _grown(node: ast.AST) -> str | None:
    """The list that becomes longer or shorter."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _GROWING:
            return name
        case (
            ast.AugAssign(target=ast.Name(id=name))
            | ast.Subscript(value=ast.Name(id=name), slice=ast.Slice(), ctx=ast.Store())
        ):
            return name
        case _:
            return None


class _Lifting(ast.NodeTransformer):
    """lifted: by function, the lists that become its first parameters."""

    def __init__(self, lifted: dict[str, list[str]]) -> None:
        self.lifted = lifted

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        first = node.args.posonlyargs or node.args.args
        first[:0] = [located(ast.arg(name), node) for name in self.lifted.get(node.name, ())]
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name):
            node.args[:0] = [located(read(name), node) for name in self.lifted.get(node.func.id, ())]
        return node
