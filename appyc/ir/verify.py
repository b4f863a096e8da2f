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
from appyc.ir.draw_functions import DRAWS
from appyc.ir.intrinsics import INTRINSICS
from appyc.ir.nodes import (
    BINARY_OPS,
    OWN_ERRORS,
    REDUCTION_OPS,
    Alloc,
    AnyLane,
    Apart,
    Ascending,
    Assign,
    Binary,
    Break,
    Call,
    Callee,
    Cast,
    Compare,
    Const,
    Continue,
    Draw,
    Expr,
    Extent,
    Fail,
    For,
    ForAll,
    Function,
    If,
    Intrinsic,
    Likely,
    Load,
    Logical,
    LoopMode,
    Node,
    Reduce,
    Reduction,
    Select,
    Stmt,
    Store,
    Symbol,
    Unary,
    Update,
    Var,
    View,
    While,
    Workers,
)
from appyc.ir.printer import print_expr
from appyc.ir.results import leaves
from appyc.ir.schedule import Dots, OuterLanes
from appyc.ir.types import DType, Layout
from appyc.ir.visit import loops_of, scalars_read, scalars_written, symbols_of, walk

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_ORDERED = "biuf"
_KINDS_OF_OP = {
    "+": "biufc", "-": "iufc", "*": "biufc", "/": "fc", "//": "iuf", "%": "iuf", "**": "iufc",
    "&": "biu", "|": "biu", "^": "biu", "<<": "iu", ">>": "iu",
    "min": _ORDERED, "max": _ORDERED, "minimum": "biufc", "maximum": "biufc", "and": "b", "or": "b",
}  # fmt: skip
"""The element kinds that each operation of BINARY_OPS and REDUCTION_OPS works on."""


def verify(fn: Function) -> list[str]:
    """What is wrong with the function, one sentence each; empty where nothing is."""
    return [
        fault
        for part in (fn, *(c.function for c in fn.callees))
        for fault in _Verifier(part, fn.callees).run()
    ]


def check(fn: Function, where: str) -> None:
    """Raises InternalError in the name of `where`, the pass that made the function, if it is broken."""
    faults = verify(fn)
    if faults:
        raise InternalError(where, "malformed IR:\n  " + "\n  ".join(faults))


