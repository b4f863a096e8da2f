"""Which expressions make new containers, and what each target of an assignment gets."""

from __future__ import annotations

import ast

from appyc.frontend.syntax.tree import walk


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
    """`[]`, `[0, 1]`, `[0] * n`, `[1] + [0] * n`, `[x for x in a]`, `list(a)`, `sorted(a)`, copies of others."""
    match value:
        case ast.List(elts=elts):
            return not any(isinstance(e, ast.List | ast.Starred | ast.ListComp) for e in elts)
        case ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult()):
            return not isinstance(item, ast.List | ast.Starred | ast.ListComp)
        case ast.BinOp(
            left=ast.List() | ast.BinOp() as left, op=ast.Add(), right=ast.List() | ast.BinOp() as right
        ):
            return is_new_list(left) and is_new_list(right)
        case ast.ListComp(elt=item):
            return not isinstance(item, ast.List | ast.ListComp)
        case ast.Call(func=ast.Name(id="list" | "sorted"), args=[_], keywords=[]):
            return True
        case _:
            return copied_list(value) is not None


def may_be_container(value: ast.expr) -> bool:
    """Whether an expression, by its names, makes a dict, a set or a deque."""
    match value:
        case ast.Dict() | ast.Set() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=maker) | ast.Attribute(attr=maker)):
            return maker in ("dict", "set", "Counter", "defaultdict", "deque")
        case _:
            return False


def copied_list(value: ast.expr) -> ast.Name | None:
    """The list that a list is a copy of, or of a part of it."""
    match value:
        case ast.Subscript(value=ast.Name() as name, slice=ast.Slice()):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="copy"), args=[], keywords=[]):
            return name
        case _:
            return None
