"""Parsed pragmas, as records.

A name is a word with a location: only the code that builds the IR knows the variables.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from appyc.errors import Loc
from appyc.ir.nodes import Clauses
from appyc.ir.transforms import TRANSFORMS, Transform


class Name(str):
    """A variable's name in a clause."""

    loc: Loc

    def __new__(cls, text: str, loc: Loc) -> Name:
        name = super().__new__(cls, text)
        name.loc = loc
        return name


@dataclass(frozen=True, slots=True)
class ReductionClause:
    """`reduction(op: names)`."""

    op: str
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class LoopPragma:
    """`parallel for`, `sequential for`, `simd` or `auto` with its clauses.

    clauses: without what they say of variables. clause_locs: the location of every clause that was written, by name.
    """

    clauses: Clauses
    reductions: tuple[ReductionClause, ...] = ()
    private: tuple[Name, ...] = ()
    shared: tuple[Name, ...] = ()
    to: tuple[Name, ...] = ()
    from_: tuple[Name, ...] = ()
    condition: ast.expr | None = None
    clause_locs: tuple[tuple[str, Loc], ...] = ()

    @property
    def loc(self) -> Loc:
        return self.clauses.loc

    @property
    def request(self) -> str:
        return self.clauses.request

    def saying(self, field: str, value: Any) -> LoopPragma:
        """With a clause's value for one of the fields, or of those of `clauses`."""
        match value:
            case ReductionClause():
                return replace(self, reductions=(*self.reductions, value))
            case Transform():
                transforms = sorted((*self.clauses.transforms, value), key=lambda t: TRANSFORMS.index(t.name))
                return replace(self, clauses=replace(self.clauses, transforms=tuple(transforms)))
            case _ if hasattr(self, field):
                return replace(self, **{field: value})
            case _:
                return replace(self, clauses=replace(self.clauses, **{field: value}))

    @property
    def directive(self) -> str:
        return f"{self.request} for" if self.request in ("parallel", "sequential") else self.request

    @property
    def variables(self) -> frozenset[str]:
        """The variables that clauses name."""
        combined = (name for clause in self.reductions for name in clause.names)
        return frozenset((*self.private, *self.shared, *self.to, *self.from_, *combined))

    def clause_loc(self, clause: str) -> Loc:
        """The location of the first clause of that name; that of the pragma itself where there is none."""
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
