"""The accesses to elements of arrays in a tree, as its nodes name them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import TypeAlias, TypeGuard

from appyc.ir.nodes import (
    Alloc,
    BoundsCheck,
    Expr,
    Extent,
    For,
    Load,
    Node,
    Store,
    Symbol,
    Update,
    While,
)
from appyc.ir.visit import Rule, children, rewrite_all, walk

AccessNode: TypeAlias = Load | Store | Update


def is_access(node: Node) -> TypeGuard[AccessNode]:
    """Whether the node itself reads, stores or updates an element of an array."""
    return isinstance(node, Load | Store) or (isinstance(node, Update) and node.target.is_array)


def is_numbered(node: Node) -> TypeGuard[AccessNode | Alloc]:
    """Whether the node counts where accesses are numbered: an access, or an `Alloc` that keeps elements."""
    return is_access(node) or (isinstance(node, Alloc) and node.kept is not None)


def numbered(nodes: tuple[Node, ...]) -> list[AccessNode | Alloc]:
    """The nodes that count where accesses are numbered, in that order."""
    out: list[AccessNode | Alloc] = []

    def note(node: Node) -> Node:
        if is_numbered(node):
            out.append(node)
        return node

    rewrite_all(nodes, note)
    return out


def by_number(new: Callable[[int, AccessNode], Node | tuple[Node, ...]]) -> Rule:
    """A rule that replaces each access by `new(number, access)`, numbered as `accesses_of` finds them."""
    numbers = count()

    def rule(node: Node) -> Node | tuple[Node, ...]:
        number = next(numbers) if is_numbered(node) else -1
        return new(number, node) if is_access(node) else node

    return rule


def array_of(access: AccessNode | Alloc) -> Symbol:
    return access.target if isinstance(access, Update) else access.array


def redirected(access: AccessNode, array: Symbol, index: tuple[Expr, ...]) -> AccessNode:
    """The access, to an element of another array."""
    if isinstance(access, Update):
        return replace(access, target=array, index=index)
    return replace(access, array=array, index=index)


def is_access_to(node: Node, array: Symbol) -> TypeGuard[AccessNode]:
    return is_access(node) and array_of(node) == array


def bounds_tests(node: Node) -> tuple[tuple[Expr, Expr], ...]:
    """The indices that the node itself tests, each with its extent."""
    if isinstance(node, BoundsCheck):
        return ((node.index, node.extent),)
    if not is_access(node) or not node.checked:
        return ()
    array = array_of(node)
    return tuple((index, Extent(array, axis, loc=node.loc)) for axis, index in enumerate(node.index))


def without_check(node: Node) -> Node | tuple[Node, ...]:
    """The access without its test of the index; nothing for what is only that test."""
    if isinstance(node, BoundsCheck):
        return ()
    return replace(node, checked=False) if is_access(node) else node


REPEATS = 8
"""The assumed trip count of a loop whose extent is not known; only ratios matter."""


def repeated_accesses(node: Node, times: int = 1) -> Iterator[tuple[AccessNode, int]]:
    """The accesses below a node, and how often each is made with REPEATS iterations of each loop."""
    if is_access(node):
        yield node, times
    for child in children(node):
        yield from repeated_accesses(child, times * REPEATS if isinstance(node, For | While) else times)


def accesses_in(nodes: Node | Iterable[Node]) -> Iterator[tuple[Symbol, tuple[Expr, ...], bool]]:
    """The array and the index of each access, and whether it writes."""
    for node in walk(nodes):
        if is_access(node):
            yield array_of(node), node.index, not isinstance(node, Load)
