"""Uses of arrays: the accesses to each array, with the loops around each."""

from __future__ import annotations

from dataclasses import dataclass

from appyc.ir.array_accesses import array_of
from appyc.ir.blocks import Loop, walk_in_loops
from appyc.ir.nodes import Alloc, Expr, Extent, Function, Load, Store, Symbol, Update, View


@dataclass(frozen=True, slots=True)
class Use:
    """An access, and its enclosing loops, outermost first."""

    index: tuple[Expr, ...]
    around: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class Uses:
    """The uses of all arrays of a function, collected in one walk.

    sized: arrays whose lengths are asked for, or change, and those that calls are given. outside: the loops around
    each `Alloc`, by its identity.
    """

    by_array: dict[Symbol, list[Use]]
    sized: frozenset[Symbol]
    outside: dict[int, tuple[Loop, ...]]

    @classmethod
    def of(cls, fn: Function) -> Uses:
        by_array: dict[Symbol, list[Use]] = {}
        sized: set[Symbol] = set()
        outside: dict[int, tuple[Loop, ...]] = {}
        for node, around in walk_in_loops(fn):
            match node:
                case Load() | Store() | Update():
                    by_array.setdefault(array_of(node), []).append(Use(node.index, around))
                case Extent() | View():
                    sized.add(node.array)
                case Alloc():
                    if node.kept is not None:
                        sized.add(node.array)
                    outside.setdefault(id(node), around)
        return cls(by_array, frozenset(sized), outside)

    def loops_within(self, alloc: Alloc, uses: list[Use]) -> tuple[Loop, ...]:
        """The loops that enclose every use of an array but not its allocation."""
        common = [loop for loop in uses[0].around if all(any(loop is x for x in use.around) for use in uses)]
        outside = self.outside[id(alloc)]
        return tuple(loop for loop in common if not any(loop is x for x in outside))
