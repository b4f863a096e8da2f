"""Congruence of loop-carried scalars: where two of them are equal in each iteration, one of them is read.

    zn = n                                      zn = n
    cn = n                                      cn = n
    while zn > 0:                               while zn > 0:
        if zn != cn: raise ValueError               if zn != zn: raise ValueError
        for i in range(zn):                         for i in range(zn):
            keep[i] = z[i] < c[i]         ->            keep[i] = z[i] < c[i]
        count = sum(keep)                           count = sum(keep)
        zn = count                                  zn = count
        if cn != count:                             if cn != count:
            cn = count                                  cn = count
            c = empty((cn,))                            c = empty((cn,))

`z, c = z[keep], c[keep]` in a loop leaves two arrays of the same length, which no other analysis proves: both lengths
are loop-carried. With one name for both, conditions on them are constant, so that nothing between the loops raises,
and the loops run over the same range. The congruence of Alpern, Wegman and Zadeck (POPL 1988), for the values that
enter an iteration.

Requires: nothing. `guard_assumptions` folds the conditions.

Does not handle: scalars that are written more than once in an iteration, or that have different expressions; reads
behind the first write of either; loops with pragmas.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.invariance import changed_in
from appyc.ir.visit import contains, scalar_writes, substitute, symbols_of, with_body
from appyc.passes.pass_context import PassContext


def congruent_scalars(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with loop-carried scalars that are equal where an iteration starts read from one of them."""
    return with_body(fn, _renamed(fn.body))


@dataclass(frozen=True, slots=True)
class _Block:
    """Statements in a row, and what each changes."""

    stmts: list[ir.Stmt]
    changes: list[set[ir.Symbol]]

    @classmethod
    def of(cls, body: Sequence[ir.Stmt]) -> _Block:
        return cls([*body], [changed_in(stmt) for stmt in body])

    def last_write(self, end: int, scalar: ir.Symbol) -> int | None:
        """The last statement in front of one that changes a scalar."""
        return next((at for at in range(end - 1, -1, -1) if scalar in self.changes[at]), None)

    def is_fixed(self, value: ir.Expr, start: int) -> bool:
        """Whether a value is computed of scalars and lengths, which no statement from one on changes."""
        changed = set[ir.Symbol]().union(*self.changes[start:])
        return changed.isdisjoint(symbols_of(value)) and not contains(value, ir.Load | ir.Call | ir.Draw)


def _renamed(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    before = _Block([], [])
    for stmt in body:
        changed = changed_in(stmt)
        if isinstance(stmt, ir.While) or (isinstance(stmt, ir.For) and stmt.clauses is None):
            stmt = _with_one_name(before, stmt)
        before.stmts.append(map_blocks(stmt, _renamed))
        before.changes.append(changed)
    return tuple(before.stmts)


def _with_one_name(before: _Block, loop: ir.For | ir.While) -> ir.Stmt:
    """The loop with each class of congruent scalars read from its first one, up to the first write of any of them."""
    writes, body = Counter(scalar_writes(loop.body)), _Block.of(loop.body)
    entering: dict[object, list[ir.Symbol]] = defaultdict(list)
    for scalar, times in writes.items():
        if times == 1 and scalar.dtype.kind in "iub" and (enters := _entering(before, scalar)) is not None:
            entering[enters, scalar.type].append(scalar)
    classes: dict[object, list[ir.Symbol]] = defaultdict(list)
    for scalars in entering.values():
        for scalar in scalars if len(scalars) > 1 else ():
            if (leaves := _leaving(body, scalar)) is not None:
                classes[scalars[0], leaves].append(scalar)
    for equal in classes.values():
        start = next(at for at, changed in enumerate(body.changes) if changed & {*equal})
        if len(equal) == 1 or contains(loop.body[start:], ir.Continue):
            continue
        names: dict[ir.Symbol, ir.Expr] = {scalar: ir.Var(equal[0], loc=loop.loc) for scalar in equal[1:]}
        loop = replace(loop, body=substitute(loop.body[:start], names) + loop.body[start:])
        if isinstance(loop, ir.While):
            loop = replace(loop, cond=substitute(loop.cond, names))
    return loop


def _entering(before: _Block, scalar: ir.Symbol) -> ir.Expr | None:
    """The value with which a scalar enters a loop behind these statements, if they do not change its operands since."""
    at = before.last_write(len(before.stmts), scalar)
    stmt = before.stmts[at] if at is not None else None
    if at is None or not isinstance(stmt, ir.Assign):
        return None
    return stmt.value if before.is_fixed(stmt.value, at) else None


def _leaving(body: _Block, scalar: ir.Symbol) -> ir.Expr | None:
    """The value of a scalar at the end of an iteration that writes it once, in terms of what is not written since."""
    at = body.last_write(len(body.stmts), scalar)
    match body.stmts[at] if at is not None else None:
        case ir.Assign(value=value):
            pass
        case ir.If(cond=ir.Unary(op="~", arg=asked), then=(ir.Assign(target=target, value=value), *_)):
            if target != scalar or not _is_equality(asked, value, scalar):
                return None
        case _:
            return None
    assert at is not None
    return _origin(body, at, value) or ir.Var(scalar, loc=value.loc)


def _is_equality(asked: ir.Expr, value: ir.Expr, scalar: ir.Symbol) -> bool:
    """Whether a condition says that a scalar has a value."""
    match asked.arg if isinstance(asked, ir.Likely) else asked:
        case ir.Compare(op="==", lhs=lhs, rhs=ir.Var(symbol=symbol)):
            return symbol == scalar and lhs == value
        case _:
            return False


def _origin(body: _Block, at: int, value: ir.Expr) -> ir.Expr | None:
    """The value of a statement, behind copies, if no operand of it is changed from there on."""
    if not body.is_fixed(value, at):
        return None
    written = body.last_write(at, value.symbol) if isinstance(value, ir.Var) else None
    copy = body.stmts[written] if written is not None else None
    if written is None or not isinstance(copy, ir.Assign):
        return value
    return _origin(body, written, copy.value) or value
