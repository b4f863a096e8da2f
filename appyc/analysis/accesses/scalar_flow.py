"""Data flow of scalars in loops: private, reduction, live-out and loop-carried scalars.

    for i in range(n):       # t: private (assigned before it is read in every iteration)
        t = a[i]             # s: a reduction (only ever updated by one operator)
        s += t * t           # p: carried (read before it is assigned)
        b[i] = t - p
        p = t

Loop variables are not among them: each belongs to its loop alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias, assert_never

from appyc.errors import Loc
from appyc.ir import nodes as ir
from appyc.ir.blocks import constant_range
from appyc.ir.visit import children, contains, loops_of, scalars_read, scalars_written, statements, walk


@dataclass(frozen=True, slots=True)
class CarriedScalar:
    """A loop-carried scalar: an iteration may read the value of an earlier one, or the value is
    live-out and depends on which iterations assign it.

    read: the read of a value from an earlier iteration; None where the value is read after the loop.
    """

    symbol: ir.Symbol
    write: Loc
    read: Loc | None


@dataclass(frozen=True, slots=True)
class LoopScalars:
    """The scalars that a loop writes, by class, each class in order of their first write."""

    private: tuple[ir.Symbol, ...]
    last: tuple[ir.Symbol, ...]
    reductions: tuple[ir.Reduction, ...]
    carried: tuple[CarriedScalar, ...]


class ScalarClasses(Mapping[ir.Symbol, LoopScalars]):
    """The classes of the scalars of a function's `for` loops, by its variable; each is found when it is asked for."""

    def __init__(self, fn: ir.Function) -> None:
        self._fn = fn
        self._loops = {loop.var: loop for loop in loops_of(fn.body)}
        self._flows: _Flows = {}
        self._known: dict[ir.Symbol, LoopScalars] = {}

    @cached_property
    def _live(self) -> dict[ir.Symbol, frozenset[ir.Symbol]]:
        return live_after(self._fn, self._flows)

    def __getitem__(self, var: ir.Symbol) -> LoopScalars:
        known = self._known.get(var)
        if known is None:
            loop = self._loops[var]
            known = self._known[var] = _classify(loop, self._live[var], _inside(loop, self._flows))
        return known

    def __iter__(self) -> Iterator[ir.Symbol]:
        return iter(self._loops)

    def __len__(self) -> int:
        return len(self._loops)


scalars_of = ScalarClasses


def _classify(loop: ir.For, live: frozenset[ir.Symbol], flow: _Flow) -> LoopScalars:
    always = flow.completing
    private: list[ir.Symbol] = []
    last: list[ir.Symbol] = []
    reductions: list[ir.Reduction] = []
    carried: list[CarriedScalar] = []
    operators = _only_operators(loop.body)
    for symbol, write in _writes(loop.body).items():
        if symbol in operators:
            reductions.append(ir.Reduction(operators[symbol], symbol))
        elif symbol in flow.exposed:
            carried.append(CarriedScalar(symbol, write, flow.exposed[symbol]))
        elif symbol not in live:
            private.append(symbol)
        elif always is None or symbol in always:
            private.append(symbol)
            last.append(symbol)
        else:
            carried.append(CarriedScalar(symbol, write, None))
    return LoopScalars(tuple(private), tuple(last), tuple(reductions), tuple(carried))


def _writes(body: Iterable[ir.Stmt]) -> dict[ir.Symbol, Loc]:
    out: dict[ir.Symbol, Loc] = {}
    for node in statements(body):
        if isinstance(node, ir.Assign) or (isinstance(node, ir.Update) and not node.target.is_array):
            out.setdefault(node.target, node.loc)
    return out


def _only_operators(body: tuple[ir.Stmt, ...]) -> dict[ir.Symbol, str]:
    """The reductions of the body: the operator of each scalar that occurs only in updates by that operator."""
    operators: dict[ir.Symbol, set[str]] = {}
    elsewhere: set[ir.Symbol] = set()
    for node in walk(body):
        match node:
            case ir.Update(target=target) if not target.is_array:
                operators.setdefault(target, set()).add(node.op)
            case ir.Assign(target=target):
                elsewhere.add(target)
            case ir.Var(symbol=symbol):
                elsewhere.add(symbol)
    return {s: ops.pop() for s, ops in operators.items() if len(ops) == 1 and s not in elsewhere}


# ---------------------------------------------------------------- within one iteration


