"""Which names stand for dicts, counters and sets that are hash tables, and what these hold."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Mapping, Set
from functools import partial

from appyc.frontend.desugar.rewriting import Kind, ValueOf, bindings
from appyc.frontend.syntax.liveness import names_behind
from appyc.frontend.syntax.tree import bindings_of, is_new_list, names_in, walk
from appyc.library import set_order


def kind_of(value: ast.expr, value_of: ValueOf, written: Set[ast.expr] = frozenset()) -> Kind | None:
    """The container that an expression makes. written: dicts whose keys are characters."""
    match value:
        case ast.Dict(keys=keys) if value in written or not any(k is None or _is_text(k) for k in keys):
            return Kind("dict")
        case ast.DictComp() | ast.SetComp():
            return Kind("dict" if isinstance(value, ast.DictComp) else "set")
        case ast.Set(elts=elts) if not any(isinstance(e, ast.Starred) or _is_long(e) for e in elts):
            return Kind("set")
        case ast.Call(func=func, args=args, keywords=[]):
            maker = value_of(func)
            if maker is defaultdict and len(args) == 1 and (kind := value_of(args[0])) in (int, float):
                return Kind(f"defaultdict({kind.__name__})", kind())
            if maker is defaultdict and len(args) == 1 and value_of(args[0]) is list:
                return Kind("defaultdict(list)")
            if (maker is dict and not args) or (maker is Counter and len(args) < 2):
                return Kind("dict") if maker is dict else Kind("Counter", 0)
            return Kind("set") if maker is set and len(args) < 2 else None
        case _:
            return None


_METHODS = {
    "union": ast.BitOr, "intersection": ast.BitAnd, "difference": ast.Sub, "symmetric_difference": ast.BitXor,
}  # fmt: skip


_OPERATORS = ast.BitOr | ast.BitAnd | ast.Sub | ast.BitXor


def operands_of(node: ast.AST) -> tuple[ast.expr, type[ast.operator], ast.expr] | None:
    """The operands and the operator of `a | b`, `a.union(b)` and their like, an operation on sets if `a` is a set."""
    match node:
        case ast.BinOp(left, op, right) if isinstance(op, _OPERATORS):
            return left, type(op), right
        case ast.Call(func=ast.Attribute(value=left, attr=method), args=[right], keywords=[]) if (
            method in _METHODS
        ):
            return left, _METHODS[method], right
        case _:
            return None


def operation_of(node: ast.AST) -> tuple[str, type[ast.operator], str] | None:
    """The same where both operands are names; a copy is the union with itself."""
    match node, operands_of(node):
        case _, (ast.Name(id=a), op, ast.Name(id=b)):
            return a, op, b
        case ast.Call(func=ast.Attribute(value=ast.Name(id=a), attr="copy"), args=[]), _:
            return a, ast.BitOr, a
        case _:
            return None


def is_operation(node: ast.AST) -> bool:
    """Whether an expression is such an operation, of a method with names alone, if its operands are sets."""
    return operation_of(node) is not None or (isinstance(node, ast.BinOp) and operands_of(node) is not None)


def _operands(value: ast.expr) -> set[str]:
    """The names in an operation that stand for sets if it is one on sets; an empty text for what is no set."""
    if not is_operation(value):
        return {value.id if isinstance(value, ast.Name) else ""}
    if isinstance(value, ast.BinOp):
        return _operands(value.left) | _operands(value.right)
    return names_in(value)


def hashed_names(
    tree: ast.FunctionDef, value_of: ValueOf, of_texts: frozenset[str] = frozenset()
) -> dict[str, Kind]:
    """The names that stand for hash tables alone, and what they are. A set may get another name where nothing reads the
    first one any more. of_texts: dicts whose keys are characters."""
    written = {
        value
        for node in walk(tree)
        for target, value in bindings_of(node)
        if isinstance(target, ast.Name) and target.id in of_texts
    }
    made_by = partial(kind_of, written=written, value_of=value_of)
    assigned = [node for node in walk(tree) if isinstance(node, ast.Assign)]
    values = (
        n.value for n in walk(tree) if isinstance(n, ast.Assign | ast.AnnAssign) and n.value is not None
    )
    if not any(made_by(value) == Kind("set") for value in values):
        found = bindings(tree, made_by)
        return {name: kind for name, kind in found.items() if name in of_texts or is_entered(tree, name)}
    behind = names_behind(tree.body)
    moved = {
        n.value
        for n in assigned
        if isinstance(n.value, ast.Name) and n in behind and n.value.id not in behind[n]
    }

    def kind(value: ast.expr) -> Kind | None:
        return Kind("set") if is_operation(value) or value in moved else made_by(value)

    found = bindings(tree, kind)
    operations = [
        (name, _operands(node.value))
        for node in assigned
        if is_operation(node.value) or node.value in moved
        for name in map(ast.unparse, node.targets)
    ]
    used = {name for name, _ in operations} | names_in(*(n for n in walk(tree) if is_operation(n)))
    kinds = {
        n: k for n, k in found.items() if (k.is_set and n in used) or n in of_texts or is_entered(tree, n)
    }
    sets = {name for name, kind in kinds.items() if kind.is_set}
    while others := {name for name, operands in operations if name in kinds and not operands <= sets}:
        sets -= others
        kinds = {name: kind for name, kind in kinds.items() if name not in others}
    return kinds


def _is_text(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def _is_long(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str) and len(key.value) > 1


def is_entered(tree: ast.FunctionDef, name: str) -> bool:
    """Whether keys that are computed are put into a container, or looked up in one of constant numbers or in a set."""
    is_table = any(
        isinstance(node, ast.Assign)
        and (isinstance(node.value, ast.Set) or _is_of_numbers(node.value))
        and name in map(ast.unparse, node.targets)
        for node in walk(tree)
    )
    for node in walk(tree):
        match node:
            case (
                ast.Subscript(value=ast.Name(id=owner), slice=key)
                | ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="get"), args=[key, *_])
                | ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=owner)])
            ) if owner == name and is_table and not isinstance(key, ast.Constant):
                return True
            case ast.Subscript(value=ast.Name(id=owner), slice=key, ctx=ast.Store()) if owner == name:
                if not isinstance(key, ast.Constant):
                    return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="add" | "setdefault")) if (
                owner == name
            ):
                return True
            case ast.Assign(
                targets=[ast.Name(id=owner)], value=ast.Call(args=[_]) | ast.DictComp() | ast.SetComp()
            ) if owner == name:
                return True
    return False


def _is_of_numbers(value: ast.expr) -> bool:
    """Whether this is a dict of numbers of one type that are written out."""
    items = value.values if isinstance(value, ast.Dict) else []
    numbers = [item.operand if isinstance(item, ast.UnaryOp) else item for item in items]
    kinds = {type(n.value) if isinstance(n, ast.Constant) else None for n in numbers}
    return len(kinds) == 1 and kinds <= {int, float}


def holds_lists(tree: ast.FunctionDef, name: str, kind: Kind) -> bool:
    """Whether the values of a dict are lists."""
    stored = [
        node.value
        for node in walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Subscript)
        and isinstance(target.value, ast.Name)
        and target.value.id == name
    ]
    return kind.makes == "defaultdict(list)" or any(map(is_new_list, stored))


def is_added_to(
    tree: ast.FunctionDef,
    name: str,
    kinds: Mapping[str, Kind],
    value_of: ValueOf,
    asked: frozenset[str] = frozenset(),
) -> bool:
    """Whether all that a set has were added to it one by one, so that its order is known: neither a copy of another
    set or dict, nor a display of constants, which Python makes such a copy of."""
    if not (kinds[name].is_set and set_order.is_as_in_this_python()):
        return False
    for node in walk(tree):
        if loser(node) == name:
            return False
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=owner)], value=value)
                | ast.AnnAssign(target=ast.Name(id=owner), value=ast.expr() as value)
            ) if owner == name:
                pass
            case ast.AugAssign(target=ast.Name(id=owner)) if owner == name:
                return False
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=owner), attr="update"), args=[ast.Name(id=other)]
            ) if owner == name and other in kinds:
                return False
            case _:
                continue
        if operation_of(value) is not None:
            return False
        if isinstance(value, ast.Name) and not (
            value.id in asked or is_added_to(tree, value.id, kinds, value_of, asked | {name})
        ):
            return False
        match value:
            case ast.Set(elts=elts) if len(elts) > 2 and not any(
                isinstance(part, ast.Name | ast.Call) for part in walk(*elts)
            ):
                return False
            case ast.Call(args=[ast.Name(id=copied) as it]):
                if copied in kinds or isinstance(value_of(it), Set | Mapping):
                    return False
            case ast.Call(args=[ast.Call(func=maker)]) if value_of(maker) not in (
                range,
                list,
                sorted,
                reversed,
            ):
                return False
            case ast.Call(args=[ast.Attribute() | ast.BinOp() | ast.IfExp()]):
                return False
    return True


def loser(node: ast.AST) -> str | None:
    """The container of which a node deletes a key."""
    match node:
        case ast.Delete(targets=[ast.Subscript(value=ast.Name(id=name))]):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="pop" | "discard" | "remove")):
            return name
        case _:
            return None
