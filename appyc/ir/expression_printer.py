"""Expressions of the IR as Python text."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import assert_never

from appyc.ir import nodes as ir
from appyc.ir.intrinsics import INTRINSICS
from appyc.ir.raising import traps_overflow
from appyc.ir.types import DType

CALLED_OPS = {"min": "min", "max": "max", "minimum": "np.minimum", "maximum": "np.maximum"}
_DIVISIONS = ("/", "//", "%")
_PYTHON_TYPES = {DType.BOOL: "bool", DType.INT64: "int", DType.FLOAT64: "float", DType.COMPLEX128: "complex"}
"""Types whose constants may be Python's literals, with Python's name for them."""
PYTHON_KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
SOME_WORKERS = 8
"""The value that is printed for `Workers`: any number is correct where nothing runs in parallel."""


class ExpressionPrinter:
    """Prints expressions. Precedence is Python's; parentheses stand around every operation inside another."""

    def __init__(self, name: Callable[[ir.Symbol], str], nonzero: Collection[ir.Symbol] = ()) -> None:
        """nonzero: scalars that divisions need not be NumPy's for."""
        self.name, self.nonzero = name, nonzero

    def bare(self, expr: ir.Expr) -> str:
        """The expression where no bracket is needed around it."""
        return self.unwrapped(expr, self.expr(expr))

    @staticmethod
    def unwrapped(expr: ir.Expr, text: str) -> str:
        """The text of an expression without the brackets around it."""
        operation = isinstance(expr, ir.Binary | ir.Compare | ir.Logical | ir.Select | ir.Unary)
        return text[1:-1] if operation and text.startswith("(") else text

    def expr(self, expr: ir.Expr) -> str:
        """The expression as an operand; an operation is in brackets."""
        match expr:
            case ir.Const():
                return constant(expr.value, expr.dtype)
            case ir.Var():
                return self.name(expr.symbol)
            case ir.Extent():
                return f"{self.name(expr.array)}.shape[{expr.axis}]"
            case ir.Load():
                element = self.element(expr.array, expr.index)
                if expr.mask is None:
                    return element
                return f"({element} if {self.expr(expr.mask)} else {constant(0, expr.dtype)})"
            case ir.Unary():
                op = "not " if expr.op == "~" and expr.dtype is DType.BOOL else expr.op
                return f"({op}{self.expr(expr.arg)})"
            case ir.Binary():
                return self.binary(expr)
            case ir.Compare() | ir.Logical():
                return f"({self.expr(expr.lhs)} {expr.op} {self.expr(expr.rhs)})"
            case ir.Select():
                return f"({self.expr(expr.then)} if {self.expr(expr.cond)} else {self.expr(expr.orelse)})"
            case ir.Cast():
                return self.cast(expr)
            case ir.Intrinsic():
                return self.intrinsic(expr)
            case ir.Draw():
                return f"draw.{expr.name}({', '.join(self.bare(e) for e in (expr.where, *expr.args))})"
            case ir.AnyLane():
                return f"any_lane({self.bare(expr.arg)})"
            case ir.Apart():
                iterations = f"range({self.bare(expr.lo)}, {self.bare(expr.hi)}, {expr.step})"
                writes, reads = (self.iteration_indices(group) for group in (expr.writes, expr.reads))
                return f"apart({iterations}, {writes}, {reads}, {self.bare(expr.extent)})"
            case ir.Ascending():
                return f"ascending({self.name(expr.array)}, {self.bare(expr.lo)}, {self.bare(expr.hi)})"
            case ir.Workers():
                return str(SOME_WORKERS)
            case ir.Likely():
                return self.expr(expr.arg)
            case ir.Call():
                args = (self.view(arg) if isinstance(arg, ir.View) else self.bare(arg) for arg in expr.args)
                return f"{expr.callee}({', '.join(args)})"
            case ir.Reduce():
                return self.reduce(expr)
            case _:
                assert_never(expr)

    def view(self, view: ir.View) -> str:
        base = self.name(view.array)
        if not view.shape:
            return base
        first, shape, steps = (list(map(self.expr, part)) for part in (view.first, view.shape, view.steps))
        return strided(base, view.array.array.ndim, first, shape, steps)

    def iteration_indices(self, group: tuple[ir.IterationIndex, ...]) -> str:
        terms = [
            f"({'None' if p.array is None else self.name(p.array)}, {self.bare(p.offset)}), " for p in group
        ]
        return f"({''.join(terms).rstrip()})"

    def reduce(self, expr: ir.Reduce) -> str:
        """All values in a list, combined from the left."""
        a, b = "left", "right"
        joined = self.combined(expr.op, a, b)
        values = f"[{self.bare(expr.value)}{self.each(expr.axes, expr.extents)}]"
        return f"functools.reduce(lambda {a}, {b}: {joined}, {values}, {self.bare(expr.start)})"

    def each(self, axes: tuple[ir.Symbol, ...], extents: tuple[ir.Expr, ...]) -> str:
        pairs = zip(axes, extents, strict=True)
        return "".join(f" for {self.name(axis)} in range({self.bare(n)})" for axis, n in pairs)

    @staticmethod
    def combined(op: str, lhs: str, rhs: str) -> str:
        return f"{CALLED_OPS[op]}({lhs}, {rhs})" if op in CALLED_OPS else f"{lhs} {op} {rhs}"

    def element(self, array: ir.Symbol, index: tuple[ir.Expr, ...]) -> str:
        return f"{self.name(array)}[{', '.join(self.bare(i) for i in index) or '()'}]"

    def binary(self, expr: ir.Binary) -> str:
        lhs, rhs = self.expr(expr.lhs), self.expr(expr.rhs)  # once: operands are deep
        bare_lhs, bare_rhs = self.unwrapped(expr.lhs, lhs), self.unwrapped(expr.rhs, rhs)
        if expr.op in CALLED_OPS:
            return f"{CALLED_OPS[expr.op]}({bare_lhs}, {bare_rhs})"
        if expr.op in _DIVISIONS and not is_safe_divisor(expr.rhs, self.nonzero):
            if expr.trap:
                python = PYTHON_KINDS[expr.dtype.kind]
                lhs, rhs = f"{python}({bare_lhs})", f"{python}({bare_rhs})"
                return f"np.{expr.dtype}({lhs} {expr.op} {rhs})"
            if not (is_numpy(expr.lhs) or is_numpy(expr.rhs)):
                lhs = f"np.{expr.dtype}({bare_lhs})"
        elif expr.dtype is DType.BOOL and expr.op not in ("&", "|", "^"):
            lhs = f"np.bool({bare_lhs})"  # Python's bools would add as integers
        elif traps_overflow(expr):
            lhs, rhs = self.pythons(expr.lhs), self.pythons(expr.rhs)
        return f"({lhs} {expr.op} {rhs})"

    def pythons(self, expr: ir.Expr) -> str:
        """An integer as an operand of Python's arithmetic, which does not wrap."""
        is_own = isinstance(expr, ir.Const | ir.Extent) or traps_overflow(expr)
        return self.expr(expr) if is_own else f"int({self.bare(expr)})"

    def cast(self, expr: ir.Cast) -> str:
        arg, source = self.bare(expr.arg), expr.arg.dtype
        narrows = expr.dtype.is_integer and source.is_integer and expr.dtype is not source
        if narrows and not is_numpy(expr.arg) and not isinstance(expr.arg, ir.Const):
            # np.int8(300) is an error where the 300 is Python's; from NumPy's it wraps.
            return f"np.{source}({arg}).astype(np.{expr.dtype})"
        return f"np.{expr.dtype}({arg})"

    def intrinsic(self, expr: ir.Intrinsic) -> str:
        spelling = INTRINSICS[expr.name].numpy
        if expr.name == "mulhi":
            return f"np.uint64(int({self.bare(expr.args[0])}) * int({self.bare(expr.args[1])}) >> 64)"
        if expr.name == "float_bits":
            return f"int(np.float64({self.bare(expr.args[0])}).view(np.int64))"
        call = f"{spelling}({', '.join(self.bare(a) for a in expr.args)})"
        return call if spelling.startswith("np.") else f"np.{expr.dtype}({call})"


