"""Piecewise affine functions and Presburger sets for the expressions and conditions of the IR.

Every integer expression has a value here. Where it is affine (`+ - *` by constants, `//`
and `%` by positive constants, minimum, maximum, choice by an affine condition) the value
is exact. Where it is not (`a[idx[i]]`, `n * m`, a narrow type that may wrap) a new name
stands for it: an *opaque* parameter of which nothing is known but how deep in the loops it
may vary. `idx[i]` inside a loop over i differs from iteration to iteration; `n * m` does
not. Equal expressions over equal values share their name, so `A[lab[i], j] = A[lab[i], j] + x`
is seen to touch one element.

Dependence analysis takes 64-bit arithmetic as exact. Where memory safety rests on the
answer (`wary`), only sums and products of values that are known to be small are affine, and
the parameters that take part are listed in `combined`, for a guard to bound them.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.sets.lazy_isl import isl
from appyc.analysis.sets.presburger import Presburger
from appyc.analysis.sets.symbol_table import SMALL, Name, State, SymbolTable, Truth, is_counted
from appyc.ir import nodes as ir
from appyc.ir.affine import LinearForm
from appyc.ir.types import DType
from appyc.ir.visit import walk

FACTOR = 1 << 20

MAX_BIT = 1 << 16
"""Bits below it are told apart: `x ^ 1` is x + 1 - 2 * (x % 2)."""


class Affine(SymbolTable):
    """Converts the expressions of one function.

    written: arrays that the function writes; a load from any other one is as constant as
    its index. wary: do not trust 64-bit arithmetic on values of unknown size. refused: where
    it is given, every `Likely` condition is taken to hold but for those in it, by identity.
    """

    def __init__(
        self,
        sets: Presburger,
        written: set[ir.Symbol],
        wary: bool = False,
        refused: frozenset[int] | None = None,
    ) -> None:
        super().__init__(sets, wary)
        self.refused = refused
        self.combined: set[str] = set()
        self._written = written
        self._opaque: dict[tuple[ir.Expr, tuple[int, ...]], isl.PwAff] = {}

    def value(self, expr: ir.Expr, state: State, depth: int) -> isl.PwAff:
        """The value of an integer expression; an opaque parameter where it is not affine, or too hard to tell."""
        if isinstance(expr, ir.Const | ir.Var | ir.Extent):
            exact = self._exact(expr, state, depth)
        else:
            exact = self.sets.bounded(lambda: self._simple(expr, state, depth), None)
        return exact if exact is not None else self._as_opaque(expr, state, depth)

    def _simple(self, expr: ir.Expr, state: State, depth: int) -> isl.PwAff | None:
        exact = self._exact(expr, state, depth)
        return exact if exact is not None and self.sets.is_simple(exact) and self.fits(exact) else None

    def _exact(self, expr: ir.Expr, state: State, depth: int) -> isl.PwAff | None:
        match expr:
            case ir.Const():
                return self._constant(expr)
            case ir.Var():
                return self.held(expr.symbol, state)
            case ir.Extent():
                return self.extent(expr.array, expr.axis, state)
            case ir.Unary("-", arg) if expr.dtype is DType.INT64:
                value = self.value(arg, state, depth)
                return value.neg() if self._adds_up(value) else None
            case ir.Binary():
                return self._binary(expr, state, depth)
            case ir.Cast(arg=arg) if arg.dtype is DType.BOOL and is_counted(expr.dtype):
                truth = self.truth(arg, state, depth)
                one, zero = self.sets.constant(1), self.sets.constant(0)
                return self.sets.choose(truth.may_hold, one, zero) if truth.exact else None
            case ir.Cast(arg=arg) if _holds(expr.dtype, arg.dtype):
                return self.value(arg, state, depth)
            case ir.Select():
                return self._select(expr, state, depth)
            case ir.Intrinsic("abs", (arg,)) if expr.dtype is DType.INT64:
                value = self.value(arg, state, depth)
                return value.max(value.neg()) if self._adds_up(value) else None
            case _:
                return None

    def _binary(self, expr: ir.Binary, state: State, depth: int) -> isl.PwAff | None:
        if expr.op in ("min", "max", "minimum", "maximum") and is_counted(expr.dtype):
            lhs, rhs = self.value(expr.lhs, state, depth), self.value(expr.rhs, state, depth)
            return lhs.min(rhs) if expr.op.startswith("min") else lhs.max(rhs)
        if expr.dtype is not DType.INT64:
            return None  # a narrower type may wrap
        lhs, rhs = self.value(expr.lhs, state, depth), self.value(expr.rhs, state, depth)
        if expr.op in ("+", "-"):
            if not (self._adds_up(lhs) and self._adds_up(rhs)):
                return None
            return lhs.add(rhs) if expr.op == "+" else lhs.sub(rhs)
        factor = self.sets.constant_of(rhs)
        if factor is None and expr.op == "%":
            return self._remainder(expr, rhs, state, depth)
        if factor is not None or expr.op != "*":
            return None if factor is None else self._by_constant(expr.op, lhs, factor)
        factor = self.sets.constant_of(lhs)
        return self._product(expr, lhs, rhs, state) if factor is None else self._by_constant("*", rhs, factor)

    def _remainder(self, expr: ir.Binary, base: isl.PwAff, state: State, depth: int) -> isl.PwAff:
        """A remainder by a value that is no constant: a name, from 0 to below the value where that is positive."""
        value = self._as_opaque(expr, state, depth)
        (name,) = self.sets.names(value)
        if name not in self.facts:
            small = all(self.names[part].small for part in self.sets.names(base))
            self.names[name] = replace(self.names[name], small=small)
            zero = self.sets.constant(0)
            inside = value.ge_set(zero).intersect(value.lt_set(base))
            self.know(name, inside.union(base.le_set(zero)))
        return value

    def _product(self, expr: ir.Binary, lhs: isl.PwAff, rhs: isl.PwAff, state: State) -> isl.PwAff | None:
        """A sum of named products; None where one of the values is no sum."""
        one, two = self._factor(expr.lhs, lhs, rhs, state), self._factor(expr.rhs, rhs, lhs, state)
        if one is None or two is None or (self.wary and not (one.terms and two.terms)):
            return None
        terms = self.products.times(one, two)
        if terms is None:
            return None
        if self.wary:
            if all(self.names[name].depth == 0 for name in one.terms.keys() | two.terms.keys()):
                return None  # as good with a name for the whole
            if not (self._adds_up(lhs) and self._adds_up(rhs)):
                return None
        return self.sum_of(terms, expr if self._is_fixed(expr, state) else None)

    def _factor(
        self, expr: ir.Expr, value: isl.PwAff, other: isl.PwAff, state: State
    ) -> LinearForm[str] | None:
        """A value that is multiplied by another, as a sum. One that is fixed for the call, while
        the other moves, is kept whole: the `n - 2` of `i*(n - 2) + j` is the length of a row."""
        numbers = self.sets.linear_of(value)
        if numbers is None or self.depth_of(value) > 0 or self.depth_of(other) == 0:
            return numbers
        if len(numbers.terms) == 1 and numbers.constant == 0:
            return numbers
        whole = self._as_opaque(expr, state, 0)
        (name,) = self.sets.names(whole)
        if name not in self.facts:
            self.know(name, whole.eq_set(value))
        return self.sets.linear_of(whole)

    def _by_constant(self, op: str, value: isl.PwAff, number: int) -> isl.PwAff | None:
        if op == "<<" and 0 <= number < 32:
            op, number = "*", 1 << number
        if op == ">>" and 0 <= number < 63:
            op, number = "//", 1 << number
        if op == "&" and number > 0 and number & (number + 1) == 0:
            op, number = "%", number + 1
        if (
            op in ("^", "|", "&")
            and 0 < number < MAX_BIT
            and number & (number - 1) == 0
            and self._adds_up(value)
        ):
            bit = self.sets.scale(self.sets.modulo(self.sets.floor_divide(value, number), 2), number)
            added = self.sets.constant(number).sub(bit)
            return bit if op == "&" else value.add(added) if op == "|" else value.add(added).sub(bit)
        if op == "*" and self._adds_up(value) and abs(number) <= FACTOR:
            product = self.sets.scale(value, number)
            return product if self.sets.largest_factor(product) <= FACTOR else None
        if op == "//" and number > 0:
            return self.sets.floor_divide(value, number)
        if op == "%" and number > 0:
            return self.sets.modulo(value, number)
        return None

    def _constant(self, expr: ir.Const) -> isl.PwAff | None:
        if isinstance(expr.value, complex | float) or abs(expr.value) > SMALL:
            return None
        return self.sets.constant(int(expr.value))

    def _adds_up(self, value: isl.PwAff) -> bool:
        """Whether arithmetic on the value can be trusted not to wrap."""
        if not self.wary:
            return True
        names = set(self.sets.names(value))
        large = {name for name in names if not self.names[name].small}
        if large and not self.sets.is_bounded(value, sorted(large)):  # `min(max(k, 0), n)` is, for any k
            return False
        self.combined |= names - large
        return True

    def is_assumed(self, cond: ir.Expr) -> bool:
        return isinstance(cond, ir.Likely) and self.refused is not None and id(cond) not in self.refused

    def _select(self, expr: ir.Select, state: State, depth: int) -> isl.PwAff | None:
        if not is_counted(expr.dtype):
            return None
        if self.is_assumed(expr.cond):
            return self.value(expr.then, state, depth)
        truth = self.truth(expr.cond, state, depth)
        if not truth.exact:
            return None
        then, orelse = self.value(expr.then, state, depth), self.value(expr.orelse, state, depth)
        return self.sets.choose(truth.may_hold, then, orelse)

    def _as_opaque(self, expr: ir.Expr, state: State, depth: int) -> isl.PwAff:
        small = expr.dtype.bits < 64
        parts = list(walk(expr))
        moving = any(
            (isinstance(part, ir.Load) and part.array in self._written)
            or (isinstance(part, ir.Extent) and (part.array, part.axis) in state.extents)
            or isinstance(part, ir.View)
            for part in parts
        )
        read = [part.symbol for part in parts if isinstance(part, ir.Var)]
        known = [state.scalars[symbol] for symbol in read if symbol in state.scalars]
        if moving or len(known) < len(read):
            return self._new_opaque(depth, None, small)
        key = (expr, tuple(value.version for value in known))
        if key not in self._opaque:
            origin = expr if self._is_fixed(expr, state) else None
            inner = max((v.depth for v in known), default=0)
            self._opaque[key] = self._new_opaque(inner, origin, small or origin is not None)
        return self._opaque[key]

    def _is_fixed(self, expr: ir.Expr, state: State) -> bool:
        """Whether the expression has the same value at the start of the function."""
        for part in walk(expr):
            match part:
                case ir.Var():
                    if part.symbol not in state.scalars or state.scalars[part.symbol].version != 0:
                        return False
                case ir.Extent():
                    if (part.array, part.axis) in state.extents:
                        return False
                case ir.Load() | ir.Select() | ir.Intrinsic() | ir.Draw() | ir.Call() | ir.Binary(trap=True):
                    return False
        return True

    def _new_opaque(self, depth: int, origin: ir.Expr | None, small: bool) -> isl.PwAff:
        return self.named(Name("?", depth, origin, small=small), f"?{self.version()}")

    # ---- conditions

    def truth(self, expr: ir.Expr, state: State, depth: int) -> Truth:
        """The sets on which a condition may hold and may fail; both are everything where nothing is known."""
        found = self.sets.bounded(lambda: self._truth(expr, state, depth), None)
        return found if found is not None else Truth(self.sets.everything, self.sets.everything, False)

    def _truth(self, expr: ir.Expr, state: State, depth: int) -> Truth:
        match expr:
            case ir.Const():
                everything, nothing = self.sets.everything, self.sets.nothing
                return Truth(everything, nothing, True) if expr.value else Truth(nothing, everything, True)
            case ir.Compare() if is_counted(expr.lhs.dtype) and is_counted(expr.rhs.dtype):
                return self._compare(expr, state, depth)
            case ir.Logical() | ir.Binary(op="&" | "|") if expr.dtype is DType.BOOL:
                lhs, rhs = self.truth(expr.lhs, state, depth), self.truth(expr.rhs, state, depth)
                return _both(lhs, rhs) if expr.op in ("and", "&") else _either(lhs, rhs)
            case ir.Unary() if expr.op == "~" and expr.dtype is DType.BOOL:
                return self.truth(expr.arg, state, depth).negated()
            case ir.Likely() if self.is_assumed(expr):
                return Truth(self.sets.everything, self.sets.nothing, True)
            case ir.Var(symbol=symbol) if (known := state.scalars.get(symbol)) is not None:
                flag = self.named(Name(symbol.name, known.depth, small=True), f"{symbol}@{known.version}")
                zero = flag.eq_set(self.sets.constant(0))
                return Truth(zero.complement(), zero, True)
            case ir.Likely():
                return self.truth(expr.arg, state, depth)
            case ir.Cast() if expr.dtype is DType.BOOL and is_counted(expr.arg.dtype):
                value = self.value(expr.arg, state, depth)
                zero = value.eq_set(self.sets.constant(0))
                return Truth(zero.complement(), zero, True)
            case _:
                return Truth(self.sets.everything, self.sets.everything, False)

    def _compare(self, expr: ir.Compare, state: State, depth: int) -> Truth:
        lhs, rhs = self.value(expr.lhs, state, depth), self.value(expr.rhs, state, depth)
        not_above, strict = self.sets.not_above, expr.op in ("<", ">")
        if expr.op in ("==", "!="):
            found = Truth(*self.sets.equal(lhs, rhs), True)
            return found if expr.op == "==" else found.negated()
        if expr.op in (">", ">="):
            lhs, rhs = rhs, lhs
        return Truth(not_above(lhs, rhs, strict=strict), not_above(rhs, lhs, strict=not strict), True)


def _both(lhs: Truth, rhs: Truth) -> Truth:
    return Truth(
        lhs.may_hold.intersect(rhs.may_hold), lhs.may_fail.union(rhs.may_fail), lhs.exact and rhs.exact
    )


def _either(lhs: Truth, rhs: Truth) -> Truth:
    return _both(lhs.negated(), rhs.negated()).negated()


def _holds(wide: DType, narrow: DType) -> bool:
    """Whether every value of `narrow` is the same number in `wide`."""
    if not (is_counted(wide) and (is_counted(narrow) or narrow is DType.BOOL)):
        return False
    if narrow.kind == wide.kind:
        return wide.bits >= narrow.bits
    return wide.kind == "i" and (narrow is DType.BOOL or wide.bits > narrow.bits)
