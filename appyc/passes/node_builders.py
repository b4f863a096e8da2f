"""Short constructors for the nodes that passes add, located at the nodes that they replace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from functools import partial, reduce
from typing import Any, cast

from appyc.errors import Loc
from appyc.ir import nodes as ir
from appyc.ir.affine import excess, operands
from appyc.ir.blocks import rewrite_own_statements
from appyc.ir.integers import is_integer, neutral_element
from appyc.ir.names import NameSupply, ordered
from appyc.ir.raising import is_never_negative
from appyc.ir.symbols import Node
from appyc.ir.types import DType
from appyc.ir.visit import Rule, T, loops_of, map_operands, rename, rewrite, scalars_written


def integer(value: int, loc: Loc) -> ir.Const:
    return ir.Const(value, DType.INT64, loc=loc)


def counted_from_end(index: ir.Expr, length: ir.Expr) -> ir.Select:
    """An index with a negative one counted from the end: `index + length if index < 0 else index`."""
    is_negative = ir.Compare("<", index, integer(0, index.loc), loc=index.loc)
    return ir.Select(is_negative, ir.Binary("+", index, length, loc=index.loc), index, loc=index.loc)


def truth(value: bool, loc: Loc) -> ir.Const:
    return ir.Const(value, DType.BOOL, loc=loc)


def zero(dtype: DType, loc: Loc) -> ir.Const:
    value = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}[dtype.kind]
    return ir.Const(value, dtype, loc=loc)


def negated(cond: ir.Expr) -> ir.Expr:
    return ir.Unary("~", cond, loc=cond.loc)


def both(lhs: ir.Expr | None, rhs: ir.Expr | None) -> ir.Expr | None:
    """`lhs & rhs`, where None holds everywhere."""
    if lhs is None or rhs is None:
        return rhs if lhs is None else lhs
    return ir.Binary("&", lhs, rhs, loc=rhs.loc)


def combine(op: str, lhs: ir.Expr, rhs: ir.Expr) -> ir.Expr:
    """`lhs op rhs` for an op of REDUCTION_OPS."""
    if op in ("and", "or"):
        return ir.Logical(op, lhs, rhs, loc=rhs.loc)
    return ir.Binary(op, lhs, rhs, loc=rhs.loc)


def result_of(update: ir.Update) -> ir.Expr:
    """The value of a scalar or an array element after an update, as an expression."""
    old: ir.Expr = ir.Var(update.target, loc=update.loc)
    if update.target.is_array:
        old = ir.Load(update.target, update.index, update.checked, loc=update.loc)
    return combine(update.op, old, update.value)


def identity(op: str, dtype: DType, loc: Loc) -> ir.Const:
    """The value that changes nothing when it is combined."""
    return ir.Const(neutral_element(op, dtype), dtype, loc=loc)


def start_of_sum(op: str, dtype: DType, loc: Loc) -> ir.Const:
    """The neutral element, of sums of floats the negative zero: that changes no sign of a zero."""
    if op == "+" and not is_integer(dtype):
        return ir.Const(complex(-0.0, -0.0) if dtype.is_complex else -0.0, dtype, loc=loc)
    return identity(op, dtype, loc)


def begun(scalar: ir.Symbol, op: str, loc: Loc) -> ir.Assign:
    """The scalar that starts from the identity of an operator."""
    return ir.Assign(scalar, identity(op, scalar.dtype, loc), loc=loc)


def conjunction(tests: Sequence[ir.Expr]) -> ir.Expr:
    """All of the tests, each made only where those before hold."""
    return reduce(lambda known, test: ir.Logical("and", known, test, loc=test.loc), tests)


def binary(op: str, lhs: ir.Expr, rhs: ir.Expr) -> ir.Binary:
    return ir.Binary(op, lhs, rhs, loc=rhs.loc)


def smaller(lhs: ir.Expr, rhs: ir.Expr) -> ir.Expr:
    """The minimum of two integers, with constants and equal expressions folded."""
    return _extreme("min", lhs, rhs)


def larger(lhs: ir.Expr, rhs: ir.Expr) -> ir.Expr:
    """The maximum of two integers, with constants and equal expressions folded."""
    return _extreme("max", lhs, rhs)


def _extreme(op: str, lhs: ir.Expr, rhs: ir.Expr) -> ir.Expr:
    if isinstance(lhs, ir.Const) and isinstance(rhs, ir.Const):
        return lhs if (lhs.value.real < rhs.value.real) == (op == "min") else rhs
    return lhs if lhs == rhs else binary(op, lhs, rhs)


def scaled(value: ir.Expr, factor: int) -> ir.Expr:
    """`value * factor`, with constants and a factor of 1 folded."""
    if isinstance(value, ir.Const) and isinstance(value.value, int):
        return integer(value.value * factor, value.loc)
    return value if factor == 1 else ir.Binary("*", value, integer(factor, value.loc), loc=value.loc)


def ceiling_quotient(value: ir.Expr, size: ir.Expr) -> ir.Expr:
    """`value / size`, rounded up; `size` is positive."""
    return binary("//", binary("+", value, shifted(size, -1)), size)


def copy_of(nest: T, names: NameSupply) -> T:
    """The nest once more, or each of several, with loop variables of its own."""
    if isinstance(nest, tuple):
        return cast(T, tuple(copy_of(each, names) for each in nest))
    return rename(nest, fresh_variables(nest, names))


def fresh_variables(nest: Node, names: NameSupply) -> dict[ir.Symbol, ir.Symbol]:
    """A variable of its own for each loop of a copy of the nest, for `rename`."""
    return {loop.var: names.fresh(loop.var.name, loop.var.type) for loop in loops_of(nest)}


def trip_count(lo: ir.Expr, hi: ir.Expr, step: int) -> ir.Expr:
    """The trip count of `range(lo, hi, step)`, which is 0 or negative for an empty range, with constants folded."""
    loc = hi.loc
    if isinstance(lo, ir.Const) and isinstance(hi, ir.Const):
        return integer(len(range(int(lo.value.real), int(hi.value.real), step)), loc)
    first, last, size = (lo, hi, step) if step > 0 else (hi, lo, -step)
    distance = last if first == integer(0, loc) else ir.Binary("-", last, first, loc=loc)
    if size == 1:
        return distance
    rounded = ir.Binary("+", distance, integer(size - 1, loc), loc=loc)
    return ir.Binary("//", rounded, integer(size, loc), loc=loc)


def iterations_of(loop: ir.For) -> ir.Expr:
    """The trip count of a loop, 0 for an empty range."""
    count = trip_count(loop.lo, loop.hi, loop.step)
    return count if is_never_negative(count) else larger(count, integer(0, loop.loc))


def numbers_of(loops: Sequence[ir.For]) -> tuple[ir.Expr, ...]:
    """The number of iterations before the current one, for each of some loops of step 1."""
    return tuple(trip_count(loop.lo, ir.Var(loop.var, loc=loop.loc), 1) for loop in loops)


def most_trips(loop: ir.For) -> int | None:
    """More iterations the loop never has, by the text of its bounds; None where that says nothing.

    `range(max(a, s), min(b, s + 8))` has no more than 8: one of the lower bounds and one of the
    upper ones are a constant apart.
    """
    first, last = loop.bounds if loop.step > 0 else (loop.hi, loop.lo)
    size = abs(loop.step)
    spans = [excess(end, start) for start in operands(first, "max") for end in operands(last, "min")]
    known = [span for span in spans if span is not None]
    return max(0, (min(known) + size - 1) // size) if known else None


def iteration(lo: ir.Expr, step: int, number: ir.Expr) -> ir.Expr:
    """The loop variable's value in the `number`-th iteration."""
    loc = lo.loc
    passed = scaled(number, step)
    return passed if lo == integer(0, loc) else ir.Binary("+", lo, passed, loc=loc)


