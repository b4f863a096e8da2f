"""From an analysed function to a scheduled program for a GPU: the passes that only a GPU needs."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.dependences.verdicts import named
from appyc.ir.gpu_program import GpuProgram
from appyc.ir.nodes import For, Function, Node, Workers
from appyc.ir.schedule import ProductShape
from appyc.ir.visit import map_loops, rewrite
from appyc.passes.gpu.atomic_updates import atomic_updates
from appyc.passes.gpu.expand_allocations import expand_allocations
from appyc.passes.gpu.keep_rows_on_chip import keep_rows_on_chip
from appyc.passes.gpu.split_complex import split_complex
from appyc.passes.gpu.split_kernels import split_kernels
from appyc.passes.node_builders import integer
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.lower_jumps import lower_jumps
from appyc.passes.storage.promote_accumulators import promote_accumulators

PROGRAMS = 1024
"""The assumed number of programs that a GPU runs in parallel: several on each of its hundred multiprocessors."""


def drop_limited_lanes(fn: Function, ctx: PassContext) -> Function:
    """Loops whose lanes have limits (`safelen`, `in_step`) run in order: blocks of a kernel cannot keep them."""

    def rule(loop: For) -> For:
        if loop.safelen is None and not loop.in_step:
            return loop
        ctx.missed(loop.loc, f"{named(loop)}: on the GPU it runs in order, since lanes of a GPU know no limits",
                   "parallelise another loop of the nest")  # fmt: skip
        return For(loop.var, loop.lo, loop.hi, loop.step, loop.body, clauses=loop.clauses, loc=loop.loc)

    return map_loops(fn, rule)


def scans_of_reals(fn: Function, ctx: PassContext) -> Function:
    """Scans of complex numbers run in order: their parts become scalars that depend on each other."""

    def rule(loop: For) -> For:
        if not any(scan.symbol.dtype.is_complex for scan in loop.scans):
            return loop
        ctx.missed(loop.loc, "a scan of complex numbers runs in order within a program of the GPU",
                   "scan the real and the imaginary part apart")  # fmt: skip
        return replace(loop, scans=())

    return map_loops(fn, rule)


def products_of_reals(fn: Function, ctx: PassContext) -> Function:
    """Products of complex matrices run in kernels: their parts become arrays that no library takes for one. So do
    triangles, of which the library would compute too much."""

    def rule(loop: For) -> For:
        product = loop.product
        if product is None:
            return loop
        is_for_library = not product.target.array.dtype.is_complex and product.shape is ProductShape.ALL
        return loop if is_for_library else replace(loop, product=None)

    return map_loops(fn, rule)


def count_workers(fn: Function, ctx: PassContext) -> Function:
    """How many programs a GPU has room for: no need to know which GPU, if they are more than enough."""

    def rule(node: Node) -> Node:
        return integer(PROGRAMS, node.loc) if isinstance(node, Workers) else node

    return rewrite(fn, rule)


GPU_PASSES = (
    count_workers,  # the host program has numbers only
    drop_limited_lanes,  # first: all that follow take lanes for free iterations
    atomic_updates,  # before jumps are lowered, which hides loops; what follows knows reductions of scalars only
    keep_rows_on_chip,  # before arrays of iterations become slices of one, which its rows need not
    expand_allocations,  # a kernel cannot allocate; before loops change their form
    lower_jumps,  # Triton has no break; early, because it makes loops of other kinds
    promote_accumulators,  # before complex numbers are taken apart, which hides an update
    scans_of_reals,  # before numbers are taken apart
    products_of_reals,  # the same
    split_complex,  # Triton has no complex numbers
)


def lower_to_gpu(fn: Function, ctx: PassContext) -> GpuProgram:
    for gpu_pass in GPU_PASSES:
        fn = gpu_pass(fn, ctx)
    return split_kernels(fn, ctx)
