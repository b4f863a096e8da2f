"""Outlining: the compilable regions of a function that cannot be compiled as a whole become functions.

    def f(A, path):                         def f(A, path):                     # runs in Python
        n = A.shape[0]                          n = A.shape[0]
        log = open(path)             ->         log = open(path)
        for i in range(n):                      total = f_lines_4_5(A, n)       # compiled
            total += A[i]                       log.write(str(total))
        log.write(str(total))

The statement that cannot be compiled stays in Python. For a loop or a branch, its body is split
recursively. Of a statement with a library call, only the call stays (`frontend/library/host_calls.py`).
The statements before and behind it are outlined if they contain a loop or compute with arrays; an empty list that is
first used behind it is made there.
A region's parameters are its live-in names. Its results are the names that it assigns and that are
live-out. Lines and columns stay those of the file. A region that cannot be compiled either is split
again when it is called.

A result that the region may leave unassigned (as a loop's variable after the loop) is returned
with a flag. Not outlined, and so run in Python: statements that jump out of the region
(return, break), regions whose parameters may be unassigned, and regions that assign a variable
that a nested function reads. Loops that stay in Python are reported.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import FunctionType

from appyc.errors import CompileError, LibraryCallError, Loc
from appyc.frontend.desugar.building import assigned, located, read
from appyc.frontend.fault_paths import blocks_of, is_annotated, location_of, path_to
from appyc.frontend.library.host_calls import compiled_callee, named_value, taken_apart
from appyc.frontend.pragmas.pragma_nodes import Pragma
from appyc.frontend.regions import function_of, region_call, region_definition
from appyc.frontend.source import Part, Source
from appyc.frontend.syntax.array_names import ArrayNames
from appyc.frontend.syntax.liveness import captures, live_before, names_assigned, surely_assigned
from appyc.frontend.syntax.tree import (
    is_made_of_nothing,
    is_new_list,
    may_be_container,
    names_in,
    one_by_one,
    parameters_of,
    statements_in,
    walk,
    walrus_names,
)
from appyc.frontend.syntax.trip_counts import iterations
from appyc.ir.names import unused


@dataclass(frozen=True, slots=True)
class PythonPart:
    """A statement that runs in Python, and the reason for it."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Region:
    """An outlined region: its Python function, and its source with its pragmas."""

    name: str
    function: FunctionType
    source: Source


@dataclass(frozen=True, slots=True)
class _Flow:
    """Names around a block: definitely assigned at its start, live behind it, and live at the target of a break or
    continue in it."""

    before: frozenset[str]
    after: frozenset[str] = frozenset()
    at_jump: frozenset[str] = frozenset()


