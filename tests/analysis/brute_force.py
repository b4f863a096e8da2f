"""What a program really touches: an interpreter that writes down every access.

Arrays hold integers. A program is run for concrete parameters, and the analysis is asked
to agree with what happened.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np

from appyc.ir.nodes import (
    Assign,
    Binary,
    Cast,
    Compare,
    Const,
    Expr,
    Extent,
    For,
    Function,
    If,
    Load,
    Logical,
    Node,
    Select,
    Stmt,
    Store,
    Symbol,
    Unary,
    Update,
    Var,
)


class OutOfRange(Exception):
    """An index is outside its array."""


@dataclass(frozen=True)
class Touch:
    """One access that happened: where, in which iteration of each loop around it."""

    node: int
    array: Symbol
    element: tuple[int, ...]
    op: str
    iteration: tuple[tuple[Symbol, int], ...]
    negative: bool


@dataclass
class Tracer:
    """Runs a function; `strict` stops at an index out of range instead of skipping the access."""

    scalars: dict[Symbol, int]
    arrays: dict[Symbol, np.ndarray]
    strict: bool = True
    touches: list[Touch] = field(default_factory=list)
    outside: set[int] = field(default_factory=set)
    iteration: tuple[tuple[Symbol, int], ...] = ()

    def run(self, body: tuple[Stmt, ...]) -> None:
        for stmt in body:
            self.statement(stmt)

    def statement(self, s: Stmt) -> None:
        match s:
            case Assign():
                self.scalars[s.target] = self.value(s.value)
            case Store():
                value, at = self.value(s.value), self.at(s, s.array, "write")
                if at is not None:
                    self.arrays[s.array][at] = value
            case Update(index=()):
                self.scalars[s.target] += self.value(s.value)
            case Update():
                value, at = self.value(s.value), self.at(s, s.target, s.op)
                if at is not None:
                    self.arrays[s.target][at] += value
            case If():
                self.run(s.then if self.value(s.cond) else s.orelse)
            case For():
                outer = self.iteration
                for i in range(self.value(s.lo), self.value(s.hi), s.step):
                    self.scalars[s.var] = i
                    self.iteration = (*outer, (s.var, i))
                    self.run(s.body)
                self.iteration = outer
            case _:
                raise NotImplementedError(type(s).__name__)

    def at(self, node: Load | Store | Update, array: Symbol, op: str) -> tuple[int, ...] | None:
        raw = [self.value(part) for part in node.index]
        shape = self.arrays[array].shape
        element = tuple(i + n if i < 0 else i for i, n in zip(raw, shape, strict=True))
        if any(i < 0 or i >= n for i, n in zip(raw, shape, strict=True)):
            self.outside.add(id(node))
        if any(i < 0 or i >= n for i, n in zip(element, shape, strict=True)):
            if self.strict:
                raise OutOfRange
            return None
        self.touches.append(Touch(id(node), array, element, op, self.iteration, min(raw, default=0) < 0))
        return element

    def value(self, e: Expr) -> int:
        match e:
            case Const():
                return int(e.value)
            case Var():
                return self.scalars[e.symbol]
            case Extent():
                return self.arrays[e.array].shape[e.axis]
            case Load():
                at = self.at(e, e.array, "read")
                return 0 if at is None else int(self.arrays[e.array][at])
            case Unary():
                return -self.value(e.arg) if e.op == "-" else int(not self.value(e.arg))
            case Cast():
                return self.value(e.arg)
            case Binary():
                return self.binary(e.op, self.value(e.lhs), self.value(e.rhs))
            case Compare():
                return self.binary(e.op, self.value(e.lhs), self.value(e.rhs))
            case Logical():
                left = self.value(e.lhs)
                return self.value(e.rhs) if bool(left) == (e.op == "and") else left
            case Select():
                return self.value(e.then if self.value(e.cond) else e.orelse)
            case _:
                raise NotImplementedError(type(e).__name__)

    def binary(self, op: str, a: int, b: int) -> int:
        table = {
            "+": lambda: a + b,
            "-": lambda: a - b,
            "*": lambda: a * b,
            "//": lambda: a // b,
            "%": lambda: a % b,
            "min": lambda: min(a, b),
            "max": lambda: max(a, b),
            "<": lambda: a < b,
            "<=": lambda: a <= b,
            ">": lambda: a > b,
            ">=": lambda: a >= b,
            "==": lambda: a == b,
            "!=": lambda: a != b,
        }
        return int(table[op]())


def at_entry(fn: Function, scalars: dict[Symbol, int], extents: int, strict: bool = True) -> Tracer:
    """A run for these scalars, before its first statement. Arrays are `extents` long, those of several axes at most 6
    in each: bounds of loops may be such extents, and iterations of all be in range of the flat arrays."""
    shapes = {
        s: (extents if s.array.ndim == 1 else min(extents, 6),) * s.array.ndim
        for s in fn.params
        if s.is_array
    }
    arrays = {s: np.zeros(shape, dtype=np.int64) for s, shape in shapes.items()}
    return Tracer(dict(scalars), arrays, strict)


def tracer(fn: Function, scalars: dict[Symbol, int], extents: int, strict: bool = True) -> Tracer:
    """The whole run."""
    out = at_entry(fn, scalars, extents, strict)
    out.run(fn.body)
    return out


def settings(fn: Function, sizes: range) -> list[dict[Symbol, int]]:
    """Every choice of the scalar parameters."""
    scalars = [s for s in fn.params if not s.is_array]
    return [dict(zip(scalars, values, strict=True)) for values in product(sizes, repeat=len(scalars))]


def conflicts(run: Tracer, loop: For) -> bool:
    """Whether two iterations of the loop, in one iteration of those around it, met."""
    seen: dict[tuple[object, ...], list[tuple[int, str]]] = {}
    for touch in run.touches:
        where = [var for var, _ in touch.iteration]
        if loop.var not in where:
            continue
        depth = where.index(loop.var)
        outer, mine = touch.iteration[:depth], touch.iteration[depth][1]
        seen.setdefault((touch.array, touch.element, outer), []).append((mine, touch.op))
    return any(
        i != j and not (p == "read" == q) for touches in seen.values() for i, p in touches for j, q in touches
    )


def holds(node: Node, run: Tracer) -> bool:
    assert isinstance(node, Compare | Logical | Const)
    return bool(run.value(node))
