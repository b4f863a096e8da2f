"""Loop coalescing: the innermost loops of a nest over adjacent elements become one loop.

    for i in range(0, m):                            for i_k in range(0, m * n):
        for k in range(0, n):                 ->         total += abs(a[i_k // n + 1, i_k % n] - b[i_k // n, i_k % n])
            total += abs(a[i + 1, k] - b[i, k])          # n is a.shape[1], and b.shape[1]

A short row costs more than its elements: lanes start and end with each row, and those that combine into a scalar are
reduced there. Points with three coordinates and images with three colours have such rows. Elements of a C-contiguous
array are adjacent whatever the lengths of its axes, so that the position in C order is the loop variable plus what the
outermost coalesced loop's index has beside its variable. The generator composes it (`c_expressions.py`), and no
division is left.

The order of the iterations stays what it was. Loops coalesce if all are free (`LoopVerdict.may_run_in_any_order`) and
reduce into the same scalars, if each but the outermost runs over a whole axis, and if each access that depends on them
is to the last axes of a C-contiguous array, in their order, with no offset but in the outermost. The deepest such
run of loops that ends at an innermost loop becomes one.

Requires: loops have their modes and costs, and indices are not checked. Runs last: no other pass knows what to make of
such indices.

Does not handle: arrays that are stretched along an axis; loops with a pragma; values of the loop variables themselves.
Of a GPU's lanes nothing is gained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from appyc.analysis.cost.costs import cost_of
from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.analysis.patterns.fill_pattern import is_whole
from appyc.ir.affine import linear_form, terms_with
from appyc.ir.blocks import perfect_nests
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Expr, Extent, For, Function, Load, LoopMode, Store, Symbol, Update, Var
from appyc.ir.schedule import LoopSchedule
from appyc.ir.types import DType, Layout
from appyc.ir.visit import contains, scalars_read, scalars_written, walk, with_loops
from appyc.passes.loop_ops.coalesce import coalesce
from appyc.passes.pass_context import PassContext


def coalesce_loops(fn: Function, ctx: PassContext) -> Function:
    """The function with one loop for the innermost loops of each nest that go through adjacent elements."""
    if ctx.options.on_gpu:
        return fn
    names = NameSupply.after(fn)
    equal = EqualExtents.of(fn.guards)
    made = {
        Extent(n.array, axis, loc=n.loc): size
        for n in walk(fn)
        if isinstance(n, Alloc)
        for axis, size in enumerate(n.shape)
    }
    coalesced: dict[Symbol, For] = {}
    decided: dict[Symbol, LoopSchedule] = {}
    gone: set[Symbol] = set()
    for nest in perfect_nests(fn):
        for run in (nest[start:] for start in range(len(nest) - 1)):
            if not _may_coalesce(run, ctx) or (arrays := _adjacent(run, equal, made)) is None:
                continue
            shares = run[0].mode is LoopMode.PARALLEL and fn.schedule[run[0].var].cost is not None
            at = names.fresh("_".join(loop.var.name for loop in run), DType.INT64)
            joined = coalesce(run, at, equal, run[0].mode if shares else run[-1].mode)
            if joined is None:
                continue
            decided[at] = replace(fn.schedule[run[-1].var], cost=cost_of(joined) if shares else None)
            gone |= {loop.var for loop in run}
            coalesced[run[0].var] = joined
            if (verdict := ctx.verdicts.get(run[0].var)) is not None:
                ctx.verdicts[joined.var] = replace(verdict, var=joined.var)
            rows = ", ".join(dict.fromkeys(f"'{array.name}'" for array in arrays))
            ctx.remark(run[0].loc, f"the rows of {rows} are adjacent in memory: {len(run)} loops run as one")
            break
    if not coalesced:
        return fn
    schedule = fn.schedule.updated(decided, gone)
    return replace(with_loops(fn, coalesced), schedule=schedule)


def _may_coalesce(run: Sequence[For], ctx: PassContext) -> bool:
    """Whether the order and the bounds of the loops let them be one."""
    first, last = run[0], run[-1]
    changed = scalars_written(last.body) | {loop.var for loop in run}
    if contains(last.body, For | Alloc):
        return False
    return (first.mode is LoopMode.PARALLEL or last.mode is LoopMode.SIMD) and all(
        _is_free(loop, ctx)
        and set(loop.reductions) == set(last.reductions)
        and loop.step == 1
        and not set(scalars_read(loop.hi)) & changed
        and not any((loop.clauses, loop.last, loop.safelen, loop.in_step, loop.scans, loop.product))
        for loop in run
    )


def _is_free(loop: For, ctx: PassContext) -> bool:
    verdict = ctx.verdicts.get(loop.var)
    return loop.mode is not LoopMode.SEQUENTIAL or (verdict is not None and verdict.may_run_in_any_order)


def _adjacent(run: Sequence[For], equal: EqualExtents, made: dict[Extent, Expr]) -> list[Symbol] | None:
    """The arrays of which the loops touch adjacent elements; None where they touch others too, or none."""
    variables = frozenset(loop.var for loop in run)
    arrays: dict[Symbol, None] = {}
    for node in walk(run[-1].body):
        match node:
            case Load() | Store():
                if not any(set(scalars_read(i)) & variables for i in node.index) and isinstance(node, Load):
                    continue
                if node.checked or not _is_adjacent(node, run, variables):
                    return None
                arrays[node.array] = None
            case Update() if node.target.is_array:
                return None
    rows_are_whole = all(
        is_whole(loop, extent, equal)
        or (isinstance(made.get(extent), Extent) and is_whole(loop, made[extent], equal))
        for array in arrays
        for axis, loop in enumerate(run[1:], array.array.ndim - len(run) + 1)
        for extent in (Extent(array, axis, loc=loop.loc),)
    )
    return list(arrays) if arrays and rows_are_whole else None


def _is_adjacent(access: Load | Store, run: Sequence[For], variables: frozenset[Symbol]) -> bool:
    """Whether the loop variables are the last indices, the first of them with an offset or none."""
    around, (first, *rest) = access.index[: -len(run)], access.index[-len(run) :]
    return (
        len(access.index) >= len(run)
        and access.array.array.layout is Layout.C
        and not any(set(scalars_read(i)) & variables for i in around)
        and all(isinstance(i, Var) and i.symbol == loop.var for i, loop in zip(rest, run[1:], strict=True))
        and terms_with(linear_form(first), variables) == {Var(run[0].var, loc=first.loc): 1}
    )
