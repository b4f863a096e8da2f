"""Terms of matrix products: a reduced value as a sum of `scale * a[i, k] * b[k, j]`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from appyc.errors import Loc
from appyc.ir.affine import coefficient, operands
from appyc.ir.invariance import is_invariant
from appyc.ir.nodes import Binary, Const, Expr, For, Load, Node, Unary, Var
from appyc.ir.types import DType
from appyc.ir.visit import scalars_written, walk

DTYPES = (DType.FLOAT32, DType.FLOAT64, DType.COMPLEX64, DType.COMPLEX128)
"""Elements that libraries multiply matrices of."""


@dataclass(frozen=True, slots=True)
class Term:
    """`scale * left * right`, added up over the loop `summed`; left goes along rows, right along columns."""

    left: Load
    right: Load
    scale: Expr | None

    def value(self, loc: Loc) -> Expr:
        """The product, with its scale, as an expression."""
        product = Binary("*", self.left, self.right, loc=loc)
        return product if self.scale is None else Binary("*", self.scale, product, loc=loc)


def terms_of(value: Expr, loops: tuple[For, For], summed: For) -> list[Term] | None:
    """A value that a loop adds up, as a sum of products of two matrices; None where it is none.

    loops: the two around, in any order. What a term calls left goes along the first of them.
    """
    if value.dtype not in DTYPES:
        return None
    nest = (*loops, summed)
    parts = [_term(part, negative, nest) for part, negative in _summands(value, False)]
    return None if any(part is None for part in parts) else [part for part in parts if part is not None]


def is_fixed(nodes: Node | Iterable[Node], loops: Iterable[For]) -> bool:
    """Whether expressions mean the same in all iterations of a nest, and read no memory."""
    return is_invariant(nodes, {s for loop in loops for s in (loop.var, *scalars_written(loop.body))})


def _summands(value: Expr, negative: bool) -> list[tuple[Expr, bool]]:
    match value:
        case Binary(op="+"):
            return _summands(value.lhs, negative) + _summands(value.rhs, negative)
        case Binary(op="-"):
            return _summands(value.lhs, negative) + _summands(value.rhs, not negative)
        case Unary(op="-"):
            return _summands(value.arg, not negative)
        case _:
            return [(value, negative)]


def _term(value: Expr, negative: bool, nest: tuple[For, For, For]) -> Term | None:
    rows, columns, summed = nest
    factors = operands(value, "*")
    loads = [f for f in factors if isinstance(f, Load) and not is_fixed(f.index, nest)]
    rest = [f for f in factors if f not in loads]
    if len(loads) != 2 or not is_fixed(rest, nest):
        return None
    if any(load.mask is not None or load.dtype is not value.dtype for load in loads):
        return None
    if not all(is_matrix(load.index, nest) and depends_on(load.index, summed) for load in loads):
        return None
    left = [load for load in loads if depends_on(load.index, rows) and not depends_on(load.index, columns)]
    right = [load for load in loads if depends_on(load.index, columns) and not depends_on(load.index, rows)]
    if len(left) != 1 or len(right) != 1:
        return None
    scale: Expr | None = None
    for factor in rest:
        scale = factor if scale is None else Binary("*", scale, factor, loc=value.loc)
    if negative:
        scale = Unary("-", scale or one_of(value), loc=value.loc)
    return Term(left[0], right[0], scale)


def is_matrix(index: tuple[Expr, ...], nest: tuple[For, ...]) -> bool:
    """Whether each index goes along one loop of the nest at most, in steps of one size."""
    written = set().union(*(scalars_written(loop.body) for loop in nest))
    if not is_invariant(index, written):
        return False
    for part in index:
        steps = [coefficient(part, loop.var) for loop in nest]
        if None in steps or sum(step != 0 for step in steps) > 1:
            return False
    return True


def is_one_place_each(index: tuple[Expr, ...], along: Sequence[For], nest: tuple[For, ...]) -> bool:
    """Whether two loops walk along an axis each, so that no element is met twice."""
    if not is_matrix(index, nest):
        return False
    axes = [[at for at, part in enumerate(index) if coefficient(part, loop.var)] for loop in along]
    others = [loop for loop in nest if loop not in along]
    return all(len(found) == 1 for found in axes) and not any(depends_on(index, loop) for loop in others)


def depends_on(index: tuple[Expr, ...], loop: For) -> bool:
    return any(isinstance(n, Var) and n.symbol == loop.var for n in walk(index))


def one_of(value: Expr) -> Const:
    """The number 1, of a value's type."""
    return Const(1.0 if value.dtype.is_float else 1 + 0j, value.dtype, loc=value.loc)
