"""Loops over generators, whose text replaces them.

    def pairs(n):                         for i in range(m):
        for i in range(n):                    for j in range(i):
            for j in range(i):    ->              a, b = i, j
                yield i, j                        s += x[a] * x[b]
    for a, b in pairs(m):
        s += x[a] * x[b]

A generator is a function that the program calls by its name, or one of `itertools` (`appyc/library/iterating.py`).
Its variables get names of their own. A `break` of the loop leaves all of the generator's loops by a flag. A pragma
becomes that of the generator's loop, where there is one.

Requires: the generator's globals mean the same in the program.

Does not handle: `return` in the middle of a generator, `send`, generators in expressions, those that call themselves;
pragmas inside a loop that several `yield`s copy.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from inspect import CO_GENERATOR
from types import FunctionType
from typing import Any

from appyc.frontend.desugar.building import assigned, constant, located, negated, read, renamed, template
from appyc.frontend.desugar.range_names import indexed_range
from appyc.frontend.desugar.rewriting import Rewriter, ValueOf, rewritten
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.source import Source, capture, read_source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.liveness import names_assigned
from appyc.frontend.syntax.tree import bound_arguments, leaves_loop, names_in, own_jumps, walk
from appyc.library.table import text_of

YIELDS = (ast.Yield, ast.YieldFrom)


def without_generators(source: Source, value_of: ValueOf) -> Source:
    """The function, with its loops over generators replaced. One that cannot be stays as it is."""
    finder = Finder(source.ast, value_of)
    marked = {(node.lineno, node.col_offset) for node in read_pragmas(source)}
    return rewritten(
        source,
        lambda copied: _Loops(copied, finder, marked),
        lambda node: isinstance(node, ast.For) and finder.found(finder.numbered(node) or node.iter),
    )


@dataclass(frozen=True, slots=True)
class _Generator:
    """A generator's text. outer: its global names; None for a function of the program's own. is_of_library: it is
    appyc's text of an iterator."""

    tree: ast.FunctionDef
    outer: Mapping[str, object] | None
    is_of_library: bool = False


class Finder:
    """The generators that expressions call."""

    def __init__(self, function: ast.FunctionDef, value_of: ValueOf) -> None:
        self.value_of = value_of
        self._read: dict[FunctionType, _Generator] = {}
        self.inner = {
            n.name: _Generator(n, None)
            for n in walk(function)[1:]
            if isinstance(n, ast.FunctionDef) and yields(n)
        }

    def numbered(self, loop: ast.For) -> ast.expr | None:
        """The iterable inside a loop's `enumerate` that counts from 0; None for other loops."""
        match loop:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(), ast.Name() | ast.Tuple()]),
                iter=ast.Call(func=func, args=[items], keywords=[]),
            ):
                return items if self.value_of(func) is enumerate else None
            case _:
                return None

    def found(self, node: ast.expr) -> _Generator | None:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in self.inner:
                return self.inner[name]
            case ast.Call(func=func):
                value = self.value_of(func)
                text = text_of(value) if value is not None else None
                generator = text.function if text is not None else value
                if not isinstance(generator, FunctionType) or not generator.__code__.co_flags & CO_GENERATOR:
                    return None
                if generator.__closure__:
                    return None
                if generator not in self._read:
                    tree = read_source(capture(generator)).ast
                    self._read[generator] = _Generator(tree, generator.__globals__, text is not None)
                return self._read[generator]
            case _:
                return None