@dataclass
class _Work:
    """The state of splitting one function into outlined regions and Python statements."""

    source: Source
    path: list[ast.stmt]
    """The statements around the fault, and last the one that cannot be compiled."""
    late: dict[ast.AST, frozenset[str]]
    """Nested functions, lambdas and generators, with the names that they read, which must remain variables of the
    function that these are in."""
    worth: Callable[[ast.stmt, bool], bool]
    """Whether compiling a statement is profitable. The second argument: whether it is inside a loop in Python."""
    names: frozenset[str]
    """All local names of the function."""
    definitions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    copies: dict[ast.stmt, ast.stmt] = field(default_factory=dict)
    """Copies of statements, mapped to the originals, which carry the pragmas."""
    reasons: dict[int, str] = field(default_factory=dict)
    """The reason why a loop stays in Python, by line."""
    loops: int = 0
    """The nesting depth of loops in Python around the current statement."""

    def outlined(self, body: list[ast.stmt], flow: _Flow) -> list[ast.stmt]:
        """The statements with calls instead of regions, where outlining is possible and profitable."""
        at = next((k for k, s in enumerate(body) if s in self.path), None)
        if at is None and (at := next((k for k, s in enumerate(body) if jumps_out(s)), None)) is not None:
            stmt = body[at]
            if (
                isinstance(stmt, ast.Return)
                and not isinstance(stmt.value, ast.Name | None)
                and self._pays(stmt)
            ):
                first, stmt = named_value(self.source, stmt)
                self.names |= names_assigned([first])
                body, at = [*body[:at], first, stmt, *body[at + 1 :]], at + 1
        if at is not None:
            return self._around(body[:at], body[at], body[at + 1 :], flow)
        if body and not self._pays(body[0]) and not _makes_container(body[0]):
            rest = replace(flow, before=flow.before | surely_assigned(body[:1]))
            return [body[0], *self.outlined(body[1:], rest)]
        if body and not self._pays(body[-1]):
            return [
                *self.outlined(body[:-1], replace(flow, after=live_before(body[-1:], flow.after))),
                body[-1],
            ]
        return self._region(body, flow) if body else body

    def _pays(self, stmt: ast.stmt) -> bool:
        return self.worth(stmt, self.loops > 0)

    def _around(
        self, left: list[ast.stmt], stmt: ast.stmt, right: list[ast.stmt], flow: _Flow
    ) -> list[ast.stmt]:
        """A statement that runs in Python, and those on both sides of it with their regions outlined."""
        left, waiting = self._without_waiting(left, stmt)
        right = [*waiting, *right]
        behind = live_before(right, flow.after, flow.at_jump)
        live = live_before([stmt], behind, flow.at_jump)
        assigned = flow.before | surely_assigned(left)
        middle = self._in_python(stmt, _Flow(assigned, behind, flow.at_jump))
        return [
            *self.outlined(left, replace(flow, after=live)),
            middle,
            *self.outlined(right, replace(flow, before=assigned | surely_assigned([stmt]))),
        ]

    def _without_waiting(self, left: list[ast.stmt], stmt: ast.stmt) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The statements before one that runs in Python, and those among them that may as well come behind it: each
        makes containers, which only the region that makes them can change."""
        kept: list[ast.stmt] = []
        waiting: list[ast.stmt] = []
        for one in reversed(left):
            between = [*kept, stmt]
            used = names_in(*between).union(*self.late.values())
            if (
                isinstance(one, ast.Assign)
                and (made := one_by_one(one))
                and all(isinstance(name, ast.Name) and is_made_of_nothing(value) for name, value in made)
                and not names_in(one) & used & self.names
                and not any(map(jumps_out, between))
            ):
                waiting.insert(0, one)
            else:
                kept.insert(0, one)
        return kept, waiting

    def _in_python(self, stmt: ast.stmt, flow: _Flow) -> ast.stmt:
        """A statement that runs in Python, with the regions in its blocks outlined."""
        if not isinstance(stmt, ast.For | ast.While | ast.If):
            return stmt
        out = copy.copy(stmt)
        is_loop = not isinstance(stmt, ast.If)
        bound = names_assigned([stmt.target]) if isinstance(stmt, ast.For) else frozenset()
        if is_loop:
            around = flow.after | live_before([stmt], flow.after, flow.at_jump)
            flow = replace(flow, after=around, at_jump=around)
        known = len(self.definitions)
        self.loops += is_loop
        out.body = self.outlined(stmt.body, replace(flow, before=flow.before | bound))
        out.orelse = self.outlined(stmt.orelse, flow)
        self.loops -= is_loop
        if is_loop and len(self.definitions) == known:
            fault = self.path[-1]
            inside = any(n is fault for n in ast.walk(stmt))
            what = f"line {fault.lineno} cannot be compiled" if inside else "it is left by return or break"
            self.reasons.setdefault(stmt.lineno, f"a loop, since {what}")
        return out

    def _region(self, body: list[ast.stmt], flow: _Flow) -> list[ast.stmt]:
        """Outlines the statements as one region, and gives its call; themselves if that is impossible."""
        outputs = sorted(names_assigned(body) & flow.after)
        unsure = frozenset(outputs) - surely_assigned(body)
        # What has a value before keeps that. Between the parts of an expression no flag can be set, so that
        # what `:=` may bind must have one.
        kept = unsure & (flow.before | walrus_names(*body))
        inputs = sorted((live_before(body, frozenset()) & self.names) | kept)
        uncertain = sorted(unsure - set(inputs))
        unbound = sorted(set(inputs) - flow.before)
        inside = set(walk(*body))
        read_late = (names for node, names in self.late.items() if node not in inside)
        seen = sorted(names_assigned(body).intersection(frozenset().union(*read_late)))
        if unbound and len(body) > 1 and not any(isinstance(n, ast.For | ast.While) for n in walk(body[-1])):
            # What its last statement reads of what loops assign, the interpreter may read behind a smaller region.
            last = body[-1:]
            ahead = replace(flow, after=live_before(last, flow.after, flow.at_jump))
            return [*self._region(body[:-1], ahead), *last]
        if unbound or seen:
            why = (
                f"'{unbound[0]}' may not be assigned before it"
                if unbound
                else f"a nested function reads '{seen[0]}'"
            )
            for stmt in body:
                if isinstance(stmt, ast.For | ast.While):
                    self.reasons[stmt.lineno] = f"a loop, since {why}"
            return body
        # A split statement gives several regions of the same lines.
        lines = f"{self.source.name}_lines_{body[0].lineno}_{body[-1].end_lineno}"
        name = unused(lines, self.definitions)
        if isinstance(self.source, Part) and any(n is self.path[-1] for s in body for n in ast.walk(s)):
            return body  # it is this very region that cannot be compiled
        callee = ast.Name(name, ast.Load())
        # A variable that the region may leave unassigned is returned with an is-assigned flag.
        # A region that is split again has flags among its variables, so each level uses fresh names.
        flags = {n: unused(f"{n}_is_assigned", self.names) for n in uncertain}
        given = {n: unused(f"{n}_received", self.names) for n in uncertain}
        starts = [self._set(n, False) for pair in flags.items() for n in pair]
        flagged = [*starts, *(self._flagged(body, flags) if flags else body)]
        self.definitions[name] = region_definition(name, inputs, [*outputs, *flags.values()], flagged)
        received = [given.get(n, n) for n in outputs]
        call = region_call(callee, inputs, [*received, *flags.values()], body[0])
        taken = (ast.If(read(flag), [assigned(n, read(given[n]))], []) for n, flag in flags.items())
        return [call, *map(self._generated, taken)]

    def _flagged(self, body: list[ast.stmt], flags: dict[str, str]) -> list[ast.stmt]:
        """The statements, with an is-assigned flag set behind each assignment of one of the names."""
        out: list[ast.stmt] = []
        for stmt in body:
            if isinstance(stmt, ast.For | ast.While | ast.If):
                new = copy.copy(stmt)
                self.copies[new] = stmt
                bound = names_assigned([stmt.target]) if isinstance(stmt, ast.For) else frozenset()
                new.body = [*(self._set(flags[n], True) for n in sorted(bound & flags.keys())),
                            *self._flagged(stmt.body, flags)]  # fmt: skip
                new.orelse = self._flagged(stmt.orelse, flags)
                out.append(new)
            else:
                out.append(stmt)
                out += [self._set(flags[n], True) for n in sorted(names_assigned([stmt]) & flags.keys())]
        return out

    def _set(self, name: str, value: bool) -> ast.stmt:
        return self._generated(assigned(name, value))

    def _generated(self, stmt: ast.stmt) -> ast.stmt:
        """The statement with the location of the function's first line; it corresponds to no source line."""
        line = self.source.first_line
        return located(stmt, ast.Pass(lineno=line, end_lineno=line, col_offset=0, end_col_offset=0))

    def part(self, node: ast.FunctionDef, pragmas: dict[ast.stmt, Pragma]) -> Part:
        inside = [n for n in ast.walk(node) if isinstance(n, ast.stmt)]
        here = {s: pragmas[o] for s in inside if (o := self.copies.get(s, s)) in pragmas}
        return replace(self.source.part(node, here), is_region=True)


