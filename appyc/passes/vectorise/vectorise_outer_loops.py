"""Outer-loop vectorisation under masks, of iterations whose inner loops differ in length.

    for i in range(0, n):                 for i in range(0, n, 16):
        k = 0                                 k = 0 in 16 lanes                    # as loops of 16 iterations
        z = 0.0                               z = 0.0 in 16 lanes
        while z < 4.0 and k < limit:  ->      live = (i + lane < n) & (z < 4.0) & (k < limit)
            z = z * z + c[i]                  while any lane is live:
            k = k + 1                             z, k = (z * z + c[i + lane], k + 1) where live
        steps[i] = k                              live = live & (z < 4.0) & (k < limit)
                                              steps[i + lane] = k                  # where i + lane < n

Steps of a sequential inner loop depend on each other; steps of different outer iterations do not, and fill the vectors.
Inactive lanes wait for the active ones. The lowering is shared with GPU kernels: statements under masks
(`predicate_lanes`), jumps as flags, and complex numbers as pairs.

Requires: modes of loops, and bounds that are proven. For the C back end only.

Does not handle: iterations that may raise, allocate, or update atomically; inner loops that are SIMD loops themselves;
accesses in the inner loops with a stride other than 0 or 1 across lanes; divisions of integers, except by powers of
two; loops that count the bits of a number; functions without a vector version; powers, logarithms and sines of complex
numbers, which lose accuracy when they are split into parts; reductions of complex numbers and flags; scalars that are
read after the loop.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.accesses.set_once import set_once
from appyc.analysis.algebra.strides import Strides
from appyc.analysis.dependences.verdicts import named
from appyc.ir import nodes as ir
from appyc.ir import visit
from appyc.ir.affine import NO_TERMS, linear_form, terms_with
from appyc.ir.array_accesses import accesses_in
from appyc.ir.fault_words import FaultSites
from appyc.ir.gpu_program import LaneReduce, ScheduledStmt
from appyc.ir.intrinsics import VECTOR_FUNCTIONS
from appyc.ir.invariance import is_invariant
from appyc.ir.names import NameSupply, ordered
from appyc.ir.raising import may_raise
from appyc.ir.schedule import LoopSchedule
from appyc.ir.types import DType
from appyc.passes.gpu.lane_expressions import Where
from appyc.passes.gpu.loads_ahead import read_once
from appyc.passes.gpu.predicate_lanes import KernelLowering
from appyc.passes.gpu.split_complex import split_block
from appyc.passes.node_builders import scaled, start_of_sum
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.hoist_invariants import hoist_loads
from appyc.passes.simplify.lower_jumps import without_jumps
from appyc.passes.simplify.normalise_loops import shifted_range
from appyc.passes.vectorise.divergence import divergence
from appyc.passes.vectorise.expand_lanes import expand_lanes

LANES = 16
"""Enough to hide the latency of vector operations, and few enough that few lanes idle until the last one is done."""

_INLINE = frozenset({"abs", "sqrt", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite", "sign", "copysign",
                     "real", "imag", "complex", "conj"})  # fmt: skip
"""Functions that C compilers have instructions for."""

_REDUCED = ("+", "*", "min", "max", "minimum", "maximum", "&", "|", "^")
_POWERS = (1, 2, 3, 4, -1, -2, 0.5)


def vectorise_outer_loops(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with strips of masked lanes for the loops whose iterations run inner loops in their own ways."""
    names = NameSupply.after(fn)
    made: set[ir.Symbol] = set()
    decided: dict[ir.Symbol, LoopSchedule] = {}

    def rule(loop: ir.For) -> ir.For:
        if _may_be_masked(loop) and _gains(loop):
            masked = _Masking(loop, names, ctx).masked()
            if masked is not None:
                ctx.remark(loop.loc, f"{named(loop)}: {LANES} iterations run in lanes, each under a mask "
                           "in the loops inside, until it leaves them")  # fmt: skip
                made.update(visit.scalars_written(masked.body) - visit.scalars_written(loop.body))
                cost = fn.schedule[loop.var].cost
                decided[loop.var] = LoopSchedule(cost.of_blocks(LANES) if cost is not None else None)
                return masked
        if not made:
            return loop
        written = visit.scalars_written(loop.body)
        left = tuple(symbol for symbol in loop.private if symbol in written)  # complex ones are split inside
        new = ordered((written & made) - {*left}) if loop.mode is not ir.LoopMode.SEQUENTIAL else ()
        return replace(loop, private=(*left, *new))

    masked = visit.map_loops(fn, rule)
    return replace(masked, schedule=fn.schedule.updated(decided)) if decided else masked


