"""Which names of a function stand for containers that keep their size.

They are dicts with known keys, whose values compiled code may keep in variables, and lists of equally long lists of
numbers, which are matrices.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from functools import partial

from appyc.frontend.syntax.containers import other_uses, parameter_names, shared_lists
from appyc.frontend.syntax.tree import names_in, walk

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


def own_tables(function: ast.FunctionDef) -> frozenset[str]:
    """The names of lists of equally long lists of numbers, which do not grow: matrices of Python's numbers.

        t = [[0] * m for _ in range(n)]            t = np.zeros((n, m), int)
        t[i][j] = t[i - 1][j] + 1         ->       t[i, j] = t[i - 1, j] + 1

    They are bound to such comprehensions alone, and otherwise only measured (`len(t)`, `len(t[i])`), and indexed twice.
    """
    return _names(function, table, _table_uses)


def table_names(function: ast.FunctionDef) -> dict[str, str]:
    """The names of such matrices that may have several (`old, new = new, old`), or be what a call gives, each with one
    name for all that may be the same. They have any other uses, but rows are not replaced, nor changed by methods."""
    nodes = walk(function)
    bound: dict[str, list[ast.expr]] = {}
    stores: list[str] = []
    changed: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=[target], value=value):
                for name, made in _pairs(target, value):
                    bound.setdefault(name, []).append(made)
            case ast.Attribute(value=ast.Subscript(), attr="count" | "index"):
                pass
            case (
                ast.Attribute(value=ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)))
                | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del())
                | ast.Subscript(value=ast.Subscript(value=ast.Name(id=name)), ctx=ast.Del())
                | ast.Subscript(
                    value=ast.Subscript(value=ast.Name(id=name)), slice=ast.Slice(), ctx=ast.Store()
                )
                | ast.AugAssign(target=ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)))
            ):
                changed.add(name)
            case ast.FunctionDef() | ast.Lambda() if node is not function:
                changed |= names_in(node) - parameter_names(node)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stores.append(node.id)
    found = {n for n, values in bound.items() if n not in changed and stores.count(n) == len(values)}
    lost = found
    while lost:
        others = {v.id for n in bound.keys() - found for v in bound[n] if isinstance(v, ast.Name)}
        lost = {n for n in found if n in others or not all(map(partial(_gives_table, found), bound[n]))}
        found -= lost
    group: dict[str, str] = {}
    for first in sorted(n for n in found if any(map(table, bound[n]))):
        todo = [first]
        while todo:
            if (name := todo.pop()) in found and group.setdefault(name, first) == first:
                found.remove(name)
                todo += [v.id for v in bound[name] if isinstance(v, ast.Name)]
                todo += [n for n in found if any(isinstance(v, ast.Name) and v.id == name for v in bound[n])]
    return group


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """The names that an assignment binds, with the expressions of their values."""
    match target, value:
        case ast.Name(id=name), _:
            return [(name, value)]
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            return [(t.id, v) for t, v in zip(targets, values, strict=True) if isinstance(t, ast.Name)]
        case _:
            return []


def _gives_table(tables: Collection[str], value: ast.expr) -> bool:
    match value:
        case ast.Name(id=name):
            return name in tables
        case ast.Call(func=ast.Name()):
            return True
        case _:
            return table(value) is not None


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
    """A list of new lists, of new lists in these and so on, as comprehensions: `[item] * m` in it is
    `[item for _ in range(m)]`, and `row[:]` is `[item for item in row]`; None for another."""
    match value:
        case ast.ListComp(elt=elt, generators=[ast.comprehension(ifs=[])]) if (row := _row(elt)) is not None:
            made = ast.copy_location(ast.ListComp(row, value.generators), value)
            return ast.fix_missing_locations(made)
        case _:
            return None


def _row(value: ast.expr) -> ast.ListComp | None:
    match value:
        case ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=times) if isinstance(
            item, ast.Constant | ast.Name | ast.Attribute | ast.UnaryOp
        ):
            counter: ast.expr = ast.Call(ast.Name("range", ast.Load()), [times], [])
            return ast.ListComp(item, [ast.comprehension(ast.Name("_", ast.Store()), counter, [], 0)])
        case ast.ListComp(elt=ast.List() | ast.ListComp() | ast.BinOp(left=ast.List())):
            return table(value)
        case ast.ListComp(generators=[_]):
            return value
        case (
            ast.Subscript(value=ast.Name() as row, slice=ast.Slice(lower=None, upper=None, step=None))
            | ast.Call(func=ast.Attribute(value=ast.Name() as row, attr="copy"), args=[], keywords=[])
        ):
            each = ast.comprehension(ast.Name("item", ast.Store()), row, [], 0)
            return ast.ListComp(ast.Name("item", ast.Load()), [each])
        case _:
            return None
