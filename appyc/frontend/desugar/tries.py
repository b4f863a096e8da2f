"""`try` statements as branches: a test stands in front of each statement that may raise what a handler names.

    try:                                 if by_zero(1.0, x[i]):
        s += 1.0 / x[i]                      bad += 1
    except ZeroDivisionError:    ->      else:
        bad += 1                             s += 1.0 / x[i]

A number selects a handler of several statements, or one that is reached from inside a loop or a branch:

    try:                                 caught = 0
        for i in rows:                   for i in rows:
            s += x[i]                        if outside(x, i):
    except IndexError:           ->              caught = 1
        s = -1                                   break
                                             s += x[i]
                                         if caught == 1:
                                             caught = 0
                                             s = -1

A `raise` of what a handler names sets the number, too. What no handler around it names is raised as ever.

Requires: each expression of the body is one whose exceptions are tested (`raise_points.py`).

Does not handle: uses of the exception; a `raise` without a class; statements that jump out of a `try` with `finally`,
whose own statements only assign names; calls of functions, other than those of numbers.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from appyc.frontend.desugar import building
from appyc.frontend.desugar.raise_points import Point, RaisePoints
from appyc.frontend.desugar.rewriting import Rewriter, ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.liveness import live_before, names_assigned, surely_assigned
from appyc.frontend.syntax.tree import names_in, own_jumps, statements_in, walk

_METHODS = {"append": 1, "add": 1, "clear": 0, "discard": 1, "extend": 1}
"""Methods that raise nothing, and the number of their arguments."""


def without_tries(source: Source, value_of: ValueOf) -> Source:
    """The function, with its `try` statements replaced. One that cannot be stays as it is."""
    return rewritten(source, lambda copied: _Tries(copied, value_of), lambda node: isinstance(node, ast.Try))


@dataclass(eq=False)
class _Handler:
    """kinds: the classes it names. number: the value of `caught` for it. sites: the blocks that reach it from the top
    level of its `try`. is_far: whether others do."""

    kinds: tuple[type[BaseException], ...]
    number: int
    sites: list[list[ast.stmt]] = field(default_factory=list)
    is_far: bool = False

    def is_near(self, body: list[ast.stmt]) -> bool:
        """Whether its statements can stand where it is reached from."""
        is_short = len(body) == 1 and not hasattr(body[0], "body")
        return not self.is_far and (len(self.sites) == 1 or is_short)


_JUMPS = (ast.Return, ast.Break, ast.Continue)
_TOP, _BRANCH, _LOOP = range(3)
"""Positions of a block in a `try`."""


class _Tries(Rewriter):
    def __init__(self, function: ast.FunctionDef, value_of: ValueOf) -> None:
        self.points = RaisePoints(function, value_of)
        self.names = names_in(function)
        self.caught = building.FreshNames(function)("caught")
        self.locals = names_assigned(function.body) - parameter_names(function)
        self.bound: dict[ast.stmt, frozenset[str]] = {}
        self._note_bound(function.body, frozenset())
        self.own: list[_Handler] = []
        self.around: list[_Handler] = []
        """The handlers of the innermost `try` around the current statement, and those around it, from inside."""
        self.number = 0
        self.catches_names = False
        """Whether a handler would catch that a name is not bound."""

    def _note_bound(self, body: list[ast.stmt], before: frozenset[str]) -> None:
        for stmt in body:
            self.bound[stmt] = before
            inner = before | names_assigned([stmt.target]) if isinstance(stmt, ast.For) else before
            for block in ("body", "orelse", "finalbody"):
                self._note_bound(getattr(stmt, block, []), inner if block == "body" else before)
            before |= surely_assigned([stmt])

    def visit_Try(self, node: ast.Try) -> Any:
        kept = copy.deepcopy(node)
        self.catches_names = False
        try:
            out, _ = self._try(node)
        except building.Refused:
            self._enter([], [])
            return kept
        if any(isinstance(n, ast.Name) and n.id == self.caught for n in walk(*out)):
            out.insert(0, building.located(building.assigned(self.caught, 0), node))
        is_sure = self.bound[node].issuperset(live_before(out, frozenset()) & self.locals)
        return kept if self.catches_names and not is_sure else out

    # ------------------------------------------------------------ blocks

    def _try(self, node: ast.Try) -> tuple[list[ast.stmt], set[_Handler]]:
        """The statements instead of a `try`, and the handlers around it whose numbers they may leave."""
        raising = [kind for stmt in statements_in(*node.finalbody) for kind, _ in self._before(stmt) if kind]
        if node.finalbody and (raising or not _is_local(node)):
            raise building.Refused
        final, _ = self._block(node.finalbody, _BRANCH)
        own, before = [self._handler(h) for h in node.handlers], (self.own, self.around)
        self._enter([], [*self.own, *self.around])
        end, pending = self._block(node.orelse, _BRANCH)
        self._enter(own, self.around)
        self.catches_names = self.catches_names or self.points.catches(NameError)
        leaves = building.always_jumps(node.body, _JUMPS)
        out, reached = self._block(node.body, _TOP, end)
        self._enter([], self.around)
        pending |= reached - {*own}
        bodies = []
        for part in node.handlers:
            body, more = self._block(part.body, _BRANCH)
            bodies.append(body)
            pending |= more
        near = [handler.is_near(body) for handler, body in zip(own, bodies, strict=True)]
        leaves = leaves and all(building.always_jumps(bodies[k], _JUMPS) for k in range(len(own)) if near[k])
        far: list[ast.stmt] = []
        for k, handler in reversed([*enumerate(own)]):
            for site in handler.sites if near[k] else ():
                site[:] = copy.deepcopy(bodies[k])
            if handler in reached and not near[k]:
                then = [building.located(building.assigned(self.caught, 0), node.handlers[k]), *bodies[k]]
                is_last = leaves and not pending and not far  # nothing else comes here
                test = ast.Compare(building.read(self.caught), [ast.Eq()], [ast.Constant(handler.number)])
                far = then if is_last else [building.located(ast.If(test, then, far), node.handlers[k])]
        self._enter(*before)
        named = [ast.copy_location(ast.Expr(h.type), h.type) for h in node.handlers if h.type is not None]
        return [*named, *out, *far, *final], pending

    def _enter(self, own: list[_Handler], around: list[_Handler]) -> None:
        self.own, self.around = own, around
        self.points.caught = tuple(kind for handler in (*own, *around) for kind in handler.kinds)

    def _handler(self, node: ast.ExceptHandler) -> _Handler:
        self.number += 1
        if node.name is not None and node.name in self.names:
            raise building.Refused
        types = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        kinds = [BaseException if t is None else self.points.value_of(t) for t in types]
        classes = tuple(k for k in kinds if isinstance(k, type) and issubclass(k, BaseException))
        if len(classes) < len(kinds):
            raise building.Refused
        return _Handler(classes, self.number)

    def _handler_of(self, kind: type[BaseException]) -> _Handler | None:
        return next((h for h in (*self.own, *self.around) if issubclass(kind, h.kinds)), None)

    def _block(
        self, body: list[ast.stmt], where: int, end: list[ast.stmt] | None = None
    ) -> tuple[list[ast.stmt], set[_Handler]]:
        """The statements with tests in front of them, and the handlers whose numbers they may leave. end: what
        follows them where nothing is raised."""
        if not body:
            return end or [], set()
        stmt, *rest = body
        points = self._before(stmt)
        chain, checks = self._chain(points)
        new: list[ast.stmt] = [building.located(ast.Expr(check), stmt) for check in checks]
        left: set[_Handler] = set()
        match stmt:
            case ast.If(test=test, body=[ast.Raise() as raised], orelse=[]) if (
                not self._before(raised) and (handler := self._raised(raised)) is not None
            ):
                chain.append((handler, test))
            case _:
                replaced, left = self._statement(stmt, where)
                new += replaced
        following, more = ([], set()) if isinstance(stmt, ast.Raise) else self._block(rest, where, end)
        reached = {handler for handler, _ in chain}
        if left and where == _LOOP and not isinstance(stmt, ast.If | ast.Raise):
            new.append(building.located(ast.If(self._is_any(), [ast.Break()], []), stmt))
        elif left and following and where != _LOOP:
            following = [building.located(ast.If(building.negated(self._is_any()), following, []), stmt)]
        out = [*new, *following]
        for handler, test in reversed(chain):
            jump = self._jump(handler, where, stmt)
            out = [building.located(ast.If(test, jump, out if where != _LOOP else []), stmt),
                   *(out if where == _LOOP else [])]  # fmt: skip
        return out, left | more | reached

    def _jump(self, handler: _Handler, where: int, at: ast.stmt) -> list[ast.stmt]:
        """The statements that reach a handler."""
        out = [building.located(building.assigned(self.caught, handler.number), at)]
        if where == _LOOP:
            out.append(building.located(ast.Break(), at))
        if where == _TOP and handler in self.own:
            handler.sites.append(out)
        else:
            handler.is_far = True
        return out

    def _is_any(self) -> ast.expr:
        return ast.Compare(building.read(self.caught), [ast.NotEq()], [ast.Constant(0)])

    def _chain(self, points: list[Point]) -> tuple[list[tuple[_Handler, ast.expr]], list[ast.expr]]:
        """The tests for handlers, in order, and the calls that refuse types. What no handler names is raised first,
        where it is evaluated first."""
        out: list[tuple[_Handler, ast.expr]] = []
        checks: list[ast.expr] = []
        uncaught: list[ast.expr] = []
        for kind, test in points:
            tests = [*(building.negated(copy.deepcopy(t)) for t in uncaught), test]
            reached = ast.BoolOp(ast.And(), tests) if len(tests) > 1 else test
            handler = None if kind is None else self._handler_of(kind)
            if kind is None:
                checks.append(reached)
            elif handler is None:
                uncaught.append(test)
            elif out and out[-1][0] is handler:
                out.append((handler, ast.BoolOp(ast.Or(), [out.pop()[1], reached])))
            else:
                out.append((handler, reached))
        return out, checks

    # ------------------------------------------------------------ statements

    def _before(self, stmt: ast.stmt) -> list[Point]:
        """The points at which a statement may raise before its side effects."""
        points = self.points
        match stmt:
            case ast.Pass() | ast.Break() | ast.Continue() | ast.Try() | ast.While():
                return []
            case ast.Assert(test=test, msg=None) if not points.catches(AssertionError):
                return points.of(test)
            case ast.If(test=first) | ast.Return(value=first) | ast.For(target=ast.Name(), iter=first):
                return points.of(first)
            case ast.For(target=ast.Tuple(elts=elts), iter=ast.Call(func=func, args=args)) if (
                maker := points.value_of(func)
            ) in (zip, enumerate) and len(elts) == (2 if maker is enumerate else len(args)):
                return points.of(*args)
            case ast.For(iter=items) if not points.is_wide:
                return points.of(items)
            case ast.Expr(value=value) | ast.Assign(targets=[ast.Name()], value=value):
                return self._value(value)
            case (
                ast.Assign(targets=[target], value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                return [*points.of(value), *self._stored(target, value)]
            case ast.AugAssign(target=ast.Name(), op=ast.Add() | ast.Sub() | ast.Mult(), value=value) if (
                not points.is_wide
            ):
                return self._value(value)
            case ast.AugAssign(target=target, op=op, value=value):
                loaded = _loaded(target)
                inside = [*points.of(loaded, value), *points.operator(loaded, op, value, stmt)]
                return [*inside, *self._fits(target, value)]
            case ast.Delete(targets=[ast.Subscript() as target]):
                return points.of(_loaded(target))
            case ast.Raise(exc=ast.Call(args=args, keywords=[])):
                return points.of(*args)
            case ast.Raise():
                return []
            case _:
                raise building.Refused

    def _value(self, value: ast.expr) -> list[Point]:
        """The points of a value that may be the call of a method, which changes something when all else is known."""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name() as owner, attr=method), args=args, keywords=[]):
                kind = self.points.kinds.get(owner.id)
                if _METHODS.get(method) == len(args):
                    return self.points.of(*args)
                if method == "pop" and kind is not None and kind.makes == "dict" and len(args) == 1:
                    return self.points.subscript(owner, args[0], value)
                if method in ("pop", "popleft") and not args and kind is None:
                    return [self.points.point(IndexError, "len(owner) == 0", value, owner=owner)]
        return self.points.of(value)

    def _stored(self, target: ast.expr, value: ast.expr) -> list[Point]:
        match target:
            case ast.Name():
                return []
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.points.kinds:
                return self.points.of(index)
            case ast.Subscript():
                return [*self.points.of(_loaded(target)), *self._fits(target, value)]
            case ast.Tuple(elts=elts) if isinstance(value, ast.Tuple) and len(value.elts) == len(elts):
                if all(isinstance(e, ast.Name) for e in elts):
                    return []
        raise building.Refused

    def _fits(self, target: ast.expr, value: ast.expr) -> list[Point]:
        """The tests that a value fits into an array's dtype, where a handler would catch the error."""
        match target:
            case ast.Subscript(value=items) if not (
                isinstance(items, ast.Name) and items.id in self.points.kinds
            ):
                return self.points.if_wide("unfit(items, value)", target, items=items, value=value)
            case _:
                return []

    def _statement(self, stmt: ast.stmt, where: int) -> tuple[list[ast.stmt], set[_Handler]]:
        """A statement with tests inside it."""
        left: set[_Handler] = set()
        match stmt:
            case ast.Try():
                return self._try(stmt)
            case ast.If():
                inner = _LOOP if where == _LOOP else _BRANCH
                stmt.body, left = self._block(stmt.body, inner)
                stmt.orelse, more = self._block(stmt.orelse, inner)
                return [stmt], left | more
            case ast.For() | ast.While():
                if isinstance(stmt, ast.While) and self.points.of(stmt.test):
                    self._test_inside(stmt)
                stmt.body, left = self._block(stmt.body, _LOOP)
                stmt.orelse, more = self._block(stmt.orelse, _LOOP if where == _LOOP else _BRANCH)
                return [stmt], left | more
            case ast.Raise():
                handler = self._raised(stmt)
                if handler is not None:
                    return self._jump(handler, max(where, _BRANCH), stmt), {handler}
                return [stmt], left
            case _:
                return [stmt], left

    def _test_inside(self, loop: ast.While) -> None:
        """Makes a loop's condition its first statement, with a test in front."""
        if loop.orelse:
            raise building.Refused
        loop.body.insert(
            0, building.located(ast.If(building.negated(loop.test), [ast.Break()], []), loop.test)
        )
        loop.test = building.located(ast.Constant(True), loop.test)

    def _raised(self, stmt: ast.Raise) -> _Handler | None:
        """The handler of what a statement raises; None where none names it."""
        exc = stmt.exc.func if isinstance(stmt.exc, ast.Call) else stmt.exc
        kind = None if exc is None else self.points.value_of(exc)
        is_plain = stmt.cause is None or (isinstance(stmt.cause, ast.Constant) and stmt.cause.value is None)
        if not isinstance(kind, type) or not issubclass(kind, BaseException) or not is_plain:
            raise building.Refused
        handler = self._handler_of(kind)
        if handler is not None and (
            isinstance(kind.__init__, FunctionType) or isinstance(kind.__new__, FunctionType)
        ):
            raise building.Refused  # it is not made
        return handler


def _loaded(target: ast.expr) -> ast.expr:
    """A target as an expression."""
    out = copy.deepcopy(target)
    if isinstance(out, ast.Name | ast.Subscript | ast.Attribute):
        out.ctx = ast.Load()
    return out


def _is_local(node: ast.Try) -> bool:
    """Whether a `finally` can follow: nothing jumps over it, and it only assigns names, which are gone with the
    function where something else is raised."""
    parts = [*node.body, *node.orelse, *(stmt for h in node.handlers for stmt in h.body)]
    jumps = any(own_jumps(stmt, (ast.Break, ast.Continue)) for stmt in parts)
    if jumps or any(isinstance(s, ast.Return) for s in statements_in(*parts)):
        return False
    assigns = all(
        isinstance(s, ast.Assign | ast.AugAssign | ast.If | ast.Pass) for s in statements_in(*node.finalbody)
    )
    stored = [n for n in walk(*node.finalbody) if isinstance(n, ast.expr) and hasattr(n, "ctx")]
    return assigns and all(isinstance(n, ast.Name) or isinstance(n.ctx, ast.Load) for n in stored)
