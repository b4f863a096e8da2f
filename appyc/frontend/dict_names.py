"""Which names of a function stand for dicts that nobody else can have, so that their items may be stored anew.

    p = {"a": 1.5, "n": 3}              p_a, p_n = 1.5, 3
    for i in range(p["n"]):      ->     for i in range(p_n):
        p["a"] = p["a"] * x[i]              p_a = p_a * x[i]

A dict with keys that are written out is a tuple of its values. Where it is stored into, a second name for it
would see that; a name counts where every statement that binds it writes a dict out, and where else it is
only indexed by constants or measured.
"""

from __future__ import annotations

import ast


def own_dicts(function: ast.FunctionDef) -> frozenset[str]:
    """The names of such dicts."""
    bound: set[str] = set()
    known: set[ast.AST] = set()
    names: list[ast.Name] = []
    excluded = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    for node in ast.walk(function):
        match node:
            case ast.Name():
                names.append(node)
            case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.Dict()):
                bound.add(name)
                known.add(target)
            case ast.Subscript(value=ast.Name() as owner, slice=ast.Constant()):
                known.add(owner)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as owner]):
                known.add(owner)
            case ast.FunctionDef() | ast.Lambda() if node is not function:
                excluded |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            case _:
                pass
    return frozenset(bound - excluded - {n.id for n in names if n not in known})
