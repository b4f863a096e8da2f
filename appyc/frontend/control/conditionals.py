"""Conditional expressions: short-circuit `and` and `or`, and `x if c else y`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import tensors
from appyc.frontend.arrays.item_counts import length_of
from appyc.frontend.control.joins import lower_arms
from appyc.frontend.expressions import arithmetic, expressions, selections
from appyc.frontend.expressions.arithmetic import cast, constant_truth, integer, truth_of
from appyc.frontend.expressions.left_calls import leave_inexact
from appyc.frontend.facts import NoValue
from appyc.frontend.scope import Scope
from appyc.frontend.types.characters import as_character, is_character, is_written
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.value_parts import with_numbers
from appyc.frontend.types.values import (
    MaybeNone,
    Number,
    Opaque,
    Slot,
    Tensor,
    TupleSlots,
    TupleValue,
    Value,
    is_listed,
    is_none,
)
from appyc.ir.names import unused
from appyc.ir.nodes import Assign, Expr, If, Logical, Stmt, Var
from appyc.ir.types import DType


def _branch(scope: Scope, node: ast.expr) -> tuple[Value, list[Stmt]]:
    """The value of a conditionally evaluated expression, and the statements to emit on its path."""
    with scope.collect() as block, _binding_nothing(scope):
        value = expressions.lower_expression(scope, node)
    return value, block


@contextmanager
def _binding_nothing(scope: Scope) -> Iterator[None]:
    """Raises UnsupportedError for a `:=` in an expression that is evaluated on some paths only."""
    before = dict(scope.env)
    yield
    for name, binding in scope.env.items():
        if before.get(name) is not binding:
            raise UnsupportedError(f"{name!r} is assigned on some paths only", scope.bound_at[name],
                                   "assign it in a statement of its own")  # fmt: skip


def lower_bool_op(scope: Scope, is_and: bool, nodes: list[ast.expr], loc: Loc) -> Value:
    """`a and b`, `a or b` as values: one of the operands; for bools, the logical operation."""
    while len(nodes) > 1 and (known := _truth_of_object(scope, nodes[0])) is not None:
        if known != is_and:
            return expressions.lower_expression(scope, nodes[0])
        nodes = nodes[1:]
    if len(nodes) == 1:
        return expressions.lower_or_none(scope, nodes[0])
    first = expressions.lower_number(scope, nodes[0])
    for node in nodes[1:]:
        if first.type.dtype is DType.BOOL and constant_truth(first.expr) == (not is_and):
            break  # the later operands are never evaluated
        try:
            value, block = _branch(scope, node)
        except NoValue:
            break  # the operands so far give a type, and the next round has the result's type
        second = expressions.number(value, scope.loc(node))
        op = "and" if is_and else "or"
        if first.type.dtype is DType.BOOL and second.type.dtype is DType.BOOL and not block:
            known = constant_truth(first.expr)
            if known is None:
                first = Number(Logical(op, first.expr, second.expr, loc=loc), first.python and second.python)
            elif known == is_and:
                first = second
            continue
        kept = replace(first, expr=scope.temp("operand", first.expr))
        cond = truth_of(kept.expr)
        pair = (second, kept) if is_and else (kept, second)
        blocks = (block, []) if is_and else ([], block)
        first = choose(scope, cond, pair, blocks, loc)
    return first


def _truth_of_object(scope: Scope, node: ast.expr) -> bool | None:
    """The truth of a name or constant that is None or text, as in `n or 100`; None for other expressions."""
    if not isinstance(node, ast.Name | ast.Constant):
        return None
    value = expressions.lower_or_none(scope, node)
    is_known = isinstance(value, Opaque) and isinstance(value.obj, str | type(None))
    return bool(value.obj) if isinstance(value, Opaque) and is_known else None


def logical_chain(scope: Scope, is_and: bool, nodes: list[ast.expr], loc: Loc) -> Expr:
    out = lower_condition(scope, nodes[0])
    told = proven(nodes[0], is_and)
    for node in nodes[1:]:
        known = constant_truth(out)
        if known == (not is_and):
            break  # the later operands are never evaluated
        try:
            with where_numbers(scope, told), scope.collect() as block, _binding_nothing(scope):
                nxt = lower_condition(scope, node)
        except NoValue:
            break
        told |= proven(node, is_and)
        if known is not None:
            scope.block.extend(block)
            out = nxt
            continue
        if not block:
            out = Logical("and" if is_and else "or", out, nxt, loc=loc)
            continue
        decided = Number(arithmetic.const(not is_and, DType.BOOL, loc), python=True)
        rest = Number(nxt, python=True)
        pair, blocks = ((rest, decided), (block, [])) if is_and else ((decided, rest), ([], block))
        out = choose(scope, out, pair, blocks, loc).expr
    return out


def choose(
    scope: Scope, cond: Expr, pair: tuple[Number, Number], blocks: tuple[list[Stmt], list[Stmt]], loc: Loc
) -> Number:
    """A select instruction, or an `if` where a side needs statements of its own."""
    return _choose_each(scope, cond, [pair], blocks, loc)[0]


def _choose_each(
    scope: Scope,
    cond: Expr,
    pairs: list[tuple[Number, Number]],
    blocks: tuple[list[Stmt], list[Stmt]],
    loc: Loc,
) -> list[Number]:
    """Selects between the numbers of each pair, with one `if` for all where a side needs statements."""
    if len(pairs) > 1:
        cond = scope.temp("condition", cond)
    chosen = [selections.select(cond, *pair, loc) for pair in pairs]
    known = constant_truth(cond)
    if known is not None:
        scope.block.extend(blocks[0] if known else blocks[1])
        return chosen
    if not (blocks[0] or blocks[1]):
        for out, pair in zip(chosen, pairs, strict=True):
            leave_inexact(scope, pair, out, loc)
        return chosen
    symbols = [scope.supply.fresh("chosen", number.type.dtype) for number in chosen]
    arms = []
    for block, sides in zip(blocks, zip(*pairs, strict=True), strict=True):
        numbers = zip(symbols, sides, strict=True)
        arms.append((*block, *(Assign(s, cast(side.expr, s.dtype), loc=loc) for s, side in numbers)))
    scope.emit(If(cond, arms[0], arms[1], loc=loc))
    return [replace(n, expr=Var(s, loc=loc)) for n, s in zip(chosen, symbols, strict=True)]


def lower_conditional(scope: Scope, test: ast.expr, body: ast.expr, orelse: ast.expr, loc: Loc) -> Value:
    """The conditional expression `body if test else orelse`."""
    cond = lower_condition(scope, test)
    known = constant_truth(cond)
    if known is not None:
        return expressions.lower_expression(scope, body if known else orelse)
    sides = []
    for node, truth in ((body, True), (orelse, False)):
        with suppress(NoValue), where_numbers(scope, proven(test, truth)):
            sides.append(_branch(scope, node))
    if len(sides) < 2:  # as for `and`: the other side has no type yet
        if not sides:
            raise NoValue
        scope.block.extend(sides[0][1])
        return sides[0][0]
    (then, then_block), (other, other_block) = sides
    if is_none(other) and isinstance(then, Number | TupleValue | MaybeNone):
        return _or_none(scope, cond, then, then_block, loc)
    if is_none(then) and isinstance(other, Number | TupleValue | MaybeNone):
        opposite = arithmetic.logical_not(Number(cond, python=True), loc).expr
        return _or_none(scope, opposite, other, other_block, loc)
    if isinstance(then, TupleValue) and isinstance(other, TupleValue):
        chosen = _choose_each(scope, cond, _pairs(then, other, loc), (then_block, other_block), loc)
        return with_numbers(then, iter(chosen))
    if not isinstance(then, Number) and then == other:
        return then
    if tensors.is_array(then) and tensors.is_array(other):
        return chosen_array(scope, cond, ((then, then_block), (other, other_block)), loc)
    if is_none(then) or is_none(other):
        raise UnsupportedError("this is None, or an array", loc,
                               "write it as a statement: `x = None`, then `if ...: x = ...`")  # fmt: skip
    if is_character(then) or is_character(other) or (is_written(then) and is_written(other)):
        then, other = as_character(then, loc), as_character(other, loc)
        if not (is_character(then) and is_character(other)):
            raise UnsupportedError(f"this is {describe(then)}, or {describe(other)}", loc,
                                   "use two names, so that each has one meaning")  # fmt: skip
    pair = (expressions.number(then, scope.loc(body)), expressions.number(other, scope.loc(orelse)))
    return choose(scope, cond, pair, (then_block, other_block), loc)


def _or_none(
    scope: Scope, cond: Expr, value: Number | TupleValue | MaybeNone, block: list[Stmt], loc: Loc
) -> MaybeNone:
    """`value if cond else None`; with the statements that the value needs."""
    is_none = value.is_none if isinstance(value, MaybeNone) else arithmetic.python_number(False, loc)
    present = value.value if isinstance(value, MaybeNone) else value
    items = present.items if isinstance(present, TupleValue) else (present,)
    numbers = [expressions.number(item, loc) for item in items]
    absent = [replace(n, expr=cast(integer(0, loc), n.expr.dtype)) for n in numbers]
    pairs = [(is_none, arithmetic.python_number(True, loc)), *zip(numbers, absent, strict=True)]
    flag, *chosen = _choose_each(scope, cond, pairs, (block, []), loc)
    return MaybeNone(with_numbers(present, iter(chosen)), flag)


def chosen_array(
    scope: Scope, cond: Expr, sides: tuple[tuple[Value, list[Stmt]], tuple[Value, list[Stmt]]], loc: Loc
) -> Value:
    """One of two arrays, as two branches would bind a name to it; with each the statements it needs."""
    name = unused("chosen", scope.locals)

    def arm(value: Value, block: list[Stmt]) -> None:
        scope.block += block
        kept = tensors.kept(scope, value, "chosen", loc) if isinstance(value, Tensor) else value
        scope.bind(name, kept, loc)

    one, other = (partial(arm, *side) for side in sides)
    lower_arms(scope, cond, (one, other), scope.locals | {name}, loc)
    out = scope.read(name, loc)
    del scope.env[name]
    return out


def _pairs(then: TupleValue, other: TupleValue, loc: Loc) -> list[tuple[Number, Number]]:
    """The numbers of two tuples, also those of the tuples in them."""
    if len(then.items) != len(other.items):
        raise TypeInferenceError("the two sides are tuples of different lengths", loc)
    out: list[tuple[Number, Number]] = []
    for a, b in zip(then.items, other.items, strict=True):
        if isinstance(a, TupleValue) and isinstance(b, TupleValue):
            out += _pairs(a, b, loc)
        else:
            out.append((expressions.number(a, loc), expressions.number(b, loc)))
    return out


def lower_condition(scope: Scope, node: ast.expr) -> Expr:
    """An expression's truth; `and`, `or` and `not` stay short-circuit tests."""
    loc = scope.loc(node)
    match node:
        case ast.BoolOp(op=op, values=values):
            return logical_chain(scope, isinstance(op, ast.And), values, loc)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = lower_condition(scope, operand)
            return arithmetic.logical_not(Number(inner, python=True), loc).expr
        case ast.Name(id=name) if isinstance(known := _literal(scope, name), bool):
            return arithmetic.const(known, DType.BOOL, loc)
    value = expressions.lower_or_none(scope, node)
    if isinstance(value, MaybeNone):
        there = arithmetic.logical_not(value.is_none, loc).expr
        if not isinstance(value.value, Number):
            return there  # a tuple that has items
        return Logical("and", there, truth_of(value.value.expr), loc=loc)
    if is_none(value):
        return arithmetic.const(False, DType.BOOL, loc)
    if is_listed(value) or not tensors.is_array(value):
        length = length_of(value, loc)
        if length is not None:
            return selections.compare(">", length, arithmetic.python_number(0, loc), loc).expr
    return truth_of(expressions.number(value, loc, "this condition").expr)


