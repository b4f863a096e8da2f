"""Comparisons: chained comparisons, identity, membership, and tuples item by item.

    (a, b) == (c, d)        a == c and b == d
    (a, b) < (c, d)         a < c or (a == c and b < d)

Tuples of different lengths are never equal, and a tuple never equals a value of another type. Items are numbers,
tuples, and compile-time objects.

Does not handle: array items, whose comparison has no single truth value; Python's identity shortcut for NaN.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from enum import Enum

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays import tensors
from appyc.frontend.control.conditionals import choose
from appyc.frontend.expressions import arithmetic, expressions, selections, strings
from appyc.frontend.expressions.arithmetic import constant_truth
from appyc.frontend.expressions.inlining import inlined
from appyc.frontend.expressions.list_changes import new_list
from appyc.frontend.expressions.outer_sets import with_items_of_set
from appyc.frontend.library.array_reductions import reduce_array
from appyc.frontend.resolve import is_instance
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import copied_list, is_new_list
from appyc.frontend.types.characters import as_character, is_string
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.made_values import made_object
from appyc.frontend.types.value_parts import parts_of
from appyc.frontend.types.values import (
    DictValue,
    ListSlots,
    MaybeNone,
    Number,
    Opaque,
    TupleValue,
    Value,
    is_listed,
    is_none,
)
from appyc.ir.nodes import Logical
from appyc.library.byte_lists import byte
from appyc.library.list_lookups import contains, equal

_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


def lower_comparison(
    scope: Scope, left: ast.expr, ops: list[ast.cmpop], comparators: list[ast.expr], loc: Loc
) -> Value:
    """A comparison, or a chain of comparisons. Each operand is evaluated once; the first false comparison decides."""
    if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in ops):
        return _identity(scope, left, ops, comparators, loc)
    match ops, comparators:
        case [ast.Eq() | ast.NotEq() as op], [ast.Constant(value=None)]:
            value = expressions.lower_or_none(scope, left)
            if isinstance(value, MaybeNone):
                return value.is_none if isinstance(op, ast.Eq) else arithmetic.logical_not(value.is_none, loc)
    nodes = [left, *comparators]
    if isinstance(ops[0], ast.Eq | ast.NotEq) and any(
        is_new_list(n) and copied_list(n) is None for n in nodes
    ):
        return _compared_lists(scope, ops[0], nodes, loc)
    if len(ops) > 1:
        return _chain(scope, expressions.lower_or_none(scope, left), ops, [left, *comparators], loc)
    values = expressions.lower_operands(scope, [left, *comparators])
    if (text := _compare_objects(scope, values, ops[0], loc)) is not None:
        return text
    if (of_texts := strings.compared(scope, ops[0], values, loc)) is not None:
        return of_texts
    tensors.refuse_lists(values, loc)
    if any(tensors.is_array(v) for v in values):
        symbol = _COMPARE[type(ops[0])]
        return tensors.elementwise(
            scope, values, lambda n: selections.compare(symbol, n[0], n[1], loc, by_ufunc=True), loc
        )
    return _compared(scope, values, ops[0], [left, *comparators], loc)


def _compared_lists(scope: Scope, op: ast.cmpop, nodes: list[ast.expr], loc: Loc) -> Number:
    """Whether two lists, of which an expression makes one, are equal."""
    values = [
        new_list(scope, node, loc) if is_new_list(node) and copied_list(node) is None else scope.lower(node)
        for node in nodes
    ]
    if len(values) != 2 or not all(isinstance(v, ListSlots) or is_listed(v) or is_string(v) for v in values):
        raise UnsupportedError("a list cannot be compiled", loc, "use a tuple or an array")
    if any(map(is_string, values)):
        return arithmetic.python_number(isinstance(op, ast.NotEq), loc)
    same = inlined(scope, equal, {"items": values[0], "others": values[1]}, loc)
    assert isinstance(same, Number)
    return same if isinstance(op, ast.Eq) else arithmetic.logical_not(same, loc)


def _chain(scope: Scope, value: Value, ops: list[ast.cmpop], nodes: list[ast.expr], loc: Loc) -> Number:
    """A chain of comparisons, of whose operands the first has this value. Statements that the third or a later one
    needs run only where the comparisons before hold."""
    with scope.collect() as block:
        second = expressions.lower_or_none(scope, nodes[1])
    if block and isinstance(value, Number):
        value = replace(value, expr=scope.temp("operand", value.expr))
    scope.block.extend(block)
    first = _compared(scope, [value, second], ops[0], nodes, loc)
    if len(ops) == 1:
        return first
    with scope.collect() as block:
        rest = _chain(scope, second, ops[1:], nodes[1:], loc)
    if not block:
        return Number(Logical("and", first.expr, rest.expr, loc=loc), first.python and rest.python)
    fails = replace(rest, expr=arithmetic.const(False, rest.expr.dtype, loc))
    return choose(scope, first.expr, (rest, fails), (block, []), loc)


def _compared(scope: Scope, values: list[Value], op: ast.cmpop, nodes: list[ast.expr], loc: Loc) -> Number:
    found = _compare_tuples(scope, values[0], op, values[1], loc)
    found = found or strings.compared(scope, op, values[:2], loc)
    if found is not None:
        return found
    one, other = (
        expressions.number(value, scope.loc(node)) for value, node in zip(values, nodes, strict=False)
    )
    return selections.compare(_COMPARE[type(op)], one, other, loc)


def _compare_objects(scope: Scope, values: list[Value], op: ast.cmpop, loc: Loc) -> Number | None:
    """The comparison of two compile-time objects (text, dtypes, None); None for other operands."""
    a, b = values
    if not (isinstance(a, Opaque) and isinstance(b, Opaque)) or not isinstance(op, ast.Eq | ast.NotEq):
        return None
    if made_object(a) or made_object(b):
        raise UnsupportedError("objects that the function makes are not compared in compiled code", loc,
                               "compare their fields")  # fmt: skip
    _depend_on(scope, a, b, loc=loc)
    return arithmetic.python_number((a.obj == b.obj) == isinstance(op, ast.Eq), loc)


def _depend_on(scope: Scope, *values: Value, loc: Loc) -> None:
    """Makes the code one for the members of enumerations that are compared. Raises UnsupportedError for other objects,
    of which a version knows no more than the class."""
    for value in values:
        if isinstance(value, Opaque) and (is_instance(value.obj) or isinstance(value.obj, _OF_PYTHON)):
            if not isinstance(value.obj, Enum):
                raise UnsupportedError(f"{describe(value)} is not compared in compiled code", loc,
                                       "compare what is in it")  # fmt: skip
            if value.root is not None:
                scope.names.environment.depend(value.root, value.obj)
        _depend_on(scope, *parts_of(value), loc=loc)


_OF_PYTHON = (dict, set, frozenset, range, slice)


def _identity(
    scope: Scope, left: ast.expr, ops: list[ast.cmpop], comparators: list[ast.expr], loc: Loc
) -> Value:
    """Identity and membership: `x is None`, `x is not None`, `x in (1, 2)`. Most identities fold at compile time."""
    if len(ops) == 1 and isinstance(ops[0], ast.In | ast.NotIn):
        found = _membership(scope, left, comparators[0], loc)
        return found if isinstance(ops[0], ast.In) else arithmetic.logical_not(found, loc)
    if len(ops) == 1 and isinstance(ops[0], ast.Is | ast.IsNot):
        a, b = expressions.lower_operands(scope, [left, comparators[0]], expressions.lower_or_none)
        for one, other in ((a, b), (b, a)):
            if isinstance(one, MaybeNone) and is_none(other):
                is_it = isinstance(ops[0], ast.Is)
                return one.is_none if is_it else arithmetic.logical_not(one.is_none, loc)
        if isinstance(a, Opaque) or isinstance(b, Opaque):
            if (both := isinstance(a, Opaque) and isinstance(b, Opaque)) and not (is_none(a) or is_none(b)):
                _depend_on(scope, a, b, loc=loc)
            same = both and a.obj is b.obj  # type: ignore[union-attr]
            return arithmetic.python_number(same == isinstance(ops[0], ast.Is), loc)
    raise UnsupportedError("`is` compares objects, which compiled code does not have", loc,
                           "compare numbers with == or !=; `x is None` is fine")  # fmt: skip


def _membership(scope: Scope, item: ast.expr, among: ast.expr, loc: Loc) -> Number:
    """`item in among`, for a number, tuple or text: in a tuple, list, set (written out or named), or a dict's keys."""
    if isinstance(among, ast.List | ast.Set):
        among = ast.copy_location(ast.Tuple(among.elts, ast.Load()), among)
    wanted, found = expressions.lower_operands(scope, [item, among])
    if isinstance(found, Opaque) and isinstance(found.obj, bytes) and isinstance(wanted, Number):
        given: dict[str, Value] = {"x": Number(expressions.as_index(wanted, loc), python=True)}
        wanted = inlined(scope, byte, given, loc)
        found = TupleValue(tuple(arithmetic.python_number(n, loc) for n in dict.fromkeys(found.obj)))
    if (inside := strings.contains(scope, wanted, found, loc)) is not None:
        return inside
    if isinstance(found, Opaque) and isinstance(wanted, Opaque):
        match wanted.obj, found.obj:
            case str(part), str(text):
                return arithmetic.python_number(part in text, loc)
    if isinstance(found, ListSlots) and found.of_tuples and isinstance(wanted, TupleValue):
        is_there = inlined(scope, contains, {"items": found, "value": wanted}, loc)
        assert isinstance(is_there, Number)
        return is_there
    is_own = isinstance(found, ListSlots) and not found.of_tuples
    wanted = as_character(wanted, loc) if is_own or is_listed(found) else wanted
    if (is_own or (is_listed(found) and found.ndim == 1)) and isinstance(wanted, Number):
        return _among_list(scope, wanted, found, loc)
    if isinstance(found, DictValue):
        expressions.known_key(scope, among, wanted)
        found = expressions.keys_of(found, loc)
    found = with_items_of_set(scope, found, loc)
    if not isinstance(found, TupleValue):
        raise UnsupportedError(f"`in` of {describe(found)} cannot be compiled", loc,
                               "`x in (1, 2, 3)` can; of an array, np.any(a == x)")  # fmt: skip
    out = arithmetic.python_number(False, loc)
    for one in found.items:
        same = _compare_objects(scope, [wanted, one], ast.Eq(), loc)
        same = same or _compare_tuples(scope, wanted, ast.Eq(), one, loc)
        same = same or strings.compared(scope, ast.Eq(), [wanted, one], loc)
        if same is None and isinstance(wanted, Number) and isinstance(one, Number):
            same = selections.compare("==", wanted, one, loc)
        if same is None and not (isinstance(wanted, Opaque) or isinstance(one, Opaque)):
            raise UnsupportedError(f"{describe(wanted)} cannot be looked for among {describe(found)}", loc,
                                   "compare numbers")  # fmt: skip
        if same is None or constant_truth(same.expr) is False:
            continue  # a number is no text
        if constant_truth(same.expr) is True or constant_truth(out.expr) is False:
            out = Number(same.expr, python=True)
        elif constant_truth(out.expr) is None:
            out = Number(Logical("or", out.expr, same.expr, loc=loc), python=True)
    return out


