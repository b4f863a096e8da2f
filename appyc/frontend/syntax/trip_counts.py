"""Execution counts of a function's innermost statements, as far as a call's arguments tell.

    def f(A, steps):                            A of shape (500, 500), steps 10:
        n = A.shape[0]
        for t in range(steps):                  10 * 498 * 500
            for i in range(1, n - 1):
                for j in range(n):

An estimate: conditions are taken to hold, and a loop whose bounds are not known beforehand
(`while`, a range from an array's element) to run UNKNOWN times.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

UNKNOWN = 100
"""The iterations of a loop of which nothing is known."""

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: math.pow,  # in floats: 10**10**9 takes for ever in integers
}
_HUGE = 2.0**62

_QUICK_MODULES = ("math", "cmath", "numpy", "appyc")
"""Modules whose functions take as long in Python as in compiled code."""


def has_own_loop(node: ast.AST) -> bool:
    """Whether a function has a loop that is not one of a function within it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.For | ast.While):
            return True
        is_scope = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
        if not is_scope and has_own_loop(child):
            return True
    return False


def iterations(body: Iterable[ast.stmt], values: Mapping[str, object], *, unknown: float = UNKNOWN) -> float:
    """The number of executions of the statements in the loops of `body`. values: the values of names.
    unknown: the trip count of a loop, or the work of a Python function that is called, of which nothing is
    known."""
    return _Estimate(dict(values), unknown).of_block(body)


def evaluations(body: Iterable[ast.stmt], values: Mapping[str, object], *, unknown: float = UNKNOWN) -> float:
    """The number of AST nodes that Python evaluates: those of each statement, times its executions."""
    return _Estimate(dict(values), unknown, _own_nodes).of_block(body)


def _own_nodes(stmt: ast.stmt) -> int:
    """The nodes of a statement without those of the statements in it."""
    parts = (part for part in ast.iter_child_nodes(stmt) if not isinstance(part, ast.stmt))
    return 1 + sum(1 for part in parts for _ in ast.walk(part))


