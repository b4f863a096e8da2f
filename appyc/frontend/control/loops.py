"""Loops: `for` over ranges, arrays, tuples, enumerate and zip; `while`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace

from appyc.errors import Loc, Note, PragmaError, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor, as_value, kept, settled
from appyc.frontend.control.index_loops import is_outer, lower_place_loop, places_of
from appyc.frontend.control.loop_bodies import LoopBody, end_path, lower_statements
from appyc.frontend.control.peeling import Peeled, can_peel, lower_peeled
from appyc.frontend.control.unrolling import progression_of, unroll
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import cast, const, integer
from appyc.frontend.expressions.calls import with_items
from appyc.frontend.expressions.expressions import (
    keys_of,
    lower_condition,
    lower_expression,
    lower_operands,
    number,
    wrong_kind,
)
from appyc.frontend.expressions.lists import item_at
from appyc.frontend.pragmas.clauses import loop_clauses, prange_clauses
from appyc.frontend.pragmas.pragma_nodes import LoopPragma
from appyc.frontend.pragmas.prange import prange
from appyc.frontend.scope import LoopFrame, Scope, constant_truth
from appyc.frontend.syntax.none_tests import known_as_numbers, proven
from appyc.frontend.syntax.tree import as_tuple, statements_in
from appyc.frontend.types.values import (
    ArrayRef,
    DictValue,
    ListValue,
    Number,
    Opaque,
    Tensor,
    TupleValue,
    Value,
    describe,
)
from appyc.ir.nodes import (
    Binary,
    Break,
    Compare,
    Const,
    Expr,
    Extent,
    Fail,
    For,
    If,
    Load,
    Select,
    Unary,
    Var,
    While,
)
from appyc.ir.types import DType
from appyc.ir.visit import substitute


@dataclass(frozen=True, slots=True)
class Range:
    """The iterations of a `for`: an IR range, and the target's value in each."""

    lo: Expr
    hi: Expr
    step: int
    item: Callable[[Expr], Value]
    parallel: bool = False


def lower_for(scope: Scope, node: ast.For) -> None:
    """A `for` loop."""
    loc = scope.loc(node)
    pragma = scope.pragmas.get(node)
    assert pragma is None or isinstance(pragma, LoopPragma)
    if (places := places_of(scope, node.iter)) is not None:
        lower_place_loop(scope, node, places, pragma, loc)
        return
    source = what_it_runs_over(scope, node.iter)
    if isinstance(source, TupleValue) and pragma is None:
        progression = progression_of(node, source)
        source = _range_of(progression, loc) if progression is not None else source
    if isinstance(source, TupleValue):
        if pragma is not None:
            raise PragmaError("a loop over a tuple is unrolled and takes no pragma", pragma.loc,
                              hints=("drop the pragma, or pass the values as an array",))  # fmt: skip
        unroll(scope, node, source)
        return
    if pragma is not None and pragma.collapse > 1:
        _check_collapse(scope, node, pragma)
    if (pragma is not None and pragma.request in ("parallel", "simd")) or source.parallel:
        _check_jumps(scope, node)
    hidden = _local_target(scope, node)
    in_order = not source.parallel and (pragma is None or pragma.request not in ("parallel", "simd"))
    may_peel = in_order and can_peel(node)
    times = scope.facts.peeled.get(loc, 0) if may_peel else 0

    def rest(source: Range) -> None:
        shape = LoopBody(node, loc, hidden, in_order, asked=not in_order, may_peel=may_peel)
        _loop(scope, node, source, pragma, shape)

    if not times:
        rest(source)
        return
    stays = replace(source, lo=scope.unchanging(source.lo), hi=scope.unchanging(source.hi))

    def first(number: int) -> Expr:
        ahead = arithmetic.python_number(number * stays.step, loc)
        return arithmetic.binary("+", Number(stays.lo, True), ahead, loc).expr if number else stays.lo

    def start(number: int) -> None:
        place = first(number)
        if not isinstance(place, Const):
            place = scope.temp(_variable_name(node.target), place)
        _bind_target(scope, node.target, stays.item(place), hidden)

    def runs(number: int) -> Expr:
        op = "<" if stays.step > 0 else ">"
        return arithmetic.compare(op, Number(first(number), True), Number(stays.hi, True), loc).expr

    lower_peeled(
        scope, Peeled(node, loc, hidden, runs, start, lambda: rest(replace(stays, lo=first(times)))), times
    )


