"""Access relations: every array access of a function with its iteration domain and its index.

One walk over the function carries what is known of each scalar (see `affine_values`) and the set
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

from appyc.analysis.accesses.accesses import (
    DRAW,
    PASS,
    RESIZE,
    Access,
    Assumption,
    CheckedIndex,
    FunctionAccesses,
)
from appyc.analysis.accesses.held_lengths import lengths_held
from appyc.analysis.accesses.loop_ranges import values_between
from appyc.analysis.accesses.view_regions import region_of
from appyc.analysis.algebra.intervals import Box, reachable_values
from appyc.analysis.sets.affine_values import Affine
from appyc.analysis.sets.joined_states import joined
from appyc.analysis.sets.lazy_isl import isl
from appyc.analysis.sets.presburger import MAX_DISJUNCTS, Presburger
from appyc.analysis.sets.symbol_table import Name, State, Truth, Value, is_counted
from appyc.errors import GENERATED
from appyc.ir import nodes as ir
from appyc.ir.array_accesses import array_of, numbered
from appyc.ir.blocks import has_own, never_completes
from appyc.ir.invariance import arrays_made
from appyc.ir.names import ordered
from appyc.ir.visit import arrays_written, children, contains, scalars_written, statements


def accesses_of(
    fn: ir.Function, sets: Presburger, wary: bool = False, skip: frozenset[ir.Symbol] = frozenset()
) -> FunctionAccesses:
    """All accesses of a function, those in bounds, conditions and results included.

    wary: as for `Affine`; the function's guards are then assumed to hold. skip: arrays whose accesses are not recorded.
    """
    return AccessCollector(fn, FunctionAccesses(Affine(sets, arrays_written(fn), wary)), skip).collect()


def numbered_accesses(fn: ir.Function, sets: Presburger) -> FunctionAccesses:
    """The accesses under the function's guards, which `by_number` numbers in the same order."""
    found = accesses_of(fn, sets, wary=True)
    nodes = [array_of(node) for node in numbered((fn,))]
    assert nodes == [access.array for access in found.accesses], "each node has its own access"
    return found


