"""Composition of the steps of a chunk of a scan, and what they cost: code for `parallel_scan`.

A scan by an operator has one total for each chunk. A linear recurrence has two: the product of the
factors, and the result from a start of 0. The start value of each chunk is composed of these totals
and of the value of the scalar before the first chunk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.patterns.scans import LINEAR, backward_slice, step_of
from appyc.ir import nodes as ir
from appyc.ir.invariance import changed_in, is_invariant
from appyc.ir.names import NameSupply, ordered
from appyc.ir.schedule import Scan
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import rewrite_all, scalars_written, walk
from appyc.passes.node_builders import begun, integer, start_of_sum, truth
from appyc.passes.parallelise.plain_loops import is_plain

CALL_COST = 10
"""The cost of an intrinsic, in operations."""

WAITS = {"+": 4, "*": 4, "min": 4, "max": 4, "minimum": 4, "maximum": 4, LINEAR: 8}
"""The latency of a loop-carried step on floats, by operator, in operations that could run meanwhile."""

LARGEST_START = {DType.FLOAT64: 1e150, DType.FLOAT32: 1e18}
"""The largest start value of a chunk of a linear recurrence. The product of the factors may have been flushed to 0
below the least normal number; up to this start value, that error is negligible."""

LANES = 4
"""The assumed number of lanes of a first pass that can be vectorised."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Operations of one iteration: of the sequential loop with its latency, and of both passes of the chunks."""

    in_order: int
    in_chunks: int


@dataclass(frozen=True, slots=True)
class Total:
    """One scan. value: the total of a chunk, or what a linear recurrence makes of 0; factor: the
    product of its factors. values, factors: both for every chunk of a round. starts: what the
    scalar holds where a chunk starts. running: the same, while the chunks are gone through."""

    scan: Scan
    value: ir.Symbol
    values: ir.Symbol
    starts: ir.Symbol
    running: ir.Symbol
    factor: ir.Symbol | None
    factors: ir.Symbol | None


