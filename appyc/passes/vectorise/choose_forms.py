"""Chooses the form of each loop in C: lanes, jammed loops, several accumulators, interleaved chains, or none of these.

    for i in range(n):   # parallel            i  threads  jam 8 or 4
        for j in range(m):   # parallel  ->      j  lanes of 3, 1 vectors
            for k in range(p): ...                 k  serial

Lanes hide the latency of operations and share loads. The forms are tried in the order of what they gain; the first that
fits is written into the schedule, from which the C generator reads it (`LoopSchedule.form`).

Requires: modes and scans of loops. Runs last: the forms name loops and elements of the function as it is.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.nodes import CHAINS, Assign, For, Function, LoopMode, Store, Symbol, Update, While
from appyc.ir.schedule import Accumulators, Compaction, EarlyExitLanes, Form, Interleaved, LoopSchedule, Simd
from appyc.ir.visit import loops_of, scalars_written, walk
from appyc.passes.pass_context import PassContext
from appyc.passes.vectorise import simd_forms as forms
from appyc.passes.vectorise.compaction_form import is_compaction
from appyc.passes.vectorise.dot_plan import plan_dots, waits_for_its_sums
from appyc.passes.vectorise.given_forms import given_form, without_dropped
from appyc.passes.vectorise.guarded_loops import plan_guarded
from appyc.passes.vectorise.lane_plan import plan_lanes

ACCUMULATORS = 4
"""Chains of minima, or of sums, that hide the latency of one."""

MAX_NODES = 120
"""Nodes of the body above which it is not interleaved, since it has enough independent operations by itself, nor
written twice, in lanes and in order: its work outweighs setting up lanes."""


def choose_forms(fn: Function, ctx: PassContext) -> Function:
    """The function, and those that it calls, with a form for each loop that has one."""
    callees = tuple(replace(callee, function=choose_forms(callee.function, ctx)) for callee in fn.callees)
    decided: dict[Symbol, LoopSchedule] = {}
    little = _loops_of_little_work(fn)
    repeated = {
        n.var for outer in walk(fn.body) if isinstance(outer, For | While) for n in loops_of(outer.body)
    }
    for loop in loops_of(fn.body):
        is_little = loop.var in little
        plain = Simd() if is_little and forms.why_not_simd(loop) is None else None
        form = plain if is_little else _form(loop, ctx)
        found = replace(fn.schedule[loop.var], form=given_form(loop.var, form, ctx.asked))
        if not is_little and _nodes(loop) <= MAX_NODES:
            if found.is_simd:
                below = forms.in_order_below(loop) if loop.var in repeated else found.in_order_below
                found = replace(found, packed=forms.packed_rows(loop), in_order_below=below)
            found = replace(found, flat_at_one=forms.is_flat_at_one(loop))
        decided[loop.var] = without_dropped(loop.var, found, ctx.asked)
    return replace(fn, callees=callees, schedule=fn.schedule.updated(decided))


def _loops_of_little_work(fn: Function) -> frozenset[Symbol]:
    """The loops of matrix products, which run where a product is too small for the library: code for more than
    lanes takes longer to compile than it saves."""
    alone = (n for n in loops_of(fn.body) if n.product is not None and n.product.stack is None)
    return frozenset(loop.var for nest in alone for loop in loops_of(nest))


def _nodes(loop: For) -> int:
    return sum(1 for _ in walk(loop.body))


def _form(loop: For, ctx: PassContext) -> Form | None:
    if _is_interleaved(loop):
        return Interleaved(CHAINS)
    if is_compaction(loop, boundscheck=ctx.options.boundscheck):
        return Compaction()
    form = plan_lanes(loop) or plan_dots(loop) or plan_guarded(loop)
    if form is not None or forms.why_not_simd(loop) is not None:
        return form
    if forms.decides_early(loop):
        return EarlyExitLanes()
    if forms.accumulates_extremes(loop):
        return Accumulators(ACCUMULATORS)
    return Accumulators(ACCUMULATORS // len(loop.reductions)) if waits_for_its_sums(loop) else Simd()


def _is_interleaved(loop: For) -> bool:
    """Whether a loop runs over chunks of a scan whose operation has a long latency."""
    inner = [stmt for stmt in loop.body if isinstance(stmt, For)]
    if loop.mode is not LoopMode.PARALLEL or loop.step != 1 or len(inner) != 1:
        return False
    scan = inner[0]
    if not all(isinstance(stmt, For | Assign | Store) for stmt in loop.body):
        return False
    slow = any(part.symbol.dtype.kind in "fc" or part.op in ("*", "linear") for part in scan.scans)
    if not slow or any(
        isinstance(n, For | While) or (isinstance(n, Update) and n.atomic) for n in walk(scan.body)
    ):
        return False
    owned = {*loop.private, *loop.last, *(r.symbol for r in loop.reductions)}
    return scalars_written(loop.body) <= owned and _nodes(scan) <= MAX_NODES
