"""Legality of marked loops: each is proven parallel, or refused with the conflicting accesses; finds SIMD loops
among the others."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.dependences.inspector import condition_text, inspections
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import LoopVerdict, Verdict, loop_text
from appyc.analysis.patterns.scans import LINEAR
from appyc.errors import DependenceError, Note, PragmaError
from appyc.ir.nodes import Alloc, Ascending, Call, Clauses, For, Function, LoopMode, Symbol, While
from appyc.ir.visit import loops_of, map_loops, symbols_of, walk
from appyc.passes.checks.clause_checks import check_private_clause, check_reduction_clause
from appyc.passes.node_builders import conjunction
from appyc.passes.parallelise.plain_loops import is_plain
from appyc.passes.pass_context import PassContext

_ASKED = {"parallel": LoopMode.PARALLEL, "simd": LoopMode.SIMD}


def check_parallel(fn: Function, ctx: PassContext) -> Function:
    """Sets the mode of every loop, with its private scalars and its reductions.

    Before:                                   After:
        #pragma parallel for                      for i in range(n):  # parallel, private t, last t
        for i in range(n):                            t = a[i]
            t = a[i]                                  b[i] = t * t
            b[i] = t * t                          ... t ...
        ... t ...

    A loop with a request (`parallel`, `simd`, or within a `collapse`) raises DependenceError unless its
    iterations are proven independent. The clause `independent` asserts that there are no dependences
    through arrays. A loop without a request whose iterations may run in any order becomes SIMD if it is
    innermost. The verdicts of all loops are in `ctx.verdicts`.

    Expects reductions as `Update`s (`recognise_reductions`). The analysis is more precise where accesses are
    known to be in range (`check_bounds`).

    A loop that is independent for some arguments, or for some values of an index array, is accepted
    if that can be tested at the call: `version_loops` generates the test.

    A loop that reduces into elements of an array may run on threads, each with a copy of the
    array; the array is then among the `reductions` of the loop.

    Does not handle: copying an array to break a false dependence.
    """
    loops = loops_of(fn.body)
    asked = _requests(loops)
    if not asked and not ctx.options.auto:
        return fn
    legality = ctx.legality(fn)
    decided: dict[Symbol, For] = {}
    inside: set[Symbol] = set()
    """Loops within one that takes the threads already; outer ones are judged first."""
    for loop in loops:
        clauses = asked.get(loop.var)
        if clauses is None and not ctx.options.auto:
            continue
        verdict = legality.judge(loop, _sworn(fn, clauses))
        if not (verdict.may_run_in_any_order or verdict.guard is not None or loop.var in inside):
            verdict = _inspected(loop, legality, verdict, asked=clauses is not None)
        ctx.verdicts[loop.var] = verdict
        if verdict.may_run_on_threads and not verdict.arrays:
            inside.update(inner.var for inner in loops_of(loop.body))
        if clauses is not None:
            _insist(loop, clauses, verdict)
        decided[loop.var] = _decided(loop, clauses, verdict, ctx)

    _say_what_was_given_up(fn, ctx)

    return map_loops(fn, lambda loop: replace(decided.get(loop.var, loop), body=loop.body))


def _say_what_was_given_up(fn: Function, ctx: PassContext) -> None:
    count = ctx.allowance.unanswered
    if count:
        what = "a question" if count == 1 else f"{count} questions"
        ctx.missed(
            fn.loc,
            f"{what} about the loops and indices of '{fn.name}' takes too long to answer: what they are "
            "about is taken to depend, and to need checks",
            "make functions of parts of this one",
        )


def _requests(loops: list[For]) -> dict[Symbol, Clauses]:
    """The loops that were asked to run in parallel or as lanes, with the clauses that ask."""
    asked: dict[Symbol, Clauses] = {}
    for loop in loops:
        clauses = loop.clauses
        if clauses is None or clauses.request not in _ASKED:
            continue
        asked[loop.var] = clauses
        inner = loop
        for _ in range(clauses.collapse - 1):
            inner = _only_loop(inner, clauses)
            asked[inner.var] = clauses
    return asked


def _only_loop(loop: For, clauses: Clauses) -> For:
    match loop.body:
        case (For() as inner,):
            return inner
    raise PragmaError(
        f"collapse({clauses.collapse}) needs {clauses.collapse} loops with nothing between them",
        clauses.loc,
        related=(Note(loop.loc, "the body of this loop is not a single loop"),),
        hints=("move the statements between the loops into the inner one, or drop the clause",),
    )


def _sworn(fn: Function, clauses: Clauses | None) -> frozenset[Symbol]:
    """The arrays that the user's oath is about: all but those that a clause says are combined into."""
    if clauses is None or not clauses.independent:
        return frozenset()
    combined = {reduction.symbol for reduction in clauses.reductions}
    return frozenset(symbol for symbol in symbols_of(fn) if symbol.is_array) - combined


