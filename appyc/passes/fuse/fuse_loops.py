"""Loop fusion of producers with consumers, and of loops that walk the same memory.

    new = empty((n,))                               new = empty((n,))
    for i in range(0, n):                           for i in range(0, n):
        new[i] = a[i] * x[i]                  ->        new[i] = a[i] * x[i]
    for j in range(0, n):                               y[i] = new[i] + y[i]
        y[j] = new[j] + y[j]

    for i in range(0, n):                           for i in range(0, n):
        s = s + x[i]                                    s = s + x[i]
    for j in range(0, n):                     ->        q = q + x[i] * x[i]
        q = q + x[j] * x[j]

Two loops are fused if they have the same trip count, and if the iterations of the fused loop may run in
any order. Then each iteration of the second loop depends on the same iteration of the first only, and the
parallelism for threads and lanes is preserved. Inner loops of the fused loop are fused recursively.
`contract_arrays` then keeps `new` in a register, and `store_to_load_forwarding` forwards the elements that
the fused loop stores and reads again.

Loops that share a temporary array are fused wherever that is legal. Other loops are fused only if that reduces
the memory traffic (`analysis/cost/fusion_benefit.py`), and if perfect nests stay perfect: those can be
interchanged, and become grids.

A nest over rows and columns is interchanged if the next nest has the rows inside the columns, and if fusion then
reduces the memory traffic:

    for i in range(n):                              for j in range(m):
        for j in range(m):                              s = 0.0
            a[i, j] += u[i] * v[j]                      for i in range(n):
    for j in range(m):                    ->                a[i, j] += u[i] * v[j]
        s = 0.0                                             s += a[i, j] * y[i]
        for i in range(n):                              x[j] = s
            s += a[i, j] * y[i]
        x[j] = s

A statement between the two loops is moved before both if it does not depend on the first loop, or else
behind both.

A nest that fills a part of an array of zeros is fused with one over the whole array, once it is widened
(`loop_ops/widen.py`).

Requires: `check_bounds` has run; accesses that may still raise keep their order, and their
loops are not fused.

Does not handle: other loops with different trip counts, or that match only when one of them is shifted
(`shifted_fusion`); sequential loops.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from appyc.analysis.cost.costs import bytes_moved
from appyc.analysis.cost.fusion_benefit import ends_lanes, matrix_of_all_iterations, why_not_worthwhile
from appyc.analysis.dependences.free_loops import is_free
from appyc.analysis.dependences.fusion_legality import (
    ENDS,
    PRAGMAS,
    RANGES,
    EqualExtents,
    alone,
    left_behind,
    placed,
    why_not_joined,
)
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.patterns.fill_pattern import is_whole
from appyc.analysis.patterns.product_terms import is_fixed
from appyc.errors import Loc
from appyc.ir.blocks import map_blocks, perfect_nest
from appyc.ir.invariance import arrays_made
from appyc.ir.nodes import For, Function, Stmt, Symbol
from appyc.ir.visit import contains
from appyc.passes.loop_ops.fuse import fuse, why_not_fuse
from appyc.passes.loop_ops.widen import widen, zeros_before
from appyc.passes.parallelise.recognise_reductions import with_updates
from appyc.passes.pass_context import FusionGroup, PassContext

BETWEEN = "a statement between them needs the first and is needed by the second"

WRITE_ONE = "write both as one loop where that gives the same results"

HINTS = {
    BETWEEN: "move the statement before the first loop or behind the second",
    RANGES: "give both loops the same range",
    PRAGMAS: "give both loops the same pragma",
    ENDS: "take what may raise, `break` or `return` out of the loops",
}
"""What the user could change so that loops are fused, for the reasons that have such an answer."""

REACH = 8
"""How many loops back the search for a loop to fuse with extends."""

MAX_TOGETHER = 8
"""The most loops that are fused without a producer among them: the analysis of the fused loop takes quadratic
time, and the processor has a limited number of registers."""


def fuse_loops(fn: Function, ctx: PassContext) -> Function:
    """The function with fewer loops, and less traffic to memory."""
    own = frozenset(arrays_made(fn))
    if not (own or ctx.options.auto):
        return fn
    fusion = _Fusion(own, EqualExtents.of(fn.guards), ctx)
    body = fusion.block(fn.body)
    ctx.fusions.update((var, fusion.group(var)) for var in fusion.parts)
    for refusal in fusion.refusals:
        if not any({*refusal.loops} <= {*parts} for parts in fusion.parts.values()):
            ctx.missed(refusal.loc, refusal.text, HINTS.get(refusal.why, WRITE_ONE), refusal.filled)
    return replace(fn, body=body) if fusion.parts else fn


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Two loops that were not fused; a later attempt may have fused them.

    loops: the original loops that the two consisted of at that point, by their variables. filled: the arrays that
    the first fills and the second reads.
    """

    loops: tuple[Symbol, ...]
    filled: frozenset[Symbol]
    why: str
    loc: Loc
    text: str


