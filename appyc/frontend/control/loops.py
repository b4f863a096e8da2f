"""Loops: `for` over ranges, arrays, tuples, enumerate and zip; `while`."""

from __future__ import annotations

import ast
from dataclasses import replace

from appyc.errors import Note, PragmaError, UnsupportedError
from appyc.frontend.control.conditionals import known_as_numbers, lower_condition, proven
from appyc.frontend.control.index_loops import (
    bind_target,
    index_space_of,
    lower_index_loop,
    lower_range,
    variable_name,
)
from appyc.frontend.control.iterables import Range, what_it_runs_over
from appyc.frontend.control.joins import end_path, lower_arms
from appyc.frontend.control.loop_bodies import LoopBody
from appyc.frontend.control.unrolled_iterations import Peeled, can_peel, lower_peeled, progression_of, unroll
from appyc.frontend.expressions import arithmetic, selections
from appyc.frontend.expressions.arithmetic import const, constant_truth, integer
from appyc.frontend.expressions.assignments import assign_to
from appyc.frontend.facts import LoopFrame
from appyc.frontend.pragmas.pragma_nodes import LoopPragma, Name
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import leaves_loop, statements_in
from appyc.frontend.types.values import Number, Slot, TupleValue
from appyc.ir.nodes import Break, Compare, Const, Expr, If, Likely, Unary, While
from appyc.ir.transforms import Transform
from appyc.ir.types import DType


def lower_for(scope: Scope, node: ast.For) -> None:
    """Lowers a `for` loop: as a loop nest, unrolled, peeled, or as one IR loop."""
    loc = scope.loc(node)
    pragma = scope.pragmas.get(node)
    assert pragma is None or isinstance(pragma, LoopPragma)
    if (space := index_space_of(scope, node.iter)) is not None:
        lower_index_loop(scope, node, space, pragma, loc)
        return
    source = what_it_runs_over(scope, node.iter)
    steps = progression_of(node, source) if isinstance(source, TupleValue) and pragma is None else None
    if steps is not None:
        lo, hi = integer(steps.start, loc), integer(steps.stop, loc)
        source = Range(lo, hi, steps.step, lambda var: Number(var, python=True))
    if loc in scope.facts.unrolled and isinstance(source, Range):
        source = source.unrolled(loc)
    if isinstance(source, TupleValue):
        if pragma is not None:
            raise PragmaError("a loop over a tuple is unrolled and takes no pragma", pragma.loc,
                              "drop the pragma, or pass the values as an array")  # fmt: skip
        unroll(scope, node, source)
        return
    if pragma is not None:
        _check_nest(scope, node, pragma)
    in_order = not source.parallel and (pragma is None or pragma.request not in ("parallel", "simd"))
    if not in_order:
        _check_jumps(scope, node)
    may_peel = in_order and can_peel(node)
    times = scope.facts.peeled.get(loc, 0) if may_peel else 0
    shape = LoopBody(node, loc, _local_target(scope, node), in_order, asked=not in_order, may_peel=may_peel)
    if not times:
        if scope.loops and not shape.hidden and leaves_loop(node):
            _bind_ahead(scope, node, source)
        lower_range(scope, shape, source, pragma)
        return
    stays = replace(source, lo=scope.unchanging(source.lo), hi=scope.unchanging(source.hi))

    def first(number: int) -> Expr:
        ahead = arithmetic.python_number(number * stays.step, loc)
        return arithmetic.binary("+", Number(stays.lo, True), ahead, loc).expr if number else stays.lo

    def start(number: int) -> None:
        number_at = first(number)
        if not isinstance(number_at, Const):
            number_at = scope.temp(variable_name(node.target), number_at)
        bind_target(scope, node.target, stays.item(number_at), shape.hidden)

    def runs(number: int) -> Expr:
        op = "<" if stays.step > 0 else ">"
        return selections.compare(op, Number(first(number), True), Number(stays.hi, True), loc).expr

    def rest() -> None:
        lower_range(scope, shape, replace(stays, lo=first(times)), pragma)

    lower_peeled(scope, Peeled(shape, runs, start, rest), times)


def _bind_ahead(scope: Scope, node: ast.For, source: Range) -> None:
    """Binds a loop's variable to its first item, so that behind the loop, which may be left early, none that an
    earlier iteration of a loop around it has bound is read."""
    loc, first = scope.loc(node), source.item(source.lo)
    if not isinstance(node.target, ast.Name) or not isinstance(first, Number) or first.expr is not source.lo:
        return
    slot, behind = scope.env.get(node.target.id), scope.names_behind.get(node, scope.locals)
    if node.target.id not in behind or (isinstance(slot, Slot) and not slot.maybe):
        return
    runs = Compare("<" if source.step > 0 else ">", source.lo, source.hi, loc=loc)
    cond = const(True, DType.BOOL, loc) if source.known else Likely(runs, loc=loc)
    lower_arms(scope, cond, (lambda: assign_to(scope, node.target, first, loc), lambda: None), behind, loc)