def split(
    fn: FunctionType,
    source: Source,
    pragmas: dict[ast.stmt, Pragma],
    error: CompileError,
    compiled: Callable[[Region], object],
    left: list[PythonPart] | None = None,
    arrays: frozenset[str] = frozenset(),
    *,
    everything: bool = False,
    called: Callable[[FunctionType], object] | None = None,
) -> FunctionType | None:
    """`fn` with its compilable regions replaced by calls of the functions that `compiled` gives for them.

    None where the fault is in an annotated loop (which is then an error), or where no remaining region is
    profitable. Loops that stay in Python are added to `left`.

    arrays: parameters that are arrays. everything: every statement counts as profitable. called: gives the
    replacement of a Python function that calls a library; None to call that function itself.
    """
    location = location_of(error, source)
    path = path_to(error, source)
    if not path or location is None or any(is_annotated(s, pragmas) for s in path):
        return None
    bound = frozenset(a.arg for a in parameters_of(source.ast))
    function = source.ast
    copies: dict[ast.stmt, ast.stmt] = {}
    callees: dict[str, object] = {}
    if isinstance(error, LibraryCallError):
        function, path, copies = _taken_apart(
            fn, source, path, location, called, callees, is_librarys=location == error.loc
        )
    known = ArrayNames(fn, function.body, arrays)
    work = _Work(
        source,
        path,
        captures(source.ast.body),
        lambda s, in_loop: (
            everything
            or known.computes(s)
            or (_has_loop(s) and not (in_loop and iterations([s], {}) <= _FEW))
        ),
        bound | names_assigned([function]),
        copies=copies,
    )
    body = work.outlined(function.body, _Flow(before=bound))
    if left is not None:
        left += [PythonPart(line, reason) for line, reason in sorted(work.reasons.items())]
    if not work.definitions:
        return None
    regions = {
        name: compiled(Region(name, function_of(fn, node, {}), work.part(node, pragmas)))
        for name, node in work.definitions.items()
    }
    host = copy.copy(source.ast)
    host.body = body
    host.decorator_list = []
    return function_of(fn, host, regions | callees)


