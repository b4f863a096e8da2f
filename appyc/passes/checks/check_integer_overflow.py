"""Refuses Python-integer arithmetic that may exceed 64 bits."""

from __future__ import annotations

import math

from appyc.errors import UnsupportedError
from appyc.ir.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Extent,
    For,
    Function,
    If,
    Intrinsic,
    Load,
    Node,
    Select,
    Store,
    Symbol,
    Unary,
    Update,
    Var,
    While,
)
from appyc.ir.types import DType
from appyc.ir.visit import children, loops_of, walk
from appyc.passes.pass_context import PassContext

SIZE = 2**30
"""What is taken as the bound of a loop's iterations, an extent, and an integer argument."""

_LIMIT = 2**63 - 1
_ROUNDS = 4


def check_integer_overflow(fn: Function, ctx: PassContext) -> Function:
    """The function, with `exact`; UnsupportedError where an integer may not fit in 64 bits.

    Compiled:                              Refused:
        k += 1                                 f = f * i               grows without bound
        x = (x * 75 + 74) % 65537              a, b = b, a + b         doubles
        total += i * 2                         total += i * i * j      above 2**63 at the limits

    Loops are taken to run less than SIZE times, arrays and integer arguments to be smaller
    than that, and so is what is computed from those alone. Indices are let pass: one that
    wraps is out of range, too.

    Does not handle: telling NumPy's integers, which wrap in Python as well, from Python's.
    They are refused alike.
    """
    if not ctx.options.exact:
        return fn
    bounds = _Magnitudes(fn)
    for loop in _outermost_loops(fn.body):
        for node in _checked(loop):
            if isinstance(node, Assign | Update | Binary | Unary) and bounds.may_overflow(node):
                raise UnsupportedError(
                    "an integer that may grow beyond 64 bits",
                    node.loc,
                    hints=("decorate the function with @appyc.jit if 64 bits are enough",),
                )
    return fn


def _outermost_loops(body: tuple[Node, ...]) -> list[Node]:
    out: list[Node] = []
    for node in body:
        if isinstance(node, For | While):
            out.append(node)
        elif isinstance(node, If):
            out += _outermost_loops((*node.then, *node.orelse))
    return out


def _checked(node: Node) -> list[Node]:
    """Nodes below, but for indices and the bounds of loops."""
    out: list[Node] = []
    stack = [node]
    while stack:
        top = stack.pop()
        out.append(top)
        match top:
            case For():
                stack += top.body
            case Load():
                continue
            case Store():
                stack.append(top.value)
            case Update():
                stack.append(top.value)
            case _:
                stack += children(top)
    return out[::-1]


