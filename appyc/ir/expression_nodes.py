"""Expressions, and what a pragma asks of a loop: the nodes of the IR below its statements.

Every expression knows its element type (`dtype`), and operands already have the type
that the operation works in: conversions are `Cast` nodes. Integer arithmetic wraps;
`//` and `%` round as in Python.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from appyc.ir.draw_functions import DRAWS
from appyc.ir.symbols import Node, Symbol
from appyc.ir.transforms import Transform
from appyc.ir.types import DType


@dataclass(frozen=True, slots=True)
class _Truth(Node):
    @property
    def dtype(self) -> DType:
        return DType.BOOL


@dataclass(frozen=True, slots=True)
class _Length(Node):
    @property
    def dtype(self) -> DType:
        return DType.INT64


# ---------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Const(Node):
    value: bool | int | float | complex
    dtype: DType


@dataclass(frozen=True, slots=True)
class Var(Node):
    """The value of a scalar."""

    symbol: Symbol

    @property
    def dtype(self) -> DType:
        return self.symbol.dtype


@dataclass(frozen=True, slots=True)
class Extent(_Length):
    """The length of one axis of an array; int64."""

    array: Symbol
    axis: int


@dataclass(frozen=True, slots=True)
class Load(Node):
    """One element. Indices are int64, one for each axis.

    checked: a negative index counts from the end, and one out of range is a fault; where
    it is False a pass has shown, or a guard of the function will have shown, that every
    index lies in [0, extent). mask: where it is given and False nothing is read and the
    value is zero (lanes of a vector that must not act).
    """

    array: Symbol
    index: tuple[Expr, ...]
    checked: bool = True
    mask: Expr | None = None

    @property
    def dtype(self) -> DType:
        return self.array.dtype


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """op: "-", "~" (on a bool: logical not). python: as in Binary."""

    op: str
    arg: Expr
    python: bool = field(default=False, compare=False)

    @property
    def dtype(self) -> DType:
        return self.arg.dtype


BINARY_OPS = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>",
              "min", "max", "minimum", "maximum")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """op: one of BINARY_OPS; both sides have the result's type (shifts too).

    min, max: Python's builtins, `rhs if rhs < lhs else lhs`. minimum, maximum: NumPy's,
    a NaN on either side is the result. trap: `/`, `//`, `%` on Python's own numbers, where
    a zero divisor raises ZeroDivisionError; without it integers give 0 and floats inf or
    nan, as NumPy's do. Of `+`, `-`, `*`, `**` and `<<` on int64: a result beyond 64 bits ends the call, which
    Python then runs, or raises OverflowError. python: of integers, that they are Python's own, which do not wrap.
    """

    op: str
    lhs: Expr
    rhs: Expr
    trap: bool = False
    python: bool = field(default=False, compare=False)

    @property
    def dtype(self) -> DType:
        return self.lhs.dtype


MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""The comparison that holds with its sides swapped."""

NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
"""The comparison of integers that holds where another does not."""


@dataclass(frozen=True, slots=True)
class Compare(_Truth):
    """op: "<", "<=", ">", ">=", "==", "!="; both sides of one type; the result is a bool."""

    op: str
    lhs: Expr
    rhs: Expr


@dataclass(frozen=True, slots=True)
class Logical(_Truth):
    """op: "and", "or" on bools; the right side is evaluated only where it decides."""

    op: str
    lhs: Expr
    rhs: Expr


@dataclass(frozen=True, slots=True)
class Select(Node):
    """`then if cond else orelse`; only the chosen side is evaluated."""

    cond: Expr
    then: Expr
    orelse: Expr

    @property
    def dtype(self) -> DType:
        return self.then.dtype


@dataclass(frozen=True, slots=True)
class Cast(Node):
    """Conversion as NumPy's astype: float to int truncates, to bool is `!= 0`."""

    arg: Expr
    dtype: DType


