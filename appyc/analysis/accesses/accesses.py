"""Access relations: every array access of a function with its iteration domain and its index.

One walk over the function carries what is known of each scalar (see `affine`) and the set
of iterations that reach the current statement, so

    for i in range(n):
        j = i + 1                  # accesses of the loop:
        if j < n:                  #   read  b[i + 1]   for 0 <= i < n and i + 1 < n
            a[i] = b[j]            #   write a[i]       for 0 <= i < n and i + 1 < n

What is not affine is over-approximated: a condition that cannot be told restricts nothing,
and marks the accesses under it as approximate.

Accesses come in the order in which `appyc.ir.visit.rewrite` visits them (children first),
which is also the order of execution within an iteration; a pass can therefore match them
to nodes by counting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, assert_never

from appyc.analysis.algebra.intervals import Box, reachable_values
from appyc.analysis.sets.affine import Affine, Name, State, Truth, Value
from appyc.analysis.sets.presburger import MAX_DISJUNCTS, Presburger
from appyc.errors import GENERATED, Loc
from appyc.ir.nodes import (
    Alloc,
    AnyLane,
    Apart,
    Ascending,
    Assign,
    Binary,
    BoundsCheck,
    Break,
    Call,
    Cast,
    Compare,
    Const,
    Continue,
    Draw,
    Expr,
    Extent,
    Fail,
    For,
    ForAll,
    Function,
    If,
    Intrinsic,
    Likely,
    Load,
    Logical,
    Node,
    Reduce,
    Select,
    Stmt,
    Store,
    Symbol,
    Unary,
    Update,
    Var,
    While,
    Workers,
)
from appyc.ir.visit import arrays_written, rewrite, scalars_written, walk

if TYPE_CHECKING:
    import islpy as isl


DRAW = "draw"
"""The deed of a `Draw`: the generator is read and written, and which numbers it gives depends on the order."""


@dataclass(frozen=True, slots=True)
class Access:
    """An array access: one node that reads or writes elements of an array.

    op: "read", "write", DRAW, or the operator of an `Update`. loops: the enclosing loops, outermost
    first (`While` included); the variable of the n-th has depth n in the names of `domain`.
    domain: the iteration domain, or a superset of it (`approximate`). index: as written, before a
    negative one is counted from the end.
    """

    array: Symbol
    op: str
    atomic: bool
    checked: bool
    loc: Loc
    loops: tuple[For | While, ...]
    domain: isl.Set
    index: tuple[isl.PwAff, ...]
    extents: tuple[isl.PwAff, ...]
    approximate: bool

    @property
    def name(self) -> str:
        """The name of the array."""
        return self.array.name

    @property
    def writes(self) -> bool:
        return self.op != "read"

    @property
    def updates(self) -> bool:
        return self.op not in ("read", "write", DRAW)


@dataclass(frozen=True, slots=True)
class CheckedIndex:
    """A `BoundsCheck`: the iterations that make it, or more (`approximate`), the index and the extent."""

    node: BoundsCheck
    domain: isl.Set
    index: isl.PwAff
    extent: isl.PwAff
    approximate: bool


@dataclass(frozen=True, slots=True)
class Assumption:
    """A `Likely` node, the iterations that evaluate it, and where it holds among them."""

    node: Likely
    domain: isl.Set
    truth: Truth


@dataclass(slots=True)
class FunctionAccesses:
    """The accesses of a function and the names that occur in their sets.

    variables: the name of each loop's variable. around: the loops around each loop. ranges: the
    values of each loop's variable between its bounds, whatever stands around the loop.
    allocated: the loops around the `Alloc` of each local array, and how many accesses come
    before it. returned: arrays that the function returns. entries: for each loop when it is
    reached. guards: the function's own, which say for which parameters it runs. assumptions:
    the `Likely` conditions, which nearly always hold, one for each node that tests them. by_loop:
    the accesses in the body of each loop, by its variable, once they were asked for.
    """

    affine: Affine
    accesses: list[Access] = field(default_factory=list)
    checked_indices: list[CheckedIndex] = field(default_factory=list)
    variables: dict[Symbol, str] = field(default_factory=dict)
    allocated: dict[Symbol, tuple[tuple[For | While, ...], int]] = field(default_factory=dict)
    returned: set[Symbol] = field(default_factory=set)
    assumptions: list[Assumption] = field(default_factory=list)
    around: dict[Symbol, tuple[For | While, ...]] = field(default_factory=dict)
    ranges: dict[Symbol, isl.Set] = field(default_factory=dict)
    entries: dict[Symbol, isl.Set] = field(default_factory=dict)
    guards: list[Truth] = field(default_factory=list)
    by_loop: dict[Symbol, list[Access]] = field(default_factory=dict)

    @property
    def guarded(self) -> isl.Set:
        """The parameters for which all guards hold, or more."""
        return reduce(lambda known, truth: known.intersect(truth.may_hold), self.guards, self.sets.everything)

    @property
    def sets(self) -> Presburger:
        return self.affine.sets

    def within(self, loop: For) -> list[Access]:
        """The accesses in a loop's body, once all accesses are known."""
        if not self.by_loop:
            for access in self.accesses:
                for around in access.loops:
                    if isinstance(around, For):
                        self.by_loop.setdefault(around.var, []).append(access)
        return self.by_loop.get(loop.var, [])

    def is_in(self, loop: For, loops: tuple[For | While, ...]) -> bool:
        """Whether the loop, identified by its variable, is one of these enclosing loops."""
        depth = len(self.around[loop.var])
        return len(loops) > depth and isinstance(at := loops[depth], For) and at.var == loop.var


