"""Array contraction to rows: a temporary of which an iteration uses one row becomes that row.

    e = empty((n, m))                               for i in range(0, n):
    for i in range(0, n):                               e = empty((m,))
        for j in range(0, m):                           for j in range(0, m):
            e[i, j] = exp(x[i, j])            ->            e[j] = exp(x[i, j])
            s += e[i, j]                                    s += e[j]
        for j in range(0, m):                           for j in range(0, m):
            y[i, j] = e[i, j] / s                           y[i, j] = e[j] / s

The array is local to the function and is not returned, and in every access the index on one axis is the
loop variable. Then no iteration accesses a row of another one, and a row stays in the cache between its
store and its reads. Every thread has a private row.

A row that is read again in each iteration of an inner loop, such as a factor of a matrix product, is
not contracted: such loops perform best on several rows at once.

Requires: accesses of the array cannot raise any more (`check_bounds` has run). Runs after
`contract_arrays`, which needs no memory at all.

Does not handle: rows for a GPU, where each iteration's row would be a part of one array again;
lengths that are not known before the loop.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from appyc.analysis.accesses.uses import Use, Uses
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Expr, For, Function, Node, Symbol, Var
from appyc.ir.raising import is_invariant
from appyc.ir.types import ArrayType
from appyc.ir.visit import changed_in, rewrite, walk
from appyc.passes.checks.lengths import tested
from appyc.passes.loop_ops.contract import contracted
from appyc.passes.pass_context import PassContext


def contract_rows(fn: Function, ctx: PassContext) -> Function:
    """The function with rows for such arrays."""
    if ctx.options.on_gpu:
        return fn
    allocs = [n for n in walk(fn) if isinstance(n, Alloc)]
    made = [alloc.array for alloc in allocs]
    names = NameSupply.after(fn)
    uses = Uses.of(fn)
    for alloc in allocs:
        plan = _plan(fn, alloc, uses) if made.count(alloc.array) == 1 else None
        if plan is None:
            continue
        old = alloc.array
        kept = old.array.ndim - len(plan.axes)
        row = names.fresh(old.name, ArrayType(old.dtype, kept))
        fn = _contracted(fn, alloc, plan, row)
        uses = Uses.of(fn)
        ctx.contracted[old] = plan.home
        ctx.remark(alloc.loc, f"'{old.name}' is never stored whole: an iteration has a row of it at a time")
    return fn


@dataclass(frozen=True, slots=True)
class _Plan:
    """home: of the loop, by its variable, whose iterations have a row each. axes: those that go."""

    home: Symbol
    axes: frozenset[int]


def _plan(fn: Function, alloc: Alloc, known: Uses) -> _Plan | None:
    array = alloc.array
    if any(r.value == array for r in fn.results):
        return None
    if array in known.sized:
        return None
    uses = known.by_array.get(array, [])
    if not uses:
        return None
    axes: set[int] = set()
    home: For | None = None
    outermost: For | None = None
    for loop in known.loops_within(alloc, uses):
        axis = _axis(loop, uses, axes) if isinstance(loop, For) else None
        if axis is None or not isinstance(loop, For):
            break  # several iterations of this one share what they touch
        axes.add(axis)
        home, outermost = loop, outermost or loop
    if home is None or outermost is None or len(axes) == array.array.ndim:
        return None
    if any(_is_read_anew(use, home) for use in uses):
        return None
    kept = [size for axis, size in enumerate(alloc.shape) if axis not in axes]
    return _Plan(home.var, frozenset(axes)) if is_invariant(kept, changed_in(outermost)) else None


def _axis(loop: For, uses: list[Use], taken: Collection[int]) -> int | None:
    """The axis at which every use names the loop's variable."""
    var = Var(loop.var, loc=loop.loc)
    for axis in range(len(uses[0].index)):
        if axis not in taken and all(use.index[axis] == var for use in uses):
            return axis
    return None


def _is_read_anew(use: Use, home: For) -> bool:
    """Whether a loop inside `home` goes over the same elements in each of its iterations."""
    named = {n.symbol for n in walk(use.index) if isinstance(n, Var)}
    depth = next(depth for depth, loop in enumerate(use.around) if loop is home)
    inside = use.around[depth + 1 :]
    return any(isinstance(loop, For) and loop.var not in named for loop in inside)


def _contracted(fn: Function, alloc: Alloc, plan: _Plan, row: Symbol) -> Function:
    array = alloc.array

    def kept(index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(expr for axis, expr in enumerate(index) if axis not in plan.axes)

    def rule(node: Node) -> Node | tuple[Node, ...]:
        match node:
            case Alloc() if node.array == array:
                return tested(node)
            case For() if node.var == plan.home:
                made = replace(alloc, array=row, shape=kept(alloc.shape))
                return replace(node, body=(made, *node.body))
            case _:
                return contracted(node, array, row, kept)

    return rewrite(fn, rule)
