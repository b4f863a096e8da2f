"""Array expansion of what iterations allocate on a GPU: each gets its slice of one array."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

from appyc.analysis.dependences.verdicts import named
from appyc.ir import nodes as ir
from appyc.ir.array_accesses import is_access_to
from appyc.ir.blocks import walk_in_loops
from appyc.ir.invariance import changed_in
from appyc.ir.names import NameSupply
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import contains, rewrite_all, symbols_of, walk
from appyc.passes import node_builders as build
from appyc.passes.gpu.map_gpu import map_nests
from appyc.passes.loop_ops.contract import contracted
from appyc.passes.pass_context import PassContext

IndexMap: TypeAlias = Callable[[tuple[ir.Expr, ...]], tuple[ir.Expr, ...]]

ROOM = 1 << 28
"""Bytes that the slices of one array may take; with more, the iterations run in several parts."""


def expand_allocations(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Allocations move out of loops that run in parallel.

    Before:                                   After:
        for i in range(n):      # parallel        count = max(n, 0)
            t = np.empty((m,))                    most = max(ROOM // (m * 8), 1)
            for j in range(m):                    t_all = np.empty((min(count, most), m))
                t[j] = ...                        for part in range((count + most - 1) // most):
                                                      for i in range(...):      # parallel
                                                          for j in range(m):
                                                              t_all[i - first, j] = ...

    A kernel cannot allocate. The array gets an axis for each loop around the allocation that is
    not sequential, before its own axes, so that lanes along them lie together; behind them where
    an access is checked, for the message to name the right axis. What was to be zero is set so
    where the allocation was.

    Requires: loops have their modes. First of the passes for the GPU that look at arrays.

    Rows that lanes keep (`LoopSchedule.row_lanes`) stay where they are.

    Does not handle: arrays that are resized; extents, and bounds of those loops, that are known only inside. Such loops
    stay as they are, and `split_kernels` says that they do not run in parallel.
    """
    expander = _Expander(fn, ctx)
    body = map_nests(fn.body, expander.nest)
    return replace(fn, body=body) if expander.changed else fn


@dataclass(frozen=True, slots=True)
class _Axis:
    """A loop that gets an axis, the number of its iterations, and the first value of its variable."""

    loop: ir.For
    count: ir.Expr
    first: ir.Expr

    def number(self) -> ir.Expr:
        loc = self.loop.loc
        passed: ir.Expr = ir.Binary("-", ir.Var(self.loop.var, loc=loc), self.first, loc=loc)
        if self.loop.step == 1:
            return passed
        return ir.Binary("//", passed, build.integer(self.loop.step, loc), loc=loc)