def accesses_of(
    fn: Function, sets: Presburger, wary: bool = False, skip: frozenset[Symbol] = frozenset()
) -> FunctionAccesses:
    """All accesses of a function, those in bounds, conditions and results included.

    wary: as for `Affine`; the function's guards are then assumed to hold. skip: arrays whose accesses are not recorded.
    """
    return _collected(_Collector(FunctionAccesses(Affine(sets, arrays_written(fn), wary)), skip), fn)


def assumptions_of(fn: Function, sets: Presburger, refused: frozenset[int]) -> FunctionAccesses:
    """The `Likely` conditions of a function, without its accesses.

    Each is taken to hold where others depend on it, but for those refused, by identity.
    """
    affine = Affine(sets, arrays_written(fn), wary=True, refused=refused)
    usual = rewrite(fn, lambda n: _without_unlikely(n, affine))
    return _collected(_AssumptionCollector(FunctionAccesses(affine)), usual)


def _without_unlikely(node: Node, affine: Affine) -> Node:
    """A branch for what is assumed not to be, without its statements: what they assign keeps its value."""
    match node:
        case If(cond=Unary(op="~", arg=arg), then=then) if affine.is_assumed(arg) and not _leaves(then):
            return replace(node, then=())
        case _:
            return node


def _collected(collector: _Collector, fn: Function) -> FunctionAccesses:
    sets = collector.sets
    for symbol in fn.params:
        collector.declare_parameter(symbol)
    collector.found.guards += [collector._truth(guard.holds) for guard in fn.guards]
    if collector.affine.wary:
        for truth in collector.found.guards:
            collector.affine.assume(truth.may_hold)
    values = reachable_values(fn)
    collector.at, collector.behind = values.at, values.behind
    collector.block(fn.body, sets.everything)
    for result in fn.results:
        if isinstance(result.value, Symbol):
            collector.found.returned.add(result.value)
        else:
            collector.expression(result.value, sets.everything)
    return collector.found


