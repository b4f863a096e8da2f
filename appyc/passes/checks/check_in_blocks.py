"""Vectorises loops whose iterations may raise: the tests of a block of iterations come first, in lanes."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.patterns.early_exits import EarlyExit, early_exit
from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.names import NameSupply, ordered
from appyc.ir.raising import divisor_may_be_zero, may_raise, raises_itself
from appyc.ir.types import DType
from appyc.ir.visit import contains, map_operands, rename, scalars_written, walk
from appyc.passes.loop_ops.strip_mine import map_to_blocks
from appyc.passes.node_builders import binary, in_order, integer, let, most_trips, shifted, with_breaks, zero
from appyc.passes.pass_context import PassContext

BLOCK = 2048
"""Iterations of a block: enough to amortise the start of the lanes, and few enough that what the tests read is still in
the cache next to a core for the work."""

LONG_BLOCK = 64
"""The iterations of a block where an iteration has inner loops."""

FEW = 32
"""Up to this trip count, a sequential loop is faster than lanes behind a test."""


def check_in_blocks(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """In SIMD loops, failed tests are accumulated in a flag, which is read once for each block of iterations.

    Before:                              After:
        for i in range(n):  # simd           for at in range(0, n, 2048):
            v = int(a[i] * 255)                  end = min(at + 2048, n)
            if not 0 <= v <= 255:                unfit = 0
                raise OverflowError              for i in range(at, end):  # simd, reduction(| : unfit)
            o[i] = v                                 if not 0 <= int(a[i] * 255) <= 255: unfit |= 1
                                                 if unfit != 0:
                                                     for i in range(at, end): ...        # as before
                                                 else:
                                                     for i in range(at, end):  # simd
                                                         o[i] = int(a[i] * 255)

    A block in which a test fails runs sequentially: when it raises, the arrays have the same contents as in Python.
    A division that may raise is a test of its divisor.

    Requires: modes are chosen. Does not handle: tests that depend on what earlier iterations did, or on elements that
    they wrote (`early_exits`); loops that may raise for other reasons, too; loops inside a loop that threads share.
    """
    names = NameSupply.after(fn)

    def rule(loop: ir.For) -> ir.For | None:
        tested = _with_tests(loop, names)
        if not _is_candidate(tested):
            return None
        parts = early_exit(tested, ctx.legality(fn).dependences, with_loops=True)
        if not isinstance(parts, EarlyExit) or may_raise(parts.rest):
            return None
        size = LONG_BLOCK if contains(loop.body, ir.While) else BLOCK
        return _in_blocks(tested, parts, loop.body, size, names)

    return map_to_blocks(fn, rule)


def _with_tests(loop: ir.For, names: NameSupply) -> ir.For:
    """The loop with a statement that tests the divisor, before each that divides in any case by what may be zero."""
    if loop.mode is ir.LoopMode.SEQUENTIAL or not any(
        isinstance(n, ir.Binary) and divisor_may_be_zero(n) for n in walk(loop.body)
    ):
        return loop

    def expression(e: ir.Expr, before: list[ir.Stmt]) -> ir.Expr:
        match e:
            case ir.Select(cond=cond):
                return replace(e, cond=expression(cond, before))
            case ir.Logical(lhs=lhs):
                return replace(e, lhs=expression(lhs, before))
        e = map_operands(e, lambda operand: expression(operand, before))
        if not isinstance(e, ir.Binary) or not divisor_may_be_zero(e):
            return e
        divisor = let("divisor", e.rhs, names, before)
        is_zero = ir.Compare("==", divisor, zero(divisor.dtype, e.loc), loc=e.loc)
        raises = ir.Fail("ZeroDivisionError", "division by zero", loc=e.loc)
        before.append(ir.If(is_zero, (raises,), loc=e.loc))
        return replace(e, rhs=divisor, trap=False)

    def block(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        out = list[ir.Stmt]()
        for stmt in body:
            if not isinstance(stmt, ir.While):
                stmt = map_operands(map_blocks(stmt, block), lambda e: expression(e, out))
            out.append(stmt)
        return tuple(out)

    body = block(loop.body)
    own = ordered(scalars_written(body) - scalars_written(loop.body))
    return replace(loop, body=body, private=(*loop.private, *own))


def _is_candidate(loop: ir.For) -> bool:
    """Whether the iterations may run in any order, and explicit `Fail` statements are all that may raise."""
    if loop.mode is ir.LoopMode.SEQUENTIAL or loop.step != 1:
        return False
    if loop.in_step or loop.safelen is not None:
        return False
    nodes = list(walk(loop.body))
    fails = [n for n in nodes if isinstance(n, ir.Fail)]
    if not fails or any(isinstance(n, ir.While) and contains(n, ir.Fail) for n in nodes):
        return False
    if any(r.symbol.is_array for r in loop.reductions):
        return False
    if loop.mode is ir.LoopMode.PARALLEL and (loop.last or (loop.clauses is not None and loop.clauses.chunk)):
        return False
    raising = {id(n) for fail in fails for n in walk(fail)}
    if any(
        isinstance(n, ir.For | ir.Break | ir.Continue | ir.Alloc)
        or (raises_itself(n) and id(n) not in raising)
        for n in nodes
    ):
        return False
    trips = most_trips(loop)
    return trips is None or trips > FEW


def _in_blocks(
    loop: ir.For, parts: EarlyExit, as_it_was: tuple[ir.Stmt, ...], size: int, names: NameSupply
) -> ir.For:
    """The loop over blocks. as_it_was: its body, for a block in which a test fails."""
    loc = loop.loc
    at, end, unfit = (ir.Var(names.fresh(name, DType.INT64), loc=loc) for name in ("at", "end", "unfit"))

    def part(mode: ir.LoopMode, body: tuple[ir.Stmt, ...] = loop.body) -> ir.For:
        """The iterations of a block, with a variable of their own."""
        bare = replace(in_order(loop), lo=at, hi=end, body=body, mode=mode)
        return rename(bare, {loop.var: names.fresh(loop.var.name, loop.var.type)})

    tests, work = part(ir.LoopMode.SIMD), part(ir.LoopMode.SIMD)
    slow = part(ir.LoopMode.SEQUENTIAL, as_it_was)
    flag = ir.Update(unfit.symbol, (), "|", integer(1, loc), loc=loc)
    own = {s: names.fresh(s.name, s.type) for s in ordered(scalars_written(parts.test))}
    tests = replace(
        tests,
        body=rename(with_breaks(parts.test, (flag,)), {**own, loop.var: tests.var}),
        private=tuple(own.values()),
        reductions=(ir.Reduction("|", unfit.symbol),),
    )
    written = scalars_written(parts.rest)
    work = replace(
        work,
        body=rename(parts.rest, {loop.var: work.var}),
        private=tuple(s for s in loop.private if s in written),
        last=loop.last,
        reductions=tuple(r for r in loop.reductions if r.symbol in written),
    )
    failed = ir.Compare("!=", unfit, integer(0, loc), loc=loc)
    body = (
        ir.Assign(end.symbol, binary("min", shifted(at, size), loop.hi), loc=loc),
        ir.Assign(unfit.symbol, integer(0, loc), loc=loc),
        tests,
        ir.If(failed, (slow,), (work,), loc=loc),
    )
    blocks = replace(loop, var=at.symbol, step=size, body=body, last=())
    if loop.mode is ir.LoopMode.PARALLEL:
        own_scalars = ordered({end.symbol, unfit.symbol, *own.values()})
        return replace(blocks, private=(*loop.private, *own_scalars))
    return replace(blocks, mode=ir.LoopMode.SEQUENTIAL, private=(), reductions=(), clauses=None)