class _Expander:
    def __init__(self, fn: ir.Function, ctx: PassContext) -> None:
        self.names, self.schedule, self.ctx = NameSupply.after(fn), fn.schedule, ctx
        self.changed = False

    def nest(self, loop: ir.For) -> Sequence[ir.Stmt]:
        """A parallel loop with the allocations before it; as it is where one cannot move."""
        if self.schedule[loop.var].row_lanes is not None:
            return (loop,)
        found = list(_allocations(loop))
        inside = changed_in(loop)
        needed = [e for alloc, path in found for e in (*alloc.shape, *(b for x in path for b in x.bounds))]
        is_known = all(_is_known(e, inside) for e in needed)
        if not found or not is_known or any(a.kept is not None for a, _ in found):
            return (loop,)
        self.changed = True
        before: list[ir.Stmt] = []
        axes: dict[ir.Symbol, _Axis] = {}
        for x in dict.fromkeys(x for _, path in found for x in path):
            axes[x.var] = _Axis(
                x, self._named("count", build.iterations_of(x), before), self._named("start", x.lo, before)
            )
        count, start = axes[loop.var].count, axes[loop.var].first
        sizes = [self._bytes(alloc, path, axes, before) for alloc, path in found]
        loc = loop.loc
        each = reduce(lambda a, b: ir.Binary("max", a, b, loc=loc), sizes)
        most = self._named(
            "most", _at_least_one(ir.Binary("//", build.integer(ROOM, loc), each, loc=loc)), before
        )
        part = self.names.fresh("part", DType.INT64)
        offset = ir.Binary("*", ir.Var(part, loc=loc), most, loc=loc)
        inner: list[ir.Stmt] = []
        lo = self._named("first", build.plus(start, build.scaled(offset, loop.step)), inner)
        left = ir.Binary("min", ir.Binary("-", count, offset, loc=loc), most, loc=loc)
        hi = build.plus(lo, build.scaled(left, loop.step))
        held = self._named("held", ir.Binary("min", count, most, loc=loc), before)
        axes[loop.var] = _Axis(loop, held, lo)
        for alloc, path in found:
            loop, made = self._with_slices(loop, alloc, [axes[x.var] for x in path])
            before.append(made)
        inner.append(replace(loop, lo=lo, hi=hi))
        return (*before, build.counting(part, build.ceiling_quotient(count, most), tuple(inner), loc=loc))

    def _bytes(
        self, alloc: ir.Alloc, path: tuple[ir.For, ...], axes: dict[ir.Symbol, _Axis], out: list[ir.Stmt]
    ) -> ir.Expr:
        """The bytes that one iteration of the outermost loop needs; at least 1."""
        loc = alloc.loc
        sizes = (
            build.integer(alloc.array.dtype.itemsize, loc),
            *alloc.shape,
            *(axes[x.var].count for x in path[1:]),
        )
        return self._named("bytes", _at_least_one(build.product_of_all(sizes)), out)

    def _named(self, name: str, value: ir.Expr, out: list[ir.Stmt]) -> ir.Expr:
        return value if build.is_simple(value) else build.let(name, value, self.names, out)

    def _with_slices(self, loop: ir.For, alloc: ir.Alloc, axes: list[_Axis]) -> tuple[ir.For, ir.Alloc]:
        """The loop with the array replaced by slices of one expanded array, and the allocation of that array."""
        old = alloc.array
        kind = ArrayType(old.dtype, old.array.ndim + len(axes))
        new = self.names.fresh(old.name, kind)
        counts = tuple(axis.count for axis in axes)
        behind = any(is_access_to(node, old) and node.checked for node in walk(loop.body))

        def expanded(index: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
            numbers = tuple(axis.number() for axis in axes)
            return (*index, *numbers) if behind else (*numbers, *index)

        def rule(node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
            match node:
                case ir.Extent(array=array, axis=axis) if array == old:
                    return replace(node, array=new, axis=axis if behind else axis + len(axes))
                case ir.Alloc(array=array) if array == old:
                    return self._zeros(new, node, expanded) if node.zero else ()
                case _:
                    return contracted(node, old, new, expanded)

        shape = (*alloc.shape, *counts) if behind else (*counts, *alloc.shape)
        body = rewrite_all(loop.body, rule)
        self.ctx.remark(
            loop.loc,
            f"{named(loop)}: the arrays '{old.name}' of its iterations are slices of one, "
            f"of up to {ROOM >> 20} MiB",
        )
        return replace(loop, body=body), ir.Alloc(new, shape, zero=False, loc=alloc.loc)

    def _zeros(self, array: ir.Symbol, alloc: ir.Alloc, expanded: IndexMap) -> tuple[ir.Stmt, ...]:
        """Loops that set a slice to zero."""
        nothing, loc = build.zero(array.dtype, alloc.loc), alloc.loc

        def store(at: tuple[ir.Expr, ...]) -> tuple[ir.Stmt, ...]:
            return (ir.Store(array, expanded(at), nothing, checked=False, loc=loc),)

        return (build.over_elements(alloc.shape, store, self.names, ir.LoopMode.SIMD),)


def _allocations(nest: ir.For) -> Iterator[tuple[ir.Alloc, tuple[ir.For, ...]]]:
    """The allocations in a nest, with the loops around each that are not sequential."""
    for node, around in walk_in_loops(nest):
        if isinstance(node, ir.Alloc):
            loops = (loop for loop in around if isinstance(loop, ir.For))
            yield node, tuple(loop for loop in loops if loop.mode is not ir.LoopMode.SEQUENTIAL)


def _is_known(value: ir.Expr, inside: set[ir.Symbol]) -> bool:
    """Whether an expression means the same before the loop, in which those symbols are set."""
    return not contains(value, ir.Load) and inside.isdisjoint(symbols_of(value))


def _at_least_one(value: ir.Expr) -> ir.Expr:
    return ir.Binary("max", value, build.integer(1, value.loc), loc=value.loc)
