"""Points of an expression that may raise: the exception's class, and a test of the operands that tells
whether it does.

    1 / x[i] + d[k]  ->  (IndexError, outside(x, i)), (ZeroDivisionError, by_zero(1, x[i])), (KeyError, k not in d)

The tests are in the order of evaluation, and none changes anything. Their functions are those of
`appyc.library.raise_tests`, which know the types: `by_zero` is false of NumPy's numbers.

Raises Refused for expressions that have effects, or may raise something that is caught and not tested.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Hashable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from appyc.frontend.desugar.building import Refused, constant, expression, functions_of, negated
from appyc.frontend.desugar.hashed_names import kind_of
from appyc.frontend.desugar.rewriting import ValueOf, bindings, new_lists
from appyc.library import raise_tests

Point: TypeAlias = tuple[type[BaseException] | None, ast.expr]
"""The class of an exception, and the test whether it is raised. Without a class: a call that refuses types
whose operations may raise what is caught and not tested."""

_FUNCTIONS = {**functions_of(raise_tests), "isnan": constant(math.isnan), "isinf": constant(math.isinf)}

_WIDE = (ValueError, OverflowError, TypeError, AttributeError, NameError, RuntimeError)
"""Exceptions of operations beside ZeroDivisionError, IndexError and KeyError. A `try` that catches one may
have only expressions whose exceptions are all tested."""

_TESTED: dict[object, tuple[tuple[type[BaseException], str], ...]] = {
    **dict.fromkeys((abs, bool, float, len, math.atan, math.fabs, math.isnan, math.isinf), ()),
    **dict.fromkeys(
        (int, math.floor, math.ceil, math.trunc), ((ValueError, "isnan(x)"), (OverflowError, "isinf(x)"))
    ),
    **dict.fromkeys((math.log, math.log2, math.log10), ((ValueError, "x <= 0"),)),
    **dict.fromkeys((math.sin, math.cos, math.tan), ((ValueError, "isinf(x)"),)),
    math.sqrt: ((ValueError, "x < 0"),),
}
"""Functions of numbers, and what they raise of their argument."""

_QUIET = {max, min, range, zip, enumerate, reversed, sum, any, all}
"""Functions that raise what only wide handlers catch."""


class RaisePoints:
    """caught: the classes of all handlers around the current statement."""

    def __init__(self, function: ast.FunctionDef, value_of: ValueOf) -> None:
        self.value_of = value_of
        self.kinds = bindings(function, partial(kind_of, value_of=value_of))
        self.lists = new_lists(function)
        self.caught: tuple[type[BaseException], ...] = ()

    def catches(self, kind: type[BaseException]) -> bool:
        return any(issubclass(kind, caught) for caught in self.caught)

    def of(self, *nodes: ast.expr | None) -> list[Point]:
        """The points of expressions that are evaluated in sequence."""
        return [point for node in nodes if node is not None for point in self._of(node)]

    @property
    def is_wide(self) -> bool:
        """Whether what most operations may raise is caught."""
        return any(map(self.catches, _WIDE))

    def point(self, kind: type[BaseException] | None, text: str, at: ast.AST, **given: ast.expr) -> Point:
        return kind, expression(text, {**_FUNCTIONS, **copy.deepcopy(given)}, at)

    def if_wide(self, text: str, at: ast.AST, **given: ast.expr) -> list[Point]:
        """A point that refuses what has no test, for handlers that catch it."""
        return [self.point(None, text, at, **given)] if self.is_wide else []

    def _of(self, node: ast.expr) -> list[Point]:
        match node:
            case ast.Constant() | ast.Name():
                return []
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.JoinedStr(values=elts):
                return self.of(*elts)
            case ast.UnaryOp(operand=value) | ast.Attribute(value=value) | ast.FormattedValue(value=value):
                return self.of(value)
            case ast.BinOp(left=left, op=op, right=right):
                return [*self.of(left, right), *self.operator(left, op, right, node)]
            case ast.BoolOp(op=op, values=[first, *others]):
                goes_on = first if isinstance(op, ast.And) else negated(first)
                rest = others[0] if len(others) == 1 else ast.copy_location(ast.BoolOp(op, others), node)
                return [*self.of(first), *self._only_if(goes_on, self.of(rest))]
            case ast.IfExp(test=test, body=body, orelse=orelse):
                arms = [*self._only_if(test, self.of(body)), *self._only_if(negated(test), self.of(orelse))]
                return [*self.of(test), *arms]
            case ast.Compare(left=left, ops=ops, comparators=[right, *others]):
                if self.of(*others):
                    raise Refused  # they are evaluated only where the first comparison holds
                numbers = not isinstance(ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot)
                return [
                    *self.of(left, right),
                    *(self._numbers(node, left, right, *others) if numbers else []),
                ]
            case ast.Subscript(value=value, slice=index):
                return [*self.of(value), *self.subscript(value, index, node)]
            case ast.Slice(lower=lower, upper=upper, step=step) if not self.is_wide:
                return self.of(lower, upper, step)
            case ast.Call(func=func, args=args, keywords=[]):
                return [*self.of(*args), *self._call(func, args, node)]
            case ast.ListComp() | ast.GeneratorExp() if not self.is_wide:
                parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
                parts += [part for g in node.generators for part in (g.iter, *g.ifs)]
                if self.of(*parts):
                    raise Refused
                return []
            case _:
                raise Refused

    def _only_if(self, test: ast.expr, points: list[Point]) -> list[Point]:
        return [(kind, ast.BoolOp(ast.And(), [copy.deepcopy(test), t])) for kind, t in points]

    def _numbers(self, at: ast.AST, *operands: ast.expr) -> list[Point]:
        unknown = (x for x in operands if not isinstance(x, ast.Constant))
        return [point for x in unknown for point in self.if_wide("other(x)", at, x=x)]

    def operator(self, left: ast.expr, op: ast.operator, right: ast.expr, at: ast.AST) -> list[Point]:
        """The points where an operator raises an exception."""
        numbers = self._numbers(at, left, right)
        match op:
            case ast.Div() | ast.FloorDiv() | ast.Mod():
                point = self.point(ZeroDivisionError, "by_zero(left, right)", at, left=left, right=right)
                return [*numbers, point]
            case ast.Pow() if not self.is_wide:
                return [
                    self.point(ZeroDivisionError, "zero_to_negative(left, right)", at, left=left, right=right)
                ]
            case ast.Pow() | ast.LShift() | ast.RShift() | ast.MatMult() if self.is_wide:
                raise Refused
            case _:
                return numbers

    def subscript(self, value: ast.expr, index: ast.expr, at: ast.AST) -> list[Point]:
        """The points where a subscript of a dict, a list or an array raises an exception."""
        points = self.of(index)
        name = value.id if isinstance(value, ast.Name) else None
        if name in self.kinds:
            if self.kinds[name].start is not None:
                return points
            if self.kinds[name].makes != "dict":
                raise Refused
            return [*points, self.point(KeyError, "index not in items", at, index=index, items=value)]
        if isinstance(index, ast.Slice):
            return points
        if isinstance(index, ast.Tuple):
            if any(isinstance(i, ast.Slice | ast.Starred) for i in index.elts):
                raise Refused
            text = "beyond(index, items.shape[axis])"
            given = [(i, ast.Constant(axis)) for axis, i in enumerate(index.elts)]
            new = [self.point(IndexError, text, at, index=i, items=value, axis=k) for i, k in given]
            return [*points, *new]
        text = "beyond(index, len(items))" if _root(value) in self.lists else "outside(items, index)"
        out = [*points, self.point(IndexError, text, at, index=index, items=value)]
        if self.catches(KeyError) and not self.catches(IndexError) and _root(value) not in self.lists:
            out.append(self.point(None, "keyed(items)", at, items=value))
        return out

    def _call(self, func: ast.expr, args: Sequence[ast.expr], at: ast.AST) -> list[Point]:
        match func:
            case ast.Attribute(value=ast.Name(id=name), attr="get" | "keys" | "values" | "items"):
                if name in self.kinds:
                    return []
        value = self.value_of(func)
        if isinstance(value, Hashable) and value in _TESTED and len(args) == 1:
            return [self.point(kind, text, at, x=args[0]) for kind, text in _TESTED[value]]
        if self.is_wide and ((value is range and len(args) < 3) or (value in (min, max) and len(args) > 1)):
            return self._numbers(at, *args)
        if value is math.log:
            raise Refused  # with a base
        is_quiet = isinstance(value, np.ufunc) or getattr(value, "__module__", "") == "math"
        if self.is_wide or not (is_quiet or (isinstance(value, Hashable) and value in _QUIET)):
            raise Refused
        return []


def _root(value: ast.expr) -> str | None:
    """The name whose item, or item's item, an expression is."""
    while isinstance(value, ast.Subscript):
        value = value.value
    return value.id if isinstance(value, ast.Name) else None
