"""Loop invariance: what changes in code, and which expressions may be evaluated before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from appyc.ir.nodes import Alloc, Extent, For, If, Load, Logical, Node, Select, Symbol, Var
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
    """The parts of a statement that are evaluated whenever it is reached."""
    yield node
    match node:
        case If() | Select():
            yield from evaluated_always(node.cond)
        case Logical():
            yield from evaluated_always(node.lhs)
        case _:
            for child in children(node):
                yield from evaluated_always(child)
