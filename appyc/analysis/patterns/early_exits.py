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
from appyc.errors import Loc, Note
from appyc.ir.blocks import own_statements, rewrite_own_statements
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Binary,
    Break,
    Continue,
    Draw,
    Fail,
    For,
    If,
    Load,
    Stmt,
    Symbol,
    Update,
    While,
)
from appyc.ir.raising import may_raise
from appyc.ir.visit import arrays_written, scalars_read, scalars_written, walk

MAX_SIZE = 400
"""Nodes of a test; what follows a condition with a jump in one arm is written for both."""


@dataclass(frozen=True, slots=True)
class EarlyExit:
    """The three parts of an iteration, as above. In `test`, `Break` says that the iteration leaves;
    `rest` may hold `Continue`; `leaving` has no jumps, but may raise."""

    test: tuple[Stmt, ...]
    rest: tuple[Stmt, ...]
    leaving: tuple[Stmt, ...]


def leaves_early(loop: For) -> bool:
    """Whether the loop may have an early exit, before the end of its range."""
    return any(isinstance(stmt, Break) for stmt in own_statements(loop.body))


def early_exit(loop: For, dependences: Dependences, *, with_loops: bool = False) -> EarlyExit | Refusal:
    """The parts of a loop that `leaves_early` or may raise, or why it is no search. with_loops: a test may have `while`
    loops, as few iterations are tested that Python would not get to."""
    if any(isinstance(node, Alloc) for node in walk(loop.body)):
        return Refusal("each iteration makes an array")
    tail = _in_tails(loop.body, MAX_SIZE)
    if tail is None:
        return Refusal("the conditions under which it ends are too long")
    # A `continue` in front of a `break` goes round it, which only the tails show.
    goes_round = any(isinstance(stmt, Continue) for stmt in own_statements(loop.body))
    rest = _rest(tail if goes_round else loop.body)
    if rest is None:
        return Refusal("its first iteration is its last")
    test = _test(tail)
    refusal = _carried(test, loop) or _written(test, loop, dependences) or _why_not_ahead(test, with_loops)
    return EarlyExit(test, rest, _straight(tail)) if refusal is None else refusal


def carries_its_exit(loop: For) -> bool:
    """Whether what ends a loop that `leaves_early` is a loop-carried scalar."""
    tail = _in_tails(loop.body, MAX_SIZE)
    return tail is None or _carried(_test(tail), loop) is not None


# ---------------------------------------------------------------- the parts


def _in_tails(body: tuple[Stmt, ...], size: int) -> tuple[Stmt, ...] | None:
    """The body with nothing behind a statement that may jump: each path ends where it leaves.

    None where the result would have more than `size` nodes.
    """
    out: list[Stmt] = []
    for number, stmt in enumerate(body):
        match stmt:
            case Break() | Fail() | Continue():
                return (*out, stmt)
            case If() if _jumps(stmt):
                behind = body[number + 1 :]
                then = _in_tails((*stmt.then, *behind), size)
                orelse = _in_tails((*stmt.orelse, *behind), size)
                if then is None or orelse is None or sum(1 for _ in walk((*then, *orelse))) > size:
                    return None
                return (*out, replace(stmt, then=then, orelse=orelse))
            case _:
                out.append(stmt)
    return tuple(out)


def _jumps(stmt: If) -> bool:
    return any(isinstance(s, Break | Continue | Fail) for s in own_statements((stmt,)))


def _rest(body: tuple[Stmt, ...]) -> tuple[Stmt, ...] | None:
    """The statements of an iteration that does not leave; None if each one does."""
    out: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Break() | Fail():
                return None
            case Continue():
                return (*out, stmt)
            case If():
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