def _may_be_masked(loop: ir.For) -> bool:
    """Whether the iterations are free, and nothing but numbers of their own, elements and sums comes out of them."""
    if loop.mode is ir.LoopMode.SEQUENTIAL or loop.safelen is not None or loop.in_step or loop.last:
        return False
    if loop.product is not None:
        return False
    sums = {r.symbol for r in loop.reductions}
    if any(s.is_array or s.dtype.is_complex or s.dtype is DType.BOOL for s in sums):
        return False
    if any(r.op not in _REDUCED for r in loop.reductions):
        return False
    if not visit.scalars_written(loop.body) <= {*loop.private, *sums} | {
        s for i in visit.loops_of(loop.body) for s in i.private
    }:
        return False
    if may_raise(loop.body) or not all(_comes_apart(n) for n in visit.walk(loop.body)):
        return False
    return not any(
        isinstance(n, ir.Alloc) or (isinstance(n, ir.Update) and n.atomic) for n in visit.walk(loop.body)
    )


def _comes_apart(node: ir.Node) -> bool:
    """Whether an operation on complex numbers keeps its digits where it is done on their parts."""
    match node:
        case ir.Binary(op="**", rhs=ir.Const(value=power)) if node.dtype.is_complex:
            return power in (1, 2, 3)
        case ir.Binary(op=op, dtype=dtype) | ir.Update(op=op, target=ir.Symbol(dtype=dtype)) if (
            dtype.is_complex
        ):
            return op in ("+", "-", "*", "/")
        case ir.Intrinsic(name=name, args=(number, *_)) if number.dtype.is_complex:
            return name in ("abs", "conj", "exp", "imag", "real", "sqrt")
        case _:
            return True


def _gains(loop: ir.For) -> bool:
    """Whether there is a loop inside that each iteration runs in its own way, and none that is lanes by itself.

    Sums and recurrences of floats under loops with equal bounds become lanes without masks (`lane_plan`).
    """
    inner = [n for n in visit.walk(loop.body) if isinstance(n, ir.For | ir.While)]
    if any(isinstance(n, ir.For) and n.mode is not ir.LoopMode.SEQUENTIAL for n in inner):
        return False
    if any(scan.fades for n in inner if isinstance(n, ir.For) for scan in n.scans):
        return False  # these run as interleaved chains, which keep their products from becoming subnormal and slow
    if any(isinstance(n, ir.While) and _counts_bits(n) for n in inner):
        return False
    if any(isinstance(n, ir.While) or visit.contains(n.body, ir.Break) for n in inner):
        return True
    own = {loop.var, *visit.scalars_written(loop.body)}
    return any(_needs_masks(n, own) for n in inner)


def _needs_masks(loop: ir.For | ir.While, own: set[ir.Symbol]) -> bool:
    """own: the scalars that iterations around the loop have values of their own of."""
    written = visit.scalars_written(loop.body)
    if visit.arrays_written(loop.body) or not written:
        return False
    if isinstance(loop, ir.For) and not is_invariant(loop.bounds, own):
        return True
    if any(s.dtype.is_complex for s in written) or len({s.dtype for s in written}) > 1:
        return True
    return visit.contains(loop.body, ir.If | ir.Select | ir.Intrinsic | ir.Continue)


