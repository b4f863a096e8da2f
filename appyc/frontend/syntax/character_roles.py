"""The roles that a function's names have where characters and texts are concerned, from all their uses.

A name has a role where every statement that binds it, and every method that puts something into it, agrees with that:
`last = s[0]`, `stack = []` with `stack.append(last)`, `seen = set(s)`, `counts = {}` with `counts[last] = 1`. Calls
bind the parameters of nested functions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from appyc.frontend.syntax.character_names import (
    TEXT,
    CharacterNames,
    Role,
    is_numeral,
    iterated,
    result_of,
    root_of,
    use_of,
)
from appyc.frontend.syntax.tree import bindings_of, bound_arguments, parameters_of, walk


@dataclass
class _Uses:
    """The uses of a name: values bound to it, and their number; items and keys put into it; texts whose
    characters are added to it. None stands for a value that is no expression of the function's."""

    bound: list[ast.expr] = field(default_factory=list)
    items: list[ast.expr | None] = field(default_factory=list)
    keys: list[ast.expr] = field(default_factory=list)
    added: list[ast.expr] = field(default_factory=list)
    stores: int = 0
    is_of_calls: bool = False

    def may_be(self) -> frozenset[Role]:
        """The roles that the values allow for which nothing is known."""
        if not self.bound or len(self.bound) + len(self.added) != self.stores:
            return frozenset()
        kind = frozenset.intersection(*map(_kind, self.bound))
        return kind & {Role.BUILT, Role.LIST} if self.added else kind

    def allow(self, role: Role, names: CharacterNames) -> bool:
        """Whether all of them agree with a role, and some show it."""
        if role is Role.CHARACTER:
            known = [b for b in self.bound if not isinstance(b, ast.Constant)]
            return (bool(known) or self.is_of_calls) and all(map(names.is_character, self.bound))
        if role is Role.BUILT:
            parts = [b for b in self.bound if not isinstance(b, ast.Constant)]
            is_table = bool(self.keys) and not all(map(_is_short, self.bound))
            return bool(parts or self.added or is_table) and all(
                [*map(names.is_text, parts), *(names.is_character(a) or names.is_text(a) for a in self.added)]
            )
        if role is Role.LIST and any(map(names.is_text, self.bound)):
            return False
        bound = [part for value in self.bound for part in _parts(value, role)]
        items = self.keys if role is Role.KEYED else self.items
        others = [p for p in bound if isinstance(p, ast.Starred)]  # whole texts
        lists = [a for a in self.added if isinstance(a, ast.List)]
        single = [*(p for p in bound if p not in others), *items, *(e for a in lists for e in a.elts)]
        whole = [*(p.value for p in others), *(a for a in self.added if a not in lists)]
        return bool(single or whole) and all(
            [*(i is not None and names.is_character(i) for i in single), *map(names.is_sequence, whole)]
        )


def _is_short(value: ast.expr) -> bool:
    """Whether a value is a constant of one character, or empty."""
    return isinstance(value, ast.Constant) and isinstance(value.value, str) and len(value.value) < 2


def _kind(value: ast.expr) -> frozenset[Role]:
    """The roles that a value may give to a name."""
    match value:
        case _ if is_numeral(value):
            return frozenset({Role.BUILT})
        case ast.List() | ast.Call(func=ast.Name(id="list" | "sorted" | "deque")):
            return frozenset({Role.LIST})
        case ast.Subscript(slice=ast.Slice()):
            return frozenset({Role.LIST, Role.BUILT})
        case ast.Constant(value=str()) | ast.Name():
            return frozenset({Role.CHARACTER, Role.BUILT})
        case ast.Call(func=ast.Attribute(attr="join")):
            return frozenset({Role.BUILT})
        case ast.Set() | ast.Call(func=ast.Name(id="set")):
            return frozenset({Role.SET})
        case ast.Dict() | ast.Call(func=ast.Name(id="dict" | "defaultdict" | "Counter")):
            return frozenset({Role.KEYED, Role.VALUED})
        case _:
            return frozenset({Role.CHARACTER})


