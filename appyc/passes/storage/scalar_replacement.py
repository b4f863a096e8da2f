"""Scalar replacement: an array element with a loop-invariant index is held in a scalar for the loop."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from appyc.analysis.accesses.elements import FixedElement, exists_before, fixed_elements, stands_apart
from appyc.analysis.accesses.scalar_flow import scalars_of
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import LoopVerdict
from appyc.ir.array_accesses import is_access
from appyc.ir.blocks import blocks_of, collapsed_loops, perfect_nest
from appyc.ir.names import NameSupply
from appyc.ir.nodes import For, Function, Stmt, Symbol
from appyc.ir.printer import print_expr
from appyc.ir.raising import raises_itself
from appyc.ir.visit import arrays_written, loops_of, map_loops, walk
from appyc.passes.pass_context import PassContext
from appyc.passes.storage.element_scalars import Held, held_in_scalars, in_scalars


def scalar_replacement(fn: Function, ctx: PassContext) -> Function:
    """Loops that only such elements keep from running in any order get scalars instead.

    Before:                                   After:
        for k in range(n):                        e = c[i, j]
            c[i, j] += a[i, k] * b[k, j]          for k in range(n):
                                                      e += a[i, k] * b[k, j]
                                                  c[i, j] = e

        for i in range(n):                        if 0 < n:
            t[0] = x[i] * 2.0                         for i in range(n):
            y[i] = t[0] + x[i]                            e = x[i] * 2.0
                                                          y[i] = e + x[i]
                                                      t[0] = e

    The scalar is a reduction, or each iteration's own, and `check_parallel` sees that. The
    condition is there where the element may not exist if the loop does not run. Where a loop
    around combines into the element as well, by the same operator, the scalar starts from the
    neutral element and is combined at the end, so that the outer loop stays a reduction.

    Everything else that the loop touches in the array must be apart from the element, which
    dependence analysis tells. The outermost loop that can hold an element does. Requires
    `recognise_reductions`.

    Does not handle: elements that may not exist and are touched under a condition only, or in an
    inner loop which is not all that its outer loop runs; bodies that may raise
    (what was written before an exception shows), unless the element is all that is written
    and all that may raise; atomic updates; loops inside a `collapse`.
    """
    search = _Search(fn, ctx)
    search.block(fn.body, ())
    return search.promoted() if search.chosen else fn


class _Search:
    """Looks for the elements of each loop, outer loops first. chosen: by the loop's variable."""

    def __init__(self, fn: Function, ctx: PassContext) -> None:
        self.fn, self.ctx = fn, ctx
        self.names = NameSupply.after(fn)
        self.collapsed = collapsed_loops(fn)
        self.chosen: dict[Symbol, tuple[Held, ...]] = {}
        self.guarded: set[Symbol] = set()

    @cached_property
    def legality(self) -> Legality:
        return self.ctx.legality(self.fn)

    def block(self, body: tuple[Stmt, ...], around: tuple[For, ...]) -> None:
        for stmt in body:
            if isinstance(stmt, For):
                if self._is_candidate(stmt):
                    self._choose(stmt, around)
                self.block(stmt.body, (*around, stmt))
                continue
            for block in blocks_of(stmt):
                self.block(block, around)

    def _is_candidate(self, loop: For) -> bool:
        if loop.clauses is None:
            return self.ctx.options.auto and loop.var not in self.collapsed
        return loop.clauses.request in ("parallel", "simd") and not loop.clauses.independent

    def _choose(self, loop: For, around: tuple[For, ...]) -> None:
        outside = [h.element for outer in around for h in self.chosen.get(outer.var, ())]
        found = [
            element
            for element in fixed_elements(loop)
            if not any(o.is_touched_by(element.at) for o in outside) and not _shows_faults(loop, element)
        ]
        if not found or _is_free(self.legality.judge(loop)):
            return
        dependences = self.legality.dependences
        found = [
            element
            for element in found
            if stands_apart(loop, element, dependences)
            and (
                exists_before(loop, element, dependences)
                or (element.nest and perfect_nest(loop)[: len(element.nest)] == element.nest)
            )
        ]
        if not _is_free(self.legality.judge(loop, frozenset(element.array for element in found))):
            return
        held = tuple(self._held(element, around) for element in found)
        trial = map_loops(self.fn, lambda n: in_scalars(n, held) if n.var == loop.var else n)
        scalars = scalars_of(trial)[loop.var]
        if scalars.carried or (not all(e.nest for e in found) and self._serialises(loop, held, around)):
            return
        self.chosen[loop.var] = tuple(replace(h, read=h.scalar not in scalars.private) for h in held)
        if own := ", ".join(f"'{_text_of(h.element)}'" for h in self.chosen[loop.var] if not h.read):
            self.ctx.freed(loop.var, f"privatising {own}, live-out from the last iteration")
        if not all(exists_before(loop, element, dependences) for element in found):
            self.guarded.add(loop.var)

    def _serialises(self, loop: For, held: tuple[Held, ...], around: tuple[For, ...]) -> bool:
        """Whether a loop around would not run on threads any more, since it stores what it stored under a condition."""
        free = {outer.var for outer in around if _runs_on_threads(self.legality.judge(outer))}
        if not free:
            return False
        trial = map_loops(
            self.fn, lambda n: held_in_scalars(n, held, guarded=False) if n.var == loop.var else n
        )
        judge = self.ctx.legality(trial).judge
        return any(outer.var in free and not _runs_on_threads(judge(outer)) for outer in loops_of(trial.body))

    def _held(self, element: FixedElement, around: tuple[For, ...]) -> Held:
        scalar = self.names.fresh(f"{element.array.name}_element", element.array.dtype)
        return Held(element, scalar, combined=self._is_combined_outside(element, around))

    def _is_combined_outside(self, element: FixedElement, around: tuple[For, ...]) -> bool:
        op, array = element.op, element.array
        if op is None or (self.ctx.options.exact and op in ("+", "*") and not array.dtype.is_integer):
            return False
        return any((op, array) in self.legality.judge(outer).arrays for outer in around)

    def promoted(self) -> Function:
        def rule(loop: For) -> Stmt | tuple[Stmt, ...]:
            held = self.chosen.get(loop.var)
            return loop if held is None else held_in_scalars(loop, held, guarded=loop.var in self.guarded)

        return map_loops(self.fn, rule)


def _text_of(element: FixedElement) -> str:
    return f"{element.array.name}[{', '.join(map(print_expr, element.index))}]"


def _is_free(verdict: LoopVerdict) -> bool:
    return verdict.may_run_in_any_order or verdict.guard is not None


def _runs_on_threads(verdict: LoopVerdict) -> bool:
    return verdict.may_run_on_threads or verdict.guard is not None


def _shows_faults(loop: For, element: FixedElement) -> bool:
    """Whether holding the element could show where an iteration raises: in what was written before
    that, or in which exception it is."""
    raising = {id(node) for node in walk(loop.body) if raises_itself(node)}
    if not raising:
        return False
    touches = [node for node in walk(loop.body) if is_access(node) and element.is_touched_by(node)]
    own = {id(part) for touch in touches for part in (touch, *walk(touch.index))}
    return not raising <= own or arrays_written(loop.body) != {element.array} or bool(element.others)