@dataclass(slots=True)
class _Flow:
    """The data-flow facts of a block, over the paths through it.

    exposed: read before they are surely assigned, with the first such read. always: assigned
    on every path to the block's end; None where no path gets there. leaving: what is assigned
    on every path that leaves by `continue`; None where there is none. may_break: some path
    leaves the enclosing loop.
    """

    exposed: dict[ir.Symbol, Loc] = field(default_factory=dict)
    always: set[ir.Symbol] | None = field(default_factory=set)
    leaving: set[ir.Symbol] | None = None
    may_break: bool = False

    @property
    def completing(self) -> set[ir.Symbol] | None:
        """The scalars that are assigned on every path that ends an iteration, paths by `continue`
        included."""
        return _meet(self.always, self.leaving)


_Flows: TypeAlias = dict[int, _Flow]
"""The flow through one iteration of each loop asked about so far, by the loop's `id`."""


def exposed(body: tuple[ir.Stmt, ...]) -> dict[ir.Symbol, Loc]:
    """The upward-exposed scalars: those that an iteration reads before it surely assigns them, and where."""
    return _block_flow(body, {}).exposed


def surely_assigned(body: tuple[ir.Stmt, ...]) -> frozenset[ir.Symbol]:
    """The scalars that an iteration assigns on every path to its end."""
    return frozenset(_block_flow(body, {}).completing or ())


def _meet(one: set[ir.Symbol] | None, other: set[ir.Symbol] | None) -> set[ir.Symbol] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _inside(loop: ir.For | ir.While, known: _Flows) -> _Flow:
    """The flow through an iteration. What is assigned before the loop changes nothing in it but what is exposed."""
    flow = known.get(id(loop))
    if flow is None:
        flow = known[id(loop)] = _block_flow(loop.body, known)
    return flow


def _block_flow(body: tuple[ir.Stmt, ...], known: _Flows, holds: ir.Expr | None = None) -> _Flow:
    """holds: a condition that is true where the block begins."""
    flow = _Flow()
    if holds is not None and not any(isinstance(stmt, ir.For) for stmt in body):
        holds = None
    for stmt in body:
        if flow.always is None:
            break  # nothing gets here
        _statement_flow(stmt, flow, flow.always, known, holds)
        if holds is not None and scalars_read(holds) & scalars_written(stmt):
            holds = None
    return flow


def _statement_flow(
    stmt: ir.Stmt, flow: _Flow, assigned: set[ir.Symbol], known: _Flows, holds: ir.Expr | None
) -> None:
    match stmt:
        case ir.Assign():
            _reads(stmt.value, flow, assigned)
            assigned.add(stmt.target)
        case ir.Update():
            _reads(stmt, flow, assigned)
            if not stmt.target.is_array and stmt.target not in assigned:
                flow.exposed.setdefault(stmt.target, stmt.loc)
        case ir.Store() | ir.Alloc() | ir.ForAll() | ir.BoundsCheck():
            _reads(stmt, flow, assigned)
        case ir.If():
            _reads(stmt.cond, flow, assigned)
            then, orelse = _block_flow(stmt.then, known, stmt.cond), _block_flow(stmt.orelse, known)
            for branch in (then, orelse):
                _expose(branch, flow, assigned)
                flow.may_break |= branch.may_break
                if branch.leaving is not None:
                    flow.leaving = _meet(flow.leaving, assigned | branch.leaving)
            _pass_on(flow, _meet(then.always, orelse.always))
        case ir.For():
            for part in (stmt.lo, stmt.hi, *(children(stmt.clauses) if stmt.clauses is not None else ())):
                _reads(part, flow, assigned)
            inner = _inside(stmt, known)
            _expose(inner, flow, assigned)
            if (constant_range(stmt) or _says_that_it_runs(holds, stmt)) and not inner.may_break:
                _pass_on(flow, inner.completing)
        case ir.While():
            _reads(stmt.cond, flow, assigned)
            _expose(_inside(stmt, known), flow, assigned)
        case ir.Break():
            flow.may_break = True
            flow.always = None
        case ir.Continue():
            flow.leaving = _meet(flow.leaving, assigned)
            flow.always = None
        case ir.Fail():
            for number in stmt.values:
                _reads(number, flow, assigned)
            flow.always = None
        case _:
            assert_never(stmt)


