"""Translation of the IR's expressions to Triton text, every value of exactly its type in the IR.

Triton types a bare literal by the look of it: a float is a float32 wherever no float64
tensor stands beside it. So each constant is a `tl.full` of its type, but for small int64 ones
next to an int64 tensor, which take its type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import assert_never

import numpy as np

from appyc.errors import InternalError
from appyc.ir import nodes as ir
from appyc.ir.affine import LinearForm, linear_form, written
from appyc.ir.gpu_program import LaneIndex
from appyc.ir.types import DType, Layout
from appyc.triton_gen.index_scalars import times, wraps_alike
from appyc.triton_gen.lane_shapes import Axes, LaneShapes
from appyc.triton_gen.triton_helpers import POWERS

MOST_LANES = 4096

TYPES = {
    DType.BOOL: "tl.int1", **{d: f"tl.{d}" for d in DType if d.is_integer or d.is_float},
}  # fmt: skip

_LIBDEVICE = frozenset({
    "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "trunc", "rint", "erf", "erfc", "tgamma", "lgamma",
    "atan2", "hypot", "copysign", "fmod",
})  # fmt: skip
"""Intrinsics that CUDA's device library has, by the same names."""


class ExpressionEmitter:
    """Text of expressions in one kernel. It notes what it takes beside scalars: the arrays, and the
    extents and strides ("n", "s") of their axes, in the order of first use."""

    def __init__(
        self,
        name: Callable[[ir.Symbol], str],
        shapes: LaneShapes,
        indices: Mapping[ir.Symbol, LaneIndex],
        counts: Mapping[ir.Symbol, int],
    ) -> None:
        self.name = name
        self.shapes = shapes
        self.indices = indices
        self.counts = counts
        """Scalars of type INDEX, as of `index_scalars`. With them are the sizes of arrays, if there are any."""
        self.scale = max(counts.values(), default=0)
        self.as_index = False
        """Whether the expression at hand may have INDEX as its type."""
        self.arrays: dict[ir.Symbol, None] = {}
        self.sizes: dict[tuple[ir.Symbol, str, int], None] = {}
        self.helpers: set[str] = set()

    def is_varying(self, node: ir.Node) -> bool:
        return bool(self.shapes.of(node))

    def over(self, e: ir.Expr, axes: Axes) -> str:
        """The values of an expression, along these axes too."""
        text = self.expr(e)
        return text if self.shapes.of(e) == axes else f"tl.broadcast_to({text}, {self.shapes.text(axes)})"

    def expr(self, e: ir.Expr) -> str:
        match e:
            case ir.Const():
                return typed(e.value, e.dtype)
            case ir.Var():
                name = self.name(e.symbol)
                return f"{name}.to(tl.int64)" if e.symbol in self.counts and not self.as_index else name
            case ir.Extent():
                name = self.size(e.array, "n", e.axis)
                return f"{name}.to(tl.int64)" if self.counts and not self.as_index else name
            case ir.Load():
                return self._load(e, 0)
            case ir.Unary():
                return self._unary(e)
            case ir.Binary():
                return self._binary(e)
            case ir.Compare():
                sizes = [times(side, self.counts) for side in (e.lhs, e.rhs)]
                known = [size for size in sizes if size is not None]
                if self.counts and len(known) == 2:
                    self.scale = max(self.scale, *known)
                    return self._of_index(self._compare, e, True)
                return self._compare(e)
            case ir.Logical():
                return f"({self.expr(e.lhs)} {'&' if e.op == 'and' else '|'} {self.expr(e.rhs)})"
            case ir.Select():
                return f"tl.where({self.expr(e.cond)}, {self.expr(e.then)}, {self.expr(e.orelse)})"
            case ir.Cast():
                return self._cast(e)
            case ir.Intrinsic():
                return self._intrinsic(e)
            case ir.AnyLane():
                return self.call("any_lane", self.expr(e.arg)) if self.is_varying(e.arg) else self.expr(e.arg)
            case ir.Draw() | ir.Apart() | ir.Ascending() | ir.Workers() | ir.Call():
                raise InternalError("triton_gen", f"{type(e).__name__} inside a kernel")
            case ir.Likely():
                return self.expr(e.arg)
            case ir.Reduce():
                raise InternalError("triton_gen", "a tensor expression is left")
            case _:
                assert_never(e)

    def index(self, e: ir.Expr) -> str:
        """An index, or a part of one, of type INDEX where it may be."""
        return self._of_index(self.expr, e, wraps_alike(e))

    def bare_index(self, e: ir.Expr) -> str:
        return self._of_index(self.bare, e, True)

    def _of_index(self, text: Callable[[ir.Expr], str], e: ir.Expr, as_index: bool) -> str:
        before, self.as_index = self.as_index, as_index
        out = text(e)
        self.as_index = before
        return out

    def bare(self, e: ir.Expr) -> str:
        """The expression where no bracket is needed around it."""
        text = self.expr(e)
        operation = isinstance(e, ir.Unary | ir.Binary | ir.Compare | ir.Logical)
        return text[1:-1] if operation and text.startswith("(") else text

    def call(self, helper: str, *args: str) -> str:
        self.helpers.add(helper)
        return f"{helper}({', '.join(args)})"

    def operand(self, e: ir.Expr, beside: ir.Expr) -> str:
        """An operand of arithmetic; a literal where the operand beside it gives it the type."""
        bare = isinstance(e, ir.Const) and e.dtype is DType.INT64 and abs(int(e.value.real)) < 2**31
        if bare and isinstance(e, ir.Const) and not isinstance(beside, ir.Const):
            return str(e.value) if e.value.real >= 0 else f"({e.value})"
        return self.expr(e)

    # ------------------------------------------------------------ memory

    def size(self, array: ir.Symbol, kind: str, axis: int) -> str:
        self.sizes.setdefault((array, kind, axis))
        return f"{self.name(array)}_{kind}{axis}"

    def pointer(self, array: ir.Symbol, index: tuple[ir.Expr, ...], part: int, axes: Axes) -> str:
        """The address of an element, or of one part of a complex one, along these axes even where all are the same."""
        self.arrays.setdefault(array)
        text = self.name(array)
        for offset in self._offsets(array, index):
            if array.dtype.is_complex and array.array.layout is not Layout.STRIDED:
                offset = f"2 * {offset}"
            text = f"{text} + {offset}"
        if array.dtype.is_complex and part:
            text = f"{text} + {part}"
        if axes == self.shapes.of_all(index):
            return text
        return f"tl.broadcast_to({text}, {self.shapes.text(axes)})"

    def _offsets(self, array: ir.Symbol, index: tuple[ir.Expr, ...]) -> list[str]:
        """The offset of an element in parts: one for all lanes, one of each lane, and a constant distance along axes:

            a[i - 1, j + 2], j = j_base + lane      ->      i * a_n1 + j_base,  lane,  -1 * a_n1,  2

        The address of the first lane is then computed once for a program, and neighbours share it.
        """
        lanes = [self._of_lanes(each) for each in index]
        split = [
            _without_constant(each if of is None else of[0]) for each, of in zip(index, lanes, strict=True)
        ]
        out = [self._offset(array, [rest for rest, _ in split])] if index else []
        out += [
            self._along(array, axis, self.index(of[1]), len(index)) for axis, of in enumerate(lanes) if of
        ]
        if self.counts:
            self.scale = max(self.scale, self._reach(array, [c for _, c in split], lanes))
        return out + [self._along(array, axis, str(c), len(index)) for axis, (_, c) in enumerate(split) if c]

    def _reach(
        self, array: ir.Symbol, constants: list[int], lanes: list[tuple[ir.Expr, ir.Expr] | None]
    ) -> int:
        """The greatest value of the parts of an offset, as a multiple of the array's size. Where only some
        lanes act, the first one's element may be outside, by as many lanes as there are."""
        rank = len(lanes)
        is_slow = any(of is not None and _sizes_below(array, axis, rank) for axis, of in enumerate(lanes))
        return 2 + sum(map(abs, constants)) + (MOST_LANES if is_slow else 0)

    def _along(self, array: ir.Symbol, axis: int, distance: str, rank: int) -> str:
        """The offset of so many steps along an axis."""
        return " * ".join(
            [distance, *(self.size(array, kind, k) for kind, k in _sizes_below(array, axis, rank))]
        )

    def _of_lanes(self, index: ir.Expr) -> tuple[ir.Expr, ir.Expr] | None:
        """An index as a uniform part and a multiple of the lane; None where it is not so, or is uniform."""
        form = linear_form(index)
        match [(term, factor) for term, factor in form.terms.items() if self.is_varying(term)]:
            case [(ir.Var(symbol=symbol) as var, factor)] if symbol in self.indices:
                of = self.indices[symbol]
                moved: LinearForm[ir.Expr] = LinearForm(
                    {ir.Var(of.base, loc=index.loc): factor, var: -factor}
                )
                lane: LinearForm[ir.Expr] = LinearForm({ir.Var(of.lane, loc=index.loc): factor * of.step})
                return written(form.plus(moved), index.loc), written(lane, index.loc)
            case _:
                return None

    def _offset(self, array: ir.Symbol, index: list[ir.Expr]) -> str:
        axes = list(range(len(index)))
        if array.array.layout is Layout.STRIDED:
            return (
                "(" + " + ".join(f"{self.index(index[k])} * {self.size(array, 's', k)}" for k in axes) + ")"
            )
        if array.array.layout is Layout.F:
            axes = axes[::-1]
        text = self.index(index[axes[0]])
        for k in axes[1:]:
            text = f"({text} * {self.size(array, 'n', k)} + {self.index(index[k])})"
        return text

    def _load(self, e: ir.Load, part: int) -> str:
        axes = self.shapes.of(e)
        pointer = self.pointer(e.array, e.index, part, axes)
        if e.mask is None:
            return f"tl.load({pointer})"
        return f"tl.load({pointer}, mask={self.over(e.mask, axes)}, other={typed(0, e.dtype.part)})"

    # ------------------------------------------------------------ operators

    def _unary(self, e: ir.Unary) -> str:
        if e.op == "~" and e.dtype.kind == "u":  # the interpreter cannot make all ones of these
            return f"({self.expr(e.arg)} ^ {typed((1 << e.dtype.bits) - 1, e.dtype)})"
        if e.op == "~":
            return f"(~{self.expr(e.arg)})"
        if e.dtype.is_float:  # Triton's own minus is 0 - x, which loses the sign of zero
            return f"({self.expr(e.arg)} * {typed(-1.0, e.dtype)})"
        return f"(-{self.expr(e.arg)})"

    def _binary(self, e: ir.Binary) -> str:
        lhs, rhs = self.operand(e.lhs, e.rhs), self.operand(e.rhs, e.lhs)
        match e.op:
            case "+" | "-" | "*" if e.dtype is not DType.BOOL:
                return f"({lhs} {e.op} {rhs})"
            case "&" | "|" | "^":
                return f"({lhs} {e.op} {rhs})"
            case "+" | "maximum" | "max" if e.dtype is DType.BOOL:
                return f"({lhs} | {rhs})"
            case "*" | "minimum" | "min" if e.dtype is DType.BOOL:
                return f"({lhs} & {rhs})"
            case "/":
                return f"({lhs} / {rhs})" if e.dtype is DType.FLOAT64 else f"tl.div_rn({lhs}, {rhs})"
            case "//" | "%":
                return self._division(e)
            case "**":
                return self._power(e)
            case "<<" | ">>":
                return self._shift(e)
            case "min" | "max" | "minimum" | "maximum":
                return self.call(f"combine_{e.op}", self.expr(e.lhs), self.expr(e.rhs))
            case _:
                raise InternalError("triton_gen", f"operator {e.op} on {e.dtype}")

    def _division(self, e: ir.Binary) -> str:
        kind = "divide" if e.op == "//" else "modulo"
        signed = {"i": "signed", "u": "unsigned", "f": "float"}[e.dtype.kind]
        return self.call(f"floor_{kind}_{signed}", self.expr(e.lhs), self.expr(e.rhs))

    def _power(self, e: ir.Binary) -> str:
        base = self.expr(e.lhs)
        exponent = e.rhs.value.real if isinstance(e.rhs, ir.Const) else math.nan
        if exponent == 2 and isinstance(e.lhs, ir.Var):
            return f"({base} * {base})"
        if (power := POWERS.get(exponent)) and (e.dtype.is_float or exponent in (1, 2, 3, 4)):
            return self.call(power, base)
        if e.dtype.is_float:
            return f"libdevice.pow({base}, {self.expr(e.rhs)})"
        axes = self.shapes.of(e)
        return self.call("integer_power", self.over(e.lhs, axes), self.over(e.rhs, axes))

    def _shift(self, e: ir.Binary) -> str:
        lhs = self.expr(e.lhs)
        if isinstance(e.rhs, ir.Const) and 0 <= e.rhs.value.real < e.dtype.bits:
            return f"({lhs} {e.op} {self.expr(e.rhs)})"
        name = "shift_left" if e.op == "<<" else "shift_right"
        if e.op == ">>" and e.dtype.kind == "u":
            name = "shift_right_unsigned"
        return self.call(name, lhs, self.expr(e.rhs), str(e.dtype.bits))

    def _compare(self, e: ir.Expr) -> str:
        assert isinstance(e, ir.Compare)
        if e.lhs.dtype is DType.BOOL:  # a one-bit integer is signed: True would be -1
            lhs, rhs = f"{self.expr(e.lhs)}.to(tl.int32)", f"{self.expr(e.rhs)}.to(tl.int32)"
        else:
            lhs, rhs = self.operand(e.lhs, e.rhs), self.operand(e.rhs, e.lhs)
        return f"({lhs} {e.op} {rhs})"

    def _cast(self, e: ir.Cast) -> str:
        if isinstance(e.arg, ir.Const) and not e.dtype.is_complex and not e.arg.dtype.is_complex:
            return typed(np.asarray(e.arg.value).astype(e.dtype.numpy).item(), e.dtype)
        arg, source = self.expr(e.arg), e.arg.dtype
        if e.dtype is source:
            return arg
        if e.dtype is DType.BOOL:
            return f"({arg} != {typed(0, source)})"
        if source.is_float and e.dtype.is_integer and e.dtype.bits < 64:
            return f"{arg}.to(tl.int64).to({TYPES[e.dtype]})"
        if source.is_float and e.dtype is DType.UINT64:
            return self.call("to_uint64", arg)
        return f"{arg}.to({TYPES[e.dtype]})"

    # ------------------------------------------------------------ functions

    def _intrinsic(self, e: ir.Intrinsic) -> str:
        arg = e.args[0]
        if e.name in ("real", "imag") and isinstance(arg, ir.Load):
            return self._load(arg, int(e.name == "imag"))
        args = [self.expr(a) for a in e.args]
        match e.name:
            case "abs":
                return args[0] if arg.dtype.kind == "u" else f"tl.abs({args[0]})"
            case "sign":
                return self.call("sign_of_unsigned" if arg.dtype.kind == "u" else "sign_of", args[0])
            case "sqrt":
                return f"tl.sqrt({args[0]})" if e.dtype is DType.FLOAT64 else f"tl.sqrt_rn({args[0]})"
            case "float_bits":
                return f"{args[0]}.to(tl.int64, bitcast=True)"
            case "mulhi":
                return f"tl.umulhi({args[0]}, {args[1]})"
            case "floor" | "ceil":
                return f"tl.{e.name}({args[0]})"
            case "isnan":
                return f"({args[0]} != {args[0]})"
            case "isinf":
                return f"(tl.abs({args[0]}) == {typed(math.inf, arg.dtype)})"
            case "isfinite":
                return f"(tl.abs({args[0]}) < {typed(math.inf, arg.dtype)})"
            case _ if e.name in _LIBDEVICE:
                return f"libdevice.{e.name}({', '.join(args)})"
            case _:
                raise InternalError("triton_gen", f"{e.name} on {arg.dtype}")