def _loop(scope: Scope, node: ast.For, source: Range, pragma: LoopPragma | None, shape: LoopBody) -> None:
    """The loop over a range."""
    loc, hidden = shape.loc, shape.hidden
    var = scope.supply.fresh(_variable_name(node.target), DType.INT64)

    def body(frame: LoopFrame) -> None:
        _bind_target(scope, node.target, source.item(Var(var, loc=scope.loc(node.target))), hidden)
        lower_statements(scope, node.body, lambda: end_path(scope, frame, loc))

    frame, block = shape.lower(scope, body)
    clauses = None
    if pragma is not None:
        clauses = loop_clauses(scope, node, pragma, frame.head)
    elif source.parallel:
        clauses = prange_clauses(loc)
    loop = For(var, source.lo, source.hi, source.step, block, clauses=clauses, loc=loc)
    shape.finish(scope, frame, loop)


def lower_while(scope: Scope, node: ast.While) -> None:
    """A `while` loop; where its condition needs statements, they run at the top of the body."""
    loc = scope.loc(node)
    may_peel = can_peel(node)
    times = scope.facts.peeled.get(loc, 0) if may_peel else 0
    shape = LoopBody(node, loc, frozenset(), may_peel=may_peel)
    if not times:
        _while(scope, node, shape)
        return

    def runs(_number: int) -> Expr:
        return lower_condition(scope, node.test)

    def start(_number: int) -> None:
        known_as_numbers(scope, proven(node.test, True))

    lower_peeled(
        scope, Peeled(node, loc, frozenset(), runs, start, lambda: _while(scope, node, shape)), times
    )


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
        lower_statements(scope, node.body, lambda: end_path(scope, frame, loc))

    frame, block = shape.lower(scope, body)
    if constant_truth(test[0]) is False and frame.broke is None:
        return
    shape.finish(scope, frame, While(test[0], block, loc=loc))


# ---------------------------------------------------------------- what a loop runs over


def what_it_runs_over(scope: Scope, node: ast.expr) -> Range | TupleValue:
    loc = scope.loc(node)
    if isinstance(node, ast.Call):
        callee = lower_expression(scope, node.func) if is_outer(scope, node.func) else None
        obj = callee.obj if isinstance(callee, Opaque) else None
        node = with_items(scope, node)
        if obj is range or obj is prange:
            return _range(scope, node, loc, parallel=obj is not range)
        if obj is enumerate:
            return _enumerate(scope, node, loc)
        if obj is zip:
            return _zip(scope, node, loc)
        if obj is reversed:
            return _reversed(scope, node, loc)
    if isinstance(node, ast.List):
        node = as_tuple(node)
    value = lower_expression(scope, node)
    if isinstance(value, DictValue):
        return keys_of(value, loc)
    if isinstance(value, TupleValue):
        items = settled(scope, value)
        assert isinstance(items, TupleValue)
        return items
    if isinstance(value, ListValue):
        return _over_list(scope, value, loc)
    if isinstance(value, ArrayRef) and value.ndim > 0:
        return _over_array(value, loc)
    if isinstance(value, Tensor) and value.ndim > 0:
        kept_value = kept(scope, value, "items", loc)
        assert isinstance(kept_value, ArrayRef | Tensor), "it has axes"
        return _over_view(as_tensor(scope, kept_value, loc), loc)
    raise wrong_kind(value)(
        f"a loop cannot run over {describe(value)}", loc,
        hints=("loop over range(...), an array, enumerate(...) or zip(...)",),
    )  # fmt: skip


def _over_array(value: ArrayRef, loc: Loc) -> Range:
    def item(var: Expr) -> Value:
        index = (*value.index, var)
        if len(index) == value.symbol.array.ndim:
            return Number(Load(value.symbol, index, loc=loc), python=False)
        return ArrayRef(value.symbol, index)

    return Range(integer(0, loc), Extent(value.symbol, len(value.index), loc=loc), 1, item)


def _over_list(scope: Scope, value: ListValue, loc: Loc) -> Range:
    """The items of a list, which does not change meanwhile."""
    count = scope.temp("count", Var(value.slots.count, loc=loc))
    return Range(integer(0, loc), count, 1, lambda var: item_at(value.slots, var, loc))


def _over_view(tensor: Tensor, loc: Loc) -> Range:
    """The items of a view, along its first axis."""

    def item(var: Expr) -> Value:
        element = substitute(tensor.element, {tensor.axes[0]: var})
        return as_value(replace(tensor, axes=tensor.axes[1:], extents=tensor.extents[1:], element=element))

    return Range(integer(0, loc), tensor.extents[0], 1, item)


