"""Expressions about characters, as those about their numbers: what `desugar/characters.py` does with expressions."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field
from typing import Any

from appyc.errors import UnsupportedError
from appyc.frontend.desugar.building import constant, expression, functions_of, located
from appyc.frontend.source import Source
from appyc.frontend.syntax.character_names import (
    CHANGED,
    CLASSIFIED,
    HOLDERS,
    NUMERALS,
    CharacterNames,
    Role,
    are_texts,
    is_entry,
    is_numeral,
    is_reversal,
    root_of,
    use_of,
)
from appyc.library import code_points, list_lookups, numerals
from appyc.library.primitives import code_points as code_points_of

_FUNCTIONS = functions_of(code_points) | functions_of(list_lookups) | functions_of(numerals)
_HINT = "characters are compared, tested, given to ord and int, put into lists, sets and dicts, and returned"


@dataclass
class CharacterUses(ast.NodeTransformer):
    """The expressions of a function in which characters and their containers stand, as those of code points.

    outside: names of texts that are constants of the module.
    known: names, and characters, that stand where they may. coded: texts that become numbers. begun: texts that become
    lists. copied: containers that may not share items with a list that is joined.
    """

    source: Source
    names: CharacterNames
    outside: frozenset[str]
    known: set[ast.AST] = field(default_factory=set)
    coded: set[ast.AST] = field(default_factory=set)
    begun: set[ast.AST] = field(default_factory=set)
    copied: set[ast.AST] = field(default_factory=set)

    def visit(self, node: ast.AST) -> Any:
        if (use := use_of(node)) is not None:
            self._use(node, use[1])
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            is_either = bool(self.names.of(node)) or self.names.is_character(node)
            is_left = isinstance(node, ast.Constant) or is_numeral(node)
            if is_either and node not in self.known and not is_left:
                raise self._refused(node)
        return super().visit(node)

    def _refused(self, node: ast.AST, hint: str = _HINT) -> UnsupportedError:
        return UnsupportedError("this use of a text is not compiled", self.source.loc(node), hint)

    def _use(self, node: ast.AST, found: dict[str, ast.expr]) -> None:
        own = self.names.of(found["it"])
        if own:
            it = ast.dump(found["it"])
            is_there_twice = "max" in found or "min" in found
            self.known |= (
                {n for n in ast.walk(node) if ast.dump(n) == it} if is_there_twice else {found["it"]}
            )
        if "key" in found and Role.KEYED in own:
            self._mark_characters(found["key"])
        if "item" in found and own & HOLDERS:
            self._mark_characters(found["item"])

    def _mark_characters(self, *characters: ast.expr) -> None:
        """Records nodes where characters may stand, which become their code points."""
        for node in characters:
            if isinstance(node, ast.IfExp):
                self._mark_characters(node.body, node.orelse)
            (self.coded if isinstance(node, ast.Constant) else self.known).add(node)

    def _mark_text(self, node: ast.expr) -> None:
        """Records that a node stands where a str, or another container of characters, may."""
        root = root_of(node)
        if root is not None and self.names.of(root) - {Role.CHARACTER}:
            self.known.add(root)

    def _call(self, function: str, *args: ast.expr) -> ast.expr:
        return ast.Call(_FUNCTIONS[function], [*args], [])

    def visit_Subscript(self, node: ast.Subscript | ast.Name) -> ast.AST:
        if isinstance(node, ast.Subscript):
            (self.coded.add if is_entry(node) else self._mark_text)(node.value)
        self.generic_visit(node)
        return expression("list(it)", {"it": node}, node) if node in self.begun else node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.outside:
            return located(ast.Call(constant(code_points_of), [node], []), node)
        return self.visit_Subscript(node)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str) or node not in self.coded | self.begun:
            return node
        if node in self.begun:
            return located(ast.List([ast.Constant(ord(c)) for c in node.value], ast.Load()), node)
        if len(node.value) > 1:
            return located(ast.Tuple([ast.Constant(ord(c)) for c in node.value], ast.Load()), node)
        return located(ast.Constant(ord(node.value) if node.value else -1), node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        left, right = node.left, node.comparators[0]
        sides = [left, *node.comparators]
        match node.ops:
            case [ast.In() | ast.NotIn() as op] if self.names.is_character(left):
                if (out := self._membership(node)) is not None:
                    self.generic_visit(out)
                    return out if isinstance(op, ast.In) else located(ast.UnaryOp(ast.Not(), out), node)
            case [ast.In() | ast.NotIn() as op] if (
                self.names.is_text(left)
                and are_texts(right)
                and not any(isinstance(n, ast.Call | ast.NamedExpr) for n in ast.walk(left))
            ):
                equal: list[ast.expr] = [ast.Compare(left, [ast.Eq()], [text]) for text in right.elts]
                found = self.visit(located(ast.BoolOp(ast.Or(), copy.deepcopy(equal)), node))
                return found if isinstance(op, ast.In) else located(ast.UnaryOp(ast.Not(), found), node)
            case [ast.Eq() | ast.NotEq() as op] if (
                all(map(self._is_whole, sides))
                and any(map(self.names.is_sequence, sides))
                and self._is_text(left) == self._is_text(right)
            ):
                for side in sides:
                    self._mark_text(side)
                out = located(self._equality(*sides), node)
                self.generic_visit(out)
                return out if isinstance(op, ast.Eq) else located(ast.UnaryOp(ast.Not(), out), node)
            case _ if all(map(self.names.is_character, sides)):
                if not all(isinstance(s, ast.Constant) for s in sides):
                    self._mark_characters(*sides)
        return self.generic_visit(node)

    def _equality(self, *sides: ast.expr) -> ast.expr:
        """The expression that compares two str values, or two lists, for equality."""
        texts = [side for side in sides if not isinstance(side, ast.Constant)]
        match [side for side in sides if side not in texts]:
            case [ast.Constant(value="")]:
                return expression("len(it) == 0", {"it": texts[0]}, texts[0])
            case [ast.Constant(value=str(text))]:
                characters: list[ast.expr] = [ast.Constant(ord(c)) for c in text]
                return self._call("equal", texts[0], ast.Tuple(characters, ast.Load()))
            case _:
                return self._call("equal", *sides)

    def _is_whole(self, node: ast.expr) -> bool:
        is_constant = isinstance(node, ast.Constant) and isinstance(node.value, str)
        return is_constant or self.names.is_sequence(node)

    def _is_text(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) or self.names.is_text(node)

    def _membership(self, node: ast.Compare) -> ast.expr | None:
        """Lets a character stand where it is looked for; another test where it may be an empty text."""
        match node.comparators[0]:
            case ast.Constant(value=str(text)) as among if not isinstance(node.left, ast.Constant):
                empty = [ast.Constant(-1)] if self.names.may_be_empty(node.left) else []
                items: list[ast.expr] = [*empty, *(ast.Constant(ord(c)) for c in dict.fromkeys(text))]
                node.comparators = [located(ast.Tuple(items, ast.Load()), among)]
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts) if all(
                map(self.names.is_character, elts)
            ):
                self._mark_characters(*elts)
            case among if self.names.of(root_of(among)) - {Role.VALUED, Role.CHARACTER} and not (
                isinstance(node.left, ast.Constant) and not node.left.value
            ):
                self._mark_text(among)
            case _:
                return None
        self._mark_characters(node.left)
        if self.names.is_text(node.comparators[0]) and self.names.may_be_empty(node.left):
            return located(self._call("within", node.comparators[0], node.left), node)
        return None

    def visit_Call(self, node: ast.Call) -> Any:
        match node:
            case ast.Call(func=ast.Name(id=name), args=args, keywords=words) if name in self.names.nested:
                by_name = ((word.value, word.arg or "") for word in words)
                for arg, parameter in (*zip(args, self.names.nested[name], strict=False), *by_name):
                    if self.names.roles.get(parameter):
                        (self._mark_characters if self.names.is_character(arg) else self._mark_text)(arg)
            case ast.Call(func=ast.Name(id="ord"), args=[item], keywords=[]) if self.names.is_character(item):
                if isinstance(item, ast.Constant):
                    return node
                self._mark_characters(item)
                may_be_empty = self.names.may_be_empty(item)
                number: ast.expr = self.visit(item)
                return located(self._call("code", number), node) if may_be_empty else number
            case ast.Call(func=ast.Name(id="chr"), args=[_], keywords=[]):
                node.func = _FUNCTIONS["numbered"]
            case ast.Call(func=ast.Name(id="int"), args=[text], keywords=[]) if self.names.is_text(text):
                self._mark_text(text)
                node.func = _FUNCTIONS["parsed"]
            case ast.Call(func=ast.Name(id=name), args=[number]) if is_numeral(node) and node in self.known:
                if self.names.is_character(number) or self.names.is_sequence(number):
                    raise self._refused(node, "the text of a text is left to Python")
                node.func = _FUNCTIONS[NUMERALS[name]]
            case ast.Call(func=ast.Name(id="int"), args=[item], keywords=[]) if self.names.is_character(item):
                self._mark_characters(item)
                node.func = _FUNCTIONS["digit"]
            case ast.Call(func=ast.Attribute(value=item, attr=method), args=[], keywords=[]) if (
                method in CLASSIFIED | CHANGED and self.names.is_character(item)
            ):
                self._mark_characters(item)
                return self.generic_visit(located(self._call(method, item), node))
            case ast.Call(
                func=ast.Attribute(value=text, attr="index" | "find" as method), args=[item], keywords=[]
            ) if self._is_text(text) and self.names.is_character(item):
                self._mark_text(text)
                self._mark_characters(item)
                self.coded.add(text)
                return self.generic_visit(located(self._call(f"{method}_in", text, item), node))
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="bin")), attr="count")):
                pass  # the number of bits that are set
            case ast.Call(func=ast.Attribute(value=text, attr="count"), args=[item]) if self.names.is_text(
                text
            ) and self.names.is_character(item):
                self._mark_text(text)
                self._mark_characters(item)
                if self.names.may_be_empty(item):
                    raise self._refused(item, "an empty text is counted in Python")
                return self.generic_visit(located(self._call("count", text, item), node))
            case ast.Call(func=ast.Name(id="max" | "min" as which), args=args, keywords=[]) if (
                self.names.is_character(node)
            ):
                if len(args) > 1:
                    self._mark_characters(*args)
                else:
                    self._mark_text(args[0])
                    largest = self._call("largest" if which == "max" else "smallest", *args)
                    return self.generic_visit(located(largest, node))
            case (
                ast.Call(func=ast.Name(id="len"), args=[ast.Call(func=ast.Name(id="set"), args=[text])])
                | ast.Call(func=ast.Name(id="len"), args=[text], keywords=[])
            ):
                self._mark_text(text)
            case ast.Call(func=ast.Attribute(attr="join"), args=[of]) if self.names.is_text(node):
                if self.names.has_empty:
                    raise self._refused(
                        node, "a list that may have empty texts is joined where it is returned"
                    )
                if is_reversal(of):
                    of = turned(of)
                self._mark_text(of)
                if node in self.copied and isinstance(of, ast.Name):
                    of = located(ast.Subscript(of, ast.Slice(), ast.Load()), node)
                return self.visit(of)
        return self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        self._mark_test(node.test)
        return self.generic_visit(node)

    visit_While = visit_IfExp = visit_If

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.Not):
            self._mark_test(node.operand)
        return self.generic_visit(node)

    def _mark_test(self, node: ast.expr) -> None:
        """Records containers whose truth a condition tests, which is allowed."""
        for value in node.values if isinstance(node, ast.BoolOp) else [node]:
            self._mark_text(value)


def turned(reversal: ast.Call) -> ast.expr:
    """`reversed(items)` as a list."""
    out = ast.Subscript(reversal.args[0], ast.Slice(step=ast.Constant(-1)), ast.Load())
    return located(out, reversal)