class _Verifier:
    """One walk in program order. `known` holds the symbols that may be used where the walk is."""

    def __init__(self, fn: Function, callees: tuple[Callee, ...]) -> None:
        self.fn = fn
        self.callees = {callee.function.name: callee.function for callee in callees}
        self.faults: list[str] = []
        self.known: set[Symbol] = set(fn.params)
        self.loops: list[For | While] = []

    def run(self) -> list[str]:
        self.symbols()
        for guard in self.fn.guards:
            self.condition(guard.holds)
        self.body(self.fn.body)
        self.scheduled()
        self.results()
        return self.faults

    def fault(self, node: Node, text: str) -> None:
        self.faults.append(f"line {node.loc.line}: {text}")

    def expect(self, holds: bool, node: Node, text: str) -> None:
        if not holds:
            self.fault(node, text)

    # ------------------------------------------------------------ symbols

    def symbols(self) -> None:
        fn = self.fn
        by_uid: dict[int, Symbol] = {}
        for symbol in symbols_of(fn):
            first = by_uid.setdefault(symbol.uid, symbol)
            self.expect(first == symbol, fn, f"{first} and {symbol} have one number")
        self.expect(len(set(fn.params)) == len(fn.params), fn, "a parameter is there twice")
        written = scalars_written(fn.body)
        for symbol, times in Counter(loop.var for loop in loops_of(fn)).items():
            self.expect(times == 1, fn, f"{symbol} is the variable of {times} loops")
            self.expect(symbol not in fn.params, fn, f"the loop variable {symbol} is a parameter")
            self.expect(symbol not in written, fn, f"the loop variable {symbol} is assigned")

    def use(self, symbol: Symbol, node: Node, *, array: bool) -> bool:
        """Checks that the symbol may be used here, as an array or as a scalar."""
        self.expect(symbol in self.known, node, f"{symbol} is used before it is defined")
        is_right = symbol.is_array == array
        self.expect(is_right, node, f"{symbol} is used as {'an array' if array else 'a scalar'}")
        return is_right

    # ------------------------------------------------------------ expressions

    def condition(self, expr: Expr) -> None:
        self.expr(expr, DType.BOOL)

    def index(self, array: Symbol, index: tuple[Expr, ...], node: Node) -> None:
        if self.use(array, node, array=True) and len(index) != array.array.ndim:
            self.fault(node, f"{array} has {array.array.ndim} axes and {len(index)} indices")
        for item in index:
            self.expr(item, DType.INT64)

    def mask(self, mask: Expr | None) -> None:
        if mask is not None:
            self.condition(mask)

    def index_array(self, array: Symbol, node: Node) -> None:
        if self.use(array, node, array=True):
            fits = array.array.ndim == 1 and array.dtype.is_integer
            self.expect(fits, node, f"{array} is no one-dimensional array of integers")

    def expr(self, expr: Expr, wanted: DType | None = None) -> None:
        """Checks an expression, and that it has the type wanted, if any."""
        match expr:
            case Workers():
                pass
            case Const():
                self.expect(_fits(expr), expr, f"the constant {expr.value!r} is not of type {expr.dtype}")
            case Var():
                self.use(expr.symbol, expr, array=False)
            case Extent():
                if self.use(expr.array, expr, array=True):
                    in_range = 0 <= expr.axis < expr.array.array.ndim
                    self.expect(in_range, expr, f"{expr.array} has no axis {expr.axis}")
            case Apart():
                self.expect(bool(expr.writes), expr, "iterations that write nowhere")
                for indices in (*expr.writes, *expr.reads):
                    if indices.array is not None:
                        self.index_array(indices.array, indices)
                for part in (expr.lo, expr.hi, *(p.offset for p in (*expr.writes, *expr.reads)), expr.extent):
                    self.expr(part, DType.INT64)
            case Ascending():
                self.index_array(expr.array, expr)
                for part in (expr.lo, expr.hi):
                    self.expr(part, DType.INT64)
            case Load():
                self.index(expr.array, expr.index, expr)
                self.mask(expr.mask)
            case Unary():
                kinds = {"-": "iufc", "~": "biu"}.get(expr.op, "")
                self.expect(expr.dtype.kind in kinds, expr, f"unary {expr.op!r} of {expr.dtype}")
                self.expr(expr.arg)
            case Binary():
                known = expr.op in BINARY_OPS and expr.dtype.kind in _KINDS_OF_OP[expr.op]
                self.expect(known, expr, f"operation {expr.op!r} on {expr.dtype}")
                self.expr(expr.lhs)
                self.expr(expr.rhs, expr.lhs.dtype)
            case Compare():
                ops = _COMPARISONS[4:] if expr.lhs.dtype.is_complex else _COMPARISONS
                self.expect(expr.op in ops, expr, f"comparison {expr.op!r} of {expr.lhs.dtype}")
                self.expr(expr.lhs)
                self.expr(expr.rhs, expr.lhs.dtype)
            case Logical():
                self.expect(expr.op in ("and", "or"), expr, f"logical operation {expr.op!r}")
                self.condition(expr.lhs)
                self.condition(expr.rhs)
            case Select():
                self.condition(expr.cond)
                self.expr(expr.then)
                self.expr(expr.orelse, expr.then.dtype)
            case Cast():
                self.expr(expr.arg)
            case Intrinsic():
                self.intrinsic(expr)
            case Draw():
                self.fault(expr, "a draw is no part of another expression")
            case AnyLane() | Likely():
                self.condition(expr.arg)
            case Call():
                self.fault(expr, f"the call of {expr.callee} is a part of a larger expression")
            case Reduce():
                self.reduce(expr)
            case _:
                assert_never(expr)
        if wanted is not None and expr.dtype is not wanted:
            self.fault(expr, f"{print_expr(expr)!r} is {expr.dtype}, not {wanted}")

    def intrinsic(self, expr: Intrinsic) -> None:
        for arg in expr.args:
            self.expr(arg, expr.args[0].dtype)
        info = INTRINSICS.get(expr.name)
        if info is None:
            self.fault(expr, f"no intrinsic {expr.name!r}")
            return
        if len(expr.args) != info.arity:
            self.fault(expr, f"{expr.name!r} takes {info.arity} arguments, not {len(expr.args)}")
            return
        taken = expr.args[0].dtype
        self.expect(taken.kind in info.kinds, expr, f"{expr.name!r} of {taken}")
        match info.result:
            case "bool":
                fits = expr.dtype is DType.BOOL
            case "part":
                fits = expr.dtype is taken.part
            case "complex":
                fits = expr.dtype.is_complex and expr.dtype.part is taken
            case _:
                fits = expr.dtype is taken
        self.expect(fits, expr, f"{expr.name!r} of {taken} gives no {expr.dtype}")

    def draw(self, expr: Draw) -> None:
        self.expr(expr.where, DType.UINT64)
        for arg, dtype in zip(expr.args, DRAWS[expr.name].arguments, strict=True):
            self.expr(arg, dtype)

    # ------------------------------------------------------------ statements

    def body(self, body: Iterable[Stmt]) -> None:
        for stmt in body:
            self.stmt(stmt)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Assign(value=Draw() as value):
                self.draw(value)
                self.expect(value.dtype is stmt.target.dtype, stmt, f"{stmt.target} is no {value.dtype}")
                self.known.add(stmt.target)
                self.use(stmt.target, stmt, array=False)
            case Assign(value=Call() as call):
                self.call(call, stmt.target)
                self.known.add(stmt.target)
            case Assign():
                self.expr(stmt.value, stmt.target.dtype)
                self.known.add(stmt.target)
                self.use(stmt.target, stmt, array=False)
            case Store():
                self.index(stmt.array, stmt.index, stmt)
                self.writable(stmt.array, stmt)
                self.mask(stmt.mask)
                self.expr(stmt.value, stmt.array.dtype)
            case Update():
                self.update(stmt)
            case For():
                self.loop(stmt)
            case While():
                self.enter(stmt)
                self.condition(stmt.cond)
                self.body(stmt.body)
                self.loops.pop()
            case If():
                self.condition(stmt.cond)
                self.body(stmt.then)
                self.body(stmt.orelse)
            case Break() | Continue():
                self.leave(stmt)
            case Alloc():
                self.alloc(stmt)
            case ForAll():
                self.for_all(stmt)
            case Fail():
                known = getattr(builtins, stmt.error, None)
                is_error = (
                    isinstance(known, type) and issubclass(known, Exception)
                ) or stmt.error in OWN_ERRORS
                self.expect(is_error, stmt, f"{stmt.error!r} is no exception of Python's own")
                for number in (stmt.value, stmt.extent):
                    if number is not None:
                        self.expr(number, DType.INT64)
            case _:
                assert_never(stmt)

    def call(self, call: Call, target: Symbol) -> None:
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
        returned = None if isinstance(result.value, Symbol) else result.value.dtype
        self.expect(returned is call.dtype, call, f"{call.callee} returns {returned}, not {call.dtype}")
        for parameter, arg in zip(callee.params, call.args, strict=True):
            given = arg.array if isinstance(arg, View) else arg
            fits = parameter.dtype is given.dtype and parameter.is_array == isinstance(arg, View)
            self.expect(fits, call, f"{parameter} is given {given}")

    def writable(self, array: Symbol, node: Node) -> None:
        if array.is_array:
            self.expect(not array.array.readonly, node, f"{array} is read-only and is written")

    def update(self, stmt: Update) -> None:
        dtype = stmt.target.dtype
        works = stmt.op in REDUCTION_OPS and dtype.kind in _KINDS_OF_OP[stmt.op]
        self.expect(works, stmt, f"update with {stmt.op!r} of {dtype}")
        if stmt.target.is_array:
            self.index(stmt.target, stmt.index, stmt)
            self.writable(stmt.target, stmt)
        else:
            self.use(stmt.target, stmt, array=False)
            self.expect(not stmt.index, stmt, f"the scalar {stmt.target} has indices")
        self.mask(stmt.mask)
        self.expr(stmt.value, dtype)

    def alloc(self, stmt: Alloc) -> None:
        array = stmt.array
        self.known.add(array)
        self.expect(array not in self.fn.params, stmt, f"the parameter {array} is allocated")
        for extent in stmt.shape:
            self.expr(extent, DType.INT64)
        if self.use(array, stmt, array=True):
            ndim, layout = array.array.ndim, array.array.layout
            self.expect(len(stmt.shape) == ndim, stmt, f"{array} has {ndim} axes, not {len(stmt.shape)}")
            self.expect(layout is Layout.C, stmt, f"{array} is allocated with layout {layout.value}")

    # ------------------------------------------------------------ tensors

    def axes(self, node: ForAll | Reduce) -> None:
        self.expect(len(node.axes) == len(node.extents), node, "axes and extents differ in number")
        self.expect(len(node.clauses) in (0, len(node.axes)), node, "axes and clauses differ in number")
        for extent in node.extents:
            self.expr(extent, DType.INT64)
        self.known |= set(node.axes)

    def reduce(self, expr: Reduce) -> None:
        works = expr.op in REDUCTION_OPS and expr.dtype.kind in _KINDS_OF_OP[expr.op]
        self.expect(works, expr, f"reduction with {expr.op!r} of {expr.dtype}")
        self.expr(expr.start, expr.dtype)
        self.axes(expr)
        self.expr(expr.value)
        self.known -= set(expr.axes)

    def for_all(self, stmt: ForAll) -> None:
        self.axes(stmt)
        if stmt.where is not None:
            self.expr(stmt.where, DType.BOOL)
        bound = set(stmt.axes)
        if stmt.position is not None:
            self.expect(stmt.position.dtype is DType.INT64, stmt, f"{stmt.position} is no int64")
            bound.add(stmt.position)
        self.known |= bound
        self.expect(stmt.op is None or stmt.op in BINARY_OPS, stmt, f"no operator {stmt.op!r}")
        self.index(stmt.array, stmt.index, stmt)
        self.writable(stmt.array, stmt)
        self.expr(stmt.value, stmt.array.dtype)
        self.known -= bound

    # ------------------------------------------------------------ loops

    def enter(self, loop: For | While) -> None:
        # What an earlier iteration assigned may be read above the assignment.
        self.known |= scalars_written(loop.body)
        self.loops.append(loop)

    def leave(self, stmt: Break | Continue) -> None:
        if not self.loops:
            self.fault(stmt, f"{type(stmt).__name__} outside a loop")
            return
        loop = self.loops[-1]
        is_ordered = isinstance(loop, While) or loop.mode is LoopMode.SEQUENTIAL
        if isinstance(stmt, Break):
            self.expect(is_ordered, stmt, "Break in a loop whose iterations have no order")

    def loop(self, loop: For) -> None:
        self.expr(loop.lo, DType.INT64)
        self.expr(loop.hi, DType.INT64)
        self.expect(loop.step != 0, loop, "a loop with step 0")
        is_int64 = not loop.var.is_array and loop.var.dtype is DType.INT64
        self.expect(is_int64, loop, f"the loop variable {loop.var} is not int64")
        self.facts(loop)
        if loop.clauses is not None and loop.clauses.condition is not None:
            self.condition(loop.clauses.condition)
        self.enter(loop)
        self.known.add(loop.var)
        self.body(loop.body)
        self.known.discard(loop.var)
        self.loops.pop()

    def facts(self, loop: For) -> None:
        """What passes have written on the loop is true of it, as far as its text tells."""
        combined = [r.symbol for r in loop.reductions if not r.symbol.is_array]
        written = scalars_written(loop.body)
        occurring = written | scalars_read(loop.body)
        for symbol in (*loop.private, *loop.last, *combined):
            self.expect(symbol in occurring, loop, f"{symbol} is no scalar of the loop over {loop.var}")
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
            self.expect(loop.mode is LoopMode.SEQUENTIAL, loop, f"the scan over {loop.var} has no order")
        if loop.mode is not LoopMode.SIMD:
            limited = loop.in_step or loop.safelen is not None
            self.expect(not limited, loop, f"the loop over {loop.var} has limits for lanes and no lanes")
        if loop.mode is not LoopMode.SEQUENTIAL:
            for symbol in sorted(written - set(loop.private) - set(combined), key=str):
                self.fault(loop, f"iterations of the {loop.mode.value} loop over {loop.var} share {symbol}")

    def reduction(self, reduction: Reduction, loop: For) -> None:
        dtype = reduction.symbol.dtype
        works = reduction.op in REDUCTION_OPS and dtype.kind in _KINDS_OF_OP[reduction.op]
        self.expect(works, loop, f"reduction with {reduction.op!r} of {dtype}")
        if reduction.symbol.is_array:
            self.combined_array(reduction, loop)

    def combined_array(self, reduction: Reduction, loop: For) -> None:
        array, where = reduction.symbol, f"the loop over {loop.var}"
        is_threads = loop.mode is LoopMode.PARALLEL
        self.expect(is_threads, loop, f"{where} combines into {array} and is {loop.mode.value}")
        for node in walk(loop.body):
            if isinstance(node, Update) and node.target == array:
                fits = node.op == reduction.op
                self.expect(fits, node, f"{where} combines into {array} by two operators")
            elif isinstance(node, Load | Store) and node.array == array:
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
            if isinstance(result.value, Symbol):
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


def _fits(const: Const) -> bool:
    """Whether the value is one of the type."""
    value, dtype = const.value, const.dtype
    if dtype is DType.BOOL or isinstance(value, bool):
        return dtype is DType.BOOL and isinstance(value, bool)
    if dtype.is_integer:
        low = -(1 << (dtype.bits - 1)) if dtype.kind == "i" else 0
        return isinstance(value, int) and low <= value < low + (1 << dtype.bits)
    return isinstance(value, int | float) or dtype.is_complex
