"""Characters of a text that is an argument, as their numbers: the text is a list of code points.

    for c in s:                          for c in s:
        if c == "a" or c in "xyz":           if c == 97 or c in (120, 121, 122):
            found += 1                           found += 1
        elif c.isdigit():             ->     elif isdigit(c):
            stack.append(c)                      stack.append(c)
    counts[s[0]] = 1                     counts[s[0]] = 1
    return "".join(stack)                return made_text(stack)

Characters are compared, looked for among others, tested, given to `ord` and `int`, and returned; they are items of
lists and sets, keys and values of dicts, and bound to names that stand for nothing else (`syntax/character_names.py`);
an empty text among them (`last = ""`) is -1. A text that gets characters at its end is a list. Texts
are indexed, run over, measured, compared, copied to lists, and parts of them returned. The tests and conversions are
those of `appyc.library.code_points`.

Does not handle: texts that are added up, given to other functions, or put into containers; other methods of texts.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from appyc.errors import UnsupportedError
from appyc.frontend.desugar.building import constant, expression, functions_of, located, read, template
from appyc.frontend.desugar.joined_characters import with_joined_lists
from appyc.frontend.desugar.rewriting import rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.character_names import (
    CHANGED,
    CLASSIFIED,
    HOLDERS,
    CharacterNames,
    Role,
    bound_by,
    character_names,
    iterated,
    root_of,
    use_of,
)
from appyc.frontend.syntax.tree import bindings_of, walk
from appyc.frontend.types.values import ReturnedContainer
from appyc.library import code_points, list_lookups

_FUNCTIONS = functions_of(code_points) | functions_of(list_lookups)
_HINT = "characters are compared, tested, given to ord and int, put into lists, sets and dicts, and returned"


def with_codes(source: Source, texts: frozenset[str]) -> Source:
    """The function, to which these parameters are lists of code points. Raises UnsupportedError for another use."""
    if not texts:
        return source
    source = with_joined_lists(source)
    names = character_names(source.ast, texts)
    if (over := next(filter(names.is_run_over, walk(source.ast)), None)) is not None:
        raise UnsupportedError("the order of a set of texts is another one in each process", source.loc(over),
                               "run over sorted(s), or over the text")  # fmt: skip
    return rewritten(source, lambda _: _Codes(source, names))


@dataclass
class _Codes(ast.NodeTransformer):
    """known: names, and characters, that stand where they may.
    coded: texts that become numbers; begun: lists. copied: what a list that is joined may not share items with."""

    source: Source
    names: CharacterNames
    known: set[ast.AST] = field(default_factory=set)
    coded: set[ast.AST] = field(default_factory=set)
    begun: set[ast.AST] = field(default_factory=set)
    copied: set[ast.AST] = field(default_factory=set)

    def visit(self, node: ast.AST) -> Any:
        if (use := use_of(node)) is not None:
            self._use(node, use[1])
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            is_either = bool(self.names.of(node)) or self.names.is_character(node)
            if is_either and node not in self.known and not isinstance(node, ast.Constant):
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
        self.generic_visit(node)
        return expression("list(it)", {"it": node}, node) if node in self.begun else node

    visit_Name = visit_Subscript

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str) or node not in self.coded | self.begun:
            return node
        if node in self.begun:
            return located(ast.List([ast.Constant(ord(c)) for c in node.value], ast.Load()), node)
        return located(ast.Constant(ord(node.value) if node.value else -1), node)

    # ------------------------------------------------------------ statements

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
        elif not own or (root is value and Role.VALUED in own) or _is_iterator(value):
            return value  # no text, or it is refused
        self._mark_text(value)
        if makes == "text" and isinstance(value, ast.Call):  # `"".join(items)`
            value = value.args[0]
        if _is_iterator(value):
            value = _turned(value)
        if makes != "character" and not own & {Role.KEYED, Role.SET}:
            value = self._call("codes", value)
        return located(ast.Call(constant(ReturnedContainer(makes)), [value], []), value)

    # ------------------------------------------------------------ expressions

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
                and _are_texts(right)
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
            case ast.Call(func=ast.Name(id="ord"), args=[item], keywords=[]) if self.names.is_character(item):
                if isinstance(item, ast.Constant):
                    return node
                self._mark_characters(item)
                may_be_empty = self.names.may_be_empty(item)
                number: ast.expr = self.visit(item)
                return located(self._call("code", number), node) if may_be_empty else number
            case ast.Call(func=ast.Name(id="chr"), args=[_], keywords=[]):
                node.func = _FUNCTIONS["numbered"]
            case ast.Call(func=ast.Name(id="int"), args=[item], keywords=[]) if self.names.is_character(item):
                self._mark_characters(item)
                node.func = _FUNCTIONS["digit"]
            case ast.Call(func=ast.Attribute(value=item, attr=method), args=[], keywords=[]) if (
                method in CLASSIFIED | CHANGED and self.names.is_character(item)
            ):
                self._mark_characters(item)
                return self.generic_visit(located(self._call(method, item), node))
            case ast.Call(func=ast.Attribute(value=text, attr="count"), args=[item]) if self.names.is_text(
                text
            ) and self.names.is_character(item):
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
            case ast.Call(func=ast.Name(id="len"), args=[text], keywords=[]):
                self._mark_text(text)
            case ast.Call(func=ast.Attribute(attr="join"), args=[of]) if self.names.is_text(node):
                if self.names.has_empty:
                    raise self._refused(
                        node, "a list that may have empty texts is joined where it is returned"
                    )
                if _is_iterator(of):
                    of = _turned(of)
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


def _are_texts(among: ast.expr) -> TypeGuard[ast.Tuple | ast.List]:
    """Whether texts are written out, so that a text may be compared with each."""
    if not isinstance(among, ast.Tuple | ast.List) or len(among.elts) < 2:
        return False
    return all(isinstance(item, ast.Constant) and isinstance(item.value, str) for item in among.elts)


def _is_iterator(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "reversed"


def _turned(reversal: ast.Call) -> ast.expr:
    """`reversed(items)` as a list."""
    out = ast.Subscript(reversal.args[0], ast.Slice(step=ast.Constant(-1)), ast.Load())
    return located(out, reversal)
