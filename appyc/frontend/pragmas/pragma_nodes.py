"""What pragmas ask for, as records.

A name is a word with a location: only the code that builds the IR knows the variables.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TypeAlias

from appyc.errors import Loc


@dataclass(frozen=True, slots=True)
class Name:
    """A variable's name in a clause."""

    text: str
    loc: Loc


@dataclass(frozen=True, slots=True)
class ReductionClause:
    """`reduction(op: names)`."""

    op: str
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class TransformClause:
    """`tile(sizes)`, `unroll(factor)`, `jam(factor)` or `interchange(names)`."""

    name: str
    sizes: tuple[int, ...] = ()
    loops: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class LoopPragma:
    """`parallel for`, `sequential for`, `simd` or `auto` with its clauses.

    request: "parallel", "sequential", "simd" or "auto". `clause_locs` has the location of every
    clause that was written, by name.
    """

    loc: Loc
    request: str
    simd: bool = False
    collapse: int = 1
    block: tuple[int, ...] = ()
    num_warps: int | None = None
    num_stages: int | None = None
    reductions: tuple[ReductionClause, ...] = ()
    private: tuple[Name, ...] = ()
    shared: tuple[Name, ...] = ()
    to: tuple[Name, ...] = ()
    from_: tuple[Name, ...] = ()
    schedule: str | None = None
    chunk: int | None = None
    condition: ast.expr | None = None
    independent: bool = False
    transforms: tuple[TransformClause, ...] = ()
    clause_locs: tuple[tuple[str, Loc], ...] = ()

    @property
    def directive(self) -> str:
        return f"{self.request} for" if self.request in ("parallel", "sequential") else self.request

    @property
    def variables(self) -> frozenset[str]:
        """The variables that clauses name."""
        combined = (name for clause in self.reductions for name in clause.names)
        return frozenset(n.text for n in (*self.private, *self.shared, *self.to, *self.from_, *combined))

    def clause_loc(self, clause: str) -> Loc:
        """Where the clause stands (the first of that name); the pragma itself where it does not."""
        return next((loc for name, loc in self.clause_locs if name == clause), self.loc)


@dataclass(frozen=True, slots=True)
class AtomicPragma:
    loc: Loc
    directive: str = "atomic"


@dataclass(frozen=True, slots=True)
class Dim:
    """`slice => properties`: how one slice of a tensor statement is mapped."""

    loc: Loc
    slice: ast.Slice
    parallel: bool = False
    simd: bool = False
    block: int | None = None
    reduce: str | None = None
    le: int | None = None


@dataclass(frozen=True, slots=True)
class DimsPragma:
    loc: Loc
    dims: tuple[Dim, ...]
    directive: str = "slice => ..."


Pragma: TypeAlias = LoopPragma | AtomicPragma | DimsPragma
