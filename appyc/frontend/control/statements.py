"""Statements: from Python's AST to IR."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from importlib import import_module

import numpy as np

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.control import failures, returns
from appyc.frontend.control.buffer_rotation import Exchange
from appyc.frontend.control.conditionals import known_as_numbers, lower_condition, proven
from appyc.frontend.control.joins import lower_arms, lower_only_if, needed_behind
from appyc.frontend.control.loop_bodies import lower_break, lower_continue
from appyc.frontend.control.loops import lower_for, lower_while
from appyc.frontend.expressions import assignments, list_changes
from appyc.frontend.expressions.arithmetic import constant_truth
from appyc.frontend.expressions.expressions import lower_expression
from appyc.frontend.expressions.local_functions import defined
from appyc.frontend.facts import NoValue
from appyc.frontend.pragmas.axis_pragmas import lower_with_dims
from appyc.frontend.pragmas.pragma_nodes import AtomicPragma, DimsPragma
from appyc.frontend.resolve import LIBRARIES
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.liveness import names_assigned
from appyc.frontend.syntax.tree import may_return, one_by_one, statements_in
from appyc.frontend.types.characters import refused_text
from appyc.frontend.types.numbers import TextAmongNumbersError
from appyc.frontend.types.values import ArrayRef, Number, Opaque, Tensor
from appyc.ir.nodes import If, Likely, Unary, Var
from appyc.ir.raising import can_fault

_UNSUPPORTED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Try: ("a try statement", "catch by class what divisions, subscripts and raise statements raise"),
    ast.AsyncFunctionDef: ("a nested function", "define it outside"),
    ast.ClassDef: ("a class", "define it outside"),
    ast.Global: ("a global statement", "return the value instead"),
    ast.Nonlocal: ("a nonlocal statement", "return the value instead"),
    ast.Match: ("a match statement with these patterns", "use if and elif"),
    ast.AsyncFor: ("async for", "compiled functions are synchronous"),
    ast.AsyncWith: ("async with", "compiled functions are synchronous"),
}

MAX_TWICE = 60
"""The most statements that are duplicated into both arms of a branch whose bindings have no common type (tail
duplication)."""


def lower_block(scope: Scope, body: list[ast.stmt], finish: Callable[[], None] | None = None) -> None:
    """Lowers a sequence of statements; unreachable statements behind a jump are dropped.

    finish: called at the end of each path that reaches the block's end, as for the back edge of a loop. Nothing
    behind the block is lowered then.
    """
    for k, node in enumerate(body):
        if not scope.live:
            return
        rest = body[k + 1 :]
        if isinstance(node, ast.If) and rest and _ends_in_jump(node.body):
            # `if c: return x` and the statements behind it become the two arms of one `if`.
            _if(scope, node.test, node.body, [*node.orelse, *rest], scope.loc(node), finish)
            return
        if isinstance(node, ast.If) and rest and scope.loc(node) in scope.facts.parted and _is_short(rest):
            _if(scope, node.test, [*node.body, *rest], [*node.orelse, *rest], scope.loc(node), finish)
            return
        if isinstance(node, ast.If) and not rest and finish is not None and _binds_arrays(scope, node):
            _if(scope, node.test, node.body, node.orelse, scope.loc(node), finish)
            return
        lower_statement(scope, node)
        exchange, scope.exchanged = scope.exchanged, None
        if exchange is not None:
            _in_each_arrangement(scope, exchange, node, rest, finish)
            return
        if scope.live and rest and scope.returned is not None and may_return(node):
            _behind(scope, node, rest, finish)
            return
    if finish is not None and scope.live:
        finish()
        scope.live = False


def _behind(scope: Scope, node: ast.stmt, rest: list[ast.stmt], finish: Callable[[], None] | None) -> None:
    """Lowers the statements behind `node`, predicated on the has-returned flag if `node` may return."""
    if not rest or scope.returned is None or not may_return(node):
        lower_block(scope, rest, finish)
        return
    loc = scope.loc(node)
    lower_only_if(scope, Unary("~", Var(scope.returned, loc=loc), loc=loc), rest, loc, finish)


def _in_each_arrangement(
    scope: Scope,
    exchange: Exchange,
    node: ast.stmt,
    rest: list[ast.stmt],
    finish: Callable[[], None] | None,
    number: int = 0,
) -> None:
    """Code versioning: lowers the statements behind a loop whose names exchange arrays once for each rotation of the
    buffers, from this number on, behind a chain of tests for the current one."""

    def here() -> None:
        scope.env |= exchange.bindings(number)
        _behind(scope, node, rest, finish)

    if number == len(exchange.arrangements) - 1:
        here()
        return
    loc = scope.loc(node)
    needed = scope.names_behind.get(rest[-1] if rest else node, scope.locals)
    others = partial(_in_each_arrangement, scope, exchange, node, rest, finish, number + 1)
    lower_arms(scope, exchange.is_at(number, loc), (here, others), needed, loc)


def _binds_arrays(scope: Scope, node: ast.If) -> bool:
    """Whether the `if` rebinds names that are bound to arrays."""
    names = names_assigned(node.body) | names_assigned(node.orelse)
    return any(isinstance(scope.env.get(name), ArrayRef | Tensor) for name in names)


def _is_short(body: list[ast.stmt]) -> bool:
    """Whether statements are few enough for tail duplication."""
    return sum(1 for _ in statements_in(*body)) <= MAX_TWICE


def _ends_in_jump(body: list[ast.stmt]) -> bool:
    """Whether the last statement is a return or continue, and no statement a break."""
    is_jump = bool(body) and isinstance(body[-1], ast.Return | ast.Continue)
    return is_jump and not any(isinstance(s, ast.Break) for s in statements_in(*body))


def lower_statement(scope: Scope, node: ast.stmt) -> None:
    """Lowers one statement; a name without a value in this round ends the path."""
    loops, loc = len(scope.loops), scope.loc(node)
    try:
        match scope.pragmas.get(node):
            case AtomicPragma() as pragma:
                assignments.lower_atomic(scope, node, pragma)
            case DimsPragma() as pragma:
                lower_with_dims(scope, node, pragma, lambda: _lower_plain(scope, node, loc))
            case _:
                _lower_plain(scope, node, loc)
    except NoValue:
        del scope.loops[loops:]
        scope.live = False  # the path ends here in this round of lowering
    except TextAmongNumbersError:
        raise refused_text(loc) from None
    except RecursionError:
        raise UnsupportedError("this is nested too deeply to be compiled", loc,
                               "give parts of it names, or make them functions") from None  # fmt: skip


def _lower_plain(scope: Scope, node: ast.stmt, loc: Loc) -> None:
    match node:
        case ast.Assign(targets=targets, value=value):
            pairs = one_by_one(node)
            if any(
                isinstance(target, ast.Name) and target.id in scope.list_names | scope.shared_lists
                for target, _ in pairs
            ):
                for target, part in pairs:
                    assignments.lower_assign(scope, [target], part, loc)
                return
            assignments.lower_assign(scope, targets, value, loc)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                assignments.lower_assign(scope, [target], value, loc)
        case ast.AugAssign(target=target, op=op, value=value):
            assignments.lower_augmented(scope, target, op, value, loc)
        case ast.If(test=test, body=body, orelse=orelse):
            _if(scope, test, body, orelse, loc)
        case ast.For():
            lower_for(scope, node)
        case ast.While():
            lower_while(scope, node)
        case ast.Break():
            lower_break(scope, loc)
        case ast.Continue():
            lower_continue(scope, loc)
        case ast.Return(value=value):
            returns.lower_return(scope, value, loc)
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=args)
        ) if name in scope.list_names:
            list_changes.change(scope, name, method, args, loc)
        case ast.Expr(value=value):
            unused = lower_expression(scope, value)
            if isinstance(unused, Number):
                scope.temp("unused", unused.expr)  # which may raise
        case ast.Import() | ast.ImportFrom():
            _import(scope, node, loc)
        case ast.Assert(test=test, msg=msg):
            if __debug__:  # `python -O` leaves them out
                _assert(scope, test, msg, loc)
        case ast.Raise(exc=exc):
            failures.lower_raise(scope, exc, loc)
        case ast.FunctionDef(name=name):
            scope.bind(name, defined(scope, node), loc)
        case ast.With(items=items, body=body):
            _with(scope, items, body, loc)
        case ast.Delete(targets=targets):
            _delete(scope, node, targets)
        case _:
            what, instead = _UNSUPPORTED.get(type(node), (f"a {type(node).__name__} statement", "rewrite it"))
            raise UnsupportedError(f"{what} cannot be compiled", loc, instead)


# ---------------------------------------------------------------- branches and failures


def _if(
    scope: Scope,
    test: ast.expr,
    body: list[ast.stmt],
    orelse: list[ast.stmt],
    loc: Loc,
    finish: Callable[[], None] | None = None,
) -> None:
    try:
        cond = lower_condition(scope, test)
    except NoValue:
        scope.live = False  # this path alone: others, which have returned, give the result's type
        return
    known = constant_truth(cond)
    if known is not None:
        lower_block(scope, body if known else orelse, finish)
        return
    if scope.source.trusted and isinstance(body[0], ast.Raise) and not can_fault(cond):  # unlikely
        cond = Unary("~", Likely(Unary("~", cond, loc=loc), loc=loc), loc=loc)

    def arm(statements: list[ast.stmt], truth: bool) -> None:
        known_as_numbers(scope, proven(test, truth))
        lower_block(scope, statements, finish)

    arms = (lambda: arm(body, True), lambda: arm(orelse, False))
    lower_arms(scope, cond, arms, needed_behind(scope, body, orelse), loc)


def _assert(scope: Scope, test: ast.expr, msg: ast.expr | None, loc: Loc) -> None:
    cond = lower_condition(scope, test)
    known_as_numbers(scope, proven(test, True))
    with scope.collect() as failing:
        failures.fail(scope, "AssertionError", [] if msg is None else [msg], loc)
    fail = tuple(failing)
    known = constant_truth(cond)
    if (
        known is None
    ):  # likely true: where it can be hoisted to the function's entry, all passes may assume it
        # What may raise itself is evaluated by each call: a guard that implies the condition does not.
        tested = cond if can_fault(cond) else Likely(cond, loc=loc)
        scope.emit(If(Unary("~", tested, loc=loc), fail, loc=loc))
    elif not known:
        for stmt in fail:
            scope.emit(stmt)


def _with(scope: Scope, items: list[ast.withitem], body: list[ast.stmt], loc: Loc) -> None:
    """`with np.errstate(...)` of "ignore" and "warn": the body alone, since compiled code gives no such warnings."""
    for item in items:
        call = item.context_expr
        callee = lower_expression(scope, call.func) if isinstance(call, ast.Call) else None
        is_errstate = isinstance(callee, Opaque) and callee.obj is np.errstate
        if not is_errstate or not isinstance(call, ast.Call) or item.optional_vars is not None:
            raise UnsupportedError("a with statement cannot be compiled", loc,
                                   "enter the context outside the compiled function")  # fmt: skip
        for word in call.keywords:
            if not isinstance(word.value, ast.Constant) or word.value.value not in ("ignore", "warn"):
                raise UnsupportedError("compiled code raises nothing for floating-point errors", scope.loc(word.value),
                                       '"ignore" and "warn" can be compiled')  # fmt: skip
    lower_block(scope, body)


def _delete(scope: Scope, node: ast.stmt, targets: list[ast.expr]) -> None:
    """`del x` of a dead name is dropped; for a live name it raises UnsupportedError."""
    later = scope.names_behind.get(node, scope.locals)
    for target in targets:
        if not isinstance(target, ast.Name):
            raise UnsupportedError("this del cannot be compiled", scope.loc(target), "leave it out")
        if target.id in later:
            raise UnsupportedError(f"{target.id!r} is read behind its del", scope.loc(target),
                                   "leave the del out")  # fmt: skip


def _import(scope: Scope, node: ast.Import | ast.ImportFrom, loc: Loc) -> None:
    """Binds the imported names. Raises UnsupportedError for modules outside `LIBRARIES`, which stay in Python."""
    for alias in node.names:
        name = alias.asname or alias.name.partition(".")[0]
        scope.bind(name, scope.names.constant(_imported(node, alias, loc), None, loc), loc)


def _imported(node: ast.Import | ast.ImportFrom, alias: ast.alias, loc: Loc) -> object:
    module = alias.name if isinstance(node, ast.Import) else node.module
    relative = isinstance(node, ast.ImportFrom) and node.level > 0
    if module is None or relative or module.partition(".")[0] not in LIBRARIES:
        raise UnsupportedError("an import cannot be compiled", loc, "import at the top of the file")
    try:
        found = import_module(module)
        if isinstance(node, ast.ImportFrom):
            return getattr(found, alias.name)
    except (ImportError, AttributeError):
        raise UnsupportedError(f"{module} has no {alias.name!r}", loc) from None
    return found if alias.asname is not None else import_module(module.partition(".")[0])