def _straight(tail: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """A body with its jumps in tails, where they change nothing, without them."""
    return rewrite_own_statements(tail, lambda stmt: () if isinstance(stmt, Break | Continue) else (stmt,))


def _ending(tail: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """A body with its jumps in tails: what raises leaves, what goes on is nothing."""

    def rule(stmt: Stmt) -> tuple[Stmt, ...]:
        return (
            () if isinstance(stmt, Continue) else (Break(loc=stmt.loc) if isinstance(stmt, Fail) else stmt,)
        )

    return rewrite_own_statements(tail, rule)


def _test(tail: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Of a body with its jumps in tails, what decides whether it leaves."""
    return _slice(_ending(tail), frozenset(), effects=False)


def what_shows(body: tuple[Stmt, ...], live: frozenset[Symbol]) -> tuple[Stmt, ...]:
    """Of a body what can be told from outside: effects, and what sets the scalars in `live`."""
    return _slice(body, live, effects=True)


def _slice(body: tuple[Stmt, ...], wanted: frozenset[Symbol], *, effects: bool) -> tuple[Stmt, ...]:
    """The statements that jump or set `wanted` scalars, those that have `effects` too if asked
    for, and those that set what these read."""
    needed = set(wanted)
    while True:
        kept = _part(body, needed, effects)
        more = scalars_read(kept)
        if more <= needed:
            return kept
        needed |= more


def _part(body: tuple[Stmt, ...], needed: set[Symbol], effects: bool) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for stmt in body:
        match stmt:
            case If(cond, then, orelse):
                then, orelse = _part(then, needed, effects), _part(orelse, needed, effects)
                keep = bool(then or orelse) or (effects and may_raise(cond))
                stmt = replace(stmt, then=then, orelse=orelse)
            case For() | While():
                stmt = replace(stmt, body=_part(stmt.body, needed, effects))
                # A loop inside is kept for what it sets, not for its jumps.
                own = own_statements(stmt.body)
                keep = any(not isinstance(s, If | Break | Continue) for s in own)
                keep |= effects and may_raise(stmt)
            case Assign() | Update() if not stmt.target.is_array:
                keep = stmt.target in needed or (effects and may_raise(stmt))
            case Break() | Continue():
                keep = True
            case _:
                keep = effects
        if keep:
            out.append(stmt)
    return tuple(out)


# ---------------------------------------------------------------- why not


def _why_not_ahead(test: tuple[Stmt, ...], with_loops: bool) -> Refusal | None:
    """What keeps a test from being had for an iteration that the loop may never get to."""
    for node in walk(test):
        match node:
            case While() if not with_loops:
                what = "a loop in it may never end where Python would not get to"
            case Load(checked=True) | Binary(trap=True):
                what = "it may raise in an iteration that Python would not get to"
            case Draw():
                what = "it draws a number, which Python would not"
            case For() if any(isinstance(n, Fail) for n in walk(node.body)):
                what = "it may raise in an iteration that Python would not get to"
            case _:
                continue
        return Refusal(f"its condition cannot be tested ahead: {what}", (Note(node.loc, "here"),))
    return None


def _carried(test: tuple[Stmt, ...], loop: For) -> Refusal | None:
    """The scalar in which the test of an iteration learns from iterations before it."""
    written = scalars_written(loop.body)
    for symbol, loc in exposed(test).items():
        if symbol in written:
            return Refusal(
                f"its condition needs the value of '{symbol.name}' from the iteration before",
                _notes(symbol, loc, loop),
            )
    return None


def _written(test: tuple[Stmt, ...], loop: For, dependences: Dependences) -> Refusal | None:
    """The element that a test may find changed by the loop; one that is written later is no matter."""
    stored = arrays_written(loop.body)
    for node in walk(test):
        if not isinstance(node, Load) or node.array not in stored:
            continue
        if _is_read_after_a_write(node.array, loop, dependences):
            return Refusal(
                f"its condition reads '{node.array.name}', which the loop writes",
                (Note(node.loc, f"'{node.array.name}' is read here"),),
            )
    return None


def _is_read_after_a_write(array: Symbol, loop: For, dependences: Dependences) -> bool:
    """Whether some read of an array in the loop may see what the loop has written."""
    others = frozenset(arrays_written(loop.body) - {array})
    if any(c.source.writes and c.sink.op in READS for c in dependences.conflicts(loop, others)):
        return True
    flow = IterationFlow(dependences, loop, array)
    return any(read.op in READS and flow.sees(read) is not Sees.OLD for read in flow.reads)


def _notes(symbol: Symbol, read: Loc, loop: For) -> tuple[Note, ...]:
    name = symbol.name
    for node in walk(loop.body):
        if isinstance(node, Assign | Update) and node.target == symbol:
            if node.loc == read:
                return (Note(read, f"'{name}' is read and assigned here"),)
            return (Note(read, f"'{name}' is read here"), Note(node.loc, "and assigned here"))
    return ()


def exit_loc(loop: For) -> Loc:
    return next(stmt.loc for stmt in own_statements(loop.body) if isinstance(stmt, Break))
