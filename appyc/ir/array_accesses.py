"""The accesses to elements of arrays in a tree, as its nodes name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, TypeGuard

from appyc.ir.nodes import Expr, Load, Node, Store, Symbol, Update
from appyc.ir.visit import walk

AccessNode: TypeAlias = Load | Store | Update


def is_access(node: Node) -> TypeGuard[AccessNode]:
    """Whether the node itself reads, stores or updates an element of an array."""
    return isinstance(node, Load | Store) or (isinstance(node, Update) and node.target.is_array)


def array_of(access: AccessNode) -> Symbol:
    return access.target if isinstance(access, Update) else access.array


def is_access_to(node: Node, array: Symbol) -> bool:
    return is_access(node) and array_of(node) == array


def accesses_in(nodes: Node | Iterable[Node]) -> Iterator[tuple[Symbol, tuple[Expr, ...], bool]]:
    """The array and the index of each access, and whether it writes."""
    for node in walk(nodes):
        if is_access(node):
            yield array_of(node), node.index, not isinstance(node, Load)
