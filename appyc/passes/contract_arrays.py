"""A temporary array of which an iteration uses one element only becomes a scalar.

    new = empty((n,))
    for i in range(0, n):                   for i in range(0, n):
        new[i] = a[i] * x[i]          ->        new = a[i] * x[i]
        y[i] = new[i] + y[i]                    y[i] = new + y[i]

The array is made in the function, is not returned, and is named at one and the same place in
all of its uses, by variables of loops around all of them: then no iteration reads what
another one wrote. An array of zeros starts as 0 in every iteration.

Requires: accesses of the array cannot raise any more (`check_bounds` has run).

Does not handle: arrays of which an iteration uses a row (`contract_rows`).
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.uses import loops_within, uses_of
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Extent,
    For,
    Function,
    Load,
    Node,
    Stmt,
    Store,
    Symbol,
    Update,
    Var,
    While,
)
from appyc.ir.visit import rewrite, walk
from appyc.passes.build import zero
from appyc.passes.context import PassContext
from appyc.passes.lengths import tested


def contract_arrays(fn: Function, ctx: PassContext) -> Function:
    """The function with scalars for such arrays."""
    allocs = [n for n in walk(fn) if isinstance(n, Alloc)]
    times = {a.array: sum(1 for b in allocs if b.array == a.array) for a in allocs}
    names = NameSupply.after(fn)
    for alloc in allocs:
        if times[alloc.array] == 1 and (home := _home(fn, alloc)) is not None:
            fn = _contracted(fn, alloc, home, names.fresh(alloc.array.name, alloc.array.dtype))
            ctx.contracted[alloc.array] = home.var
            ctx.remark(alloc.loc, f"'{alloc.array.name}' is never stored: its elements stay in registers")
    return fn


def _home(fn: Function, alloc: Alloc) -> For | None:
    """The innermost loop around all uses, whose iterations have an element each; None if there is none."""
    array = alloc.array
    if any(r.value == array for r in fn.results) or any(
        isinstance(n, Extent) and n.array == array for n in walk(fn)
    ):
        return None
    uses = uses_of(fn, array)
    if not uses or any(use.index != uses[0].index for use in uses):
        return None
    inside = loops_within(fn, alloc, uses)
    while inside and isinstance(inside[-1], While):
        inside = inside[:-1]  # its iterations go on with the element
    loops = [loop for loop in inside if isinstance(loop, For)]
    if not loops or len(loops) < len(inside):
        return None  # a `while` around the loop would find what was there the last time
    index = uses[0].index
    named = [i.symbol for i in index if isinstance(i, Var)]
    constant = [i for i in index if not isinstance(i, Var)]
    own = {loop.var for loop in loops}
    if set(named) != own or any(isinstance(n, Var | Load | Extent) for i in constant for n in walk(i)):
        return None  # two iterations would share an element
    return loops[-1]


def _contracted(fn: Function, alloc: Alloc, home: For, scalar: Symbol) -> Function:
    array = alloc.array
    starts_first = _starts_with_store(home.body, array)

    def rule(node: Node) -> Node | tuple[Node, ...]:
        match node:
            case Alloc() if node.array == array:
                return tested(node)
            case Load() if node.array == array:
                return Var(scalar, loc=node.loc)
            case Store() if node.array == array:
                return Assign(scalar, node.value, loc=node.loc)
            case Update() if node.target == array:
                return replace(node, target=scalar, index=(), checked=True)
            case For() if node.var == home.var and not starts_first:
                start = Assign(scalar, zero(scalar.dtype, alloc.loc), loc=alloc.loc)
                return replace(node, body=(start, *node.body))
            case _:
                return node

    return rewrite(fn, rule)


def _starts_with_store(body: tuple[Stmt, ...], array: Symbol) -> bool:
    """Whether the element is written before it is used, on every path."""
    for stmt in body:
        if isinstance(stmt, Store) and stmt.array == array:
            return not any(isinstance(n, Load) and n.array == array for n in walk(stmt))
        touched = (n.array if isinstance(n, Load | Store) else n.target for n in walk(stmt)
                   if isinstance(n, Load | Store | Update))  # fmt: skip
        if array in set(touched):
            return False
    return False
