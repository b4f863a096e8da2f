"""Blocks of statements: what belongs to the loop that a block is the body of, and walks from the outside in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import is_
from types import UnionType
from typing import TypeAlias

from appyc.ir.nodes import Break, Const, Continue, Fail, For, If, Stmt, While
from appyc.ir.symbols import Node, Symbol
from appyc.ir.visit import children, loops_of


def blocks_of(stmt: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The blocks right inside a statement; most statements have none."""
    match stmt:
        case For() | While():
            return (stmt.body,)
        case If():
            return stmt.then, stmt.orelse
        case _:
            return ()


def map_blocks(stmt: Stmt, rule: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]) -> Stmt:
    """The statement with `rule` applied to each block right inside it, itself where that changes nothing."""
    match stmt:
        case For() | While():
            body = rule(stmt.body)
            return stmt if _are_same(body, stmt.body) else replace(stmt, body=body)
        case If():
            then, orelse = rule(stmt.then), rule(stmt.orelse)
            is_same = _are_same(then, stmt.then) and _are_same(orelse, stmt.orelse)
            return stmt if is_same else replace(stmt, then=then, orelse=orelse)
        case _:
            return stmt


def _are_same(one: tuple[Stmt, ...], other: tuple[Stmt, ...]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))


def replace_outermost(
    body: tuple[Stmt, ...], rule: Callable[[Stmt], Sequence[Stmt] | None]
) -> tuple[Stmt, ...]:
    """The statements with those of `rule` instead of a statement; where it gives None, the same inside its blocks."""
    out: list[Stmt] = []
    for stmt in body:
        new = rule(stmt)
        if new is None:
            out.append(map_blocks(stmt, lambda block: replace_outermost(block, rule)))
        else:
            out += new
    return tuple(out)


def without_blocks(stmt: Stmt) -> Stmt:
    """The statement without the statements in it: what it evaluates itself."""
    return map_blocks(stmt, lambda block: ())


Loop: TypeAlias = For | While


def walk_in_loops(node: Node, around: tuple[Loop, ...] = ()) -> Iterator[tuple[Node, tuple[Loop, ...]]]:
    """The node and everything below, each with the loops around it, outermost first."""
    yield node, around
    inner = (*around, node) if isinstance(node, For | While) else around
    for child in children(node):
        yield from walk_in_loops(child, inner)


def perfect_nest(loop: For) -> tuple[For, ...]:
    """The loop and the loops that are each the whole body of the one around it."""
    nest = [loop]
    while len(nest[-1].body) == 1 and isinstance(inner := nest[-1].body[0], For):
        nest.append(inner)
    return tuple(nest)


def perfect_nests(node: Node) -> Iterator[tuple[For, ...]]:
    """The perfect nests below a node, outer ones first, that are no part of another one."""
    inside: set[Symbol] = set()
    for loop in loops_of(node):
        if loop.var not in inside:
            nest = perfect_nest(loop)
            inside |= {inner.var for inner in nest}
            yield nest


def collapsed_loops(node: Node) -> set[Symbol]:
    """The variables of loops that `collapse` makes one with the loop around them: nothing may come between."""
    marked = [(loop, loop.clauses.collapse) for loop in loops_of(node) if loop.clauses is not None]
    return {inner.var for loop, count in marked for inner in perfect_nest(loop)[1:count]}


def depth(body: tuple[Stmt, ...]) -> int:
    """The maximal depth of loop nests in some statements."""
    inside = ((stmt, max(map(depth, blocks_of(stmt)), default=0)) for stmt in body)
    return max((below + isinstance(stmt, For) for stmt, below in inside), default=0)


def constant_range(loop: For) -> range | None:
    """The values of the loop variable, where the bounds are constant."""
    match loop.bounds:
        case Const(value=int(lo)), Const(value=int(hi)):
            return range(lo, hi, loop.step)
        case _:
            return None


def nested(loops: Sequence[For], body: tuple[Stmt, ...]) -> For:
    """The loops, each alone in the one before it, around a body: what `perfect_nest` takes apart."""
    for loop in reversed(loops):
        body = (replace(loop, body=body),)
    (nest,) = body
    assert isinstance(nest, For)
    return nest


def own_statements(body: tuple[Stmt, ...]) -> list[Stmt]:
    """The statements of a loop's body that a `break` there would belong to this loop."""
    out: list[Stmt] = []
    for stmt in body:
        out.append(stmt)
        if isinstance(stmt, If):
            out += own_statements(stmt.then) + own_statements(stmt.orelse)
    return out


def has_own(body: tuple[Stmt, ...], kinds: type[Node] | UnionType) -> bool:
    """Whether one of these is of some kinds: `has_own(loop.body, Break)` says that the loop may end early."""
    return any(isinstance(stmt, kinds) for stmt in own_statements(body))


def rewrite_own_statements(
    body: tuple[Stmt, ...], rule: Callable[[Stmt], tuple[Stmt, ...]]
) -> tuple[Stmt, ...]:
    """The statements with `rule` applied to the same, those in branches before their `If`."""
    out: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, If):
            stmt = map_blocks(stmt, lambda block: rewrite_own_statements(block, rule))
        out += rule(stmt)
    return tuple(out)


def jumps(stmt: Stmt) -> bool:
    """Whether a statement may leave an enclosing loop, or one of its iterations."""
    return has_own((stmt,), Break | Continue)


def never_completes(body: tuple[Stmt, ...]) -> bool:
    """Whether what follows the block is never reached from its end."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, If):
        return never_completes(last.then) and never_completes(last.orelse)
    return isinstance(last, Break | Continue | Fail)
