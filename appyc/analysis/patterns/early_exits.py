"""Search loops: loops with an early exit whose test does not depend on earlier iterations.

    for i in range(n):              test                     rest             leaving
        x = a[i] * 2                    x = a[i] * 2             x = a[i] * 2     x = a[i] * 2
        if x > t:                       if x > t:                b[i] = x         if x > t:
            where = i                       break                                     where = i
            break                                                                 else:
        b[i] = x                                                                      b[i] = x

The *test* of an iteration has no effects and can be had for any iteration of the range, in any
order, because nothing that it reads is changed by the loop: the loop searches for the first
iteration whose test reaches a `Break`. Iterations before that one do the *rest*, with all
effects; that one itself is *leaving*. An iteration that raises counts as leaving.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.accesses.accesses import READS
from appyc.analysis.accesses.scalar_flow import exposed
from appyc.analysis.dependences.array_dataflow import IterationFlow, Sees
from appyc.analysis.dependences.dependences import Dependences
from appyc.analysis.dependences.verdicts import Refusal
from appyc.analysis.patterns.scans import backward_slice
from appyc.errors import Loc, Note
from appyc.ir import nodes as ir
from appyc.ir.blocks import has_own, own_statements, rewrite_own_statements
from appyc.ir.visit import arrays_written, contains, scalars_written, walk

MAX_SIZE = 400
"""Nodes of a test; what follows a condition with a jump in one arm is written for both."""


@dataclass(frozen=True, slots=True)
class EarlyExit:
    """The three parts of an iteration, as above. In `test`, `Break` says that the iteration leaves;
    `rest` may hold `Continue`; `leaving` has no jumps, but may raise."""

    test: tuple[ir.Stmt, ...]
    rest: tuple[ir.Stmt, ...]
    leaving: tuple[ir.Stmt, ...]


def leaves_early(loop: ir.For) -> bool:
    """Whether the loop may have an early exit, before the end of its range."""
    return has_own(loop.body, ir.Break)


def early_exit(loop: ir.For, dependences: Dependences, *, with_loops: bool = False) -> EarlyExit | Refusal:
    """The parts of a loop that `leaves_early` or may raise, or why it is no search. with_loops: a test may have `while`
    loops, as few iterations are tested that Python would not get to."""
    if contains(loop.body, ir.Alloc):
        return Refusal("each iteration makes an array")
    tail = _in_tails(loop.body, MAX_SIZE)
    if tail is None:
        return Refusal("the conditions under which it ends are too long")
    # A `continue` in front of a `break` goes round it, which only the tails show.
    goes_round = has_own(loop.body, ir.Continue)
    rest = _rest(tail if goes_round else loop.body)
    if rest is None:
        return Refusal("its first iteration is its last")
    test = _test(tail)
    refusal = _carried(test, loop) or _written(test, loop, dependences) or _why_not_ahead(test, with_loops)
    return EarlyExit(test, rest, _straight(tail)) if refusal is None else refusal


def carries_its_exit(loop: ir.For) -> bool:
    """Whether what ends a loop that `leaves_early` is a loop-carried scalar."""
    tail = _in_tails(loop.body, MAX_SIZE)
    return tail is None or _carried(_test(tail), loop) is not None


def _in_tails(body: tuple[ir.Stmt, ...], size: int) -> tuple[ir.Stmt, ...] | None:
    """The body with nothing behind a statement that may jump: each path ends where it leaves.

    None where the result would have more than `size` nodes.
    """
    out: list[ir.Stmt] = []
    for number, stmt in enumerate(body):
        match stmt:
            case ir.Break() | ir.Fail() | ir.Continue():
                return (*out, stmt)
            case ir.If() if has_own((stmt,), ir.Break | ir.Continue | ir.Fail):
                behind = body[number + 1 :]
                then = _in_tails((*stmt.then, *behind), size)
                orelse = _in_tails((*stmt.orelse, *behind), size) if then is not None else None
                if then is None or orelse is None or sum(1 for _ in walk((*then, *orelse))) > size:
                    return None
                return (*out, replace(stmt, then=then, orelse=orelse))
            case _:
                out.append(stmt)
    return tuple(out)


def _rest(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...] | None:
    """The statements of an iteration that does not leave; None if each one does."""
    out: list[ir.Stmt] = []
    for stmt in body:
        match stmt:
            case ir.Break() | ir.Fail():
                return None
            case ir.Continue():
                return (*out, stmt)
            case ir.If():
                then, orelse = _rest(stmt.then), _rest(stmt.orelse)
                if then is not None and orelse is not None:
                    out.append(replace(stmt, then=then, orelse=orelse))
                elif then is None and orelse is None:
                    return None
                else:
                    out += then or orelse or ()
            case _:
                out.append(stmt)
    return tuple(out)


def _straight(tail: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    """A body with its jumps in tails, where they change nothing, without them."""
    return rewrite_own_statements(
        tail, lambda stmt: () if isinstance(stmt, ir.Break | ir.Continue) else (stmt,)
    )


def _test(tail: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    """The slice of a body, with its jumps in tail position, that decides whether it leaves the loop: raising
    leaves it, and `continue` does not."""

    def ending(stmt: ir.Stmt) -> tuple[ir.Stmt, ...]:
        if isinstance(stmt, ir.Continue):
            return ()
        return (ir.Break(loc=stmt.loc) if isinstance(stmt, ir.Fail) else stmt,)

    return backward_slice(rewrite_own_statements(tail, ending), ())


def _why_not_ahead(test: tuple[ir.Stmt, ...], with_loops: bool) -> Refusal | None:
    """The reason why a test cannot be evaluated speculatively, for iterations that the loop may not reach;
    None where it can."""
    for node in walk(test):
        match node:
            case ir.While() if not with_loops:
                what = "a loop in it may never end where Python would not get to"
            case ir.Load(checked=True) | ir.Binary(trap=True):
                what = "it may raise in an iteration that Python would not get to"
            case ir.Call():
                what = "it calls a function, which may store"
            case ir.Draw():
                what = "it draws a number, which Python would not"
            case _:
                continue
        return Refusal(f"its condition cannot be tested ahead: {what}", (Note(node.loc, "here"),))
    return None


def _carried(test: tuple[ir.Stmt, ...], loop: ir.For) -> Refusal | None:
    """The scalar in which the test of an iteration learns from iterations before it."""
    written = scalars_written(loop.body)
    for symbol, loc in exposed(test).items():
        if symbol in written:
            return Refusal(
                f"its condition needs the value of '{symbol.name}' from the iteration before",
                _notes(symbol, loc, loop),
            )
    return None


def _written(test: tuple[ir.Stmt, ...], loop: ir.For, dependences: Dependences) -> Refusal | None:
    """The element that a test may find changed by the loop; one that is written later is no matter."""
    stored = arrays_written(loop.body)
    for node in walk(test):
        if not isinstance(node, ir.Load) or node.array not in stored:
            continue
        if _is_read_after_a_write(node.array, loop, dependences):
            return Refusal(
                f"its condition reads '{node.array.name}', which the loop writes",
                (Note(node.loc, f"'{node.array.name}' is read here"),),
            )
    return None


def _is_read_after_a_write(array: ir.Symbol, loop: ir.For, dependences: Dependences) -> bool:
    """Whether some read of an array in the loop may see what the loop has written."""
    others = frozenset(arrays_written(loop.body) - {array})
    if any(c.source.writes and c.sink.op in READS for c in dependences.conflicts(loop, others)):
        return True
    flow = IterationFlow(dependences, loop, array)
    return any(read.op in READS and flow.sees(read) is not Sees.OLD for read in flow.reads)


def _notes(symbol: ir.Symbol, read: Loc, loop: ir.For) -> tuple[Note, ...]:
    name = symbol.name
    for node in walk(loop.body):
        if isinstance(node, ir.Assign | ir.Update) and node.target == symbol:
            if node.loc == read:
                return (Note(read, f"'{name}' is read and assigned here"),)
            return (Note(read, f"'{name}' is read here"), Note(node.loc, "and assigned here"))
    return ()


def exit_loc(loop: ir.For) -> Loc:
    return next(stmt.loc for stmt in own_statements(loop.body) if isinstance(stmt, ir.Break))