def shifted(value: ir.Expr, distance: int) -> ir.Expr:
    """`value + distance`, with constants folded."""
    loc = value.loc
    match value:
        case ir.Const(value=int(number)):
            return integer(number + distance, loc)
        case ir.Binary(op="+", lhs=inner, rhs=ir.Const(value=int(number))):
            return shifted(inner, number + distance)
        case _ if distance == 0:
            return value
        case _:
            op = "+" if distance > 0 else "-"
            return ir.Binary(op, value, integer(abs(distance), loc), loc=loc)


def plus(lhs: ir.Expr, rhs: ir.Expr) -> ir.Expr:
    """`lhs + rhs`, with constants folded."""
    if isinstance(lhs, ir.Const):
        lhs, rhs = rhs, lhs
    return shifted(lhs, int(rhs.value.real)) if isinstance(rhs, ir.Const) else binary("+", lhs, rhs)


def product_of_all(factors: Iterable[ir.Expr]) -> ir.Expr:
    return reduce(partial(binary, "*"), factors)


def less(lhs: ir.Expr, rhs: ir.Expr) -> ir.Expr:
    return ir.Compare("<", lhs, rhs, loc=rhs.loc)


def at_least(value: ir.Expr, bound: int) -> ir.Expr:
    return ir.Compare(">=", value, integer(bound, value.loc), loc=value.loc)


