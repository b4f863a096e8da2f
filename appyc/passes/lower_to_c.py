"""From an analysed function to what C is written from: the passes that only the C back end needs."""

from __future__ import annotations

from appyc.ir.nodes import Function
from appyc.passes.checks.check_in_blocks import check_in_blocks
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.compare_magnitudes import compare_magnitudes
from appyc.passes.vectorise.gather_updates import gather_updates
from appyc.passes.vectorise.vectorise_outer_loops import vectorise_outer_loops


def lower_to_c(fn: Function, ctx: PassContext, vector_functions: frozenset[str]) -> Function:
    """vector_functions: those of C's library that lanes may call, by their names in C."""
    return vectorise_outer_loops(
        compare_magnitudes(gather_updates(check_in_blocks(fn, ctx)), ctx), ctx, vector_functions
    )
