"""Value ranges of loop-carried integers, by abstract interpretation.

    p, q = 0, 1                         # at the loop:
    for t in range(steps):              #   p = 0 and q = 1, or p = 1 and q = 0
        u[q] = f(u[p])
        p, q = q, p

Abstract interpretation with sets of boxes: a state bounds variables from both sides, and a point of
the program has up to MAX_STATES of them. Where there would be more, one box stands for all, and
grows to the next constant of the function in each round (widening), so that the fix-point is found
in few of them. What is not told by constants, sums of unknown values and elements of arrays, is in no state.
Nor is a variable behind its last occurrence, so that a state is as large as what is live, and not as the function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from appyc.ir.integers import Range, limits, range_of, range_of_binary
from appyc.ir.nodes import (
    MIRRORED,
    NEGATED,
    Assign,
    Break,
    Compare,
    Const,
    Continue,
    Expr,
    Fail,
    For,
    Function,
    If,
    Likely,
    Logical,
    Node,
    Stmt,
    Symbol,
    Update,
    Var,
    While,
)
from appyc.ir.types import DType
from appyc.ir.visit import blocks_of, scalars_written, statements, walk

State: TypeAlias = frozenset[tuple[Symbol, Range]]
"""Bounds of variables; one that is not in it may have any value."""

MAX_STATES = 8
ROUNDS = 6
"""How often a box may grow to the next constant before its bounds are dropped."""

WORK = 64
"""How often each statement may be looked at, on average."""


@dataclass(frozen=True, slots=True)
class Reachable:
    """The states at points of a function. at: for each loop, by `id`, when an iteration may begin or the loop ends
    at its head. behind: for each loop and each `If`, when it has been left. What is in neither is not known."""

    at: dict[int, frozenset[State]] = field(default_factory=dict)
    behind: dict[int, frozenset[State]] = field(default_factory=dict)


def reachable_states(fn: Function) -> Reachable:
    """The reachable states of a function; empty where the analysis would take too long."""
    walker = _Walker(fn)
    try:
        walker.block(fn.body, frozenset([frozenset()]))
    except _TooMuchError:
        return Reachable()
    return walker.found


class _TooMuchError(Exception):
    """The work allowed is done."""


@dataclass(slots=True)
class _Jumps:
    """The states at the jumps that leave a loop's iterations."""

    breaks: set[State] = field(default_factory=set)
    continues: set[State] = field(default_factory=set)


def _last_occurrences(fn: Function) -> dict[int, set[Symbol]]:
    """The scalars that occur in a statement, by its `id`, and neither behind it in its block nor outside that block."""
    left = Counter(symbol for stmt in statements(fn.body) for symbol in _occurring(stmt))
    left.update(
        symbol for result in fn.results if isinstance(result.value, Node) for symbol in _read(result.value)
    )
    out: dict[int, set[Symbol]] = {}

    def block(body: tuple[Stmt, ...]) -> Counter[Symbol]:
        """How often scalars occur that do so elsewhere, too."""
        found: Counter[Symbol] = Counter()
        for stmt in body:
            inside = Counter(_occurring(stmt))
            for inner in blocks_of(stmt):
                inside += block(inner)
            for symbol, number in inside.items():
                found[symbol] += number
                if found[symbol] == left[symbol]:
                    del found[symbol]
                    out.setdefault(id(stmt), set()).add(symbol)
        return found

    block(fn.body)
    return out


def _occurring(stmt: Node) -> Iterator[Symbol]:
    """The scalars that a statement names itself, outside the blocks in it."""
    match stmt:
        case If() | While():
            yield from _read(stmt.cond)
        case For():
            yield from _read((stmt.lo, stmt.hi))
        case _:
            if isinstance(stmt, Assign | Update):
                yield stmt.target
            yield from _read(stmt)


def _read(node: Node | Iterable[Node]) -> Iterator[Symbol]:
    return (part.symbol for part in walk(node) if isinstance(part, Var))


