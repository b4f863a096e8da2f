"""The names of lists of lists, of rows of such, and of what nested functions get of them (see `nested_lists`).

near = [[] for _ in range(n)]       near: a list of lists, whose rows get items
near[u].append(v)
row = near[u]                       row: a row of near
for row in near: ...                the same
table = [[0] * m for _ in range(n)] none, since its rows keep their length
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection

from appyc.frontend.desugar.array_aliases import arrays_by_text
from appyc.frontend.desugar.rewriting import Kind, ValueOf, bindings, new_lists
from appyc.frontend.syntax.containers import METHODS
from appyc.frontend.syntax.fixed_containers import own_tables, shared_tables
from appyc.frontend.syntax.liveness import names_behind
from appyc.frontend.syntax.tree import assigned_names, copied_list, is_new_list, walk

_LISTS = Kind("lists")


def lists_of_lists(tree: ast.FunctionDef, value_of: ValueOf) -> dict[str, Kind]:
    """The names of such lists of lists."""
    may_be = bindings(tree, _kind_of)
    if not may_be:
        return {}
    written = bindings(tree, lambda value: _LISTS if isinstance(value, ast.ListComp) else None)
    grown = _grown(tree, arrays_by_text(tree, value_of)) | written.keys()
    grown -= own_tables(tree) | shared_tables(tree)
    return {name: kind for name, kind in may_be.items() if name in grown}


def _kind_of(value: ast.expr) -> Kind | None:
    match value:
        case ast.List(elts=elts) if all(map(is_new_list, elts)):
            return _LISTS
        case ast.ListComp(elt=item) if is_new_list(item):
            return _LISTS
        case _:
            return None


def _grown(tree: ast.FunctionDef, arrays: Collection[str]) -> set[str]:
    """The names of lists of empty lists, of lists that get lists as items, or the items of which get items or are
    replaced. arrays: names whose copies are no lists."""
    new = new_lists(tree)
    found = set()
    for node in walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp(elt=ast.List(elts=[]))):
                found.add(name)
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item])
            ):
                copied = copied_list(item)
                if copied is not None and copied.id in arrays:
                    continue
                if is_new_list(item) or (isinstance(item, ast.Name) and item.id in new):
                    found.add(name)
            case ast.Attribute(value=ast.Subscript(value=ast.Name(id=name)), attr=attr) if attr in METHODS:
                found.add(name)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=value) if is_new_list(
                value
            ):
                found.add(name)
    return found


def rows_of(tree: ast.FunctionDef, kinds: Collection[str]) -> dict[str, str]:
    """The names that are bound to rows of one list of lists and to nothing else, and that list's name. None of them is
    live where that name is bound anew."""
    bound: Counter[str] = Counter()
    owners: dict[str, list[str]] = {}
    own = assigned_names(tree)
    for node in walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound[name] += 1
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Subscript(value=ast.Name(id=owner), slice=index)
            ) if owner in kinds and not isinstance(index, ast.Slice):
                owners.setdefault(name, []).append(owner)
            case (
                ast.For(target=ast.Name(id=name), iter=ast.Name(id=owner))
                | ast.For(
                    target=ast.Tuple(elts=[_, ast.Name(id=name)]),
                    iter=ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name(id=owner)], keywords=[]),
                )
                | ast.comprehension(target=ast.Name(id=name), iter=ast.Name(id=owner))
            ) if owner in kinds:
                owners.setdefault(name, []).append(owner)
    rebound: dict[str, frozenset[str]] = {}
    for stmt, behind in names_behind(tree.body).items():
        if isinstance(stmt, ast.Assign) and isinstance(target := stmt.targets[0], ast.Name):
            rebound[target.id] = rebound.get(target.id, frozenset()) | behind
    return {
        name: owner
        for name, (owner, *others) in owners.items()
        if {owner}.issuperset(others) and bound[name] == 1 + len(others) and name not in kinds
        if (name not in own or name not in rebound.get(owner, ()))
    }


def same_in_calls(nested: ast.FunctionDef, function: ast.FunctionDef) -> set[str]:
    """The parameters of a nested function for which each call gives what has the same name."""
    given = [
        [arg.id if isinstance(arg, ast.Name) else "" for arg in node.args]
        for node in walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == nested.name
    ]
    first = len(nested.args.posonlyargs)
    return {
        arg.arg
        for k, arg in enumerate(nested.args.args, first)
        if all(names[k : k + 1] == [arg.arg] for names in given)
    }
