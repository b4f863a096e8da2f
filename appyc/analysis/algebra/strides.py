"""Memory strides of accesses in the loops around them, by syntax.

`a[i, j + 1]` has stride 1 in j and a stride of one row in i. The strides are for cost
estimates: where a stride is unknown, the more expensive class is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import cast

from appyc.ir.nodes import Assign, Binary, Cast, Const, Expr, For, Node, Symbol, Unary, Update, Var
from appyc.ir.types import Layout
from appyc.ir.visit import children, walk

NEARBY = 4
"""The largest stride, in elements, at which most of each cache line is used."""


DEPTH = 3
"""The depth to which definitions of scalars are followed: enough for indices, and small enough for
programs of a thousand lines."""


class Pace(Enum):
    """The class of an access's stride in a loop: zero (the same element), small (the next element or one nearby),
    large but constant, or unknown."""

    STILL = "still"
    STEADY = "steady"
    FAR = "far"
    ANYWHERE = "anywhere"


@dataclass(frozen=True, slots=True)
class Strides:
    """The strides of the accesses in one loop nest.

    defined: scalars with one assignment in the nest, and its value. changing: all others that it
    assigns.
    """

    defined: Mapping[Symbol, Expr]
    changing: frozenset[Symbol]

    @classmethod
    def of(cls, loop: For) -> Strides:
        values: dict[Symbol, list[Expr]] = {}
        for node in walk(loop.body):
            match node:
                case Assign():
                    values.setdefault(node.target, []).append(node.value)
                case Update() if not node.target.is_array:
                    values.setdefault(node.target, []).extend((node.value, node.value))
        defined = {symbol: found[0] for symbol, found in values.items() if len(found) == 1}
        return cls(defined, frozenset(values.keys() - defined.keys()))

    def pace(self, array: Symbol, index: tuple[Expr, ...], loop: For) -> Pace:
        """The class of an access's stride in a loop."""
        steps = [self.coefficient(i, loop.var) for i in index]
        if any(step is None for step in steps):
            return Pace.ANYWHERE
        if not any(steps):
            return Pace.STILL
        last = 0 if array.array.layout is Layout.F else len(index) - 1
        if any(step for axis, step in enumerate(steps) if axis != last):
            return Pace.FAR
        return Pace.STEADY if self.stride(index[last], loop) <= NEARBY else Pace.FAR

    def is_adjacent(self, array: Symbol, index: tuple[Expr, ...], loop: For) -> bool:
        """Whether each iteration of a loop accesses the element of the one before, or the next one in memory."""
        steps = sum(self.coefficient(i, loop.var) or 0 for i in index) * loop.step
        pace = self.pace(array, index, loop)
        return pace is Pace.STILL or (pace is Pace.STEADY and steps == 1)

    def stride(self, expr: Expr, loop: For) -> int:
        """The absolute stride of an index between consecutive iterations, where it is constant; else 0."""
        return abs((self.coefficient(expr, loop.var) or 0) * loop.step)

    def coefficient(self, expr: Expr, var: Symbol, depth: int = DEPTH) -> int | None:
        """The coefficient of a loop variable in an index; None where it is not constant."""
        match expr:
            case Var() if expr.symbol == var:
                return 1
            case Var() if expr.symbol in self.defined:
                return self.coefficient(self.defined[expr.symbol], var, depth - 1) if depth else None
            case Var():
                return None if expr.symbol in self.changing else 0
            case Unary(op="-"):
                inner = self.coefficient(expr.arg, var, depth)
                return None if inner is None else -inner
            case Cast():
                return self.coefficient(expr.arg, var, depth)
            case Binary(op="+" | "-"):
                lhs, rhs = self.coefficient(expr.lhs, var, depth), self.coefficient(expr.rhs, var, depth)
                if lhs is None or rhs is None:
                    return None
                return lhs + rhs if expr.op == "+" else lhs - rhs
            case Binary(op="*", rhs=Const(value=int(factor))):
                inner = self.coefficient(expr.lhs, var, depth)
                return None if inner is None else inner * factor
            case Binary(op="*", lhs=Const(value=int(factor))):
                inner = self.coefficient(expr.rhs, var, depth)
                return None if inner is None else inner * factor
            case Binary(op="//" | "%", rhs=Const()):  # moves less, or the same way most of the time
                return self.coefficient(expr.lhs, var, depth)
            case _:
                parts = [self.coefficient(cast(Expr, e), var, depth) for e in children(expr)]
                return 0 if all(part == 0 for part in parts) else None

    def moving_parts(self, node: Node, variables: frozenset[Symbol]) -> set[int]:
        """The parts of a statement or an expression, by `id`, that `depends_on` something."""
        found: set[int] = set()
        for part in reversed(list(walk(node))):  # what a part consists of comes before it
            is_moving = isinstance(part, Var) and self.depends_on(part, variables)
            if is_moving or any(id(inner) in found for inner in children(part)):
                found.add(id(part))
        return found

    def depends_on(self, expr: Node, variables: frozenset[Symbol], depth: int = DEPTH) -> set[Symbol]:
        """The loop variables and changing scalars that a value depends on."""
        out: set[Symbol] = set()
        for node in walk(expr):
            if not isinstance(node, Var):
                continue
            if node.symbol in self.defined and depth:
                out |= self.depends_on(self.defined[node.symbol], variables, depth - 1)
            elif node.symbol in variables or node.symbol in self.changing or node.symbol in self.defined:
                out.add(node.symbol)
        return out
