"""Staging: memory for a part of an array, the copy into it, and the rewritten accesses.

    first = max(lo, 0)                            a[k]  ->  part[k - first]
    count = max(min(size, a.shape[0]), 0)
    part = np.empty((count,), a.dtype)

A part of one element is a scalar. Which part a loop needs is a box of the array (`analysis/accesses/boxes.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from appyc.analysis.accesses.boxes import Axis
from appyc.errors import Loc
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Binary, Const, Expr, Extent, Load, Stmt, Store, Symbol, Update, Var
from appyc.ir.types import ArrayType
from appyc.passes.loop_ops.contract import contracted
from appyc.passes.node_builders import binary, integer, let, over_elements, plus, shifted


@dataclass(frozen=True, slots=True)
class ArrayPart:
    """The part `memory` (an array or a scalar) of `array`.

    axes: the axes of `array` that it has, with the first index on each. sizes: the statements
    that compute its extents; firsts: those that compute the first indices. shape: its extents.
    """

    array: Symbol
    memory: Symbol
    axes: tuple[tuple[int, Expr], ...]
    sizes: tuple[Stmt, ...]
    firsts: tuple[Stmt, ...]
    shape: tuple[Expr, ...]

    def allocation(self, loc: Loc) -> tuple[Stmt, ...]:
        return (Alloc(self.memory, self.shape, zero=False, loc=loc),) if self.memory.is_array else ()

    def index(self, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(_from(index[axis], first) for axis, first in self.axes)

    def load(self, index: tuple[Expr, ...], loc: Loc) -> Expr:
        if not self.memory.is_array:
            return Var(self.memory, loc=loc)
        return Load(self.memory, self.index(index), checked=False, loc=loc)

    def written(self, stmt: Store | Update) -> Stmt:
        """The statement, which tests no index, with the array replaced by the part."""
        own = replace(stmt, atomic=False) if isinstance(stmt, Update) else stmt
        return cast(Stmt, contracted(own, self.array, self.memory, self.index))

    def copied(self, names: NameSupply, loc: Loc) -> Stmt:
        """Loops that fill the part, an array, from its array."""

        def copy(at: tuple[Expr, ...]) -> tuple[Stmt, ...]:
            there = tuple(plus(first, here) for (_, first), here in zip(self.axes, at, strict=True))
            value = Load(self.array, there, checked=False, loc=loc)
            return (Store(self.memory, at, value, checked=False, loc=loc),)

        return over_elements(self.shape, copy, names)


def part_of(
    array: Symbol, box: tuple[Axis, ...], what: str, names: NameSupply, loc: Loc, *, moves: bool
) -> ArrayPart:
    """Memory for a box of an array. What the box says of a loop without iterations is cut to what
    the array has. moves: the first indices change from iteration to iteration, the extents do not.
    """
    axes: list[tuple[int, Expr]] = []
    sizes: list[Stmt] = []
    firsts: list[Stmt] = []
    shape: list[Expr] = []
    zero = integer(0, loc)
    for number, axis in enumerate(box):
        if axis.single:
            continue
        extent: Expr = Extent(array, number, loc=loc)
        first: Expr = zero
        if axis.first is not None and axis.size is not None:
            first = axis.first
            if _number(first) is None:
                first = let(f"{what}_first", binary("max", first, zero), names, firsts)
            rest = extent if moves or _number(first) == 0 else Binary("-", extent, first, loc=loc)
            size = binary("max", binary("min", axis.size, rest), zero)
            extent = let(f"{what}_size", size, names, sizes)
        axes.append((number, first))
        shape.append(extent)
    kind = ArrayType(array.dtype, len(axes)) if axes else array.dtype
    memory = names.fresh(what, kind)
    return ArrayPart(array, memory, tuple(axes), tuple(sizes), tuple(firsts), tuple(shape))


def _number(value: Expr) -> int | None:
    """A constant that is not negative."""
    match value:
        case Const(value=int(number)) if number >= 0:
            return number
        case _:
            return None


def _from(index: Expr, first: Expr) -> Expr:
    number = _number(first)
    return Binary("-", index, first, loc=index.loc) if number is None else shifted(index, -number)
