"""Which names of a function stand for characters, and for texts, lists, sets and dicts of characters.

A name has a role where every statement that binds it, and every method that puts something into it, agrees with that:
`last = s[0]`, `stack = []` with `stack.append(last)`, `seen = set(s)`, `counts = {}` with `counts[last] = 1`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import TypeGuard

from appyc.frontend.desugar.building import matched
from appyc.frontend.syntax.tree import bindings_of, parameters_of, walk


class Role(Enum):
    """The kind of value that a name is bound to. BUILT: a text that begins as a constant or a part of a text,
    and gets characters at its end. KEYED, VALUED: a dict of which the keys, or the values, are characters."""

    CHARACTER = auto()
    TEXT = auto()
    BUILT = auto()
    LIST = auto()
    SET = auto()
    KEYED = auto()
    VALUED = auto()


SEQUENCES = frozenset({Role.TEXT, Role.BUILT, Role.LIST})
TEXTS = frozenset({Role.TEXT, Role.BUILT})
HOLDERS = SEQUENCES | {Role.SET, Role.VALUED}
"""Roles of containers whose items are characters."""
TEXT = frozenset({Role.TEXT})
KEYS = frozenset({Role.KEYED})
NOTHING: frozenset[Role] = frozenset()

METHODS = {
    "it.append(item)": NOTHING, "it.appendleft(item)": NOTHING, "it.insert(at, item)": NOTHING,
    "it.add(item)": NOTHING, "it.remove(item)": NOTHING, "it.discard(item)": NOTHING, "it.index(item)": NOTHING,
    "it.count(item)": NOTHING, "it.clear()": NOTHING, "it.reverse()": NOTHING, "it.sort()": NOTHING,
    "it.pop()": HOLDERS, "it.popleft()": HOLDERS, "it[key]": HOLDERS, "it.pop(key)": HOLDERS,
    "it.pop(key, item)": HOLDERS, "it.get(key, item)": HOLDERS, "it.setdefault(key, item)": HOLDERS,
    "max(it, key=it.get)": KEYS, "min(it, key=it.get)": KEYS,
}  # fmt: skip
"""Uses of containers, and the roles of those of which they give a character. `key` is one where the keys are."""

NUMERALS = {"str": "decimal", "bin": "binary", "oct": "octal", "hex": "hexadecimal"}
"""Functions that give the text of a number, and those of `appyc.library.numerals`."""

CLASSIFIED = frozenset({"isalpha", "isdigit", "isalnum", "isspace", "isupper", "islower"})
CHANGED = frozenset({"upper", "lower"})
"""Methods of characters: tests, and those that give another one."""


def use_of(node: ast.AST) -> tuple[str, dict[str, ast.expr]] | None:
    """The pattern in METHODS that a node is, and what its names stand for: `it` for a name."""
    match node:
        case ast.Subscript(value=ast.Name() as name, slice=key) if not isinstance(key, ast.Slice):
            return "it[key]", {"it": name, "key": key}
        case ast.Call():
            for pattern in METHODS:
                if (found := matched(pattern, node)) is not None and isinstance(found["it"], ast.Name):
                    return pattern, found
    return None


def is_numeral(node: ast.AST | None) -> TypeGuard[ast.Call]:
    """Whether an expression may be the text of a number, as `str(n)` is."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[_], keywords=[]):
            return name in NUMERALS
        case _:
            return False


def is_entry(node: ast.AST) -> TypeGuard[ast.Subscript]:
    """Whether an expression is a character, found at run time, of a text that is written out."""
    match node:
        case ast.Subscript(value=ast.Constant(value=str(text)), slice=at):
            return len(text) > 1 and not isinstance(at, ast.Slice | ast.Constant)
        case _:
            return False


def are_texts(among: ast.expr) -> TypeGuard[ast.Tuple | ast.List]:
    """Whether texts are written out, so that a text may be compared with each."""
    if not isinstance(among, ast.Tuple | ast.List) or len(among.elts) < 2:
        return False
    return all(isinstance(item, ast.Constant) and isinstance(item.value, str) for item in among.elts)


