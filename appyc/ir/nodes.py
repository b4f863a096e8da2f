"""The intermediate representation: statements and functions; expressions are in `ir/expression_nodes.py`.

Nodes are frozen; children are nodes or tuples of nodes; the unions `Expr` and `Stmt` are
closed, and every `match` over them ends in `assert_never`. `loc` is carried along and is
no part of a node's identity.

The values of a program are those of the same text run by Python over NumPy arrays; `appyc.ir.printer` prints any
function as that text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from appyc.ir.expression_nodes import *  # noqa: F403  (whoever reads IR finds all its nodes here)
from appyc.ir.expression_nodes import Clauses, Expr, Reduction
from appyc.ir.fault_words import FaultSite, index_error
from appyc.ir.results import ResultTree
from appyc.ir.schedule import UNSCHEDULED, Product, Scan, Schedule
from appyc.ir.symbols import *  # noqa: F403
from appyc.ir.symbols import Node, Symbol


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

    atomic: other iterations may update the same element at the same time. trap: of `+` and `*` on an int64
    scalar, as in Binary: a result beyond 64 bits ends the call, be it that of some iterations only. python: as there.
    """

    target: Symbol
    index: tuple[Expr, ...]
    op: str
    value: Expr
    atomic: bool = False
    checked: bool = True
    mask: Expr | None = None
    trap: bool = False
    python: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class For(Node):
    """`for var in range(lo, hi, step)`. Bounds are evaluated once; `step` is a constant, not 0.

    `var` is int64, assigned by the loop alone, and not readable after it.

    mode: how the iterations run. clauses: what the user asked, None on a plain loop. implied: the program has an
    array statement instead of it.
    private: scalars that every iteration assigns before it reads them; each iteration (or
    thread, or lane) owns its copy. last: those private scalars whose value in the last
    iteration is read after the loop. reductions: scalars that are combined, and (of a parallel
    loop) arrays, of which whoever runs a part of the iterations has a copy.

    Of lanes (SIMD) only, where iterations do depend on each other: safelen, how many in a row
    may be lanes of one vector; in_step, that any number may, if every statement is done for
    all lanes before the next one, and reads before it writes.

    scans, of sequential loops only: the loop-carried scalars, where these and the
    data of each iteration's own are all that they share. What the iterations do beside handing on may be done in any
    order, by whoever knows what the scans hold where each starts.

    product: all that the nest does, where that is a product of matrices; a library may do it instead.
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
    scans: tuple[Scan, ...] = ()
    product: Product | None = None

    @property
    def request(self) -> str | None:
        """The request of the loop's pragma; None where it has none."""
        return None if self.clauses is None else self.clauses.request

    @property
    def condition(self) -> Expr | None:
        """The condition of an `if` clause, under which alone the pragma's request is made; None where there
        is none."""
        return None if self.clauses is None else self.clauses.condition

    @property
    def bounds(self) -> tuple[Expr, Expr]:
        return self.lo, self.hi


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

    kept: the array, of one axis, is resized instead: its first `kept` elements, at most as many as it has before and
    after, stay.

    in_frame: it has so few elements, a constant number of them, that it is part of the frame of the function that
    makes it; nothing outside of the block that it is made in may name it.
    """

    array: Symbol
    shape: tuple[Expr, ...]
    zero: bool = True
    in_frame: bool = False
    kept: Expr | None = None


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
    """Raises `error` (a builtin exception, one of OWN_ERRORS, or `module:name` of the program's) with `message`.

    values: int64 words, which replace the message's `{value}` and `{extent}`, or, where they have `kinds`
    (as in `FaultSite`), its `{0}`, `{1}` and so on. Without values, braces mean themselves.
    """

    error: str
    message: str
    values: tuple[Expr, ...] = ()
    kinds: tuple[str, ...] = ()

    @property
    def site(self) -> FaultSite:
        """The fault site: the source location, the error class and the template of its message."""
        message = self.message if self.values else self.message.replace("{", "{{").replace("}", "}}")
        loc = self.loc
        return FaultSite(self.error, message, loc.file, loc.line, loc.col, loc.end_col, self.kinds)


@dataclass(frozen=True, slots=True)
class BoundsCheck(Node):
    """Raises IndexError unless -extent <= index < extent: the test of an index beside slices, which NumPy makes where a
    view is created, whether or not an element of the view is accessed. name, axis: of the array, for the message."""

    index: Expr
    extent: Expr
    name: str
    axis: int

    @property
    def site(self) -> FaultSite:
        return index_error(self.name, self.axis, self.loc)


Stmt: TypeAlias = (
    Assign | Store | Update | For | While | If | Break | Continue | Alloc | ForAll | Fail | BoundsCheck
)


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
    """A function with one exit, at its end. `Break` and `Continue` stand inside loops only.

    schedule: what was decided about its loops, beside their modes.
    """

    name: str
    params: tuple[Symbol, ...]
    body: tuple[Stmt, ...]
    results: tuple[Result, ...] = ()
    tree: ResultTree = None
    guards: tuple[Guard, ...] = ()
    callees: tuple[Callee, ...] = ()
    schedule: Schedule = UNSCHEDULED


@dataclass(frozen=True, slots=True)
class Callee:
    """A function that is called, by a `Function` or by others of its callees; it has one scalar result and no guards.

    No node, and so no part of the function that calls it: walks and rewrites of that one leave it alone. Its symbols
    are its own, though some may be equal to the caller's.

    library: the function of C (`c_gen/headers`) that does the same by a library, if there is one.
    """

    function: Function
    library: str = ""
