"""The intermediate representation: the whole language on one screen.

Nodes are frozen; children are nodes or tuples of nodes; the unions `Expr` and `Stmt` are
closed, and every `match` over them ends in `assert_never`. `loc` is carried along and is
no part of a node's identity.

Every expression knows its element type (`dtype`), and operands already have the type
that the operation works in: conversions are `Cast` nodes. Integer arithmetic wraps;
`//` and `%` round as in Python. The values of a program are those of the same text run by
Python over NumPy arrays; `appyc.ir.printer` prints any function as that text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from appyc.errors import Loc
from appyc.ir.draw_functions import DRAWS
from appyc.ir.results import ResultTree
from appyc.ir.types import ArrayType, DType, ScalarType, Type


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that cannot be captured: two symbols are one only if their numbers agree.

    Numbers are unique within a function (`appyc.ir.names.NameSupply` hands them out). A
    `For`'s variable is bound by that loop alone, so it also names the loop.
    """

    name: str
    uid: int
    type: Type

    def __hash__(self) -> int:
        return self.uid  # symbols of one function differ in it, and tables of symbols are asked all the time

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def is_array(self) -> bool:
        return isinstance(self.type, ArrayType)

    @property
    def array(self) -> ArrayType:
        assert isinstance(self.type, ArrayType), f"{self.name} is a scalar"
        return self.type

    def __str__(self) -> str:
        return f"{self.name}.{self.uid}"