class Totals:
    """The totals of all scans of a loop. guarded: note what says whether they are sound."""

    def __init__(self, loop: ir.For, names: NameSupply, guarded: bool = True) -> None:
        self.source, self.loc = loop, loop.loc
        self.totals = tuple(_total(scan, names) for scan in loop.scans)
        self.steps = backward_slice(loop.body, (scan.symbol for scan in loop.scans))
        self.guarded = [t for t in self.totals if guarded and rounds_in_products(t.scan)]
        factors = [f for t in self.guarded for f in self._factors(t.scan.symbol)]
        self.moving = changed_in(self.source)
        self.fixed = [f for f in factors if is_invariant(f, self.moving)]
        varying = [f for f in factors if not is_invariant(f, self.moving)]
        self.largest = names.fresh("largest", varying[0].dtype.part) if varying else None
        self.bounded = names.fresh("bounded", DType.BOOL) if self.guarded else None

    def _factors(self, symbol: ir.Symbol) -> list[ir.Expr]:
        steps = [n for n in walk(self.steps) if isinstance(n, ir.Assign | ir.Update) and n.target == symbol]
        found = [step_of(step) for step in steps]
        return [step.factor for step in found if step is not None and step.factor is not None]

    def conditions(self) -> list[ir.Expr]:
        """The conditions before the loop: no loop-invariant factor is larger than 1."""
        one = (ir.Const(1.0, f.dtype.part, loc=f.loc) for f in self.fixed)
        return [
            ir.Compare("<=", _size(f), limit, loc=f.loc) for f, limit in zip(self.fixed, one, strict=True)
        ]

    def is_sound(self) -> ir.Expr | None:
        """The condition on the totals of a round for the scan to be sound; None where it always is."""
        out: ir.Expr | None = None
        if self.bounded is not None:
            out = ir.Var(self.bounded, loc=self.loc)
        if self.largest is not None:
            limit = ir.Const(1.0, self.largest.dtype, loc=self.loc)
            small = ir.Compare("<=", ir.Var(self.largest, loc=self.loc), limit, loc=self.loc)
            out = small if out is None else ir.Logical("and", small, out, loc=self.loc)
        return out

    @property
    def reductions(self) -> tuple[ir.Reduction, ...]:
        """The reductions of the chunks beside their totals."""
        return () if self.largest is None else (ir.Reduction("maximum", self.largest),)

    def arrays(self) -> list[ir.Symbol]:
        return [a for t in self.totals for a in (t.values, t.factors, t.starts) if a is not None]

    def before(self) -> list[ir.Stmt]:
        """The statements before the first pass of a round."""
        if self.largest is None:
            return []
        return [ir.Assign(self.largest, ir.Const(0.0, self.largest.dtype, loc=self.loc), loc=self.loc)]

    def first(self) -> list[ir.Assign]:
        """The statements at the start of a chunk in the first pass."""
        out: list[ir.Assign] = []
        for t in self.totals:
            op = "+" if t.factor is not None else t.scan.op
            out.append(ir.Assign(t.value, start_of_sum(op, t.value.dtype, self.loc), loc=self.loc))
            if t.factor is not None:
                out.append(begun(t.factor, "*", self.loc))
        return out

    def loop(self) -> ir.For:
        """The first pass over a chunk; its bounds are still those of the whole loop."""
        body = rewrite_all(self.steps, self._onto_totals)
        return self._gathering(replace(self.source, body=body, clauses=None))

    def _gathering(self, loop: ir.For) -> ir.For:
        """A loop of the steps with what is known of its scalars now."""
        written = scalars_written(loop.body)
        # The steps of a loop inside may have no factor: then it is a sum.
        sums = [
            ir.Reduction(t.scan.op if t.factor is None else "+", t.value)
            for t in self.totals
            if t.factor not in written
        ]
        sums = [r for r in (*sums, *self.reductions) if r.symbol in written]
        maps = [
            scan
            for t in self.totals
            if t.factor is not None and t.factor in written
            for scan in (Scan("*", t.factor, fades=True), Scan(LINEAR, t.value))
        ]
        if not sums and not maps:  # a loop inside, with scalars of its own
            return replace(
                loop,
                private=tuple(s for s in loop.private if s in written),
                last=tuple(s for s in loop.last if s in written),
                reductions=tuple(r for r in loop.reductions if r.symbol in written),
                scans=tuple(s for s in loop.scans if s.symbol in written),
            )
        shared = {r.symbol for r in sums} | {scan.symbol for scan in maps}
        private = tuple(s for s in ordered(written) if s not in shared)
        mode = ir.LoopMode.SEQUENTIAL if maps or not is_plain(loop) else ir.LoopMode.SIMD
        return replace(loop, mode=mode, private=private, last=(), reductions=tuple(sums), scans=tuple(maps))

    def _onto_totals(self, node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
        """A step of a scalar as a step of its total."""
        if isinstance(node, ir.For):
            return self._gathering(node)
        if not isinstance(node, ir.Assign | ir.Update):
            return node
        total = next((t for t in self.totals if t.scan.symbol == node.target), None)
        if total is None:
            return node
        if total.factor is None and isinstance(node, ir.Update):
            return replace(node, target=total.value)
        step = step_of(node)
        assert step is not None, "assignments are linear steps"
        if total.factor is None:
            value = step.value if total.scan.op == "+" else step.factor
            return () if value is None else ir.Update(total.value, (), total.scan.op, value, loc=node.loc)
        if step.factor is None:
            return () if step.value is None else ir.Update(total.value, (), "+", step.value, loc=node.loc)
        factor = ir.Binary("*", step.factor, ir.Var(total.factor, loc=node.loc), loc=node.loc)
        out: list[ir.Stmt] = [ir.Assign(total.factor, factor, loc=node.loc)]
        value = ir.Binary("*", step.factor, ir.Var(total.value, loc=node.loc), loc=node.loc)
        if self.largest is not None and total in self.guarded and not is_invariant(step.factor, self.moving):
            out.append(ir.Update(self.largest, (), "maximum", _size(step.factor), loc=node.loc))
        if step.value is not None:
            value = ir.Binary("+", value, step.value, loc=node.loc)
        return (*out, ir.Assign(total.value, value, loc=node.loc))

    def stores(self, chunk: ir.Expr) -> list[ir.Stmt]:
        """The statements at the end of a chunk in the first pass."""
        out: list[ir.Stmt] = []
        for t in self.totals:
            out.append(_store(t.values, chunk, t.value))
            if t.factor is not None and t.factors is not None:
                out.append(_store(t.factors, chunk, t.factor))
        return out

    def combine(self, chunk: ir.Symbol, chunks: ir.Expr) -> list[ir.Stmt]:
        """Goes through the chunks of a round, for what the scalars hold where each starts."""
        loc, here = self.loc, ir.Var(chunk, loc=self.loc)
        out: list[ir.Stmt] = [
            ir.Assign(t.running, ir.Var(t.scan.symbol, loc=loc), loc=loc) for t in self.totals
        ]
        body: list[ir.Stmt] = []
        for t in self.totals:
            value = ir.Load(t.values, (here,), checked=False, loc=loc)
            body.append(_store(t.starts, here, t.running))
            if t.factors is None:
                body.append(ir.Update(t.running, (), t.scan.op, value, loc=loc))
                continue
            factor = ir.Load(t.factors, (here,), checked=False, loc=loc)
            grown = ir.Binary("*", factor, ir.Var(t.running, loc=loc), loc=loc)
            body.append(ir.Assign(t.running, ir.Binary("+", grown, value, loc=loc), loc=loc))
        reductions: tuple[ir.Reduction, ...] = ()
        if self.bounded is not None:
            reductions = (ir.Reduction("&", self.bounded),)
            out.append(ir.Assign(self.bounded, truth(True, loc), loc=loc))
            for t in self.guarded:
                limit = LARGEST_START[t.running.dtype.part]
                size = _size(ir.Var(t.running, loc=loc))
                known = ir.Compare("<", size, ir.Const(limit, size.dtype, loc=loc), loc=loc)
                tested = ir.Update(self.bounded, (), "&", known, loc=loc)
                out.append(tested)  # the first chunk's start, too
                body.append(tested)
        scans = tuple(Scan(t.scan.op, t.running) for t in self.totals)
        through = ir.For(
            chunk, integer(0, loc), chunks, 1, tuple(body), reductions=reductions, scans=scans, loc=loc
        )
        return [*out, through]

    def seeds(self, chunk: ir.Expr) -> list[ir.Stmt]:
        """The statements at the start of a chunk in the second pass."""
        return [
            ir.Assign(t.scan.symbol, ir.Load(t.starts, (chunk,), checked=False, loc=self.loc), loc=self.loc)
            for t in self.totals
        ]

    def cost(self) -> Cost:
        loop = self.loop()
        body, steps = operations_of(self.source.body), operations_of(loop.body)
        floats = [scan.op for scan in self.source.scans if scan.symbol.dtype.kind in "fc"]
        waits = sum(WAITS.get(op, 1) for op in floats)
        return Cost(body + waits, body + (steps // LANES if loop.mode is ir.LoopMode.SIMD else steps))


def rounds_in_products(scan: Scan) -> bool:
    """Whether composition of the steps of a scan is sound only if no factor is larger than 1. Larger factors
    would amplify rounding errors, and could multiply an infinity by a product of 0."""
    return scan.op == LINEAR and not scan.symbol.dtype.is_integer


def _total(scan: Scan, names: NameSupply) -> Total:
    name, dtype = scan.symbol.name, scan.symbol.dtype
    linear = scan.op == LINEAR
    return Total(
        scan,
        names.fresh(f"{name}_total", dtype),
        names.fresh(f"{name}_totals", ArrayType(dtype, 1)),
        names.fresh(f"{name}_starts", ArrayType(dtype, 1)),
        names.fresh(f"{name}_running", dtype),
        names.fresh(f"{name}_factor", dtype) if linear else None,
        names.fresh(f"{name}_factors", ArrayType(dtype, 1)) if linear else None,
    )


def _size(factor: ir.Expr) -> ir.Expr:
    return ir.Intrinsic("abs", (factor,), factor.dtype.part, loc=factor.loc)


def _store(array: ir.Symbol, index: ir.Expr, value: ir.Symbol) -> ir.Store:
    return ir.Store(array, (index,), ir.Var(value, loc=index.loc), checked=False, loc=index.loc)


def operations_of(body: tuple[ir.Stmt, ...]) -> int:
    count = 1
    for node in walk(body):
        match node:
            case ir.Intrinsic(name=name) if name not in ("abs", "real", "imag"):
                count += CALL_COST
            case ir.Binary(op="/" | "//" | "%" | "**"):
                count += CALL_COST
            case ir.Binary() | ir.Intrinsic() | ir.Load() | ir.Store() | ir.Update() | ir.Compare():
                count += 1
    return count