@dataclass(frozen=True, slots=True)
class Intrinsic(Node):
    """A function of scalars, one of `appyc.ir.intrinsics.INTRINSICS`."""

    name: str
    args: tuple[Expr, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class Draw(Node):
    """A number drawn from a generator by one of `appyc.ir.draw_functions.DRAWS`; all that an `Assign` assigns.

    where: an element of an array of addresses, that of the generator's `bitgen_t` (or its state). The generator is
    read and changed, as if that element were stored.
    """

    name: str
    where: Expr
    args: tuple[Expr, ...]

    @property
    def dtype(self) -> DType:
        return DRAWS[self.name].result

    @property
    def generators(self) -> Symbol:
        """The array of addresses."""
        assert isinstance(self.where, Load)
        return self.where.array


@dataclass(frozen=True, slots=True)
class AnyLane(_Truth):
    """True where `arg` holds in any lane of the enclosing vector loop."""

    arg: Expr


@dataclass(frozen=True, slots=True)
class IterationIndex(Node):
    """The index on an axis that iteration i touches: `array[i + offset]`, or `i + offset` without an array."""

    array: Symbol | None
    offset: Expr


@dataclass(frozen=True, slots=True)
class Apart(_Truth):
    """An inspector: true where no iteration of range(lo, hi, step) touches an element that another one writes.

    extent: of the axis that is indexed. A negative number counts from its end, and one
    that is out of range is not looked at (nor one that an index array has no element for), for
    the access itself raises. optional: the answer may be False unseen, where looking would cost
    more than it brings.
    """

    lo: Expr
    hi: Expr
    step: int
    writes: tuple[IterationIndex, ...]
    reads: tuple[IterationIndex, ...]
    extent: Expr
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Ascending(_Truth):
    """True where 0 <= array[lo] <= array[lo + 1] <= ... <= array[hi], as far as there are such elements."""

    array: Symbol
    lo: Expr
    hi: Expr


@dataclass(frozen=True, slots=True)
class Likely(_Truth):
    """`arg`, a condition that nearly every call fulfils: the usual version of the function is
    guarded with it, where it speaks of parameters alone, and need not ask."""

    arg: Expr


CHAINS = 4
"""The number of dependence chains that one core executes simultaneously."""


@dataclass(frozen=True, slots=True)
class Workers(_Length):
    """The number of iterations of a parallel loop that the machine runs simultaneously: CHAINS for each
    thread of a CPU, or the programs of a GPU; int64, at least CHAINS.

    For cutting a range into parts. What a program computes may depend on it only where sums
    may be combined in another order.
    """


@dataclass(frozen=True, slots=True)
class View(Node):
    """An array as an argument: all of it, or the elements `array[first + index @ steps]` for each index in `shape`.

    steps: for each axis of the view the steps along all axes of the array, in order. written: its elements
    may be stored into. resized: the array, of one axis, may get another length, and other memory.
    """

    array: Symbol
    first: tuple[Expr, ...] = ()
    shape: tuple[Expr, ...] = ()
    steps: tuple[Expr, ...] = ()
    written: bool = True
    resized: bool = False

    @property
    def numbers(self) -> tuple[Expr, ...]:
        return (*self.first, *self.shape, *self.steps)


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A call of one of the function's `callees`. It may raise, and read and store into the arrays that it is
    given; so it is only ever the whole value of an `Assign`.

    callee: its name. args: for its parameters, in order.
    """

    callee: str
    args: tuple[Expr | View, ...]
    dtype: DType

    @property
    def views(self) -> tuple[View, ...]:
        """The arrays among the arguments."""
        return tuple(arg for arg in self.args if isinstance(arg, View))

    @property
    def numbers(self) -> tuple[Expr, ...]:
        """All expressions in the arguments."""
        return tuple(e for arg in self.args for e in (arg.numbers if isinstance(arg, View) else (arg,)))


@dataclass(frozen=True, slots=True)
class Reduce(Node):
    """A reduction of `value` over all indices of `axes`, each from 0 to its extent, with an op of
    REDUCTION_OPS, `start` among them. Stands in the value of an `Assign` or a `ForAll` alone, and
    only `expand_tensors` ever sees one.

    clauses: as in ForAll. python: as in Binary."""

    op: str
    axes: tuple[Symbol, ...]
    extents: tuple[Expr, ...]
    value: Expr
    start: Expr
    clauses: tuple[Clauses, ...] = ()
    python: bool = field(default=False, compare=False)

    @property
    def dtype(self) -> DType:
        return self.value.dtype


Expr: TypeAlias = (
    Const
    | Var
    | Extent
    | Load
    | Unary
    | Binary
    | Compare
    | Logical
    | Select
    | Cast
    | Intrinsic
    | Draw
    | AnyLane
    | Apart
    | Ascending
    | Workers
    | Likely
    | Call
    | Reduce
)


# ---------------------------------------------------------------- loops: what was asked, what was found

REDUCTION_OPS = ("+", "*", "min", "max", "minimum", "maximum", "&", "|", "^", "and", "or")


@dataclass(frozen=True, slots=True)
class Reduction:
    """A scalar that iterations combine into, in any order: `symbol = symbol op value`.

    Or an array: they combine into its elements, any of them, and do nothing else with it.
    """

    op: str
    symbol: Symbol


@dataclass(frozen=True, slots=True)
class Clauses(Node):
    """The clauses of a pragma (or `prange`) on a loop.

    over: the slice that a pragma on a statement about whole arrays spoke of, as messages name it; else "".
    """

    request: str  # "parallel", "sequential", "simd", "auto"
    simd: bool = False
    collapse: int = 1
    block: tuple[int, ...] = ()
    num_warps: int | None = None
    num_stages: int | None = None
    reductions: tuple[Reduction, ...] = ()
    private: tuple[Symbol, ...] = ()
    shared: tuple[Symbol, ...] = ()
    to: tuple[Symbol, ...] = ()
    from_: tuple[Symbol, ...] = ()
    schedule: str | None = None  # "static", "dynamic"
    chunk: int | None = None
    condition: Expr | None = None  # if(...): run in parallel only where it holds
    independent: bool = False  # the user's oath: nothing is checked
    transforms: tuple[Transform, ...] = ()  # in the order of TRANSFORMS
    over: str = field(default="", compare=False)

    @property
    def launch(self) -> tuple[str, ...]:
        """The clauses about the launch of GPU programs, as they are written in a pragma."""
        block = (f"block({', '.join(map(str, self.block))})",) if self.block else ()
        warps = (f"num_warps({self.num_warps})",) if self.num_warps is not None else ()
        stages = (f"num_stages({self.num_stages})",) if self.num_stages is not None else ()
        return block + warps + stages