class _Walker:
    def __init__(self, fn: Function) -> None:
        nodes = list(walk(fn.body))
        self.found = Reachable()
        self.tracked = {s for s in scalars_written(fn.body) if s.dtype.is_integer or s.dtype is DType.BOOL}
        self.moving = {id(n) for n in nodes if isinstance(n, For | While | If) and self._writes(n)}
        constants = {int(n.value) for n in nodes if isinstance(n, Const) and isinstance(n.value, int)}
        self.bounds = sorted({c + d for c in constants for d in (-1, 0, 1)})
        self.ended = _last_occurrences(fn)
        self.work = WORK * (len(nodes) + MAX_STATES)
        self.jumps = _Jumps()

    def _writes(self, node: Node) -> bool:
        return bool(scalars_written(node) & self.tracked)

    # ------------------------------------------------------------ statements

    def block(self, body: tuple[Stmt, ...], states: frozenset[State]) -> frozenset[State]:
        """The states behind some statements; none where their end is never reached."""
        for stmt in body:
            self.work -= len(states)
            if self.work < 0:
                raise _TooMuchError
            match stmt:
                case Assign(target=target, value=value) if target in self.tracked:
                    states = frozenset(_with(s, target, range_of(value, dict(s))) for s in states)
                case Update(target=target, op=op, value=value) if target in self.tracked:
                    states = frozenset(_with(s, target, _updated(s, target, op, value)) for s in states)
                case If():
                    states = self._if(stmt, states)
                case For() | While() if id(stmt) in self.moving:
                    states = self._loop(stmt, states)
                case Break():
                    self.jumps.breaks |= states
                    return frozenset()
                case Continue():
                    self.jumps.continues |= states
                    return frozenset()
                case Fail():
                    return frozenset()
                case _:
                    pass
            ended = self.ended.get(id(stmt))
            if ended:
                states = frozenset(frozenset(pair for pair in s if pair[0] not in ended) for s in states)
        return states

    def _if(self, stmt: If, states: frozenset[State]) -> frozenset[State]:
        then = self.block(stmt.then, _where(stmt.cond, True, states))
        orelse = self.block(stmt.orelse, _where(stmt.cond, False, states))
        after = _limited(then | orelse)
        if id(stmt) in self.moving:
            _add(self.found.behind, stmt, after)
        return after

    def _loop(self, loop: For | While, states: frozenset[State]) -> frozenset[State]:
        outer, self.jumps = self.jumps, _Jumps()
        seen, new, rounds = states, states, 0
        while new:
            inside = self._entered(loop, new)
            self.jumps.continues = set()
            after = self.block(loop.body, inside) | self.jumps.continues
            if isinstance(loop, For):
                after = frozenset(_with(s, loop.var, limits(loop.var.dtype)) for s in after)
            both = seen | after
            if len(both) > MAX_STATES or rounds:
                rounds += 1
                both = frozenset([self._widened(_hull(seen), _hull(both), rounds)])
            new, seen = both - seen, both
        _add(self.found.at, loop, seen)
        ended = seen if isinstance(loop, For) else _where(loop.cond, False, seen)
        left = _limited(ended | self.jumps.breaks)
        _add(self.found.behind, loop, left)
        self.jumps = outer
        return left

    def _entered(self, loop: For | While, states: frozenset[State]) -> frozenset[State]:
        if isinstance(loop, While):
            return _where(loop.cond, True, states)
        out = set()
        for state in states:
            known = dict(state)
            first, end = range_of(loop.lo, known), range_of(loop.hi, known)
            bounds = (first[0], end[1] - 1) if loop.step > 0 else (end[0] + 1, first[1])
            if bounds[0] <= bounds[1]:
                out.add(_with(state, loop.var, bounds))
        return frozenset(out)

    def _widened(self, old: State, new: State, rounds: int) -> State:
        """The new box, its bounds that have moved taken to the next constant, or to the type's limits."""
        known = dict(old)
        out = {}
        for symbol, (low, high) in new:
            least, greatest = limits(symbol.dtype)
            before = known.get(symbol, (low, high))
            near = self.bounds if rounds < ROUNDS else []
            if low < before[0]:
                low = max((b for b in near if least <= b <= low), default=least)
            if high > before[1]:
                high = min((b for b in near if high <= b <= greatest), default=greatest)
            if (low, high) != (least, greatest):
                out[symbol] = (low, high)
        return frozenset(out.items())