def within(value: ir.Expr, low: int, high: int) -> ir.Logical:
    """`low <= value and value <= high`"""
    below = ir.Compare("<=", value, integer(high, value.loc), loc=value.loc)
    return ir.Logical("and", at_least(value, low), below, loc=value.loc)


def is_simple(expr: ir.Expr) -> bool:
    """Whether an expression may be written twice without being computed twice."""
    return isinstance(expr, ir.Var | ir.Const)


def has_iterations(loop: ir.For) -> ir.Compare:
    return ir.Compare("<" if loop.step > 0 else ">", loop.lo, loop.hi, loc=loop.loc)


def in_order(loop: ir.For) -> ir.For:
    """The loop without what it takes to run its iterations in another order."""
    loop = replace(loop, mode=ir.LoopMode.SEQUENTIAL, clauses=None, in_step=False, safelen=None)
    return replace(loop, private=(), last=(), reductions=())


def with_private(loop: ir.For, made: Set[ir.Symbol]) -> ir.For:
    """The loop, unless it runs in order, with those of the scalars that it writes among its private ones."""
    own = ordered(scalars_written(loop.body) & made) if loop.mode is not ir.LoopMode.SEQUENTIAL else ()
    return replace(loop, private=(*loop.private, *own)) if own else loop


def let(name: str, value: ir.Expr, names: NameSupply, out: list[Any]) -> ir.Var:
    """The value in a new scalar, which is assigned in `out`."""
    symbol = names.fresh(name, value.dtype)
    out.append(ir.Assign(symbol, value, loc=value.loc))
    return ir.Var(symbol, loc=value.loc)


def counting(
    var: ir.Symbol,
    count: ir.Expr,
    body: tuple[ir.Stmt, ...],
    mode: ir.LoopMode = ir.LoopMode.SEQUENTIAL,
    reductions: tuple[ir.Reduction, ...] = (),
    loc: Loc | None = None,
) -> ir.For:
    """`for var in range(count)`; one that need not run in order owns what it writes and does not combine."""
    free = mode is not ir.LoopMode.SEQUENTIAL
    own = ordered(scalars_written(body) - {r.symbol for r in reductions}) if free else ()
    loc = loc or count.loc
    return ir.For(var, integer(0, loc), count, 1, body, mode, private=own, reductions=reductions, loc=loc)


def over_elements(
    shape: Sequence[ir.Expr],
    make: Callable[[tuple[ir.Expr, ...]], tuple[ir.Stmt, ...]],
    names: NameSupply,
    mode: ir.LoopMode = ir.LoopMode.SEQUENTIAL,
) -> ir.For:
    """Loops over all elements of a shape. make: the statements for an index."""
    at = tuple(ir.Var(names.fresh("at", DType.INT64), loc=extent.loc) for extent in shape)
    body = make(at)
    for var, extent in zip(reversed(at), reversed(shape), strict=True):
        loop = counting(var.symbol, extent, body, mode)
        body = (loop,)
    return loop


def filling(
    array: ir.Symbol,
    shape: Sequence[ir.Expr],
    value: ir.Expr,
    names: NameSupply,
    mode: ir.LoopMode = ir.LoopMode.SEQUENTIAL,
) -> ir.For:
    """Loops that store a value into all elements of an array of this shape."""
    return over_elements(
        shape, lambda at: (ir.Store(array, at, value, checked=False, loc=value.loc),), names, mode
    )


def if_it_runs(loop: ir.For, body: tuple[ir.Stmt, ...]) -> ir.If:
    """Statements in place of a loop, where that has an iteration."""
    return ir.If(has_iterations(loop), body, loc=loop.loc)


def with_breaks(body: tuple[ir.Stmt, ...], instead: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    """The body with other statements in place of each `break` of its loop."""
    return rewrite_own_statements(body, lambda stmt: instead if isinstance(stmt, ir.Break) else (stmt,))


def rewrite_own(stmt: ir.Stmt, rule: Rule) -> ir.Stmt:
    """The statement with `rule` applied in the expressions that it evaluates itself, and not in the blocks in it."""
    return map_operands(stmt, lambda part: rewrite(part, rule))
