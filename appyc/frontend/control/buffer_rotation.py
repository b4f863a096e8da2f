"""Buffer rotation: a loop whose names exchange arrays has one copy of its body per rotation of the buffers.

    for t in range(n):                  arrangement = 0
        step(a, b)                      for t in range(n):
        a, b = b, a             ->          if arrangement == 0:
    return a                                    step(A, B); arrangement = 1
                                            else:
                                                step(B, A); arrangement = 0
                                        # the code behind the loop: versioned in the same way

No array is copied, and no array has two names, so alias and dependence information stays exact. A rotation is
the permutation of buffers that the names are bound to at the top of an iteration. Each end of a path stores the
number of the rotation that the next iteration starts with.

Only arrays that exist before the loop are rotated. A name that is bound to an array which the loop allocates has
phi storage (`control/phi_storage.py`). All of the names have phi storage where there would be more than
MAX_ARRANGEMENTS rotations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from appyc.errors import Loc
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.types.values import ArrayRef, Binding, Tensor
from appyc.ir.nodes import Assign, Compare, Expr, Stmt, Symbol, Var

MAX_ARRANGEMENTS = 6
"""The most rotations of one loop: the permutations of three arrays."""


@dataclass
class Exchange:
    """The names of a loop that exchange arrays, and the rotations found so far; the initial one is first."""

    names: tuple[str, ...]
    state: Symbol
    """The program's variable that holds the number of the current rotation."""
    arrangements: list[tuple[Binding, ...]]
    fits: bool = field(default=True)
    """Whether each end of a path has one of at most MAX_ARRANGEMENTS rotations."""

    def leave(self, env: Mapping[str, Binding], loc: Loc) -> Stmt:
        """The statement at the end of a path that stores the number of its rotation."""
        found = tuple(env.get(name, self.arrangements[0][k]) for k, name in enumerate(self.names))
        if found not in self.arrangements:
            known = [binding for arrangement in self.arrangements for binding in arrangement]
            of_these = all(binding in known for binding in found)
            self.fits = self.fits and len(self.arrangements) < MAX_ARRANGEMENTS and of_these
            if not self.fits:
                return Assign(self.state, integer(0, loc), loc=loc)
            self.arrangements.append(found)
        return Assign(self.state, integer(self.arrangements.index(found), loc), loc=loc)

    def bindings(self, number: int) -> dict[str, Binding]:
        return dict(zip(self.names, self.arrangements[number], strict=True))

    def is_at(self, number: int, loc: Loc) -> Expr:
        """The test of whether the rotation of this number is the current one."""
        return Compare("==", Var(self.state, loc=loc), integer(number, loc), loc=loc)


def exchanged_names(
    start: Mapping[str, Binding], ends: Iterable[Mapping[str, Binding]], needed: frozenset[str]
) -> frozenset[str]:
    """The names that exchange arrays in a loop: some path of the body rebinds one to another name's initial array.

    All names that are initially bound to an exchanged array are included. needed: names that are live at the top
    of an iteration or behind the loop.
    """
    own = {name: start[name] for name in needed & start.keys() if isinstance(start[name], ArrayRef | Tensor)}
    arrays = {binding for binding in start.values() if isinstance(binding, ArrayRef | Tensor)}
    met: set[Binding] = set()
    changed: set[str] = set()
    for end in ends:
        for name, binding in own.items():
            now = end.get(name, binding)
            if now != binding and isinstance(now, ArrayRef | Tensor) and now in arrays:
                changed.add(name)
                met.add(now)
    return frozenset(changed | {name for name, binding in own.items() if binding in met})
