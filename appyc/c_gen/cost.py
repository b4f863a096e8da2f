"""How much work a loop's body is, as a C expression: enough to tell whether threads pay.

The unit is about one arithmetic operation. Trip counts of inner loops enter as the
expressions that they are, with an outer loop's variable at the middle of its range, so that
triangular loops count by half.
"""

from __future__ import annotations

from collections.abc import Callable

from appyc.ir.nodes import (
    Assign,
    Binary,
    Const,
    Expr,
    For,
    If,
    Intrinsic,
    Load,
    Stmt,
    Store,
    Symbol,
    Update,
    Var,
    While,
)
from appyc.ir.types import DType
from appyc.ir.visit import substitute, walk

UNKNOWN_TRIPS = 16
"""Where a trip count cannot be had before the loop runs."""

_SLOW = {"/": 4, "//": 8, "%": 8, "**": 20}


def work_of(body: tuple[Stmt, ...], known: Callable[[Expr], bool], trips: Callable[[For], str]) -> str:
    """A double-valued C expression for the operations of one run of `body`.

    known: whether an expression has a value before the loop. trips: the C text of a loop's
    trip count, a double.
    """
    fixed, terms = _parts(body, known, trips)
    return " + ".join([f"{fixed}.0", *terms])


def _parts(
    body: tuple[Stmt, ...], known: Callable[[Expr], bool], trips: Callable[[For], str]
) -> tuple[int, list[str]]:
    fixed = 1
    terms: list[str] = []
    for stmt in body:
        match stmt:
            case For():
                inner = substituted(stmt)
                count = trips(stmt) if known(stmt.lo) and known(stmt.hi) else f"{UNKNOWN_TRIPS}.0"
                terms.append(f"{count} * ({work_of(inner, known, trips)})")
            case While():
                below, more = _parts(stmt.body, known, trips)
                fixed += UNKNOWN_TRIPS * below
                terms += [f"{UNKNOWN_TRIPS}.0 * {term}" for term in more]
            case If():
                fixed += _operations(stmt.cond)
                for branch in (stmt.then, stmt.orelse):
                    below, more = _parts(branch, known, trips)
                    fixed += below
                    terms += more
            case Assign() | Store() | Update():
                fixed += _operations(stmt)
            case _:
                fixed += 1
    return fixed, terms


def substituted(loop: For) -> tuple[Stmt, ...]:
    """A loop's body with the loop variable at the middle of its range."""
    if not any(_bounds_read(inner, loop.var) for inner in walk(loop.body) if isinstance(inner, For)):
        return loop.body
    middle = Binary("//", Binary("+", loop.lo, loop.hi, loc=loop.loc), _two(loop), loc=loop.loc)
    return tuple(substitute(stmt, {loop.var: middle}) for stmt in loop.body)


def _two(loop: For) -> Expr:
    return Const(2, DType.INT64, loc=loop.loc)


def _bounds_read(loop: For, symbol: Symbol) -> bool:
    return any(isinstance(n, Var) and n.symbol == symbol for n in walk((loop.lo, loop.hi)))


def _operations(node: Stmt | Expr) -> int:
    count = 0
    for n in walk(node):
        match n:
            case Binary():
                count += _SLOW.get(n.op, 1)
            case Intrinsic():
                count += 10
            case Load() | Store() | Update():
                count += 1
            case _:
                pass
    return count
