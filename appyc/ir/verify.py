"""Checks that a function is well-formed IR.

Every pass may rely on what is checked here, and the pipeline runs `check` after each pass in
tests, so that a broken tree is found where it was made. A fault is appyc's own, never the
user's: hence InternalError with the pass's name, and plain sentences.
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Iterable
from typing import assert_never

from appyc.errors import InternalError
from appyc.ir import nodes as ir
from appyc.ir.fault_words import FAULT_WORDS
from appyc.ir.invariance import resized_parameters
from appyc.ir.results import leaves
from appyc.ir.schedule import Dots, OuterLanes
from appyc.ir.types import DType, Layout
from appyc.ir.verify_expressions import KINDS_OF_OP, ExpressionVerifier
from appyc.ir.visit import loops_of, scalars_read, scalars_written, symbols_of, walk


def verify(fn: ir.Function) -> list[str]:
    """The faults of a function, one sentence each; empty where there are none."""
    return [
        fault
        for part in (fn, *(c.function for c in fn.callees))
        for fault in _Verifier(part, fn.callees).run()
    ]


def check(fn: ir.Function, where: str) -> None:
    """Raises InternalError in the name of `where`, the pass that made the function, if it is broken."""
    faults = verify(fn)
    if faults:
        raise InternalError(where, "malformed IR:\n  " + "\n  ".join(faults))


class _Verifier(ExpressionVerifier):
    """One walk in program order. `known` holds the symbols that may be used where the walk is."""

    def run(self) -> list[str]:
        self.symbols()
        for guard in self.fn.guards:
            self.condition(guard.holds)
        self.body(self.fn.body)
        self.scheduled()
        self.results()
        return self.faults

    # ------------------------------------------------------------ symbols

    def symbols(self) -> None:
        fn = self.fn
        by_uid: dict[int, ir.Symbol] = {}
        for symbol in symbols_of(fn):
            first = by_uid.setdefault(symbol.uid, symbol)
            self.expect(first == symbol, fn, f"{first} and {symbol} have one number")
        self.expect(len(set(fn.params)) == len(fn.params), fn, "a parameter is there twice")
        written = scalars_written(fn.body)
        for symbol, times in Counter(loop.var for loop in loops_of(fn)).items():
            self.expect(times == 1, fn, f"{symbol} is the variable of {times} loops")
            self.expect(symbol not in fn.params, fn, f"the loop variable {symbol} is a parameter")
            self.expect(symbol not in written, fn, f"the loop variable {symbol} is assigned")

    # ------------------------------------------------------------ statements

    def body(self, body: Iterable[ir.Stmt]) -> None:
        for stmt in body:
            self.stmt(stmt)

    def stmt(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Assign(value=ir.Draw() as value):
                self.draw(value)
                self.expect(value.dtype is stmt.target.dtype, stmt, f"{stmt.target} is no {value.dtype}")
                self.known.add(stmt.target)
                self.use(stmt.target, stmt, array=False)
            case ir.Assign(value=ir.Call() as call):
                self.call(call, stmt.target)
                self.known.add(stmt.target)
            case ir.Assign():
                self.expr(stmt.value, stmt.target.dtype)
                self.known.add(stmt.target)
                self.use(stmt.target, stmt, array=False)
            case ir.Store():
                self.index(stmt.array, stmt.index, stmt)
                self.writable(stmt.array, stmt)
                self.mask(stmt.mask)
                self.expr(stmt.value, stmt.array.dtype)
            case ir.Update():
                self.update(stmt)
            case ir.For():
                self.loop(stmt)
            case ir.While():
                self.enter(stmt)
                self.condition(stmt.cond)
                self.body(stmt.body)
                self.loops.pop()
            case ir.If():
                self.condition(stmt.cond)
                self.body(stmt.then)
                self.body(stmt.orelse)
            case ir.Break() | ir.Continue():
                self.leave(stmt)
            case ir.Alloc():
                self.alloc(stmt)
            case ir.ForAll():
                self.for_all(stmt)
            case ir.Fail():
                known = getattr(builtins, stmt.error, None)
                is_error = (
                    (isinstance(known, type) and issubclass(known, Exception))
                    or stmt.error in ir.OWN_ERRORS
                    or ":" in stmt.error
                )
                self.expect(is_error, stmt, f"{stmt.error!r} is no exception")
                self.expect(len(stmt.values) <= FAULT_WORDS, stmt, "a message has too many numbers")
                for number in stmt.values:
                    self.expr(number, DType.INT64)
            case ir.BoundsCheck():
                self.expr(stmt.index, DType.INT64)
                self.expr(stmt.extent, DType.INT64)
            case _:
                assert_never(stmt)

    def call(self, call: ir.Call, target: ir.Symbol) -> None:
        self.expect(target.dtype is call.dtype, call, f"{target} gets a {call.dtype}")
        for number in call.numbers:
            self.expr(number)
        for view in call.views:
            self.use(view.array, call, array=True)
        if not self.callees:
            return  # a callee by itself, while passes work on it
        callee = self.callees.get(call.callee)
        if callee is None or len(callee.params) != len(call.args):
            self.fault(call, f"no callee {call.callee!r} takes {len(call.args)} arguments")
            return
        [result] = callee.results
        returned = None if isinstance(result.value, ir.Symbol) else result.value.dtype
        self.expect(returned is call.dtype, call, f"{call.callee} returns {returned}, not {call.dtype}")
        resized = resized_parameters(callee)
        for parameter, arg in zip(callee.params, call.args, strict=True):
            given = arg.array if isinstance(arg, ir.View) else arg
            fits = parameter.dtype is given.dtype and parameter.is_array == isinstance(arg, ir.View)
            self.expect(fits, call, f"{parameter} is given {given}")
            stays = isinstance(arg, ir.View) and not arg.resized and parameter in resized
            self.expect(not stays, call, f"{parameter} is resized, but {given} is not")

    def writable(self, array: ir.Symbol, node: ir.Node) -> None:
        if array.is_array:
            self.expect(not array.array.readonly, node, f"{array} is read-only and is written")

    def update(self, stmt: ir.Update) -> None:
        dtype = stmt.target.dtype
        works = stmt.op in ir.REDUCTION_OPS and dtype.kind in KINDS_OF_OP[stmt.op]
        self.expect(works, stmt, f"update with {stmt.op!r} of {dtype}")
        if stmt.target.is_array:
            self.index(stmt.target, stmt.index, stmt)
            self.writable(stmt.target, stmt)
        else:
            self.use(stmt.target, stmt, array=False)
            self.expect(not stmt.index, stmt, f"the scalar {stmt.target} has indices")
        may_trap = stmt.op in ("+", "*") and dtype is DType.INT64 and not stmt.target.is_array
        self.expect(may_trap or not stmt.trap, stmt, f"an update of {stmt.target} traps")
        self.mask(stmt.mask)
        self.expr(stmt.value, dtype)

    def alloc(self, stmt: ir.Alloc) -> None:
        array = stmt.array
        self.known.add(array)
        is_given = array in self.fn.params and stmt.kept is None
        self.expect(not is_given, stmt, f"the parameter {array} is allocated")
        for extent in stmt.shape if stmt.kept is None else (*stmt.shape, stmt.kept):
            self.expr(extent, DType.INT64)
        self.expect(stmt.kept is None or not (stmt.zero or stmt.in_frame), stmt, f"{array} cannot be resized")
        if self.use(array, stmt, array=True):
            ndim, layout = array.array.ndim, array.array.layout
            self.expect(len(stmt.shape) == ndim, stmt, f"{array} has {ndim} axes, not {len(stmt.shape)}")
            self.expect(layout is Layout.C, stmt, f"{array} is allocated with layout {layout.value}")

    # ------------------------------------------------------------ tensors

    def for_all(self, stmt: ir.ForAll) -> None:
        self.axes(stmt)
        if stmt.where is not None:
            self.expr(stmt.where, DType.BOOL)
        bound = set(stmt.axes)
        if stmt.position is not None:
            self.expect(stmt.position.dtype is DType.INT64, stmt, f"{stmt.position} is no int64")
            bound.add(stmt.position)
        self.known |= bound
        self.expect(stmt.op is None or stmt.op in ir.BINARY_OPS, stmt, f"no operator {stmt.op!r}")
        self.index(stmt.array, stmt.index, stmt)
        self.writable(stmt.array, stmt)
        self.expr(stmt.value, stmt.array.dtype)
        self.known -= bound

    # ------------------------------------------------------------ loops

    def enter(self, loop: ir.For | ir.While) -> None:
        # What an earlier iteration assigned may be read above the assignment.
        self.known |= scalars_written(loop.body)
        self.loops.append(loop)

    def leave(self, stmt: ir.Break | ir.Continue) -> None:
        if not self.loops:
            self.fault(stmt, f"{type(stmt).__name__} outside a loop")
            return
        loop = self.loops[-1]
        is_ordered = isinstance(loop, ir.While) or loop.mode is ir.LoopMode.SEQUENTIAL
        if isinstance(stmt, ir.Break):
            self.expect(is_ordered, stmt, "Break in a loop whose iterations have no order")

    def loop(self, loop: ir.For) -> None:
        self.expr(loop.lo, DType.INT64)
        self.expr(loop.hi, DType.INT64)
        self.expect(loop.step != 0, loop, "a loop with step 0")
        is_int64 = not loop.var.is_array and loop.var.dtype is DType.INT64
        self.expect(is_int64, loop, f"the loop variable {loop.var} is not int64")
        self.facts(loop)
        if loop.condition is not None:
            self.condition(loop.condition)
        self.enter(loop)
        self.known.add(loop.var)
        self.body(loop.body)
        self.known.discard(loop.var)
        self.loops.pop()

    def facts(self, loop: ir.For) -> None:
        """Checks that the annotations of a loop by passes are consistent with its body, as far as its text
        tells."""
        combined = [r.symbol for r in loop.reductions if not r.symbol.is_array]
        written = scalars_written(loop.body)
        unwritten = {*loop.private, *loop.last, *combined} - written
        for symbol in sorted(unwritten - scalars_read(loop.body), key=str) if unwritten else ():
            self.fault(loop, f"{symbol} is no scalar of the loop over {loop.var}")
        for symbol in set(loop.last) - set(loop.private):
            self.fault(loop, f"{symbol} is last in the loop over {loop.var} and not private")
        for symbol in set(combined) & set(loop.private):
            self.fault(loop, f"{symbol} is private and combined in the loop over {loop.var}")
        for reduction in loop.reductions:
            self.reduction(reduction, loop)
        for scan in loop.scans:
            own = scan.symbol in written and scan.symbol not in (*loop.private, *combined)
            self.expect(own, loop, f"{scan.symbol} is not carried by the loop over {loop.var}")
        if loop.scans:
            self.expect(loop.mode is ir.LoopMode.SEQUENTIAL, loop, f"the scan over {loop.var} has no order")
        if loop.mode is not ir.LoopMode.SIMD:
            limited = loop.in_step or loop.safelen is not None
            self.expect(not limited, loop, f"the loop over {loop.var} has limits for lanes and no lanes")
        if loop.mode is not ir.LoopMode.SEQUENTIAL:
            for symbol in sorted(written - set(loop.private) - set(combined), key=str):
                self.fault(loop, f"iterations of the {loop.mode.value} loop over {loop.var} share {symbol}")

    def reduction(self, reduction: ir.Reduction, loop: ir.For) -> None:
        dtype = reduction.symbol.dtype
        works = reduction.op in ir.REDUCTION_OPS and dtype.kind in KINDS_OF_OP[reduction.op]
        self.expect(works, loop, f"reduction with {reduction.op!r} of {dtype}")
        if reduction.symbol.is_array:
            self.combined_array(reduction, loop)

    def combined_array(self, reduction: ir.Reduction, loop: ir.For) -> None:
        array, where = reduction.symbol, f"the loop over {loop.var}"
        is_threads = loop.mode is ir.LoopMode.PARALLEL
        self.expect(is_threads, loop, f"{where} combines into {array} and is {loop.mode.value}")
        for node in walk(loop.body):
            if isinstance(node, ir.Update) and node.target == array:
                fits = node.op == reduction.op
                self.expect(fits, node, f"{where} combines into {array} by two operators")
            elif isinstance(node, ir.Load | ir.Store) and node.array == array:
                self.fault(node, f"{where} combines into {array} and touches it otherwise")

    # ------------------------------------------------------------ results

    def scheduled(self) -> None:
        loops = {loop.var for loop in loops_of(self.fn.body)}
        for loop, entry in self.fn.schedule.loops:
            inner = [loop]
            if isinstance(entry.form, OuterLanes | Dots):
                inner.append(entry.form.lanes if isinstance(entry.form, OuterLanes) else entry.form.columns)
            for named in inner:
                self.expect(named in loops, self.fn, f"the schedule names {named}, which is no loop")
            for array in entry.nontemporal:
                self.expect(
                    array.is_array, self.fn, f"the schedule of {loop} stores into {array}, which is no array"
                )

    def results(self) -> None:
        fn = self.fn
        for result in fn.results:
            if isinstance(result.value, ir.Symbol):
                self.use(result.value, result, array=True)
            else:
                self.expr(result.value)
        numbers = list(leaves(fn.tree))
        wrong = [n for n in numbers if not 0 <= n < len(fn.results)]
        self.expect(not wrong, fn, f"the tree of results names {wrong} of {len(fn.results)}")
        unused = set(range(len(fn.results))) - set(numbers)
        self.expect(not unused, fn, f"the tree of results leaves out {sorted(unused)}")
        allowed = set(fn.params)
        for guard in fn.guards:
            for symbol in symbols_of(guard):
                self.expect(symbol in allowed, guard, f"a guard reads {symbol}, which is no parameter")
