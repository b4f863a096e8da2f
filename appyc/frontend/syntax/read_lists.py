"""Lists that a function writes out and only looks at: they are as good as tuples.

    moves = [(-1, 0), (1, 0)]           moves = ((-1, 0), (1, 0))
    for di, dj in moves:         ->     for di, dj in moves:

A name counts where every statement that binds it writes a list out (or gathers one: `n, *rest = shape`),
and where it is only indexed, run over, measured, unpacked, looked into (`x in moves`), or given to a
library, which takes a tuple for the same thing. A list that is stored into, that grows, or that another
name might get stays a list; of a list of lists, each item is indexed at once. A parameter for which the same
holds may be given a list (`layers`, `coins`): the call hands a tuple on.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from appyc.frontend.syntax.tree import is_list, walk

_TAKERS = frozenset({"len", "enumerate", "zip", "min", "max", "sum", "reversed", "any", "all"})


def read_lists(function: ast.FunctionDef, is_of_library: Callable[[str], bool]) -> frozenset[str]:
    """The names of such lists. is_of_library: whether an outer name is an array library's."""
    bound: dict[str, bool] = {}  # whether one of its lists holds lists
    seen: set[ast.AST] = set()
    deep: set[ast.AST] = set()
    names: list[ast.Name] = []
    for node in walk(function):
        if isinstance(node, ast.Name):
            names.append(node)
        for target, nested in _binds(node):
            bound[target.id] = bound.get(target.id, False) or nested
            seen.add(target)
            deep.add(target)
        for name, whole in looked_at(node, is_of_library):
            (deep if whole else seen).add(name)
    other = {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}
    for inner in walk(function):
        if isinstance(inner, ast.FunctionDef | ast.Lambda) and inner is not function:
            other |= {n.id for n in walk(inner) if isinstance(n, ast.Name)}
    other |= {n.id for n in names if n not in deep and (n not in seen or bound.get(n.id, False))}
    return frozenset(bound.keys() - other)


def read_parameters(function: ast.FunctionDef, is_of_library: Callable[[str], bool]) -> dict[str, bool]:
    """The parameters that are only looked at, for which a list is as good as a tuple; and whether that holds for
    lists among the items too."""
    given = {a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    looks: dict[ast.Name, bool] = {}
    names: list[ast.Name] = []
    captured: set[str] = set()
    for node in walk(function):
        if isinstance(node, ast.Name) and node.id in given:
            names.append(node)
        if isinstance(node, ast.FunctionDef | ast.Lambda) and node is not function:
            captured |= {n.id for n in walk(node) if isinstance(n, ast.Name)}
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            captured |= {n.id for n in walk(node.value) if isinstance(n, ast.Name)}  # a part is a list again
        for name, whole in looked_at(node, is_of_library):
            looks[name] = looks.get(name, False) or whole
    only_read = given - captured - {n.id for n in names if n not in looks}
    return {name: all(looks[n] for n in names if n.id == name) for name in only_read}


def _binds(node: ast.AST) -> Iterator[tuple[ast.Name, bool]]:
    """The names that a statement binds to lists, and whether these hold lists."""
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        if isinstance(target, ast.Name) and is_list(node.value):
            yield target, any(isinstance(n, ast.List) for e in _items(node.value) for n in walk(e))
        elif isinstance(target, ast.Tuple):
            for part in target.elts:
                if isinstance(part, ast.Starred) and isinstance(part.value, ast.Name):
                    yield part.value, False


def _items(value: ast.expr) -> Iterator[ast.expr]:
    """The items of a list, or of the lists that it is a concatenation of."""
    if isinstance(value, ast.List):
        yield from value.elts
    elif isinstance(value, ast.BinOp):
        yield from _items(value.left)
        yield from _items(value.right)


def looked_at(node: ast.AST, is_of_library: Callable[[str], bool]) -> Iterator[tuple[ast.Name, bool]]:
    """The names that a node does no more with than look at, and whether it lets none of the items out."""
    match node:
        case ast.Subscript(value=ast.Subscript(value=ast.Name() as name), ctx=ast.Load()):
            yield name, True
        case ast.Subscript(value=ast.Name() as name, ctx=ast.Load()):
            yield name, False
        case ast.For(iter=ast.Name() as name) | ast.comprehension(iter=ast.Name() as name):
            yield name, False
        case ast.Starred(value=ast.Name() as name, ctx=ast.Load()):
            yield name, False
        case ast.Assign(targets=[ast.Tuple()], value=ast.Name() as name):
            yield name, False
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name() as name]):
            yield name, True
        case ast.Call(func=func, args=args, keywords=keywords):
            given = [a for a in (*args, *(k.value for k in keywords)) if isinstance(a, ast.Name)]
            if isinstance(func, ast.Name) and func.id in _TAKERS:
                yield from ((a, func.id == "len") for a in given)
            elif (root := _root(func)) is not None and is_of_library(root):
                yield from ((a, True) for a in given)
        case _:
            return


def _root(func: ast.expr) -> str | None:
    """`np` of `np.linalg.norm`."""
    if not isinstance(func, ast.Attribute):
        return None
    inner: ast.expr = func
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return inner.id if isinstance(inner, ast.Name) else None
