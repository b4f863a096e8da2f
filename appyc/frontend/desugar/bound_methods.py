"""Methods of containers that are bound to a name, as calls of the methods.

    add = found.append                     for x in a:
    for x in a:                 ->             found.append(x)
        add(x)

Requires: a name that is bound once and only called, behind its assignment in the same block, in which the container's
name is not bound anew. Does not handle: methods of attributes (`self.items.append`), and names that nested functions
have.
"""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Iterator

import numpy as np

from appyc.frontend.desugar.rewriting import Inlined, ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.tree import blocks_in, names_in, walk

_METHODS = {
    name for kind in (list, dict, set, deque, np.ndarray) for name in dir(kind) if not name.startswith("_")
}


def without_bound_methods(source: Source, value_of: ValueOf) -> Source:
    """The function, in which no name is bound to a container's method."""
    found = dict(_bound(source.ast))
    return rewritten(source, lambda copied: Inlined(copied, value_of, found)) if found else source


def _bound(function: ast.FunctionDef) -> Iterator[tuple[str, ast.Attribute]]:
    """The names, and the methods that they stand for."""
    nodes = walk(function)
    given = parameter_names(function)
    refused = given | names_in(*(n for n in nodes[1:] if isinstance(n, ast.FunctionDef | ast.Lambda)))
    names = Counter(n.id for n in nodes if isinstance(n, ast.Name))
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for block in (block for node in nodes for block in blocks_in(node)):
        for position, stmt in enumerate(block):
            match stmt:
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Attribute(value=ast.Name(id=owner), attr=method) as value,
                ) if method in _METHODS and owner in stored | given and name not in refused:
                    behind = walk(*block[position + 1 :])
                    calls = [n.func for n in behind if isinstance(n, ast.Call)]
                    called = sum(isinstance(f, ast.Name) and f.id == name for f in calls)
                    if names[name] == called + 1 and not any(_binds(n, owner) for n in behind):
                        yield name, value


def _binds(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