class _Loops(Rewriter):
    def __init__(self, function: ast.FunctionDef, finder: Finder, marked: set[tuple[int, int]]) -> None:
        super().__init__(function, finder.value_of)
        self.finder, self.marked = finder, marked
        self.stored = names_assigned([function]) | parameter_names(function)
        self.active: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node if yields(node) else self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        items = self.finder.numbered(node)
        if items is not None and self.finder.found(items) is not None:
            assert isinstance(node.target, ast.Tuple)
            count = self.unused("count")
            number, node.target = node.target.elts
            step = template("number = count; count += 1", {"number": number, "count": count}, node)
            node.iter, node.body = items, [*step, *node.body]
            return [located(assigned(count, 0), node), *self.block([node])]
        generator = self.finder.found(node.iter)
        if generator is None or generator.tree.name in self.active:
            return self.generic_visit(node)
        assert isinstance(node.iter, ast.Call)
        given = _arguments(generator.tree, node.iter)
        if given is None or _is_refused(generator.tree):
            return self.generic_visit(node)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        new = self._inlined(node, node.iter, generator, given)
        if new is None:
            return node
        self.active.append(generator.tree.name)
        out = self.block(new)
        self.active.pop()
        return out

    def _inlined(
        self, node: ast.For, call: ast.Call, generator: _Generator, given: Mapping[str, ast.expr]
    ) -> list[ast.stmt] | None:
        """The statements instead of a loop; None where there are none."""
        start = 1 if ast.get_docstring(generator.tree, clean=False) is not None else 0
        body = copy.deepcopy(generator.tree.body[start:])
        if body and isinstance(body[-1], ast.Return):
            body.pop()
        binding = self._bound(generator, body, given, node)
        if binding is None:
            return None
        before, names = binding
        for part in walk(*body):
            ast.copy_location(part, call)
        body = _decided(renamed(body, names))
        copies = sum(isinstance(part, YIELDS) for part in walk(*body))
        if copies > 1 and any(self._is_marked(part) for part in walk(*node.body)):
            return None  # a copy of a loop has no pragma
        done = self.unused("done") if leaves_loop(node) else None
        orelse = node.orelse
        body = Yields(node, done, lambda: self.unused("sent")).block(body, depth=0)
        if self._is_marked(node):
            if len(body) != 1 or not isinstance(loop := body[0], ast.For):
                return None
            node.target, node.iter, node.body, node.orelse = loop.target, loop.iter, loop.body, []
            body = [node]
        if done is not None:
            before = [*before, assigned(done, False)]
            orelse = [ast.If(negated(read(done)), orelse, [])] if orelse else []
        if generator.outer is not None and not generator.is_of_library:
            before = [ast.Expr(call.func), *before]  # the code depends on what the name is bound to
        out = [*before, *body, *orelse]
        for part in walk(*out):
            if isinstance(part, ast.expr | ast.stmt) and not hasattr(part, "lineno"):
                ast.copy_location(part, node)
        return out

    def _is_marked(self, node: ast.AST) -> bool:
        """Whether a statement has a pragma."""
        return isinstance(node, ast.stmt) and (node.lineno, node.col_offset) in self.marked

    def _bound(
        self, generator: _Generator, body: list[ast.stmt], given: Mapping[str, ast.expr], node: ast.For
    ) -> tuple[list[ast.stmt], dict[str, str | ast.expr]] | None:
        """The statements that bind a generator's parameters, and what its names stand for; None where a name has no
        meaning in the caller."""
        tree = generator.tree
        own = names_assigned(body)
        before: list[ast.stmt] = []
        names: dict[str, str | ast.expr] = {name: self.unused(f"{tree.name}_{name}") for name in own}
        rebound = names_assigned([node.target, *node.body])
        for name, value in given.items():
            is_range = isinstance(value, ast.Call) and self.finder.value_of(value.func) is range
            if (
                generator.is_of_library
                and not is_range
                and _is_indexed(body, name)
                and changes_elements(node.body, names_in(value))
            ):
                return None  # the iterator has kept what the items were
            if name not in own and (_is_fixed(value, rebound) or _is_run_over_first(body, name)):
                names[name] = value
                continue
            new = f"{tree.name}_{name}"
            new = indexed_range(new) if is_range and generator.is_of_library else new
            variable = names.setdefault(name, self.unused(new))
            assert isinstance(variable, str)
            before.append(assigned(variable, value))
        free = names_in(*body) - names.keys()
        if generator.outer is None:
            return before, names
        for name in free:
            outside = generator.outer.get(name, getattr(builtins, name, None))
            if generator.is_of_library and name in generator.outer:
                names[name] = constant(outside)
            elif name in self.stored or self.finder.value_of(read(name)) is not outside:
                return None
        return before, names


def _is_fixed(value: ast.expr, rebound: frozenset[str]) -> bool:
    """Whether an expression has one value as long as these names alone are bound anew."""
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id not in rebound)


