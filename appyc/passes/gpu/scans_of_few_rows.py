"""Scans in the rows of a parallel loop: a few long rows run in order, each with its scan in chunks.

    for i in range(rows):             # parallel          if count >= 32768 * rows:
        t = 0.0                                               for i in range(rows):         # in order
        for j in range(count):        # scan(+: t)                t = 0.0
            t += a[i, j]                           ->             ... the scan in chunks (`parallel_scan`)
            s[i, j] = t                                   else:
                                                              for i in range(rows): ...     # as it was

A row that one program scans uses one multiprocessor, which waits for memory at each strip of lanes: for 1,024 elements
as long as for a load. Chunks use all of them, but a row takes three launches then, and a copy to the host.

Requires: no loop around it runs in parallel; the rows are equally long, and the loop over them has no reduction. Before
`count_workers`. Does not handle: several scans in a row.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.blocks import replace_outermost
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Binary, Compare, For, Function, If, LoopMode, Stmt
from appyc.ir.visit import scalars_read, scalars_written
from appyc.passes.node_builders import copy_of, in_order, integer, trip_count
from appyc.passes.parallelise.parallel_scan import in_chunks, is_wanted
from appyc.passes.pass_context import PassContext

LEAST = 1 << 15
"""Iterations of a scan, for each row: about as many as a program runs while three kernels are launched."""


def scans_of_few_rows(fn: Function, ctx: PassContext) -> Function:
    """The function with a second version of such loops, which run-time extents select."""
    names = NameSupply.after(fn)

    def versioned(stmt: Stmt) -> list[Stmt] | None:
        if not isinstance(stmt, For) or stmt.mode is not LoopMode.PARALLEL:
            return None
        scans = [inner for inner in stmt.body if isinstance(inner, For) and inner.scans]
        if len(scans) != 1 or stmt.reductions or not is_wanted(scans[0], ctx):
            return [stmt]
        if scalars_read(scans[0].bounds) & (scalars_written(stmt.body) | {stmt.var}):
            return [stmt]  # rows of several lengths
        return [_versions(stmt, scans[0], ctx, names)]

    return replace(fn, body=replace_outermost(fn.body, versioned))


def _versions(loop: For, scan: For, ctx: PassContext, names: NameSupply) -> If:
    loc = loop.loc
    at = loop.body.index(scan)
    rows = copy_of(in_order(loop), names)
    inner = rows.body[at]
    assert isinstance(inner, For)
    chunks = in_chunks(inner, ctx, names)
    rows = replace(rows, body=(*rows.body[:at], *chunks, *rows.body[at + 1 :]))
    most = Binary("*", integer(LEAST, loc), trip_count(loop.lo, loop.hi, loop.step), loc=loc)
    is_long = Compare(">=", trip_count(scan.lo, scan.hi, scan.step), most, loc=loc)
    return If(is_long, (rows,), (loop,), loc=loc)
