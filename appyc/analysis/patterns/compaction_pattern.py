"""Compaction (packing): arrays that a loop fills through a counter which grows between any two uses of it.

    for i in range(n):
        if x[i] > 0.0:
            out[k] = x[i]       every use of k is followed by a step in the same iteration,
            k += 1              so no two iterations name one element of `out`

What holds is a fact of the counter's steps, all of them constants above zero: whether every
use is followed by a step, or every use is preceded by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from appyc.ir.affine import distance
from appyc.ir.array_accesses import array_of, is_access, passed_arrays
from appyc.ir.names import ordered
from appyc.ir.nodes import Const, For, If, Load, Node, Stmt, Store, Symbol, Update
from appyc.ir.schedule import Scan
from appyc.ir.visit import arrays_written, children, walk


@dataclass(frozen=True, slots=True)
class Packed:
    """An array whose elements are named through a counter, at `counter + offset` or further on.

    checked: a negative index would count from the array's end.
    """

    array: Symbol
    counter: Symbol
    offset: int
    checked: bool


@dataclass(frozen=True, slots=True)
class _Use:
    """One access: its node, and by how much the counter surely grows before and after it in an iteration."""

    node: Load | Store | Update
    before: int
    after: int


def packed_arrays(loop: For, scans: tuple[Scan, ...]) -> tuple[Packed, ...]:
    """The arrays written in the loop in which no two of its iterations touch one element, thanks to a counter."""
    found: dict[Symbol, Packed] = {}
    for scan in scans:
        if scan.op != "+" or not _only_grows(loop, scan.symbol):
            continue
        uses = list(_uses(loop.body, scan.symbol, 0, 0))
        for array in ordered(arrays_written(loop.body) - passed_arrays(loop.body) - set(found)):
            packed = _packed(array, scan.symbol, [use for use in uses if array_of(use.node) == array])
            if packed is not None:
                found[array] = packed
    return tuple(found.values())


def _only_grows(loop: For, counter: Symbol) -> bool:
    return all(
        _growth(node, counter) > 0
        for node in walk(loop.body)
        if isinstance(node, Update) and node.target == counter
    )


def _growth(stmt: Stmt, counter: Symbol) -> int:
    """A lower bound of the counter's increase by a statement."""
    match stmt:
        case Update(target=target, value=Const(value=int(step))) if target == counter:
            return step
        case If():
            branches = (sum(_growth(s, counter) for s in block) for block in (stmt.then, stmt.orelse))
            return min(branches)
        case _:
            return 0


def _uses(body: tuple[Stmt, ...], counter: Symbol, before: int, after: int) -> Iterator[_Use]:
    growth = [_growth(stmt, counter) for stmt in body]
    for number, stmt in enumerate(body):
        earlier = before + sum(growth[:number])
        later = after + sum(growth[number + 1 :])
        match stmt:
            case If():
                yield from _accesses(stmt.cond, earlier, later + growth[number])
                yield from _uses(stmt.then, counter, earlier, later)
                yield from _uses(stmt.orelse, counter, earlier, later)
            case For():
                for bound in stmt.bounds:
                    yield from _accesses(bound, earlier, later)
                yield from _uses(stmt.body, counter, earlier, later)
            case _:
                yield from _accesses(stmt, earlier, later)


def _accesses(node: Node, before: int, after: int) -> Iterator[_Use]:
    if is_access(node):
        yield _Use(node, before, after)
    for child in children(node):
        yield from _accesses(child, before, after)


def _packed(array: Symbol, counter: Symbol, uses: list[_Use]) -> Packed | None:
    """The array as packed by the counter along one of its axes, where all uses are."""
    for axis in range(array.array.ndim):
        offsets = [distance(use.node.index[axis], counter) for use in uses]
        known = [offset for offset in offsets if offset is not None]
        if len(known) < len(offsets):
            continue
        pairs = list(zip(uses, known, strict=True))
        followed = all(use.after > offset - min(known) for use, offset in pairs)
        preceded = all(use.before > max(known) - offset for use, offset in pairs)
        if followed or preceded:
            return Packed(array, counter, min(known), any(use.node.checked for use in uses))
    return None
