"""How an access moves through memory from one iteration of a loop to the next, by its text.

`a[i, j + 1]` comes to the next element with each j, and to another row with each i. This is for
estimates: where nothing can be told, the answer is the dearer one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import cast

from appyc.ir.nodes import Assign, Binary, Cast, Const, Expr, For, Node, Symbol, Unary, Update, Var
from appyc.ir.types import Layout
from appyc.ir.visit import children, walk

NEARBY = 4
"""Elements from one access to the next that leave most of each line of memory used."""


DEPTH = 3
"""Definitions of scalars by scalars that are looked into: enough for indices, and few enough for
programs of a thousand lines."""


class Pace(Enum):
    """What consecutive iterations find: the same place, the next one (or one nearby), one that is far
    away but always as far, or one that nobody can foretell."""

    STILL = "still"
    STEADY = "steady"
    FAR = "far"
    ANYWHERE = "anywhere"


@dataclass(frozen=True, slots=True)
class Strides:
    """Of the accesses in one loop nest.

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
                case _:
                    pass
        defined = {symbol: found[0] for symbol, found in values.items() if len(found) == 1}
        return cls(defined, frozenset(values.keys() - defined.keys()))

    def pace(self, array: Symbol, index: tuple[Expr, ...], loop: For) -> Pace:
        """How an access moves with the iterations of a loop."""
        steps = [self.coefficient(i, loop.var) for i in index]
        if any(step is None for step in steps):
            return Pace.ANYWHERE
        if not any(steps):
            return Pace.STILL
        last = 0 if array.array.layout is Layout.F else len(index) - 1
        if any(step for axis, step in enumerate(steps) if axis != last):
            return Pace.FAR
        return Pace.STEADY if self.stride(index[last], loop) <= NEARBY else Pace.FAR

    def stride(self, expr: Expr, loop: For) -> int:
        """The distance between an index's values in consecutive iterations, where it has one; else 0."""
        return abs((self.coefficient(expr, loop.var) or 0) * loop.step)

    def coefficient(self, expr: Expr, var: Symbol, depth: int = DEPTH) -> int | None:
        """By how much an index grows with each step of `var`; None where that is no constant."""
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
                parts = [self.coefficient(e, var, depth) for e in _operands(expr)]
                return 0 if all(part == 0 for part in parts) else None

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


def _operands(expr: Expr) -> Iterator[Expr]:
    for child in children(expr):
        yield cast(Expr, child)
