"""If-conversion of the jumps of an unrolled loop: `break` and `continue` as flags and branches on them.

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
from collections.abc import Callable

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.desugar.building import always_jumps, assigned, located, negated, read
from appyc.frontend.syntax.tree import leaves_loop, own_jumps

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
