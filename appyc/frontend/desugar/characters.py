"""Characters of a text, as their numbers: the text is a list of code points.

    for c in s:                          for c in s:
        if c == "a" or c in "xyz":           if c == 97 or c in (120, 121, 122):
            found += 1                           found += 1
        elif c.isdigit():             ->     elif isdigit(c):
            stack.append(c)                      stack.append(c)
    counts[s[0]] = 1                     counts[s[0]] = 1
    for d in str(n):                     for d in decimal(n):
        total += int(d)                      total += digit(d)
    bases = "ACGT"[n % 4]                bases = (65, 67, 71, 84)[n % 4]
    return "".join(stack)                return made_text(stack)

Texts are arguments, those of integers (`str(n)`, `bin(n)`), and constants that are indexed.

Characters are compared, looked for among others, tested, given to `ord` and `int`, and returned; they are items of
lists and sets, keys and values of dicts, and bound to names that stand for nothing else (`syntax/character_names.py`);
an empty text among them (`last = ""`) is -1. A text that gets characters at its end is a list. Texts
are indexed, run over, measured, compared, copied to lists, and parts of them returned. The tests and conversions are
those of `appyc.library.code_points` and `appyc.library.numerals`.

Functions that are given characters or texts become nested ones (`text_helpers.py`).

Does not handle: texts that are added up, returned by other functions, or put into containers; other methods of texts.
"""

from __future__ import annotations

import ast
from typing import Any

from appyc.errors import UnsupportedError
from appyc.frontend.desugar.building import constant, located, read, template
from appyc.frontend.desugar.character_uses import CharacterUses, turned
from appyc.frontend.desugar.comprehension_loops import LIST, Comprehension, folded, with_own_names
from appyc.frontend.desugar.hoisting import Hoisting
from appyc.frontend.desugar.rewriting import ValueOf, rewritten
from appyc.frontend.desugar.text_helpers import with_nested_helpers
from appyc.frontend.source import Source
from appyc.frontend.syntax.character_names import (
    HOLDERS,
    Role,
    is_entry,
    is_numeral,
    is_reversal,
    iterated,
    root_of,
)
from appyc.frontend.syntax.character_roles import bound_by, character_names
from appyc.frontend.syntax.tree import bindings_of, walk
from appyc.frontend.types.values import ReturnedContainer


def with_codes(source: Source, texts: frozenset[str], value_of: ValueOf) -> Source:
    """The function, to which these parameters are lists of code points. Raises UnsupportedError for another use of
    them."""
    outside = frozenset(
        node.value.id
        for node in walk(source.ast)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        if isinstance(value_of(node.value), str)
    )
    if texts:
        return _with_codes(with_nested_helpers(source, texts | outside, value_of), texts, outside)
    if not outside and not any(map(_makes_text, walk(source.ast))):
        return source
    try:
        return _with_codes(source, texts, outside)
    except UnsupportedError:  # lowering finds what it cannot compile
        return source


def _makes_text(node: ast.AST) -> bool:
    match node:
        case ast.Assign(value=ast.Constant(value=str())):
            return True
        case _:
            return is_numeral(node) or is_entry(node)


def _with_codes(source: Source, texts: frozenset[str], outside: frozenset[str]) -> Source:
    """outside: texts of the module that are indexed."""
    source = _with_joined_lists(source)
    names = character_names(source.ast, texts | outside)
    if (over := next(filter(names.is_run_over, walk(source.ast)), None)) is not None:
        raise UnsupportedError("the order of a set of texts is another one in each process", source.loc(over),
                               "run over sorted(s), or over the text")  # fmt: skip
    return rewritten(source, lambda _: _Codes(source, names, outside))