def _taken_apart(
    fn: FunctionType,
    source: Source,
    path: list[ast.stmt],
    location: Loc,
    called: Callable[[FunctionType], object] | None,
    callees: dict[str, object],
    *,
    is_librarys: bool,
) -> tuple[ast.FunctionDef, list[ast.stmt], dict[ast.stmt, ast.stmt]]:
    """The function with the library call in a separate statement, the path to that, and the copied statements."""
    parts = taken_apart(source, path[-1], location, is_librarys=is_librarys)
    statements, number = parts if parts is not None else ([path[-1]], 0)
    fault = compiled_callee(fn, source, statements[number], location, called, callees)
    statements = [*statements[:number], fault, *statements[number + 1 :]]
    copies = dict.fromkeys(statements, path[-1])
    new_path = [fault]
    for stmt, inner in zip(reversed(path[:-1]), reversed(path[1:]), strict=True):
        out = copy.copy(stmt)
        for name in ("body", "orelse"):
            setattr(out, name, _spliced(getattr(stmt, name, []), inner, statements))
        copies[out] = stmt
        statements = [out]
        new_path.insert(0, out)
    function = copy.copy(source.ast)
    function.body = _spliced(source.ast.body, path[0], statements)
    return function, new_path, copies


def _spliced(body: list[ast.stmt], old: ast.stmt, new: list[ast.stmt]) -> list[ast.stmt]:
    return [s for stmt in body for s in (new if stmt is old else [stmt])]


def _makes_container(stmt: ast.stmt) -> bool:
    """Whether a statement makes a list, a dict or the like, which what follows can only change in the same region."""
    made = one_by_one(stmt) if isinstance(stmt, ast.Assign) else ()
    return any(isinstance(t, ast.Name) and (is_new_list(v) or may_be_container(v)) for t, v in made)


def _has_loop(stmt: ast.stmt) -> bool:
    return any(isinstance(s, ast.For | ast.While) for s in statements_in(stmt))


_FEW = 16
"""The trip count up to which a loop in Python is no slower than the call of an outlined region."""


def jumps_out(stmt: ast.stmt, in_loop: bool = False) -> bool:
    """Whether control may leave the statement by a jump, or the statement cannot be part of a region."""
    if any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) for node in walk(stmt)):
        return True
    match stmt:
        case ast.Return() | ast.Global() | ast.Nonlocal():
            return True
        case ast.Break() | ast.Continue():
            return not in_loop
        case ast.For() | ast.While():
            return any(jumps_out(s, True) for s in stmt.body) or any(
                jumps_out(s, in_loop) for s in stmt.orelse
            )
        case ast.Try() | ast.FunctionDef() | ast.ClassDef() | ast.Match():
            return True
        case _:
            return any(jumps_out(s, in_loop) for block in blocks_of(stmt) for s in block)
