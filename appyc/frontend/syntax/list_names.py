"""Which names of a function stand for lists of numbers that may be kept in arrays.

A name counts where every statement that binds it makes a new list (`[]`, `[0, 1]`, `[0] * n`, `list(...)`, a
comprehension, a copy or a slice of another such list), and where it is only changed by its methods, indexed,
stored into, run over, measured, tested, looked into, returned, or given to a library or a function of
Python's that looks at the items. So no other name is bound to the list, and no other code
has it before the function returns.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from appyc.frontend.syntax.read_lists import looked_at
from appyc.frontend.syntax.tree import walk

METHODS: dict[str, range] = {
    "append": range(1, 2), "extend": range(1, 2), "insert": range(2, 3), "pop": range(2), "clear": range(1),
    "reverse": range(1), "sort": range(1),
}  # fmt: skip
"""The methods that such lists have, and how many arguments these take."""


def list_names(function: ast.FunctionDef, is_of_library: Callable[[str], bool]) -> frozenset[str]:
    """The names of such lists. is_of_library: whether an outer name is an array library's."""
    bound: dict[str, set[str]] = {}  # with the lists that they are copies of
    known: set[ast.AST] = set()
    names: list[ast.Name] = []
    excluded = {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}
    for node in walk(function):
        if isinstance(node, ast.Name):
            names.append(node)
        if isinstance(node, ast.Assign) and (
            new := [pair for pair in one_by_one(node) if is_new_list(pair[1])]
        ):
            for target, value in new:
                if isinstance(target, ast.Name):
                    bound.setdefault(target.id, set()).update(_copied(value))
                    known.add(target)
                known |= set(_looked_through(value))
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            known.add(node.target)
        elif isinstance(node, ast.Return) and node.value is not None:
            known |= set(node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])
        elif not isinstance(node, ast.Assign | ast.Starred):
            known |= {name for name, _ in looked_at(node, is_of_library)}
        known |= set(_used(node))
        if isinstance(node, ast.For):
            excluded |= _changed_while_run_over(node)
        if isinstance(node, ast.FunctionDef | ast.Lambda) and node is not function:
            excluded |= {n.id for n in walk(node) if isinstance(n, ast.Name)}
    excluded |= {n.id for n in names if n not in known}
    found = frozenset(bound.keys() - excluded)
    while any(bound[name] - found for name in found):
        found = frozenset(name for name in found if bound[name] <= found)
    return found


def one_by_one(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """What each target gets, where `a, b = [], 0` is as good as `a = []; b = 0`: no value reads a target."""
    match node.targets, node.value:
        case [ast.Tuple(elts=targets)], ast.Tuple(elts=values) if len(targets) == len(values):
            read = {n.id for value in values for n in walk(value) if isinstance(n, ast.Name)}
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            if len(names) == len(targets) and not read.intersection(names):
                return list(zip(targets, values, strict=True))
            return []
        case [target], value:
            return [(target, value)]
        case _:
            return []


def is_new_list(value: ast.expr) -> bool:
    """`[]`, `[0, 1]`, `[(0, 0)]`, `[0] * n`, `[x for x in a]`, `list(a)`, `sorted(a)`, `other[1:]`, `other.copy()`."""
    match value:
        case ast.List(elts=elts):
            return not any(isinstance(e, ast.List | ast.Starred | ast.ListComp) for e in elts)
        case ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult()):
            return not isinstance(item, ast.List | ast.Starred | ast.ListComp)
        case ast.ListComp(elt=item):
            return not isinstance(item, ast.List | ast.ListComp)
        case ast.Call(func=ast.Name(id="list" | "sorted"), args=[_], keywords=[]):
            return True
        case _:
            return bool(_copied(value))


def _copied(value: ast.expr) -> set[str]:
    """The list that a list is a copy of, or of a part of it."""
    match value:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice()):
            return {name}
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="copy"), args=[], keywords=[]):
            return {name}
        case _:
            return set()


def _looked_through(value: ast.expr) -> Iterator[ast.Name]:
    """The list whose items a new one is made of."""
    match value:
        case ast.Subscript(value=ast.Name() as name, slice=ast.Slice()):
            yield name
        case ast.Call(func=ast.Name(id="list" | "sorted"), args=[ast.Name() as name]):
            yield name
        case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="copy"), args=[], keywords=[]):
            yield name
        case _:
            return


def _used(node: ast.AST) -> Iterator[ast.Name]:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr=method), args=args, keywords=[]):
            if len(args) in METHODS.get(method, ()):
                yield name
        case ast.Subscript(value=ast.Name() as name, slice=index) if not isinstance(
            index, ast.Slice | ast.Tuple
        ) and not isinstance(node.ctx, ast.Del):
            yield name
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name() as name):
            yield name
        case ast.While(test=test) | ast.If(test=test):
            yield from _tested(test)
        case _:
            return


def _tested(test: ast.expr) -> Iterator[ast.Name]:
    """The names that a condition asks whether there is something in them."""
    match test:
        case ast.Name():
            yield test
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _tested(operand)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _tested(value)
        case _:
            return


def _changed_while_run_over(loop: ast.For) -> set[str]:
    """Names of what a loop runs over and its body appends to, takes from, or binds."""
    over = {n.id for n in walk(loop.iter) if isinstance(n, ast.Name)}
    changed: set[str] = set()
    for stmt in loop.body:
        for node in walk(stmt):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=method) if method in METHODS:
                    changed.add(name)
                case ast.Name(id=name, ctx=ast.Store()):
                    changed.add(name)
    return over & changed