@dataclass(frozen=True, slots=True)
class Node:
    loc: Loc = field(kw_only=True, compare=False, repr=False)


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
class Extent(Node):
    """The length of one axis of an array; int64."""

    array: Symbol
    axis: int

    @property
    def dtype(self) -> DType:
        return DType.INT64


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
    """op: "-", "~" (on a bool: logical not)."""

    op: str
    arg: Expr

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
    nan, as NumPy's do. Of `+`, `-`, `*` and `<<` on int64, in callees: a result beyond 64 bits ends the call, which
    Python then runs, or raises OverflowError.
    """

    op: str
    lhs: Expr
    rhs: Expr
    trap: bool = False

    @property
    def dtype(self) -> DType:
        return self.lhs.dtype


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """op: "<", "<=", ">", ">=", "==", "!="; both sides of one type; the result is a bool."""

    op: str
    lhs: Expr
    rhs: Expr

    @property
    def dtype(self) -> DType:
        return DType.BOOL


@dataclass(frozen=True, slots=True)
class Logical(Node):
    """op: "and", "or" on bools; the right side is evaluated only where it decides."""

    op: str
    lhs: Expr
    rhs: Expr

    @property
    def dtype(self) -> DType:
        return DType.BOOL


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
class AnyLane(Node):
    """True where `arg` holds in any lane of the enclosing vector loop."""

    arg: Expr

    @property
    def dtype(self) -> DType:
        return DType.BOOL


@dataclass(frozen=True, slots=True)
class Places(Node):
    """The index on an axis that iteration i touches: `array[i + offset]`, or `i + offset` without an array."""

    array: Symbol | None
    offset: Expr


@dataclass(frozen=True, slots=True)
class Apart(Node):
    """An inspector: true where no iteration of range(lo, hi, step) touches an element that another one writes.

    extent: of the axis that is indexed. A negative number counts from its end, and one
    that is out of range is not looked at (nor one that an index array has no element for), for
    the access itself raises. optional: the answer may be False unseen, where looking would cost
    more than it brings.
    """

    lo: Expr
    hi: Expr
    step: int
    writes: tuple[Places, ...]
    reads: tuple[Places, ...]
    extent: Expr
    optional: bool = False

    @property
    def dtype(self) -> DType:
        return DType.BOOL


@dataclass(frozen=True, slots=True)
class Ascending(Node):
    """True where 0 <= array[lo] <= array[lo + 1] <= ... <= array[hi], as far as there are such elements."""

    array: Symbol
    lo: Expr
    hi: Expr

    @property
    def dtype(self) -> DType:
        return DType.BOOL


@dataclass(frozen=True, slots=True)
class Likely(Node):
    """`arg`, a condition that nearly every call fulfils: the usual version of the function is
    guarded with it, where it speaks of parameters alone, and need not ask."""

    arg: Expr

    @property
    def dtype(self) -> DType:
        return DType.BOOL


CHAINS = 4
"""The number of dependence chains that one core executes simultaneously."""


@dataclass(frozen=True, slots=True)
class Workers(Node):
    """The number of iterations of a parallel loop that the machine runs simultaneously: CHAINS for each
    thread of a CPU, or the programs of a GPU; int64, at least CHAINS.

    For cutting a range into parts. What a program computes may depend on it only where sums
    may be combined in another order.
    """

    @property
    def dtype(self) -> DType:
        return DType.INT64


@dataclass(frozen=True, slots=True)
class View(Node):
    """An array as an argument: all of it, or the elements `array[first + index @ steps]` for each index in `shape`.

    steps: for each axis of the view the steps along all axes of the array, in order. written: its elements
    may be stored into.
    """

    array: Symbol
    first: tuple[Expr, ...] = ()
    shape: tuple[Expr, ...] = ()
    steps: tuple[Expr, ...] = ()
    written: bool = True

    @property
    def numbers(self) -> tuple[Expr, ...]:
        return (*self.first, *self.shape, *self.steps)


@dataclass(frozen=True, slots=True)
class Call(Node):
    """What one of the function's `callees` returns. It may raise, and read and store into the arrays that it is
    given; so it is the whole value of an `Assign`, and stands nowhere else.

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

    clauses: as in ForAll."""

    op: str
    axes: tuple[Symbol, ...]
    extents: tuple[Expr, ...]
    value: Expr
    start: Expr
    clauses: tuple[Clauses, ...] = ()

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
class Scan:
    """A scan: a loop-carried scalar that each iteration changes by an associative step.

    op: of REDUCTION_OPS, where every step is `symbol = symbol op value`; "linear" where each is
    `symbol = factor * symbol + value`. Neither the values nor whether a step is made depend on
    what any scalar of a scan holds, so that the steps of several iterations together are known
    before the value they start from.

    fades: a number too small to be a normal one may be taken for 0. Products of factors below 1
    become that small, and processors take a hundred times as long for the numbers in between.
    """

    op: str
    symbol: Symbol
    fades: bool = False


@dataclass(frozen=True, slots=True)
class Clauses(Node):
    """What a pragma (or `prange`) asked of the loop it stands on.

    over: the slice that a pragma on a statement about whole arrays spoke of, as messages name it; else "".
    """

    request: str  # "parallel", "sequential", "simd", "auto"
    simd: bool = False
    collapse: int = 1
    block: tuple[int, ...] = ()
    num_warps: int | None = None
    reductions: tuple[Reduction, ...] = ()
    private: tuple[Symbol, ...] = ()
    shared: tuple[Symbol, ...] = ()
    to: tuple[Symbol, ...] = ()
    from_: tuple[Symbol, ...] = ()
    schedule: str | None = None  # "static", "dynamic"
    chunk: int | None = None
    condition: Expr | None = None  # if(...): run in parallel only where it holds
    independent: bool = False  # the user's oath: nothing is checked
    over: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class LoopCost:
    """An estimate of what a loop is to the machine, in float64 expressions that have a value before it.

    Of one iteration, with all loops inside it: vector, the operations done in lanes, in units of
    one on 8 bytes; scalar, those that are done one by one; gathers, accesses that each touch
    another line of memory. The memory footprint: `bytes`, and `bytes_each` for every
    iteration; an element counts once, however often it is used, and twice if it is written.
    """

    vector: Expr
    scalar: Expr
    gathers: Expr
    bytes: Expr
    bytes_each: Expr


@dataclass(frozen=True, slots=True)
class Operand(Node):
    """A matrix as some loops walk through an array: the element that an iteration touches."""

    array: Symbol
    index: tuple[Expr, ...]


class ProductShape(Enum):
    """Which elements of a product a nest computes: in each row all, those before one that is a column further on
    in each row (a lower triangle, say), or those from such a one on."""

    ALL = "all"
    BEFORE = "before"
    FROM = "from"


@dataclass(frozen=True, slots=True)
class Product(Node):
    """The matrix product that a nest of loops over `rows`, `columns` and `summed` computes, in any loop order:

        target = keep * target + scale * (the sum over `summed` of left * right)

    target depends on rows and columns, left on rows and summed, right on summed and columns, each
    index on one of them at most, by a constant factor; no two iterations of rows and columns share an
    element of the target, and the nest touches its array nowhere else. keep: None where the target
    is not read, scale: None for 1; both are the same in all iterations. shape: ALL where no bound moves
    with the row, else which bound of the columns' loop does, by one in each row: `row + c`, or
    `min(row + c, n)` for an upper bound, `max(row + c, n)` for a lower one. stack: the loop around the others
    that repeats all that with other matrices of the same shapes, each index on one loop at most; what they add
    to are different elements. exchanged: a second product is in the sum, of the same matrices with rows and columns
    exchanged: `a[i, k] * b[j, k] + b[i, k] * a[j, k]`.
    """

    rows: Symbol
    columns: Symbol
    summed: Symbol
    target: Operand
    left: Operand
    right: Operand
    scale: Expr | None = None
    keep: Expr | None = None
    shape: ProductShape = ProductShape.ALL
    stack: Symbol | None = None
    exchanged: bool = False


class LoopMode(Enum):
    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"  # iterations may run in any order, at the same time
    SIMD = "simd"  # iterations are lanes of vectors, on one thread


# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Assign(Node):
    target: Symbol
    value: Expr


@dataclass(frozen=True, slots=True)
class Store(Node):
    """`array[index] = value`; `checked` and `mask` as in Load."""

    array: Symbol
    index: tuple[Expr, ...]
    value: Expr
    checked: bool = True
    mask: Expr | None = None


@dataclass(frozen=True, slots=True)
class Update(Node):
    """`target = target op value` with an op of REDUCTION_OPS; `index` is () for a scalar.

    atomic: other iterations may update the same element at the same time.
    """

    target: Symbol
    index: tuple[Expr, ...]
    op: str
    value: Expr
    atomic: bool = False
    checked: bool = True
    mask: Expr | None = None


@dataclass(frozen=True, slots=True)
class For(Node):
    """`for var in range(lo, hi, step)`. Bounds are evaluated once; `step` is a constant, not 0.

    `var` is int64, assigned by the loop alone, and not readable after it.

    mode: how the iterations run. clauses: what the user asked, None on a plain loop. implied: the program has a
    statement about arrays in its place.
    private: scalars that every iteration assigns before it reads them; each iteration (or
    thread, or lane) owns its copy. last: those private scalars whose value in the last
    iteration is read after the loop. reductions: scalars that are combined, and (of a parallel
    loop) arrays, of which whoever runs a part of the iterations has a copy.

    Of lanes (SIMD) only, where iterations do depend on each other: safelen, how many in a row
    may be lanes of one vector; in_step, that any number may, if every statement is done for
    all lanes before the next one, and reads before it writes.

    cost: of a loop that threads may share, for the choice between them and one.

    scans, of sequential loops only: the scalars that iterations hand on, where these and the
    data of each iteration's own are all that they share. What the iterations do beside handing on may be done in any
    order, by whoever knows what the scans hold where each starts.

    streams: arrays that the iterations fill in order and that are not read in this function:
    where they exceed the caches, non-temporal stores may write them.

    product: all that the nest does, where that is a product of matrices; a library may do it instead.

    row_lanes, of parallel loops on a GPU only: each loop inside has at most so many iterations, all the
    same ones, and of an array that is made inside an iteration of theirs has an element of its own. A program
    may have a lane for each, and no memory for those arrays.
    """

    var: Symbol
    lo: Expr
    hi: Expr
    step: int
    body: tuple[Stmt, ...]
    mode: LoopMode = LoopMode.SEQUENTIAL
    clauses: Clauses | None = None
    private: tuple[Symbol, ...] = ()
    last: tuple[Symbol, ...] = ()
    reductions: tuple[Reduction, ...] = ()
    safelen: int | None = None
    in_step: bool = False
    implied: bool = field(default=False, compare=False)
    cost: LoopCost | None = field(default=None, compare=False)
    scans: tuple[Scan, ...] = ()
    streams: tuple[Symbol, ...] = ()
    product: Product | None = None
    row_lanes: int | None = None


@dataclass(frozen=True, slots=True)
class While(Node):
    cond: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class If(Node):
    cond: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Break(Node):
    """Leaves the innermost loop."""


@dataclass(frozen=True, slots=True)
class Continue(Node):
    """`continue`: ends this iteration of the innermost loop."""


@dataclass(frozen=True, slots=True)
class Alloc(Node):
    """A new C-contiguous array, of zeros where `zero` is set.

    in_frame: it has so few elements, a constant number of them, that it is part of the frame of the function that
    makes it; nothing outside of the block that it is made in may name it.
    """

    array: Symbol
    shape: tuple[Expr, ...]
    zero: bool = True
    in_frame: bool = False


@dataclass(frozen=True, slots=True)
class ForAll(Node):
    """`array[index] = value` for all indices of `axes`, each from 0 to its extent.

    Every value is read before any is stored, in the order of the indices. Only `expand_tensors`
    ever sees one.

    where: for the indices for which it holds. position: how many of those come before, in the
    order of the indices; an int64 that `index` and `value` may use. op: one of BINARY_OPS; the
    elements become `array[index] op value`, one index after another. checked: as in Load, of
    the access to `array`.

    clauses: what a pragma asked of the loops over the axes, one for each; () without a pragma.
    """

    axes: tuple[Symbol, ...]
    extents: tuple[Expr, ...]
    array: Symbol
    index: tuple[Expr, ...]
    value: Expr
    where: Expr | None = None
    position: Symbol | None = None
    op: str | None = None
    checked: bool = True
    clauses: tuple[Clauses, ...] = ()


OWN_ERRORS = ("DependenceError", "LeftToPython")
"""Exceptions of appyc's that a program may raise at run time. For the last, the call runs in Python."""


