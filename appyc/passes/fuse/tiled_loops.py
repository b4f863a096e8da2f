"""Loops of an overlapped tile: cut to the rows of a block, with intermediate arrays replaced by buffers of a block."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.patterns.block_chains import Member
from appyc.ir.nodes import Alloc, Binary, Const, Expr, For, Load, Node, Stmt, Store, Symbol, Update, Var
from appyc.ir.visit import rewrite_all
from appyc.passes.checks.lengths import tested
from appyc.passes.loop_ops.cut import cut
from appyc.passes.node_builders import integer, result_of, shifted


def storing(loop: For) -> For:
    """The loop with updates of elements replaced by stores, so that rows which are computed twice stay correct."""

    def rule(node: Node) -> Node:
        match node:
            case Update(mask=None, atomic=False) if node.target.is_array:
                return Store(node.target, node.index, result_of(node), checked=node.checked, loc=node.loc)
            case _:
                return node

    return replace(loop, body=rewrite_all(loop.body, rule))


@dataclass(frozen=True, slots=True)
class Home:
    """The block's own array. base: the row that its first one is. is_copy: the array itself is stored, too."""

    array: Symbol
    base: Expr
    is_copy: bool


def cut_to_rows(one: Member, first: Expr, last: Expr) -> For:
    """The iterations of a member for some rows."""
    loop = one.loop
    lo, hi = shifted(first, -one.row), shifted(last, -one.row)
    starts = loop.lo == integer(0, loop.loc) and _is_count(lo)
    return replace(cut(loop, lo, hi), lo=lo) if starts else cut(loop, lo, hi)


def _is_count(expr: Expr) -> bool:
    """Whether a number of blocks times their rows, with what is added, is seen to be 0 or more."""
    match expr:
        case Binary("*", Var(), Const()):
            return True
        case Binary("+", lhs, rhs):
            return _is_count(lhs) and _is_count(rhs)
        case _:
            return isinstance(expr, Const) and expr.value.real >= 0


def into_buffers(loop: For, homes: dict[Symbol, Home], writes: frozenset[Symbol]) -> For:
    """The loop with the block's own arrays."""

    def index(home: Home, given: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return (Binary("-", given[0], home.base, loc=given[0].loc), *given[1:])

    def rule(node: Node) -> Node | tuple[Node, ...]:
        match node:
            case Load() if node.array in homes:
                home = homes[node.array]
                return replace(node, array=home.array, index=index(home, node.index))
            case Store() if node.array in homes and node.array in writes:
                home = homes[node.array]
                own = replace(node, array=home.array, index=index(home, node.index))
                there = Load(home.array, own.index, checked=False, loc=node.loc)
                return (own, replace(node, value=there)) if home.is_copy else own
            case _:
                return node

    (found,) = rewrite_all((loop,), rule)
    return found


def with_buffers(stmt: Stmt, gone: frozenset[Symbol], cleared: frozenset[Symbol]) -> tuple[Stmt, ...]:
    """The replacement for a statement. The allocation of a temporary is reduced to the test of its shape; that of an
    array which blocks clear is not filled with zeros."""
    if isinstance(stmt, Alloc) and stmt.array in gone:
        return tested(stmt)
    return (replace(stmt, zero=False),) if isinstance(stmt, Alloc) and stmt.array in cleared else (stmt,)
