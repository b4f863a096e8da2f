"""The compiler on one page: passes, in order, with the reason for each one's place.

    source ──► frontend.lower ──► ir.Function ──► SIMPLIFY ──► the plain function
                                                                  │
        an index out of range, or arguments that just overlap     ├──► c_gen, sequential, all checked
        arguments that are views of one array                     ├──► merge_aliases ──► ANALYSE ──► ...
        the usual call                                            └──► ANALYSE ──► c_gen
                                                                               └─► triton_gen

`SIMPLIFY` keeps Python's meaning whatever the arguments are. `ANALYSE` may assume that
arrays which are written share no memory with other arguments, and that the function's
guards hold: the caller tests both, and takes the plain function otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from appyc.analysis.dependences.verdicts import loop_text
from appyc.analysis.sets.presburger import is_out_of_work
from appyc.errors import DependenceError, InternalError, UnsupportedError, defects_of
from appyc.ir.nodes import Callee, Function
from appyc.ir.verify import check
from appyc.ir.visit import loops_of, walk
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.checks.check_calls import check_calls, hands_on_arrays
from appyc.passes.checks.check_exact_floats import check_exact_floats
from appyc.passes.checks.check_integer_overflow import check_integer_overflow
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.checks.guard_assumptions import guard_assumptions
from appyc.passes.checks.trap_overflow import trap_overflow
from appyc.passes.checks.version_loops import version_loops
from appyc.passes.fuse.fuse_loops import fuse_loops
from appyc.passes.fuse.fuse_variance import fuse_variance
from appyc.passes.fuse.merge_reductions import merge_reductions
from appyc.passes.fuse.overlapped_tiling import overlapped_tiling
from appyc.passes.fuse.rematerialise import rematerialise
from appyc.passes.fuse.shifted_fusion import shifted_fusion
from appyc.passes.locality.coalesce_loops import coalesce_loops
from appyc.passes.locality.find_products import find_products
from appyc.passes.locality.interchange_loops import interchange_loops
from appyc.passes.locality.nontemporal_results import nontemporal_results
from appyc.passes.locality.tile_column_reductions import tile_column_reductions
from appyc.passes.parallelise.arg_reductions import arg_reductions
from appyc.passes.parallelise.array_expansion import is_asked
from appyc.passes.parallelise.choose_threads import choose_threads
from appyc.passes.parallelise.distribute_loops import distribute_loops
from appyc.passes.parallelise.estimate_costs import estimate_costs
from appyc.passes.parallelise.index_set_splitting import index_set_splitting
from appyc.passes.parallelise.parallel_scan import parallel_scan
from appyc.passes.parallelise.privatise_arrays import privatise_arrays
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.parallelise.rename_arrays import rename_arrays
from appyc.passes.parallelise.skew_loops import skew_loops
from appyc.passes.parallelise.speculative_search import speculative_search
from appyc.passes.parallelise.split_at_conditions import split_at_conditions
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.coalesce_copies import coalesce_copies
from appyc.passes.simplify.common_subexpressions import common_subexpressions
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.simplify.dead_code_elimination import dead_code_elimination
from appyc.passes.simplify.delinearise_loops import delinearise_loops
from appyc.passes.simplify.elide_compaction import elide_compaction
from appyc.passes.simplify.expand_tensors import expand_tensors
from appyc.passes.simplify.normalise_loops import normalise_loops
from appyc.passes.simplify.peel_wrap_around import peel_wrap_around
from appyc.passes.simplify.simplify_div_mod import simplify_div_mod
from appyc.passes.simplify.substitute_induction import substitute_induction
from appyc.passes.simplify.unroll_loops import unroll_loops
from appyc.passes.simplify.while_to_for import while_to_for
from appyc.passes.storage.buffer_donation import buffer_donation
from appyc.passes.storage.contract_arrays import contract_arrays
from appyc.passes.storage.contract_rows import contract_rows
from appyc.passes.storage.dead_store_elimination import dead_store_elimination
from appyc.passes.storage.elide_zero_fill import elide_zero_fill
from appyc.passes.storage.forward_copies import forward_copies
from appyc.passes.storage.scalar_replacement import scalar_replacement
from appyc.passes.storage.scalar_replacement_of_recurrences import scalar_replacement_of_recurrences
from appyc.passes.storage.store_to_load_forwarding import store_to_load_forwarding
from appyc.passes.vectorise.find_lanes import find_lanes

Pass: TypeAlias = Callable[[Function, PassContext], Function]

SIMPLIFY: tuple[Pass, ...] = (
    check_exact_floats,  # before all work: what it refuses runs in Python
    elide_compaction,  # before tensor statements are loops, which do not say what they pack
    expand_tensors,  # before all others: none of them knows tensor statements
    while_to_for,  # next: what a counter starts from and ends at is looked into by the next
    copy_propagation,  # then: bounds and indices in terms of parameters, for all that follow
    dead_code_elimination,  # what the first left over, and copies that the front end made for nothing
    coalesce_copies,  # then: an accumulator that is bound anew in each iteration is one scalar
    trap_overflow,  # last: sums that are tested are no bounds that others could work with
)

ANALYSE: tuple[Pass, ...] = (
    check_integer_overflow,  # before all work: what it refuses runs in Python
    common_subexpressions,  # before guards: what has one value needs none to be equal
    guard_assumptions,  # before bounds and shapes are looked at: most choices fall away
    copy_propagation,  # again, for what has become simple
    dead_code_elimination,  # the same
    simplify_div_mod,  # once lengths have one name, and before bounds: what is left can be seen into
    substitute_induction,  # before bounds: an index that is a counter becomes one that can be seen into
    peel_wrap_around,  # after it, since a counter wraps around nothing
    check_bounds,  # next: what cannot fail may be reordered and need not keep its place
    unroll_loops,  # the same: what is said of bounds is said once for all iterations; before all that looks at loops
    dead_store_elimination,  # once stores cannot raise; what is gone need not be fused
    forward_copies,  # the same: written arrays share no memory here, so that few copies are needed
    rematerialise,  # before fusion, which cannot join a stencil with what fills the array it reads
    fuse_loops,  # once nothing raises any more, and before anything looks at single loops
    contract_arrays,  # what fusion was for
    contract_rows,  # then: a row is better than the whole, and nothing better than a row
    elide_zero_fill,  # once loops are joined; before blocks, whose arrays start as the whole one did
    overlapped_tiling,  # then: for what takes some rows, which is worse than one, and computes some of them twice
    store_to_load_forwarding,  # after them, for what stays in memory and is read again at once
    speculative_search,  # needs to know what may raise; what it makes are loops for all that follow
    arg_reductions,  # before reductions, which do not see a maximum with something beside it
    recognise_reductions,  # before dependences: an update may be reordered, an assignment may not
    merge_reductions,  # after it, for what fusion has brought together
    fuse_variance,  # after both, for what fusion had to keep apart
    tile_column_reductions,  # after it, which knows one loop from the next; before verdicts, for loops of its own
    distribute_loops,  # before verdicts: each of its loops gets its own
    interchange_loops,  # before ranges are cut, which ends a perfect nest, and before verdicts, which it changes
    index_set_splitting,  # before verdicts, for loops that distribution has left in one piece
    scalar_replacement,  # before verdicts, which it changes; after distribution, whose loops it works on
    privatise_arrays,  # before verdicts, after what frees loops without any memory
    rename_arrays,  # after it, for what is no scratch, and for loops that need both
    shifted_fusion,  # once loops are free that can be, and the order of nests is settled; before verdicts
    skew_loops,  # after all that frees a loop, and before a row is taken for a scan of its own
    scalar_replacement_of_recurrences,  # for what these have left: an element that iterations hand on may be a scan
    buffer_donation,  # once no pass joins or moves loops: these would be kept from it; before loops are cut
    normalise_loops,  # before products, which are told by their indices
    find_products,  # once no pass moves loops any more, and before verdicts, which its new nests need
    split_at_conditions,  # after them: it cuts no product in two; before verdicts, for each part gets its own
    delinearise_loops,  # the same: the loops that it makes get verdicts of their own
    check_parallel,  # the pragmas' verdicts, and lanes for innermost loops without one
    find_lanes,  # after verdicts: it looks at the loops that they leave in order
    version_loops,  # what depends on the arguments is tested by them, before modes are chosen
    choose_threads,  # it asks the verdicts which loops without a pragma threads may share
    parallel_scan,  # for loops that threads do not share as they stand
    nontemporal_results,  # once no pass makes loops any more: it is about those that are there in the end
    estimate_costs,  # once all have modes: what a loop costs depends on the modes of those inside it
    coalesce_loops,  # last: no other pass knows what to make of its indices
)

WITH_CALLS: tuple[Pass, ...] = (
    check_integer_overflow,  # as above
    check_calls,  # in the place of all others: none of them knows what a callee does with an array
)


def analysis_of(fn: Function) -> tuple[Pass, ...]:
    """The passes for the usual version of a function."""
    return WITH_CALLS if hands_on_arrays(fn) else ANALYSE


PROVE_BOUNDS: tuple[Pass, ...] = (
    check_bounds,  # for arguments that share memory, before `merge_aliases` and ANALYSE: each index in its own view
)

UNCHECKED: tuple[Pass, ...] = (
    check_bounds,  # with boundscheck=False it only marks accesses as not to be checked
)


def run_all(fn: Function, passes: tuple[Pass, ...], ctx: PassContext) -> Function:
    """The function after the passes, and its callees after them."""
    callees = tuple(Callee(run(callee.function, passes, ctx)) for callee in fn.callees)
    return run(replace(fn, callees=callees) if callees else fn, passes, ctx)


def too_deep(fn: Function) -> UnsupportedError:
    """The error for what is nested deeper than Python lets a walk over it go."""
    return UnsupportedError(f"what {fn.name!r} computes is nested too deeply to be compiled", fn.loc,
                            hints=("give parts of it names, or make them functions",))  # fmt: skip


GROWTH, ALWAYS = 16, 4_000
"""How many times as many nodes as at first a function may have after a pass, and how many more it always may."""

NEEDED = frozenset({check_exact_floats, expand_tensors, trap_overflow, check_integer_overflow, check_calls})
"""Passes without which the function is not right, or not one that the others know."""


def _size(fn: Function) -> int:
    return sum(1 for _ in walk(fn))


def _is_too_large(fn: Function, before: Function, most: int) -> bool:
    """Whether a pass has made too much of a function."""
    return fn is not before and (size := _size(fn)) > most and size > _size(before)


def _leave_out(transform: Pass, fn: Function, ctx: PassContext) -> None:
    """Says that the function stays as it was before a pass, which would take too long, or make too much of it; the
    pragmas' pass must not."""
    asked = next((loop for loop in loops_of(fn.body) if is_asked(loop)), None)
    if transform is check_parallel and asked is not None:
        raise DependenceError(
            f"{loop_text(asked.var, asked.clauses)}: it could not be proven in reasonable time that the iterations are "
            "independent", asked.loc, hints=("make functions of parts of this one",),
        )  # fmt: skip
    name = transform.__name__.replace("_", " ")
    ctx.missed(
        fn.loc,
        f"what is known of {fn.name!r} is too much for a step ({name}), which is left out",
        "make functions of parts of this one",
    )


def run(fn: Function, passes: tuple[Pass, ...], ctx: PassContext, *, verify: bool = False) -> Function:
    """The function after the passes.

    verify: check the IR after each, and name the pass that broke it. A pass's own failure
    is an InternalError with its name; the user's faults pass through.
    """
    if verify:
        check(fn, "the front end")
    most = GROWTH * _size(fn) + ALWAYS
    for transform in passes:
        before = ctx.findings()
        try:
            with defects_of(transform.__name__):
                found: Function | None = transform(fn, ctx)
        except RecursionError:
            raise too_deep(fn) from None
        except InternalError as defect:
            if defect.__cause__ is None or not is_out_of_work(defect.__cause__):
                raise
            found = None
        if found is None or (transform not in NEEDED and _is_too_large(found, fn, most)):
            ctx.go_back_to(before)
            _leave_out(transform, fn, ctx)
            continue
        fn = found
        if verify:
            check(fn, transform.__name__)
    ctx.facts.forget()
    return fn
