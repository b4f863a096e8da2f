"""Which names of a function stand for containers that keep their size.

They are dicts with known keys, whose values compiled code may keep in variables, and lists of equally long lists of
numbers, which are matrices.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from appyc.frontend.syntax.containers import other_uses, parameter_names, shared_lists
from appyc.frontend.syntax.tree import walk

_LOOKERS = ("len", "sum", "min", "max", "any", "all", "enumerate", "zip")


def own_dicts(function: ast.FunctionDef) -> frozenset[str]:
    """The names of dicts with keys that are written out: tuples of their values, whose items may be assigned.

        p = {"a": 1.5, "n": 3}              p_a, p_n = 1.5, 3
        for i in range(p["n"]):      ->     for i in range(p_n):
            p["a"] = p["a"] * x[i]              p_a = p_a * x[i]

    They are bound to dicts that are written out, and only indexed, measured, searched, run over and returned.
    """
    return _names(function, displayed, _dict_uses)


def _names(
    function: ast.FunctionDef,
    made: Callable[[ast.expr], object],
    uses: Callable[[ast.AST], Iterable[ast.AST]],
) -> frozenset[str]:
    """The names that are bound to what is made so, each other occurrence of which is one of the uses."""
    nodes = walk(function)
    targets = {
        node.targets[0]: node.targets[0].id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if len(node.targets) == 1 and made(node.value) is not None
    }
    known = {*targets, *(use for node in nodes for use in uses(node))}
    return frozenset({*targets.values()} - parameter_names(function) - other_uses(function, nodes, known))


def _dict_uses(node: ast.AST) -> Iterable[ast.AST]:
    """The expressions that a node does no more with than a dict of its own allows."""
    match node:
        case ast.Subscript(value=owner):
            return {owner}
        case ast.For(iter=source) | ast.comprehension(iter=source):
            return _run_over(source)
        case ast.Return(value=ast.expr() as value):
            return {*value.elts} if isinstance(value, ast.Tuple) else {value}
        case ast.Call(func=ast.Name(id=callee), args=args) if callee in _LOOKERS:
            return {owner for arg in args for owner in _run_over(arg)}
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[owner]):
            return {owner}
        case _:
            return ()


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


# ---------------------------------------------------------------- lists of lists


def table_names(function: ast.FunctionDef) -> frozenset[str]:
    """The names of lists of equally long lists of numbers, which do not grow: matrices of Python's numbers.

        t = [[0] * m for _ in range(n)]            t = np.zeros((n, m), int)
        t[i][j] = t[i - 1][j] + 1         ->       t[i, j] = t[i - 1, j] + 1

    They are bound to such comprehensions alone, and otherwise only measured (`len(t)`, `len(t[i])`), and indexed twice.
    """
    return _names(function, table, _table_uses)


def _table_uses(node: ast.AST) -> Iterable[ast.AST]:
    match node:
        case ast.Subscript(value=ast.Subscript(value=name, slice=row), slice=column, ctx=ctx):
            return {name} if not isinstance(ctx, ast.Del) and _is_single(row) and _is_single(column) else ()
        case ast.Call(func=ast.Name(id="len"), args=[ast.Subscript(value=name, slice=row)]):
            return {name} if _is_single(row) else ()
        case ast.Call(func=ast.Name(id="len"), args=[name]):
            return {name}
        case _:
            return ()


def shared_tables(function: ast.FunctionDef) -> frozenset[str]:
    """The names of such lists that nested functions use; their rows are neither replaced nor changed by methods."""
    found = shared_lists(function, lambda value: table(value) is not None)
    changed: set[str] = set()
    for node in walk(function):
        match node:
            case (
                ast.Attribute(value=ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)))
                | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del())
                | ast.AugAssign(target=ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)))
            ):
                changed.add(name)
    return found - changed


def only_indexed(function: ast.FunctionDef, name: str) -> bool:
    """Whether a list is only indexed, measured and run over, also by nested functions: as an array of its items is."""
    known: set[ast.AST] = set()
    for node in walk(function):
        match node:
            case ast.Subscript(value=owner, slice=index) if _is_single(index):
                known.add(owner)
            case ast.For(iter=owner):
                known.add(owner)
            case ast.Call(func=ast.Name(id=callee), args=[owner]) if callee in _LOOKERS:
                known.add(owner)
    uses = (n for n in walk(function) if isinstance(n, ast.Name) and n.id == name)
    return all(n in known or isinstance(n.ctx, ast.Store) for n in uses)


def _is_single(index: ast.expr) -> bool:
    return not isinstance(index, ast.Slice | ast.Tuple)


def table(value: ast.expr) -> ast.ListComp | None:
    """A list of new lists as comprehensions: `[item] * m` in it is `[item for _ in range(m)]`; None for another."""
    match value:
        case ast.ListComp(elt=ast.ListComp(elt=item, generators=[_]), generators=[ast.comprehension(ifs=[])]):
            return None if isinstance(item, ast.List | ast.ListComp) else value
        case ast.ListComp(
            elt=ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=times),
            generators=[ast.comprehension(ifs=[])],
        ) if isinstance(item, ast.Constant | ast.Name | ast.Attribute | ast.UnaryOp):
            counter = ast.Call(ast.Name("range", ast.Load()), [times], [])
            row = ast.ListComp(item, [ast.comprehension(ast.Name("_", ast.Store()), counter, [], 0)])
            made = ast.copy_location(ast.ListComp(row, value.generators), value)
            return ast.fix_missing_locations(made)
        case _:
            return None
