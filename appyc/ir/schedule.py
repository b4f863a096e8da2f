"""What passes decide about loops, beside their modes: costs, matrix products, scans, and the schedule of a function."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from appyc.ir.expressions import Expr, Node, Symbol


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