def _parts(value: ast.expr, role: Role) -> Iterator[ast.expr]:
    """The items, or the keys, that a new container is made with; a text whose characters they are is
    starred."""
    match value:
        case ast.List(elts=elts) | ast.Set(elts=elts):
            yield from elts
        case ast.Dict(keys=keys, values=values):
            yield from (k or ast.Constant(None) for k in keys) if role is Role.KEYED else values
        case ast.Call(func=ast.Name(id="list" | "sorted" | "deque" | "set" | "Counter"), args=[text]):
            yield ast.Starred(text)
        case ast.Call(func=ast.Name(id="defaultdict" | "Counter")) if role is Role.VALUED:
            yield ast.Constant(0)
        case ast.Subscript(value=text):
            yield ast.Starred(text)


def character_names(function: ast.FunctionDef, texts: Iterable[str]) -> CharacterNames:
    """The roles of a function's names, of which some are texts."""
    uses = _uses_in(function)
    given = dict.fromkeys(texts, TEXT)
    roles = {name: one.may_be() for name, one in uses.items()} | given
    rebound = frozenset(name for name, one in uses.items() if one.stores > 1)
    while True:
        known = CharacterNames(roles, rebound)
        kept = {
            name: frozenset(role for role in own if uses[name].allow(role, known))
            for name, own in roles.items()
            if name not in given
        } | given
        if kept == roles:
            has_empty = _has_empty(function, known)
            one_kind = {name: own for name, own in roles.items() if _is_one_kind(own)}
            inside = [node for node in walk(function)[1:] if isinstance(node, ast.FunctionDef)]
            nested = {node.name: [p.arg for p in parameters_of(node)] for node in inside}
            found = CharacterNames(one_kind, rebound, has_empty, nested=nested)
            whole = frozenset(n for n, one in uses.items() if not any(map(found.may_be_empty, one.bound)))
            return replace(found, whole=whole)
        roles = kept


def _has_empty(function: ast.FunctionDef, names: CharacterNames) -> bool:
    """Whether an empty text may be found where characters are."""
    others: set[ast.expr] = set()
    for node in walk(function):
        match node:
            case ast.Attribute(value=value):  # `"".join`
                others.add(value)
            case ast.Compare(left=left, comparators=comparators):
                others |= {left, *comparators}
            case ast.Assign():
                others |= {value for target, value in bindings_of(node) if Role.BUILT in names.of(target)}
            case ast.AnnAssign(target=target, value=ast.expr() as value) if Role.BUILT in names.of(target):
                others.add(value)
    empty = (n for n in walk(function) if isinstance(n, ast.Constant) and n.value == "")
    return any(node not in others for node in empty)


def _is_one_kind(own: frozenset[Role]) -> bool:
    return bool(own) and len(own & {Role.CHARACTER, Role.BUILT, Role.LIST}) < 2


def _uses_in(function: ast.FunctionDef) -> dict[str, _Uses]:
    uses: dict[str, _Uses] = {}

    def of(name: str) -> _Uses:
        return uses.setdefault(name, _Uses())

    for parameter in parameters_of(function):
        of(parameter.arg).stores += 1  # of what the caller gives
    calls = [node for node in walk(function) if isinstance(node, ast.Call)]
    for nested in walk(function)[1:]:
        if isinstance(nested, ast.FunctionDef):
            for name, values in _given(nested, calls):
                of(name).bound += values
                of(name).is_of_calls = True
                of(name).stores += len(values) or 1
    for node in ast.walk(function):
        for name, value in bound_by(node):
            of(name).bound.append(value)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            of(node.id).stores += 1
        if (use := use_of(node)) is not None:
            found = use[1]
            own = of(found["it"].id)  # type: ignore[attr-defined]
            own.items += [found["item"]] if "item" in found else []
            own.keys += [found["key"]] if "key" in found else []
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                of(name).added.append(value if isinstance(op, ast.Add) else ast.Constant(None))
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name))):
                of(name).items.append(None)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="extend"), args=[value]):
                of(name).items.append(ast.Starred(value))
            case ast.Assign():
                for target, value in bindings_of(node):
                    if isinstance(target, ast.Name) and (part := added_to(target, value)) is not None:
                        of(target.id).added.append(part)
                    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                        of(target.value.id).items.append(value)
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
                of(name).keys.append(key)
    return uses