def _among_list(scope: Scope, wanted: Number, found: Value, loc: Loc) -> Number:
    """Whether the list contains the number."""
    kept = replace(wanted, expr=scope.temp("wanted", wanted.expr), is_int=None)
    if isinstance(found, ListSlots):
        found = tensors.without_flags(found)
    same = tensors.elementwise(
        scope,
        [tensors.as_tensor(scope, found, loc), kept],
        lambda numbers: selections.compare("==", numbers[0], numbers[1], loc),
        loc,
    )
    out = reduce_array(scope, "any", same, loc)
    assert isinstance(out, Number)
    return Number(out.expr, python=True)


# ---------------------------------------------------------------- tuples


_ORDERS: dict[type[ast.cmpop], tuple[str, bool]] = {
    ast.Lt: ("<", False), ast.LtE: ("<", True), ast.Gt: (">", False), ast.GtE: (">", True),
}  # fmt: skip
"""The strict comparison of items for each operator, and the result for equal tuples."""


def _compare_tuples(scope: Scope, a: Value, op: ast.cmpop, b: Value, loc: Loc) -> Number | None:
    """The truth of `a op b` where one operand is a tuple and the other is not an array; else None."""
    if not (isinstance(a, TupleValue) or isinstance(b, TupleValue)):
        return None
    if not all(isinstance(v, TupleValue | Number | Opaque) for v in (a, b)):
        return None
    _depend_on(scope, a, b, loc=loc)
    if isinstance(op, ast.Eq | ast.NotEq):
        same = _equal(a, b, loc)
        return same if isinstance(op, ast.Eq) else arithmetic.logical_not(same, loc)
    if not (isinstance(a, TupleValue) and isinstance(b, TupleValue)):
        raise UnsupportedError(f"{describe(a)} and {describe(b)} have no order", loc)
    return _ordered(a, *_ORDERS[type(op)], b, loc)


