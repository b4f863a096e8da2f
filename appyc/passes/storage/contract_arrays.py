"""Array contraction: a temporary of which an iteration uses one element becomes a scalar.

    new = empty((n,))
    for i in range(0, n):                   for i in range(0, n):
        new[i] = a[i] * x[i]          ->        new = a[i] * x[i]
        y[i] = new[i] + y[i]                    y[i] = new + y[i]

The array is local to the function and is not returned. All its accesses have the same index, which consists of
variables of loops that enclose all accesses. Then no iteration reads an element that another one wrote. For an
array of zeros, the scalar is set to 0 at the start of every iteration.

Requires: accesses of the array cannot raise any more (`check_bounds` has run).

Does not handle: arrays of which an iteration uses a row (`contract_rows`).
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.accesses.uses import Uses
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
from appyc.passes.checks.lengths import tested
from appyc.passes.loop_ops.contract import contracted
from appyc.passes.node_builders import zero
from appyc.passes.pass_context import PassContext


def contract_arrays(fn: Function, ctx: PassContext) -> Function:
    """The function with scalars for such arrays."""
    allocs = [n for n in walk(fn) if isinstance(n, Alloc)]
    times = {a.array: sum(1 for b in allocs if b.array == a.array) for a in allocs}
    names = NameSupply.after(fn)
    uses = Uses.of(fn)
    scalars: dict[Symbol, Symbol] = {}
    starts: dict[Symbol, list[Stmt]] = {}
    for alloc in allocs:
        if times[alloc.array] == 1 and (home := _home(fn, alloc, uses)) is not None:
            scalar = scalars[alloc.array] = names.fresh(alloc.array.name, alloc.array.dtype)
            if not _starts_with_store(home.body, alloc.array):
                start = Assign(scalar, zero(scalar.dtype, alloc.loc), loc=alloc.loc)
                starts.setdefault(home.var, []).insert(0, start)
            ctx.contracted[alloc.array] = home.var
            ctx.remark(alloc.loc, f"'{alloc.array.name}' is never stored: its elements stay in registers")
    return _contracted(fn, scalars, starts) if scalars else fn


def _home(fn: Function, alloc: Alloc, known: Uses) -> For | None:
    """The innermost loop around all uses, whose iterations have an element each; None if there is none."""
    array = alloc.array
    if any(r.value == array for r in fn.results) or array in known.sized:
        return None
    uses = known.by_array.get(array, [])
    if not uses or any(use.index != uses[0].index for use in uses):
        return None
    inside = known.loops_within(alloc, uses)
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


def _contracted(fn: Function, scalars: dict[Symbol, Symbol], starts: dict[Symbol, list[Stmt]]) -> Function:
    """The function with scalars for arrays. starts: what the iterations of loops, by their variables, begin with."""

    def rule(node: Node) -> Node | tuple[Node, ...]:
        match node:
            case Alloc() if node.array in scalars:
                return tested(node)
            case Load(array=array) | Store(array=array) | Update(target=array) if array in scalars:
                return contracted(node, array, scalars[array], lambda index: index)
            case For() if node.var in starts:
                return replace(node, body=(*starts[node.var], *node.body))
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
