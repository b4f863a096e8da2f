"""A loop over a generator: its body at each `yield`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from appyc.frontend.desugar.building import assigned, negated, read
from appyc.frontend.desugar.rewriting import Rewriter
from appyc.frontend.syntax.tree import own_jumps, walk

YIELDS = (ast.Yield, ast.YieldFrom)


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
