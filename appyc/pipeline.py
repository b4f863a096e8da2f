"""The pass pipelines: which passes run on a function, in which order, and the reason for each one's position.

    source ──► frontend.lower ──► ir.Function ──► SIMPLIFY ──► the plain function
                                                                  │
        an index out of range, or arguments that just overlap     ├──► c_gen, sequential, all checked
        arguments that are views of one array                     ├──► merge_aliases ──► ANALYSE ──► ...
        the usual call                                            └──► ANALYSE ──► FOR_C ──► c_gen
                                                                               └─► FOR_GPU ──► triton_gen

`SIMPLIFY` preserves Python's semantics for all arguments. `ANALYSE` may assume that written arrays
do not alias other arguments, and that the function's guards hold. The caller tests both, and runs
the plain function otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from appyc.analysis.dependences.verdicts import loop_text
from appyc.analysis.patterns.fill_pattern import overwritten_arguments
from appyc.analysis.sets.presburger import is_out_of_work
from appyc.errors import DependenceError, InternalError, UnsupportedError, defects_of
from appyc.ir.gpu_program import GpuProgram
from appyc.ir.nodes import Function
from appyc.ir.verify import check
from appyc.ir.visit import loops_of, walk
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.checks.check_divisors import check_divisors
from appyc.passes.checks.check_exact_floats import check_exact_floats
from appyc.passes.checks.check_in_blocks import check_in_blocks
from appyc.passes.checks.check_integer_overflow import (
    assume_no_overflow,
    check_integer_overflow,
    trap_overflow,
)
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.checks.expect_in_loops import expect_in_loops
from appyc.passes.checks.guard_assumptions import guard_assumptions
from appyc.passes.checks.prove_tests import prove_tests
from appyc.passes.checks.redundant_checks import redundant_checks
from appyc.passes.checks.version_loops import version_loops
from appyc.passes.checks.wrap_negative_indices import wrap_negative_indices
from appyc.passes.fuse.fuse_loops import fuse_loops
from appyc.passes.fuse.merge_compactions import merge_compactions
from appyc.passes.fuse.overlapped_tiling import overlapped_tiling
from appyc.passes.fuse.rematerialise import rematerialise
from appyc.passes.fuse.shifted_fusion import shifted_fusion
from appyc.passes.gpu.atomic_updates import atomic_updates
from appyc.passes.gpu.batch_loads import batch_loads
from appyc.passes.gpu.choose_product_tiles import choose_product_tiles
from appyc.passes.gpu.expand_allocations import expand_allocations
from appyc.passes.gpu.join_updates import join_updates
from appyc.passes.gpu.keep_rows_on_chip import keep_rows_on_chip
from appyc.passes.gpu.private_copies import private_copies
from appyc.passes.gpu.scans_of_few_rows import scans_of_few_rows
from appyc.passes.gpu.share_loads import share_loads
from appyc.passes.gpu.sink_scalars import sink_scalars
from appyc.passes.gpu.split_complex import split_complex
from appyc.passes.gpu.split_kernels import split_kernels
from appyc.passes.gpu.split_reductions import split_reductions
from appyc.passes.gpu.tile_rows import tile_rows
from appyc.passes.gpu.unsupported_on_gpu import (
    count_workers,
    drop_limited_lanes,
    drop_trapping_sums,
    idioms_of_reals,
    refuse_calls,
)
from appyc.passes.locality.apply_transforms import apply_transforms
from appyc.passes.locality.coalesce_loops import coalesce_loops
from appyc.passes.locality.find_products import find_products
from appyc.passes.locality.interchange_loops import interchange_loops
from appyc.passes.locality.interchange_recurrences import interchange_recurrences
from appyc.passes.locality.nontemporal_results import nontemporal_results
from appyc.passes.locality.tile_column_reductions import tile_column_reductions
from appyc.passes.locality.tile_time import tile_time
from appyc.passes.locality.tile_transpositions import tile_transpositions
from appyc.passes.parallelise.arg_reductions import arg_reductions
from appyc.passes.parallelise.choose_threads import choose_threads
from appyc.passes.parallelise.distribute_loops import distribute_loops
from appyc.passes.parallelise.estimate_costs import estimate_costs
from appyc.passes.parallelise.index_set_splitting import index_set_splitting
from appyc.passes.parallelise.parallel_scan import parallel_scan
from appyc.passes.parallelise.plain_loops import is_asked
from appyc.passes.parallelise.privatise_arrays import privatise_arrays
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.parallelise.rename_arrays import rename_arrays
from appyc.passes.parallelise.skew_loops import skew_loops
from appyc.passes.parallelise.speculative_search import speculative_search
from appyc.passes.parallelise.split_at_conditions import split_at_conditions
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.coalesce_arrays import coalesce_arrays
from appyc.passes.simplify.coalesce_copies import coalesce_copies
from appyc.passes.simplify.common_subexpressions import common_subexpressions, equal_lengths
from appyc.passes.simplify.compare_magnitudes import compare_magnitudes
from appyc.passes.simplify.congruent_scalars import congruent_scalars
from appyc.passes.simplify.copy_propagation import copy_propagation
from appyc.passes.simplify.dead_code_elimination import dead_code_elimination
from appyc.passes.simplify.delinearise_loops import delinearise_loops
from appyc.passes.simplify.expand_tensors import expand_tensors
from appyc.passes.simplify.fold_selects import fold_selects
from appyc.passes.simplify.hoist_invariants import hoist_invariants
from appyc.passes.simplify.lower_jumps import lower_jumps
from appyc.passes.simplify.merge_reductions import merge_reductions
from appyc.passes.simplify.narrow_integers import narrow_integers
from appyc.passes.simplify.normalise_loops import normalise_loops
from appyc.passes.simplify.peel_wrap_around import peel_wrap_around
from appyc.passes.simplify.population_counts import population_counts
from appyc.passes.simplify.reduce_remainders import reduce_remainders
from appyc.passes.simplify.simplify_div_mod import simplify_div_mod
from appyc.passes.simplify.substitute_induction import substitute_induction
from appyc.passes.simplify.unroll_loops import unroll_loops
from appyc.passes.simplify.while_to_for import while_to_for
from appyc.passes.simplify.widen_halves import widen_halves
from appyc.passes.storage.contract_arrays import contract_arrays
from appyc.passes.storage.dead_store_elimination import dead_store_elimination
from appyc.passes.storage.elide_zero_fill import elide_zero_fill
from appyc.passes.storage.forward_copies import forward_copies
from appyc.passes.storage.if_conversion import if_conversion
from appyc.passes.storage.promote_accumulators import promote_accumulators
from appyc.passes.storage.scalar_replacement import scalar_replacement
from appyc.passes.storage.scalar_replacement_of_recurrences import scalar_replacement_of_recurrences
from appyc.passes.storage.scalar_replacement_of_selections import scalar_replacement_of_selections
from appyc.passes.storage.speculate_loads import speculate_loads
from appyc.passes.storage.store_to_load_forwarding import store_to_load_forwarding
from appyc.passes.vectorise.choose_forms import choose_forms
from appyc.passes.vectorise.distribute_in_blocks import distribute_in_blocks
from appyc.passes.vectorise.find_lanes import find_lanes
from appyc.passes.vectorise.gather_updates import gather_updates
from appyc.passes.vectorise.jam_waves import jam_waves
from appyc.passes.vectorise.narrow_lanes import halve_lanes, narrow_lanes
from appyc.passes.vectorise.vectorise_outer_loops import vectorise_outer_loops

Pass: TypeAlias = Callable[[Function, PassContext], Function]

SIMPLIFY: tuple[Pass, ...] = (
    check_exact_floats,  # before tensor statements are expanded, which it inspects; what it refuses runs in Python
    coalesce_arrays,  # before tensor statements are expanded, of which copies of whole arrays are one
    expand_tensors,  # before all other passes, which do not know tensor statements
    widen_halves,  # before all passes that combine, reorder or vectorise operations: they see none of float16
    while_to_for,  # before copy propagation, which resolves the bounds of the new loops
    copy_propagation,  # bounds and indices become functions of the parameters, as all later passes need them
    equal_lengths,  # after it: for whole arrays the front end tests the same lengths again and again
    dead_code_elimination,  # after both: removes the copies that they made dead, and the front end's own
    coalesce_copies,  # after both: an accumulator that each iteration rebinds becomes one scalar
    population_counts,  # after it, for the same reason: the loop's two statements are what they were in the program
    trap_overflow,  # last: the passes before it substitute and duplicate operations
)

ANALYSE: tuple[Pass, ...] = (
    check_integer_overflow,  # first: other passes cannot analyse arithmetic that traps, in a bound for example
    merge_reductions,  # before common_subexpressions, which gives lengths that are counted once one name
    congruent_scalars,  # after it: loop-carried lengths are copies of one count
    common_subexpressions,  # before guards: integers with one value number need no guard of their equality
    guard_assumptions,  # before bounds and shapes are analysed: it removes most conditionals on them
    copy_propagation,  # again: under the guards, conditional values have become affine ones
    dead_code_elimination,  # again: removes the copies that this made dead
    simplify_div_mod,  # after guards have unified equal lengths; before bounds, which need indices without quotients
    reduce_remainders,  # after it: fewer remainders are left; before bounds, which are not known of remainders
    prove_tests,  # after copy propagation, for what remains of these; before check_divisors, to save it guards
    expect_in_loops,  # after guards and copy propagation; before bounds and dependences, which know no wrapped index
    check_divisors,  # after both, which need no guard; before bounds, which are not known of quotients that may raise
    substitute_induction,  # before bounds: an index that is a counter becomes a closed form of the loop variables
    peel_wrap_around,  # after it: an induction variable is no wrap-around variable
    wrap_negative_indices,  # after indices are closed forms; before bounds, which proves those of its selects
    check_bounds,  # before all reordering: only accesses that cannot raise may move
    prove_tests,  # again: conditions on elements, which no longer raise themselves
    dead_code_elimination,  # after it: what was read for its check only is dead
    apply_transforms,  # after check_bounds: what may raise keeps its order; before other passes change the nests
    unroll_loops,  # after checks are hoisted, once for all iterations; before all passes that transform loops
    prove_tests,  # again: of sums over loops that are unrolled the terms are known
    dead_store_elimination,  # after check_bounds: a store that may raise is not dead; before fusion, to save it work
    forward_copies,  # after check_bounds; written arrays do not alias here, so that most copies are redundant
    rematerialise,  # before fusion, which cannot fuse a stencil with the producer of its array
    fuse_loops,  # after check_bounds, since accesses no longer raise; before passes that analyse single loops
    contract_arrays,  # after fusion, which brings definitions and uses of temporaries into one iteration
    elide_zero_fill,  # after fusion, which makes more candidates; before tiling, whose block arrays keep the fill
    overlapped_tiling,  # after contraction, for temporaries of several rows: its halos are computed twice
    store_to_load_forwarding,  # after them, for arrays that stay in memory and are read in the iteration that stores
    speculative_search,  # after check_bounds: it must know what may raise; before passes that transform its loops
    scalar_replacement_of_selections,  # before both that follow, which then find no index that waits for a load
    if_conversion,  # after check_bounds; before loops are judged, and their conditional stores with them
    arg_reductions,  # before recognise_reductions, which does not match an extreme value with further scalars
    recognise_reductions,  # before dependence analysis: a reduction's update may be reordered, an assignment may not
    merge_compactions,  # after it, which recognises counters; before parallel_scan, which splits these loops
    tile_column_reductions,  # after recognise_reductions: its loops are reductions; before verdicts, which they need
    interchange_recurrences,  # after recognise_reductions; before loops are distributed, which parts its statements
    distribute_loops,  # before verdicts: each distributed loop gets its own
    sink_scalars,  # before loops are interchanged, whose nests have nothing between them
    interchange_loops,  # before index-set splitting, which ends perfect nests; before verdicts, which it changes
    index_set_splitting,  # after distribution, for loops that it left whole; before verdicts, which each part needs
    scalar_replacement,  # after distribution, on whose loops it works; before verdicts, which it changes
    privatise_arrays,  # after the passes that remove dependences without extra memory; before verdicts
    rename_arrays,  # after privatisation, for arrays that cannot be private, and for loops that need both
    shifted_fusion,  # after dependences are removed and the order of nests is settled; before verdicts
    skew_loops,  # after all passes that remove dependences; before a row is taken for a scan of its own
    scalar_replacement_of_recurrences,  # after them, for residual dependences: a loop-carried element may make a scan
    normalise_loops,  # before find_products, which matches products by their indices
    find_products,  # after all passes that move loops; before verdicts, which its new nests need
    split_at_conditions,  # after find_products, whose products stay whole; before verdicts, which each part needs
    delinearise_loops,  # after the passes that move loops; before verdicts, which its new loops need
    tile_transpositions,  # after the passes that match or move loops; before verdicts, which its new loops need
    check_parallel,  # after all dependences are settled: proves pragmas legal, and finds SIMD loops among unmarked ones
    find_lanes,  # after verdicts, for loops that these leave sequential
    version_loops,  # after verdicts, whose run-time conditions it tests; before modes are chosen for both versions
    choose_threads,  # after verdicts: it runs unmarked loops on threads that these prove parallel
    tile_time,  # after choose_threads, whose modes tiles keep; before nontemporal_results: tiles read what they store
    parallel_scan,  # after choose_threads, for loops that do not run on threads otherwise
    nontemporal_results,  # after modes are chosen, and once no pass creates or splits loops
    estimate_costs,  # after modes are chosen: a loop's cost depends on the modes of the loops inside it
    coalesce_loops,  # last: no other pass can analyse the coalesced indices
)

FUSE: tuple[Pass, ...] = (
    assume_no_overflow,  # first, as for bounds
    common_subexpressions,
    guard_assumptions,
    copy_propagation,
    dead_code_elimination,
    simplify_div_mod,
    reduce_remainders,
    substitute_induction,
    check_bounds,
    dead_code_elimination,
    dead_store_elimination,
    forward_copies,
    rematerialise,
    fuse_loops,
    contract_arrays,
    trap_overflow,  # last: blocks are analysed again, as Python text
)
"""For programs over chunked arrays: of ANALYSE, for the reasons given there, what leads to fused nests."""

FOR_C: tuple[Pass, ...] = (
    jam_waves,  # before all passes that make lanes: it decides which skewed nests have them
    hoist_invariants,  # before lanes are made of the loops; before tests are, which would call again
    check_in_blocks,  # before passes that make lanes: what may raise has none otherwise
    distribute_in_blocks,  # after it, for loops that do not raise; before loops around others are made lanes as a whole
    gather_updates,  # before lanes are built of conditional updates
    compare_magnitudes,  # before complex numbers are taken apart in lanes
    vectorise_outer_loops,  # after these, none of which knows its masks
    redundant_checks,  # after all passes that move accesses, which could move one before the access that was checked
    speculate_loads,  # after all passes that make lanes, which read under masks; before forms are chosen
    fold_selects,  # after all passes that make lanes, which look for conditions
    narrow_integers,  # after the same passes, which do not look for casts
    narrow_lanes,  # after them, for the same reason
    choose_forms,  # last: what it decides is about the loops as they are
)

FOR_GPU: tuple[Pass, ...] = (
    refuse_calls,  # first: no pass here knows calls
    scans_of_few_rows,  # before count_workers: chunks are for as many
    count_workers,  # the host program has numbers only
    halve_lanes,  # before loops change their modes
    drop_limited_lanes,  # first: all that follow take lanes for free iterations
    drop_trapping_sums,  # the same
    private_copies,  # before the pass that decides about the updates of arrays with many elements
    atomic_updates,  # before jumps are lowered, which hides loops; what follows knows reductions of scalars only
    keep_rows_on_chip,  # before arrays of iterations become slices of one, which its rows need not
    expand_allocations,  # a kernel cannot allocate; before loops change their form
    lower_jumps,  # Triton has no break; early, because it makes loops of other kinds
    promote_accumulators,  # before complex numbers are taken apart, which hides an update
    split_reductions,  # after sums are scalars; after rows that fit a program are marked
    idioms_of_reals,  # before numbers are taken apart
    split_complex,  # Triton has no complex numbers
    choose_product_tiles,  # late: for the products that are left
    join_updates,  # after passes that look for updates; before loads are moved ahead of stores
    tile_rows,  # late: nothing else knows loops with two forms of their iterations
    share_loads,  # after it, for nests that it leaves
    batch_loads,  # last, for loops that are sequential by now
)
"""Before `split_kernels`, which makes the host program and its kernels of the function."""


def lower_to_gpu(fn: Function, ctx: PassContext) -> GpuProgram:
    """The scheduled program for a GPU of an analysed function."""
    return replace(split_kernels(run(fn, FOR_GPU, ctx), ctx), overwritten=overwritten_arguments(fn))


PROVE_BOUNDS: tuple[Pass, ...] = (
    assume_no_overflow,  # first: bounds are proven for integers of any size; ANALYSE decides again what traps
    check_bounds,  # for arguments that alias, before `merge_aliases` and ANALYSE: each index is checked in its own view
)

UNCHECKED: tuple[Pass, ...] = (
    check_bounds,  # with boundscheck=False it only marks accesses as unchecked
)


def run_all(fn: Function, passes: tuple[Pass, ...], ctx: PassContext) -> Function:
    """Runs the passes on the callees of a function, then on the function."""
    callees = tuple(replace(callee, function=run(callee.function, passes, ctx)) for callee in fn.callees)
    return run(replace(fn, callees=callees) if callees else fn, passes, ctx)


def too_deep(fn: Function) -> UnsupportedError:
    """The error for IR that is nested deeper than Python's recursion limit lets a walk over it go."""
    return UnsupportedError(f"what {fn.name!r} computes is nested too deeply to be compiled", fn.loc,
                            "give parts of it names, or make them functions")  # fmt: skip


