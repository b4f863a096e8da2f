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

Requires: the function's globals mean the same in the program, or are modules and functions of the library.

Does not handle: `return` in the middle of a generator, `send`, generators in expressions, those that call themselves.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import CO_GENERATOR
from types import FunctionType
from typing import Any

from appyc.frontend.desugar.building import assigned, constant, negated, read, renamed
from appyc.frontend.desugar.rewriting import ValueOf, listed, rewritten
from appyc.frontend.desugar.yields import YIELDS, OfRange, Yields, yields
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.source import Source, capture, read_source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.tree import leaves_loop, walk
from appyc.ir.names import unused
from appyc.library.table import text_of


def without_generators(source: Source, value_of: ValueOf) -> Source:
    """The function, with its loops over generators replaced. One that cannot be stays as it is."""
    loops = [
        node for node in walk(source.ast) if isinstance(node, ast.For) and isinstance(node.iter, ast.Call)
    ]
    finder = _Finder(source.ast, value_of)
    if not any(finder.found(loop.iter) for loop in loops):
        return source
    marked = {(node.lineno, node.col_offset) for node in read_pragmas(source)}
    return rewritten(source, lambda copied: _Loops(copied, value_of, marked))


@dataclass(frozen=True, slots=True)
class _Generator:
    """A generator's text. outer: what its global names stand for; None where they mean the same in the program."""

    tree: ast.FunctionDef
    outer: Mapping[str, object] | None


class _Finder:
    """The generators that expressions call."""

    def __init__(self, function: ast.FunctionDef, value_of: ValueOf) -> None:
        self.value_of = value_of
        self.inner = {
            n.name: _Generator(n, None)
            for n in walk(function)
            if isinstance(n, ast.FunctionDef) and n is not function and yields(n)
        }

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
                outer = None if text is None else generator.__globals__
                return _Generator(read_source(capture(generator)).ast, outer)
            case _:
                return None


class _Loops(ast.NodeTransformer):
    def __init__(self, function: ast.FunctionDef, value_of: ValueOf, marked: set[tuple[int, int]]) -> None:
        self.finder, self.marked = _Finder(function, value_of), marked
        self.taken = {n.id for n in walk(function) if isinstance(n, ast.Name)} | parameter_names(function)
        self.stored = _stored(function) | parameter_names(function)
        self.active: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node if yields(node) else self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        generator = self.finder.found(node.iter)
        if generator is None or generator.tree.name in self.active:
            return self.generic_visit(node)
        assert isinstance(node.iter, ast.Call)
        given = _arguments(generator.tree, node.iter)
        if given is None or _is_refused(generator.tree):
            return self.generic_visit(node)
        node.body = [new for stmt in node.body for new in listed(self.visit(stmt))]
        node.orelse = [new for stmt in node.orelse for new in listed(self.visit(stmt))]
        new = self._inlined(node, node.iter, generator, given)
        if new is None:
            return node
        self.active.append(generator.tree.name)
        out = [part for stmt in new for part in listed(self.visit(stmt))]
        self.active.pop()
        return out

    def unused(self, name: str) -> str:
        out = unused(name, self.taken)
        self.taken.add(out)
        return out

    def _inlined(
        self, node: ast.For, call: ast.Call, generator: _Generator, given: Mapping[str, ast.expr]
    ) -> list[ast.stmt] | None:
        """The statements instead of a loop; None where there are none."""
        body = [stmt for stmt in copy.deepcopy(generator.tree.body) if not _is_docstring(stmt)]
        if body and isinstance(body[-1], ast.Return):
            body.pop()
        self.ranges: list[OfRange] = []
        before, names = self._bound(generator, body, given, node)
        if names is None:
            return None
        for stmt in body:
            for part in ast.walk(stmt):
                ast.copy_location(part, call)
        body = _decided(renamed(body, names))
        for of_range in self.ranges:
            body = [of_range.visit(stmt) for stmt in body]
        done = self.unused("done") if leaves_loop(node) else None
        body = Yields(node, done, lambda: self.unused("sent")).block(body, depth=0)
        is_marked = (node.lineno, node.col_offset) in self.marked
        match body:
            case [ast.For() as loop] if is_marked:
                node.target, node.iter, node.body = loop.target, loop.iter, loop.body
                body, orelse = [node], node.orelse
            case _ if is_marked:
                return None
            case _:
                orelse = node.orelse
        if done is not None:
            before = [*before, assigned(done, False)]
            orelse = [ast.If(negated(read(done)), orelse, [])] if orelse else []
        if is_marked:
            node.orelse = []
        # The generator's name stays, since the code depends on what it is bound to.
        use = (
            [ast.Expr(call.func)]
            if generator.outer is None and generator.tree.name not in self.finder.inner
            else []
        )
        out = [*use, *before, *body, *orelse]
        for stmt in out:
            for part in ast.walk(stmt):
                if isinstance(part, ast.expr | ast.stmt) and not hasattr(part, "lineno"):
                    ast.copy_location(part, node)
        return out

    def _bound(
        self, generator: _Generator, body: list[ast.stmt], given: Mapping[str, ast.expr], node: ast.For
    ) -> tuple[list[ast.stmt], dict[str, str | ast.expr] | None]:
        """The statements that bind the parameters, and what the generator's names stand for; None where one has no
        meaning in the program."""
        tree = generator.tree
        own = {name for stmt in body for name in _stored(stmt)}
        names: dict[str, str | ast.expr] = {name: self.unused(f"{tree.name}_{name}") for name in own}
        rebound = {name for stmt in (node.target, *node.body) for name in _stored(stmt)}
        before: list[ast.stmt] = []
        for name, value in given.items():
            if name not in own and (isinstance(value, ast.Constant) or _is_run_over_once(body, name)):
                names[name] = value
                continue
            reads_items = (
                generator.outer is not None and self._ends(value) is None and _is_indexed(body, name)
            )
            if reads_items and _changes_elements(node.body):
                return before, None  # the iterator has kept what the items were
            if name not in own and _is_fixed(value, rebound):
                names[name] = value
                continue
            variable = names.setdefault(name, self.unused(f"{tree.name}_{name}"))
            assert isinstance(variable, str)
            if name not in own and (ends := self._ends(value)) is not None:
                start, stop = (self._kept(end, rebound, before) for end in ends)
                self.ranges.append(OfRange(variable, start, stop, is_indexed=generator.outer is not None))
            else:
                before.append(assigned(variable, value))
        free = {n.id for stmt in body for n in walk(stmt) if isinstance(n, ast.Name)} - names.keys()
        for name in free:
            if generator.outer is not None and name in generator.outer:
                names[name] = constant(generator.outer[name])
            elif generator.tree.name not in self.finder.inner and name in self.stored:
                return before, None
        return before, names

    def _ends(self, value: ast.expr) -> tuple[ast.expr, ast.expr] | None:
        """Where a range of step 1 starts and stops; None for other values."""
        match value:
            case ast.Call(func=ast.Name() as func, args=[*start, stop], keywords=[]) if (
                len(start) < 2 and self.finder.value_of(func) is range
            ):
                return (start[0] if start else ast.Constant(0)), stop
            case _:
                return None

    def _kept(self, value: ast.expr, rebound: set[str], before: list[ast.stmt]) -> ast.expr:
        if _is_fixed(value, rebound):
            return value
        name = self.unused("end")
        before.append(assigned(name, value))
        return read(name)