class _Magnitudes:
    """How large the integers of a function may get: the largest absolute value, or infinity."""

    def __init__(self, fn: Function) -> None:
        self.of_symbol: dict[Symbol, float] = {p: SIZE for p in fn.params if p.dtype is DType.INT64}
        inside = [n for loop in _outermost_loops(fn.body) for n in walk(loop)]
        self.varying = {loop.var for loop in loops_of(fn)} | {
            n.target for n in inside if isinstance(n, Assign | Update)
        }
        in_loop = {id(n) for n in inside}
        changed: set[Symbol] = set()
        for round_ in range(2 * _ROUNDS):
            for symbol in changed if round_ == _ROUNDS else ():
                self.of_symbol[symbol] = math.inf
            changed = {s for n in walk(fn.body) if (s := self._visit(n, id(n) in in_loop)) is not None}
            if not changed:
                return
        for symbol in changed:
            self.of_symbol[symbol] = math.inf

    def may_overflow(self, node: Assign | Update | Binary | Unary) -> bool:
        if isinstance(node, Assign | Update):
            is_integer = not node.target.is_array and node.target.dtype is DType.INT64
            return is_integer and self.of_symbol[node.target] > _LIMIT
        return node.dtype is DType.INT64 and self.magnitude(node) > _LIMIT

    def _visit(self, node: Node, in_loop: bool) -> Symbol | None:
        """The symbol whose bound this statement raised, if any."""
        match node:
            case For():
                low, high = self.magnitude(node.lo), self.magnitude(node.hi)
                return self._raise(node.var, min(max(low, high), low + SIZE * abs(node.step)))
            case Assign() if node.target.dtype is DType.INT64:
                added = _added(node)
                if in_loop and added is not None:
                    return self._raise(node.target, self.magnitude(added) * SIZE)
                return self._raise(node.target, self.magnitude(node.value))
            case Update() if not node.target.is_array and node.target.dtype is DType.INT64:
                return self._raise(node.target, self._updated(node))
            case _:
                return None

    def _updated(self, node: Update) -> float:
        value = self.magnitude(node.value)
        if node.op == "+":
            return value * SIZE
        return math.inf if node.op == "*" else 2 * value

    def _raise(self, symbol: Symbol, magnitude: float) -> Symbol | None:
        if magnitude <= self.of_symbol.get(symbol, 0):
            self.of_symbol.setdefault(symbol, 0)
            return None
        self.of_symbol[symbol] = magnitude
        return symbol

    def magnitude(self, expr: Expr) -> float:
        """A bound of the expression's absolute value."""
        match expr:
            case Const():
                return abs(expr.value)
            case Var():
                # A bool as 1; what is neither int64 nor bool is cast before it counts here.
                return self.of_symbol.get(expr.symbol, 0) if expr.dtype is DType.INT64 else 1
            case Extent() | Load():
                return SIZE
            case Call():
                return _LIMIT  # its own arithmetic is tested
            case Cast():
                inner = expr.arg.dtype
                if inner is DType.INT64:
                    return self.magnitude(expr.arg)
                return 2 ** (inner.bits - 1) if inner.is_integer and inner.bits < 64 else SIZE
            case Select():
                return max(self.magnitude(expr.then), self.magnitude(expr.orelse))
            case Unary():
                return self.magnitude(expr.arg) + 1
            case Intrinsic():
                return max((self.magnitude(a) for a in expr.args), default=0)
            case Binary():
                found = self._binary(expr)
                return min(found, SIZE) if self._is_invariant(expr) else found
            case _:
                return 1

    def _is_invariant(self, expr: Expr) -> bool:
        """Whether it is made of sizes alone: such a product is taken to be a size again."""
        nodes = list(walk(expr))
        names = [n.symbol for n in nodes if isinstance(n, Var)]
        has_sizes = bool(names) or any(isinstance(n, Extent) for n in nodes)
        return has_sizes and not any(isinstance(n, Load) for n in nodes) and not set(names) & self.varying

    def _binary(self, expr: Binary) -> float:
        left, right = self.magnitude(expr.lhs), self.magnitude(expr.rhs)
        match expr.op:
            case "+" | "-":
                return left + right
            case "*":
                return left * right if left and right else 0
            case "//" | ">>":
                return left + 1
            case "%":
                return right
            case "&":
                masks = [s.value for s in (expr.lhs, expr.rhs) if isinstance(s, Const)]
                return min((m for m in masks if isinstance(m, int) and m >= 0), default=2 * max(left, right))
            case "**":
                return _power(left, right)
            case "<<":
                return left * _power(2, right)
            case "min" | "max" | "minimum" | "maximum":
                return max(left, right)
            case _:
                return 2 * max(left, right)


def _power(base: float, exponent: float) -> float:
    return base**exponent if base < math.inf and exponent < 64 else math.inf


def _added(node: Assign) -> Expr | None:
    """What `s = s + e` and `s = s - e` add, where e does not read s."""
    match node.value:
        case Binary(op="+" | "-", lhs=Var(symbol=symbol), rhs=other) if symbol == node.target:
            pass
        case Binary(op="+", lhs=other, rhs=Var(symbol=symbol)) if symbol == node.target:
            pass
        case _:
            return None
    reads = any(isinstance(n, Var) and n.symbol == node.target for n in walk(other))
    return None if reads else other
