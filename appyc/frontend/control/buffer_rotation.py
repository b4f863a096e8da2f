"""A loop whose names exchange arrays has its body once for each arrangement of them.

    for t in range(n):                  arrangement = 0
        step(a, b)                      for t in range(n):
        a, b = b, a             ->          if arrangement == 0:
    return a                                    step(A, B); arrangement = 1
                                            else:
                                                step(B, A); arrangement = 0
                                        # what follows: the same, once for each arrangement

Nothing is copied, and no array has two names, so that what is known of arrays (who may share memory
with whom, and what depends on what) stays known. An arrangement is what the names are bound to at the
top of an iteration; each end of a path notes the one that it leads to.

Only arrays that exist before the loop are exchanged. A name that is bound to an array which the loop
makes has a home (`control/phi_storage.py`), and so have all names where there would be more than MAX_ARRANGEMENTS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from appyc.errors import Loc
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.types.values import ArrayRef, Binding, Tensor
from appyc.ir.nodes import Assign, Compare, Expr, Stmt, Symbol, Var

MAX_ARRANGEMENTS = 6
"""Three arrays in all orders."""


@dataclass
class Exchange:
    """The names of a loop that exchange arrays, and the arrangements found so far, the first one's first."""

    names: tuple[str, ...]
    state: Symbol
    """Which arrangement it is, in the program."""
    arrangements: list[tuple[Binding, ...]]
    fits: bool = field(default=True)
    """Whether each end of a path has led to one of at most MAX_ARRANGEMENTS."""

    def leave(self, env: Mapping[str, Binding], loc: Loc) -> Stmt:
        """The statement that notes, at the end of a path, the arrangement that it leads to."""
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
        """Whether this is the arrangement that the program is at."""
        return Compare("==", Var(self.state, loc=loc), integer(number, loc), loc=loc)


def exchanged_names(
    start: Mapping[str, Binding], ends: Iterable[Mapping[str, Binding]], needed: frozenset[str]
) -> frozenset[str]:
    """The names that some path of a loop's body ends with another array of those that names had before it.

    All names that have one of these arrays at first are among them: which of them are arranged
    together is settled by their arrays. needed: names that are read at the top, or behind the loop.
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


def in_each(
    exchange: Exchange,
    numbers: range,
    branch: Callable[[Expr, Callable[[], None], Callable[[], None]], None],
    lower: Callable[[int], None],
    loc: Loc,
) -> None:
    """Lowers something for each arrangement, behind tests of which one the program is at.

    branch: makes the two arms of a condition.
    """
    first, rest = numbers[0], numbers[1:]
    if not rest:
        lower(first)
        return
    branch(
        exchange.is_at(first, loc),
        lambda: lower(first),
        lambda: in_each(exchange, rest, branch, lower, loc),
    )
