"""Copies of an array that many iterations update on a GPU, which are combined afterwards.

    for i in range(n):                # parallel, reduction(+: hist)
        hist[key[i]] += w[i]

Updates that may come in any order are atomic, and wait for each other where many meet in one element. Where that pays,
an update is made in one of SPREAD copies, another one for each lane of a warp:

    copies = empty((m, SPREAD))
    for i in range(n):                # parallel
        copies[key[i], i & (SPREAD - 1)] += w[i]      # atomic
    for j in range(m):                # parallel
        for c in range(SPREAD):       # reduction
            hist[j] += copies[j, c]

Where they may not, since a sum of floats would differ from run to run, or since there is no such atomic update, each
lane has a copy of its own, and adds up its share of the iterations in order:

    count = min(n, LANES, n // m)
    for c in range(count):            # parallel
        for r in range(ceil(n / count)):
            if r * count + c < n:
                copies[key[r * count + c], c] += w[r * count + c]

Of a nest, the innermost loop is cut up so, and the outermost one where that leaves lanes free.

Both are chosen on the host, where copies have fewer elements than are added up. All are combined in the same order on
every run, as the sums of scalars are.

Requires: loops have their modes; runs before `atomic_updates`, for what stays. Does not handle: loops with scalars as
results; loops around which others run in parallel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from appyc.analysis.dependences.verdicts import named
from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.names import NameSupply
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import substitute, walk, with_body
from appyc.passes import node_builders as build
from appyc.passes.gpu.atomic_updates import turned, why_not_atomic
from appyc.passes.gpu.map_gpu import map_nests, perfect_chain
from appyc.passes.pass_context import PassContext

SPREAD = 64
"""Copies for atomic updates: two of each element for the lanes of a warp, in sixteen sectors of the L2 cache."""
SHARE = 4
"""The least number of updates for each element of those copies with which the copies are worth their cost."""
LANES = 1 << 15
"""The most lanes with a copy of their own: 256 on each of 128 multiprocessors."""
FEWEST = 32
"""The fewest of these that are worth it."""


Rule: TypeAlias = Callable[[ir.Update, ir.For | None], ir.Update]


def private_copies(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with a second version of such loops."""
    copier = _Copier(fn, NameSupply.after(fn), ctx)
    body = map_nests(fn.body, lambda nest: copier.versions(nest) if _is_candidate(nest) else (nest,))
    return with_body(fn, body)


