"""Comprehensions as arguments: `np.array([x * x for x in a])`, `sum(a[i] * b[i] for i in range(n))`.

What is collected is described like any array expression: an axis for the iterations, and the item at a
place of it. Nothing is stored for a sum.

Does not handle: conditions, several `for`, and items that need statements (calls of functions with
branches, say); such comprehensions run in Python.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from appyc.errors import Loc, UnsupportedError
from appyc.frontend import expressions
from appyc.frontend.arithmetic import integer
from appyc.frontend.loops import Range, what_it_runs_over
from appyc.frontend.scope import Scope
from appyc.frontend.tensors import as_tensor, is_array, pinned
from appyc.frontend.values import ArrayRef, Binding, Number, Slot, Tensor, TupleSlots, TupleValue, Value
from appyc.ir.nodes import Binary, Const, Expr, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import substitute, walk


def collected(scope: Scope, node: ast.ListComp | ast.GeneratorExp) -> Value:
    """The items in a row; a tuple of them where what is run over is one."""
    loc = scope.loc(node)
    first, *others = node.generators
    if others or first.ifs or first.is_async:
        raise UnsupportedError("a comprehension with conditions or several loops cannot be compiled", loc,
                               hints=("write a loop that fills an array",))  # fmt: skip
    source = what_it_runs_over(scope, first.iter)
    if isinstance(source, TupleValue):
        return TupleValue(tuple(_item(scope, node, first.target, item, loc) for item in source.items))
    here = scope.supply.fresh("at", DType.INT64)
    value = _item(scope, node, first.target, source.item(Var(here, loc=loc)), loc)
    axis = scope.supply.fresh("i", DType.INT64)
    place: Expr = Var(axis, loc=loc)
    if source.step != 1:
        place = Binary("*", place, integer(source.step, loc), loc=loc)
    if source.lo != integer(0, loc):
        place = Binary("+", pinned(scope, "start", source.lo), place, loc=loc)
    inner = as_tensor(scope, value, loc)
    if any(here in _symbols(extent) for extent in inner.extents):
        raise UnsupportedError("the items of this comprehension have different lengths", loc,
                               hints=("write a loop",))  # fmt: skip
    element = substitute(inner.element, {here: place})
    return Tensor((axis, *inner.axes), (_count(scope, source, loc), *inner.extents), element)


def _item(
    scope: Scope, node: ast.ListComp | ast.GeneratorExp, target: ast.expr, value: Value, loc: Loc
) -> Value:
    """The comprehension's item where its target is this value; its names are its own."""
    outer_env, outer_locals = dict(scope.env), scope.locals
    places: dict[Symbol, Expr] = {}
    try:
        _bind(scope, target, value, places, loc)
        with scope.collect() as block:
            nested = isinstance(node.elt, ast.ListComp)
            item = (collected if nested else expressions.lower_expression)(scope, node.elt)  # type: ignore[arg-type]
    finally:
        scope.env, scope.locals = outer_env, outer_locals
    if block or not (isinstance(item, Number) or is_array(item)):
        raise UnsupportedError("the items of this comprehension need statements of their own", loc,
                               hints=("write a loop that fills an array",))  # fmt: skip
    if isinstance(item, Number):
        return replace(item, expr=substitute(item.expr, places))
    tensor = as_tensor(scope, item, loc)
    return replace(tensor, element=substitute(tensor.element, places))


def _bind(scope: Scope, target: ast.expr, value: Value, places: dict[Symbol, Expr], loc: Loc) -> None:
    match target, value:
        case ast.Name(id=name), _:
            scope.locals |= {name}
            scope.env[name] = _binding(scope, name, value, places, loc)
        case ast.Tuple(elts=elts), TupleValue(items=items) if len(elts) == len(items):
            for part, item in zip(elts, items, strict=True):
                _bind(scope, part, item, places, loc)
        case _:
            raise UnsupportedError("this target of a comprehension cannot be compiled", scope.loc(target),
                                   hints=("write a loop that fills an array",))  # fmt: skip


def _binding(scope: Scope, name: str, value: Value, places: dict[Symbol, Expr], loc: Loc) -> Binding:
    """What the name is bound to; places: what stands for the numbers among it."""
    match value:
        case Number():
            symbol = scope.supply.fresh(name, value.type.dtype)
            places[symbol] = value.expr
            return Slot(symbol, value.python)
        case TupleValue():
            return TupleSlots(tuple(_binding(scope, name, v, places, loc) for v in value.items))
        case ArrayRef() | Tensor():
            return value
        case _:
            raise UnsupportedError(
                "a comprehension over this cannot be compiled", loc, hints=("write a loop",)
            )


def _symbols(expr: Expr) -> frozenset[Symbol]:
    return frozenset(n.symbol for n in walk(expr) if isinstance(n, Var))


def _count(scope: Scope, source: Range, loc: Loc) -> Expr:
    """How many iterations there are."""
    if isinstance(source.lo, Const) and isinstance(source.hi, Const):
        return integer(len(range(int(source.lo.value.real), int(source.hi.value.real), source.step)), loc)
    low, high = (source.lo, source.hi) if source.step > 0 else (source.hi, source.lo)
    size = abs(source.step)
    count: Expr = high if low == integer(0, loc) else Binary("-", high, low, loc=loc)
    if size > 1:
        count = Binary("//", Binary("+", count, integer(size - 1, loc), loc=loc), integer(size, loc), loc=loc)
    return pinned(scope, "count", Binary("max", count, integer(0, loc), loc=loc))