def _arguments(scope: Scope, node: ast.Call) -> list[ast.expr]:
    if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        raise UnsupportedError("keyword and starred arguments cannot be compiled here", scope.loc(node))
    return node.args


def _range(scope: Scope, node: ast.Call, loc: Loc, *, parallel: bool) -> Range:
    args = _arguments(scope, node)
    if not 1 <= len(args) <= 3:
        name = ast.unparse(node.func)
        raise TypeInferenceError(f"{name} takes 1 to 3 arguments, not {len(args)}", loc,
                                 hints=(f"{name}(stop) or {name}(start, stop, step)",))  # fmt: skip
    values = lower_operands(scope, args)
    parts = [_bound(v, scope.loc(a)) for v, a in zip(values, args, strict=True)]
    lo = parts[0] if len(parts) > 1 else integer(0, loc)
    hi = parts[1] if len(parts) > 1 else parts[0]
    step = parts[2] if len(parts) > 2 else integer(1, loc)

    def item(var: Expr) -> Value:
        return Number(var, python=True)

    if isinstance(step, Const):
        assert isinstance(step.value, int)
        if step.value == 0:
            raise TypeInferenceError("range() arg 3 must not be zero", scope.loc(args[2]))
        return Range(lo, hi, step.value, item, parallel)
    return _variable_step(scope, lo, hi, step, loc, parallel=parallel)


def _bound(value: Value, loc: Loc) -> Expr:
    bound = number(value, loc, "this bound")
    if not bound.type.dtype.is_integer and bound.type.dtype is not DType.BOOL:
        raise TypeInferenceError(
            f"this bound is {describe(bound)}, where an integer is needed", loc,
            hints=("use // or int(...)",),
        )  # fmt: skip
    return cast(bound.expr, DType.INT64)


def _variable_step(scope: Scope, lo: Expr, hi: Expr, step: Expr, loc: Loc, *, parallel: bool) -> Range:
    """A step known at run time only: the loop counts its iterations, and the value follows."""
    first, stop, stride = scope.temp("first", lo), scope.temp("stop", hi), scope.temp("stride", step)
    zero = integer(0, loc)
    fail = Fail("ValueError", "range() arg 3 must not be zero", loc=loc)
    scope.emit(If(Compare("==", stride, zero, loc=loc), (fail,), loc=loc))
    up = Compare(">", stride, zero, loc=loc)
    low, high = (Select(up, a, b, loc=loc) for a, b in ((first, stop), (stop, first)))
    # Distances of int64 numbers fit into uint64, and so do their quotients' successors into int64.
    span = Binary("-", cast(high, DType.UINT64), cast(low, DType.UINT64), loc=loc)
    size = Select(up, stride, Unary("-", stride, loc=loc), loc=loc)
    unit = Const(1, DType.UINT64, loc=loc)
    whole = Binary("//", Binary("-", span, unit, loc=loc), cast(size, DType.UINT64), loc=loc)
    some = cast(Binary("+", whole, unit, loc=loc), DType.INT64)
    count = scope.temp("count", Select(Compare("<", low, high, loc=loc), some, zero, loc=loc))

    def item(var: Expr) -> Value:
        return Number(Binary("+", first, Binary("*", var, stride, loc=loc), loc=loc), python=True)

    return Range(zero, count, 1, item, parallel)


def _enumerate(scope: Scope, node: ast.Call, loc: Loc) -> Range | TupleValue:
    args = _arguments(scope, node)
    if not 1 <= len(args) <= 2:
        raise TypeInferenceError("enumerate takes 1 or 2 arguments", loc)
    start = (
        number(lower_expression(scope, args[1]), loc) if len(args) > 1 else arithmetic.python_number(0, loc)
    )
    inner = what_it_runs_over(scope, args[0])
    if isinstance(inner, TupleValue):
        counts = (
            arithmetic.binary("+", start, arithmetic.python_number(k, loc), loc)
            for k in range(len(inner.items))
        )
        return TupleValue(tuple(TupleValue(pair) for pair in zip(counts, inner.items, strict=True)))
    if (inner.lo, inner.step) != (integer(0, loc), 1):
        raise UnsupportedError("enumerate of this is not compiled", loc, hints=("count in a variable",))

    def item(var: Expr) -> Value:
        count = (
            arithmetic.binary("+", Number(var, python=True), start, loc)
            if start.constant != 0
            else Number(var, True)
        )
        return TupleValue((count, inner.item(var)))

    return replace(inner, item=item)


