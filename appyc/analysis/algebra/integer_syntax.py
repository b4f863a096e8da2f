"""Facts about a function's integers that follow from its text, whatever bounds its parameters have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from appyc.ir import nodes as ir
from appyc.ir.blocks import blocks_of
from appyc.ir.integers import is_integer
from appyc.ir.types import DType
from appyc.ir.visit import children, scalar_reads, scalar_writes, scalars_read, statements, walk


@dataclass(frozen=True, slots=True)
class IntegerSyntax:
    """size: how many nodes there are. ended: as `last_occurrences` says. growing: the nodes that are or contain
    operations on Python ints, by `id`. moving: as `setting_integers` says. counters: scalars to which loops only add
    what they do not read them for."""

    size: int
    ended: Mapping[int, set[ir.Symbol]]
    growing: frozenset[int]
    moving: frozenset[int]
    counters: tuple[ir.Symbol, ...]

    @classmethod
    def of(cls, fn: ir.Function) -> IntegerSyntax:
        size = sum(1 for _ in walk(fn.body))
        return cls(size, last_occurrences(fn), _growing(fn), setting_integers(fn.body), _counters(fn))


def _growing(fn: ir.Function) -> frozenset[int]:
    found: set[int] = set()
    for node in reversed(list(walk(fn))):  # parts before what they are parts of
        is_one = isinstance(node, ir.Binary | ir.Unary) and (
            node.python or (isinstance(node, ir.Binary) and node.trap)
        )
        if is_one or any(id(part) in found for part in children(node)):
            found.add(id(node))
    return frozenset(found)


def _counters(fn: ir.Function) -> tuple[ir.Symbol, ...]:
    found: dict[ir.Symbol, None] = {}
    others: set[ir.Symbol] = set()
    for node in walk(fn.body):
        if isinstance(node, ir.Assign) and node.target.dtype is DType.INT64:
            if added_in(node) is not None:
                found.setdefault(node.target)
            elif node.target in scalars_read(node.value):
                others.add(node.target)
        elif isinstance(node, ir.Update) and not node.target.is_array:
            others.add(node.target)
    return tuple(s for s in found if s not in others)


def added_in(node: ir.Assign) -> ir.Expr | None:
    """The increment `e` of `s = s + e` or `s = s - e`, where it does not read `s`; else None."""
    match node.value:
        case ir.Binary(op="+" | "-", lhs=ir.Var(symbol=symbol), rhs=other) if symbol == node.target:
            pass
        case ir.Binary(op="+", lhs=other, rhs=ir.Var(symbol=symbol)) if symbol == node.target:
            pass
        case _:
            return None
    return None if node.target in scalars_read(other) else other


def last_occurrences(fn: ir.Function) -> dict[int, set[ir.Symbol]]:
    """The scalars that occur in a statement, by its `id`, and neither behind it in its block nor outside that block."""
    left = Counter(fn.params)  # a loop's next iteration reads what the one before has not set
    left.update(scalar_reads(result.value for result in fn.results if isinstance(result.value, ir.Node)))
    occurring: dict[int, list[ir.Symbol]] = {}
    for stmt in statements(fn.body):
        left.update(occurring.setdefault(id(stmt), list(_occurring(stmt))))
    out: dict[int, set[ir.Symbol]] = {}

    def block(body: tuple[ir.Stmt, ...]) -> dict[ir.Symbol, int]:
        """How often scalars occur that do so elsewhere, too."""
        found: dict[ir.Symbol, int] = {}
        for stmt in body:
            inside = [block(inner).items() for inner in blocks_of(stmt)]
            for symbol, number in chain(((symbol, 1) for symbol in occurring[id(stmt)]), *inside):
                found[symbol] = found.get(symbol, 0) + number
                if found[symbol] == left[symbol]:
                    del found[symbol]
                    out.setdefault(id(stmt), set()).add(symbol)
        return found

    block(fn.body)
    return out


def _occurring(stmt: ir.Node) -> Iterator[ir.Symbol]:
    """The scalars that a statement names itself, outside the blocks in it."""
    match stmt:
        case ir.If() | ir.While():
            yield from scalar_reads(stmt.cond)
        case ir.For():
            yield stmt.var
            yield from scalar_reads(stmt.bounds)
        case _:
            yield from scalar_writes(stmt)
            yield from scalar_reads(stmt)


def setting_integers(body: Iterable[ir.Stmt]) -> frozenset[int]:
    """The loops and branches in some statements, by `id`, that may change an integer scalar."""
    found: set[int] = set()

    def changes(stmt: ir.Stmt) -> bool:
        if not (blocks := blocks_of(stmt)):
            return any(is_integer(symbol.dtype) for symbol in scalar_writes(stmt))
        if sum(changes(inner) for block in blocks for inner in block):
            found.add(id(stmt))
        return id(stmt) in found

    for stmt in body:
        changes(stmt)
    return frozenset(found)
