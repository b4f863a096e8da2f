"""Facts that rounds of lowering one function pass on, restarts, and the loops that are being lowered."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from appyc.errors import CompileError, Loc
from appyc.frontend.control.buffer_rotation import Exchange
from appyc.frontend.types.numbers import Either, NumberType, PartedTypesError
from appyc.frontend.types.values import Binding, Conflict, Slot, TupleValue, Value
from appyc.ir.nodes import Symbol
from appyc.ir.types import Container, DType

Env = dict[str, Binding]
T = TypeVar("T")

PresentForm: TypeAlias = tuple[int, tuple[str, ...], str] | str | None
"""The form of a returned value that is None on other paths. A tuple: its length, with what makes it a named
tuple. A str: the name of the list. None: one number."""

MAX_PEELED = 3
"""The most iterations of a loop that are peeled (`control/unrolled_iterations.py`). Types widen, as from integers to
floats to complex numbers; a chain of names whose types depend on each other needs one iteration per name."""

MAX_PARTED = 4
"""The most branches of a function behind which the remaining statements are duplicated into both arms."""


class Restart(Exception):  # noqa: N818  (no error: lowering restarts with the new fact)
    """Raised when lowering finds a fact that earlier statements depend on, so that it must start again."""


class Recursive(Exception):  # noqa: N818  (no error: lowering restarts)
    """Raised when a function is found that is not to be inlined (`frontend/expressions/recursion.py`)."""


class NoValue(Exception):  # noqa: N818  (no error: it ends a path in this round of lowering)
    """Raised where the result of a recursive call is not known yet."""


@dataclass
class Facts:
    """The facts that one round of lowering a function passes to the next. They grow monotonically, so rounds end."""

    flagged: set[str] = field(default_factory=set)
    """Variables that may be read unassigned, each of which has an is-assigned flag."""
    results: tuple[NumberType, ...] | None = None
    """Types of the returned scalars, joined over all returns."""
    late: dict[str, tuple[DType, int]] = field(default_factory=dict)
    """Names that some path binds to an array and another leaves unbound: the element type and number of axes."""
    lists: dict[str, tuple[TupleValue | None, tuple[NumberType, ...]]] = field(default_factory=dict)
    """The item types of lists: `of_tuples` as in ListSlots, and the types of their numbers."""
    array_lists: dict[str, int] = field(default_factory=dict)
    """Lists of arrays, and the number of axes of these."""
    none_lists: set[str] = field(default_factory=set)
    """Lists that are made of None, whose items are replaced later."""
    empty_lists: set[str] = field(default_factory=set)
    """Lists that no statement puts an item into."""
    list_calls: set[tuple[int, int]] = field(default_factory=set)
    """Calls of Python functions that give new lists, by line and column."""
    characters: set[str] = field(default_factory=set)
    """Names that some path binds to a character, and another to one that is written out."""
    texts: set[str] = field(default_factory=set)
    """Names that some path binds to a text, and another to a character or to what is written out."""
    grown: set[str] = field(default_factory=set)
    """Names of texts that get characters at their end: they are lists."""
    hashed: set[str] = field(default_factory=set)
    """Dicts in which characters are looked for."""
    text_results: set[bool] = field(default_factory=set)
    """Whether the function returns a text on some paths."""
    nones: set[str] = field(default_factory=set)
    """Names that some path binds to a number or a tuple, and another to None; each has an is-None flag."""
    none_results: dict[tuple[int, ...], PresentForm] = field(default_factory=dict)
    """Items of the returned value that are None on some paths, with what they are on others."""
    flagged_results: set[int] = field(default_factory=set)
    """Returned scalars that may be ints or floats of Python's, by position, each of which has a flag."""
    choices: set[tuple[int, ...]] = field(default_factory=set)
    """Items of the returned value that are different arrays on different paths."""
    copies_exchanged: bool = False
    """Whether loops use phi storage instead of buffer rotation, since code behind one cannot be versioned."""
    peeled: dict[Loc, int] = field(default_factory=dict)
    """Loops to be peeled, since names change their types in the first iterations, and the number of these."""
    parted: set[Loc] = field(default_factory=set)
    """`if`s whose arms give a name conflicting types, so that the statements behind them are duplicated into both."""
    unsigned: dict[Loc, frozenset[str]] = field(default_factory=dict)
    """Loops whose iterations begin with these names as Python ints from 0 to 2**64 - 1, and leave them such."""
    unrolled: set[Loc] = field(default_factory=set)
    """Loops that are unrolled, since a tuple of arrays is indexed in them."""
    copies_lists: bool = False
    """Whether lists with names are copied where they are returned, since other paths return others."""
    returned_homes: dict[int, tuple[DType, int, Container]] = field(default_factory=dict)
    """Arrays of the returned value, by position, that have phi storage: element type, number of axes, and whether it
    is a list."""
    noted: bool = False
    """Whether this round has found a fact that statements before depend on, and goes on to find more of them."""

    def learn(self, known: set[T], *found: T) -> None:
        """Adds to one of the facts. Raises Restart where that is new."""
        if not known.issuperset(found):
            known |= {*found}
            raise Restart

    def note(self, known: set[T], *found: T) -> None:
        """Adds to one of the facts. Where that is new, lowering starts again behind the function."""
        self.noted |= not known.issuperset(found)
        known |= {*found}

    def settle(self) -> None:
        """Raises Restart where this round has noted a fact."""
        if self.noted:
            raise Restart

    def restarts(self, error: CompileError) -> bool:
        """Whether lowering starts again after an error: with what has been noted, or with paths of conflicting types
        parted."""
        either = error.either if isinstance(error, PartedTypesError) else None
        return self.noted or (either is not None and self.part(either))

    def makes_list(self, call: ast.Call) -> bool:
        """Whether a call of a Python function is known to give a new list; one that a rule has made does not."""
        return hasattr(call, "lineno") and (call.lineno, call.col_offset) in self.list_calls

    def part(self, meeting: Conflict | Either) -> bool:
        """Records the peeling or tail duplication that separates paths of conflicting types; False if neither can.

        meeting: the conflict at a join.
        """
        if meeting.loop is not None and self.peeled.get(meeting.loop, 0) < MAX_PEELED:
            self.peeled[meeting.loop] = self.peeled.get(meeting.loop, 0) + 1
            return True
        together = self.parted | set(meeting.branches)
        if len(together) == len(self.parted) or len(together) > MAX_PARTED:
            return False
        self.parted = together
        return True


@dataclass(frozen=True, slots=True)
class Result:
    """The common result of a function's returns: the structure of the value, and the variables of its scalars."""

    value: Value
    slots: tuple[Slot, ...]
    loc: Loc


@dataclass(frozen=True, slots=True)
class Fork:
    """A point where control flow branches. env: the bindings there. stores: the number of stores before it,
    in program order. needed: names that are live at the join."""

    env: Env
    stores: int
    needed: frozenset[str]


@dataclass
class LoopFrame:
    """A loop that is being lowered. `head` holds the binding of every name at the top of an iteration."""

    head: Env
    fork: Fork
    """The fork at the loop's entry; its live names are those at the top of an iteration, or behind the
    loop."""
    behind: frozenset[str]
    """Names that are live behind the loop."""
    ends: list[Env] = field(default_factory=list)
    """Bindings at each back edge and exit: the body's end, continue, break."""
    asked: bool = False
    """Whether a pragma or `prange` makes its iterations run in any order."""
    broke: Symbol | None = None
    """The flag that `break` sets if the loop has an else clause."""
    exchange: Exchange | None = None
    """The names that exchange arrays between iterations, if any."""