def _zip(scope: Scope, node: ast.Call, loc: Loc) -> Range | TupleValue:
    args = _arguments(scope, node)
    parts = [what_it_runs_over(scope, a) for a in args]
    tuples = [p.items for p in parts if isinstance(p, TupleValue)]
    if tuples and len(tuples) == len(parts):
        return TupleValue(tuple(TupleValue(items) for items in zip(*tuples, strict=False)))
    ranges = [p for p in parts if isinstance(p, Range) and p.lo == integer(0, loc) and p.step == 1]
    if not ranges or len(ranges) != len(parts):
        raise UnsupportedError(
            "zip runs over arrays and ranges from 0 only", loc, hints=("loop over an index",)
        )
    hi = ranges[0].hi
    for r in ranges[1:]:
        if r.hi != hi:
            hi = Binary("min", hi, r.hi, loc=loc)
    return Range(integer(0, loc), hi, 1, lambda var: TupleValue(tuple(r.item(var) for r in ranges)))


def _reversed(scope: Scope, node: ast.Call, loc: Loc) -> Range | TupleValue:
    args = _arguments(scope, node)
    inner = what_it_runs_over(scope, args[0])
    if isinstance(inner, TupleValue):
        return TupleValue(inner.items[::-1])
    if inner.step != 1:
        raise UnsupportedError(
            "reversed of this is not compiled", loc, hints=("use range with a negative step",)
        )
    one = integer(1, loc)
    last = arithmetic.binary("-", Number(inner.hi, True), Number(one, True), loc).expr
    stop = arithmetic.binary("-", Number(inner.lo, True), Number(one, True), loc).expr
    return replace(inner, lo=last, hi=stop, step=-1)


# ---------------------------------------------------------------- the loop's target


def _variable_name(target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Tuple) and target.elts and isinstance(target.elts[0], ast.Name):
        return target.elts[0].id
    return "i"


def _local_target(scope: Scope, node: ast.For) -> frozenset[str]:
    """The target's name, where it is read inside loops that bind it and nowhere else.

    Then it can be the loop's own variable. Elsewhere it is a variable like any other, which
    every iteration assigns and which keeps its last value.
    """
    is_own = isinstance(node.target, ast.Name) and node in scope.own_names
    return frozenset({_variable_name(node.target)}) if is_own else frozenset()


def _bind_target(scope: Scope, target: ast.expr, value: Value, hidden: frozenset[str]) -> None:
    from appyc.frontend.expressions.assignments import assign_to  # noqa: PLC0415  (statements hold loops)

    direct = isinstance(value, Number) and isinstance(value.expr, Var | Const)
    if direct and isinstance(target, ast.Name) and target.id in hidden:
        assert isinstance(value, Number)
        scope.env[target.id] = value
        return
    assign_to(scope, target, value, scope.loc(target))


def _range_of(progression: range, loc: Loc) -> Range:
    lo, hi = integer(progression.start, loc), integer(progression.stop, loc)
    return Range(lo, hi, progression.step, lambda var: Number(var, python=True))


# ---------------------------------------------------------------- checks of annotated loops


def _check_jumps(scope: Scope, node: ast.For) -> None:
    """A parallel loop may be left by a break or a return of its own: it is a search then. From a
    loop inside it, it may not."""
    inner = [s for s in statements_in(*node.body) if isinstance(s, ast.For | ast.While)]
    for n in statements_in(*inner):
        if isinstance(n, ast.Return):
            raise UnsupportedError(
                "a parallel loop cannot be left by return from a loop inside it", scope.loc(n),
                hints=("keep the result in a variable, and leave after the inner loop",),
            )  # fmt: skip


def _check_collapse(scope: Scope, node: ast.For, pragma: LoopPragma) -> None:
    """collapse(n): n loops, each the only statement of the one around it."""
    here = node
    for _ in range(pragma.collapse - 1):
        inner = here.body[0]
        if len(here.body) != 1 or not isinstance(inner, ast.For):
            stray = next(s for s in here.body if s is not inner or not isinstance(s, ast.For))
            raise PragmaError(
                f"collapse({pragma.collapse}) needs {pragma.collapse} loops, each alone in the one around it",
                pragma.clause_loc("collapse"),
                related=(Note(scope.loc(stray), "this stands in the way"),),
                hints=("move the other statements into the innermost loop, or collapse fewer loops",),
            )
        if inner in scope.pragmas:
            raise PragmaError("a collapsed loop has a pragma of its own", scope.pragmas[inner].loc,
                              hints=("put all clauses on the outermost of the collapsed loops",))  # fmt: skip
        here = inner
