"""`break` and `continue` in an unrolled loop, converted to predicated branches (if-conversion of jumps).

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
from dataclasses import dataclass, field

from appyc.errors import UnsupportedError
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import leaves_loop, own_jumps

_JUMPS = (ast.Break, ast.Continue)


@dataclass
class Unrolled:
    """One unrolled loop. left: the flag that a break has left it. skipped: the flag that a jump has skipped the
    remainder of an iteration. marks: whether `skipped` is read."""

    scope: Scope
    node: ast.For
    left: str
    skipped: str
    marks: bool = field(default=False)

    @classmethod
    def of(cls, scope: Scope, node: ast.For) -> Unrolled:
        location = f"{node.lineno}_{node.col_offset}"  # the same names whenever the loop is lowered
        out = cls(scope, node, f"left_{location}", f"skipped_{location}")
        scope.locals |= {out.left, out.skipped}
        return out

    def before(self) -> list[ast.stmt]:
        """The statements before the first iteration: the initialisation of the `left` flag."""
        return [self._set(self.left, False, self.node)] if leaves_loop(self.node) else []

    def iteration(self) -> list[ast.stmt]:
        """The loop's body with its jumps converted to branches and flags."""
        body = self._block(self.node.body)
        if not self.marks:
            return body
        return [self._set(self.skipped, False, self.node), *self._block(self.node.body)]

    def goes_on(self) -> ast.expr | None:
        """The condition for the next iteration, or the else clause; None if it is always true."""
        return _not(self.left, self.node) if leaves_loop(self.node) else None

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        at = next((k for k, stmt in enumerate(body) if own_jumps(stmt, _JUMPS)), None)
        if at is None:
            return body
        before, stmt, rest = body[:at], body[at], body[at + 1 :]
        if isinstance(stmt, _JUMPS):
            flags = [self.left] if isinstance(stmt, ast.Break) else []
            flags += [self.skipped] if self.marks else []
            return [*before, *(self._set(name, True, stmt) for name in flags)]
        if not isinstance(stmt, ast.If):
            raise UnsupportedError(
                "a break or continue inside this statement is not compiled in a loop over a tuple",
                self.scope.loc(stmt), hints=("loop over an array",),
            )  # fmt: skip
        then, orelse = stmt.body, stmt.orelse
        if _always_jumps(then):
            return [*before, self._branch(stmt, self._block(then), self._block([*orelse, *rest]))]
        if _always_jumps(orelse):
            return [*before, self._branch(stmt, self._block([*then, *rest]), self._block(orelse))]
        new = self._branch(stmt, self._block(then), self._block(orelse))
        if not rest:
            return [*before, new]
        self.marks = True
        return [*before, new, self._located(ast.If(_not(self.skipped, stmt), self._block(rest), []), stmt)]

    def _branch(self, old: ast.If, then: list[ast.stmt], orelse: list[ast.stmt]) -> ast.stmt:
        return self._located(ast.If(old.test, then or [ast.copy_location(ast.Pass(), old)], orelse), old)

    def _set(self, name: str, value: bool, stmt: ast.stmt) -> ast.stmt:
        return self._located(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), stmt)

    def _located(self, new: ast.stmt, old: ast.stmt) -> ast.stmt:
        """The statement with the source location and the live-out names of the one that it replaces."""
        behind = self.scope.names_behind.get(old, self.scope.locals)
        self.scope.names_behind[new] = behind | {self.left, self.skipped}
        return ast.fix_missing_locations(ast.copy_location(new, old))


def _not(flag: str, stmt: ast.stmt) -> ast.expr:
    test = ast.copy_location(ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load())), stmt)
    return ast.fix_missing_locations(test)


def _always_jumps(body: list[ast.stmt]) -> bool:
    """Whether each path through these statements ends in a jump."""
    if not body:
        return False
    match body[-1]:
        case ast.Break() | ast.Continue() | ast.Return() | ast.Raise():
            return True
        case ast.If(body=then, orelse=orelse):
            return _always_jumps(then) and _always_jumps(orelse)
        case _:
            return False
