"""Where an array is used, and in which loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from appyc.ir.nodes import Alloc, Expr, For, Function, Load, Node, Store, Symbol, Update, While
from appyc.ir.visit import children

Loop: TypeAlias = For | While


@dataclass(frozen=True, slots=True)
class Use:
    """An access, and the loops around it, outer ones first."""

    index: tuple[Expr, ...]
    around: tuple[Loop, ...]


def uses_of(fn: Function, array: Symbol) -> list[Use]:
    out = []
    for node, around in _with_loops(fn, ()):
        match node:
            case Load() | Store() if node.array == array:
                out.append(Use(node.index, around))
            case Update() if node.target == array:
                out.append(Use(node.index, around))
            case _:
                pass
    return out


def loops_within(fn: Function, alloc: Alloc, uses: list[Use]) -> tuple[Loop, ...]:
    """The loops that are around every use of an array, and that the array is made outside of."""
    common = [loop for loop in uses[0].around if all(any(loop is x for x in use.around) for use in uses)]
    outside = next(loops for node, loops in _with_loops(fn, ()) if node is alloc)
    return tuple(loop for loop in common if not any(loop is x for x in outside))


def _with_loops(node: Node, loops: tuple[Loop, ...]) -> Iterator[tuple[Node, tuple[Loop, ...]]]:
    yield node, loops
    inner = (*loops, node) if isinstance(node, For | While) else loops
    for child in children(node):
        yield from _with_loops(child, inner)
