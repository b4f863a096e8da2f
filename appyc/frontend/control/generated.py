"""`any`, `all` and `sum` of a generator, and `min` and `max` of a generator or a vector."""

from __future__ import annotations

import ast
import builtins

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor, is_array, pinned
from appyc.frontend.control.comprehensions import collected, is_described, value_of_loops
from appyc.frontend.desugar.comprehension_loops import searched, summed
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ListValue, Masked, Number, Opaque, Tensor, TupleValue, Value
from appyc.ir.names import unused
from appyc.ir.nodes import Binary, Compare, Expr, Fail, If, Likely, Reduce, Unary, Var
from appyc.ir.types import DType
from appyc.ir.visit import substitute


def generated_test(scope: Scope, node: ast.Call, loc: Loc) -> Value:
    """`any(...)` and `all(...)` of a generator or of a tuple."""
    callee = expressions.lower_expression(scope, node.func)
    is_any = isinstance(callee, Opaque) and callee.obj is builtins.any
    argument = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if isinstance(argument, ast.ListComp):  # a list computes all of its items
        argument = None
    if isinstance(argument, ast.GeneratorExp):
        name = unused("found", scope.locals)
        return value_of_loops(scope, argument, name, searched(argument, name, is_any))
    value = expressions.lower_expression(scope, argument) if argument is not None else None
    if not isinstance(value, TupleValue):
        name = "any" if is_any else "all"
        raise UnsupportedError(f"{name} is compiled of generators and tuples", loc,
                               hints=(f"np.{name} takes arrays",))  # fmt: skip
    out = arithmetic.python_number(not is_any, loc)
    for item in value.items:
        truth = Number(arithmetic.truth_of(expressions.number(item, loc).expr), python=True)
        out = Number(Binary("|" if is_any else "&", out.expr, truth.expr, loc=loc), python=True)
    return out


def generated_sum(scope: Scope, node: ast.Call) -> Value | None:
    """Python's `sum` of a generator with several loops, as a loop nest with an accumulator; None for others."""
    match node:
        case ast.Call(args=[ast.GeneratorExp() | ast.ListComp() as argument, *start], keywords=[]):
            pass
        case _:
            return None
    if len(argument.generators) == 1 or len(start) > 1 or is_described(scope, argument):
        return None
    name = unused("total", scope.locals)
    statements = summed(argument, name, start[0] if start else ast.Constant(0))
    return value_of_loops(scope, argument, name, statements)


def generated_extreme(scope: Scope, node: ast.Call, is_max: bool, loc: Loc) -> Value | None:
    """Python's `min` and `max` of a generator or a vector; None for other arguments."""
    argument = node.args[0]
    if node.keywords:
        return None
    if isinstance(argument, ast.GeneratorExp | ast.ListComp):
        value = collected(scope, argument)
    elif isinstance(argument, ast.Tuple | ast.List):
        return None
    else:
        value = scope.lower(argument)
    if isinstance(value, ListValue):
        value = as_tensor(scope, value, loc)
    if isinstance(value, TupleValue):
        out = value.items[0]
        for item in value.items[1:]:
            pair = expressions.number(out, loc), expressions.number(item, loc)
            out = arithmetic.extremum("max" if is_max else "min", *pair, loc)
        return out
    if not is_array(value):
        return None
    described = value.tensor if isinstance(value, Masked) else value
    python = isinstance(described, Tensor) and described.python
    tensor = as_tensor(scope, expressions.pack_masked(scope, value, loc), loc)
    if tensor.ndim != 1 or tensor.element.dtype.is_complex:
        return None
    return Number(_extreme(scope, tensor, is_max, loc), python)


def _extreme(scope: Scope, tensor: Tensor, is_max: bool, loc: Loc) -> Expr:
    name = "max" if is_max else "min"
    count = pinned(scope, "count", tensor.extents[0])
    some = Likely(Compare(">", count, integer(0, loc), loc=loc), loc=loc)
    fail = Fail("ValueError", f"{name}() arg is an empty sequence", loc=loc)
    scope.emit(If(Unary("~", some, loc=loc), (fail,), loc=loc))
    axis = scope.supply.fresh("k", DType.INT64)
    first = scope.temp("first", substitute(tensor.element, {tensor.axes[0]: integer(0, loc)}))
    behind = Binary("+", Var(axis, loc=loc), integer(1, loc), loc=loc)
    element = substitute(tensor.element, {tensor.axes[0]: behind})
    rest = Binary("-", count, integer(1, loc), loc=loc)
    total = Reduce(name, (axis,), (rest,), element, first, loc=loc)
    return scope.temp(name, total)