def is_reversal(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "reversed"


def root_of(node: ast.expr) -> ast.Name | ast.Call | None:
    """The name, or the text of a number, of which an expression is the whole, a slice, a copy, or these reversed or
    sorted."""
    match node:
        case (
            ast.Subscript(value=value, slice=ast.Slice())
            | ast.Call(func=ast.Name(id="reversed" | "sorted" | "list"), args=[value], keywords=[])
            | ast.Call(
                func=ast.Attribute(value=ast.Constant(value=""), attr="join"), args=[value], keywords=[]
            )
        ):
            return root_of(value)
        case _:
            return node if isinstance(node, ast.Name) or is_numeral(node) else None


def iterated(loop: ast.For | ast.comprehension) -> list[ast.expr]:
    """The expressions that a loop iterates over; the arguments of `enumerate` and `zip` one by one."""
    match loop.iter:
        case ast.Call(func=ast.Name(id="enumerate"), args=[over, *_]):
            return [over]
        case ast.Call(func=ast.Name(id="zip"), args=args):
            return args
        case over:
            return [over]


@dataclass(frozen=True)
class CharacterNames:
    """The names that have roles. rebound: those that are bound more than once; has_empty: whether an empty text is
    somewhere among characters; whole: the names of characters that are none."""

    roles: Mapping[str, frozenset[Role]]
    rebound: frozenset[str]
    has_empty: bool = False
    whole: frozenset[str] = frozenset()

    def of(self, node: ast.AST | None) -> frozenset[Role]:
        """The roles of a name, or of the text of a number; none of another expression."""
        if is_numeral(node):
            return TEXT
        return self.roles.get(node.id, frozenset()) if isinstance(node, ast.Name) else frozenset()

    def is_sequence(self, node: ast.expr) -> bool:
        return bool(self.of(root_of(node)) & SEQUENCES)

    def is_text(self, node: ast.expr) -> bool:
        """Whether a sequence of characters is a `str` in Python, and no list."""
        match node:
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self.is_text(value)
            case ast.Call(func=ast.Attribute()):  # `"".join(items)`
                return self.is_sequence(node)
            case _:
                return bool(self.of(node) & TEXTS)

    def is_run_over(self, node: ast.AST) -> bool:
        """Whether a node has the items of a set of characters in their order."""
        match node:
            case ast.For() | ast.comprehension():
                over = iterated(node)
            case ast.Call(func=ast.Name(id="list" | "tuple" | "iter" | "reversed" | "deque"), args=over):
                pass
            case ast.Call(func=ast.Attribute(attr="join" | "extend"), args=over):
                pass
            case ast.AugAssign(op=ast.Add(), value=value) | ast.Starred(value=value):
                over = [value]
            case _:
                return False
        return any(Role.SET in self.of(part) for part in over)

    def may_be_empty(self, character: ast.expr | None) -> bool:
        match character:
            case ast.Constant(value=text):
                return not text
            case ast.Name(id=name) if name in self.whole:
                return False
            case ast.Subscript(value=text) | ast.Starred(value=text) if self.of(root_of(text)) & TEXTS:
                return False
            case _:
                return self.has_empty

    def is_character(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=str(text)):
                return len(text) < 2
            case ast.Name():
                return Role.CHARACTER in self.of(node)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_character(body) and self.is_character(orelse)
            case ast.Call(func=ast.Name(id="chr"), args=[_], keywords=[]):
                return True
            case ast.Call(func=ast.Name(id="max" | "min"), args=[items], keywords=[]):
                return self.is_sequence(items)
            case ast.Call(func=ast.Name(id="max" | "min"), args=items, keywords=[]):
                return all(map(self.is_character, items))
            case ast.Call(func=ast.Attribute(value=value, attr=method), args=[], keywords=[]) if (
                method in CHANGED
            ):
                return self.is_character(value)
            case ast.Subscript() if is_entry(node):
                return True
            case ast.Subscript(value=ast.Subscript() | ast.Call() as value, slice=index) if not isinstance(
                index, ast.Slice
            ):
                return self.is_sequence(value)
            case ast.Starred(value=value):
                return self.is_sequence(value) or bool(self.of(value) & {Role.KEYED, Role.SET})
        use = use_of(node)
        return use is not None and bool(self.of(use[1]["it"]) & METHODS[use[0]])


@dataclass
class _Uses:
    """The uses of a name: values bound to it, and their number; items and keys put into it; texts whose
    characters are added to it. None stands for a value that is no expression of the function's."""

    bound: list[ast.expr] = field(default_factory=list)
    items: list[ast.expr | None] = field(default_factory=list)
    keys: list[ast.expr] = field(default_factory=list)
    added: list[ast.expr] = field(default_factory=list)
    stores: int = 0

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
            return bool(known) and all(map(names.is_character, self.bound))
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
        case ast.List() | ast.Call(func=ast.Name(id="list" | "sorted" | "deque")):
            return frozenset({Role.LIST})
        case ast.Subscript(slice=ast.Slice()):
            return frozenset({Role.LIST, Role.BUILT})
        case ast.Constant(value=str()) | ast.Name():
            return frozenset({Role.CHARACTER, Role.BUILT})
        case (
            ast.Call(func=ast.Attribute(attr="join"))
            | ast.Call(func=ast.Name(id="str" | "bin" | "oct" | "hex"))
        ):
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
            found = CharacterNames(one_kind, rebound, has_empty)
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