def _given(nested: ast.FunctionDef, calls: list[ast.Call]) -> Iterator[tuple[str, list[ast.expr]]]:
    """The parameters of a nested function, each with the arguments that calls give; and what it returns, named as a
    call. Nothing is known of parameters that starred arguments may bind."""
    own = [
        bound_arguments(nested, c) for c in calls if isinstance(c.func, ast.Name) and c.func.id == nested.name
    ]
    parameters = [p.arg for p in parameters_of(nested)]
    defaults = dict(zip(reversed(parameters), reversed(nested.args.defaults), strict=False))
    for name in parameters:
        values = [
            *(given[name] for given in own if given and name in given),
            *filter(None, [defaults.get(name)]),
        ]
        yield name, values if None not in own else []
    returns = [node for node in walk(nested) if isinstance(node, ast.Return)]
    yield result_of(nested.name), [node.value or ast.Constant(None) for node in returns]


def added_to(target: ast.expr, value: ast.expr) -> ast.expr | None:
    """The part of `text = text + part`."""
    match target, value:
        case ast.Name(id=name), ast.BinOp(left=ast.Name(id=left), op=ast.Add(), right=part) if name == left:
            return part
        case _:
            return None


def bound_by(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a node binds, with the value; of a loop over something a character of that, as `*over`."""
    for target, value in bindings_of(node):
        pairs = [(target, value)]
        match target, value:
            case ast.Tuple(elts=[key, item]), ast.Starred(
                ast.Call(func=ast.Attribute(value=over, attr="items"))
            ):
                pairs = [(key, ast.Starred(over)), (item, ast.Subscript(over, ast.Constant(0), ast.Load()))]
        yield from ((t.id, v) for t, v in pairs if isinstance(t, ast.Name) and added_to(t, v) is None)


# ---------------------------------------------------------------- arguments that may be texts


def texts_run_over(
    function: ast.FunctionDef,
    callee: Callable[[str], ast.FunctionDef | None] = lambda _: None,
    around: frozenset[str] = frozenset(),
) -> frozenset[str]:
    """The names that are indexed, run over, copied or measured, here or in a callee, and whose type is not tested: as
    arguments, texts are compiled for any characters. callee: the text of the function of a name. around: the
    callers."""
    tested = {
        node.args[0].id
        for node in walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
        if node.args and isinstance(node.args[0], ast.Name)
    }
    loops = [node for node in walk(function) if isinstance(node, ast.For | ast.comprehension)]
    items = {name for loop in loops for name, _ in bound_by(loop)}
    run_over = frozenset(
        root.id
        for node in walk(function)
        for part in (iterated(node) if node in loops else _looked_at(node, items))
        if isinstance(root := root_of(part), ast.Name)
    ) | {n.value.id for n in walk(function) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)}
    given = {
        argument.id
        for node in walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in around
        if (tree := callee(node.func.id)) is not None
        for name, argument in (bound_arguments(tree, node) or {}).items()
        if isinstance(argument, ast.Name) and name in texts_run_over(tree, callee, around | {node.func.id})
    }
    return (run_over | given) - tested


def _looked_at(node: ast.AST, items: Collection[str]) -> list[ast.expr]:
    """The expressions that a node uses as sequences of characters: copied, measured, or compared with a part
    of a sequence or an item of a loop."""
    match node:
        case ast.Call(func=ast.Name(id="list" | "sorted" | "set" | "Counter" | "deque" | "len"), args=args):
            return args
        case ast.Call(func=ast.Name(id="map" | "filter"), args=[_, *args]):
            return args
        case ast.Call(func=ast.Attribute(attr="extend"), args=args):
            return args
        case ast.Compare(left=left, comparators=[right]) if root_of(left) is not left:
            return [right]
        case ast.Compare(left=ast.Name(id=left), ops=[ast.In() | ast.NotIn()], comparators=[right]) if (
            left in items
        ):
            return [right]
        case _:
            return []
