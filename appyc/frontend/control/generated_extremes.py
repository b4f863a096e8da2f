"""`min` and `max` of what a generator gives, or of an array that is run over, with and without a key."""

from __future__ import annotations

import ast

from appyc.errors import LengthError, Loc
from appyc.frontend.arrays.tensors import as_tensor, fail_unless, is_array, pinned
from appyc.frontend.control.comprehensions import collected
from appyc.frontend.desugar.comprehension_loops import items_of
from appyc.frontend.expressions import expressions, selections
from appyc.frontend.expressions.arithmetic import integer, python_number
from appyc.frontend.expressions.inlining import called_with
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ListValue, Masked, Number, Tensor, TupleValue, Value, is_listed
from appyc.ir.nodes import Binary, Compare, Expr, Reduce, Var
from appyc.ir.types import DType
from appyc.ir.visit import substitute
from appyc.library.searching import extreme_by


def generated_extreme(scope: Scope, node: ast.Call, is_max: bool, loc: Loc) -> Value | None:
    """Python's `min` and `max` of a generator or a vector; None for other arguments."""
    argument = node.args[0]
    match node.keywords:
        case [ast.keyword(arg="key", value=key)]:
            return _by_key(scope, argument, key, is_max, loc)
        case [_, *_]:
            return None
    if isinstance(argument, ast.GeneratorExp | ast.ListComp):
        value = collected(scope, argument)
    elif isinstance(argument, ast.Tuple | ast.List):
        return None
    else:
        value = scope.lower(argument)
    if isinstance(value, ListValue) or is_listed(value):
        value = as_tensor(scope, value, loc)
    if isinstance(value, TupleValue):
        if not value.items:
            raise LengthError(f"{'max' if is_max else 'min'}() arg is an empty sequence", loc)
        out = value.items[0]
        for item in value.items[1:]:
            pair = expressions.number(out, loc), expressions.number(item, loc)
            out = selections.extremum("max" if is_max else "min", *pair, loc)
        return out
    if not is_array(value):
        return None
    described = value.tensor if isinstance(value, Masked) else value
    python = isinstance(described, Tensor) and described.python
    tensor = as_tensor(scope, expressions.pack_masked(scope, value, loc), loc)
    if tensor.ndim != 1 or tensor.element.dtype.is_complex:
        return None
    return Number(_extreme(scope, tensor, is_max, loc), python)


def _by_key(scope: Scope, over: ast.expr, key: ast.expr, is_max: bool, loc: Loc) -> Value | None:
    """`max(over, key=key)` of numbers: the first of those whose keys are largest. None for other items."""
    if not isinstance(over, ast.GeneratorExp | ast.ListComp):
        over = items_of(over, "item")
    items = as_tensor(scope, collected(scope, over), loc)
    if items.ndim != 1:
        return None
    largest = python_number(is_max, loc)
    return called_with(scope, extreme_by, [items, scope.lower(key), largest], loc)


def _extreme(scope: Scope, tensor: Tensor, is_max: bool, loc: Loc) -> Expr:
    name = "max" if is_max else "min"
    count = pinned(scope, "count", tensor.extents[0])
    some = Compare(">", count, integer(0, loc), loc=loc)
    fail_unless(scope, some, None, f"{name}() arg is an empty sequence", loc)
    axis = scope.supply.fresh("k", DType.INT64)
    first = scope.temp("first", substitute(tensor.element, {tensor.axes[0]: integer(0, loc)}))
    behind = Binary("+", Var(axis, loc=loc), integer(1, loc), loc=loc)
    element = substitute(tensor.element, {tensor.axes[0]: behind})
    rest = Binary("-", count, integer(1, loc), loc=loc)
    total = Reduce(name, (axis,), (rest,), element, first, loc=loc)
    return scope.temp(name, total)
