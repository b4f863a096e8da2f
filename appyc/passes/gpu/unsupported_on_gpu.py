"""What kernels cannot do, rewritten or dropped: limited lanes, scans and products of complex numbers, worker counts."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.dependences.verdicts import named
from appyc.ir.nodes import For, Function, Node, Workers
from appyc.ir.visit import map_loops, rewrite
from appyc.passes.node_builders import integer
from appyc.passes.pass_context import PassContext

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
    """Products of complex matrices run in kernels: their parts become arrays that no library takes for one."""

    def rule(loop: For) -> For:
        is_complex = loop.product is not None and loop.product.target.array.dtype.is_complex
        return replace(loop, product=None) if is_complex else loop

    return map_loops(fn, rule)


def count_workers(fn: Function, ctx: PassContext) -> Function:
    """How many programs a GPU has room for: no need to know which GPU, if they are more than enough."""

    def rule(node: Node) -> Node:
        return integer(PROGRAMS, node.loc) if isinstance(node, Workers) else node

    return rewrite(fn, rule)