def _expose(inner: _Flow, flow: _Flow, assigned: set[ir.Symbol]) -> None:
    """Adds the upward-exposed reads of an inner block to those of the enclosing one, but for scalars that are
    already assigned there."""
    for symbol, loc in inner.exposed.items():
        if symbol not in assigned:
            flow.exposed.setdefault(symbol, loc)


def _pass_on(flow: _Flow, always: set[ir.Symbol] | None) -> None:
    """Behind a block inside, on each path of which these are assigned; None: no path gets there."""
    if always is None or flow.always is None:
        flow.always = None
    else:
        flow.always |= always


def _reads(node: ir.Node, flow: _Flow, assigned: set[ir.Symbol]) -> None:
    for part in walk(node):
        if isinstance(part, ir.Var) and part.symbol not in assigned:
            flow.exposed.setdefault(part.symbol, part.loc)


def _says_that_it_runs(holds: ir.Expr | None, loop: ir.For) -> bool:
    """Whether the condition is `lo < hi` of the loop itself, or demands it."""
    match holds:
        case ir.Logical(op="and", lhs=lhs, rhs=rhs):
            return _says_that_it_runs(lhs, loop) or _says_that_it_runs(rhs, loop)
        case ir.Compare(op=op, lhs=lhs, rhs=rhs):
            same = (op, lhs, rhs) == ("<" if loop.step > 0 else ">", loop.lo, loop.hi)
            return same and not contains(holds, ir.Load)
        case _:
            return False


# ---------------------------------------------------------------- after the loop


def live_after(fn: ir.Function, known: _Flows | None = None) -> dict[ir.Symbol, frozenset[ir.Symbol]]:
    """The live-out scalars of each loop: those whose value at its end may be read, after it or by the next
    iteration of an enclosing loop. known: the flow through loops asked about before."""
    results = [result.value for result in fn.results if not isinstance(result.value, ir.Symbol)]
    walker = _Liveness({} if known is None else known)
    walker.block(fn.body, frozenset(scalars_read(results)), _Exits(frozenset(), frozenset()))
    return walker.after


@dataclass(frozen=True, slots=True)
class _Exits:
    """The live scalars at the targets of `break` and `continue`."""

    on_break: frozenset[ir.Symbol]
    on_continue: frozenset[ir.Symbol]


class _Liveness:
    """Liveness analysis, backward over the program; `after` has the live-out scalars of each loop.

    A block makes live what it reads before it assigns, and kills what it surely assigns. Run
    again, it adds nothing to what one run makes live; so the head of a loop has what is live
    after it and the upward-exposed scalars of an iteration.
    """

    def __init__(self, known: _Flows) -> None:
        self.after: dict[ir.Symbol, frozenset[ir.Symbol]] = {}
        self._known = known

    def block(
        self, body: tuple[ir.Stmt, ...], live: frozenset[ir.Symbol], exits: _Exits
    ) -> frozenset[ir.Symbol]:
        for stmt in reversed(body):
            live = self.statement(stmt, live, exits)
        return live

    def statement(self, stmt: ir.Stmt, live: frozenset[ir.Symbol], exits: _Exits) -> frozenset[ir.Symbol]:
        """The scalars that are live before a statement, given those that are live after it."""
        match stmt:
            case ir.Assign():
                return (live - {stmt.target}) | scalars_read(stmt.value)
            case ir.Store() | ir.Update() | ir.Alloc() | ir.ForAll() | ir.BoundsCheck():
                return live | scalars_read(stmt)
            case ir.If():
                then = self.block(stmt.then, live, exits)
                orelse = self.block(stmt.orelse, live, exits)
                return then | orelse | scalars_read(stmt.cond)
            case ir.For():
                self.after[stmt.var] = live
                head = (*stmt.bounds, *(() if stmt.condition is None else (stmt.condition,)))
                return self._loop(stmt, live, frozenset()) | scalars_read(head)
            case ir.While():
                return self._loop(stmt, live, frozenset(scalars_read(stmt.cond)))
            case ir.Break():
                return exits.on_break
            case ir.Continue():
                return exits.on_continue
            case ir.Fail():
                return frozenset(scalars_read(stmt))
            case _:
                assert_never(stmt)

    def _loop(
        self, loop: ir.For | ir.While, after: frozenset[ir.Symbol], head: frozenset[ir.Symbol]
    ) -> frozenset[ir.Symbol]:
        """The scalars that are live at the head of a loop. head: the scalars that its condition reads."""
        live = after | head | _inside(loop, self._known).exposed.keys()
        self.block(loop.body, live, _Exits(after, live))
        return live
