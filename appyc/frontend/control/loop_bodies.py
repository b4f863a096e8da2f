"""The body of a loop: loop-carried bindings at its top, its back edges and its exits.

The bindings at the top must be the same for the first and every later iteration. They are a fixed point: the
body is lowered with the bindings from before the loop; if a back edge has wider types, it is lowered again with
the joined types.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace

from appyc.errors import Loc
from appyc.frontend.control.buffer_rotation import Exchange, exchanged_names
from appyc.frontend.control.joins import bring_home, end_path, join, lower_only_if
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import const, integer
from appyc.frontend.facts import Env, LoopFrame, Restart
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.liveness import live_before
from appyc.frontend.syntax.tree import may_return, walk
from appyc.frontend.types.numbers import PY_INT, Either
from appyc.frontend.types.values import Binding, Conflict, Number, Slot, TupleSlots
from appyc.frontend.types.wide_ints import LargeIntError
from appyc.ir.nodes import Assign, Binary, Break, Continue, Expr, For, If, Stmt, Unary, Var, While
from appyc.ir.types import DType

_MAX_ROUNDS = 12
"""The most rounds of the fixed-point iteration. Types only widen, bool to int to float to complex, so it ends
long before."""


@dataclass(frozen=True, slots=True)
class LoopBody:
    """The lowering that `for` and `while` share: loop-carried bindings, the else clause, and exits by return."""

    node: ast.For | ast.While
    loc: Loc
    hidden: frozenset[str]
    """Names that are local to the loop's body: dead behind the loop."""
    in_order: bool = True
    """Whether its iterations run in order, so that its names may exchange arrays between iterations."""
    asked: bool = False
    """Whether a pragma or `prange` makes its iterations run in any order."""
    may_peel: bool = False
    """Whether iterations may be peeled."""

    def lower(self, scope: Scope, body: Callable[[LoopFrame], None]) -> tuple[LoopFrame, tuple[Stmt, ...]]:
        """The loop's frame, with the bindings at the top, and the lowered body.

        The phi copies into the bindings at the top are emitted before the loop.
        """
        fork = scope.fork(needed_in_loop(scope, self.node))
        start, head = fork.env, dict(fork.env)
        behind = live_before(self.node.orelse, scope.names_behind.get(self.node, scope.locals))
        exchanged: frozenset[str] = frozenset()
        may_exchange = self.in_order and not self.node.orelse and not scope.facts.copies_exchanged
        carried = self._set_by_earlier_iterations(scope)
        for name in sorted(scope.facts.unsigned.get(self.loc, ())):
            head[name] = Slot(scope.supply.fresh(name, DType.UINT64), python=True)
        result, options = scope.result, {leaf: list(arrays) for leaf, arrays in scope.options.items()}
        stored = scope.stored
        for _ in range(_MAX_ROUNDS):
            # Returns of a discarded round do not count, nor does what lists get in it.
            scope.stored = stored
            scope.result, scope.options = result, {leaf: list(arrays) for leaf, arrays in options.items()}
            frame = LoopFrame(dict(head), fork, behind, asked=self.asked)
            if self.node.orelse:
                frame.broke = scope.supply.fresh("left_by_break", DType.BOOL)
            if exchanged:
                names, state = tuple(sorted(exchanged)), scope.supply.fresh("arrangement", DType.INT64)
                frame.exchange = Exchange(names, state, [tuple(start[name] for name in names)])
            outer, scope.undecided = scope.undecided, scope.undecided | carried - head.keys()
            block = self._body(scope, frame, body)
            scope.undecided = outer
            if frame.exchange is not None and not frame.exchange.fits:
                may_exchange, exchanged = False, frozenset()
                continue
            more = (
                exchanged_names(start, frame.ends, fork.needed - self.hidden) if may_exchange else exchanged
            )
            if more - exchanged:
                exchanged |= more
                head |= {name: start[name] for name in exchanged}
                continue
            wider = self._widened(scope, frame, head, exchanged)
            # No path assigns these, so that no test lets a read happen.
            for name in sorted(carried - wider.keys()):
                wider[name] = Slot(scope.supply.fresh(name, DType.BOOL), python=True, maybe=True)
            if wider == head:
                self._take_for_unsigned(scope, start, head)
                break
            head = wider
        else:
            raise AssertionError("types of loop variables do not settle")
        bring_home(scope, head, start, fork, self.loc, first=True)
        if frame.broke is not None:
            scope.emit(Assign(frame.broke, const(False, DType.BOOL, self.loc), loc=self.loc))
        if frame.exchange is not None:
            scope.emit(Assign(frame.exchange.state, integer(0, self.loc), loc=self.loc))
        self._leave(scope, frame)
        return frame, tuple(without_tail_continue(block))

    def _body(self, scope: Scope, frame: LoopFrame, body: Callable[[LoopFrame], None]) -> list[Stmt]:
        """The statements of one iteration; versioned by rotation for a loop whose names exchange arrays."""
        exchange = frame.exchange
        if exchange is None:
            return self._once(scope, frame, body, frame.head)
        parts: list[list[Stmt]] = []
        while len(parts) < len(exchange.arrangements):  # lowering one version may find further rotations
            parts.append(self._once(scope, frame, body, frame.head | exchange.bindings(len(parts))))
        block = parts[-1]
        for k, part in reversed(list(enumerate(parts[:-1]))):
            block = [If(exchange.is_at(k, self.loc), tuple(part), tuple(block), loc=self.loc)]
        return block

    def _once(
        self, scope: Scope, frame: LoopFrame, body: Callable[[LoopFrame], None], head: Env
    ) -> list[Stmt]:
        scope.env = dict(head)
        scope.live = True
        with scope.collect() as block:
            scope.loops.append(frame)
            try:
                body(frame)
            except LargeIntError:
                self._take_for_unsigned(scope, head, scope.env)
                raise
            if scope.live:
                end_path(scope, frame, self.loc)
            scope.loops.pop()
        return block

    def _take_for_unsigned(self, scope: Scope, head: Env, now: Env) -> None:
        """Raises Restart if names whose last 64 bits are known now begin with constants that are not negative.

        x = 88172645463325252            x is no number of 64 bits in the second iteration, unless it is
        for _ in range(n):               from 0 on at the top of each: then `^` and `>>` leave it such
            x ^= (x << 13) & M
            x ^= x >> 7
        """
        known = scope.facts.unsigned.get(self.loc, frozenset())
        wide = {name for name, binding in now.items() if isinstance(binding, Slot) and binding.wide}
        starts = {name: binding.literal for name, binding in head.items()
                  if isinstance(binding, Slot) and binding.type == PY_INT}  # fmt: skip
        names = known | {n for n in wide if isinstance(start := starts.get(n), int) and start >= 0}
        if names != known:
            scope.facts.unsigned[self.loc] = names
            raise Restart

    def _set_by_earlier_iterations(self, scope: Scope) -> set[str]:
        """Loop-carried variables without a value before the loop, which the body may read before it assigns them.

        A variable that is only updated (`s += x`) is not among them: its first update would raise.
        """
        behind = set(walk(*self.node.orelse))
        nodes = [n for n in walk(self.node) if n not in behind]
        updated = {n.target for n in nodes if isinstance(n, ast.AugAssign)}
        stored = {
            n.id
            for n in nodes
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n not in updated
        }
        return stored & live_before([self.node], frozenset()) & scope.locals - scope.env.keys()

    def _leave(self, scope: Scope, frame: LoopFrame) -> None:
        scope.live = True
        if frame.exchange is not None:
            behind = scope.names_behind.get(self.node, scope.locals)
            scope.exchanged = frame.exchange if behind & set(frame.exchange.names) else None
        scope.env = {k: v for k, v in frame.head.items() if k not in self.hidden}

    def _widened(self, scope: Scope, frame: LoopFrame, head: Env, exchanged: frozenset[str]) -> Env:
        out = dict(head)
        # Each iteration binds these anew, and nothing behind the loop reads them.
        local = scope.locals - frame.fork.needed - scope.named_in_clauses
        for end in frame.ends:
            for name, binding in end.items():
                if name in self.hidden or name in exchanged:
                    continue
                if name not in out and name in local:
                    continue
                joined = join(scope, name, before := out.get(name), binding, frame.fork, self.loc)
                out[name] = _marked(joined, before, self.loc) if self.may_peel else joined
        return out

    def finish(self, scope: Scope, frame: LoopFrame, loop: For | While) -> None:
        """Emits the loop, its else clause, and the exit of the enclosing loop if the function has returned inside."""
        scope.emit(loop)
        if frame.broke is not None:
            not_left: Expr = Unary("~", Var(frame.broke, loc=self.loc), loc=self.loc)
            if scope.returned is not None and may_return(self.node):
                stays = Unary("~", Var(scope.returned, loc=self.loc), loc=self.loc)
                not_left = Binary("&", not_left, stays, loc=self.loc)
            lower_only_if(scope, not_left, self.node.orelse, self.loc)
        if scope.loops and scope.returned is not None and may_return(self.node):
            end_path(scope, scope.loops[-1], self.loc, emit=False)
            scope.emit(If(Var(scope.returned, loc=self.loc), (Break(loc=self.loc),), loc=self.loc))


