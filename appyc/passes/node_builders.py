"""Short constructors for the nodes that passes add, located at the nodes that they replace."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from appyc.errors import Loc
from appyc.ir.affine import apart, operands
from appyc.ir.blocks import rewrite_own_statements
from appyc.ir.names import NameSupply, ordered
from appyc.ir.nodes import (
    Assign,
    Binary,
    Break,
    Compare,
    Const,
    Expr,
    Extent,
    For,
    If,
    Logical,
    LoopMode,
    Select,
    Stmt,
    Symbol,
    Unary,
    Var,
)
from appyc.ir.raising import is_never_negative
from appyc.ir.symbols import Node
from appyc.ir.types import DType
from appyc.ir.visit import Rule, loops_of, map_operands, rewrite, scalars_written


def integer(value: int, loc: Loc) -> Const:
    return Const(value, DType.INT64, loc=loc)


def counted_from_end(index: Expr, length: Expr) -> Select:
    """An index with a negative one counted from the end: `index + length if index < 0 else index`."""
    is_negative = Compare("<", index, integer(0, index.loc), loc=index.loc)
    return Select(is_negative, Binary("+", index, length, loc=index.loc), index, loc=index.loc)


def truth(value: bool, loc: Loc) -> Const:
    return Const(value, DType.BOOL, loc=loc)


def zero(dtype: DType, loc: Loc) -> Const:
    value = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}[dtype.kind]
    return Const(value, dtype, loc=loc)


def negated(cond: Expr) -> Expr:
    return Unary("~", cond, loc=cond.loc)


def both(lhs: Expr | None, rhs: Expr | None) -> Expr | None:
    """`lhs & rhs`, where None holds everywhere."""
    if lhs is None or rhs is None:
        return rhs if lhs is None else lhs
    return Binary("&", lhs, rhs, loc=rhs.loc)


def combine(op: str, lhs: Expr, rhs: Expr) -> Expr:
    """`lhs op rhs` for an op of REDUCTION_OPS."""
    if op in ("and", "or"):
        return Logical(op, lhs, rhs, loc=rhs.loc)
    return Binary(op, lhs, rhs, loc=rhs.loc)


def identity(op: str, dtype: DType, loc: Loc) -> Const:
    """The value that changes nothing when it is combined.

    >>> from appyc.errors import GENERATED
    >>> identity("min", DType.INT8, GENERATED).value
    127
    """
    if op in ("+", "|", "^", "or"):
        return zero(dtype, loc)
    if op == "*":
        return Const({"b": True, "i": 1, "u": 1, "f": 1.0, "c": 1 + 0j}[dtype.kind], dtype, loc=loc)
    if op in ("&", "and"):
        full: bool | int = True
        if dtype.is_integer:
            full = -1 if dtype.kind == "i" else (1 << dtype.bits) - 1
        return Const(full, dtype, loc=loc)
    low, high = _range(dtype)
    return Const(high if op.startswith("min") else low, dtype, loc=loc)


def _range(dtype: DType) -> tuple[bool | int | float, bool | int | float]:
    match dtype.kind:
        case "b":
            return False, True
        case "i":
            return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
        case "u":
            return 0, (1 << dtype.bits) - 1
        case _:
            return -math.inf, math.inf


def start_of_sum(op: str, dtype: DType, loc: Loc) -> Const:
    """The neutral element, of sums of floats the negative zero: that changes no sign of a zero."""
    if op == "+" and not dtype.is_integer and dtype is not DType.BOOL:
        return Const(complex(-0.0, -0.0) if dtype.is_complex else -0.0, dtype, loc=loc)
    return identity(op, dtype, loc)


def conjunction(tests: Sequence[Expr]) -> Expr:
    """All of the tests, each made only where those before hold."""
    return reduce(lambda known, test: Logical("and", known, test, loc=test.loc), tests)


def binary(op: str, lhs: Expr, rhs: Expr) -> Binary:
    return Binary(op, lhs, rhs, loc=rhs.loc)


def smaller(lhs: Expr, rhs: Expr) -> Expr:
    """The minimum of two integers, with constants and equal expressions folded."""
    return _extreme("min", lhs, rhs)


def larger(lhs: Expr, rhs: Expr) -> Expr:
    """The maximum of two integers, with constants and equal expressions folded."""
    return _extreme("max", lhs, rhs)


def _extreme(op: str, lhs: Expr, rhs: Expr) -> Expr:
    if isinstance(lhs, Const) and isinstance(rhs, Const):
        return lhs if (lhs.value.real < rhs.value.real) == (op == "min") else rhs
    return lhs if lhs == rhs else binary(op, lhs, rhs)


def scaled(value: Expr, factor: int) -> Expr:
    """`value * factor`, with a factor of 1 folded."""
    return value if factor == 1 else Binary("*", value, integer(factor, value.loc), loc=value.loc)


def ceiling_quotient(value: Expr, size: Expr) -> Expr:
    """`value / size`, rounded up; `size` is positive."""
    return binary("//", binary("+", value, shifted(size, -1)), size)


def fresh_variables(nest: Node, names: NameSupply) -> dict[Symbol, Symbol]:
    """A variable of its own for each loop of a copy of the nest, for `rename`."""
    return {loop.var: names.fresh(loop.var.name, loop.var.type) for loop in loops_of(nest)}


def trip_count(lo: Expr, hi: Expr, step: int) -> Expr:
    """How often `range(lo, hi, step)` runs; 0 or less for never."""
    loc = hi.loc
    first, last, size = (lo, hi, step) if step > 0 else (hi, lo, -step)
    distance = last if first == integer(0, loc) else Binary("-", last, first, loc=loc)
    if size == 1:
        return distance
    return Binary("//", Binary("+", distance, integer(size - 1, loc), loc=loc), integer(size, loc), loc=loc)


def iterations_of(loop: For) -> Expr:
    """How many iterations a loop has."""
    count = trip_count(loop.lo, loop.hi, loop.step)
    is_count = isinstance(count, Extent) or is_never_negative(count)
    return count if is_count else larger(count, integer(0, loop.loc))


def numbers_of(loops: Sequence[For]) -> tuple[Expr, ...]:
    """For each of some loops of step 1, how many iterations come before the one at hand."""
    return tuple(trip_count(loop.lo, Var(loop.var, loc=loop.loc), 1) for loop in loops)


def most_trips(loop: For) -> int | None:
    """More iterations the loop never has, by the text of its bounds; None where that says nothing.

    `range(max(a, s), min(b, s + 8))` has no more than 8: one of the lower bounds and one of the
    upper ones are a constant apart.
    """
    first, last = (loop.lo, loop.hi) if loop.step > 0 else (loop.hi, loop.lo)
    size = abs(loop.step)
    starts = [apart(part) for part in operands(first, "max")]
    ends = [apart(part) for part in operands(last, "min")]
    spans = [end - start for base, start in starts for other, end in ends if base == other]
    return max(0, (min(spans) + size - 1) // size) if spans else None


def iteration(lo: Expr, step: int, number: Expr) -> Expr:
    """The loop variable's value in the `number`-th iteration."""
    loc = lo.loc
    passed = scaled(number, step)
    return passed if lo == integer(0, loc) else Binary("+", lo, passed, loc=loc)