def _decided(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements without the branches that a comparison of constants never takes."""
    match body:
        case [ast.If(test=ast.Compare(ast.Constant(left), [ast.Eq()], [ast.Constant(right)])) as stmt, *rest]:
            return [*_decided(stmt.body if left == right else stmt.orelse), *_decided(rest)]
        case [stmt, *rest]:
            return [stmt, *_decided(rest)]
        case _:
            return []


def _is_indexed(body: list[ast.stmt], name: str) -> bool:
    items = (n.value for n in walk(*body) if isinstance(n, ast.Subscript))
    return any(isinstance(item, ast.Name) and item.id == name for item in items)


def changes_elements(body: list[ast.stmt], names: Set[str] | None = None) -> bool:
    """Whether statements store into elements, or call something for its effect: an `append` to a list that has none of
    the names is none."""

    def is_effect(node: ast.AST) -> bool:
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"))):
                return names is None or name in names
            case ast.Expr(value=ast.Call()):
                return True
            case ast.Subscript(ctx=ctx) | ast.Attribute(ctx=ctx):
                return not isinstance(ctx, ast.Load)
            case _:
                return False

    return any(is_effect(node) for stmt in body for node in walk(stmt))


def _is_run_over_first(body: list[ast.stmt], name: str) -> bool:
    """Whether the first statement is a loop over a parameter, which is read nowhere else."""
    uses = [n for n in walk(*body) if isinstance(n, ast.Name) and n.id == name]
    return len(uses) == 1 and isinstance(body[0], ast.For) and body[0].iter is uses[0]


def _is_refused(tree: ast.FunctionDef) -> bool:
    """Whether a generator has what no loop has instead."""
    *body, last = tree.body
    inside = body if isinstance(last, ast.Return) else [*body, last]
    nodes = walk(*inside)
    statements = [n.value for n in nodes if isinstance(n, ast.Expr)]
    return any(
        isinstance(
            n, ast.Return | ast.Try | ast.With | ast.Global | ast.Nonlocal | ast.FunctionDef | ast.Lambda
        )
        or (isinstance(n, YIELDS) and n not in statements)
        for n in nodes
    )


def _arguments(tree: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """The values of a generator's parameters in a call; None where they do not match, or some are gathered."""
    spec = tree.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    given = bound_arguments(tree, call)
    if given is None or spec.vararg or spec.kwarg or spec.kwonlyargs or len(call.args) > len(names):
        return None
    defaults = dict(zip(reversed(names), reversed(spec.defaults), strict=False))
    given = {n: d for n, d in defaults.items() if isinstance(d, ast.Constant)} | given
    return given if given.keys() == {*names} else None


# ---------------------------------------------------------------- the body at each yield


def yields(tree: ast.AST) -> bool:
    return any(isinstance(node, YIELDS) for node in walk(tree))


class Yields:
    """Replaces the yields of a generator by a loop's body."""

    def __init__(self, loop: ast.For, done: str | None, sent: Callable[[], str]) -> None:
        self.loop, self.done, self.sent = loop, done, sent
        self.skips = any(own_jumps(stmt, (ast.Continue,)) for stmt in loop.body)
        self.copy = copy.deepcopy(loop)

    def block(self, body: list[ast.stmt], depth: int) -> list[ast.stmt]:
        """The statements with their yields replaced; depth: how many loops of the generator are around them."""
        out: list[ast.stmt] = []
        for at, stmt in enumerate(body):
            ends = yields(stmt)  # whether a break of the loop may have ended a loop in the statement
            match stmt:
                case ast.Expr(value=ast.Yield(value=value)):
                    out += self._body(value or ast.Constant(None), depth)
                    ends = depth == 0
                case ast.Expr(value=ast.YieldFrom(value=value)):
                    name = self.sent()
                    out.append(
                        ast.For(ast.Name(name, ast.Store()), value, self._body(read(name), depth + 1), [])
                    )
                case ast.For() | ast.While():
                    stmt.body = self.block(stmt.body, depth + 1)
                    out.append(stmt)
                case ast.If():
                    stmt.body, stmt.orelse = self.block(stmt.body, depth), self.block(stmt.orelse, depth)
                    ends = ends and any(isinstance(n, ast.For | ast.While) for n in walk(stmt))
                    out.append(stmt)
                case _:
                    out.append(stmt)
            if self.done is None or not ends:
                continue
            if depth:
                out.append(ast.If(read(self.done), [ast.Break()], []))
            elif rest := self.block(body[at + 1 :], depth):
                return [*out, ast.If(negated(read(self.done)), rest, [])]
        return out

    def _body(self, value: ast.expr, depth: int) -> list[ast.stmt]:
        target, body = self.loop.target, self.loop.body  # these have the pragmas
        self.loop = copy.deepcopy(self.copy)
        if self.done is not None:
            body = _Breaks(self.done).block(body)
        out: list[ast.stmt] = [ast.Assign([target], value)]
        if not (self.skips or (self.done is not None and depth == 0)):
            return [*out, *body]
        once = ast.Tuple([ast.Constant(0)], ast.Load())
        out.append(ast.For(ast.Name(self.sent(), ast.Store()), once, body, []))
        if self.done is not None and depth:
            out.append(ast.If(read(self.done), [ast.Break()], []))
        return out


class _Breaks(Rewriter):
    """Sets a flag before each `break` of a loop's own."""

    def __init__(self, done: str) -> None:
        self.done = done

    def visit_Break(self, node: ast.Break) -> Any:
        return [assigned(self.done, True), node]

    def visit_For(self, node: ast.For | ast.While) -> Any:
        node.orelse = self.block(node.orelse)
        return node

    visit_While = visit_For
