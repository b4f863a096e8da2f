"""Characters of a text that is an argument, as their numbers: the text is a list of code points.

    for c in s:                          for c in s:
        if c == "a" or c in "xyz":           if c == 97 or c in (120, 121, 122):
            found += 1                ->         found += 1
    if s[0] != t[i]:                     if s[0] != t[i]:
        total += ord(s[0])                   total += s[0]

Characters are compared, looked for among others, given to `ord`, and bound to names that stand for nothing else; an
empty text that such a name begins with (`last = ""`) is -1. Texts are indexed, run over, and measured.

Does not handle: texts that are compared, joined or returned, and methods of texts and characters.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.desugar.building import located
from appyc.frontend.desugar.rewriting import rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import walk


def texts_run_over(function: ast.FunctionDef) -> frozenset[str]:
    """The names that are indexed or run over, and whose type is not tested: as arguments, texts are compiled for any
    characters."""
    tested = {
        node.args[0].id
        for node in walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
        if node.args and isinstance(node.args[0], ast.Name)
    }
    run_over = frozenset(
        inner.id
        for node in walk(function)
        for part in (_iterated(node) if isinstance(node, ast.For | ast.comprehension) else ())
        for inner in [_root(part)]
        if inner is not None
    ) | {n.value.id for n in walk(function) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)}
    return run_over - tested


def with_codes(source: Source, texts: frozenset[str]) -> Source:
    """The function, to which these parameters are lists of code points. Raises UnsupportedError for another use."""
    if not texts:
        return source
    return rewritten(source, lambda function: _Codes(source, texts, _characters(function, texts)))


def _root(node: ast.expr) -> ast.Name | None:
    """The name of which an expression is the whole, a slice, or these reversed."""
    match node:
        case (
            ast.Subscript(value=value, slice=ast.Slice())
            | ast.Call(func=ast.Name(id="reversed"), args=[value])
        ):
            return _root(value)
        case _:
            return node if isinstance(node, ast.Name) else None


def _iterated(loop: ast.For | ast.comprehension) -> list[ast.expr]:
    """What a loop runs over, with the arguments of `enumerate` and `zip` one by one."""
    match loop.iter:
        case ast.Call(func=ast.Name(id="enumerate"), args=[over, *_]):
            return [over]
        case ast.Call(func=ast.Name(id="zip"), args=args):
            return args
        case over:
            return [over]


def _bound_by(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that a node binds, with the value; of a loop over something the item of that, as `over[0]`."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                pairs = zip(target.elts, value.elts, strict=False) if isinstance(
                    target, ast.Tuple) and isinstance(value, ast.Tuple) else [(target, value)]  # fmt: skip
                yield from ((t.id, v) for t, v in pairs if isinstance(t, ast.Name))
        case ast.For(target=target) | ast.comprehension(target=target):
            items: list[ast.expr | None] = [
                ast.Subscript(p, ast.Constant(0), ast.Load()) for p in _iterated(node)
            ]
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            if len(names) == len(items) + 1:  # of `enumerate`
                items = [None, *items]
            yield from ((t.id, v) for t, v in zip(names, items, strict=False) if isinstance(t, ast.Name))


def _characters(function: ast.FunctionDef, texts: frozenset[str]) -> frozenset[str]:
    """The names that are bound to characters alone, by the statements that bind them."""
    nodes = [*ast.walk(function)]
    bound = [pair for node in nodes for pair in _bound_by(node)]
    stores = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    names = frozenset(
        name for name, _ in bound if stores.count(name) == sum(other == name for other, _ in bound)
    )
    while True:
        known = _Codes(None, texts, names)
        fitting = frozenset(
            name
            for name in names
            if all(value is not None and known.is_character(value) for other, value in bound if other == name)
        )
        if fitting == names:
            return frozenset(
                n for n in names if any(not isinstance(v, ast.Constant) for o, v in bound if o == n)
            )
        names = fitting


@dataclass
class _Codes(ast.NodeTransformer):
    """characters: names of such. Without a source nothing is rewritten."""

    source: Source | None
    texts: frozenset[str]
    characters: frozenset[str]

    def is_text(self, node: ast.expr) -> bool:
        root = _root(node)
        return root is not None and root.id in self.texts

    def is_character(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=str(text)):
                return len(text) < 2
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice | ast.Tuple):
                return self.is_text(value)
            case _:
                return isinstance(node, ast.Name) and node.id in self.characters

    def _code(self, node: ast.expr) -> ast.expr:
        """A character as its number."""
        match node:
            case ast.Constant(value=str(text)):
                return located(ast.Constant(ord(text) if text else -1), node)
            case ast.Subscript():
                self._within(node)
        return node

    def _within(self, node: ast.expr) -> None:
        """Rewrites the indices of a text."""
        while isinstance(node, ast.Subscript | ast.Call):
            if isinstance(node, ast.Subscript):
                node.slice = self.visit(node.slice)
            node = node.value if isinstance(node, ast.Subscript) else node.args[0]

    def _refuse(self, node: ast.expr) -> None:
        loc = self.source.loc(node) if self.source is not None else Loc("", 0)
        raise UnsupportedError("this use of a text is not compiled", loc,
                               hints=("characters are compared, and given to ord",))  # fmt: skip

    def _over(self, node: ast.For | ast.comprehension) -> None:
        for part in _iterated(node):
            if self.is_text(part):
                self._within(part)
            else:
                self.visit(part)

    def visit_For(self, node: ast.For) -> ast.AST:
        self._over(node)
        node.body, node.orelse = [self.visit(s) for s in node.body], [self.visit(s) for s in node.orelse]
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self._over(node)
        node.ifs = [self.visit(test) for test in node.ifs]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if name in self.characters:
                node.value = self._code(node.value)
                return node
            case ast.Assign(targets=[ast.Tuple() as target], value=ast.Tuple() as value):
                pairs = zip(target.elts, value.elts, strict=False)
                value.elts = [
                    self._code(v) if isinstance(t, ast.Name) and t.id in self.characters else self.visit(v)
                    for t, v in pairs
                ]
                return node
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        sides = [node.left, *node.comparators]
        if isinstance(node.ops[0], ast.In | ast.NotIn) and len(sides) == 2 and self.is_character(node.left):
            return self._membership(node)
        if not all(map(self.is_character, sides)) or all(isinstance(s, ast.Constant) for s in sides):
            return self.generic_visit(node)
        node.left, *node.comparators = map(self._code, sides)
        return node

    def _membership(self, node: ast.Compare) -> ast.AST:
        match node.comparators[0]:
            case ast.Constant(value=str(text)) as among if not isinstance(node.left, ast.Constant):
                items: list[ast.expr] = [ast.Constant(ord(c)) for c in dict.fromkeys(text)]
                node.comparators = [located(ast.Tuple(items, ast.Load()), among)]
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts) as among if all(
                map(self.is_character, elts)
            ):
                among.elts = [self._code(e) for e in elts]
            case among if self.is_text(among) and not (
                isinstance(node.left, ast.Constant) and not node.left.value
            ):
                self._within(among)
            case _:
                return self.generic_visit(node)
        node.left = self._code(node.left)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="ord"), args=[item], keywords=[]) if self.is_character(item):
                return node if isinstance(item, ast.Constant) else self._code(item)
            case ast.Call(func=ast.Name(id="len"), args=[text], keywords=[]) if self.is_text(text):
                self._within(text)
                return node
        return self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.While) -> ast.AST:
        if not self.is_text(node.test):
            return self.generic_visit(node)
        node.body, node.orelse = [self.visit(s) for s in node.body], [self.visit(s) for s in node.orelse]
        return node

    visit_While = visit_If

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        return (
            node if isinstance(node.op, ast.Not) and self.is_text(node.operand) else self.generic_visit(node)
        )

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if self.is_text(node.value):
            self._refuse(node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.texts | self.characters and isinstance(node.ctx, ast.Load):
            self._refuse(node)
        return node
