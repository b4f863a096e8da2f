"""Records of the array accesses of a function, which `access_relations` finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from appyc.analysis.sets.affine_values import Affine
from appyc.analysis.sets.lazy_isl import isl
from appyc.analysis.sets.presburger import Presburger
from appyc.analysis.sets.symbol_table import Truth
from appyc.errors import Loc
from appyc.ir import nodes as ir

DRAW = "draw"
"""The deed of a `Draw`: the generator is read and written, and which numbers it gives depends on the order."""

RESIZE = "resize"
"""The deed of an `Alloc` that keeps elements: any of them may be read, and any written."""

PASS = "pass"
"""The deed of a call that may store into an array: any element of what it is given may be read, and any written."""

READS = ("read", DRAW, RESIZE, PASS)
"""Deeds that need the value that is there, and are no updates."""


@dataclass(frozen=True, slots=True)
class Access:
    """An array access: one node that reads or writes elements of an array.

    op: "read", "write", DRAW, RESIZE, PASS, or the operator of an `Update`. loops: the enclosing loops, outermost
    first (`While` included); the variable of the n-th has depth n in the names of `domain`.
    domain: the iteration domain, or a superset of it (`approximate`). index: as written, before a
    negative one is counted from the end. allocated: how many of the loops are around the allocations of the array that
    reach the access; None where none may, as for a parameter.
    """

    array: ir.Symbol
    op: str
    atomic: bool
    checked: bool
    loc: Loc
    loops: tuple[ir.For | ir.While, ...]
    domain: isl.Set
    index: tuple[isl.PwAff, ...]
    extents: tuple[isl.PwAff, ...]
    approximate: bool
    allocated: int | None

    @property
    def name(self) -> str:
        """The name of the array."""
        return self.array.name

    @property
    def deed(self) -> str:
        """The verb for this access in messages."""
        return {
            "read": "reads",
            "write": "writes",
            DRAW: "draws from",
            RESIZE: "resizes",
            PASS: "passes",
        }.get(self.op, "updates")

    @property
    def writes(self) -> bool:
        return self.op != "read"

    @property
    def updates(self) -> bool:
        return self.op not in ("write", *READS)


@dataclass(frozen=True, slots=True)
class CheckedIndex:
    """A `BoundsCheck` as an access to one axis of twice the extent: `i + n` for the index `i`, of which a negative one
    counts from the end. axis: the array's own. domain, approximate: as in `Access`."""

    name: str
    axis: int
    loc: Loc
    domain: isl.Set
    index: tuple[isl.PwAff]
    extents: tuple[isl.PwAff]
    approximate: bool
    checked: bool = True


@dataclass(frozen=True, slots=True)
class Assumption:
    """A `Likely` node, the iterations that evaluate it, and where it holds among them."""

    node: ir.Likely
    domain: isl.Set
    truth: Truth


@dataclass(slots=True)
class FunctionAccesses:
    """The accesses of a function and the names that occur in their sets.

    variables: the name of each loop's variable. around: the loops around each loop. ranges: the
    values of each loop's variable between its bounds, whatever stands around the loop. limits: values
    that the variable is at least, each of them, and those that it is at most.
    returned: arrays that the function returns. entries: for each loop when it is
    reached. guards: the function's own, which say for which parameters it runs. assumptions:
    the `Likely` conditions, which nearly always hold, one for each node that tests them. by_loop:
    the accesses in the body of each loop, by its variable, once they were asked for.
    """

    affine: Affine
    accesses: list[Access] = field(default_factory=list)
    checked_indices: list[CheckedIndex] = field(default_factory=list)
    variables: dict[ir.Symbol, str] = field(default_factory=dict)
    returned: set[ir.Symbol] = field(default_factory=set)
    assumptions: list[Assumption] = field(default_factory=list)
    around: dict[ir.Symbol, tuple[ir.For | ir.While, ...]] = field(default_factory=dict)
    ranges: dict[ir.Symbol, isl.Set] = field(default_factory=dict)
    limits: dict[ir.Symbol, tuple[list[isl.PwAff], list[isl.PwAff]]] = field(default_factory=dict)
    entries: dict[ir.Symbol, isl.Set] = field(default_factory=dict)
    guards: list[Truth] = field(default_factory=list)
    by_loop: dict[ir.Symbol, list[Access]] = field(default_factory=dict)

    @property
    def guarded(self) -> isl.Set:
        """The parameters for which all guards hold, or more."""
        return reduce(lambda known, truth: known.intersect(truth.may_hold), self.guards, self.sets.everything)

    @property
    def sets(self) -> Presburger:
        return self.affine.sets

    def within(self, loop: ir.For) -> list[Access]:
        """The accesses in a loop's body, once all accesses are known."""
        if not self.by_loop:
            for access in self.accesses:
                for around in access.loops:
                    if isinstance(around, ir.For):
                        self.by_loop.setdefault(around.var, []).append(access)
        return self.by_loop.get(loop.var, [])

    def number_of(self, access: Access, loop: ir.For) -> int:
        """The number of an access among those in a loop's body."""
        return next(number for number, other in enumerate(self.within(loop)) if other is access)

    def is_in(self, loop: ir.For, loops: tuple[ir.For | ir.While, ...]) -> bool:
        """Whether the loop, identified by its variable, is one of these enclosing loops."""
        depth = len(self.around[loop.var])
        return len(loops) > depth and isinstance(at := loops[depth], ir.For) and at.var == loop.var