class _Masking:
    def __init__(self, loop: ir.For, names: NameSupply, ctx: PassContext) -> None:
        self.loop, self.names, self.ctx = loop, names, ctx

    def masked(self) -> ir.For | None:
        """The loop in strips of lanes; None where its body is not of the kind that gains from it."""
        loop, loc = self.loop, self.loop.loc
        body = without_jumps(self._counted_alike(loop.body), self.names)
        body = hoist_loads(body, visit.arrays_written(body), self.names)
        body = visit.rewrite_all(body, self._reading_once)
        if not self._has_near_accesses(body):
            return None
        made = visit.scalars_written(body)
        outside = [s for s in visit.scalars_read(body) if s.dtype.is_complex and s not in made]
        body = split_block(body, ordered(outside), self.names, self.ctx)
        body = tuple(visit.rewrite(stmt, self._form) for stmt in body)
        if not all(self._has_form(n) for n in visit.walk(body)):
            return None
        lane = self.names.fresh("lane", DType.INT64)
        lower = KernelLowering(self.names, FaultSites(), LANES)
        at = ir.Binary("+", ir.Var(loop.var, loc=loc), scaled(ir.Var(lane, loc=loc), loop.step), loc=loc)
        inside = ir.Compare("<" if loop.step > 0 else ">", at, loop.hi, loc=loc)
        lanes, kept = lower.as_lanes(replace(loop, body=visit.substitute(body, {loop.var: at})))
        lower.counts_alone = True
        lower.unmasked = set_once(lanes.body)
        lower.varying.add(lane)
        lower.varying |= divergence(lanes.body, lower.varying)
        out: list[ScheduledStmt] = []
        for reduction in loop.reductions:
            out.append(ir.Assign(kept[reduction.symbol], self._start(reduction), loc=loc))
        out += lower.block(lanes.body, Where(inside, lanes=True))
        sums: list[ir.Stmt] = []
        for reduction in loop.reductions:
            total = self.names.fresh(reduction.symbol.name, reduction.symbol.dtype)
            out.append(LaneReduce(total, reduction.op, ir.Var(kept[reduction.symbol], loc=loc), loc=loc))
            sums.append(ir.Update(reduction.symbol, (), reduction.op, ir.Var(total, loc=loc), loc=loc))
        strip = (*expand_lanes(out, lane, LANES, lower.varying, self.names, loc), *sums)
        sums_of = {r.symbol for r in loop.reductions}
        private = ordered(visit.scalars_written(strip) - sums_of)
        return replace(loop, step=loop.step * LANES, body=strip, private=private)

    def _counted_alike(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        """The statements, in which loops that begin at the lane's own number count from 0: all lanes count alike, and
        access adjacent elements."""
        own = visit.scalars_written(body) | {n.var for n in visit.loops_of(body)}

        def rule(inner: ir.Node) -> ir.Node:
            if not isinstance(inner, ir.For) or not is_invariant(inner.bounds, own):
                return inner
            lo = linear_form(inner.lo)
            moves = terms_with(lo, frozenset({self.loop.var}))
            return shifted_range(inner, NO_TERMS.plus(lo, -1)) if moves else inner

        return visit.rewrite_all(body, rule)

    def _reading_once(self, node: ir.Node) -> ir.Node:
        """A loop, which reads an element once that it reads in any case."""
        if not isinstance(node, ir.For | ir.While):
            return node
        found = read_once(node.body, self.names)
        return node if found is None else replace(node, body=found[1])

    def _start(self, reduction: ir.Reduction) -> ir.Expr:
        """The start value of a lane's partial result: the scalar's current value where the operator is
        idempotent, else the operator's identity."""
        symbol, loc = reduction.symbol, self.loop.loc
        if reduction.op in ("+", "*", "^"):
            return start_of_sum(reduction.op, symbol.dtype, loc)
        return ir.Var(symbol, loc=loc)

    def _has_near_accesses(self, body: tuple[ir.Stmt, ...]) -> bool:
        """Whether lanes access the same element, or adjacent ones in order, in every access of the inner loops."""
        strides = Strides.of(replace(self.loop, body=body))
        inner = [n for n in visit.walk(body) if isinstance(n, ir.For | ir.While)]
        return all(strides.is_adjacent(array, index, self.loop) for array, index, _ in accesses_in(inner))

    def _form(self, node: ir.Node) -> ir.Node:
        """An operation in the form that vectors have, where that is another one: quotients by powers of two as shifts,
        the size of a complex number, which has been taken apart, without the library."""
        match node:
            case ir.Binary("//" | "%" as op, lhs, ir.Const(value=int(by))) if (
                node.dtype.is_integer and by > 0 and by & (by - 1) == 0
            ):
                other, number = (">>", by.bit_length() - 1) if op == "//" else ("&", by - 1)
                return ir.Binary(other, lhs, ir.Const(number, node.dtype, loc=node.loc), loc=node.loc)
            case ir.Intrinsic("hypot") if not self.ctx.options.exact:
                whole = DType.COMPLEX128 if node.dtype is DType.FLOAT64 else DType.COMPLEX64
                number_ = ir.Intrinsic("complex", node.args, whole, loc=node.loc)
                return ir.Intrinsic("abs", (number_,), node.dtype, loc=node.loc)
            case _:
                return node

    def _has_form(self, node: ir.Node) -> bool:
        """Whether C compilers, or C's library, have a form of an operation for vectors."""
        match node:
            case ir.Intrinsic(name=name):
                if name in _INLINE:
                    return name != "abs" or not node.args[0].dtype.is_complex or not self.ctx.options.exact
                suffix = "f" if node.dtype is DType.FLOAT32 else ""
                return name in VECTOR_FUNCTIONS and name + suffix in self.ctx.vector_functions
            case ir.Binary(op="//" | "%"):
                return False
            case ir.Binary(op="/"):
                return node.dtype.is_float
            case ir.Binary(op="**", rhs=rhs):
                return node.dtype.is_float and isinstance(rhs, ir.Const) and rhs.value in _POWERS
            case ir.Cast(arg=arg) if not node.dtype.is_complex and not arg.dtype.is_complex:
                # gcc 12 makes wrong code for AVX-512 where masks choose between numbers of 16 bits made of floats.
                narrow, wide = sorted((node.dtype, arg.dtype), key=lambda dtype: dtype.bits)
                return narrow is DType.BOOL or narrow.bits >= 32 or not wide.is_float
            case _:
                return True


def _counts_bits(loop: ir.While) -> bool:
    """Whether a loop clears the lowest bit of a number until none is left, and counts: C compilers make an instruction
    of all of it.

    while x != 0:
        x = x & (x - 1)
        k += 1
    """
    match loop.cond:
        case ir.Compare(op="!=", lhs=ir.Var(number) | ir.Cast(arg=ir.Var(number)), rhs=ir.Const(value=0)):
            x = ir.Var(number, loc=loop.loc)
        case _:
            return False
    lower = ir.Binary("-", x, ir.Const(1, number.dtype, loc=loop.loc), loc=loop.loc)
    cleared = {ir.Binary("&", x, lower, loc=loop.loc), ir.Binary("&", lower, x, loc=loop.loc)}
    steps = [
        stmt for stmt in loop.body if not (isinstance(stmt, ir.Update) and isinstance(stmt.value, ir.Const))
    ]
    return all(
        isinstance(s, ir.Assign) and s.target == number and s.value in cleared for s in steps
    ) and bool(steps)
