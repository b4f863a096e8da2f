"""The accesses to elements of arrays in a tree, as its nodes name them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import TypeAlias, TypeGuard

from appyc.ir import nodes as ir
from appyc.ir.affine import linear_form
from appyc.ir.raising import traps_overflow
from appyc.ir.types import Layout
from appyc.ir.visit import Rule, children, map_operands, rewrite_all, scalars_read, walk

AccessNode: TypeAlias = ir.Load | ir.Store | ir.Update


def is_access(node: ir.Node) -> TypeGuard[AccessNode]:
    """Whether the node itself reads, stores or updates an element of an array."""
    return isinstance(node, ir.Load | ir.Store) or (isinstance(node, ir.Update) and node.target.is_array)


def is_numbered(node: ir.Node) -> TypeGuard[AccessNode | ir.Alloc | ir.View]:
    """Whether the node counts where accesses are numbered: an access, an `Alloc` that keeps elements, or an array that
    a call is given."""
    return (
        is_access(node) or isinstance(node, ir.View) or (isinstance(node, ir.Alloc) and node.kept is not None)
    )


def numbered(nodes: tuple[ir.Node, ...]) -> list[AccessNode | ir.Alloc | ir.View]:
    """The nodes that count where accesses are numbered, in that order."""
    out: list[AccessNode | ir.Alloc | ir.View] = []

    def note(node: ir.Node) -> ir.Node:
        if is_numbered(node):
            out.append(node)
        return node

    rewrite_all(nodes, note)
    return out


def by_number(new: Callable[[int, AccessNode], ir.Node | tuple[ir.Node, ...]]) -> Rule:
    """A rule that replaces each access by `new(number, access)`, numbered as `accesses_of` finds them."""
    numbers = count()

    def rule(node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
        number = next(numbers) if is_numbered(node) else -1
        return new(number, node) if is_access(node) else node

    return rule


def array_of(access: AccessNode | ir.Alloc | ir.View) -> ir.Symbol:
    return access.target if isinstance(access, ir.Update) else access.array


def step_along_rows(array: ir.Symbol, index: tuple[ir.Expr, ...], var: ir.Symbol) -> int:
    """1 where consecutive values of a scalar name consecutive elements along the contiguous axis, -1 where these are in
    descending order, 0 otherwise. Other axes may depend on the scalar, too."""
    if not index or array.array.layout is Layout.STRIDED:
        return 0
    along = index[-1 if array.array.layout is Layout.C else 0]
    form, here = linear_form(along), ir.Var(var, loc=along.loc)
    step = form.terms.get(here, 0)
    others = {s for term in form.terms if term != here for s in scalars_read(term)}
    return step if step in (1, -1) and var not in others else 0


def redirected(access: AccessNode, array: ir.Symbol, index: tuple[ir.Expr, ...]) -> AccessNode:
    """The access, to an element of another array."""
    if isinstance(access, ir.Update):
        return replace(access, target=array, index=index)
    return replace(access, array=array, index=index)


def touches(node: ir.Node, array: ir.Symbol) -> bool:
    """Whether the node itself accesses, resizes or passes on an array."""
    return is_numbered(node) and array_of(node) == array


def is_access_to(node: ir.Node, array: ir.Symbol) -> TypeGuard[AccessNode]:
    return is_access(node) and array_of(node) == array


def bounds_tests(node: ir.Node) -> tuple[tuple[ir.Expr, ir.Expr], ...]:
    """The indices that the node itself tests, each with its extent."""
    if isinstance(node, ir.BoundsCheck):
        return ((node.index, node.extent),)
    if not is_access(node) or not node.checked:
        return ()
    array = array_of(node)
    return tuple((index, ir.Extent(array, axis, loc=node.loc)) for axis, index in enumerate(node.index))


def without_check(node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
    """The access without its test of the index; nothing for what is only that test."""
    if isinstance(node, ir.BoundsCheck):
        return ()
    return replace(node, checked=False) if is_access(node) else node


def in_bounds(node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
    """An access whose index is known to be in range, without its check and without traps on overflow in its
    index; nothing for a node that is only a check."""
    if not is_access(node):
        return without_check(node)
    return replace(node, checked=False, index=tuple(without_traps(e) for e in node.index))


def without_traps(index: ir.Expr) -> ir.Expr:
    """An index whose sums and products wrap where they exceed 64 bits."""
    if not isinstance(index, ir.Binary | ir.Unary) or index.op not in ("+", "-", "*"):
        return index
    index = map_operands(index, without_traps)
    return replace(index, trap=False) if isinstance(index, ir.Binary) else index


def may_wrap(index: ir.Expr, var: ir.Symbol) -> bool:
    """Whether a sum or a product depends on a variable, or traps, so that 64 bits may not hold it."""
    if not isinstance(index, ir.Binary | ir.Unary) or index.op not in ("+", "-", "*"):
        return False
    return var in scalars_read(index) or any(traps_overflow(n) for n in walk(index))


REPEATS = 8
"""The assumed trip count of a loop whose extent is not known; only ratios matter."""


def repeated_accesses(node: ir.Node, times: int = 1) -> Iterator[tuple[AccessNode, int]]:
    """The accesses below a node, and how often each is made with REPEATS iterations of each loop."""
    if is_access(node):
        yield node, times
    for child in children(node):
        yield from repeated_accesses(child, times * REPEATS if isinstance(node, ir.For | ir.While) else times)


def accesses_in(nodes: ir.Node | Iterable[ir.Node]) -> Iterator[tuple[ir.Symbol, tuple[ir.Expr, ...], bool]]:
    """The array and the index of each access, and whether it writes."""
    for node in walk(nodes):
        if is_access(node):
            yield array_of(node), node.index, not isinstance(node, ir.Load)


def passed_arrays(nodes: ir.Node | Iterable[ir.Node]) -> set[ir.Symbol]:
    """The arrays that calls are given, of which any element may be read or stored into."""
    return {n.array for n in walk(nodes) if isinstance(n, ir.View)}
