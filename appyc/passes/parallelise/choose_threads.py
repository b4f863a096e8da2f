"""Runs unmarked loops on threads where their iterations are independent.

    for t in range(steps):                  for t in range(steps):          # carried
        for i in range(1, n - 1):               for i in ...:               # parallel
            for j in range(1, m - 1):    ->         for j in ...:           # simd
                b[i, j] = a[i, j - 1] + ...             b[i, j] = ...

The outermost such loop of a nest is what threads share. Loops inside it that may run in any
order too become candidates for vector lanes around a sequential loop. Whether threads pay is
decided when the loop runs, by its trip counts: a short one stays on the calling thread.

A pragma overrides this pass: a loop with one is not changed, and a loop around
a loop with a `parallel` request stays sequential.

A loop that reduces into elements of an array runs on threads too, each with a private copy of the
array (`reductions` names it), unless an inner loop is parallel and has enough work for threads.
That is tested at the call, which selects one of two versions. On a GPU, which updates such elements atomically, the
loops of a perfect nest that all reduce into them are parallel together.

Requires: `check_parallel` has judged every loop. Does not handle: loops that would be
independent after interchange, distribution or expansion of scalars.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.dependences.verdicts import Verdict
from appyc.errors import LeftToPython
from appyc.ir import nodes as ir
from appyc.ir.blocks import replace_outermost
from appyc.ir.invariance import changed_in, is_invariant
from appyc.ir.names import NameSupply
from appyc.ir.raising import must_be_first, overflow_error, traps_overflow
from appyc.ir.visit import arrays_written, contains, loops_of, walk
from appyc.passes.checks.check_parallel import rounds_differently
from appyc.passes.node_builders import at_least, integer, iterations_of, most_trips
from appyc.passes.parallelise.plain_loops import is_asked, is_plain
from appyc.passes.pass_context import PassContext

INNER_WORK = 100_000
"""The least operations of an inner loop for which waking the threads in each of its executions pays."""

FEW = 16
"""Up to this trip count, an innermost loop runs on the calling thread, whatever its work."""


def choose_threads(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with free loops in mode PARALLEL."""
    if not ctx.options.auto:
        return fn
    leaves = overflow_error(fn)[0] == LeftToPython.__name__
    return replace(fn, body=_Choice(ctx, NameSupply.after(fn), leaves).block(fn.body, inside=False))


@dataclass(frozen=True, slots=True)
class _Choice:
    """The walk, from the outside in. leaves: Python runs the call where an integer takes more than 64 bits."""

    ctx: PassContext
    names: NameSupply
    leaves: bool

    def block(self, body: tuple[ir.Stmt, ...], *, inside: bool) -> tuple[ir.Stmt, ...]:
        """inside: a loop around already runs in parallel."""
        return replace_outermost(
            body, lambda s: (self._loop(s, inside=inside),) if isinstance(s, ir.For) else None
        )

    def _inside(self, loop: ir.For) -> tuple[ir.Stmt, ...]:
        """The body of a parallel loop."""
        if not self._combine_alike(loop):
            return self.block(loop.body, inside=True)
        (inner,) = loop.body
        assert isinstance(inner, ir.For)
        return (self._shared(inner),)

    def _combine_alike(self, loop: ir.For) -> bool:
        """Whether a loop runs on a GPU and holds another one alone, whose free iterations update elements of the same
        arrays."""
        match loop.body:
            case (ir.For() as inner,) if self.ctx.options.on_gpu and inner.request in (None, "auto"):
                outer, found = (self.ctx.verdicts.get(each.var) for each in (loop, inner))
            case _:
                return False
        if outer is None or found is None or not outer.arrays or set(outer.arrays) != set(found.arrays):
            return False
        return found.may_run_on_threads and not found.reductions

    def _loop(self, loop: ir.For, *, inside: bool) -> ir.Stmt:
        raises = any(self._must_be_first(n) for n in walk(loop.body))
        if raises and not loops_of(loop.body) and _is_free(loop, self.ctx, inside=True):
            return self._shared(loop, ir.LoopMode.SIMD)
        # What comes after an iteration that raises must not have happened, unless Python runs the whole call.
        if raises or not _is_free(loop, self.ctx, inside=inside):
            if loop.mode is ir.LoopMode.PARALLEL:
                return replace(loop, body=self._inside(loop))
            return replace(loop, body=self.block(loop.body, inside=inside))
        if not self.ctx.verdicts[loop.var].arrays or self._combine_alike(loop):
            return self._shared(loop)
        ordered = replace(loop, body=self.block(loop.body, inside=inside))
        inner = [n for n in loops_of(ordered.body) if n.mode is ir.LoopMode.PARALLEL]
        if not inner:
            return self._shared(loop)
        work = _work(inner[0], loop)
        if work is None:
            return self._shared(loop)
        shared = self._shared(self.ctx.version(loop, self.names))
        return ir.If(at_least(work, INNER_WORK), (ordered,), (shared,), loc=loop.loc)

    def _shared(self, loop: ir.For, mode: ir.LoopMode = ir.LoopMode.PARALLEL) -> ir.For:
        """The loop on threads, or in lanes."""
        found = self.ctx.verdicts[loop.var]
        return replace(found.applied(loop, mode, found.all_reductions), body=self._inside(loop))

    def _must_be_first(self, node: ir.Node) -> bool:
        """Whether a node raises what must be the first exception in program order."""
        if isinstance(node, ir.Fail):
            return must_be_first(node)
        if traps_overflow(node) or (isinstance(node, ir.Update) and node.trap):
            return not self.leaves
        return isinstance(node, ir.Binary) and node.trap


def _is_free(loop: ir.For, ctx: PassContext, *, inside: bool) -> bool:
    found = ctx.verdicts.get(loop.var)
    if found is None or not found.may_run_on_threads:
        return False
    if loop.request not in (None, "auto"):
        return False
    if ctx.options.exact and rounds_differently(found):
        return False
    if is_plain(loop) and (trips := most_trips(loop)) is not None and trips <= FEW:
        return False  # lanes do it in the time that it takes to wake a thread
    inner = loops_of(loop.body)
    if any(n.product is not None for n in inner):
        return False  # each product is shared by all threads
    if inside:
        holds_loops = contains(loop.body, ir.For | ir.While)
        return holds_loops and found.verdict is Verdict.INDEPENDENT
    return not any(map(is_asked, inner))


def _work(inner: ir.For, outer: ir.For) -> ir.Expr | None:
    """Operations of one run of a loop inside another, where they are known before that one starts."""
    changing = changed_in(outer)
    written = arrays_written(outer.body)
    operations = sum(isinstance(n, ir.Binary | ir.Load | ir.Store | ir.Update) for n in walk(inner.body))
    work: ir.Expr = integer(max(operations, 1), inner.loc)
    loop: ir.For | None = inner
    while loop is not None:
        if not is_invariant(loop.bounds, changing, written):
            return None if loop is inner else work
        work = ir.Binary("*", iterations_of(loop), work, loc=loop.loc)
        loop = next((s for s in loop.body if isinstance(s, ir.For)), None)
    return work
