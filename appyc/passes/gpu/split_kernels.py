"""Splits a function into a host program and the kernels that it launches.

    s = 0.0
    for t in range(steps):                the host runs the loop over t,
        for i in range(n):  # parallel    launches a kernel for each parallel nest,
            b[i] = a[i] + s
        s = s + b[0]                      and a kernel of one program for what reads arrays

Scalar code stays on the host. Statements that access arrays outside of parallel nests run in
kernels of one program, adjacent ones in one kernel; their simd loops run in lanes. A scalar that
such a kernel sets and that is live-out is copied back to the host.

Preconditions: `lower_jumps` and `split_complex` have run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from itertools import count

from appyc.analysis.accesses.scalar_flow import scalars_of
from appyc.errors import InternalError, Loc
from appyc.ir import nodes as ir
from appyc.ir.fault_words import FaultSites
from appyc.ir.gpu_program import Branch, CheckFaults, Fault, GpuProgram, Loop, Multiply, Repeat, ScheduledStmt
from appyc.ir.kernel_scalars import free_scalars
from appyc.ir.names import NameSupply, in_ascii, of_function, ordered
from appyc.ir.product_call import product_call
from appyc.ir.raising import may_raise, overflow_error, traps_overflow
from appyc.ir.schedule import Product
from appyc.ir.visit import scalar_reads, scalars_read, scalars_written, symbols_of, walk
from appyc.passes.gpu.grid_kernels import GridKernel
from appyc.passes.gpu.hoist_launches import hoist_launches
from appyc.passes.gpu.join_launches import join_launches
from appyc.passes.gpu.keep_scalars_on_device import keep_scalars_on_device
from appyc.passes.gpu.kernel_results import finish_kernel
from appyc.passes.gpu.lane_expressions import Where
from appyc.passes.gpu.map_gpu import ANOTHER_LOOP, choose_lane_loops, lanes_of_strips, why_not_parallel
from appyc.passes.gpu.predicate_lanes import KernelLowering
from appyc.passes.node_builders import less, result_of, trip_count, truth
from appyc.passes.pass_context import PassContext


def split_kernels(fn: ir.Function, ctx: PassContext) -> GpuProgram:
    splitter = _Splitter(fn, ctx)
    body = splitter.block(fn.body, in_loop=False)
    results = []
    for result in fn.results:
        value = result.value
        if not isinstance(value, ir.Symbol):
            value = splitter.on_host(value, body)
        results.append(ir.Result(value, result.python, loc=result.loc))
    return GpuProgram(
        fn.name, fn.params, tuple(body), tuple(results), splitter.sites.table(), fn.guards, loc=fn.loc
    )


class _Splitter:
    def __init__(self, fn: ir.Function, ctx: PassContext) -> None:
        self.fn, self.ctx = fn, ctx
        self.names = NameSupply.after(fn)
        self.sites = FaultSites(overflow_error(fn))
        self.kernels = 0
        self.recordings = count()
        self.whiles = 0
        """The number of `while` loops on the host around the current statement."""
        self.reads = Counter(scalar_reads(fn))
        self.scalars = scalars_of(fn)
        self.users = frozenset(symbols_of(fn))
        """Symbols that kernels did not bring along."""

    def block(
        self, body: tuple[ir.Stmt, ...], in_loop: bool, private: Collection[ir.Symbol] = ()
    ) -> list[ScheduledStmt]:
        """Statements of the host; runs of those that need one program become kernels. private: scalars that each
        run of the block sets before it reads them, and that are dead after it."""
        out: list[ScheduledStmt] = []
        group: list[ir.Stmt] = []
        known: set[ir.Symbol] = set()
        for stmt in body:
            if self._joins(stmt, group):
                group.append(stmt)
                continue
            self._one_program(tuple(group), in_loop, known, out)
            group = []
            if isinstance(stmt, ir.For) and stmt.product is not None:
                out.append(self._multiply(stmt, stmt.product))
            elif isinstance(stmt, ir.For) and self._becomes_grid(stmt, in_loop):
                out += self._grid(stmt)
            elif _touches_arrays(stmt) and not _has_parallel(stmt):
                group = [stmt]
            else:
                self._host_stmt(stmt, in_loop, out)
                known |= {stmt.target} if isinstance(stmt, ir.Assign) else set()
        self._one_program(tuple(group), in_loop, known, out)
        return join_launches(keep_scalars_on_device(out, self._local(body, out).union(private)))

    def _local(self, body: tuple[ir.Stmt, ...], lowered: list[ScheduledStmt]) -> set[ir.Symbol]:
        """Scalars that are read only in a block, each time after it has set them."""
        inside, free = Counter(scalar_reads(body)), set(free_scalars(lowered))
        return {s for s in scalars_written(body) if self.reads[s] == inside[s] and s not in free}

    def on_host(self, e: ir.Expr, out: list[ScheduledStmt]) -> ir.Expr:
        """An expression that the host can evaluate: what reads arrays, or may overflow, is computed by a kernel."""
        if not any(isinstance(n, ir.Load) or traps_overflow(n) for n in walk(e)):
            return e
        value = self.names.fresh("value", e.dtype)
        self.reads[value] += 1
        self._one_program((ir.Assign(value, e, loc=e.loc),), False, set(), out)
        return ir.Var(value, loc=e.loc)

    def _joins(self, stmt: ir.Stmt, group: list[ir.Stmt]) -> bool:
        """Whether a statement runs in the kernel of those before it: it touches arrays too, or
        it reads scalars that they set."""
        if not group or isinstance(stmt, ir.Alloc | ir.Fail | ir.BoundsCheck) or _has_parallel(stmt):
            return False
        if isinstance(stmt, ir.For) and (stmt.product is not None or self._becomes_grid(stmt, in_loop=True)):
            return False
        return _touches_arrays(stmt) or bool(scalars_read(stmt) & scalars_written(group))

    def _becomes_grid(self, loop: ir.For, in_loop: bool) -> bool:
        """Outside of host loops a loop that only asks for lanes is worth a grid as well."""
        if loop.mode is ir.LoopMode.SEQUENTIAL or (in_loop and loop.mode is ir.LoopMode.SIMD):
            return False
        reason = why_not_parallel(loop, self.fn.schedule[loop.var].row_lanes)
        if reason is not None:
            self.ctx.missed(loop.loc, f"the loop does not run in parallel on the GPU: {reason}", ANOTHER_LOOP)
        return reason is None

    def _name(self) -> str:
        self.kernels += 1
        return f"{in_ascii(of_function(self.fn.name))}_{self.kernels}"

    def _grid(self, nest: ir.For) -> list[ScheduledStmt]:
        before: list[ScheduledStmt] = []
        lo, hi = (self.on_host(bound, before) for bound in nest.bounds)
        ready = replace(nest, lo=lo, hi=hi)
        decided = self.fn.schedule[nest.var]
        out = before + GridKernel(ready, decided, self.names, self.sites, self._name()).build()
        self._check((nest,), out)
        return out

    def _multiply(self, nest: ir.For, product: Product) -> Multiply:
        call = product_call(product, nest)
        rows, columns, summed = (trip_count(n.lo, n.hi, n.step) for n in call.sides)
        count = None if call.stack is None else trip_count(call.stack.lo, call.stack.hi, 1)
        return Multiply(
            self._name(),
            self.fn.schedule[nest.var].tiles,
            (rows, columns, summed),
            count,
            call,
            product.scale,
            product.keep,
            product.shape,
            loc=nest.loc,
        )

    def _one_program(
        self, body: tuple[ir.Stmt, ...], in_loop: bool, known: set[ir.Symbol], out: list[ScheduledStmt]
    ) -> None:
        """known: the scalars that the same iteration has set before, so that it comes from no earlier one."""
        if not body:
            return
        strips = choose_lane_loops(body)
        lower = KernelLowering(self.names, self.sites, lanes_of_strips(body, strips), strips)
        lowered = lower.block(body, Where())
        inside = Counter(scalar_reads(body))
        free = set(free_scalars(lowered)) - known if in_loop else set()
        outputs = [
            s for s in ordered(scalars_written(body))
            if self.reads[s] > inside[s] or s in free
        ]  # fmt: skip
        out += finish_kernel(self._name(), lower, lowered, tuple(outputs), body[0].loc)
        self._check(body, out)

    def _check(self, body: tuple[ir.Stmt, ...], out: list[ScheduledStmt]) -> None:
        """Asks for faults at once where what a fault left unread could keep a `while` running, and where statements
        that raise may be what makes the accesses of later kernels safe."""
        raises = any(isinstance(n, ir.Fail) for stmt in body for n in walk(stmt))
        if raises or (self.whiles and any(may_raise(stmt) for stmt in body)):
            out.append(CheckFaults(raises, loc=body[0].loc))

    def _host_stmt(self, stmt: ir.Stmt, in_loop: bool, out: list[ScheduledStmt]) -> None:
        match stmt:
            case ir.Assign(target, value):
                out.append(ir.Assign(target, self.on_host(value, out), loc=stmt.loc))
            case ir.Update():
                value = result_of(replace(stmt, value=self.on_host(stmt.value, out)))
                out.append(ir.Assign(stmt.target, value, loc=stmt.loc))
            case ir.For():
                lo, hi = self.on_host(stmt.lo, out), self.on_host(stmt.hi, out)
                scalars = self.scalars[stmt.var]
                private = {*scalars.private}.difference(scalars.last, symbols_of((lo, hi)))
                body = tuple(self.block(stmt.body, True, private))
                loop = Loop(stmt.var, lo, hi, stmt.step, body, loc=stmt.loc)
                out += self._hoisted(loop, private, in_loop)
            case ir.While():
                self._while(stmt, in_loop, out)
            case ir.If():
                cond = self.on_host(stmt.cond, out)
                then, orelse = self.block(stmt.then, in_loop), self.block(stmt.orelse, in_loop)
                out.append(Branch(cond, tuple(then), tuple(orelse), loc=stmt.loc))
            case ir.Alloc():
                sizes = tuple(self.on_host(size, out) for size in stmt.shape)
                kept = None if stmt.kept is None else self.on_host(stmt.kept, out)
                out.append(replace(stmt, shape=sizes, kept=kept))
            case ir.Fail():
                words = tuple(self.on_host(word, out) for word in stmt.values)
                site = self.sites.number(stmt.site)
                out += self._raised(site, words, stmt.loc)
            case ir.BoundsCheck():
                index, extent = self.on_host(stmt.index, out), self.on_host(stmt.extent, out)
                raised = self._raised(self.sites.number(stmt.site), (index, extent), stmt.loc)
                below = less(index, ir.Unary("-", extent, loc=stmt.loc))
                outside = ir.Logical("or", below, ir.Compare(">=", index, extent, loc=stmt.loc), loc=stmt.loc)
                out.append(Branch(outside, tuple(raised), (), loc=stmt.loc))
            case ir.ForAll():
                raise InternalError("split_kernels", "a tensor statement is left")
            case _:
                out.append(stmt)

    def _raised(self, site: int, words: tuple[ir.Expr, ...], loc: Loc) -> list[ScheduledStmt]:
        """The host statements that raise an exception, after faults that kernels have recorded, which come
        first."""
        return [CheckFaults(loc=loc), Fault(site, truth(True, loc), words, loc=loc)]

    def _hoisted(
        self, loop: Loop | Repeat, private: Collection[ir.Symbol], in_loop: bool
    ) -> list[ScheduledStmt]:
        users = self.users.difference(private)
        return hoist_launches(loop, users, self.names, None if in_loop else self.recordings)

    def _while(self, stmt: ir.While, in_loop: bool, out: list[ScheduledStmt]) -> None:
        cond = self.on_host(stmt.cond, out)
        self.whiles += 1
        body = self.block(stmt.body, in_loop=True)
        self.whiles -= 1
        if cond is not stmt.cond:
            assert isinstance(cond, ir.Var)
            body.append(ir.Assign(cond.symbol, self.on_host(stmt.cond, body), loc=stmt.loc))
        out += self._hoisted(Repeat(cond, tuple(body), loc=stmt.loc), (), in_loop)


def _touches_arrays(stmt: ir.Stmt) -> bool:
    return any(
        isinstance(n, ir.Load | ir.Store) or (isinstance(n, ir.Update) and n.index) for n in walk(stmt)
    )


def _has_parallel(stmt: ir.Stmt) -> bool:
    """Whether the host has to run a statement's control flow."""
    return any(
        isinstance(n, ir.Alloc | ir.Apart | ir.Ascending)
        or (
            isinstance(n, ir.For)
            and (n.product is not None or (n.mode is ir.LoopMode.PARALLEL and why_not_parallel(n) is None))
        )
        for n in walk(stmt)
    )
