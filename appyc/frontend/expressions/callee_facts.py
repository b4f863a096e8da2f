"""Facts about the callees of a function that is being lowered: their result types, side effects and free symbols."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any, TypeAlias

from appyc.errors import Loc
from appyc.frontend.source import LibraryText, Source
from appyc.frontend.types.numbers import PY_INT, NumberType
from appyc.frontend.types.values import TupleValue
from appyc.ir.invariance import changed_in
from appyc.ir.nodes import Call, Callee, ForAll, Function, Node, Reduce, Symbol, Var, View
from appyc.ir.visit import arrays_written, rewrite, symbols_of, walk

MOST_INLINED = 8_000
"""The most symbols of a function's bodies that are inlined, in all rounds, where it is large and has several calls."""

LARGE = 150
"""The symbols of a body from which a call costs little beside it."""

Shape: TypeAlias = Any
"""The type of a callee's result: a NumberType, the number of an array parameter, or a value whose parts are such."""


@dataclass
class Inlining:
    """Which functions are too large to be inlined at each of their calls. symbols: what the bodies that were inlined
    have made, by function, in all rounds; sites: the calls. outlined: the functions that are called. refused: those
    that can only be inlined."""

    symbols: dict[object, int] = field(default_factory=dict)
    sites: dict[object, set[Loc]] = field(default_factory=dict)
    outlined: set[object] = field(default_factory=set)
    refused: set[object] = field(default_factory=set)

    def is_too_much(self, key: object, loc: Loc, symbols: int) -> bool:
        """Notes a body that was inlined at a call, with what it has made. Whether the function is to be called."""
        if symbols < LARGE or key in self.refused:
            return False
        self.symbols[key] = self.symbols.get(key, 0) + symbols
        self.sites.setdefault(key, set()).add(loc)
        return self.symbols[key] > MOST_INLINED and len(self.sites[key]) > 1


@dataclass
class Known:
    """The facts that rounds of lowering have found. called: the functions that are not inlined. results: the result
    types of callees, by function and argument types. written: the parameters that callees store into. sources: the
    texts of functions that are inlined, each read and parsed once. inlines_all: a loop has clauses, and could not
    run in parallel around calls that resize lists. list_parameters: of functions, the parameters that may be lists
    of their callers. fields: the types of the objects' fields that are assigned. numpy_lists: where lists that
    nested functions use are made, which get numbers of NumPy's. resized: the parameters of callees that are lists
    whose lengths these change. items: what callees put into lists of functions that are inlined or called
    themselves, by function and name: as in `Facts.lists`. may_call: whether functions are called that need not be:
    texts that a library has in C, and large ones (`inlining`)."""

    may_call: bool = True
    called: set[object] = field(default_factory=set)
    results: dict[Hashable, Shape] = field(default_factory=dict)
    written: dict[Hashable, frozenset[int]] = field(default_factory=dict)
    sources: dict[FunctionType, Source] = field(default_factory=dict)
    inlines_all: bool = False
    list_parameters: dict[ast.FunctionDef, frozenset[str]] = field(default_factory=dict)
    fields: dict[Hashable, NumberType] = field(default_factory=dict)
    numpy_lists: set[Loc] = field(default_factory=set)
    resized: set[tuple[object, str]] = field(default_factory=set)
    items: dict[tuple[object, str], tuple[TupleValue | None, tuple[NumberType, ...]]] = field(
        default_factory=dict
    )
    inlining: Inlining = field(default_factory=Inlining)
    has_empty: bool = False
    """Whether the empty text may be found where characters are."""

    def source_of(self, fn: FunctionType, caller: Source) -> Source:
        """The text of a function that another one calls."""
        if isinstance(caller, LibraryText):
            return caller.of_callee(fn)  # with the location of the call
        if fn not in self.sources:
            self.sources[fn] = caller.of_callee(fn)
        return self.sources[fn]


@dataclass
class Made:
    """A callee in this round. function: None until it has been lowered. stored: the enclosing functions' arrays
    that it stores into. mixed: the results that are Python's own on some paths. library: as in `Callee`."""

    name: str
    key: Hashable
    library: str = ""
    function: Function | None = None
    stored: frozenset[Symbol] = frozenset()
    mixed: frozenset[int] = frozenset()


@dataclass
class Callees:
    """The callees of one round of lowering. asked: those whose result type was not known where it was needed. settled:
    whether the round has relied on nothing but what it has found at its end. inlined: how many texts of `list_loop` are
    inlined. parameters: how many the callees have. objects: the sites of the objects
    that are made. lists: the arrays that are lists which nested functions use, and where these are made."""

    known: Known
    made: dict[Hashable, Made] = field(default_factory=dict)
    objects: list[Hashable] = field(default_factory=list)
    lists: dict[Symbol, Loc] = field(default_factory=dict)
    asked: set[Hashable] = field(default_factory=set)
    settled: bool = True
    inlined: int = 0
    parameters: int = 0

    def is_done(self) -> bool:
        """Whether the facts have reached their fixed point. A callee that never returns is given an integer result."""
        if self.settled:
            for made in self.made.values():
                if made.key not in self.known.results:
                    self.learn(made.key, PY_INT, frozenset())
        return self.settled

    def learn(self, key: Hashable, result: Shape, written: frozenset[int]) -> None:
        known = self.known
        is_known = key in known.results
        if not is_known or (known.results[key], known.written[key]) != (result, written):
            known.results[key], known.written[key] = result, written
            self.settled = self.settled and not is_known and key not in self.asked


def with_callees(function: Function, callees: Callees) -> Function:
    """Lambda lifting: the function with its callees, whose free symbols become hidden parameters."""
    made = {m.name: m.function for m in callees.made.values() if m.function is not None}
    libraries = {m.name: m.library for m in callees.made.values()}
    if not made:
        return function
    hidden, written = _hidden(made)

    def rule(node: Node) -> Node:
        if not isinstance(node, Call):
            return node
        more = (
            View(s, written=s in written[node.callee], loc=node.loc) if s.is_array else Var(s, loc=node.loc)
            for s in hidden[node.callee]
        )
        return replace(node, args=(*node.args, *more))

    def complete(name: str) -> Callee:
        fn = rewrite(made[name], rule)
        return Callee(replace(fn, params=(*fn.params, *hidden[name])), libraries[name])

    return replace(rewrite(function, rule), callees=tuple(map(complete, made)))


def _hidden(made: Mapping[str, Function]) -> tuple[dict[str, list[Symbol]], dict[str, set[Symbol]]]:
    """The free symbols of each callee, those of its own callees included; and the arrays among them that are
    stored into."""
    own = {name: _defined(fn) for name, fn in made.items()}
    called = {name: {n.callee for n in walk(fn) if isinstance(n, Call)} for name, fn in made.items()}
    free = {name: set(symbols_of(fn)) - own[name] for name, fn in made.items()}
    written = {name: arrays_written(fn) - own[name] for name, fn in made.items()}
    for _ in made:  # the length of the longest chain of calls bounds the rounds
        for name in made:
            for other in called[name]:
                free[name] |= free[other] - own[name]
                written[name] |= written[other] - own[name]
    return {name: sorted(symbols, key=lambda s: s.uid) for name, symbols in free.items()}, written


def _defined(fn: Function) -> set[Symbol]:
    """The symbols that a callee defines: parameters, scalars, allocations, axes."""
    tensors = [node for node in walk(fn) if isinstance(node, ForAll | Reduce)]
    positions = {t.position for t in tensors if isinstance(t, ForAll) and t.position is not None}
    return {*fn.params, *changed_in(fn), *positions, *(axis for t in tensors for axis in t.axes)}
