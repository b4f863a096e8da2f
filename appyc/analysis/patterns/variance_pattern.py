"""Variance and covariance: loops that only reduce products of deviations, `q += (x[i] - m) * (y[i] - k)`.

What is deviated from, m and k, does not change in the loop; what deviates, x[i] and y[i], is an expression
that does. Squares are products of a deviation with itself, however they are written.
"""

from __future__ import annotations

from dataclasses import dataclass

from appyc.errors import Loc
from appyc.ir.invariance import changed_in, is_invariant
from appyc.ir.nodes import Assign, Binary, Const, Expr, For, Intrinsic, Load, Stmt, Symbol, Update, Var
from appyc.ir.raising import may_raise
from appyc.ir.visit import arrays_written, scalars_read, scalars_written, substitute, walk

MAX_SIZE = 60
"""Nodes of a value that deviates, which is computed twice."""

MAX_DEPTH = 3

MAX_STATEMENTS = 16
"""Sums, and what they are computed from, in one loop: more than there are registers for."""


@dataclass(frozen=True, slots=True)
class Nest:
    """Loops from 0 in steps of 1, each the whole body of the one around it, and what is in the last one."""

    loops: tuple[For, ...]
    body: tuple[Stmt, ...]

    @property
    def loc(self) -> Loc:
        return self.loops[0].loc


@dataclass(frozen=True, slots=True)
class Deviation:
    """`value - centre`."""

    value: Expr
    centre: Expr

    def loads(self, array: Symbol) -> list[Load]:
        return [n for n in walk(self.value) if isinstance(n, Load) and n.array == array]


@dataclass(frozen=True, slots=True)
class SumOfProducts:
    """`update`, whose value is the product of the two parts, or of the negatives of both."""

    update: Update
    parts: tuple[Deviation, Deviation]


def nest_of(loop: For) -> Nest | None:
    """The loop as a nest with fixed bounds and no pragmas; None where it is none."""
    loops: list[For] = []
    body: tuple[Stmt, ...] = (loop,)
    while len(body) == 1 and isinstance(inner := body[0], For):
        loops.append(inner)
        body = inner.body
    changed = changed_in(loop)
    for one in loops:
        starts = isinstance(one.lo, Const) and one.lo.value == 0 and one.step == 1
        if not starts or one.clauses is not None or not is_invariant(one.hi, changed):
            return None
    if len(loops) > MAX_DEPTH or any(may_raise(stmt) for stmt in body):
        return None
    return Nest(tuple(loops), body) if all(_is_plain(stmt) for stmt in body) else None


def _is_plain(stmt: Stmt) -> bool:
    return isinstance(stmt, Assign | Update) or not any(
        isinstance(n, Stmt) for n in walk(stmt) if n is not stmt
    )


def has_only_scalars(nest: Nest) -> bool:
    """Whether the nest writes no array."""
    return not arrays_written(nest.body)


def sums_of_products(nest: Nest) -> list[SumOfProducts] | None:
    """The sums that the nest adds up, all of one type; None where it does anything else."""
    if len(nest.body) > MAX_STATEMENTS:
        return None
    values: dict[Symbol, Expr] = {}
    out: list[SumOfProducts] = []
    for stmt in nest.body:
        match stmt:
            case Assign() if stmt.target not in values and not _is_read_before(stmt.target, stmt, nest):
                values[stmt.target] = substitute(stmt.value, values)
            case Update(op="+", mask=None) if not stmt.target.is_array and stmt.target.dtype.is_float:
                found = _product(stmt, substitute(stmt.value, values), nest)
                if found is None:
                    return None
                out.append(found)
            case _:
                return None
    targets = [one.update.target for one in out]
    if len({target.dtype for target in targets}) > 1:
        return None
    needed = scalars_read([part.value for one in out for part in one.parts])
    return out if len(set(targets)) == len(targets) and not needed & set(targets) else None


def _is_read_before(symbol: Symbol, stmt: Assign, nest: Nest) -> bool:
    """Whether an iteration sees what an earlier one assigned."""
    before = nest.body[: nest.body.index(stmt)]
    return symbol in scalars_read((*before, stmt.value))


def _product(update: Update, value: Expr, nest: Nest) -> SumOfProducts | None:
    match value:
        case Binary("*", lhs, rhs):
            pass
        case Binary("**", lhs, Const(value=2)):
            rhs = lhs
        case Intrinsic("square", (lhs,)):
            rhs = lhs
        case _:
            return None
    one, other = _deviation(lhs, nest), _deviation(rhs, nest)
    if one is None or other is None or one[1] != other[1]:
        return None
    parts = (one[0], other[0])
    is_one_type = all(part.value.dtype is update.target.dtype for part in parts)
    return SumOfProducts(update, parts) if is_one_type else None


def _deviation(expr: Expr, nest: Nest) -> tuple[Deviation, bool] | None:
    """The deviation, and whether the expression is its negative."""
    if not isinstance(expr, Binary) or expr.op != "-":
        return None
    is_mirrored = _is_fixed(expr.lhs, nest)
    if is_mirrored == _is_fixed(expr.rhs, nest):
        return None
    found = Deviation(expr.rhs, expr.lhs) if is_mirrored else Deviation(expr.lhs, expr.rhs)
    return (found, is_mirrored) if sum(1 for _ in walk(found.value)) <= MAX_SIZE else None


def _is_fixed(expr: Expr, nest: Nest) -> bool:
    """Whether an expression has one value in all iterations."""
    inside = {loop.var for loop in nest.loops} | scalars_written(nest.body)
    return not any(isinstance(n, Var) and n.symbol in inside for n in walk(expr))