def _equal(a: Value, b: Value, loc: Loc) -> Number:
    match a, b:
        case Number(), Number():
            return selections.compare("==", a, b, loc)
        case Opaque(), Opaque():
            return arithmetic.python_number(bool(a.obj == b.obj), loc)
        case TupleValue(), TupleValue() if len(a.items) == len(b.items):
            out = arithmetic.python_number(True, loc)
            for one, other in zip(a.items, b.items, strict=True):
                out = _joined("and", out, _equal(one, other, loc), loc)
            return out
        case ((TupleValue() | Number() | Opaque()), (TupleValue() | Number() | Opaque())):
            return arithmetic.python_number(False, loc)
        case _:
            raise UnsupportedError(f"{describe(a)} and {describe(b)} cannot be compared as items of tuples", loc,
                                   "compare numbers; for arrays np.array_equal")  # fmt: skip


def _ordered(a: TupleValue, symbol: str, whole: bool, b: TupleValue, loc: Loc) -> Number:
    """The lexicographic comparison, built from the last items to the first. whole: the result for equal tuples."""
    one, other = len(a.items), len(b.items)
    out = arithmetic.python_number(whole if one == other else (one < other) == (symbol == "<"), loc)
    for mine, yours in reversed(list(zip(a.items, b.items, strict=False))):
        if isinstance(mine, TupleValue) and isinstance(yours, TupleValue):
            before = _ordered(mine, symbol, False, yours, loc)
        elif isinstance(mine, Number) and isinstance(yours, Number):
            before = selections.compare(symbol, mine, yours, loc)
        else:
            raise UnsupportedError(f"{describe(mine)} and {describe(yours)} have no order here", loc)
        out = _joined("or", before, _joined("and", _equal(mine, yours, loc), out, loc), loc)
    return out


def _joined(op: str, a: Number, b: Number, loc: Loc) -> Number:
    """`a and b`, or `a or b`, simplified where one operand is a constant."""
    for one, other in ((a, b), (b, a)):
        known = constant_truth(one.expr)
        if known is not None:
            return other if known == (op == "and") else arithmetic.python_number(known, loc)
    return Number(Logical(op, a.expr, b.expr, loc=loc), python=True)
