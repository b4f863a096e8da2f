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
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from appyc.errors import UnsupportedError
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
        root.id
        for node in walk(function)
        for part in (_iterated(node) if isinstance(node, ast.For | ast.comprehension) else ())
        if (root := _root(part)) is not None
    ) | {n.value.id for n in walk(function) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)}
    return run_over - tested


def with_codes(source: Source, texts: frozenset[str]) -> Source:
    """The function, to which these parameters are lists of code points. Raises UnsupportedError for another use."""
    if not texts:
        return source
    return rewritten(source, lambda copied: _Codes(source, texts, _characters(source, copied, texts)))


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


def _characters(source: Source, function: ast.FunctionDef, texts: frozenset[str]) -> frozenset[str]:
    """The names that are bound to characters alone, by the statements that bind them."""
    stores = Counter(
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )
    bound: dict[str, list[ast.expr | None]] = {}
    for name, value in (pair for node in ast.walk(function) for pair in _bound_by(node)):
        bound.setdefault(name, []).append(value)
    names = {name for name, values in bound.items() if stores[name] == len(values)}
    lost = names
    while lost:
        known = _Codes(source, texts, frozenset(names))
        lost = {n for n in names if not all(v is not None and known.is_character(v) for v in bound[n])}
        names -= lost
    return frozenset(n for n in names if not all(isinstance(v, ast.Constant) for v in bound[n]))


@dataclass
class _Codes(ast.NodeTransformer):
    """characters: names of such. known: the texts and characters that stand where they may."""

    source: Source
    texts: frozenset[str]
    characters: frozenset[str]
    known: set[ast.expr] = field(default_factory=set)

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

    def _allow(self, node: ast.expr) -> None:
        self.known.add(node)
        while isinstance(node, ast.Subscript | ast.Call):
            node = node.value if isinstance(node, ast.Subscript) else node.args[0]
            self.known.add(node)

    def _text(self, node: ast.expr) -> None:
        """Where a text may stand."""
        if self.is_text(node):
            self._allow(node)

    def _code(self, node: ast.expr) -> ast.expr:
        """A character as its number."""
        if isinstance(node, ast.Constant):
            return located(ast.Constant(ord(node.value) if node.value else -1), node)  # type: ignore[arg-type]
        self._allow(node)
        return node

    def _refuse(self, node: ast.expr) -> None:
        raise UnsupportedError("this use of a text is not compiled", self.source.loc(node),
                               "characters are compared, and given to ord")  # fmt: skip

    def visit_For(self, node: ast.For | ast.comprehension) -> ast.AST:
        for part in _iterated(node):
            self._text(part)
        return self.generic_visit(node)

    visit_comprehension = visit_For

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if name in self.characters:
                node.value = self._code(node.value)
            case ast.Assign(targets=[ast.Tuple() as target], value=ast.Tuple() as value):
                value.elts = [
                    self._code(v) if isinstance(t, ast.Name) and t.id in self.characters else v
                    for t, v in zip(target.elts, value.elts, strict=False)
                ]
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        sides = [node.left, *node.comparators]
        if isinstance(node.ops[0], ast.In | ast.NotIn) and len(sides) == 2 and self.is_character(node.left):
            self._membership(node)
        elif all(map(self.is_character, sides)) and not all(isinstance(s, ast.Constant) for s in sides):
            node.left, *node.comparators = map(self._code, sides)
        return self.generic_visit(node)

    def _membership(self, node: ast.Compare) -> None:
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
                self._allow(among)
            case _:
                return
        node.left = self._code(node.left)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="ord"), args=[item], keywords=[]) if self.is_character(item):
                return node if isinstance(item, ast.Constant) else self.visit(self._code(item))
            case ast.Call(func=ast.Name(id="len"), args=[text], keywords=[]):
                self._text(text)
        return self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.While) -> ast.AST:
        self._text(node.test)
        return self.generic_visit(node)

    visit_While = visit_If

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.Not):
            self._text(node.operand)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if self.is_text(node.value) and node not in self.known:
            self._refuse(node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        is_named = node.id in self.texts | self.characters and isinstance(node.ctx, ast.Load)
        if is_named and node not in self.known:
            self._refuse(node)
        return node