def shifted(value: Expr, distance: int) -> Expr:
    """`value + distance`, with constants folded."""
    loc = value.loc
    match value:
        case Const(value=int(number)):
            return integer(number + distance, loc)
        case Binary(op="+", lhs=inner, rhs=Const(value=int(number))):
            return shifted(inner, number + distance)
        case _ if distance == 0:
            return value
        case _:
            op = "+" if distance > 0 else "-"
            return Binary(op, value, integer(abs(distance), loc), loc=loc)


def plus(lhs: Expr, rhs: Expr) -> Expr:
    """`lhs + rhs`, with constants folded."""
    if isinstance(lhs, Const):
        lhs, rhs = rhs, lhs
    return shifted(lhs, int(rhs.value.real)) if isinstance(rhs, Const) else binary("+", lhs, rhs)


def product_of_all(factors: Iterable[Expr]) -> Expr:
    return reduce(partial(binary, "*"), factors)


def less(lhs: Expr, rhs: Expr) -> Expr:
    return Compare("<", lhs, rhs, loc=rhs.loc)


def is_simple(expr: Expr) -> bool:
    """Whether an expression may be written twice without being computed twice."""
    return isinstance(expr, Var | Const)


def has_iterations(loop: For) -> Compare:
    return Compare("<" if loop.step > 0 else ">", loop.lo, loop.hi, loc=loop.loc)


def in_order(loop: For) -> For:
    """The loop without what it takes to run its iterations in another order."""
    return replace(loop, mode=LoopMode.SEQUENTIAL, clauses=None, private=(), last=(), reductions=())


def with_private(loop: For, made: Set[Symbol]) -> For:
    """The loop, unless it runs in order, with those of the scalars that it writes among its private ones."""
    own = ordered(scalars_written(loop.body) & made) if loop.mode is not LoopMode.SEQUENTIAL else ()
    return replace(loop, private=(*loop.private, *own)) if own else loop


def let(name: str, value: Expr, names: NameSupply, out: list[Any]) -> Var:
    """The value in a new scalar, which is assigned in `out`."""
    symbol = names.fresh(name, value.dtype)
    out.append(Assign(symbol, value, loc=value.loc))
    return Var(symbol, loc=value.loc)


def over_elements(
    shape: Sequence[Expr],
    make: Callable[[tuple[Expr, ...]], tuple[Stmt, ...]],
    names: NameSupply,
    mode: LoopMode = LoopMode.SEQUENTIAL,
) -> For:
    """Loops over all elements of a shape. make: the statements for an index."""
    at = tuple(Var(names.fresh("at", DType.INT64), loc=extent.loc) for extent in shape)
    body = make(at)
    for var, extent in zip(reversed(at), reversed(shape), strict=True):
        private = ordered(scalars_written(body)) if mode is LoopMode.PARALLEL else ()
        loop = For(var.symbol, integer(0, var.loc), extent, 1, body, mode, private=private, loc=var.loc)
        body = (loop,)
    return loop


def if_it_runs(loop: For, body: tuple[Stmt, ...]) -> If:
    """Statements in place of a loop, where that has an iteration."""
    return If(has_iterations(loop), body, loc=loop.loc)


def with_breaks(body: tuple[Stmt, ...], instead: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body with other statements in place of each `break` of its loop."""
    return rewrite_own_statements(body, lambda stmt: instead if isinstance(stmt, Break) else (stmt,))


def rewrite_own(stmt: Stmt, rule: Rule) -> Stmt:
    """The statement with `rule` applied in the expressions that it evaluates itself, and not in the blocks in it."""
    return map_operands(stmt, lambda part: rewrite(part, rule))