def may_get_lanes(loop: For, verdict: LoopVerdict) -> bool:
    """Whether a loop that is not free asks for lanes, and `find_lanes` has to tell if it can have them."""
    clauses = loop.clauses
    if clauses is None or clauses.request != "simd" or clauses.collapse > 1:
        return False
    return verdict.verdict in (Verdict.CARRIED, Verdict.UNKNOWN) and verdict.guard is None and is_plain(loop)


def refusal(clauses: Clauses, verdict: LoopVerdict) -> DependenceError:
    return DependenceError(
        _sentence(clauses, verdict),
        clauses.loc,
        label="asked for here",
        related=verdict.notes,
        hints=verdict.hints,
    )


def _insist(loop: For, clauses: Clauses, verdict: LoopVerdict) -> None:
    """Raises unless the loop may run as asked."""
    as_scan = verdict.verdict is Verdict.SCAN and clauses.request == "parallel" and clauses.collapse == 1
    is_free = verdict.may_run_on_threads if clauses.request == "parallel" else verdict.may_run_in_any_order
    if not (is_free or verdict.guard is not None or as_scan or may_get_lanes(loop, verdict)):
        raise refusal(clauses, verdict)
    check_reduction_clause(loop, clauses, verdict)
    check_private_clause(loop, clauses, verdict)


def _inspected(loop: For, legality: Legality, verdict: LoopVerdict, *, asked: bool) -> LoopVerdict:
    """The verdict with an inspector's condition, where an inspection of an index array can decide.

    For a loop without a request that does little work in an iteration, the inspection is
    optional. Updates through an index array do not depend on an inspection: they may access the same element
    by design, and need `atomic`.
    """
    if verdict.verdict not in (Verdict.UNKNOWN, Verdict.REDUCTION):
        return verdict
    is_light = not any(isinstance(n, For | While) for n in walk(loop.body))
    looks = inspections(loop, optional=is_light and not asked)
    if verdict.arrays:
        looks = {array: look for array, look in looks.items() if isinstance(look, Ascending)}
    free = legality.judge(loop, frozenset(looks)) if looks else verdict
    if not free.may_run_in_any_order:
        return verdict
    needed = {
        array: look
        for array, look in looks.items()
        if not legality.judge(loop, frozenset(looks) - {array}).may_run_in_any_order
    }
    guard = conjunction(list(needed.values()))
    targets = ", ".join(f"'{name}'" for name in sorted(a.name for a in needed))
    condition = condition_text(needed)
    reason = (
        f"{loop_text(loop.var, loop.clauses)}: iterations touch one element of {targets}, unless {condition}"
    )
    return replace(
        free,
        verdict=Verdict.CONDITIONAL,
        reason=reason,
        notes=verdict.notes,
        condition=condition,
        guard=guard,
    )


def _sentence(clauses: Clauses, verdict: LoopVerdict) -> str:
    if verdict.verdict is Verdict.REDUCTION:
        return f"{loop_text(verdict.var, clauses)} cannot run in parallel as it stands: {verdict.reason}"
    return verdict.reason


def _decided(loop: For, clauses: Clauses | None, verdict: LoopVerdict, ctx: PassContext) -> For:
    """The loop with its mode and its scalars."""
    mode = LoopMode.SEQUENTIAL
    if verdict.combined and ctx.options.exact and rounds_differently(verdict):
        if clauses is not None and clauses.request in _ASKED:
            text = f"{loop_text(loop.var, loop.clauses)} runs in order: with exact=True its sums keep theirs"
            ctx.missed(clauses.loc, text, "leave exact=True out if another order of the sum will do")
        return loop
    if verdict.verdict is Verdict.SCAN:
        return _in_order(loop, verdict)
    if clauses is not None:
        mode = LoopMode.SEQUENTIAL if may_get_lanes(loop, verdict) else _ASKED[clauses.request]
    elif (
        verdict.may_run_in_any_order
        and not _told_to_wait(loop)
        and not any(isinstance(node, For | While | Alloc | Call) for node in walk(loop.body))
    ):  # lanes can follow straight-line code and conditions
        mode = LoopMode.SIMD
    free = verdict.may_run_in_any_order or (clauses is not None and verdict.guard is not None)
    in_copies = mode is LoopMode.PARALLEL and verdict.may_run_on_threads
    if not (free or in_copies):
        return replace(loop, mode=mode, private=(), last=(), reductions=())
    return verdict.applied(loop, mode, verdict.all_reductions if in_copies else verdict.reductions)


def _in_order(loop: For, verdict: LoopVerdict) -> For:
    """The loop in order, with its scans for those that can run them (`parallel_scan`, lanes of a GPU)."""
    if _told_to_wait(loop):
        return loop
    return replace(verdict.applied(loop, loop.mode, verdict.reductions), scans=verdict.scans)


def rounds_differently(verdict: LoopVerdict) -> bool:
    """Whether another order of the iterations may change bits of what they combine: the last ones, or of zeros, which
    are equal, the sign."""
    return any(
        part.op in ("+", "*", LINEAR, "min", "max") and not part.symbol.dtype.is_integer
        for part in verdict.combined
    )


def _told_to_wait(loop: For) -> bool:
    return loop.clauses is not None and loop.clauses.request == "sequential"
