"""The body of a loop: what names are bound to at its top, and at the ways back to it and out.

The bindings at the top of an iteration must be one and the same whether it is the first or
a later one. The body is lowered with a guess (what the names are bound to before the
loop); where it ends with wider types, it is lowered again with those.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace

from appyc.errors import Loc
from appyc.frontend.control import returns
from appyc.frontend.control.branches import lower_branches
from appyc.frontend.control.buffer_rotation import Exchange, exchanged_names
from appyc.frontend.control.joins import bring_home, end_path, join
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import const, integer
from appyc.frontend.scope import Env, LoopFrame, Scope
from appyc.frontend.syntax.liveness import live_before
from appyc.frontend.types.numbers import Either
from appyc.frontend.types.values import Binding, Conflict, DictSlots, Number, Slot, TupleSlots
from appyc.ir.nodes import Assign, Binary, Break, Continue, Expr, For, If, Stmt, Unary, Var, While
from appyc.ir.types import DType

_MAX_ROUNDS = 12
"""Types only widen, bool to int to float to complex, so rounds end long before this."""


def lower_statements(scope: Scope, body: list[ast.stmt], finish: Callable[[], None] | None = None) -> None:
    scope.lower_block(body, finish)


@dataclass(frozen=True, slots=True)
class LoopBody:
    """What `for` and `while` share: bindings at the top, the else clause, the code behind."""

    node: ast.For | ast.While
    loc: Loc
    hidden: frozenset[str]
    """Names that the loop binds for its body alone."""
    in_order: bool = True
    """Whether its names may exchange arrays from one iteration to the next."""
    asked: bool = False
    """Whether somebody has asked for its iterations to run in any order."""
    may_peel: bool = False
    """Whether iterations may stand before it."""

    def lower(self, scope: Scope, body: Callable[[LoopFrame], None]) -> tuple[LoopFrame, tuple[Stmt, ...]]:
        """The loop's frame, with the bindings at the top, and its body. Conversions to the former are emitted."""
        start = dict(scope.env)
        head: Env = dict(start)
        since = len(scope.memory.stores)
        needed = needed_in_loop(scope, self.node)
        behind = live_before(self.node.orelse, scope.names_behind.get(self.node, scope.locals))
        exchanged: frozenset[str] = frozenset()
        may_exchange = self.in_order and not self.node.orelse and not scope.facts.copies_exchanged
        for name in sorted(self._set_by_earlier_iterations(scope)):
            # A bool is the narrowest type: rounds widen it to what the body assigns.
            head[name] = Slot(scope.supply.fresh(name, DType.BOOL), python=True, maybe=True)
        result, options = scope.result, {leaf: list(arrays) for leaf, arrays in scope.options.items()}
        for _ in range(_MAX_ROUNDS):
            # What a round that comes to nothing has returned says nothing.
            scope.result, scope.options = result, {leaf: list(arrays) for leaf, arrays in options.items()}
            frame = LoopFrame(dict(head), since, needed=needed, behind=behind, asked=self.asked)
            if self.node.orelse:
                frame.broke = scope.supply.fresh("left_by_break", DType.BOOL)
            if exchanged:
                frame.exchange = _exchange(scope, start, exchanged)
            block = self._body(scope, frame, body)
            if frame.exchange is not None and not frame.exchange.fits:
                may_exchange, exchanged = False, frozenset()
                continue
            more = exchanged_names(start, frame.ends, needed - self.hidden) if may_exchange else exchanged
            if more - exchanged:
                exchanged |= more
                head |= {name: start[name] for name in exchanged}
                continue
            wider = self._widened(scope, head, frame.ends, needed - exchanged, start, exchanged)
            if wider == head:
                break
            head = wider
        else:
            raise AssertionError("types of loop variables do not settle")
        bring_home(scope, head, start, self.loc, since=since, first=True, needed=needed)
        if frame.broke is not None:
            scope.emit(Assign(frame.broke, const(False, DType.BOOL, self.loc), loc=self.loc))
        if frame.exchange is not None:
            scope.emit(Assign(frame.exchange.state, integer(0, self.loc), loc=self.loc))
        self._leave(scope, frame)
        return frame, tuple(without_tail_continue(block))

    def _body(self, scope: Scope, frame: LoopFrame, body: Callable[[LoopFrame], None]) -> list[Stmt]:
        """The statements of one iteration; of a loop whose names exchange arrays, for each arrangement."""
        exchange = frame.exchange
        if exchange is None:
            return self._once(scope, frame, body, frame.head)
        parts: list[list[Stmt]] = []
        while len(parts) < len(exchange.arrangements):  # each may lead to ones that were not known
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
            body(frame)
            if scope.live:
                end_path(scope, frame, self.loc)
            scope.loops.pop()
        return block

    def _set_by_earlier_iterations(self, scope: Scope) -> set[str]:
        """Variables without a value before the loop that the body may read before it assigns them.

        One that is only ever updated (`s += x`) is not among them: that cannot go well.
        """
        if not scope.facts.early:
            return set()
        nodes = list(ast.walk(self.node))
        updated = {n.target for n in nodes if isinstance(n, ast.AugAssign)}
        stored = (n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        names = {n.id for n in stored if n not in updated}
        return {n for n in names & scope.facts.early if n not in scope.env}

    def _leave(self, scope: Scope, frame: LoopFrame) -> None:
        scope.live = True
        if frame.exchange is not None:
            behind = scope.names_behind.get(self.node, scope.locals)
            scope.exchanged = frame.exchange if behind & set(frame.exchange.names) else None
        scope.env = {k: v for k, v in frame.head.items() if k not in self.hidden}

    def _widened(
        self,
        scope: Scope,
        head: Env,
        ends: list[Env],
        needed: frozenset[str],
        start: Env,
        exchanged: frozenset[str],
    ) -> Env:
        out = dict(head)
        for end in ends:
            for name, binding in end.items():
                if name in self.hidden or name in exchanged:
                    continue
                joined = join(scope, name, before := out.get(name), binding, needed, start, self.loc)
                out[name] = _marked(joined, before, self.loc) if self.may_peel else joined
        return out

    def finish(self, scope: Scope, frame: LoopFrame, loop: For | While) -> None:
        """Emit the loop, its else clause, and the way on where the function has returned inside."""
        scope.emit(loop)
        if frame.broke is not None:
            not_left: Expr = Unary("~", Var(frame.broke, loc=self.loc), loc=self.loc)
            if scope.returned is not None and returns.may_return(self.node):
                stays = Unary("~", Var(scope.returned, loc=self.loc), loc=self.loc)
                not_left = Binary("&", not_left, stays, loc=self.loc)
            lower_branches(scope, not_left, self.node.orelse, [], self.loc)
        if scope.loops and returns.may_return(self.node):
            leave = returns.leave_if_returned(scope, self.loc)
            if leave is not None:
                end_path(scope, scope.loops[-1], self.loc, emit=False)
                scope.emit(leave)


def _marked(joined: Binding, before: Binding | None, loop: Loc) -> Binding:
    """A name, or what is in its tuple, of which a loop's iterations have different ideas: that loop noted."""
    match joined, before:
        case Conflict(), _ if joined != before:
            return replace(joined, loop=joined.loop or loop)
        case Slot(either=Either() as either), _ if joined != before:
            return replace(joined, either=replace(either, loop=either.loop or loop))
        case TupleSlots(), TupleSlots():
            pairs = zip(joined.items, before.items, strict=True)
            return replace(joined, items=tuple(_marked(item, old, loop) for item, old in pairs))
        case DictSlots(), DictSlots():
            values = _marked(joined.values, before.values, loop)
            assert isinstance(values, TupleSlots)
            return replace(joined, values=values)
        case _:
            return joined


def _exchange(scope: Scope, start: Env, names: frozenset[str]) -> Exchange:
    """The exchange of these names' arrays, before anything is known but how they are at first."""
    ordered = tuple(sorted(names))
    state = scope.supply.fresh("arrangement", DType.INT64)
    return Exchange(ordered, state, [tuple(start[name] for name in ordered)])


def needed_in_loop(scope: Scope, loop: ast.For | ast.While) -> frozenset[str]:
    """Names whose value at the top of an iteration, or behind the loop, is read."""
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
    """A `continue` that ends the body says nothing."""
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
