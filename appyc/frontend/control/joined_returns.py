"""Exit unification: returns of different arrays become one return of a name.

    if n > 0:                    if n > 0:
        return a * n     ->          result = a * n
    return a[::-1]               else:
                                     result = a[::-1]
                                 return result

    for k in range(n):           has_returned = False
        if a[k] > 0:             for k in range(n):
            return a * k             if a[k] > 0:
    return a             ->              result = a * k
                                         has_returned = True
                                         break
                                 if not has_returned:
                                     result = a
                                 return result

A name that paths bind to different arrays has phi storage (`frontend/control/phi_storage.py`). Where every return
is of a tuple display, each item gets a name. Used only where the returns do not agree on one array.

Does not handle: paths that end without a return.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field

from appyc.frontend.control.returns import may_return
from appyc.frontend.pragmas.pragma_nodes import Pragma
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.scope import assigned_names
from appyc.frontend.source import Part, Source
from appyc.frontend.syntax.tree import statements_in
from appyc.ir.names import unused


def with_joined_returns(source: Source) -> Source | None:
    """The function with one return at its end; None where a return is not the last statement of its path."""
    function = source.ast
    taken = assigned_names(function)
    pragmas = read_pragmas(source)
    joiner = _Joiner(unused("result", taken), unused("has_returned", taken), _items(function), pragmas)
    body = joiner.joined(function.body)
    if body is None:
        return None
    end = ast.copy_location(ast.Return(joiner.result(function.body[-1], ast.Load())), function.body[-1])
    if any(isinstance(s, ast.For | ast.While) and may_return(s) for s in statements_in(*function.body)):
        body = [joiner.flagged(function.body[0], False), *body]
    tree = ast.FunctionDef(function.name, function.args, [*body, end], [])
    return Part(
        source.name, source.file, source.lines, source.first_line, source.indent,
        ast.copy_location(tree, function), pragmas | joiner.of_copies,
    )  # fmt: skip


def _items(function: ast.FunctionDef) -> int | None:
    """The length of the tuple display in every return; None where the returns differ in it."""
    counts = {
        len(stmt.value.elts) if isinstance(stmt.value, ast.Tuple) else None
        for stmt in statements_in(*function.body)
        if isinstance(stmt, ast.Return)
    }
    return counts.pop() if len(counts) == 1 else None


@dataclass
class _Joiner:
    """Rewrites returns as assignments. name: the result's name. flag: the has-returned flag's name.

    items: the number of result names for a tuple; None for a single name.
    """

    name: str
    flag: str
    items: int | None
    pragmas: dict[ast.stmt, Pragma]
    of_copies: dict[ast.stmt, Pragma] = field(default_factory=dict)
    """The pragmas of rewritten statements."""

    def result(self, at: ast.stmt, ctx: ast.expr_context) -> ast.expr:
        if self.items is None:
            return ast.copy_location(ast.Name(self.name, ctx), at)
        names = (f"{self.name}_{k}" for k in range(self.items))
        return ast.copy_location(ast.Tuple([ast.copy_location(ast.Name(n, ctx), at) for n in names], ctx), at)

    def flagged(self, at: ast.stmt, value: bool) -> ast.stmt:
        target = ast.copy_location(ast.Name(self.flag, ast.Store()), at)
        return ast.copy_location(ast.Assign([target], ast.copy_location(ast.Constant(value), at)), at)

    def _kept(self, stmt: ast.Return) -> ast.stmt | None:
        if stmt.value is None:
            return None
        kept = ast.copy_location(ast.Assign([self.result(stmt, ast.Store())], stmt.value), stmt)
        if stmt in self.pragmas:
            self.of_copies[kept] = self.pragmas[stmt]
        return kept

    def joined(self, body: list[ast.stmt]) -> list[ast.stmt] | None:
        """The statements with each return as an assignment; None where that is not equivalent."""
        for k, stmt in enumerate(body):
            if isinstance(stmt, ast.Return):
                kept = self._kept(stmt)
                return None if kept is None else [*body[:k], kept]
            if not may_return(stmt):
                continue
            rest = body[k + 1 :]
            match stmt:
                case ast.If(test=test, body=then, orelse=orelse):
                    arms = [self.joined([*arm, *([] if _ends(arm) else rest)]) for arm in (then, orelse)]
                    if any(arm is None for arm in arms):
                        return None
                    joined = ast.If(test, arms[0] or [], arms[1] or [])
                    return [*body[:k], ast.copy_location(joined, stmt)]
                case ast.For() | ast.While():
                    loop = self._loop(stmt)
                    behind = self.joined(rest)
                    if loop is None or behind is None:
                        return None
                    flag = ast.copy_location(ast.Name(self.flag, ast.Load()), stmt)
                    not_yet = ast.copy_location(ast.UnaryOp(ast.Not(), flag), stmt)
                    return [*body[:k], loop, ast.copy_location(ast.If(not_yet, behind, []), stmt)]
                case _:
                    return None
        return body if body and isinstance(body[-1], ast.Raise) else None

    def _loop(self, loop: ast.For | ast.While) -> ast.stmt | None:
        """The loop with a break in place of each return; None where it cannot be rewritten."""
        if any(may_return(s) for s in loop.orelse):
            return None
        body = self._in_loop(loop.body)
        if body is None:
            return None
        out = copy.copy(loop)
        out.body = body
        if loop in self.pragmas:
            self.of_copies[out] = self.pragmas[loop]
        return out

    def _in_loop(self, body: list[ast.stmt]) -> list[ast.stmt] | None:
        out: list[ast.stmt] = []
        for stmt in body:
            if not may_return(stmt):
                out.append(stmt)
                continue
            leave = ast.copy_location(ast.Break(), stmt)
            match stmt:
                case ast.Return():
                    kept = self._kept(stmt)
                    if kept is None:
                        return None
                    return [*out, kept, self.flagged(stmt, True), leave]
                case ast.If(test=test, body=then, orelse=orelse):
                    arms = self._in_loop(then), self._in_loop(orelse)
                    if arms[0] is None or arms[1] is None:
                        return None
                    out.append(ast.copy_location(ast.If(test, arms[0], arms[1]), stmt))
                case ast.For() | ast.While():
                    inner = self._loop(stmt)
                    if inner is None:
                        return None
                    flag = ast.copy_location(ast.Name(self.flag, ast.Load()), stmt)
                    out += [inner, ast.copy_location(ast.If(flag, [leave], []), stmt)]
                case _:
                    return None
        return out


def _ends(body: list[ast.stmt]) -> bool:
    """Whether control never reaches the code behind these statements."""
    if not body:
        return False
    match body[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=then, orelse=orelse):
            return _ends(then) and _ends(orelse)
        case _:
            return False
