"""Loop invariance: what changes in code, and which expressions may be evaluated before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from appyc.ir.nodes import (
    Alloc,
    Extent,
    For,
    If,
    Load,
    Logical,
    Node,
    Select,
    Store,
    Symbol,
    Update,
    Var,
    While,
)
from appyc.ir.raising import is_fault_site
from appyc.ir.visit import children, scalars_written, statements, walk


def changed_in(node: Node | Iterable[Node]) -> set[Symbol]:
    """Scalars that are written, loop variables among them, and arrays that are made: their extents change."""
    out = scalars_written(node)
    for n in statements(node):
        if isinstance(n, For):
            out.add(n.var)
        elif isinstance(n, Alloc):
            out.add(n.array)
    return out


def is_invariant(exprs: Node | Iterable[Node], changed: Set[Symbol]) -> bool:
    """Whether expressions may be evaluated before code that changes these: they raise nothing, and read no element."""
    return not any(
        isinstance(n, Load)
        or (isinstance(n, Var) and n.symbol in changed)
        or (isinstance(n, Extent) and n.array in changed)
        or is_fault_site(n)
        for n in walk(exprs)
    )


def evaluated_always(node: Node) -> Iterator[Node]:
    """The node and the parts of it that are evaluated whenever it is reached, in that order: operands first."""
    match node:
        case If() | While() | Select():
            parts: Iterable[Node] = (node.cond,)
        case For():
            parts = (node.lo, node.hi)
        case Logical():
            parts = (node.lhs,)
        case Store() | Update() if node.mask is not None:
            parts = (node.mask,)
        case _:
            parts = children(node)
    for part in parts:
        yield from evaluated_always(part)
    yield node
