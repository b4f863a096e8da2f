"""Which arrays a function makes, which are copies of which, and what may be stored into.

A name that is bound to another array in a loop or branch has a copy of it (`frontend/control/phi_storage.py`).
The program must not see the difference: no store may make the array and its copy differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from appyc.errors import Loc, Note, UnsupportedError
from appyc.ir.nodes import Expr, Symbol


@dataclass(frozen=True, slots=True)
class Bound:
    """A name, and where it is bound to another array.

    shares: to what may be a view of the array that it was made from, and may be a copy.
    """

    name: str
    loc: Loc
    shares: bool = False


@dataclass
class Memory:
    """Which arrays a program makes, and which it may not store into any more. One for all calls
    that are inlined into a function."""

    made: set[Symbol] = field(default_factory=set)
    named: dict[Symbol, str] = field(default_factory=dict)
    """The program's first name for an array, which messages and texts have for it."""
    homes: dict[Symbol, Symbol] = field(default_factory=dict)
    """With a scalar that says what a home's name stands for: the number of one of `outside`, or 0."""
    late: set[Symbol] = field(default_factory=set)
    """Homes of names that are unbound at first; they have no elements then."""
    outside: list[Symbol] = field(default_factory=list)
    """Arrays of the caller's that homes have copies of; the first has the number 1."""
    stores: list[tuple[Symbol, Loc]] = field(default_factory=list)
    frozen: dict[Symbol, Bound] = field(default_factory=dict)
    """Arrays that have a copy, or are one, and must stay equal to it, with the name that is bound to both."""
    seen: set[Symbol] = field(default_factory=set)
    """Storage whose array is reachable from elsewhere, other than by the caller from its own arguments."""
    shared: set[Symbol] = field(default_factory=set)
    """Homes whose array, one that the function has made, another name of the function's has too."""
    flows: list[tuple[Symbol, Symbol, Bound, int]] = field(default_factory=list)
    """Copies from one array to another: source, destination, name, and the number of the store from which on
    the two may not differ."""

    usual: dict[Symbol, Expr] = field(default_factory=dict)
    """The lengths in nearly every call: of slices and ranges the distance of the bounds as they are written,
    before these are clipped; of arrays that are combined the length of one of them."""

    def store(self, array: Symbol, loc: Loc) -> None:
        """Notes that the program stores into an array. Raises UnsupportedError where it may not."""
        self.stores.append((array, loc))
        if array in self.frozen:
            raise _would_tell(self.frozen[array], loc, array)

    def freeze(self, array: Symbol, name: Bound, since: int) -> None:
        """Forbids stores into the array, and into copies of it, from the store with the number `since` on."""
        if array in self.frozen:
            return
        self.frozen[array] = name
        for stored, loc in self.stores[since:]:
            if stored == array:
                raise _would_tell(name, loc, array)
        for source, home, its_name, its_since in self.flows:
            if source == array:
                self.freeze(home, its_name, its_since)

    def copied(self, array: Symbol, home: Symbol, name: Bound, since: int) -> None:
        """Notes a copy; it is frozen where its source is."""
        self.flows.append((array, home, name, since))
        if array in self.frozen:
            self.freeze(home, name, since)

    def origins(self, array: Symbol) -> frozenset[Symbol]:
        """The arrays that a home may be a copy of, by way of other homes too."""
        found = {array}
        while True:
            more = {source for source, home, _, _ in self.flows if home in found} - found
            if not more:
                return frozenset(found)
            found |= more


def _would_tell(name: Bound, store: Loc, array: Symbol) -> UnsupportedError:
    if name.shares and array.array.is_list:
        return UnsupportedError(
            f"'{name.name}' has the same rows as the list that it is a slice of", name.loc,
            "copy them: [row[:] for row in x]", related=(Note(store, "this stores into one of the two"),),
        )  # fmt: skip
    if name.shares:
        return UnsupportedError(
            f"whether '{name.name}' is a view of its array in another shape only its strides would tell", name.loc,
            "make it a copy: x.copy().reshape(...)", related=(Note(store, "this stores into one of the two"),),
        )  # fmt: skip
    return UnsupportedError(
        f"'{name.name}' is bound to another array here, and the array that it had before is one that others "
        "may have too", name.loc, f"store instead of binding: `{name.name}[...] = ...`",
        "or store into a copy of it", related=(Note(store, "this stores into it"),),
    )  # fmt: skip