def _without_constant(index: ir.Expr) -> tuple[ir.Expr, int]:
    """An index as a sum and the constant that is added to it, which is 0 where it is all that there is."""
    if index.dtype is not DType.INT64 or isinstance(index, ir.Const):
        return index, 0
    form = linear_form(index)
    return written(LinearForm(form.terms), index.loc), form.constant


def _sizes_below(array: ir.Symbol, axis: int, rank: int) -> list[tuple[str, int]]:
    """The sizes ("n": extents, "s": strides) whose product is the stride of an axis."""
    match array.array.layout:
        case Layout.STRIDED:
            return [("s", axis)]
        case Layout.F:
            return [("n", k) for k in range(axis)]
        case Layout.C:
            return [("n", k) for k in range(axis + 1, rank)]


def typed(value: bool | int | float | complex, dtype: DType, shape: str = "()") -> str:
    """A constant of exactly this type."""
    if dtype.is_float:
        number = float(value.real)
        if number == 0 and math.copysign(1, number) < 0:  # Triton makes any 0 the positive one
            return f"({typed(0.0, dtype, shape)} * {typed(-1.0, dtype)})"
        text = repr(number) if math.isfinite(number) else f'float("{number}")'
    else:
        text = str(int(value.real))
    return f"tl.full({shape}, {text}, {TYPES[dtype]})"
