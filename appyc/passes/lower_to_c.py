"""From an analysed function to what C is written from: the passes that only the C back end needs."""

from __future__ import annotations

from appyc.ir.nodes import Function
from appyc.passes.check_in_blocks import check_in_blocks
from appyc.passes.compare_sizes import compare_sizes
from appyc.passes.context import PassContext
from appyc.passes.gather_updates import gather_updates
from appyc.passes.mask_lanes import mask_lanes


def lower_to_c(fn: Function, ctx: PassContext, vector_functions: frozenset[str]) -> Function:
    """vector_functions: those of C's library that lanes may call, by their names in C."""
    return mask_lanes(compare_sizes(gather_updates(check_in_blocks(fn, ctx)), ctx), ctx, vector_functions)
