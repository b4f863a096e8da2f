"""Names that stand for characters, and for texts, lists, sets and dicts of characters: what their uses give."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeGuard

from appyc.frontend.desugar.building import matched


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


def result_of(function: str) -> str:
    """What roles are found by for the results of a nested function."""
    return f"{function}()"


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
    """The names that have roles.

    rebound: names that are bound more than once. has_empty: whether an empty text is somewhere among characters; whole:
    the names of characters that are none. nested: the parameters of nested functions.
    """

    roles: Mapping[str, frozenset[Role]]
    rebound: frozenset[str]
    has_empty: bool = False
    whole: frozenset[str] = frozenset()
    nested: Mapping[str, list[str]] = field(default_factory=dict)

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
            case ast.Call(func=ast.Name(id=name)) if Role.CHARACTER in self.roles.get(
                result_of(name), NOTHING
            ):
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