def _add(found: dict[int, frozenset[State]], stmt: Stmt, states: frozenset[State]) -> None:
    """Adds states at a statement, which is reached several times inside a loop."""
    found[id(stmt)] = _limited(found.get(id(stmt), frozenset()) | states)


def _with(state: State, symbol: Symbol, bounds: Range) -> State:
    rest = (pair for pair in state if pair[0] != symbol)
    return frozenset(rest if bounds == limits(symbol.dtype) else (*rest, (symbol, bounds)))


def _updated(state: State, target: Symbol, op: str, value: Expr) -> Range:
    known, whole = dict(state), limits(target.dtype)
    found = None
    if value.dtype.is_integer or value.dtype is DType.BOOL:
        found = range_of_binary(op, known.get(target, whole), range_of(value, known))
    return found if found is not None and whole[0] <= found[0] and found[1] <= whole[1] else whole


def _limited(states: frozenset[State]) -> frozenset[State]:
    return states if len(states) <= MAX_STATES else frozenset([_hull(states)])


def _hull(states: Iterable[State]) -> State:
    """One box around all."""
    first, *others = (dict(s) for s in states)
    for other in others:
        first = {
            symbol: (min(low, other[symbol][0]), max(high, other[symbol][1]))
            for symbol, (low, high) in first.items()
            if symbol in other
        }
    return frozenset(first.items())


# ---------------------------------------------------------------- conditions


def _where(cond: Expr, holds: bool, states: Iterable[State]) -> frozenset[State]:
    """The states in which a condition may hold, or fail, with what that says of their variables."""
    out = set()
    for state in states:
        narrow = narrowed(cond, holds, state)
        if narrow is not None:
            out.add(narrow)
    return frozenset(out)


def narrowed(cond: Expr, holds: bool, state: State) -> State | None:
    """A state with what a condition says where it holds, or fails; None where it never does."""
    known = dict(state)
    fails, may_hold = range_of(cond, known)
    if holds > may_hold or holds < fails:
        return None
    match cond:
        case Likely(arg=arg):
            return narrowed(arg, holds, state)
        case Logical(op=op, lhs=lhs, rhs=rhs) if (op == "and") == holds:
            left = narrowed(lhs, holds, state)
            return None if left is None else narrowed(rhs, holds, left)
        case Compare(op=op, lhs=Var(symbol=symbol), rhs=other):
            return _compared(state, symbol, op if holds else NEGATED[op], other)
        case Compare(op=op, lhs=other, rhs=Var(symbol=symbol)):
            turned = MIRRORED[op]
            return _compared(state, symbol, turned if holds else NEGATED[turned], other)
        case _:
            return state


def _compared(state: State, symbol: Symbol, op: str, other: Expr) -> State | None:
    """What `symbol op other` says of the variable; None where it cannot be."""
    if not all(t.is_integer or t is DType.BOOL for t in (symbol.dtype, other.dtype)):
        return state
    low, high = dict(state).get(symbol, limits(symbol.dtype))
    least, greatest = range_of(other, dict(state))
    match op:
        case "<":
            high = min(high, greatest - 1)
        case "<=":
            high = min(high, greatest)
        case ">":
            low = max(low, least + 1)
        case ">=":
            low = max(low, least)
        case "==":
            low, high = max(low, least), min(high, greatest)
        case _ if least == greatest:
            low, high = low + (low == least), high - (high == least)
        case _:
            pass
    return _with(state, symbol, (low, high)) if low <= high else None
