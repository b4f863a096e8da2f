"""Comparisons: chained comparisons, identity, and membership."""

from __future__ import annotations

import ast
from dataclasses import replace

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays import tensors
from appyc.frontend.control.conditionals import choose
from appyc.frontend.expressions import arithmetic, expressions, selections
from appyc.frontend.expressions.tuple_comparisons import compare_tuples
from appyc.frontend.scope import Scope, constant_truth
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.list_kinds import is_listed
from appyc.frontend.types.values import DictValue, ListValue, MaybeNone, Number, Opaque, TupleValue, Value
from appyc.ir.nodes import Logical

_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


def lower_comparison(
    scope: Scope, left: ast.expr, ops: list[ast.cmpop], comparators: list[ast.expr], loc: Loc
) -> Value:
    """A comparison, or a chain of comparisons. Each operand is evaluated once; the first false comparison decides."""
    if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in ops):
        return _identity(scope, left, ops, comparators, loc)
    if len(ops) == 1 and isinstance(ops[0], ast.Eq | ast.NotEq) and _is_none_literal(comparators[0]):
        value = expressions.lower_or_none(scope, left)
        if isinstance(value, MaybeNone):
            return value.is_none if isinstance(ops[0], ast.Eq) else arithmetic.logical_not(value.is_none, loc)
    if len(ops) > 1:
        return _chain(scope, expressions.lower_or_none(scope, left), ops, [left, *comparators], loc)
    values = expressions.lower_operands(scope, [left, *comparators])
    if (text := _compare_objects(values, ops[0], loc)) is not None:
        return text
    tensors.refuse_lists(values, loc)
    if any(tensors.is_array(v) for v in values):
        symbol = _COMPARE[type(ops[0])]
        return tensors.elementwise(
            scope, values, lambda numbers: selections.compare(symbol, numbers[0], numbers[1], loc), loc
        )
    return _compared(scope, values, ops[0], [left, *comparators], loc)


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
    found = compare_tuples(values[0], op, values[1], loc)
    if found is not None:
        return found
    one, other = (
        expressions.number(value, scope.loc(node)) for value, node in zip(values, nodes, strict=False)
    )
    return selections.compare(_COMPARE[type(op)], one, other, loc)


def _is_none_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _compare_objects(values: list[Value], op: ast.cmpop, loc: Loc) -> Number | None:
    """The comparison of two compile-time objects (text, dtypes, None); None for other operands."""
    a, b = values
    if not (isinstance(a, Opaque) and isinstance(b, Opaque)) or not isinstance(op, ast.Eq | ast.NotEq):
        return None
    return arithmetic.python_number((a.obj == b.obj) == isinstance(op, ast.Eq), loc)


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
            if isinstance(one, MaybeNone) and isinstance(other, Opaque) and other.obj is None:
                is_it = isinstance(ops[0], ast.Is)
                return one.is_none if is_it else arithmetic.logical_not(one.is_none, loc)
        if isinstance(a, Opaque) or isinstance(b, Opaque):
            same = isinstance(a, Opaque) and isinstance(b, Opaque) and a.obj is b.obj
            return arithmetic.python_number(same == isinstance(ops[0], ast.Is), loc)
    raise UnsupportedError("`is` compares objects, which compiled code does not have", loc,
                           hints=("compare numbers with == or !=; `x is None` is fine",))  # fmt: skip


def _membership(scope: Scope, item: ast.expr, among: ast.expr, loc: Loc) -> Number:
    """`item in among`, for a number or text: in a tuple, list or set (a display or a name), or in a dict's keys."""
    if isinstance(among, ast.List | ast.Set):
        among = ast.copy_location(ast.Tuple(among.elts, ast.Load()), among)
    wanted, found = expressions.lower_operands(scope, [item, among])
    is_own = isinstance(found, ListValue) and not found.slots.of_tuples
    if (is_own or (is_listed(found) and found.ndim == 1)) and isinstance(wanted, Number):
        return _among_list(scope, wanted, found, loc)
    if isinstance(found, DictValue):
        found = expressions.keys_of(found, loc)
    if not isinstance(found, TupleValue):
        raise UnsupportedError(f"`in` of {describe(found)} cannot be compiled", loc,
                               hints=("`x in (1, 2, 3)` can; of an array, np.any(a == x)",))  # fmt: skip
    out = arithmetic.python_number(False, loc)
    for one in found.items:
        same = _compare_objects([wanted, one], ast.Eq(), loc) or compare_tuples(wanted, ast.Eq(), one, loc)
        if same is None and isinstance(wanted, Number) and isinstance(one, Number):
            same = selections.compare("==", wanted, one, loc)
        if same is None and not (isinstance(wanted, Opaque) or isinstance(one, Opaque)):
            raise UnsupportedError(f"{describe(wanted)} cannot be looked for among {describe(found)}", loc,
                                   hints=("compare numbers",))  # fmt: skip
        if same is None or constant_truth(same.expr) is False:
            continue  # a number is no text
        if constant_truth(same.expr) is True or constant_truth(out.expr) is False:
            out = Number(same.expr, python=True)
        elif constant_truth(out.expr) is None:
            out = Number(Logical("or", out.expr, same.expr, loc=loc), python=True)
    return out


def _among_list(scope: Scope, wanted: Number, found: Value, loc: Loc) -> Number:
    """Whether the list contains the number."""
    from appyc.frontend.library.array_reductions import Along, reduce_array  # noqa: PLC0415  (it counts masks)

    kept = replace(wanted, expr=scope.temp("wanted", wanted.expr))
    same = tensors.elementwise(
        scope,
        [tensors.as_tensor(scope, found, loc), kept],
        lambda numbers: selections.compare("==", numbers[0], numbers[1], loc),
        loc,
    )
    out = reduce_array(scope, "any", same, Along(), None, loc)
    assert isinstance(out, Number)
    return Number(out.expr, python=True)