class _Codes(CharacterUses):
    """Statements about characters, as those about their numbers."""

    def visit_For(self, node: ast.For | ast.comprehension) -> ast.AST:
        for part in iterated(node):
            match part:
                case ast.Call(func=ast.Attribute(value=of, attr="items" | "values" | "keys")):
                    self._mark_text(of)
                case _:
                    self._mark_text(part)
                    self.copied.add(part)
        for name, value in bound_by(node):
            is_other = Role.CHARACTER not in self.names.of(read(name))
            if is_other and self.names.is_character(value):
                raise self._refused(node.target, "give the character a name that stands for nothing else")
        return self.generic_visit(node)

    visit_comprehension = visit_For

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node:
            case ast.Assign(targets=[name], value=ast.BinOp(right=part)) if Role.BUILT in self.names.of(name):
                return self._extended(name, part, node)  # `text = text + part`
        for target, value in bindings_of(node):
            own = self.names.of(target.value if isinstance(target, ast.Subscript) else target)
            if Role.BUILT in own and isinstance(target, ast.Name):
                is_shared = isinstance(value, ast.Subscript) and target.id not in self.names.rebound
                (self.known if is_shared else self.begun).add(value)
                self._mark_text(value)
            elif Role.CHARACTER in own or (isinstance(target, ast.Subscript) and own & HOLDERS):
                self._mark_characters(value)
            elif own and isinstance(target, ast.Name):
                self._container(value, own)
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None or not self.names.of(node.target):
            return self.generic_visit(node)
        return self.visit(located(ast.Assign([node.target], node.value), node))

    def _container(self, value: ast.expr, own: frozenset[Role]) -> None:
        """A new container of characters."""
        match value:
            case ast.List(elts=items) | ast.Set(elts=items):
                self._mark_characters(*items)
            case ast.Dict(keys=keys, values=items):
                self._mark_characters(*(k for k in keys if k is not None and Role.KEYED in own))
                self._mark_characters(*(items if Role.VALUED in own else ()))
            case ast.Call(args=[text]):
                self._mark_text(text)
        self._mark_text(value)
        self.copied.add(value)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if self.names.of(node.target) & {Role.BUILT, Role.LIST}:
            return self._extended(node.target, node.value, node)
        return self.generic_visit(node)

    def _extended(self, text: ast.expr, part: ast.expr, at: ast.stmt) -> ast.stmt:
        is_one = self.names.is_character(part)
        if isinstance(part, ast.List):
            self._mark_characters(*part.elts)
        (self._mark_characters if is_one else self._mark_text)(part)
        method = "it.append(part)" if is_one else "it.extend(part)"
        if is_one and self.names.may_be_empty(part):
            if not isinstance(part, ast.Name | ast.Constant):
                raise self._refused(part, "give the character a name of its own")
            method = f"if part >= 0:\n    {method}"
        (out,) = template(method, {"it": ast.unparse(text), "part": self.visit(part)}, at)
        return out

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.known.add(node.value)  # a character of which nothing is done
        match node.value:
            case ast.Call(func=ast.Attribute(value=list_, attr="extend"), args=[text]):
                self._mark_text(list_)
                self._mark_text(text)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return _Nested(**vars(self)).generic_visit(node)

    def visit_Return(self, node: ast.Return) -> Any:
        match node.value:
            case ast.Tuple(elts=elts):
                node.value.elts = list(map(self._returned, elts))
            case ast.expr() as value:
                node.value = self._returned(value)
        return self.generic_visit(node)

    def _returned(self, value: ast.expr) -> ast.expr:
        root = root_of(value)
        own = self.names.of(root)
        makes = "text" if self.names.is_text(value) else "characters"
        if self.names.is_character(value):
            makes = "character"
            self._mark_characters(value)
        elif not own or (root is value and Role.VALUED in own) or is_reversal(value):
            return value  # no text, or it is refused
        self._mark_text(value)
        if makes == "text" and isinstance(value, ast.Call):  # `"".join(items)`
            value = value.args[0]
        if is_reversal(value):
            value = turned(value)
        if makes != "character" and not own & {Role.KEYED, Role.SET}:
            value = self._call("codes", value)
        return located(ast.Call(constant(ReturnedContainer(makes)), [value], []), value)


class _Nested(_Codes):
    """The statements of a nested function."""

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if node.value is not None and self.names.is_character(node.value):
            self._mark_characters(node.value)
        return self.generic_visit(node)


# ---------------------------------------------------------------- comprehensions that are joined


def _with_joined_lists(source: Source) -> Source:
    """The function, in which `"".join` gets lists alone: the items of comprehensions are collected in front of it."""
    return rewritten(source, lambda copied: _Joined(copied, lambda _: None), _joined)


def _joined(node: ast.AST) -> Comprehension | None:
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=""), attr="join"),
            args=[ast.ListComp() | ast.GeneratorExp() as items],
        ):
            return items
        case _:
            return None


class _Joined(Hoisting):
    def instead(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr | None:
        if (items := _joined(node)) is None:
            return None
        assert isinstance(node, ast.Call)
        name = self.unused("characters")
        before += folded(with_own_names(items, self.unused), name, LIST)
        node.args = [located(read(name), node)]
        return node
