"""Refuses, rewrites or drops what kernels cannot do: calls, limited lanes, sums that must not wrap, scans and
products of complex numbers, worker counts."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.dependences.verdicts import named
from appyc.errors import UnsupportedError
from appyc.ir.nodes import Assign, Binary, Call, For, Function, Node, Update, Var, Workers
from appyc.ir.raising import trapping_sums
from appyc.ir.visit import map_loops, rewrite, walk
from appyc.passes.node_builders import integer
from appyc.passes.pass_context import PassContext

PROGRAMS = 1024
"""The assumed number of programs that a GPU runs in parallel: several on each of its hundred multiprocessors."""


def refuse_calls(fn: Function, ctx: PassContext) -> Function:
    """The function as it is. Raises UnsupportedError where it calls one that is not inlined.

    def f(n):
        return n if n < 2 else f(n - 1) + f(n - 2)     UnsupportedError: no kernel calls a recursive function
    """
    call = next((n for n in walk(fn.body) if isinstance(n, Call)), None)
    if call is None:
        return fn
    raise UnsupportedError(
        "a GPU does not run the function: it calls one that is recursive or too large to be inlined", call.loc,
        "call the function: it runs in C then", "or write the recursion as a loop", label="called here",
    )  # fmt: skip


def drop_limited_lanes(fn: Function, ctx: PassContext) -> Function:
    """Loops whose lanes have limits (`safelen`, `in_step`) run in order: blocks of a kernel cannot keep them."""

    def rule(loop: For) -> For:
        if loop.safelen is None and not loop.in_step:
            return loop
        ctx.missed(loop.loc, f"{named(loop)}: on the GPU it runs in order, since lanes of a GPU know no limits",
                   "parallelise another loop of the nest")  # fmt: skip
        return For(loop.var, loop.lo, loop.hi, loop.step, loop.body, clauses=loop.clauses, loc=loop.loc)

    return map_loops(fn, rule)


def drop_trapping_sums(fn: Function, ctx: PassContext) -> Function:
    """Sums that must not wrap are in order, by operations that trap: shares of programs and lanes are combined without
    a test.

        for i in range(n):  # parallel, reduction(+: s)         for i in range(n):  # sequential
            s += x[i]       # traps                      ->         s = s + x[i]    # traps
    """
    trapping = trapping_sums(fn.body)

    def rule(node: Node) -> Node:
        if isinstance(node, Update) and node.trap:
            value = Binary(node.op, Var(node.target, loc=node.loc), node.value, True, True, loc=node.loc)
            return Assign(node.target, value, loc=node.loc)
        summed = (
            {r.symbol.name for r in node.reductions if r.symbol in trapping} if isinstance(node, For) else ()
        )
        if not isinstance(node, For) or not summed:
            return node
        names = " and ".join(f"'{name}'" for name in sorted(summed))
        ctx.missed(node.loc, f"{named(node)}: on the GPU it runs in order, since {names} may take more than 64 bits",
                   "sum numbers of NumPy's, which wrap around, or cut them with % or &")  # fmt: skip
        return For(node.var, node.lo, node.hi, node.step, node.body, clauses=node.clauses, loc=node.loc)

    return rewrite(fn, rule) if trapping else fn


def idioms_of_reals(fn: Function, ctx: PassContext) -> Function:
    """Scans of complex numbers run in order, and products of complex matrices in kernels: parts of numbers become
    scalars that depend on each other, and arrays that no library takes for one."""

    def rule(loop: For) -> For:
        if loop.product is not None and loop.product.target.array.dtype.is_complex:
            loop = replace(loop, product=None)
        if not any(scan.symbol.dtype.is_complex for scan in loop.scans):
            return loop
        ctx.missed(loop.loc, "a scan of complex numbers runs in order within a program of the GPU",
                   "scan the real and the imaginary part apart")  # fmt: skip
        return replace(loop, scans=())

    return map_loops(fn, rule)


def count_workers(fn: Function, ctx: PassContext) -> Function:
    """The function with the number of workers replaced by a number of programs that is more than enough for
    any GPU."""

    def rule(node: Node) -> Node:
        return integer(PROGRAMS, node.loc) if isinstance(node, Workers) else node

    return rewrite(fn, rule)
