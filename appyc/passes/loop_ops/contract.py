"""Contraction: accesses to an array become accesses to a smaller memory, a scalar or an array of fewer elements.

    t[i] = x[i] * 2                           t_1 = x[i] * 2
    y[i] = t[i] + 1              ->           y[i] = t_1 + 1

Legal where accesses to one element of the memory are to one element of the array, as long as its value is needed:
the caller shows that by the live range of the elements, as `contract_arrays` does for iterations and
`overlapped_tiling` for tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from appyc.ir.array_accesses import is_access_to, redirected
from appyc.ir.nodes import Assign, Expr, Load, Node, Store, Symbol, Var

Index: TypeAlias = tuple[Expr, ...]


def contracted(node: Node, array: Symbol, memory: Symbol, index: Callable[[Index], Index] = tuple) -> Node:
    """The node with its own access to `array` in `memory`; other nodes as they are. index: of the element there."""
    if not is_access_to(node, array):
        return node
    if memory.is_array:
        return redirected(node, memory, index(node.index))
    match node:
        case Load():
            return Var(memory, loc=node.loc)
        case Store():
            return Assign(memory, node.value, loc=node.loc)
        case _:
            return replace(node, target=memory, index=(), checked=True)
