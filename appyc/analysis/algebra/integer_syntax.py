"""Facts about a function's operations on Python ints that follow from its text, whatever bounds its
parameters have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from appyc.analysis.algebra.intervals import last_occurrences, setting_integers
from appyc.ir.nodes import Assign, Binary, Expr, Function, Symbol, Unary, Update, Var
from appyc.ir.types import DType
from appyc.ir.visit import children, scalars_read, walk


@dataclass(frozen=True, slots=True)
class IntegerSyntax:
    """size: how many nodes there are. ended: as `last_occurrences` says. growing: the nodes that are or contain
    operations on Python ints, by `id`. moving: as `setting_integers` says. counters: scalars to which loops only add
    what they do not read them for."""

    size: int
    ended: Mapping[int, set[Symbol]]
    growing: frozenset[int]
    moving: frozenset[int]
    counters: tuple[Symbol, ...]

    @classmethod
    def of(cls, fn: Function) -> IntegerSyntax:
        size = sum(1 for _ in walk(fn.body))
        return cls(size, last_occurrences(fn), _growing(fn), setting_integers(fn.body), _counters(fn))


def _growing(fn: Function) -> frozenset[int]:
    found: set[int] = set()
    for node in reversed(list(walk(fn))):  # parts before what they are parts of
        is_one = isinstance(node, Binary | Unary) and (
            node.python or (isinstance(node, Binary) and node.trap)
        )
        if is_one or any(id(part) in found for part in children(node)):
            found.add(id(node))
    return frozenset(found)


def _counters(fn: Function) -> tuple[Symbol, ...]:
    found: dict[Symbol, None] = {}
    others: set[Symbol] = set()
    for node in walk(fn.body):
        if isinstance(node, Assign) and node.target.dtype is DType.INT64:
            if added_in(node) is not None:
                found.setdefault(node.target)
            elif node.target in scalars_read(node.value):
                others.add(node.target)
        elif isinstance(node, Update) and not node.target.is_array:
            others.add(node.target)
    return tuple(s for s in found if s not in others)


def added_in(node: Assign) -> Expr | None:
    """The increment `e` of `s = s + e` or `s = s - e`, where it does not read `s`; else None."""
    match node.value:
        case Binary(op="+" | "-", lhs=Var(symbol=symbol), rhs=other) if symbol == node.target:
            pass
        case Binary(op="+", lhs=other, rhs=Var(symbol=symbol)) if symbol == node.target:
            pass
        case _:
            return None
    return None if node.target in scalars_read(other) else other
