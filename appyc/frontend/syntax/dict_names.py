"""Which names of a function are bound to dicts that nothing else refers to, so that their items may be assigned.

    p = {"a": 1.5, "n": 3}              p_a, p_n = 1.5, 3
    for i in range(p["n"]):      ->     for i in range(p_n):
        p["a"] = p["a"] * x[i]              p_a = p_a * x[i]

A dict with keys that are written out is a tuple of its values. Where it is stored into, a second name for it
would see that; a name counts where every statement that binds it writes a dict out, and where else it is
only indexed, measured, searched, run over and returned.
"""

from __future__ import annotations

import ast

from appyc.frontend.syntax.tree import walk


def own_dicts(function: ast.FunctionDef) -> frozenset[str]:
    """The names of such dicts."""
    bound: set[str] = set()
    known: set[ast.AST] = set()
    names: list[ast.Name] = []
    excluded = {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}
    for node in walk(function):
        match node:
            case ast.Name():
                names.append(node)
            case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if (
                displayed(value) is not None
            ):
                bound.add(name)
                known.add(target)
            case ast.Subscript(value=ast.Name() as owner):
                known.add(owner)
            case ast.For(iter=source) | ast.comprehension(iter=source):
                known |= _run_over(source)
            case ast.Return(value=ast.Tuple(elts=values)):
                known |= set(values)
            case ast.Return(value=ast.Name() as owner):
                known.add(owner)
            case ast.Call(func=ast.Name(id=callee), args=args) if callee in _LOOK:
                known |= {owner for arg in args for owner in _run_over(arg)}
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name() as owner]):
                known.add(owner)
            case ast.FunctionDef() | ast.Lambda() if node is not function:
                excluded |= {n.id for n in walk(node) if isinstance(n, ast.Name)}
            case _:
                pass
    return frozenset(bound - excluded - {n.id for n in names if n not in known})


def displayed(node: ast.expr) -> ast.Dict | None:
    """`{"a": x}` or `dict(a=x)` as the former."""
    match node:
        case ast.Dict():
            return node
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words) if all(w.arg for w in words):
            keys: list[ast.expr | None] = [ast.copy_location(ast.Constant(w.arg), w) for w in words]
            return ast.copy_location(ast.Dict(keys, [w.value for w in words]), node)
        case _:
            return None


_LOOK = ("len", "sum", "min", "max", "any", "all", "enumerate", "zip")
"""Functions that look at what they are given, and keep nothing of it."""


def _run_over(source: ast.expr) -> frozenset[ast.AST]:
    """The name of the dict that a loop iterates over directly, so that no other name is bound to its items."""
    match source:
        case ast.Name():
            return frozenset({source})
        case ast.Call(
            func=ast.Attribute(value=ast.Name() as owner, attr="keys" | "values" | "items"), args=[]
        ):
            return frozenset({owner})
        case _:
            return frozenset()