class _Estimate:
    """cost: of a statement that runs once, without those in it; otherwise only what loops repeat is counted."""

    def __init__(
        self, values: dict[str, object], unknown: float, cost: Callable[[ast.stmt], float] = lambda _: 0.0
    ) -> None:
        self.values = values
        self.unknown = unknown
        self.cost = cost

    def of_block(self, body: Iterable[ast.stmt]) -> float:
        return sum(self._of(stmt) + self.cost(stmt) for stmt in body)

    def _of(self, stmt: ast.stmt) -> float:
        match stmt:
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value)
                return self._of_calls(value)
            case ast.For():
                return self._repeated(self._trips(stmt), stmt)
            case ast.While():
                named = [self._value(n) for n in ast.walk(stmt.test) if isinstance(n, ast.Name)]
                arrays = [v.size for v in named if isinstance(v, np.ndarray)]
                return self._repeated(max([self.unknown, *arrays]), stmt)
            case ast.If() | ast.With():
                return sum(self.of_block(getattr(stmt, name, ())) for name in ("body", "orelse"))
            case ast.Try():
                return self.of_block(stmt.body)
            case ast.Expr(value=value) | ast.AugAssign(value=value) | ast.Return(value=ast.expr() as value):
                return self._of_calls(value)
            case _:
                return 0

    def _of_calls(self, node: ast.expr) -> float:
        """Calls of other functions with loops: only those are wrapped. Where the unknown is not to be underestimated,
        of any Python function but a library's."""
        calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
        names = [f.id for f in calls if isinstance(f, ast.Name)]
        if self.unknown == math.inf and not all(self._is_of_library(f) for f in calls):
            return math.inf
        counted = sum(hasattr(self.values.get(name), "py_func") for name in names)
        return self.unknown * counted if counted else 0.0

    def _is_of_library(self, function: ast.expr) -> bool:
        """Whether a call takes none of the program's own code: a builtin, a module's function, an array's method."""
        if isinstance(function, ast.Name):
            value = self.values.get(function.id)
            known = hasattr(builtins, function.id)
            return known if value is None else not (hasattr(value, "__code__") or hasattr(value, "py_func"))
        while isinstance(function, ast.Attribute):
            function = function.value
        owner = self.values.get(function.id) if isinstance(function, ast.Name) else None
        if isinstance(owner, ModuleType):
            return owner.__name__.partition(".")[0] in _QUICK_MODULES
        return owner is None or isinstance(owner, np.ndarray | np.generic | list | dict | tuple)

    def _repeated(self, trips: float, loop: ast.For | ast.While) -> float:
        inner = max(1.0, self.of_block(loop.body) + self.cost(loop))  # looked at in any case: it binds names
        return (trips * inner if trips else 0.0) + self.of_block(loop.orelse)

    def _trips(self, loop: ast.For) -> float:
        runs_over = loop.iter
        if isinstance(loop.target, ast.Name):
            self.values[loop.target.id] = None
        if isinstance(runs_over, ast.Call) and ast.unparse(runs_over.func) in _RANGES:
            return _range_length([self._value(a) for a in runs_over.args], self.unknown)
        length = _length(self._value(runs_over))
        return self.unknown if length is None else length

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        found = self._value(value)
        if isinstance(target, ast.Name):
            self.values[target.id] = found
        elif isinstance(target, ast.Tuple):
            items = found if isinstance(found, tuple) and len(found) == len(target.elts) else None
            for k, element in enumerate(target.elts):
                if isinstance(element, ast.Name):
                    self.values[element.id] = items[k] if items is not None else None

    def _value(self, node: ast.expr) -> object:
        """The value of an expression; None where it is not known without running the program."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name(id=name):
                return self.values.get(name)
            case ast.Tuple(elts=elements):
                return tuple(self._value(e) for e in elements)
            case ast.Attribute(value=owner, attr="shape" | "size" | "ndim" as attr):
                array = self._value(owner)
                return getattr(array, attr) if isinstance(array, np.ndarray) else None
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                return _field(self.values.get(name), attr)
            case ast.Subscript(value=owner, slice=ast.Constant(value=int(at))):
                items = self._value(owner)
                return items[at] if isinstance(items, tuple) and -len(items) <= at < len(items) else None
            case ast.Subscript(value=owner, slice=ast.Slice()):
                return self._value(owner)
            case ast.Call(func=ast.Name(id="len"), args=[arg]):
                return _length(self._value(arg))
            case ast.Call(func=ast.Name(id="int"), args=[arg]):
                value = self._value(arg)
                return int(value) if isinstance(value, int | float) and math.isfinite(value) else None
            case ast.Call(func=ast.Attribute(attr="zeros" | "empty" | "ones" | "full"), args=[shape, *_]):
                return _array_of(self._value(shape))
            case ast.Call(
                func=ast.Attribute(attr="zeros_like" | "empty_like" | "ones_like"), args=[like, *_]
            ):
                return self._value(like)
            case ast.Call(func=ast.Attribute(value=owner, attr="copy"), args=[]):
                return self._value(owner)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return applied(ast.Sub(), 0, self._value(operand))
            case ast.BinOp(op=op, left=left, right=right):
                return applied(op, self._value(left), self._value(right))
            case _:
                return None


_RANGES = ("range", "prange", "appyc.prange", "numba.prange")


def _range_length(bounds: list[object], unknown: float) -> float:
    low, high = (0, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
    step = bounds[2] if len(bounds) == 3 else 1
    stride = abs(step) if isinstance(step, int | float) and step else 1
    if isinstance(low, int | float) and isinstance(high, int | float):
        return max(0.0, abs(high - low) / stride)
    # Of a triangular loop one bound is known; it is as good as any.
    known = high if isinstance(high, int | float) else low
    return abs(known) / stride if isinstance(known, int | float) and known else unknown


def _array_of(shape: object) -> np.ndarray[Any, Any] | None:
    """An array of this shape that takes no memory."""
    extents = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(e, int | np.integer) and 0 <= e < 2**31 for e in extents):
        return None
    try:
        return np.broadcast_to(np.int8(0), extents)
    except ValueError:
        return None  # more elements than any array can have


def _length(value: object) -> int | None:
    if isinstance(value, np.ndarray):
        return value.shape[0] if value.ndim else None
    return len(value) if isinstance(value, list | tuple) else None


def _plain(value: int | float | np.integer[Any]) -> int | float:
    return int(value) if isinstance(value, np.integer) else value


def applied(op: ast.operator, left: object, right: object) -> object:
    """An operator's result for two numbers; None for other operands, and where there is none that is no huge number."""
    if not isinstance(left, int | float | np.integer) or not isinstance(right, int | float | np.integer):
        return None
    try:
        value = _OPERATORS[type(op)](_plain(left), _plain(right))
    except (ArithmeticError, ValueError, KeyError):
        return None
    return value if isinstance(value, int | float) and abs(value) < _HUGE else None


def _field(value: object, name: str) -> object:
    """A field of an object, or a name of a module, that is found without running code of the program's. Its `__dict__`
    is not asked for: the interpreter would make a dict, with which the object is slower ever after."""
    if isinstance(value, ModuleType):
        return vars(value).get(name)
    is_computed = hasattr(type(value), name) or hasattr(type(value), "__getattr__")
    return None if is_computed else getattr(value, name, None)
