"""Numbers that nested functions assign, as lists of one item, as Python itself keeps them in cells.

    total = 0                        total = [0]
    def add(x):                      def add(x):
        nonlocal total       ->          total[0] += x
        total += x
    ...                              ...
    return total                     return total[0]

Requires: a first assignment at the top of the function, in front of all else that has the name.

Does not handle: parameters; names that loops, `with`, `del` and comprehensions bind; those of functions nested twice.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from appyc.frontend.desugar.building import located, read
from appyc.frontend.syntax.tree import walk


def without_nonlocals(function: ast.FunctionDef) -> ast.FunctionDef:
    """The function, changed in place, without those `nonlocal` statements that can be left out."""
    declared = {name for node in walk(function) if isinstance(node, ast.Nonlocal) for name in node.names}
    cells = {name: first for name in sorted(declared) if (first := _first(function, name)) is not None}
    rule = _Cells(frozenset(cells))
    function.body = [rule.visit(stmt) for stmt in function.body] if cells else function.body
    for name, first in cells.items():
        first.targets = [ast.copy_location(ast.Name(name, ast.Store()), first.targets[0])]
        first.value = located(ast.List([first.value], ast.Load()), first.value)
    return function


def _first(function: ast.FunctionDef, name: str) -> ast.Assign | None:
    """The assignment that binds a name, in front of all else that has it; None for another name."""
    nodes = walk(function)
    named = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
    targets = {target for n in nodes for target in _targets(n)}
    nested = [n for n in nodes if isinstance(n, ast.FunctionDef) and n is not function]
    parameters = {n.arg for n in nodes if isinstance(n, ast.arg)}
    if name in parameters or any(not isinstance(n.ctx, ast.Load) and n not in targets for n in named):
        return None
    for inner in nested:
        below = walk(inner)
        declares = any(isinstance(n, ast.Nonlocal) and name in n.names for n in below)
        is_deep = any(n in nested and n is not inner for n in below)
        if (not declares or is_deep) and any(n in targets and n in below for n in named):
            return None
    first = next((stmt for stmt in function.body if any(n in named for n in walk(stmt))), None)
    match first:
        case ast.Assign(targets=[ast.Name()]) if sum(n in named for n in walk(first)) == 1:
            return first if first.targets[0] in named else None
        case _:
            return None


def _targets(node: ast.AST) -> list[ast.expr]:
    """The names that assignments bind, one by one or unpacked."""
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AugAssign)
        else []
    )
    return [part for t in targets for part in (t.elts if isinstance(t, ast.Tuple) else [t])]


@dataclass
class _Cells(ast.NodeTransformer):
    """names: those that become lists."""

    names: frozenset[str]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.names:
            return node
        return located(ast.Subscript(read(node.id), ast.Constant(0), node.ctx), node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        node.names = [name for name in node.names if name not in self.names]
        return node if node.names else ast.copy_location(ast.Pass(), node)