class _Collector:
    """The walk. `domain` is passed down; the state of scalars moves along the program."""

    def __init__(self, found: FunctionAccesses, skip: frozenset[Symbol] = frozenset()) -> None:
        self.found = found
        self.skip = skip
        self.affine = found.affine
        self.sets = found.affine.sets
        self.state = State()
        self.at: Mapping[int, list[Box]] = {}
        self.behind: Mapping[int, list[Box]] = {}
        self.loops: tuple[For | While, ...] = ()
        self.doubts = 0  # enclosing conditions and bounds that could not be told

    @property
    def depth(self) -> int:
        return len(self.loops)

    def declare_parameter(self, symbol: Symbol) -> None:
        if symbol.is_array:
            return
        value = self.affine.unknown(symbol, 0)
        if value.pieces is not None:
            key = str(symbol)
            origin = Var(symbol, loc=GENERATED)
            value = Value(0, 0, self.affine.named(Name(symbol.name, 0, origin, small=True), key))
        self.state.scalars[symbol] = Value(0, 0, value.pieces)

    # ---- expressions

    def expression(self, expr: Expr, domain: isl.Set) -> None:
        """Records the loads of an expression, each under the condition that it is evaluated."""
        match expr:
            case Const() | Var() | Extent() | Workers():
                pass
            case Load():
                self._access(expr, expr.array, "read", domain)
            case Unary() | Cast() | AnyLane():
                self.expression(expr.arg, domain)
            case Likely():
                self.expression(expr.arg, domain)
                self.found.assumptions.append(Assumption(expr, domain, self._truth(expr.arg)))
            case Binary() | Compare():
                self.expression(expr.lhs, domain)
                self.expression(expr.rhs, domain)
            case Intrinsic():
                for arg in expr.args:
                    self.expression(arg, domain)
            case Draw():
                assert isinstance(expr.where, Load)
                self._access(expr.where, expr.generators, DRAW, domain)
                for arg in expr.args:
                    self.expression(arg, domain)
            case Call():
                for part in expr.numbers:
                    self.expression(part, domain)
            case Apart() | Ascending():
                pass  # what it reads is not written in the loop that it is about, and no pass follows
            case Reduce():
                raise AssertionError("tensors are expanded before accesses are asked for")
            case Logical():
                self.expression(expr.lhs, domain)
                if _has_load(expr.rhs):
                    truth = self._truth(expr.lhs)
                    self._under(truth if expr.op == "and" else truth.negated(), expr.rhs, domain)
            case Select():
                self.expression(expr.cond, domain)
                if _has_load(expr.then) or _has_load(expr.orelse):
                    truth = self._truth(expr.cond)
                    self._under(truth, expr.then, domain)
                    self._under(truth.negated(), expr.orelse, domain)
            case _:
                assert_never(expr)

    def _under(self, truth: Truth, expr: Expr, domain: isl.Set) -> None:
        domain, doubt = self._where(domain, truth)
        self.doubts += doubt
        self.expression(expr, domain)
        self.doubts -= doubt

    def _where(self, domain: isl.Set, truth: Truth) -> tuple[isl.Set, int]:
        """The iterations for which a condition may hold, and 1 where that is more than do."""
        narrowed = self.sets.bounded(lambda: self._narrowed(domain, truth.may_hold), None)
        return (domain, 1) if narrowed is None else (narrowed, int(not truth.exact))

    def _narrowed(self, domain: isl.Set, holds: isl.Set) -> isl.Set | None:
        """Both, in few pieces; None where that takes many."""
        narrowed = domain.intersect(holds)
        if narrowed.n_basic_set() > MAX_DISJUNCTS:
            narrowed = narrowed.coalesce()
        return narrowed if narrowed.n_basic_set() <= MAX_DISJUNCTS else None

    def _value(self, expr: Expr) -> isl.PwAff:
        return self.affine.value(expr, self.state, self.depth)

    def _truth(self, expr: Expr) -> Truth:
        return self.affine.truth(expr, self.state, self.depth)

    def _access(
        self, node: Load | Store | Update, array: Symbol, op: str, domain: isl.Set, atomic: bool = False
    ) -> None:
        """Records the loads in the node's parts, then the node itself."""
        for part in node.index:
            self.expression(part, domain)
        if not isinstance(node, Load):
            self.expression(node.value, domain)
        if array in self.skip:
            if node.mask is not None:
                self.expression(node.mask, domain)
            return
        doubts = self.doubts
        if node.mask is not None:
            self.expression(node.mask, domain)
            truth = self._truth(node.mask)
            domain, doubt = self._where(domain, truth)
            doubts += doubt
        self.found.accesses.append(
            Access(
                array,
                op,
                atomic,
                node.checked,
                node.loc,
                self.loops,
                domain,
                tuple(self._value(part) for part in node.index),
                tuple(self.affine.extent(array, axis, self.state) for axis in range(len(node.index))),
                doubts > 0,
            )
        )

    # ---- statements

    def block(self, body: tuple[Stmt, ...], domain: isl.Set) -> None:
        """Statements in order; after `if c: continue` the rest runs only where c fails."""
        doubts = self.doubts
        for stmt in body:
            if not isinstance(stmt, If):
                self.statement(stmt, domain)
                continue
            truth = self._if(stmt, domain)
            if _leaves(stmt.then) != _leaves(stmt.orelse):
                rest = truth.negated() if _leaves(stmt.then) else truth
                domain, doubt = self._where(domain, rest)
                self.doubts += doubt
        self.doubts = doubts

    def statement(self, stmt: Stmt, domain: isl.Set) -> None:
        match stmt:
            case Assign():
                self.expression(stmt.value, domain)
                self._assign(stmt.target, stmt.value)
            case Store():
                self._access(stmt, stmt.array, "write", domain)
            case Update():
                if stmt.target.is_array:
                    self._access(stmt, stmt.target, stmt.op, domain, stmt.atomic)
                else:
                    self.expression(stmt.value, domain)
                    before = Var(stmt.target, loc=stmt.loc)
                    self._assign(stmt.target, Binary(stmt.op, before, stmt.value, loc=stmt.loc))
            case For():
                self._for(stmt, domain)
            case While():
                self._while(stmt, domain)
            case If():
                self._if(stmt, domain)
            case Alloc():
                self._alloc(stmt, domain)
            case Fail():
                for number in stmt.values:
                    self.expression(number, domain)
            case BoundsCheck():
                self._bounds_check(stmt, domain)
            case Break() | Continue():
                pass
            case ForAll():
                raise AssertionError("tensors are expanded before accesses are asked for")
            case _:
                assert_never(stmt)

    def _bounds_check(self, stmt: BoundsCheck, domain: isl.Set) -> None:
        self.expression(stmt.index, domain)
        self.expression(stmt.extent, domain)
        index, extent = self._value(stmt.index), self._value(stmt.extent)
        self.found.checked_indices.append(CheckedIndex(stmt, domain, index, extent, self.doubts > 0))

    def _assign(self, target: Symbol, value: Expr) -> None:
        new = self.affine.unknown(target, self.depth)
        if new.pieces is not None:
            pieces = self._value(value)
            new = Value(new.version, self.affine.depth_of(pieces), pieces)
        self.state.scalars[target] = new

    def _forget(self, targets: set[Symbol], depth: int, possible: Sequence[Box]) -> None:
        """Nothing is known of the scalars but that they are in one of the boxes."""
        for symbol in sorted(targets, key=lambda s: s.uid):
            self.state.scalars[symbol] = self.affine.unknown(symbol, depth)
        self.affine.bound(targets, possible, self.state)

    def _alloc(self, stmt: Alloc, domain: isl.Set) -> None:
        for axis, length in enumerate(stmt.shape):
            self.expression(length, domain)
            self.state.extents[stmt.array, axis] = self._value(length)
        self.found.allocated[stmt.array] = (self.loops, len(self.found.accesses))

    def _if(self, stmt: If, domain: isl.Set) -> Truth:
        """Both branches, and what the scalars are after them. Returns where the condition held."""
        self.expression(stmt.cond, domain)
        truth = self._truth(stmt.cond)
        before = self.state
        after: list[State] = []
        for body, reached in ((stmt.then, truth), (stmt.orelse, truth.negated())):
            self.state = before.copy()
            inside, doubt = self._where(domain, reached)
            self.doubts += doubt
            self.block(body, inside)
            self.doubts -= doubt
            after.append(self.state)
        if _leaves(stmt.then) != _leaves(stmt.orelse):
            self.state = after[1] if _leaves(stmt.then) else after[0]
        else:
            written = scalars_written((*stmt.then, *stmt.orelse))
            self.state = self._merge(truth, after[0], after[1], written)
            self.affine.bound(written, self.behind.get(id(stmt), ()), self.state)
        return truth

    def _merge(self, truth: Truth, then: State, orelse: State, written: set[Symbol]) -> State:
        """What holds of the scalars where both branches meet. written: those that may differ."""
        merged = then.copy()
        for symbol in sorted(written, key=lambda s: s.uid):
            one, other = then.scalars.get(symbol), orelse.scalars.get(symbol)
            if one is not None and other is not None and one.version == other.version:
                continue
            new = self.affine.unknown(symbol, self.depth)
            if truth.exact and one is not None and other is not None and new.pieces is not None:
                pieces = self._chosen(truth, one.pieces, other.pieces)
                if pieces is not None:
                    new = Value(new.version, self.affine.depth_of(pieces), pieces)
            merged.scalars[symbol] = new
        return merged

    def _chosen(self, truth: Truth, then: isl.PwAff, orelse: isl.PwAff) -> isl.PwAff | None:
        """The one value or the other; None where that is too much for what is asked of it."""

        def choice() -> isl.PwAff | None:
            pieces = self.sets.choose(truth.may_hold, then, orelse)
            return pieces if self.sets.is_simple(pieces) else None

        return self.sets.bounded(choice, None)

    def _for(self, loop: For, domain: isl.Set) -> None:
        self.expression(loop.lo, domain)
        self.expression(loop.hi, domain)
        lo, hi = self._value(loop.lo), self._value(loop.hi)
        self.found.around[loop.var] = self.loops
        self.found.entries[loop.var] = domain
        key = str(loop.var)
        self.found.variables[loop.var] = key
        within = frozenset(self.sets.names(lo)) | frozenset(self.sets.names(hi))
        small = all(self.affine.names[name].small for name in within)
        name = Name(
            loop.var.name,
            self.depth + 1,
            loop=loop,
            small=small,
            within=within,
            reach=self.affine.reach(lo, hi),
        )
        var = self.affine.named(name, key)
        up = loop.step > 0
        first = self.sets.not_above(lo, var) if up else self.sets.not_above(var, lo)
        inside = first.intersect(self.sets.not_above(*((var, hi) if up else (hi, var)), strict=True))
        if abs(loop.step) > 1:
            passed = self.sets.modulo(var.sub(lo), abs(loop.step))
            inside = inside.intersect(passed.eq_set(self.sets.constant(0)))
        self.found.ranges[loop.var] = inside
        cut = any(isinstance(stmt, Break) for stmt in own_statements(loop.body))
        self.state.scalars[loop.var] = Value(self.affine.version(), self.depth + 1, var)
        self._loop_body(loop, loop.body, domain.intersect(inside), doubts=int(cut))
        if loop.clauses is not None and loop.clauses.condition is not None:
            self.expression(loop.clauses.condition, domain)

    def _while(self, loop: While, domain: isl.Set) -> None:
        outer = self.loops
        self._forget(scalars_written(loop.body), self.depth + 1, self.at.get(id(loop), ()))
        self.loops = (*outer, loop)
        self.expression(loop.cond, domain)
        inside, _ = self._where(domain, self._truth(loop.cond))
        self.loops = outer
        self._loop_body(loop, loop.body, inside, doubts=1)

    def _loop_body(self, loop: For | While, body: tuple[Stmt, ...], domain: isl.Set, doubts: int) -> None:
        """The body, knowing nothing of the scalars that another iteration may have changed."""
        written = scalars_written(body)
        if isinstance(loop, For):
            self._forget(written, self.depth + 1, self.at.get(id(loop), ()))
        outer = self.loops
        self.loops = (*outer, loop)
        self.doubts += doubts
        self.block(body, domain)
        self.doubts -= doubts
        self.loops = outer
        self._forget(written, self.depth, self.behind.get(id(loop), ()))


class _AssumptionCollector(_Collector):
    """The walk where indices do not matter."""

    def _access(
        self, node: Load | Store | Update, array: Symbol, op: str, domain: isl.Set, atomic: bool = False
    ) -> None:
        for part in node.index:
            self.expression(part, domain)
        if not isinstance(node, Load):
            self.expression(node.value, domain)

    def _bounds_check(self, stmt: BoundsCheck, domain: isl.Set) -> None:
        self.expression(stmt.index, domain)
        self.expression(stmt.extent, domain)


def _has_load(expr: Expr) -> bool:
    return any(isinstance(node, Load) for node in walk(expr))


def _leaves(body: tuple[Stmt, ...]) -> bool:
    """Whether what follows the block is never reached from its end."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, If):
        return _leaves(last.then) and _leaves(last.orelse)
    return isinstance(last, Break | Continue | Fail)


def own_statements(body: tuple[Stmt, ...]) -> list[Stmt]:
    """The statements of a loop's body that a `break` there would belong to this loop."""
    out: list[Stmt] = []
    for stmt in body:
        out.append(stmt)
        if isinstance(stmt, If):
            out += own_statements(stmt.then) + own_statements(stmt.orelse)
    return out