GROWTH = ((16, 4_000), (4, 12_000))
"""Bounds on code growth, both of which hold: after a pass, the IR may have a multiple of its first number of nodes,
plus a constant. The second one is the lower for large functions, where compile time comes before a loop's speed."""

NEEDED = frozenset({check_exact_floats, expand_tensors, trap_overflow, check_integer_overflow, *FOR_GPU})
"""Passes that are never left out: correctness needs them, or the form of IR that later passes accept."""


def most_nodes(size: int) -> int:
    """The most nodes that IR of a number of nodes may grow to in a sequence of passes."""
    return min(times * size + more for times, more in GROWTH)


def _size(fn: Function) -> int:
    return len(list(walk(fn)))


def _is_too_large(fn: Function, before: Function, most: int) -> bool:
    """Whether a pass has made the IR grow beyond the bound."""
    return fn is not before and (size := _size(fn)) > most and size > _size(before)


def _leave_out(transform: Pass, fn: Function, ctx: PassContext) -> None:
    """Reports that a pass is left out, since it exceeds the bound on its work or on code growth. Raises DependenceError
    if the pass is the one that proves pragmas legal."""
    asked = next((loop for loop in loops_of(fn.body) if is_asked(loop)), None)
    if transform is check_parallel and asked is not None:
        raise DependenceError(
            f"{loop_text(asked.var, asked.clauses)}: it could not be proven in reasonable time that the iterations are "
            "independent", asked.loc, "make functions of parts of this one",
        )  # fmt: skip
    name = transform.__name__.replace("_", " ")
    ctx.missed(
        fn.loc,
        f"what is known of {fn.name!r} is too much for a step ({name}), which is left out",
        "make functions of parts of this one",
    )


def run(fn: Function, passes: tuple[Pass, ...], ctx: PassContext, *, verify: bool = False) -> Function:
    """Runs the passes on a function, in order.

    verify: check the IR's invariants after each pass, and name the pass that broke one. A failure of a pass
    is raised as an InternalError with its name; errors in the user's program pass through.
    """
    if verify:
        check(fn, "the front end")
    most = most_nodes(_size(fn))
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
        if verify and found is not fn:
            check(found, transform.__name__)
        fn = found
    ctx.facts.forget()
    return fn