def _literal(scope: Scope, name: str) -> object:
    """The literal that a name was just assigned; None where it is none."""
    binding = scope.env.get(name)
    return binding.literal if isinstance(binding, Slot) and not binding.maybe else None


# ---------------------------------------------------------------- what a condition tells of names that may be None


def proven(test: ast.expr, truth: bool) -> frozenset[str]:
    """The names that are not None where the condition has come out so."""
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=None)]):
            is_number = isinstance(op, ast.IsNot | ast.NotEq) if truth else isinstance(op, ast.Is | ast.Eq)
            return frozenset({name}) if is_number else frozenset()
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return proven(operand, not truth)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == truth:
            return frozenset().union(*(proven(value, truth) for value in values))
        case ast.Name(id=name) if truth:
            return frozenset({name})
        case _:
            return frozenset()


def known_as_numbers(scope: Scope, names: frozenset[str]) -> None:
    """Records in the bindings that these names are not None from here on."""
    for name in names:
        binding = scope.env.get(name)
        if isinstance(binding, Slot | TupleSlots) and binding.optional:
            scope.env[name] = replace(binding, optional=False)


@contextmanager
def where_numbers(scope: Scope, names: frozenset[str]) -> Iterator[None]:
    """Binds these names as not None while an expression is lowered."""
    before = {name: scope.env[name] for name in names if name in scope.env}
    known_as_numbers(scope, names)
    try:
        yield
    finally:
        scope.env |= before