@dataclass(frozen=True, slots=True)
class _Copier:
    fn: ir.Function
    names: NameSupply
    ctx: PassContext

    def versions(self, loop: ir.For) -> tuple[ir.Stmt, ...]:
        """The loop, and the one with copies where these pay."""
        loc, (reduction,) = loop.loc, loop.reductions
        array, is_atomic = reduction.symbol, why_not_atomic(loop, reduction) is None
        if turned(self.fn, loop) is not None or (self.ctx.options.exact and not is_atomic):
            return (loop,)
        shape = tuple(ir.Extent(array, axis, loc=loc) for axis in range(array.array.ndim))
        size = build.product_of_all(shape)
        work = build.product_of_all([build.iterations_of(n) for n in perfect_chain(loop)])
        copies = self.names.fresh(array.name, ArrayType(array.dtype, len(shape) + 1))
        # named as the array: an index that is out of range is reported as its own
        before: tuple[ir.Stmt, ...] = ()
        if is_atomic:
            count: ir.Expr = build.integer(SPREAD, loc)
            pays = build.less(build.binary("*", size, build.integer(SPREAD * SHARE, loc)), work)
            (updated,) = _redirected((loop,), array, partial(_spread, copies), None, loop.mode)
        else:
            most = build.smaller(
                build.integer(LANES, loc), build.binary("//", work, build.larger(size, build.integer(1, loc)))
            )
            counts, before = self._lanes(perfect_chain(loop), most)
            count = build.product_of_all(counts)
            pays = build.at_least(count, FEWEST)
            updated = self._in_lanes(loop, array, copies, counts)
        names, mode = self.names, ir.LoopMode.PARALLEL
        start = build.start_of_sum(reduction.op, array.dtype, loc)
        is_zero = array.dtype.is_integer and start.value == 0
        made: list[ir.Stmt] = [ir.Alloc(copies, (*shape, count), zero=is_zero, loc=loc)]
        if not is_zero:
            made.append(build.filling(copies, (*shape, count), start, names, mode))
        sums = build.over_elements(
            shape, lambda at: self._combined(reduction, copies, at, count), names, mode
        )
        made += [updated, sums]
        self.ctx.remark(
            loc, f"{named(loop)}: where '{array.name}' has few elements, the GPU updates copies of it"
        )
        return (*before, ir.If(pays, build.copy_of(tuple(made), self.names), (loop,), loc=loc))

    def _lanes(
        self, chain: Sequence[ir.For], most: ir.Expr
    ) -> tuple[tuple[ir.Var, ...], tuple[ir.Stmt, ...]]:
        """The numbers of lanes that share the iterations of the outermost and the innermost loop, at most
        `most` in all, and the statements that compute them."""
        loc, counts, before = most.loc, list[ir.Var](), list[ir.Stmt]()
        for loop in (chain[-1], *chain[:-1][:1]):
            count = build.let("lanes", build.smaller(build.iterations_of(loop), most), self.names, before)
            most = build.binary("//", most, build.larger(count, build.integer(1, loc)))
            counts.insert(0, count)
        return tuple(counts), tuple(before)

    def _in_lanes(
        self, loop: ir.For, array: ir.Symbol, copies: ir.Symbol, counts: Sequence[ir.Var]
    ) -> ir.For:
        """Lanes with a copy each, of which each does its iterations in order."""
        loc, chain = loop.loc, perfect_chain(loop)
        lanes = [ir.Var(self.names.fresh("lane", DType.INT64), loc=loc) for _ in counts]
        copy: ir.Expr = lanes[0]
        for lane, count in zip(lanes[1:], counts[1:], strict=True):
            copy = build.binary("+", build.binary("*", copy, count), lane)

        def rule(update: ir.Update, _: ir.For | None) -> ir.Update:
            return replace(update, target=copies, index=(*update.index, copy))

        shared = {chain[0].var: (lanes[0], counts[0]), chain[-1].var: (lanes[-1], counts[-1])}
        body = _redirected(chain[-1].body, array, rule, None, ir.LoopMode.SEQUENTIAL)
        for each in reversed(chain):
            if each.var in shared:
                body = (self._share(each, body, *shared[each.var]),)
            else:
                body = (replace(build.in_order(each), body=body),)
        for lane, count in zip(reversed(lanes), reversed(counts), strict=True):
            body = (build.counting(lane.symbol, count, body, ir.LoopMode.PARALLEL),)
        (nest,) = body
        assert isinstance(nest, ir.For)
        return nest

    def _share(self, loop: ir.For, body: tuple[ir.Stmt, ...], lane: ir.Var, count: ir.Var) -> ir.For:
        """Every `count`-th iteration of a loop, in order."""
        loc = loop.loc
        number = ir.Var(self.names.fresh("number", DType.INT64), loc=loc)
        here = build.binary("+", build.binary("*", number, count), lane)
        now = {loop.var: build.iteration(loop.lo, loop.step, here)}
        guarded = ir.If(build.less(here, build.iterations_of(loop)), substitute(body, now), (), loc=loc)
        return build.counting(
            number.symbol, build.ceiling_quotient(build.iterations_of(loop), count), (guarded,), loc=loc
        )

    def _combined(
        self, reduction: ir.Reduction, copies: ir.Symbol, at: tuple[ir.Expr, ...], count: ir.Expr
    ) -> tuple[ir.Stmt, ...]:
        """The statements that add the private copies of one element to the element."""
        array, op, loc = reduction.symbol, reduction.op, count.loc
        total = self.names.fresh(array.name, array.dtype)
        which = self.names.fresh("copy", DType.INT64)
        each = ir.Load(copies, (*at, ir.Var(which, loc=loc)), checked=False, loc=loc)
        update = ir.Update(total, (), op, each, loc=loc)
        added = build.combine(op, ir.Load(array, at, checked=False, loc=loc), ir.Var(total, loc=loc))
        return (
            ir.Assign(total, build.start_of_sum(op, array.dtype, loc), loc=loc),
            build.counting(which, count, (update,), ir.LoopMode.SIMD, (ir.Reduction(op, total),)),
            ir.Store(array, at, added, checked=False, loc=loc),
        )


def _is_candidate(loop: ir.For) -> bool:
    """Whether a loop does nothing but to update an array, and so that copies can be."""
    if len(loop.reductions) != 1 or loop.last or loop.scans or loop.product is not None:
        return False
    array = loop.reductions[0].symbol
    if not array.is_array or array.dtype.is_complex:
        return False
    return not any(
        isinstance(n, ir.While | ir.Alloc) or (isinstance(n, ir.Load) and n.array == array)
        for n in walk(loop.body)
    )


def _spread(copies: ir.Symbol, update: ir.Update, around: ir.For | None) -> ir.Update:
    """Makes updates atomic ones of the copies, adjacent ones in adjacent iterations of the loop around them."""
    assert around is not None
    which = build.binary("&", ir.Var(around.var, loc=update.loc), build.integer(SPREAD - 1, update.loc))
    return replace(update, target=copies, index=(*update.index, which), atomic=True)


def _redirected(
    body: tuple[ir.Stmt, ...], array: ir.Symbol, rule: Rule, around: ir.For | None, mode: ir.LoopMode
) -> tuple[ir.Stmt, ...]:
    """Statements with other updates of an array, in loops of that mode. around: the innermost loop that they are in."""
    out: list[ir.Stmt] = []
    for stmt in body:
        inside = stmt if isinstance(stmt, ir.For) else around
        if isinstance(stmt, ir.Update) and stmt.target == array:
            out.append(rule(stmt, around))
            continue
        new = map_blocks(stmt, partial(_redirected, array=array, rule=rule, around=inside, mode=mode))
        if isinstance(new, ir.For) and new != stmt:
            rest = tuple(r for r in new.reductions if r.symbol != array)
            new = (
                replace(new, mode=mode, private=(), reductions=())
                if mode is ir.LoopMode.SEQUENTIAL
                else replace(new, reductions=rest)
            )
        out.append(new)
    return tuple(out)
