"""Legality of marked loops: each is proven parallel, or refused with the conflicting accesses; finds SIMD loops
among the others."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.dependences.inspector import condition_text, inspections
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import LoopVerdict, Verdict, loop_text
from appyc.analysis.patterns.scans import LINEAR
from appyc.errors import DependenceError, Note, PragmaError
from appyc.ir import nodes as ir
from appyc.ir.visit import arrays_written, contains, loops_of, map_loops, symbols_of, walk
from appyc.passes.node_builders import conjunction
from appyc.passes.parallelise.plain_loops import is_plain
from appyc.passes.pass_context import PassContext

_ASKED = {"parallel": ir.LoopMode.PARALLEL, "simd": ir.LoopMode.SIMD}


def check_parallel(fn: ir.Function, ctx: PassContext) -> ir.Function:
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
    decided: dict[ir.Symbol, ir.For] = {}
    inside: set[ir.Symbol] = set()
    """Loops within one that takes the threads already; outer ones are judged first."""
    for loop in loops:
        clauses = asked.get(loop.var)
        if clauses is None and not ctx.options.auto:
            continue
        judge = legality
        verdict = judge.judge(loop, _sworn(fn, clauses))
        if clauses is not None and verdict.verdict is Verdict.UNKNOWN and ctx.allowance.left <= 0:
            judge = Legality.of(fn)  # other questions have used up what the function had
            verdict = judge.judge(loop, _sworn(fn, clauses))
        if not (verdict.may_run_in_any_order or verdict.guard is not None or loop.var in inside):
            verdict = _inspected(loop, judge, verdict, asked=clauses is not None)
        ctx.verdicts[loop.var] = verdict
        if verdict.may_run_on_threads and not verdict.arrays:
            inside.update(inner.var for inner in loops_of(loop.body))
        if clauses is not None:
            _insist(loop, clauses, verdict)
        decided[loop.var] = _decided(loop, clauses, verdict, ctx)

    _say_what_was_given_up(fn, ctx)

    return map_loops(fn, lambda loop: replace(decided.get(loop.var, loop), body=loop.body))


def _say_what_was_given_up(fn: ir.Function, ctx: PassContext) -> None:
    count = ctx.allowance.unanswered
    if count:
        what = "a question" if count == 1 else f"{count} questions"
        ctx.missed(
            fn.loc,
            f"{what} about the loops and indices of '{fn.name}' takes too long to answer: what they are "
            "about is taken to depend, and to need checks",
            "make functions of parts of this one",
        )


def _requests(loops: list[ir.For]) -> dict[ir.Symbol, ir.Clauses]:
    """The loops that were asked to run in parallel or as lanes, with the clauses that ask."""
    asked: dict[ir.Symbol, ir.Clauses] = {}
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


def _only_loop(loop: ir.For, clauses: ir.Clauses) -> ir.For:
    match loop.body:
        case (ir.For() as inner,):
            return inner
    raise PragmaError(
        f"collapse({clauses.collapse}) needs {clauses.collapse} loops with nothing between them",
        clauses.loc,
        "move the statements between the loops into the inner one, or drop the clause",
        related=(Note(loop.loc, "the body of this loop is not a single loop"),),
    )


def _sworn(fn: ir.Function, clauses: ir.Clauses | None) -> frozenset[ir.Symbol]:
    """The arrays that the user's oath is about: all but those that a clause says are combined into."""
    if clauses is None or not clauses.independent:
        return frozenset()
    combined = {reduction.symbol for reduction in clauses.reductions}
    return frozenset(symbol for symbol in symbols_of(fn) if symbol.is_array) - combined


def may_get_lanes(loop: ir.For, verdict: LoopVerdict) -> bool:
    """Whether a loop that is not free asks for lanes, and `find_lanes` has to tell if it can have them."""
    if loop.clauses is None or loop.request != "simd" or loop.clauses.collapse > 1:
        return False
    return verdict.verdict in (Verdict.CARRIED, Verdict.UNKNOWN) and verdict.guard is None and is_plain(loop)


def refusal(clauses: ir.Clauses, verdict: LoopVerdict) -> DependenceError:
    text = verdict.reason
    if verdict.verdict is Verdict.REDUCTION:
        text = f"{loop_text(verdict.var, clauses)} cannot run in parallel as it stands: {text}"
    return DependenceError(text, clauses.loc, *verdict.hints, label="asked for here", related=verdict.notes)


def _insist(loop: ir.For, clauses: ir.Clauses, verdict: LoopVerdict) -> None:
    """Raises unless the loop may run as asked."""
    as_scan = verdict.verdict is Verdict.SCAN and clauses.request == "parallel" and clauses.collapse == 1
    is_free = verdict.may_run_on_threads if clauses.request == "parallel" else verdict.may_run_in_any_order
    if not (is_free or verdict.guard is not None or as_scan or may_get_lanes(loop, verdict)):
        raise refusal(clauses, verdict)
    _check_reduction_clause(loop, clauses, verdict)
    _check_private_clause(loop, clauses, verdict)


