"""Full unrolling of short loops with constant trip counts inside other loops.

    for j in range(1, m - 1):                   for j in range(1, m - 1):
        s = 0.0                                     s = 0.0
        for d in range(-1, 2):           ->         s += a[i, j - 1]
            s += a[i, j + d]                        s += a[i, j]
        b[i, j] = s / 3.0                           s += a[i, j + 1]
                                                    b[i, j] = s / 3.0

The enclosing loop is then innermost and can be vectorised; a loop of three iterations is too short for lanes. Sums keep
their order. Conditions on the loop variable are folded, and dead branches (`if d == 0: continue`) are removed.

Requires: `check_bounds` has run, which analyses the bounds once for all iterations.

Does not handle: loops with a pragma, or with data-dependent jumps; loops that contain other loops which cannot be
unrolled, or that are adjacent to one; bodies that would become too long.
"""

from __future__ import annotations

from dataclasses import replace
from operator import eq, ge, gt, le, lt, ne

from appyc.analysis.dependences.verdicts import named
from appyc.ir.nodes import (
    Alloc,
    Binary,
    Break,
    Compare,
    Const,
    Continue,
    For,
    Function,
    Node,
    Stmt,
    Symbol,
    While,
)
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, map_blocks, map_loops, rewrite_all, statements, substitute, walk
from appyc.passes.checks.guard_assumptions import folded
from appyc.passes.node_builders import integer, shifted, truth
from appyc.passes.pass_context import PassContext

MOST_TRIPS = 9
"""The greatest trip count for unrolling; a longer loop can be vectorised itself."""

MOST_NODES = 800
"""The most IR nodes of the enclosing loop's body after unrolling."""

_COMPARED = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def unroll_loops(fn: Function, ctx: PassContext) -> Function:
    asked = _asked_for(fn)

    def rule(loop: For) -> For:
        inner = loops_of(loop.body)
        if not inner or any(isinstance(n, While) for n in statements(loop.body)):
            return loop
        if not all(n.var not in asked and _may_be_written_out(n) for n in inner):
            return loop
        body = _written_out(loop.body)
        if any(isinstance(n, Break | Continue) for n in statements(body)) or _size(body) > MOST_NODES:
            return loop
        for short in inner:
            ctx.remark(short.loc, f"{named(short)}: its {len(_values(short))} iterations are written out")
        return replace(loop, body=body)

    return map_loops(fn, rule)


def _asked_for(fn: Function) -> set[Symbol]:
    """The variables of loops that a pragma is about, by `collapse` from outside too."""
    out: set[Symbol] = set()
    for loop in loops_of(fn.body):
        nest: tuple[Stmt, ...] = (loop,)
        depth = 0 if loop.clauses is None else loop.clauses.collapse
        while depth > 0 and len(nest) == 1 and isinstance(nest[0], For):
            out.add(nest[0].var)
            nest, depth = nest[0].body, depth - 1
    return out


def _size(body: tuple[Stmt, ...]) -> int:
    return sum(1 for _ in walk(body))


def _may_be_written_out(loop: For) -> bool:
    if not isinstance(loop.lo, Const) or not isinstance(loop.hi, Const):
        return False
    return len(_values(loop)) <= MOST_TRIPS and not any(isinstance(n, Alloc) for n in statements(loop.body))


def _values(loop: For) -> range:
    assert isinstance(loop.lo, Const)
    assert isinstance(loop.hi, Const)
    return range(int(loop.lo.value.real), int(loop.hi.value.real), loop.step)


def _written_out(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, For):
            inner = _written_out(stmt.body)
            for value in _values(stmt):
                out += _iteration(inner, stmt.var, value)
        else:
            out.append(map_blocks(stmt, _written_out))
    return tuple(out)


def _iteration(body: tuple[Stmt, ...], var: Symbol, value: int) -> list[Stmt]:
    """The statements for one value of a loop's variable, up to where they go on to the next one."""
    out: list[Stmt] = []
    for stmt in body:
        for new in rewrite_all((substitute(stmt, {var: integer(value, stmt.loc)}),), _put_together):
            if isinstance(new, Continue):
                return out
            out.append(new)
    return out


def _put_together(node: Node) -> Node | tuple[Node, ...]:
    """Constants that a constant index brings together, and what follows from conditions that it decides."""
    match node:
        case Binary("+", lhs, Const(value=int(number))) if node.dtype is DType.INT64:
            return shifted(lhs, number)
        case Binary("+", Const(value=int(number)), rhs) if node.dtype is DType.INT64:
            return shifted(rhs, number)
        case Compare(op, Const(value=int(lhs)), Const(value=int(rhs))):
            return truth(bool(_COMPARED[op](lhs, rhs)), node.loc)
        case _:
            return folded(node)
