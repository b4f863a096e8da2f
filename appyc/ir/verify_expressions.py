"""Invariants of the IR's expressions: the part of `verify` below statements."""

from __future__ import annotations

from typing import assert_never

from appyc.ir import nodes as ir
from appyc.ir.draw_functions import DRAWS
from appyc.ir.intrinsics import INTRINSICS
from appyc.ir.printer import print_expr
from appyc.ir.types import DType

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_ORDERED = "biuf"
KINDS_OF_OP = {
    "+": "biufc", "-": "iufc", "*": "biufc", "/": "fc", "//": "iuf", "%": "iuf", "**": "iufc",
    "&": "biu", "|": "biu", "^": "biu", "<<": "iu", ">>": "iu",
    "min": _ORDERED, "max": _ORDERED, "minimum": "biufc", "maximum": "biufc", "and": "b", "or": "b",
}  # fmt: skip
"""The element kinds that each operation of BINARY_OPS and REDUCTION_OPS works on."""


class ExpressionVerifier:
    """Collects what is wrong with expressions."""

    def __init__(self, fn: ir.Function, callees: tuple[ir.Callee, ...]) -> None:
        self.fn = fn
        self.callees = {callee.function.name: callee.function for callee in callees}
        self.faults: list[str] = []
        self.known: set[ir.Symbol] = set(fn.params)
        self.loops: list[ir.For | ir.While] = []

    def fault(self, node: ir.Node, text: str) -> None:
        self.faults.append(f"line {node.loc.line}: {text}")

    def expect(self, holds: bool, node: ir.Node, text: str) -> None:
        if not holds:
            self.fault(node, text)

    def use(self, symbol: ir.Symbol, node: ir.Node, *, array: bool) -> bool:
        """Checks that the symbol may be used here, as an array or as a scalar."""
        self.expect(symbol in self.known, node, f"{symbol} is used before it is defined")
        is_right = symbol.is_array == array
        self.expect(is_right, node, f"{symbol} is used as {'an array' if array else 'a scalar'}")
        return is_right

    def condition(self, expr: ir.Expr) -> None:
        self.expr(expr, DType.BOOL)

    def index(self, array: ir.Symbol, index: tuple[ir.Expr, ...], node: ir.Node) -> None:
        if self.use(array, node, array=True) and len(index) != array.array.ndim:
            self.fault(node, f"{array} has {array.array.ndim} axes and {len(index)} indices")
        for item in index:
            self.expr(item, DType.INT64)

    def mask(self, mask: ir.Expr | None) -> None:
        if mask is not None:
            self.condition(mask)

    def index_array(self, array: ir.Symbol, node: ir.Node) -> None:
        if self.use(array, node, array=True):
            fits = array.array.ndim == 1 and array.dtype.is_integer
            self.expect(fits, node, f"{array} is no one-dimensional array of integers")

    def expr(self, expr: ir.Expr, wanted: DType | None = None) -> None:
        """Checks an expression, and that it has the type wanted, if any."""
        match expr:
            case ir.Workers():
                pass
            case ir.Const():
                self.expect(_fits(expr), expr, f"the constant {expr.value!r} is not of type {expr.dtype}")
            case ir.Var():
                self.use(expr.symbol, expr, array=False)
            case ir.Extent():
                if self.use(expr.array, expr, array=True):
                    in_range = 0 <= expr.axis < expr.array.array.ndim
                    self.expect(in_range, expr, f"{expr.array} has no axis {expr.axis}")
            case ir.Apart():
                self.expect(bool(expr.writes), expr, "iterations that write nowhere")
                for indices in (*expr.writes, *expr.reads):
                    if indices.array is not None:
                        self.index_array(indices.array, indices)
                for part in (expr.lo, expr.hi, *(p.offset for p in (*expr.writes, *expr.reads)), expr.extent):
                    self.expr(part, DType.INT64)
            case ir.Ascending():
                self.index_array(expr.array, expr)
                for part in (expr.lo, expr.hi):
                    self.expr(part, DType.INT64)
            case ir.Load():
                self.index(expr.array, expr.index, expr)
                self.mask(expr.mask)
            case ir.Unary():
                kinds = {"-": "iufc", "~": "biu"}.get(expr.op, "")
                self.expect(expr.dtype.kind in kinds, expr, f"unary {expr.op!r} of {expr.dtype}")
                self.expr(expr.arg)
            case ir.Binary():
                known = expr.op in ir.BINARY_OPS and expr.dtype.kind in KINDS_OF_OP[expr.op]
                self.expect(known, expr, f"operation {expr.op!r} on {expr.dtype}")
                self.expr(expr.lhs)
                self.expr(expr.rhs, expr.lhs.dtype)
            case ir.Compare():
                ops = _COMPARISONS[4:] if expr.lhs.dtype.is_complex else _COMPARISONS
                self.expect(expr.op in ops, expr, f"comparison {expr.op!r} of {expr.lhs.dtype}")
                self.expr(expr.lhs)
                self.expr(expr.rhs, expr.lhs.dtype)
            case ir.Logical():
                self.expect(expr.op in ("and", "or"), expr, f"logical operation {expr.op!r}")
                self.condition(expr.lhs)
                self.condition(expr.rhs)
            case ir.Select():
                self.condition(expr.cond)
                self.expr(expr.then)
                self.expr(expr.orelse, expr.then.dtype)
            case ir.Cast():
                self.expr(expr.arg)
            case ir.Intrinsic():
                self.intrinsic(expr)
            case ir.Draw():
                self.fault(expr, "a draw is no part of another expression")
            case ir.AnyLane() | ir.Likely():
                self.condition(expr.arg)
            case ir.Call():
                self.fault(expr, f"the call of {expr.callee} is a part of a larger expression")
            case ir.Reduce():
                self.reduce(expr)
            case _:
                assert_never(expr)
        if wanted is not None and expr.dtype is not wanted:
            self.fault(expr, f"{print_expr(expr)!r} is {expr.dtype}, not {wanted}")

    def intrinsic(self, expr: ir.Intrinsic) -> None:
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
            case "int64":
                fits = expr.dtype is DType.INT64 and taken is DType.FLOAT64
            case "part":
                fits = expr.dtype is taken.part
            case "complex":
                fits = expr.dtype.is_complex and expr.dtype.part is taken
            case _:
                fits = expr.dtype is taken
        self.expect(fits, expr, f"{expr.name!r} of {taken} gives no {expr.dtype}")

    def draw(self, expr: ir.Draw) -> None:
        self.expr(expr.where, DType.UINT64)
        for arg, dtype in zip(expr.args, DRAWS[expr.name].arguments, strict=True):
            self.expr(arg, dtype)

    def axes(self, node: ir.ForAll | ir.Reduce) -> None:
        self.expect(len(node.axes) == len(node.extents), node, "axes and extents differ in number")
        self.expect(len(node.clauses) in (0, len(node.axes)), node, "axes and clauses differ in number")
        for extent in node.extents:
            self.expr(extent, DType.INT64)
        self.known |= set(node.axes)

    def reduce(self, expr: ir.Reduce) -> None:
        works = expr.op in ir.REDUCTION_OPS and expr.dtype.kind in KINDS_OF_OP[expr.op]
        self.expect(works, expr, f"reduction with {expr.op!r} of {expr.dtype}")
        self.expr(expr.start, expr.dtype)
        self.axes(expr)
        self.expr(expr.value)
        self.known -= set(expr.axes)


def _fits(const: ir.Const) -> bool:
    """Whether the value is one of the type."""
    value, dtype = const.value, const.dtype
    if dtype is DType.BOOL or isinstance(value, bool):
        return dtype is DType.BOOL and isinstance(value, bool)
    if dtype.is_integer:
        low = -(1 << (dtype.bits - 1)) if dtype.kind == "i" else 0
        return isinstance(value, int) and low <= value < low + (1 << dtype.bits)
    return isinstance(value, int | float) or dtype.is_complex