def _marked(joined: Binding, before: Binding | None, loop: Loc) -> Binding:
    """The joined binding, marked with the loop where its iterations give the name, or a tuple's item, another type."""
    match joined, before:
        case Conflict(), _ if joined != before:
            return replace(joined, loop=joined.loop or loop)
        case Slot(either=Either() as either), _ if joined != before:
            return replace(joined, either=replace(either, loop=either.loop or loop))
        case TupleSlots(), TupleSlots():
            pairs = zip(joined.items, before.items, strict=True)
            return replace(joined, items=tuple(_marked(item, old, loop) for item, old in pairs))
        case _:
            return joined


def needed_in_loop(scope: Scope, loop: ast.For | ast.While) -> frozenset[str]:
    """Names that are live at the top of an iteration, or behind the loop."""
    return live_before([loop], frozenset()) | scope.names_behind.get(loop, scope.locals)


def lower_break(scope: Scope, loc: Loc) -> None:
    frame = scope.loops[-1]
    end_path(scope, frame, loc, leaves=True)
    if frame.broke is not None:
        scope.emit(Assign(frame.broke, const(True, DType.BOOL, loc), loc=loc))
    scope.emit(Break(loc=loc))
    scope.live = False


def lower_continue(scope: Scope, loc: Loc) -> None:
    end_path(scope, scope.loops[-1], loc)
    scope.emit(Continue(loc=loc))
    scope.live = False


def without_tail_continue(block: list[Stmt]) -> list[Stmt]:
    """The body without a `continue` at its end, which is redundant."""
    if not block:
        return block
    last = block[-1]
    if isinstance(last, Continue):
        return without_tail_continue(block[:-1])
    if isinstance(last, If):
        then = tuple(without_tail_continue(list(last.then)))
        orelse = tuple(without_tail_continue(list(last.orelse)))
        if not then and orelse:
            cond = arithmetic.logical_not(Number(last.cond, True), last.loc).expr
            return [*block[:-1], If(cond, orelse, loc=last.loc)]
        return [*block[:-1], replace(last, then=then, orelse=orelse)]
    return block