class AccessCollector:
    """The walk. `domain` is passed down; the state of scalars moves along the program."""

    def __init__(
        self, fn: ir.Function, found: FunctionAccesses, skip: frozenset[ir.Symbol] = frozenset()
    ) -> None:
        self.fn, self.found = fn, found
        self.skip = skip
        self.affine = found.affine
        self.sets = found.affine.sets
        self.state = State()
        self.values = reachable_values(fn)
        self.loops: tuple[ir.For | ir.While, ...] = ()
        self.doubts = 0  # enclosing conditions and bounds that could not be told

    @property
    def depth(self) -> int:
        return len(self.loops)

    def collect(self) -> FunctionAccesses:
        for symbol in self.fn.params:
            if not symbol.is_array:
                self.state.scalars[symbol] = self._parameter(symbol)
        self.affine.lengths = lengths_held(self.fn)
        self.found.guards += [self._truth(guard.holds) for guard in self.fn.guards]
        for truth in self.found.guards if self.affine.wary else ():
            self.affine.assume(truth.may_hold)
        self.block(self.fn.body, self.sets.everything)
        for result in self.fn.results:
            if isinstance(result.value, ir.Symbol):
                self.found.returned.add(result.value)
            else:
                self.expression(result.value, self.sets.everything)
        return self.found

    def _parameter(self, symbol: ir.Symbol) -> Value:
        if not is_counted(symbol.dtype):
            return Value(0, 0)
        origin = ir.Var(symbol, loc=GENERATED)
        return Value(0, 0, self.affine.named(Name(symbol.name, 0, origin, small=True), str(symbol)))

    # ---- expressions

    def expression(self, expr: ir.Node, domain: isl.Set) -> None:
        """Records the loads of an expression, each under the condition that it is evaluated."""
        match expr:
            case ir.Load():
                self.access(expr, expr.array, "read", domain)
            case ir.Likely():
                self.expression(expr.arg, domain)
                self.found.assumptions.append(Assumption(expr, domain, self._truth(expr.arg)))
            case ir.Draw():
                assert isinstance(expr.where, ir.Load)
                self.access(expr.where, expr.generators, DRAW, domain)
                for arg in expr.args:
                    self.expression(arg, domain)
            case ir.View():
                self._passed(expr, domain)
            case ir.Apart() | ir.Ascending():
                pass  # what it reads is not written in the loop that it is about, and no pass follows
            case ir.Reduce():
                raise AssertionError("tensors are expanded before accesses are asked for")
            case ir.Logical():
                self.expression(expr.lhs, domain)
                if contains(expr.rhs, ir.Load):
                    truth = self._truth(expr.lhs)
                    self._under(truth if expr.op == "and" else truth.negated(), expr.rhs, domain)
            case ir.Select():
                self.expression(expr.cond, domain)
                if contains((expr.then, expr.orelse), ir.Load):
                    truth = self._truth(expr.cond)
                    self._under(truth, expr.then, domain)
                    self._under(truth.negated(), expr.orelse, domain)
            case _:
                for part in children(expr):
                    self.expression(part, domain)

    def _under(self, truth: Truth, expr: ir.Expr, domain: isl.Set) -> None:
        domain, doubt = self._where(domain, truth)
        self.doubts += doubt
        self.expression(expr, domain)
        self.doubts -= doubt

    def _where(self, domain: isl.Set, truth: Truth) -> tuple[isl.Set, int]:
        """The iterations for which a condition may hold, and 1 where that is more than do."""
        narrowed = self._among(domain, truth.may_hold)
        return (domain, 1) if narrowed is None else (narrowed, int(not truth.exact))

    def _among(self, domain: isl.Set, holds: isl.Set) -> isl.Set | None:
        """The intersection of a domain with a condition; None where it has too many disjuncts, or takes too long."""

        def narrowed() -> isl.Set | None:
            both = domain.intersect(holds)
            if both.n_basic_set() > MAX_DISJUNCTS:
                both = both.coalesce()
            return both if both.n_basic_set() <= MAX_DISJUNCTS else None

        return self.sets.bounded(narrowed, None)

    def _value(self, expr: ir.Expr) -> isl.PwAff:
        return self.affine.value(expr, self.state, self.depth)

    def _truth(self, expr: ir.Expr) -> Truth:
        return self.affine.truth(expr, self.state, self.depth)

    def access(
        self, node: ir.Load | ir.Store | ir.Update, array: ir.Symbol, op: str, domain: isl.Set
    ) -> None:
        """Records the loads in the node's parts, then the node itself."""
        self.operands(node, domain)
        if node.mask is not None:
            self.expression(node.mask, domain)
        if array in self.skip:
            return
        doubts = self.doubts
        if node.mask is not None:
            domain, doubt = self._where(domain, self._truth(node.mask))
            doubts += doubt
        self.found.accesses.append(
            Access(
                array,
                op,
                isinstance(node, ir.Update) and node.atomic,
                node.checked,
                node.loc,
                self.loops,
                domain,
                tuple(self._value(part) for part in node.index),
                tuple(self.affine.extent(array, axis, self.state) for axis in range(len(node.index))),
                doubts > 0,
                self.state.allocated.get(array),
            )
        )

    def operands(self, node: ir.Load | ir.Store | ir.Update, domain: isl.Set) -> None:
        for part in node.index if isinstance(node, ir.Load) else (*node.index, node.value):
            self.expression(part, domain)

    # ---- statements

    def block(self, body: tuple[ir.Stmt, ...], domain: isl.Set) -> None:
        """Statements in order; after `if c: continue` the rest runs only where c fails."""
        doubts = self.doubts
        for stmt in body:
            if not isinstance(stmt, ir.If):
                self.statement(stmt, domain)
                continue
            truth = self._if(stmt, domain)
            self.doubts += any(_ends_on_some_paths(branch) for branch in (stmt.then, stmt.orelse))
            if never_completes(stmt.then) != never_completes(stmt.orelse):
                rest = truth.negated() if never_completes(stmt.then) else truth
                domain, doubt = self._where(domain, rest)
                self.doubts += doubt
        self.doubts = doubts

    def statement(self, stmt: ir.Stmt, domain: isl.Set) -> None:
        match stmt:
            case ir.Assign():
                self.expression(stmt.value, domain)
                self._assign(stmt.target, stmt.value)
            case ir.Store():
                self.access(stmt, stmt.array, "write", domain)
            case ir.Update():
                if stmt.target.is_array:
                    self.access(stmt, stmt.target, stmt.op, domain)
                else:
                    self.expression(stmt.value, domain)
                    before = ir.Var(stmt.target, loc=stmt.loc)
                    self._assign(stmt.target, ir.Binary(stmt.op, before, stmt.value, loc=stmt.loc))
            case ir.For():
                self._for(stmt, domain)
            case ir.While():
                self._while(stmt, domain)
            case ir.If():
                self._if(stmt, domain)
            case ir.Alloc():
                self._alloc(stmt, domain)
            case ir.BoundsCheck():
                self.bounds_check(stmt, domain)
            case ir.ForAll():
                raise AssertionError("tensors are expanded before accesses are asked for")
            case _:
                self.expression(stmt, domain)

    def bounds_check(self, stmt: ir.BoundsCheck, domain: isl.Set) -> None:
        self.expression(stmt, domain)
        index, extent = self._value(stmt.index), self._value(stmt.extent)
        at, twice = index.add(extent), extent.add(extent)
        self.found.checked_indices.append(
            CheckedIndex(stmt.name, stmt.axis, stmt.loc, domain, (at,), (twice,), self.doubts > 0)
        )

    def _assign(self, target: ir.Symbol, value: ir.Expr) -> None:
        new = self.affine.unknown(self.depth)
        if is_counted(target.dtype):
            pieces = self._value(value)
            new = Value(new.version, self.affine.depth_of(pieces), pieces)
        self.state.scalars[target] = new

    def _forget(self, loop: ir.For | ir.While, depth: int, possible: Mapping[int, Sequence[Box]]) -> None:
        """Nothing is known of what an iteration sets but that its scalars are in one of the loop's boxes."""
        targets = scalars_written(loop.body)
        for symbol in ordered(targets):
            self.state.scalars[symbol] = self.affine.unknown(depth)
        self.affine.bound(targets, possible.get(id(loop), ()), self.state)
        for made in (stmt for stmt in statements(loop.body) if isinstance(stmt, ir.Alloc)):
            if made.kept is None:  # else it is resized where it has been allocated
                self.state.allocated.pop(made.array, None)
        for array in ordered(arrays_made(loop.body)):
            for axis in range(array.array.ndim):
                self.state.extents[array, axis] = self.affine.unknown(depth)

    def _alloc(self, stmt: ir.Alloc, domain: isl.Set) -> None:
        for axis, length in enumerate(stmt.shape):
            self.expression(length, domain)
            pieces = self._value(length)
            known = Value(self.affine.version(), self.affine.depth_of(pieces), pieces)
            self.state.extents[stmt.array, axis] = known
        if stmt.kept is not None:
            self._anywhere(stmt, RESIZE, domain, [self._somewhere(stmt.array)])
            return
        self.state.allocated[stmt.array] = self.depth

    def _passed(self, view: ir.View, domain: isl.Set) -> None:
        """Records that a call is given an array, as an access to any element of the view. One that the call may resize
        is taken to be shared by all iterations."""
        for number in view.numbers:
            self.expression(number, domain)
        index, inside = region_of(view, self._value, lambda: self._somewhere(view.array))
        for part in inside:
            domain = self._among(domain, part) or domain
        self._anywhere(view, PASS if view.written else "read", domain, index)
        if view.resized:
            self.state.extents[view.array, 0] = self.affine.unknown(self.depth)

    def _somewhere(self, array: ir.Symbol) -> isl.PwAff:
        """Any index, of which nothing is known."""
        anywhere = self.affine.unknown(self.depth)
        return self.affine.named(Name(array.name, anywhere.depth), f"{array}@{anywhere.version}")

    def _anywhere(
        self, node: ir.Alloc | ir.View, op: str, domain: isl.Set, index: Sequence[isl.PwAff]
    ) -> None:
        array = node.array
        own = None if isinstance(node, ir.View) and node.resized else self.state.allocated.get(array)
        if array not in self.skip:
            extents = tuple(self.affine.extent(array, n, self.state) for n in range(len(index)))
            self.found.accesses.append(
                Access(
                    array, op, False, False, node.loc, self.loops, domain, tuple(index), extents, True, own
                )
            )

    def _if(self, stmt: ir.If, domain: isl.Set) -> Truth:
        """Visits both branches and joins the states of the scalars after them. Returns where the condition
        may hold and may fail."""
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
        if never_completes(stmt.then) != never_completes(stmt.orelse):
            self.state = after[1] if never_completes(stmt.then) else after[0]
        else:
            written = scalars_written((*stmt.then, *stmt.orelse))
            self.state = joined(self.affine, truth, (after[0], after[1]), written, self.depth)
            self.affine.bound(written, self.values.behind.get(id(stmt), ()), self.state)
        return truth

    def _for(self, loop: ir.For, domain: isl.Set) -> None:
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
        self.found.limits[loop.var], inside = values_between(loop, lo, hi, var, self.sets, self._value)
        self.found.ranges[loop.var] = inside
        cut = has_own(loop.body, ir.Break)
        self.state.scalars[loop.var] = Value(self.affine.version(), self.depth + 1, var)
        self._loop_body(loop, domain.intersect(inside), doubts=int(cut))
        if loop.condition is not None:
            self.expression(loop.condition, domain)

    def _while(self, loop: ir.While, domain: isl.Set) -> None:
        outer = self.loops
        self._forget(loop, self.depth + 1, self.values.at)
        self.loops = (*outer, loop)
        self.expression(loop.cond, domain)
        inside, _ = self._where(domain, self._truth(loop.cond))
        self.loops = outer
        self._loop_body(loop, inside, doubts=1)

    def _loop_body(self, loop: ir.For | ir.While, domain: isl.Set, doubts: int) -> None:
        """The body, knowing nothing of the scalars that another iteration may have changed."""
        if isinstance(loop, ir.For):
            self._forget(loop, self.depth + 1, self.values.at)
        outer = self.loops
        self.loops = (*outer, loop)
        self.doubts += doubts
        self.block(loop.body, domain)
        self.doubts -= doubts
        self.loops = outer
        self._forget(loop, self.depth, self.values.behind)


def _ends_on_some_paths(branch: tuple[ir.Stmt, ...]) -> bool:
    """Whether an iteration may end in a branch, but need not."""
    return not never_completes(branch) and has_own(branch, ir.Continue)
