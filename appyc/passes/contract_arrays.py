"""A temporary array of which an iteration uses one element only becomes a scalar.

    new = empty((n,))
    for i in range(0, n):                   for i in range(0, n):
        new[i] = a[i] * x[i]          ->        new = a[i] * x[i]
        y[i] = new[i] + y[i]                    y[i] = new + y[i]

The array is made in the function, is not returned, and is named at one and the same place in
all of its uses, by variables of loops around all of them: then no iteration reads what
another one wrote. An array of zeros starts as 0 in every iteration.

Requires: accesses of the array cannot raise any more (`check_bounds` has run).

Does not handle: arrays of which an iteration uses a row.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Expr,
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
)
from appyc.ir.visit import children, rewrite, walk
from appyc.passes.build import zero
from appyc.passes.context import PassContext


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
    uses = list(_uses(fn, array, ()))
    if not uses:
        return None
    index = uses[0][0]
    if any(other != index for other, _ in uses):
        return None
    common = [loop for loop in uses[0][1] if all(loop in around for _, around in uses)]
    own = {loop.var for loop in common if alloc not in loop.body}
    named = [i.symbol for i in index if isinstance(i, Var)]
    constant = [i for i in index if not isinstance(i, Var)]
    if not set(named) <= own or any(isinstance(n, Var | Load | Extent) for i in constant for n in walk(i)):
        return None
    inside = _loops_inside(fn, alloc, common)
    if not inside or not {loop.var for loop in inside} <= set(named):
        return None  # two iterations would share an element
    return inside[-1]


def _loops_inside(fn: Function, alloc: Alloc, common: list[For]) -> list[For]:
    """The common loops that the array is made outside of."""
    around = next(loops for node, loops in _with_loops(fn, ()) if node is alloc)
    return common[len(around) :]


def _with_loops(node: Node, loops: tuple[For, ...]) -> list[tuple[Node, tuple[For, ...]]]:
    out: list[tuple[Node, tuple[For, ...]]] = [(node, loops)]
    inner = (*loops, node) if isinstance(node, For) else loops
    for child in children(node):
        out += _with_loops(child, inner)
    return out


def _uses(
    fn: Function, array: Symbol, loops: tuple[For, ...]
) -> list[tuple[tuple[Expr, ...], tuple[For, ...]]]:
    """The index of every access of the array, and the loops around it."""
    out = []
    for node, around in _with_loops(fn, loops):
        match node:
            case Load() | Store() if node.array == array:
                out.append((node.index, around))
            case Update() if node.target == array:
                out.append((node.index, around))
    return out


def _contracted(fn: Function, alloc: Alloc, home: For, scalar: Symbol) -> Function:
    array = alloc.array
    starts_first = _starts_with_store(home.body, array)

    def rule(node: Node) -> Node | tuple[Node, ...]:
        match node:
            case Alloc() if node.array == array:
                return ()
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
