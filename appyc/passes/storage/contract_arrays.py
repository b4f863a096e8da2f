"""Array contraction: a temporary of which an iteration uses one element, or one row, becomes a scalar, or that row.

    new = empty((n,))
    for i in range(0, n):                           for i in range(0, n):
        new[i] = a[i] * x[i]          ->                new = a[i] * x[i]
        y[i] = new[i] + y[i]                            y[i] = new + y[i]

    e = empty((n, m))                               for i in range(0, n):
    for i in range(0, n):                               e = empty((m,))
        for j in range(0, m):                           for j in range(0, m):
            e[i, j] = exp(x[i, j])            ->            e[j] = exp(x[i, j])
            s += e[i, j]                                    s += e[j]
        for j in range(0, m):                           for j in range(0, m):
            y[i, j] = e[i, j] / s                           y[i, j] = e[j] / s

The array is local to the function and is not returned. In every access the index on some axes is the variable of a loop
around all accesses, so that no iteration accesses what another one wrote: these axes go. The scalar of an array of
zeros is set to 0 at the start of every iteration. A row stays in the cache between its store and its reads, and every
thread has one of its own.

A row that is read again in each iteration of an inner loop, such as a factor of a matrix product, is not contracted:
such loops perform best on several rows at once.

Requires: accesses of the array cannot raise any more (`check_bounds` has run).

Does not handle: rows for a GPU, where each iteration's row would be a part of one array again; lengths of rows that
are not known before the loop.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass, replace

from appyc.analysis.accesses.uses import Use, Uses
from appyc.ir import nodes as ir
from appyc.ir.array_accesses import is_access_to
from appyc.ir.blocks import Loop
from appyc.ir.invariance import changed_in, is_invariant
from appyc.ir.names import NameSupply
from appyc.ir.types import ArrayType
from appyc.ir.visit import rewrite, scalars_read, walk
from appyc.passes.checks.lengths import tested
from appyc.passes.loop_ops.contract import contracted
from appyc.passes.node_builders import zero
from appyc.passes.pass_context import PassContext


def contract_arrays(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with scalars and rows for such arrays."""
    allocs = [n for n in walk(fn) if isinstance(n, ir.Alloc)]
    made = [alloc.array for alloc in allocs]
    names, uses = NameSupply.after(fn), Uses.of(fn)
    plans: dict[ir.Symbol, _Plan] = {}
    starts: dict[ir.Symbol, list[ir.Stmt]] = {}
    for alloc in allocs:
        old = alloc.array
        plan = _plan(fn, alloc, uses, names) if made.count(old) == 1 else None
        if plan is None or (ctx.options.on_gpu and plan.memory.is_array):
            continue
        plans[old] = plan
        ctx.contracted[old] = plan.home.var
        first = starts.setdefault(plan.home.var, [])
        if plan.memory.is_array:
            first.insert(0, replace(alloc, array=plan.memory, shape=plan.kept(alloc.shape)))
            what = "is never stored whole: an iteration has a row of it at a time"
        else:
            if not _starts_with_store(plan.home.body, old):
                first.insert(0, ir.Assign(plan.memory, zero(old.dtype, alloc.loc), loc=alloc.loc))
            what = "is never stored: its elements stay in registers"
        ctx.remark(alloc.loc, f"'{old.name}' {what}")

    def rule(node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
        match node:
            case ir.Alloc(array=array) if array in plans:
                return tested(node)
            case ir.Load(array=array) | ir.Store(array=array) | ir.Update(target=array) if array in plans:
                return contracted(node, array, plans[array].memory, plans[array].kept)
            case ir.For(var=var) if var in starts:
                return replace(node, body=(*starts[var], *node.body))
            case _:
                return node

    return rewrite(fn, rule) if plans else fn


@dataclass(frozen=True, slots=True)
class _Plan:
    """home: the loop whose iterations have an element or a row each, in `memory`. axes: those that are left."""

    home: ir.For
    memory: ir.Symbol
    axes: tuple[int, ...]

    def kept(self, of_axes: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
        return tuple(of_axes[axis] for axis in self.axes)


def _plan(fn: ir.Function, alloc: ir.Alloc, known: Uses, names: NameSupply) -> _Plan | None:
    array = alloc.array
    uses = known.by_array.get(array, [])
    if not uses or array in known.sized or any(r.value == array for r in fn.results):
        return None
    loops = known.loops_within(alloc, uses)
    nest = _nest(loops, uses)
    if not nest:
        return None
    home, inside = nest[-1][1], loops[len(nest) :]
    gone, variables = {axis for axis, _ in nest}, {loop.var for _, loop in nest}
    kept = tuple(axis for axis in range(array.array.ndim) if axis not in gone)
    if all(isinstance(loop, ir.While) for loop in inside) and all(
        _is_one(uses, axis, variables) for axis in kept
    ):
        return _Plan(home, names.fresh(array.name, array.dtype), ())
    sizes = [alloc.shape[axis] for axis in kept]
    if (
        not kept
        or any(_is_read_anew(use, home) for use in uses)
        or not is_invariant(sizes, changed_in(loops[0]))
    ):
        return None
    return _Plan(home, names.fresh(array.name, ArrayType(array.dtype, len(kept))), kept)


def _nest(loops: Sequence[Loop], uses: list[Use]) -> list[tuple[int, ir.For]]:
    """The outer ones of these loops whose variables every use names on an axis, each with that axis. Iterations of the
    next one share what they access."""
    found: dict[int, ir.For] = {}
    for loop in loops:
        axis = _axis(loop, uses, found) if isinstance(loop, ir.For) else None
        if axis is None or not isinstance(loop, ir.For):
            break
        found[axis] = loop
    return list(found.items())


def _axis(loop: ir.For, uses: list[Use], taken: Collection[int]) -> int | None:
    """The axis at which every use names the loop's variable."""
    var = ir.Var(loop.var, loc=loop.loc)
    for axis in range(len(uses[0].index)):
        if axis not in taken and all(use.index[axis] == var for use in uses):
            return axis
    return None


def _is_one(uses: list[Use], axis: int, variables: Set[ir.Symbol]) -> bool:
    """Whether every use has one index on an axis, of constants and of these variables."""
    index = uses[0].index[axis]
    changes = any(
        isinstance(n, ir.Load | ir.Extent) or (isinstance(n, ir.Var) and n.symbol not in variables)
        for n in walk(index)
    )
    return not changes and all(use.index[axis] == index for use in uses)


def _is_read_anew(use: Use, home: ir.For) -> bool:
    """Whether a loop inside `home` goes over the same elements in each of its iterations."""
    named = scalars_read(use.index)
    depth = next(depth for depth, loop in enumerate(use.around) if loop is home)
    inside = use.around[depth + 1 :]
    return any(isinstance(loop, ir.For) and loop.var not in named for loop in inside)


def _starts_with_store(body: tuple[ir.Stmt, ...], array: ir.Symbol) -> bool:
    """Whether the element is written before it is used, on every path."""
    for stmt in body:
        if isinstance(stmt, ir.Store) and stmt.array == array:
            return not any(isinstance(n, ir.Load) and n.array == array for n in walk(stmt))
        if any(is_access_to(n, array) for n in walk(stmt)):
            return False
    return False