def _inspected(loop: ir.For, legality: Legality, verdict: LoopVerdict, *, asked: bool) -> LoopVerdict:
    """The verdict with an inspector's condition, where an inspection of an index array can decide.

    For a loop without a request that does little work in an iteration, the inspection is
    optional. Updates through an index array do not depend on an inspection: they may access the same element
    by design, and need `atomic`.
    """
    if verdict.verdict not in (Verdict.UNKNOWN, Verdict.REDUCTION):
        return verdict
    is_light = not contains(loop.body, ir.For | ir.While)
    looks = inspections(loop, optional=is_light and not asked)
    if verdict.arrays:
        looks = {array: look for array, look in looks.items() if isinstance(look, ir.Ascending)}
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
    return replace(free, verdict=Verdict.CONDITIONAL, reason=reason, notes=verdict.notes, condition=condition,
                   guard=guard)  # fmt: skip


def _decided(loop: ir.For, clauses: ir.Clauses | None, verdict: LoopVerdict, ctx: PassContext) -> ir.For:
    """The loop with its mode and its scalars."""
    mode = ir.LoopMode.SEQUENTIAL
    if verdict.combined and ctx.options.exact and rounds_differently(verdict):
        if clauses is not None and clauses.request in _ASKED:
            text = f"{loop_text(loop.var, loop.clauses)} runs in order: with exact=True its sums keep theirs"
            ctx.missed(clauses.loc, text, "leave exact=True out if another order of the sum will do")
        return loop
    if verdict.verdict is Verdict.SCAN:
        return _in_order(loop, verdict)
    if clauses is not None:
        mode = ir.LoopMode.SEQUENTIAL if may_get_lanes(loop, verdict) else _ASKED[clauses.request]
    elif (
        verdict.may_run_in_any_order
        and loop.request != "sequential"
        and not contains(loop.body, ir.For | ir.While | ir.Alloc | ir.Call)
    ):  # lanes can follow straight-line code and conditions
        mode = ir.LoopMode.SIMD
    free = verdict.may_run_in_any_order or (clauses is not None and verdict.guard is not None)
    in_copies = mode is ir.LoopMode.PARALLEL and verdict.may_run_on_threads
    if not (free or in_copies):
        return replace(loop, mode=mode, private=(), last=(), reductions=())
    return verdict.applied(loop, mode, verdict.all_reductions if in_copies else verdict.reductions)


def _in_order(loop: ir.For, verdict: LoopVerdict) -> ir.For:
    """The loop in order, with its scans for those that can run them (`parallel_scan`, lanes of a GPU)."""
    if loop.request == "sequential":
        return loop
    return replace(verdict.applied(loop, loop.mode, verdict.reductions), scans=verdict.scans)


def rounds_differently(verdict: LoopVerdict) -> bool:
    """Whether another order of the iterations may change bits of what they combine: the last ones, or of zeros, which
    are equal, the sign."""
    return any(
        part.op in ("+", "*", LINEAR, "min", "max") and not part.symbol.dtype.is_integer
        for part in verdict.combined
    )


def _check_reduction_clause(loop: ir.For, clauses: ir.Clauses, verdict: LoopVerdict) -> None:
    found = {part.symbol: part.op for part in verdict.combined}
    for reduction in clauses.reductions:
        name, op = reduction.symbol.name, found.get(reduction.symbol)
        if op is None and reduction.symbol in arrays_written(loop.body):
            op = _operator(loop, reduction)  # every iteration combines into elements of its own
        if op != reduction.op:
            how = "by multiplying and adding" if op == LINEAR else f"with '{op}'"
            what = f"combines '{name}' {how}" if op else f"does not combine anything into '{name}'"
            raise PragmaError(
                f"the clause reduction({reduction.op}: {name}) does not fit: the loop {what}",
                clauses.loc,
                "drop the clause: reductions are recognised without it",
                related=(Note(loop.loc, "the loop"),),
            )


def _operator(loop: ir.For, wanted: ir.Reduction) -> str:
    """The operator of the loop's updates of an array; the one wanted where there are none left."""
    updates = (n.op for n in walk(loop.body) if isinstance(n, ir.Update) and n.target == wanted.symbol)
    return next(updates, wanted.op)


def _check_private_clause(loop: ir.For, clauses: ir.Clauses, verdict: LoopVerdict) -> None:
    for symbol in clauses.private:
        shared = [part.symbol for part in verdict.combined]
        if symbol in shared:
            how = "combine into it" if shared.index(symbol) < len(verdict.all_reductions) else "hand it on"
            raise PragmaError(
                f"'{symbol.name}' is not private: iterations {how}",
                clauses.loc,
                f"take '{symbol.name}' out of the clause, or assign it before it is updated",
                related=(Note(loop.loc, "the loop"),),
            )
