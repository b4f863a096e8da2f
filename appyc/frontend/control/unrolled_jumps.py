"""`break` and `continue` in a loop that is unrolled: what they skip goes into branches.

    for d in (-1, 1):                   if i - 1 >= 0:
        if i + d < 0:                       s += a[i - 1]
            continue             ->     if i + 1 >= 0:
        s += a[i + d]                       s += a[i + 1]

Where every way through an `if` ends in a jump, or none does, what follows the `if` goes into the arm that
does not jump. Elsewhere a flag is set at the jump, and what follows asks for it. A `break` sets a flag that the
other iterations and the else clause ask for.

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
    """One loop that is unrolled. left, skipped: flags that a break has left it, and that a jump has skipped the
    rest of an iteration. marks: whether somebody asks for the second."""

    scope: Scope
    node: ast.For
    left: str
    skipped: str
    marks: bool = field(default=False)

    @classmethod
    def of(cls, scope: Scope, node: ast.For) -> Unrolled:
        place = f"{node.lineno}_{node.col_offset}"  # the same names whenever the loop is lowered
        out = cls(scope, node, f"left_{place}", f"skipped_{place}")
        scope.locals |= {out.left, out.skipped}
        return out

    def before(self) -> list[ast.stmt]:
        """What comes before the first iteration."""
        return [self._set(self.left, False, self.node)] if leaves_loop(self.node) else []

    def iteration(self) -> list[ast.stmt]:
        """The body without jumps."""
        body = self._block(self.node.body)
        if not self.marks:
            return body
        return [self._set(self.skipped, False, self.node), *self._block(self.node.body)]

    def goes_on(self) -> ast.expr | None:
        """What holds where another iteration may follow, or the else clause; None if it always does."""
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
        return [*before, new, self._placed(ast.If(_not(self.skipped, stmt), self._block(rest), []), stmt)]

    def _branch(self, old: ast.If, then: list[ast.stmt], orelse: list[ast.stmt]) -> ast.stmt:
        return self._placed(ast.If(old.test, then or [ast.copy_location(ast.Pass(), old)], orelse), old)

    def _set(self, name: str, value: bool, place: ast.stmt) -> ast.stmt:
        return self._placed(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), place)

    def _placed(self, new: ast.stmt, old: ast.stmt) -> ast.stmt:
        """The statement at the place of another, in whose stead it is."""
        behind = self.scope.names_behind.get(old, self.scope.locals)
        self.scope.names_behind[new] = behind | {self.left, self.skipped}
        return ast.fix_missing_locations(ast.copy_location(new, old))


def _not(flag: str, place: ast.stmt) -> ast.expr:
    test = ast.copy_location(ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load())), place)
    return ast.fix_missing_locations(test)


def _always_jumps(body: list[ast.stmt]) -> bool:
    """Whether each way through these statements ends in a jump."""
    if not body:
        return False
    match body[-1]:
        case ast.Break() | ast.Continue() | ast.Return() | ast.Raise():
            return True
        case ast.If(body=then, orelse=orelse):
            return _always_jumps(then) and _always_jumps(orelse)
        case _:
            return False
