"""Removes stores into arrays that are never read, and the arrays.

    t = zeros((n,))                             for i in range(0, n):
    for i in range(0, n):                           b[i] = a[i] + 1.0
        t[i] = a[i]                    ->
    for i in range(0, n):
        b[i] = a[i] + 1.0

An array that the function allocates is live if an element is loaded, if its shape is read, or if it is returned.
Loops and branches that become empty are removed, too (`dead_code_elimination`).

Requires: `check_bounds` has run; a store that can still raise is kept, and so is the test of a length
that could be negative: the program raises where Python would.

Does not handle: elements that are overwritten before they are read.
"""

from __future__ import annotations

from appyc.ir.invariance import arrays_made
from appyc.ir.nodes import Alloc, Apart, Ascending, Extent, Function, Load, Node, Store, Symbol, Update, View
from appyc.ir.raising import may_raise
from appyc.ir.visit import rewrite, walk
from appyc.passes.checks.lengths import tested
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.dead_code_elimination import dead_code_elimination


def dead_store_elimination(fn: Function, ctx: PassContext) -> Function:
    """The function without dead arrays: those that are neither read nor returned."""
    while dead := _unread(fn):
        out = _without(fn, dead, _held(fn))
        if out is fn:
            break
        fn = dead_code_elimination(out, ctx)
    return fn


def _without(fn: Function, dead: frozenset[Symbol], held: frozenset[Symbol]) -> Function:
    def rule(node: Node) -> Node | tuple[Node, ...]:
        match node:
            case Store() if node.array in dead and not may_raise(node):
                return ()
            case Update() if node.target in dead and not may_raise(node):
                return ()
            case Alloc() if node.array in dead - held:
                return tested(node)
            case _:
                return node

    return rewrite(fn, rule)


def _unread(fn: Function) -> frozenset[Symbol]:
    used: set[object] = {result.value for result in fn.results}
    for node in walk(fn):
        match node:
            case Load() | Extent() | Ascending() | View():
                used.add(node.array)
            case Apart():
                used |= {touched.array for touched in (*node.writes, *node.reads)}
    return frozenset(arrays_made(fn) - used)


def _held(fn: Function) -> frozenset[Symbol]:
    """Arrays with stores that must be kept, as they may raise."""
    return frozenset(
        n.array if isinstance(n, Store) else n.target
        for n in walk(fn)
        if isinstance(n, Store | Update) and may_raise(n)
    )
