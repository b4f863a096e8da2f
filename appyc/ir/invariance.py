"""Loop invariance: what changes in code, and which expressions may be evaluated before it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set

from appyc.ir import nodes as ir
from appyc.ir.raising import raises_itself
from appyc.ir.visit import children, loops_of, scalars_written, statements, walk


def changed_in(node: ir.Node | Collection[ir.Node]) -> set[ir.Symbol]:
    """Scalars that are written, loop variables among them, and arrays that are made: their extents change."""
    return scalars_written(node) | {loop.var for loop in loops_of(node)} | arrays_made(node)


def arrays_made(node: ir.Node | Iterable[ir.Node]) -> set[ir.Symbol]:
    return set(array_makings(node))


def array_makings(node: ir.Node | Iterable[ir.Node]) -> Iterator[ir.Symbol]:
    """The arrays that are allocated, or that a call may resize, once for each statement that does so."""
    for stmt in statements(node):
        match stmt:
            case ir.Alloc(array=array):
                yield array
            case ir.Assign(value=ir.Call() as call):
                yield from (view.array for view in call.views if view.resized)


def resized_parameters(fn: ir.Function) -> frozenset[ir.Symbol]:
    """The arrays that a callee is given, and that it may resize."""
    return frozenset(fn.params) & arrays_made(fn.body)


def is_invariant(
    exprs: ir.Node | Iterable[ir.Node], changed: Set[ir.Symbol], stored: Set[ir.Symbol] | None = None
) -> bool:
    """Whether expressions may be evaluated before code that changes these: they raise nothing, and read no element but
    of arrays that are not `stored` into, where these are known."""
    return not any(
        (isinstance(n, ir.Load) and (stored is None or n.array in stored))
        or (isinstance(n, ir.Var) and n.symbol in changed)
        or (isinstance(n, ir.Extent) and n.array in changed)
        or raises_itself(n)
        for n in walk(exprs)
    )


def evaluated_always(node: ir.Node) -> Iterator[ir.Node]:
    """The node and the parts of it that are evaluated whenever it is reached, in that order: operands first."""
    match node:
        case ir.If() | ir.While() | ir.Select():
            parts: Iterable[ir.Node] = (node.cond,)
        case ir.For():
            parts = (node.lo, node.hi)
        case ir.Logical():
            parts = (node.lhs,)
        case ir.Store() | ir.Update() if node.mask is not None:
            parts = (node.mask,)
        case _:
            parts = children(node)
    for part in parts:
        yield from evaluated_always(part)
    yield node