@dataclass(frozen=True, slots=True)
class Fail(Node):
    """Raises `error` (the name of a builtin exception, or one of OWN_ERRORS) with `message`.

    value, extent: integers that the message has in place of its `{value}` and `{extent}`. Without value, braces
    mean themselves.
    """

    error: str
    message: str
    value: Expr | None = None
    extent: Expr | None = None

    @property
    def template(self) -> str:
        """The message for `str.format`."""
        return self.message if self.value is not None else self.message.replace("{", "{{").replace("}", "}}")


Stmt: TypeAlias = Assign | Store | Update | For | While | If | Break | Continue | Alloc | ForAll | Fail


# ---------------------------------------------------------------- functions


@dataclass(frozen=True, slots=True)
class Guard(Node):
    """A condition on the parameters, tested once before anything is written.

    Where `holds` is False, an access may leave its array (or count from its end) and the
    function must run in the version whose accesses are all checked.
    """

    holds: Expr
    reason: str


@dataclass(frozen=True, slots=True)
class Result(Node):
    """One returned value: a scalar expression, or an array (a parameter or an allocation).

    python: the caller gets Python's own int, float, complex or bool, not a NumPy scalar.
    """

    value: Expr | Symbol
    python: bool = False


@dataclass(frozen=True, slots=True)
class Function(Node):
    """A function with one exit, at its end. `Break` and `Continue` stand inside loops only."""

    name: str
    params: tuple[Symbol, ...]
    body: tuple[Stmt, ...]
    results: tuple[Result, ...] = ()
    tree: ResultTree = None
    guards: tuple[Guard, ...] = ()
    callees: tuple[Callee, ...] = ()


@dataclass(frozen=True, slots=True)
class Callee:
    """A function that is called, by a `Function` or by others of its callees; it has one scalar result and no guards.

    No node, and so no part of the function that calls it: walks and rewrites of that one leave it alone. Its symbols
    are its own, though some may be equal to the caller's.
    """

    function: Function


def scalar(name: str, uid: int, dtype: DType) -> Symbol:
    return Symbol(name, uid, ScalarType(dtype))
