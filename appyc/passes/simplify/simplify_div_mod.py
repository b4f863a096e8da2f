"""Simplifies quotients and remainders of positions in C order by the lengths that composed them.

    for i in range(0, a.shape[0]):                          for i in range(0, a.shape[0]):
        for j in range(0, a.shape[1]):                          for j in range(0, a.shape[1]):
            p = i * a.shape[1] + j                     ->           b[i, j] = a[i, j]
            b[i, j] = a[p // max(a.shape[1], 1), p % max(a.shape[1], 1)]

A `reshape` produces such positions. All its divisions are removed where the shapes differ only by axes of length 1 or
have the same trailing axes, as in `x.reshape(n, 1, m)` and `(x.ravel() * 2).reshape(x.shape)`. Residual divisions are
opaque to the dependence analysis, and are executed in every iteration.

A loop variable that counts from 0 below a length is a digit to that base. Lengths are compared structurally:
`guard_assumptions` has replaced lengths that are guarded to be equal by one of them. Where
`a.reshape(n // 2, 2, m // 2, 2)` of a matrix with n rows and m columns is guarded to have as many elements as that,
`m // 2 * 2` is m: neither product is larger than its length, and together they are no smaller.

Requires: `copy_propagation` has run; a position does not outgrow 64 bits, as no array has so many elements.

Does not handle: loop variables with a lower bound other than 0; a loop variable that counts through several axes.
"""

from __future__ import annotations

from collections.abc import Mapping

from appyc.ir.affine import operands
from appyc.ir.nodes import Binary, Compare, Const, Expr, Extent, Function, Node, Symbol, Var
from appyc.ir.raising import may_raise
from appyc.ir.types import DType
from appyc.ir.visit import scalars_read, scalars_written, walk, with_body
from appyc.passes.node_builders import integer, plus
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.counted_variables import Ranges, rewrite_in_ranges


def simplify_div_mod(fn: Function, ctx: PassContext) -> Function:
    """The function without divisions whose results are known."""
    if not any(isinstance(n, Binary) and n.op in ("//", "%") for n in walk(fn.body)):
        return fn
    multiples = _multiples(fn)

    def rule(node: Node, ranges: Ranges) -> Node:
        return _divided(node, ranges, multiples) if isinstance(node, Binary) else node

    return with_body(fn, rewrite_in_ranges(fn.body, rule, {}))


def _multiples(fn: Function) -> dict[Expr, Binary]:
    """Lengths that the guards prove to be multiples of a divisor, as products of quotient and divisor."""
    out: dict[Expr, Binary] = {}
    written = scalars_written(fn.body)
    for guard in fn.guards:
        match guard.holds:
            case Compare(op="==", lhs=lhs, rhs=rhs) if not scalars_read(guard.holds) & written:
                for cut, whole in ((lhs, rhs), (rhs, lhs)):
                    out.update(_cut_lengths(operands(cut, "*"), operands(whole, "*")))
    return out


def _cut_lengths(cut: list[Expr], whole: list[Expr]) -> dict[Expr, Binary]:
    """Lengths that are exact multiples: one product has the factors `length // n` and `n` for `length` in the other."""
    out: dict[Expr, Binary] = {}
    for length in whole:
        if length in cut:
            cut.remove(length)
            continue
        quotient = next((f for f in cut if isinstance(f, Binary) and f.op == "//" and f.lhs == length), None)
        if quotient is None or not isinstance(length, Extent) or quotient.rhs not in cut:
            return {}
        cut.remove(quotient)
        cut.remove(quotient.rhs)
        out[length] = Binary("*", quotient, quotient.rhs, loc=length.loc)
    return {} if cut else out


def _divided(node: Binary, ranges: Ranges, multiples: Mapping[Expr, Binary]) -> Expr:
    """A quotient or a remainder without the division, where it is known."""
    if node.op not in ("//", "%") or node.dtype is not DType.INT64:
        return node
    base = _length(node.rhs)
    digits = {var: known.hi for var, known in ranges.items() if known.lo == 0}
    parts = _parts(node.lhs, base, digits) if base is not None else None
    if parts is None and base is not None and base in multiples:
        parts = _parts(node.lhs, multiples[base], digits)
    if parts is None:
        return node
    known = parts[0] if node.op == "//" else parts[1]
    return known if may_raise(known) or not may_raise(node.lhs) else node


def _length(divisor: Expr) -> Expr | None:
    """The length that positions are divided by: `m` in `max(m, 1)`, as an axis of length 0 has no positions."""
    match divisor:
        case Const(value=int(value)) if value > 0:
            return divisor
        case Binary(op="max", lhs=length, rhs=Const(value=1)):
            return length
        case _:
            return None


def _parts(position: Expr, base: Expr, digits: Mapping[Symbol, Expr]) -> tuple[Expr, Expr] | None:
    """The quotient and the remainder of a position, by a base of at least 1; None where they are not known.

    digits: the base of each loop variable around that counts from 0.
    """
    loc = position.loc
    match position, base:
        case Const(value=int(value)), Const(value=int(by)):
            return integer(value // by, loc), integer(value % by, loc)
        case Const(value=0), _:
            return position, position
        case _, Const(value=1):
            return position, integer(0, loc)
        case _, Binary(op="*", lhs=upper, rhs=lower):
            return _parts_by_two(position, upper, lower, digits)
        case Var(symbol=symbol), _ if symbol in digits and _is_within(digits[symbol], base):
            return integer(0, loc), position
        case Binary(op="*", lhs=lhs, rhs=rhs), _ if base in (lhs, rhs):
            return (lhs if rhs == base else rhs), integer(0, loc)
        case Binary(op="+", lhs=lhs, rhs=rhs), _:
            left, right = _parts(lhs, base, digits), _parts(rhs, base, digits)
            if left is None or right is None or not (_is_zero(left[1]) or _is_zero(right[1])):
                return None
            return plus(left[0], right[0]), plus(left[1], right[1])
        case _:
            return None


def _parts_by_two(
    position: Expr, upper: Expr, lower: Expr, digits: Mapping[Symbol, Expr]
) -> tuple[Expr, Expr] | None:
    """Quotient and remainder by a product: divides by its last factor first, and then by the other."""
    last = _parts(position, lower, digits)
    first = _parts(last[0], upper, digits) if last is not None else None
    if last is None or first is None:
        return None
    scaled = Binary("*", first[1], lower, loc=position.loc) if not _is_zero(first[1]) else first[1]
    return first[0], plus(scaled, last[1])


def _is_within(extent: Expr, base: Expr) -> bool:
    """Whether a variable below `extent` is below the base."""
    if isinstance(extent, Const) and isinstance(base, Const):
        return int(extent.value.real) <= int(base.value.real)
    return extent == base


def _is_zero(expr: Expr) -> bool:
    return isinstance(expr, Const) and expr.value == 0
