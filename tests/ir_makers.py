"""Short makers for IR, so that a test reads as the program it is about.

Expressions take Python numbers, symbols or expressions; statements take lists of
statements. `Program` hands out symbols.

    p = Program()
    n, a = p.integer("n"), p.array("a", 1)
    p.function(for_(i := p.index("i"), 0, n, [store(a, [i], 0.0)]))
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TypeAlias

from appyc.errors import Loc
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Binary,
    BoundsCheck,
    Break,
    Cast,
    Clauses,
    Compare,
    Const,
    Continue,
    Expr,
    Extent,
    For,
    Function,
    If,
    Load,
    Logical,
    Reduction,
    Result,
    Select,
    Stmt,
    Store,
    Symbol,
    Unary,
    Update,
    Var,
    While,
)
from appyc.ir.types import ArrayType, DType

Operand: TypeAlias = "int | float | bool | Symbol | Expr"

_lines = count(1)


def here() -> Loc:
    """A place of its own for every node, so that a test can tell places apart."""
    return Loc("program.py", next(_lines), 4)


def expr(value: Operand, dtype: DType = DType.INT64) -> Expr:
    if isinstance(value, Symbol):
        return Var(value, loc=here())
    if isinstance(value, bool):
        return Const(value, DType.BOOL, loc=here())
    if isinstance(value, int):
        return Const(value if dtype.is_integer else float(value), dtype, loc=here())
    if isinstance(value, float):
        return Const(value, DType.FLOAT64, loc=here())
    return value


def _pair(lhs: Operand, rhs: Operand) -> tuple[Expr, Expr]:
    if isinstance(lhs, int | float) and not isinstance(rhs, int | float):
        right = expr(rhs)
        return expr(lhs, right.dtype), right
    left = expr(lhs)
    return left, expr(rhs, left.dtype)


def binary(op: str, lhs: Operand, rhs: Operand, trap: bool = False) -> Binary:
    left, right = _pair(lhs, rhs)
    return Binary(op, left, right, trap, loc=here())


def add(lhs: Operand, rhs: Operand) -> Binary:
    return binary("+", lhs, rhs)


def sub(lhs: Operand, rhs: Operand) -> Binary:
    return binary("-", lhs, rhs)


def mul(lhs: Operand, rhs: Operand) -> Binary:
    return binary("*", lhs, rhs)


def neg(arg: Operand) -> Unary:
    return Unary("-", expr(arg), loc=here())


def not_(arg: Operand) -> Unary:
    return Unary("~", expr(arg), loc=here())


def compare(op: str, lhs: Operand, rhs: Operand) -> Compare:
    left, right = _pair(lhs, rhs)
    return Compare(op, left, right, loc=here())


def both(lhs: Operand, rhs: Operand) -> Logical:
    return Logical("and", expr(lhs), expr(rhs), loc=here())


def either(lhs: Operand, rhs: Operand) -> Logical:
    return Logical("or", expr(lhs), expr(rhs), loc=here())


def select(cond: Operand, then: Operand, orelse: Operand) -> Select:
    left, right = _pair(then, orelse)
    return Select(expr(cond), left, right, loc=here())


def cast(arg: Operand, dtype: DType) -> Cast:
    return Cast(expr(arg), dtype, loc=here())


def extent(array: Symbol, axis: int = 0) -> Extent:
    return Extent(array, axis, loc=here())


def _index(index: Sequence[Operand]) -> tuple[Expr, ...]:
    return tuple(expr(part) for part in index)


def load(array: Symbol, *index: Operand, checked: bool = True) -> Load:
    return Load(array, _index(index), checked, loc=here())


def assign(target: Symbol, value: Operand) -> Assign:
    return Assign(target, expr(value, target.dtype), loc=here())


def store(array: Symbol, index: Sequence[Operand], value: Operand, checked: bool = True) -> Store:
    return Store(array, _index(index), expr(value, array.dtype), checked, loc=here())


def update(target: Symbol, index: Sequence[Operand], op: str, value: Operand, atomic: bool = False) -> Update:
    return Update(target, _index(index), op, expr(value, target.dtype), atomic, loc=here())


def for_(
    var: Symbol,
    lo: Operand,
    hi: Operand,
    body: Sequence[Stmt],
    step: int = 1,
    clauses: Clauses | None = None,
) -> For:
    return For(var, expr(lo), expr(hi), step, tuple(body), clauses=clauses, loc=here())


def pragma(
    request: str = "parallel",
    collapse: int = 1,
    reductions: Sequence[tuple[str, Symbol]] = (),
    private: Sequence[Symbol] = (),
    independent: bool = False,
) -> Clauses:
    return Clauses(
        request,
        collapse=collapse,
        reductions=tuple(Reduction(op, symbol) for op, symbol in reductions),
        private=tuple(private),
        independent=independent,
        loc=here(),
    )


def parallel(
    var: Symbol, lo: Operand, hi: Operand, body: Sequence[Stmt], step: int = 1, **clauses: object
) -> For:
    return for_(var, lo, hi, body, step, pragma(**clauses))  # type: ignore[arg-type]


def while_(cond: Operand, body: Sequence[Stmt]) -> While:
    return While(expr(cond), tuple(body), loc=here())


def if_(cond: Operand, then: Sequence[Stmt], orelse: Sequence[Stmt] = ()) -> If:
    return If(expr(cond), tuple(then), tuple(orelse), loc=here())


def break_() -> Break:
    return Break(loc=here())


def continue_() -> Continue:
    return Continue(loc=here())


def bounds_check(index: Operand, array: Symbol, axis: int = 0) -> BoundsCheck:
    return BoundsCheck(expr(index), extent(array, axis), array.name, axis, loc=here())


def alloc(array: Symbol, *shape: Operand) -> Alloc:
    return Alloc(array, _index(shape), loc=here())


class Program:
    """Symbols for one function; parameters are collected in the order they are made."""

    def __init__(self) -> None:
        self._names = NameSupply()
        self._params: list[Symbol] = []

    def array(self, name: str, ndim: int, dtype: DType = DType.FLOAT64) -> Symbol:
        return self._parameter(self.local_array(name, ndim, dtype))

    def integer(self, name: str, dtype: DType = DType.INT64) -> Symbol:
        return self._parameter(self.local(name, dtype))

    def real(self, name: str) -> Symbol:
        return self._parameter(self.local(name, DType.FLOAT64))

    def index(self, name: str) -> Symbol:
        return self.local(name, DType.INT64)

    def local(self, name: str, dtype: DType = DType.FLOAT64) -> Symbol:
        return self._names.fresh(name, dtype)

    def local_array(self, name: str, ndim: int, dtype: DType = DType.FLOAT64) -> Symbol:
        return self._names.fresh(name, ArrayType(dtype, ndim))

    def function(self, *body: Stmt, results: Sequence[Operand] = ()) -> Function:
        returned = tuple(
            Result(r if isinstance(r, Symbol) and r.is_array else expr(r), loc=here()) for r in results
        )
        tree = {0: None, 1: 0}.get(len(returned), tuple(range(len(returned))))
        return Function("f", tuple(self._params), tuple(body), returned, tree, loc=here())

    def _parameter(self, symbol: Symbol) -> Symbol:
        self._params.append(symbol)
        return symbol