def _is_fixed(value: ast.expr, rebound: set[str]) -> bool:
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


def _stored(tree: ast.AST) -> set[str]:
    """The names that a text binds."""
    return {n.id for n in walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def _is_indexed(body: list[ast.stmt], name: str) -> bool:
    items = (n.value for stmt in body for n in walk(stmt) if isinstance(n, ast.Subscript))
    return any(isinstance(item, ast.Name) and item.id == name for item in items)


def _changes_elements(body: list[ast.stmt]) -> bool:
    """Whether statements store into elements, or call something for its effect."""
    return any(
        (isinstance(n, ast.Subscript | ast.Attribute) and not isinstance(n.ctx, ast.Load))
        or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Call))
        for stmt in body
        for n in walk(stmt)
    )


def _is_docstring(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)


def _is_run_over_once(body: list[ast.stmt], name: str) -> bool:
    """Whether a parameter is what loops run over, and nothing else, none of them inside another."""
    uses = [n for stmt in body for n in walk(stmt) if isinstance(n, ast.Name) and n.id == name]
    return len(uses) == 1 and any(isinstance(stmt, ast.For) and stmt.iter is uses[0] for stmt in body)


def _is_refused(tree: ast.FunctionDef) -> bool:
    """Whether a generator has what no loop has instead."""
    *body, last = tree.body
    inside = body if isinstance(last, ast.Return) else [*body, last]
    nodes = [node for stmt in inside for node in walk(stmt)]
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
    if spec.vararg or spec.kwarg or spec.kwonlyargs or len(call.args) > len(names):
        return None
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(k.arg is None for k in call.keywords):
        return None
    given = dict(zip(names, call.args, strict=False))
    given |= {str(k.arg): k.value for k in call.keywords}
    defaults = dict(zip(reversed(names), reversed(spec.defaults), strict=False))
    constants = {n: d for n, d in defaults.items() if isinstance(d, ast.Constant) and n not in given}
    given |= constants
    return given if given.keys() == {*names} else None
