"""`any`, `all`, `sum`, `math.prod`, `tuple`, `min` and `max` of generators, lists, tuples and vectors, also with a key.

s = sum(x * y for x in a for y in b)          total = 0
                                        ->    for x in a:
                                                  for y in b:
                                                      total = total + x * y
"""

from __future__ import annotations

import ast
import builtins
from functools import reduce

from appyc.errors import LengthError, Loc, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor, element_type, fail_unless, is_array, pinned
from appyc.frontend.control.comprehensions import collected, described, own_names, value_of_loops
from appyc.frontend.desugar import comprehension_loops as loops
from appyc.frontend.desugar.building import assigned, located, template
from appyc.frontend.expressions import arithmetic, expressions, selections
from appyc.frontend.expressions.arithmetic import constant_truth, integer
from appyc.frontend.expressions.expressions import positional
from appyc.frontend.expressions.inlining import called_with
from appyc.frontend.expressions.left_calls import leave_inexact
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import as_tuple, tuple_in_place
from appyc.frontend.types import values as vals
from appyc.frontend.types.characters import sequence
from appyc.ir.names import unused
from appyc.ir.nodes import Binary, Compare, Expr, Reduce, Var
from appyc.ir.types import DType
from appyc.ir.visit import substitute
from appyc.library.list_lookups import greater, largest, less, smallest


def generated_test(scope: Scope, node: ast.Call, loc: Loc) -> vals.Value:
    """`any(...)` and `all(...)` of a generator, a tuple, a list or a vector."""
    callee = expressions.lower_expression(scope, node.func)
    is_any = isinstance(callee, vals.Opaque) and callee.obj is builtins.any
    argument = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if isinstance(argument, ast.ListComp):  # a list computes all of its items
        argument = None
    is_generator = isinstance(argument, ast.GeneratorExp)
    value = (
        expressions.lower_expression(scope, argument) if argument is not None and not is_generator else None
    )
    is_list = isinstance(value, vals.ListSlots) or (value is not None and vals.is_listed(value))
    is_vector = value is not None and is_array(value) and as_tensor(scope, value, loc).ndim == 1
    if argument is not None and (is_generator or is_list or is_vector):
        return folded_into(scope, argument, "found", loops.ANY if is_any else loops.ALL)
    if not isinstance(value, vals.TupleValue):
        name = "any" if is_any else "all"
        raise UnsupportedError(f"{name} is compiled of generators, tuples, lists and vectors", loc,
                               f"np.{name} takes arrays")  # fmt: skip
    truths = [arithmetic.truth_of(expressions.number(item, loc).expr) for item in value.items]
    known = [constant_truth(truth) for truth in truths]
    if is_any in known:
        return arithmetic.python_number(is_any, loc)
    told = [truth for truth, one in zip(truths, known, strict=True) if one is None]
    if not told:
        return arithmetic.python_number(not is_any, loc)
    return vals.Number(reduce(lambda a, b: Binary("|" if is_any else "&", a, b, loc=loc), told), python=True)


def generated_first(scope: Scope, node: ast.Call, loc: Loc) -> vals.Value:
    """`next(x for x in a if x > 0)`, also with a default."""
    match node:
        case ast.Call(args=[ast.GeneratorExp(generators=[_]) as over, *default], keywords=[]) if (
            len(default) < 2
        ):
            name = unused("first", scope.locals)
            scope.locals |= {name}
            for value in default:
                scope.lower_statement(located(assigned(name, value), value))
            (loop,) = loops.folded(over, name, loops.FIRST)
            assert isinstance(loop, ast.For)
            loop.orelse = template("pass" if default else "raise StopIteration", {}, over)
            return value_of_loops(scope, over, name, [loop])
        case _:
            raise UnsupportedError("next is compiled of generators with one loop, written in the call", loc,
                                   "write a loop")  # fmt: skip


def generated_sum(scope: Scope, node: ast.Call) -> vals.Value | None:
    """Python's `sum` of a list, or of a generator with several loops, as loops with an accumulator; None for others."""
    match node:
        case ast.Call(args=[ast.Name() | ast.Subscript() as items, *start], keywords=[]) if len(start) < 2:
            value = expressions.lower_expression(scope, items)
            if not vals.is_listed(value) and not vals.has_flags(value) and _nothing_is_of_its_type(value):
                return None
        case ast.Call(args=[ast.GeneratorExp() | ast.ListComp() as items, *start], keywords=[]):
            if len(start) > 1:
                return None
            with scope.collect(), own_names(scope, items):
                tensor = described(scope, items)
            needs_no_loop = len(items.generators) == 1 if tensor is None else _nothing_is_of_its_type(tensor)
            if needs_no_loop:
                return None
        case _:
            return None
    return folded_into(scope, items, "total", loops.SUM, start=start[0] if start else ast.Constant(0))


def _nothing_is_of_its_type(items: vals.Value) -> bool:
    """Whether the sum over no items, Python's 0, may have their type: not if that has no negative numbers."""
    return not is_array(items) or element_type(items) is not DType.UINT64


def generated_product(scope: Scope, node: ast.Call, loc: Loc) -> vals.Value:
    """`math.prod` of anything that can be run over, as a loop with an accumulator."""
    match node:
        case ast.Call(args=[over], keywords=[]):
            start: ast.expr = ast.Constant(1)
        case ast.Call(args=[over], keywords=[ast.keyword(arg="start", value=start)]):
            pass
        case _:
            raise UnsupportedError("math.prod is compiled with one argument, and start", loc)
    return folded_into(scope, tuple_in_place(over), "product", loops.PRODUCT, start=start)