def constant(value: bool | int | float | complex, dtype: DType) -> str:
    """A literal of this type."""
    text = _literal(value, dtype)
    if dtype not in _PYTHON_TYPES:
        return f"np.{dtype}({text})"
    return f"({text})" if text.startswith("-") else text


def _literal(value: bool | int | float | complex, dtype: DType) -> str:
    match dtype.kind:
        case "b":
            return str(bool(value))
        case "c":
            number = complex(value)
            return f"complex({_float(number.real)}, {_float(number.imag)})"
        case "f":
            assert not isinstance(value, complex)
            return _float(float(value))
        case _:
            assert not isinstance(value, complex)
            return str(int(value))


def _float(value: float) -> str:
    text = repr(value)
    return text.replace("inf", "math.inf").replace("nan", "math.nan")


def is_safe_divisor(expr: ir.Expr, nonzero: Collection[ir.Symbol]) -> bool:
    """Whether it surely is not 0."""
    match expr:
        case ir.Const(value):
            return value != 0
        case ir.Var(symbol):
            return symbol in nonzero
        case ir.Binary("max", _, ir.Const(int() as least)):
            return least > 0
        case _:
            return False


def is_numpy(expr: ir.Expr) -> bool:
    """Whether the printed expression surely is a NumPy scalar, not a number of Python's own."""
    match expr:
        case ir.Load():
            return expr.mask is None or expr.dtype not in _PYTHON_TYPES
        case ir.Cast() | ir.Intrinsic():
            return True
        case ir.Unary():
            return (expr.op, expr.dtype) != ("~", DType.BOOL) and is_numpy(expr.arg)
        case ir.Binary():
            if expr.op in ("min", "max"):
                return is_numpy(expr.lhs) and is_numpy(expr.rhs)
            if traps_overflow(expr):
                return False
            return expr.op in CALLED_OPS or is_numpy(expr.lhs) or is_numpy(expr.rhs)
        case ir.Select():
            return is_numpy(expr.then) and is_numpy(expr.orelse)
        case (
            ir.Compare()
            | ir.Logical()
            | ir.AnyLane()
            | ir.Apart()
            | ir.Ascending()
            | ir.Likely()
            | ir.Call()
            | ir.Reduce()
            | ir.Draw()
        ):
            return False
        case ir.Const() | ir.Var() | ir.Extent() | ir.Workers():
            return expr.dtype not in _PYTHON_TYPES
        case _:
            assert_never(expr)


def strided(base: str, rank: int, first: list[str], shape: list[str], steps: list[str]) -> str:
    """A view of an array of `rank` axes, from one element on. steps: as in `View`."""
    corner = ", ".join(f"{n}:{n} + 1" for n in first)
    strides = ", ".join(
        " + ".join(f"{n} * {base}.strides[{axis}]" for axis, n in enumerate(steps[k : k + rank]))
        for k in range(0, len(steps), rank)
    )
    return f"np.lib.stride_tricks.as_strided({base}[{corner}], ({', '.join(shape)},), ({strides},))"