@dataclass(slots=True)
class _Fusion:
    """own: arrays made in the function. loops: the original loops. parts: the original loops of a fused loop, by
    its variable. refusals: an ordered set. updates: the results of `recognise_reductions` for statements, by their
    identity."""

    own: frozenset[Symbol]
    equal: EqualExtents
    ctx: PassContext
    loops: dict[Symbol, For] = field(default_factory=dict)
    parts: dict[Symbol, tuple[Symbol, ...]] = field(default_factory=dict)
    refusals: dict[_Refusal, None] = field(default_factory=dict)
    updates: dict[int, tuple[Stmt, tuple[Stmt, ...]]] = field(default_factory=dict)

    def group(self, var: Symbol) -> FusionGroup:
        loops = [self.loops[part] for part in self.parts[var]]
        return FusionGroup(var, self.parts[var], tuple(loop.loc for loop in loops), bytes_moved(*loops))

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, For):
                self.loops.setdefault(stmt.var, stmt)
            self._append(out, self._inside(stmt))
        return tuple(out)

    def _inside(self, stmt: Stmt) -> Stmt:
        return self._with_inner(stmt) if isinstance(stmt, For) else map_blocks(stmt, self.block)

    def _with_inner(self, loop: For) -> For:
        """The loop with its inner loops fused. Fusion into a single inner loop makes a perfect nest, which would be
        interchanged if the outer loop is sequential. Such a loop is not changed: `privatise_arrays` may make the
        outer loop parallel."""
        trial = replace(self, refusals={}, parts={})
        new = replace(loop, body=trial.block(loop.body))
        is_nest = len(new.body) == 1 and isinstance(new.body[0], For) and len(loop.body) > 1
        if is_nest and not is_free(new, self.ctx.trials):
            return loop
        self.refusals |= trial.refusals
        self.parts |= trial.parts
        return new

    def _append(self, out: list[Stmt], stmt: Stmt) -> None:
        """Appends the statement, fused with the nearest preceding loop that it can be fused with."""
        if isinstance(stmt, For):
            loops = [at for at in range(len(out) - 1, -1, -1) if isinstance(out[at], For)]
            for at in loops[:REACH]:
                first = out[at]
                assert isinstance(first, For)
                joined = self._joined(first, stmt, out[at + 1 :], out[:at])
                if joined is not None:
                    before, loop, behind = joined
                    out[at:] = before
                    self._append(out, loop)  # it may go with one further up, which the second did not
                    out += behind
                    return
        out.append(stmt)

    def _joined(self, first: For, second: For, between: list[Stmt], before: list[Stmt]) -> _Joined | None:
        """The replacement for both loops and the statements between them; None, with a remark, without fusion.
        before: the statements before both."""
        is_full = len(self._parts(first)) + len(self._parts(second)) > MAX_TOGETHER
        if is_full and not self.own:
            return None
        one, two = self.ctx.facts.texts.by(first.body), self.ctx.facts.texts.by(second.body)
        filled = one.stored & two.loaded
        touched = (one.loaded | one.stored) & (two.loaded | two.stored)
        is_producer = bool(filled & self.own)
        if not touched or not (is_producer or self.ctx.options.auto):
            return None
        if is_full and not is_producer:
            return None
        inner = replace(self, refusals={}, parts={})
        never = why_not_joined(first, second, self.equal, self.ctx.facts.texts)
        is_chain = bool(one.loaded & self.own)  # whose loops run in blocks (`overlapped_tiling`)
        part_of = zeros_before(filled & self.own, before) if never == RANGES and not is_chain else None
        if part_of is not None and is_whole(second, part_of.shape[0], self.equal):
            first = widen(first, part_of, self.equal) or first
            never = why_not_joined(first, second, self.equal, self.ctx.facts.texts)
        found = inner._attempt(first, second, between, is_producer) if never is None else never
        if isinstance(found, str) and not self.ctx.options.on_gpu:
            inner = replace(self, refusals={}, parts={})
            found = inner._turned(first, second, between) or found
        if not isinstance(found, str):
            together = (*self._parts(first), *self._parts(second))
            self.parts.pop(first.var, None)
            self.parts.pop(second.var, None)
            self.refusals |= inner.refusals
            self.parts |= {**inner.parts, found[1].var: together}
            return found
        if filled or (never is None and found != BETWEEN):
            what = "that fills an array it reads" if filled else "that walks the same memory"
            text = f"not joined with the loop at line {first.loc.line} {what}: {found}"
            loops = (*self._parts(first), *self._parts(second))
            self.refusals[_Refusal(loops, frozenset(filled), found, second.loc, text)] = None
        return None

    def _combining(self, loop: For) -> For:
        """The loop with its reductions as updates; statements that were rewritten before are looked up."""
        body: list[Stmt] = []
        for stmt in loop.body:
            if id(stmt) not in self.updates:
                new = (self._combining(stmt),) if isinstance(stmt, For) else with_updates((stmt,), self.ctx)
                self.updates[id(stmt)] = stmt, new
            body += self.updates[id(stmt)][1]
        return replace(loop, body=tuple(body))

    def _parts(self, loop: For) -> tuple[Symbol, ...]:
        return self.parts.get(loop.var, (loop.var,))

    def _turned(self, first: For, second: For, between: list[Stmt]) -> _Joined | None:
        """Fusion with the first nest interchanged, if the second nest has the same rows inside its columns."""
        turned = self._columns_first(first, second)
        if turned is None or why_not_joined(turned, second, self.equal, self.ctx.facts.texts) is not None:
            return None
        if why_not_worthwhile(turned, second) is not None:
            return None
        found = self._attempt(turned, second, between, is_producer=True)
        if isinstance(found, str):
            return None
        rows = [stmt for stmt in found[1].body if isinstance(stmt, For)]
        return found if len(rows) == 1 else None

    def _columns_first(self, first: For, second: For) -> For | None:
        """The first nest interchanged, if that is legal and the second loop has an inner loop over the same rows."""
        inside = [stmt for stmt in second.body if isinstance(stmt, For)]
        if len(inside) != 1 or len(second.body) == 1 or len(first.body) != 1:
            return None
        rows, columns = first, first.body[0]
        if not isinstance(columns, For) or contains(columns.body, For):
            return None
        is_same = self.equal.same(rows.hi, inside[0].hi) and self.equal.same(rows.lo, inside[0].lo)
        if rows.clauses or columns.clauses or not is_same:
            return None
        if not is_fixed(columns.bounds, (rows, columns)):
            return None
        legality = Legality.of(alone(first), self.ctx.trials)
        if not all(legality.judge(loop).may_run_in_any_order for loop in (rows, columns)):
            return None
        return replace(columns, body=(replace(rows, body=columns.body),))

    def _attempt(self, first: For, second: For, between: list[Stmt], is_producer: bool) -> _Joined | str:
        """The fused loop with the statements before and behind it, or the reason why there is none."""
        around = placed(first, second, between, self.ctx.facts.texts)
        if around is None:
            return BETWEEN
        one, two = self._combining(first), self._combining(second)
        if (symbol := left_behind(one, two)) is not None:
            return f"the second starts from the value of '{symbol.name}' that the first leaves"
        if not is_producer and (reason := why_not_worthwhile(one, two)) is not None:
            return reason
        if not self.ctx.options.on_gpu and not self.ctx.options.exact and ends_lanes(one, two):
            return "its functions are computed in lanes, which a loop inside would end"
        reason = why_not_fuse(one, two, self.ctx.trials, exact=self.ctx.options.exact)
        if reason is not None:
            return reason
        loop = fuse(first, second)
        loop = replace(loop, body=self.block(loop.body))
        lost = {id(part) for part in (first, second) if len(perfect_nest(part)) > len(perfect_nest(loop))}
        if lost and not is_producer:
            return "the loops inside them do not go together"
        for part, own in ((one, first), (two, second)):
            matrix = matrix_of_all_iterations(part) if id(own) in lost else None
            if matrix is not None:
                return f"each iteration would access all of '{matrix.name}', which tiles share"
        before, behind = around
        return before, loop, behind


_Joined = tuple[list[Stmt], For, list[Stmt]]
