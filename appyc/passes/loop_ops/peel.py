"""Peeling: the first iteration of a loop becomes statements before the loop.

    for i in range(lo, hi):                   if lo < hi:
        f(i)                         ->           f(lo)
                                              for i in range(lo + 1, hi):
                                                  f(i)

The iterations keep their order: legal for any loop whose iterations do not end early.

Does not handle: loops that `break` or `continue`; loops with loops in them, whose variables would be there twice.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.nodes import Alloc, Break, Continue, For, If, While
from appyc.ir.visit import contains, substitute
from appyc.passes.node_builders import if_it_runs, shifted
from appyc.passes.parallelise.plain_loops import has_fixed_bounds


def why_not_peel(loop: For) -> str | None:
    if not has_fixed_bounds(loop):
        return "its bounds change while it runs"
    if contains(loop.body, Break | Continue):
        return "an iteration may end early"
    if contains(loop.body, For | While | Alloc):
        return "an iteration has loops or arrays of its own"
    return None


def peel(loop: For) -> tuple[If, For]:
    """The first iteration, where there is one, and the loop over the others."""
    first = substitute(loop.body, {loop.var: loop.lo})
    return if_it_runs(loop, first), replace(loop, lo=shifted(loop.lo, loop.step))
