"""Abstract interpretation of integers: marks the operations on Python ints that may leave 64 bits, and bounds loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from appyc.analysis.accesses.accesses import own_statements
from appyc.analysis.algebra.integer_bounds import (
    INT64,
    ROUNDS,
    Env,
    is_tracked,
    join,
    joined,
    limited,
    put,
    where,
    widened,
)
from appyc.ir.integers import Range, is_within, limits, range_of_binary
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Assign,
    Binary,
    Break,
    Cast,
    Compare,
    Const,
    Continue,
    Expr,
    Fail,
    For,
    Function,
    If,
    Logical,
    Stmt,
    Symbol,
    Update,
    Var,
    While,
)
from appyc.ir.types import DType
from appyc.ir.visit import map_children, rename, scalars_read, scalars_written, walk
from appyc.passes.checks.integer_operations import MOST_RUNS, IntegerOperations
from appyc.passes.node_builders import both, fresh_variables, integer, negated

TESTED = tuple((low, (1 << bits) - 1) for low in (INT64[0], 1 - (1 << 61)) for bits in (62, 61))
"""Bounds that a loop may test of a scalar that it carries, the cheapest and loosest first. Beyond them Python runs the
call, so that closer ones would not pay: an operation that traps is better."""

COUNTER_ROUNDS = 4
"""After so many rounds scalars whose bounds still grow are taken for no counters."""

WORK, ALWAYS = 10, 8_000
"""How often each statement may be looked at, on average, and how many more in a function of any size."""


@dataclass(frozen=True, slots=True)
class _Fixed:
    """A loop whose operations are marked. head: what holds when an iteration may begin; after: behind the loop."""

    head: Env
    body: tuple[Stmt, ...]
    cond: Expr | None
    after: Env | None


@dataclass(slots=True)
class _Jumps:
    breaks: list[Env] = field(default_factory=list)
    continues: list[Env] = field(default_factory=list)


class IntegerFlow(IntegerOperations):
    """One run over a function. known: bounds of parameters and of arrays' extents. leave: what stands where a scalar
    of a loop is beyond the bounds that are assumed for it; None where nothing may be assumed, so that each operation
    is tested.

    tests: how many bounds of scalars loops test.
    """

    def __init__(
        self, fn: Function, known: Mapping[Symbol, Range], leave: Fail | None, *, assumes: bool
    ) -> None:
        super().__init__(fn)
        self.fn, self.known, self.leave, self.assumes = fn, dict(known), leave, assumes
        nodes = list(walk(fn.body))
        self.most_work = WORK * len(nodes) + ALWAYS
        self.work = self.most_work
        self.names = NameSupply.after(fn)
        self.heads: dict[int, Env] = {}
        self.bounded: dict[int, Env] = {}
        self.jumps = _Jumps()
        self.tests = 0
        self.function = fn

    @property
    def looked_at(self) -> int:
        """How many statements have been looked at, again and again."""
        return self.most_work - self.work

    def run(self) -> IntegerFlow:
        rounds = 0
        while True:
            rounds += 1
            before = {symbol: counter.bounds() for symbol, counter in self.counters.items()}
            self.unproven = self.tests = 0
            self._once()
            grown = [s for s, c in self.counters.items() if c.bounds() != before[s]]
            if not grown:
                return self
            for symbol in grown if rounds % COUNTER_ROUNDS == 0 else ():
                del self.counters[symbol]

    def _once(self) -> None:
        env: Env | None = dict(self.known)
        for symbol, counter in self.counters.items():
            if symbol in self.fn.params:
                counter.base = self.known.get(symbol, INT64)
        body, env = self.block(self.fn.body, env)
        results = tuple(
            replace(r, value=self.expr(r.value, env or {})) if not isinstance(r.value, Symbol) else r
            for r in self.fn.results
        )
        self.function = replace(self.fn, body=body, results=results)

    # ------------------------------------------------------------ statements

    def block(self, body: tuple[Stmt, ...], env: Env | None) -> tuple[tuple[Stmt, ...], Env | None]:
        """The statements with their operations marked, and what holds behind them; None where that is not reached."""
        out: list[Stmt] = []
        env = None if env is None else dict(env)
        for number, stmt in enumerate(body):
            if env is None:
                return (*out, *body[number:]), None
            self.work -= 1
            self.memo = {}
            match stmt:
                case If():
                    env = self._if(stmt, env, out)
                case For() | While():
                    env = self._loop(stmt, env, out)
                case Assign():
                    out.append(
                        replace(stmt, value=self.expr(stmt.value, env, counts=self.counted(stmt, env)))
                    )
                    self.assign(stmt, env)
                case Update() if not stmt.target.is_array:
                    out.append(replace(stmt, value=self.expr(stmt.value, env)))
                    put(env, stmt.target, self._updated(stmt, env))
                case Break() | Continue():
                    (self.jumps.breaks if isinstance(stmt, Break) else self.jumps.continues).append(env)
                    out.append(stmt)
                    env = None
                case Fail():
                    out.append(self._parts(stmt, env))
                    env = None
                case _:
                    out.append(self._parts(stmt, env))
        return tuple(out), env

    def _updated(self, stmt: Update, env: Env) -> Range | None:
        if not is_tracked(stmt.target):
            return None
        before = env.get(stmt.target, limits(stmt.target.dtype))
        return range_of_binary(stmt.op, before, self.bounds(stmt.value, env))

    def _parts(self, stmt: Stmt, env: Env) -> Stmt:
        """The statement with its expressions marked."""
        return map_children(stmt, lambda part: self.expr(cast(Expr, part), env))

    def _if(self, stmt: If, env: Env, out: list[Stmt]) -> Env | None:
        cond = self.expr(stmt.cond, env)
        then, after = self.block(stmt.then, where(stmt.cond, True, env))
        orelse, other = self.block(stmt.orelse, where(stmt.cond, False, env))
        out.append(replace(stmt, cond=cond, then=then, orelse=orelse))
        return join(after, other)

    # ------------------------------------------------------------ loops

    def _loop(self, loop: For | While, env: Env, out: list[Stmt]) -> Env | None:
        head = loop
        if isinstance(loop, For):
            head = replace(loop, lo=self.expr(loop.lo, env), hi=self.expr(loop.hi, env))
        unproven, tests = self.unproven, self.tests
        bounded = self.bounded.get(id(loop))
        found = self._fixed(loop, env, bounded or {})
        if bounded is None and self.unproven > unproven and self._may_bound(loop):
            bounded = self._bounds(loop, env, found, self.unproven - unproven, unproven, tests)
            self.bounded[id(loop)] = bounded
            self.unproven, self.tests = unproven, tests
            found = self._fixed(loop, env, bounded)
        body, cond, after = found.body, found.cond, found.after
        if bounded:
            self.tests += sum(1 + (low > INT64[0]) for low, _ in bounded.values())
            return self._tested(head, bounded, found, env, out)
        out.append(
            replace(head, body=body, cond=cond or head.cond)
            if isinstance(head, While)
            else replace(head, body=body)
        )
        return after

    def _may_bound(self, loop: For | While) -> bool:
        """Whether the loop can be left where a scalar is beyond its bounds."""
        if not self.assumes or self.work < self.most_work // 2:
            return False
        if self.leave is not None:
            return True
        return isinstance(loop, While) and not any(isinstance(s, Break) for s in own_statements(loop.body))

    def _bounds(self, loop: For | While, env: Env, free: _Fixed, most: int, unproven: int, tests: int) -> Env:
        """Bounds of scalars that the loop carries, under which fewer of its operations may overflow."""
        wide = [
            s for s in sorted(scalars_written(loop.body) & scalars_read(loop), key=lambda s: s.uid)
            if s.dtype is DType.INT64 and not is_within(free.head.get(s, INT64), TESTED[-1])
        ]  # fmt: skip
        best: Env = {}

        def left(bounds: Env) -> int:
            self.unproven, self.tests = unproven, tests
            self._fixed(loop, env, bounds)
            return self.unproven - unproven

        for limit in TESTED if wide else ():
            trial = dict.fromkeys(wide, limit)
            count = left(trial)
            if count < most:
                best, most = trial, count
            if not count:
                break
        for symbol in wide if best and len(wide) <= 6 else ():
            fewer = {s: r for s, r in best.items() if s != symbol}
            if fewer and left(fewer) <= most:
                best = fewer
        return best

    def _tested(
        self, loop: For | While, bounded: Env, found: _Fixed, env: Env, out: list[Stmt]
    ) -> Env | None:
        """The loop with the test of its bounded scalars in each iteration."""
        loc = loop.loc
        fits: Expr | None = None
        for symbol, bounds in bounded.items():
            fits = both(fits, _is_between(Var(symbol, loc=loc), *bounds))
        assert fits is not None
        if isinstance(loop, While) and not any(isinstance(s, Break) for s in own_statements(loop.body)):
            out.append(
                replace(loop, cond=Logical("and", fits, found.cond or loop.cond, loc=loc), body=found.body)
            )
            if self.leave is not None:
                out.append(If(negated(fits), (replace(self.leave, loc=loc),), loc=loc))
                return found.after
            self.assumes = False
            careful = self._fixed(loop, dict(env), {})
            self.assumes = True
            again = replace(loop, cond=careful.cond or loop.cond, body=careful.body)
            again = rename(again, fresh_variables(again, self.names))
            out.append(If(negated(fits), (again,), loc=loc))
            return join(found.after, careful.after)
        assert self.leave is not None
        test = If(negated(fits), (replace(self.leave, loc=loc),), loc=loc)
        body = (test, *found.body)
        if isinstance(loop, For):
            out.append(replace(loop, body=body))
        else:  # the condition is evaluated where they fit
            cond = Logical("or", negated(fits), found.cond or loop.cond, loc=loc)
            out.append(replace(loop, cond=cond, body=body))
        return found.after

    def _fixed(self, loop: For | While, env: Env, bounds: Env) -> _Fixed:
        """What holds when an iteration begins, by widening. bounds: of scalars, tested there."""
        carried = {s for s in scalars_written(loop.body) if is_tracked(s)}
        entry = dict(env)
        if isinstance(loop, For):
            entry.pop(loop.var, None)
            first, last = self.bounds(loop.lo, env), self.bounds(loop.hi, env)
            inside = (first[0], last[1] - 1) if loop.step > 0 else (last[0] + 1, first[1])
            trips = max(0, (inside[1] - inside[0]) // abs(loop.step) + 1)
            self.memo = {}
        else:
            inside, trips = None, MOST_RUNS
        head = entry if bounds else joined(entry, self.heads.get(id(loop)), carried)
        outer, unproven, tests = self.jumps, self.unproven, self.tests
        self.trips.append(trips)
        rounds = 0
        while True:
            head = limited(head, bounds)
            if rounds < ROUNDS:
                head = limited(head, self.counted_bounds(carried & head.keys()))
            self.unproven, self.tests, self.jumps, self.memo = unproven, tests, _Jumps(), {}
            start: Env | None = head
            cond = None
            if isinstance(loop, While):
                cond = self.expr(loop.cond, head)
                start = where(loop.cond, True, head)
            elif inside is not None:
                start = {**head, loop.var: inside} if inside[0] <= inside[1] else None
            body, end = self.block(loop.body, start)
            for state in self.jumps.continues:
                end = join(end, state)
            back = joined(entry, end, carried) if end is not None else entry
            new = limited(back, bounds)
            if all(is_within(new.get(s, limits(s.dtype)), head.get(s, limits(s.dtype))) for s in carried):
                break
            rounds += 1
            head = widened(head, new, carried, rounds if self.work > 0 else ROUNDS)
        self.trips.pop()
        if not bounds:
            self.heads[id(loop)] = {s: head[s] for s in carried if s in head}
        # Behind the loop, the last iteration's values have not been tested.
        at_end = joined(head, end, carried) if end is not None else head
        if isinstance(loop, For):
            at_end.pop(loop.var, None)
        after = where(loop.cond, False, head if bounds else at_end) if isinstance(loop, While) else at_end
        for state in self.jumps.breaks:
            after = join(after, state)
        self.jumps, self.memo = outer, {}
        return _Fixed(head, body, cond, after)


def _is_between(value: Expr, low: int, high: int) -> Expr:
    """`low <= value <= high` as one comparison, where need be of what wraps to a large number below `low`."""
    loc = value.loc
    if low == INT64[0]:
        return Compare("<=", value, integer(high, loc), loc=loc)
    distance = Binary(
        "-", Cast(value, DType.UINT64, loc=loc), Const(low % 2**64, DType.UINT64, loc=loc), loc=loc
    )
    return Compare("<=", distance, Const(high - low, DType.UINT64, loc=loc), loc=loc)