def folded_into(
    scope: Scope, over: ast.expr, name: str, how: loops.Folding, **given: str | ast.expr
) -> vals.Value:
    """The value that loops fold the items of an iterable into."""
    if not isinstance(over, ast.GeneratorExp | ast.ListComp):
        over = loops.items_of(over, unused("item", scope.locals))
    name = unused(name, scope.locals)
    return value_of_loops(scope, over, name, loops.folded(over, name, how, **given))


def generated_tuple(scope: Scope, node: ast.Call, loc: Loc) -> vals.Value:
    """`tuple(...)` of a value whose number of items is known from its type."""
    nodes = positional(node, loc)
    match nodes:
        case []:
            return vals.TupleValue(())
        case [ast.GeneratorExp() | ast.ListComp() as items]:
            value = collected(scope, items, as_tuple=True)
        case [ast.List() as items]:
            value = expressions.lower_expression(scope, as_tuple(items))
        case [ast.Call(func=ast.Name(id="range"), args=bounds)] if "range" not in scope.locals:
            value = _constant_range(scope, bounds, loc)
        case _:
            (value,) = expressions.lower_operands(scope, nodes[:1])
    if not isinstance(value, vals.TupleValue) or len(nodes) > 1:
        raise UnsupportedError("tuple is compiled of tuples, and of generators over tuples and constant ranges", loc,
                               "how many items it has must follow from the types")  # fmt: skip
    return vals.TupleValue(value.items)


def _constant_range(scope: Scope, bounds: list[ast.expr], loc: Loc) -> vals.Value:
    numbers = [number.constant for number in expressions.lower_numbers(scope, bounds)]
    constants = [n for n in numbers if isinstance(n, int)]
    if not 1 <= len(constants) <= 3 or len(constants) < len(numbers):
        return vals.Opaque(None)
    return vals.TupleValue(tuple(arithmetic.python_number(k, loc) for k in range(*constants)))


def generated_extreme(scope: Scope, node: ast.Call, is_max: bool, loc: Loc) -> vals.Value | None:
    """Python's `min` and `max` of a generator or a vector, or of several tuples; None for other arguments."""
    if len(node.args) > 1:
        if node.keywords or not any(isinstance(arg, ast.Tuple) for arg in node.args):
            return None
        items = expressions.lower_operands(scope, node.args)
        return reduce(lambda a, b: called_with(scope, greater if is_max else less, [a, b], loc), items)
    argument, name = node.args[0], "max" if is_max else "min"
    words = {str(word.arg): word.value for word in node.keywords}
    if not words.keys() <= {"key", "default"}:
        return None
    if words or (
        isinstance(argument, ast.GeneratorExp | ast.ListComp) and isinstance(argument.elt, ast.Tuple)
    ):
        return _by_loops(scope, argument, is_max, **words)
    if isinstance(argument, ast.GeneratorExp | ast.ListComp):
        value = collected(scope, argument)
    elif isinstance(argument, ast.Tuple | ast.List):
        return None
    else:
        value = sequence(scope.lower(argument), loc)
        if isinstance(value, vals.ListSlots) and value.of_tuples:
            return _by_loops(scope, argument, is_max)
    if vals.has_flags(value):
        return called_with(scope, largest if is_max else smallest, [value], loc)
    if isinstance(value, vals.ListSlots) or vals.is_listed(value):
        value = as_tensor(scope, value, loc)
    if isinstance(value, vals.TupleValue):
        if not value.items:
            raise LengthError(f"{name}() arg is an empty sequence", loc)
        out = value.items[0]
        for item in value.items[1:]:
            pair = expressions.number(out, loc), expressions.number(item, loc)
            out = selections.extremum(name, *pair, loc)
            leave_inexact(scope, pair, out, loc)
        return out
    if not is_array(value):
        return None
    whole = value.tensor if isinstance(value, vals.Masked) else value
    python = isinstance(whole, vals.Tensor) and whole.python
    tensor = as_tensor(scope, expressions.pack_masked(scope, value, loc), loc)
    if tensor.ndim != 1 or tensor.element.dtype.is_complex:
        return None
    return vals.Number(_extreme(scope, tensor, name, loc), python)


def _by_loops(
    scope: Scope, over: ast.expr, is_max: bool, key: ast.expr | None = None, default: ast.expr | None = None
) -> vals.Value:
    """`max(over, key=key, default=default)`: the first of the items that are largest, or have the largest keys."""
    if not isinstance(over, ast.GeneratorExp | ast.ListComp):
        over = loops.items_of(over, unused("item", scope.locals))
    names = {word: unused(word, scope.locals) for word in ("it", "one", "rank", "best")}
    scope.locals |= {*names.values()}
    value = value_of_loops(scope, over, names["it"], loops.extreme_of(over, names, is_max, key, default))
    return value.value if isinstance(value, vals.MaybeNone) and default is None else value


def _extreme(scope: Scope, tensor: vals.Tensor, name: str, loc: Loc) -> Expr:
    count = pinned(scope, "count", tensor.extents[0])
    some = Compare(">", count, integer(0, loc), loc=loc)
    fail_unless(scope, some, None, f"{name}() arg is an empty sequence", loc)
    axis = scope.supply.fresh("k", DType.INT64)
    first = scope.temp("first", substitute(tensor.element, {tensor.axes[0]: integer(0, loc)}))
    behind = Binary("+", Var(axis, loc=loc), integer(1, loc), loc=loc)
    element = substitute(tensor.element, {tensor.axes[0]: behind})
    rest = Binary("-", count, integer(1, loc), loc=loc)
    return scope.temp(name, Reduce(name, (axis,), (rest,), element, first, loc=loc))