def lower_while(scope: Scope, node: ast.While) -> None:
    """Lowers a `while` loop. If its condition needs statements, they are emitted at the top of the body."""
    loc = scope.loc(node)
    may_peel = can_peel(node)
    times = scope.facts.peeled.get(loc, 0) if may_peel else 0
    shape = LoopBody(node, loc, frozenset(), may_peel=may_peel)

    def runs(_number: int) -> Expr:
        return lower_condition(scope, node.test)

    def start(_number: int) -> None:
        known_as_numbers(scope, proven(node.test, True))

    lower_peeled(scope, Peeled(shape, runs, start, lambda: _while(scope, node, shape)), times)


def _while(scope: Scope, node: ast.While, shape: LoopBody) -> None:
    loc = shape.loc
    test: list[Expr] = []
    assigns = any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test))

    def body(frame: LoopFrame) -> None:
        with scope.collect() as before:
            cond = lower_condition(scope, node.test)
        test[:] = [cond]
        if before or frame.exchange is not None:
            scope.block.extend(before)
            with scope.collect() as leave:
                if assigns:
                    end_path(scope, frame, loc)
            scope.emit(If(Unary("~", cond, loc=loc), (*leave, Break(loc=loc)), loc=loc))
            test[:] = [const(True, DType.BOOL, loc)]
        known_as_numbers(scope, proven(node.test, True))
        scope.lower_block(node.body, lambda: end_path(scope, frame, loc))

    frame, block = shape.lower(scope, body)
    if constant_truth(test[0]) is False and frame.broke is None:
        return
    shape.finish(scope, frame, While(test[0], block, loc=loc))


def _local_target(scope: Scope, node: ast.For) -> frozenset[str]:
    """The target's name, where it is read only inside loops that bind it; else the empty set.

    Such a target is the loop's own induction variable. Any other target is an ordinary variable, which every
    iteration assigns and which keeps its last value behind the loop.
    """
    is_own = isinstance(node.target, ast.Name) and node in scope.own_names
    return frozenset({variable_name(node.target)}) if is_own else frozenset()


# ---------------------------------------------------------------- checks of annotated loops


def _check_jumps(scope: Scope, node: ast.For) -> None:
    """Raises UnsupportedError for a parallel loop that a return in an inner loop leaves.

    A break or return at its own level is allowed: the loop is a search.
    """
    inner = [s for s in statements_in(*node.body) if isinstance(s, ast.For | ast.While)]
    for n in statements_in(*inner):
        if isinstance(n, ast.Return):
            raise UnsupportedError("a parallel loop cannot be left by return from a loop inside it", scope.loc(n),
                                   "keep the result in a variable, and leave after the inner loop")  # fmt: skip


def _check_nest(scope: Scope, node: ast.For, pragma: LoopPragma) -> None:
    """collapse, tile, interchange and jam take loops that are each the only statement of the one around it."""
    _nested(scope, node, pragma, "collapse", pragma.clauses.collapse)
    for transform in pragma.clauses.transforms:
        loops = _nested(scope, node, pragma, transform.name, transform.depth)
        if transform.name == "interchange":
            _check_names(scope, loops, transform)
        depth = transform.depth if transform.name == "tile" else 1
        if transform.name in ("tile", "unroll", "jam") and pragma.clauses.collapse > depth:
            raise PragmaError(
                f"collapse({pragma.clauses.collapse}) makes one loop of more loops than {transform.name!r} is about",
                transform.loc, "give a tile a size for each collapsed loop", "or leave one of the clauses out",
                related=(Note(pragma.clause_loc("collapse"), "collapsed here"),),
            )  # fmt: skip


def _check_names(scope: Scope, loops: list[ast.For], interchange: Transform) -> None:
    """interchange(names): the variables of these loops, in another order."""
    variables = [variable_name(loop.target) for loop in loops]
    names = interchange.loops
    for name in names:
        if name not in variables:
            assert isinstance(name, Name)
            listed = ", ".join(repr(variable) for variable in variables)
            raise PragmaError(
                f"interchange({', '.join(names)}): {name!r} is not the variable of one of the "
                f"{len(loops)} outermost loops", name.loc, f"these loops are over {listed}",
                related=(Note(scope.loc(loops[0].target), "the outermost loop"),),
            )  # fmt: skip
    if len(names) == 1 or list(names) == variables:
        raise PragmaError("interchange(...) names the loops in the order that they have", interchange.loc,
                          "write the outermost loop first, as it is to be")  # fmt: skip


def _nested(scope: Scope, node: ast.For, pragma: LoopPragma, clause: str, depth: int) -> list[ast.For]:
    """The `depth` perfectly nested loops from `node` inwards. Raises PragmaError where there are fewer."""
    loops = [node]
    for _ in range(depth - 1):
        inner = loops[-1].body[0]
        if len(loops[-1].body) != 1 or not isinstance(inner, ast.For):
            stray = next(s for s in loops[-1].body if s is not inner or not isinstance(s, ast.For))
            what = f"collapse({depth})" if clause == "collapse" else f"{clause!r}"
            raise PragmaError(
                f"{what} needs {depth} loops, each alone in the one around it",
                pragma.clause_loc(clause),
                f"move the other statements into the innermost loop, or {clause} fewer loops",
                related=(Note(scope.loc(stray), "this stands in the way"),),
            )
        if clause == "collapse" and inner in scope.pragmas:
            raise PragmaError("a collapsed loop has a pragma of its own", scope.pragmas[inner].loc,
                              "put all clauses on the outermost of the collapsed loops")  # fmt: skip
        loops.append(inner)
    return loops
