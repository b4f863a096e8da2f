"""Jumps as flags and branches on them: returns of different arrays, and `break` and `continue` in an unrolled loop.

Exit unification: returns of different arrays become one return of a name.

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

If-conversion of the jumps of an unrolled loop:

    for d in (-1, 1):                   if i - 1 >= 0:
        if i + d < 0:                       s += a[i - 1]
            continue             ->     if i + 1 >= 0:
        s += a[i + d]                       s += a[i + 1]

Where every path through one arm of an `if` ends in a jump, the statements behind the `if` move into the other
arm. Elsewhere the jump sets a flag, and a test of the flag guards the statements behind the `if`. A `break` sets
a second flag, which guards the later iterations and the else clause.

Does not handle: jumps inside `with`, `match` and `try`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass, field

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.desugar.building import Refused, always_jumps, assigned, located, negated, read
from appyc.frontend.pragmas.pragma_nodes import Pragma
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import assigned_names, leaves_loop, may_return, own_jumps, statements_in
from appyc.ir.names import unused


def with_joined_returns(source: Source) -> Source:
    """The function with one return at its end; the function itself where that is not equivalent."""
    function = source.ast
    taken = assigned_names(function)
    pragmas = read_pragmas(source)
    joiner = _Joiner(unused("result", taken), unused("has_returned", taken), _items(function), pragmas)
    try:
        body = joiner.joined(function.body)
    except Refused:
        return source
    body = [*body, located(ast.Return(joiner.result(ast.Load())), function.body[-1])]
    if any(isinstance(s, ast.For | ast.While) and may_return(s) for s in statements_in(*function.body)):
        body = [located(assigned(joiner.flag, False), function.body[0]), *body]
    tree = ast.copy_location(ast.FunctionDef(function.name, function.args, body, []), function)
    return source.part(tree, pragmas | joiner.of_copies)


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

    def result(self, ctx: ast.expr_context) -> ast.expr:
        if self.items is None:
            return ast.Name(self.name, ctx)
        return ast.Tuple([ast.Name(f"{self.name}_{k}", ctx) for k in range(self.items)], ctx)

    def joined(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements with each return as an assignment."""
        at = next((k for k, stmt in enumerate(body) if may_return(stmt)), None)
        if at is None:
            if not body or not isinstance(body[-1], ast.Raise):
                raise Refused
            return body
        before, stmt, rest = body[:at], body[at], body[at + 1 :]
        match stmt:
            case ast.Return():
                return [*before, self._kept(stmt)]
            case ast.If(test=test):
                then, orelse = (
                    self.joined(arm if always_jumps(arm, (ast.Return,)) else [*arm, *rest])
                    for arm in (stmt.body, stmt.orelse)
                )
                return [*before, located(ast.If(test, then, orelse), stmt)]
            case ast.For() | ast.While():
                loop = [*before, self._loop(stmt)]
                if not rest and always_jumps([stmt], (ast.Return,)):
                    return loop
                not_yet = ast.If(negated(read(self.flag)), self.joined(rest), [])
                return [*loop, located(not_yet, stmt)]
            case _:
                raise Refused

    def _kept(self, stmt: ast.Return) -> ast.stmt:
        if stmt.value is None:
            raise Refused
        return self._copied(ast.Assign([self.result(ast.Store())], stmt.value), stmt)

    def _copied(self, new: ast.stmt, old: ast.stmt) -> ast.stmt:
        if old in self.pragmas:
            self.of_copies[new] = self.pragmas[old]
        return located(new, old)

    def _loop(self, loop: ast.For | ast.While) -> ast.stmt:
        """The loop with each return replaced by a break."""
        if any(may_return(s) for s in loop.orelse):
            raise Refused
        out = copy.copy(loop)
        out.body = self._in_loop(loop.body)
        return self._copied(out, loop)

    def _in_loop(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for stmt in body:
            match stmt:
                case _ if not may_return(stmt):
                    out.append(stmt)
                case ast.Return():
                    leave = (assigned(self.flag, True), ast.Break())
                    return [*out, self._kept(stmt), *(located(s, stmt) for s in leave)]
                case ast.If(test=test, body=then, orelse=orelse):
                    out.append(located(ast.If(test, self._in_loop(then), self._in_loop(orelse)), stmt))
                case ast.For() | ast.While():
                    leave_too = ast.If(read(self.flag), [ast.Break()], [])
                    out += [self._loop(stmt), located(leave_too, stmt)]
                case _:
                    raise Refused
        return out


# ---------------------------------------------------------------- jumps of an unrolled loop

_JUMPS = (ast.Break, ast.Continue)


class Unrolled:
    """One iteration of an unrolled loop, without jumps.

    start: the statements before the first iteration. body: those of each iteration. goes_on: the condition for the
    next iteration, or the else clause; None if it is always true. flags: the names of the flags. replaced: the
    statements that new ones replace.
    """

    def __init__(self, node: ast.For, loc: Callable[[ast.stmt], Loc]) -> None:
        where = f"{node.lineno}_{node.col_offset}"  # the same names whenever the loop is lowered
        self._left, self._skipped, self._loc = f"left_{where}", f"skipped_{where}", loc
        self.flags = frozenset({self._left, self._skipped})
        self.replaced: dict[ast.stmt, ast.stmt] = {}
        self._marks = False
        leaves = leaves_loop(node)
        self.start = [self._new(assigned(self._left, False), node)] if leaves else []
        self.goes_on = located(negated(read(self._left)), node) if leaves else None
        self.body = self._block(node.body)
        if self._marks:  # `skipped` is read: each jump sets it
            self.body = [self._new(assigned(self._skipped, False), node), *self._block(node.body)]

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        at = next((k for k, stmt in enumerate(body) if own_jumps(stmt, _JUMPS)), None)
        if at is None:
            return body
        before, stmt, rest = body[:at], body[at], body[at + 1 :]
        if isinstance(stmt, _JUMPS):
            flags = [self._left] if isinstance(stmt, ast.Break) else []
            flags += [self._skipped] if self._marks else []
            return [*before, *(self._new(assigned(name, True), stmt) for name in flags)]
        if not isinstance(stmt, ast.If):
            raise UnsupportedError(
                "a break or continue inside this statement is not compiled in a loop over a tuple", self._loc(stmt),
                "loop over an array",
            )  # fmt: skip
        then, orelse = stmt.body, stmt.orelse
        if always_jumps(then, (*_JUMPS, ast.Return)):
            return [*before, self._branch(stmt, then, [*orelse, *rest])]
        if always_jumps(orelse, (*_JUMPS, ast.Return)):
            return [*before, self._branch(stmt, [*then, *rest], orelse)]
        new = self._branch(stmt, then, orelse)
        if not rest:
            return [*before, new]
        self._marks = True
        return [*before, new, self._new(ast.If(negated(read(self._skipped)), self._block(rest), []), stmt)]

    def _branch(self, old: ast.If, then: list[ast.stmt], orelse: list[ast.stmt]) -> ast.stmt:
        return self._new(ast.If(old.test, self._block(then) or [ast.Pass()], self._block(orelse)), old)

    def _new(self, new: ast.stmt, old: ast.stmt) -> ast.stmt:
        self.replaced[new] = old
        return located(new, old)
