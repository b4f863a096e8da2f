"""Calls that only the library itself can answer get statements of their own.

    z = np.linalg.inv(A * 2) @ b + c         argument = A * 2
                                     ->      called = np.linalg.inv(argument)
                                             z = called @ b + c

The call then runs in Python, on NumPy or CuPy, between two regions that are compiled
(`frontend/outline.py`), and what is beside it in its statement is part of one of them.

Everything is evaluated in Python's order, but for names, constants, attributes and operators of
theirs to the left of the call, which a library's function does not change. Not taken apart: a call
that is evaluated on some paths only (`a and f(x)`), one to the right of another call, and one that
is given where to put its result.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TypeVar

import numpy as np

from appyc.errors import Loc
from appyc.frontend.access import closure_of
from appyc.frontend.desugar.building import FreshNames, assigned, located, read
from appyc.frontend.source import Source
from appyc.frontend.syntax.liveness import names_assigned

LIBRARIES = ("numpy", "scipy", "cupy", "cupyx", "time", "random")
BUILTINS = (print, round, sorted, input, repr, str, format, hash, id)
"""Functions of Python's that change none of the names and arrays of their caller."""


def is_library_function(obj: object) -> bool:
    """Whether a callable is one of an array library's, or another one that only Python itself can call."""
    if any(obj is builtin for builtin in BUILTINS):
        return True
    owner = getattr(obj, "__self__", None)
    if isinstance(obj, BuiltinFunctionType) and owner is not None and not isinstance(owner, ModuleType):
        return is_library_function(type(owner))  # a method of a generator of random numbers
    if isinstance(obj, MethodType):  # np.random's functions are methods of a generator
        return is_library_function(type(obj.__self__))
    if not isinstance(obj, FunctionType | BuiltinFunctionType | np.ufunc | type) and not callable(obj):
        return False
    module = getattr(obj, "__module__", None) or type(obj).__module__
    return isinstance(module, str) and module.partition(".")[0] in LIBRARIES


def taken_apart(
    source: Source, stmt: ast.stmt, at: Loc, *, is_librarys: bool
) -> tuple[list[ast.stmt], int] | None:
    """The statement as several, and which of them is the call at this location; None where it stays whole.

    is_librarys: it calls the library itself, not a Python function that does (and may change anything).
    """
    value = _head(stmt)
    if value is None:
        return None
    call = _call_at(source, value, at)
    if (
        call is None
        or not (is_librarys or value is call)
        or not _may_go_first(value, call)
        or any(k.arg == "out" for k in call.keywords)
    ):
        return None
    unused, line = FreshNames(source.ast), f"in_line_{stmt.lineno}"
    before = [_named(unused(f"argument_{k}_{line}"), arg) for k, arg in enumerate(call.args)]
    keywords = [_named(unused(f"argument_{k.arg or ''}_{line}"), k.value) for k in call.keywords]
    bound = [s for s, _ in (*before, *keywords) if s is not None]
    words = [ast.keyword(k.arg, v) for k, (_, v) in zip(call.keywords, keywords, strict=True)]
    alone = located(ast.Call(call.func, [arg for _, arg in before], words), call)
    simple = isinstance(stmt, ast.Assign | ast.Return | ast.Expr) and value is call
    if simple and not bound:
        return None
    if simple:
        return [*bound, _with_head(stmt, alone)], len(bound)
    name = unused(f"called_{line}")
    rest = _with_head(stmt, _replaced(value, call, located(read(name), call)))
    return [*bound, located(assigned(name, alone), alone), rest], len(bound)


_VALUES = (ast.Assign, ast.Return, ast.Expr, ast.AnnAssign, ast.AugAssign)
_HEADS = {ast.If: "test", ast.For: "iter", **dict.fromkeys(_VALUES, "value")}
"""The field of a statement with the expression that it evaluates first, and once."""


def _head(stmt: ast.stmt) -> ast.expr | None:
    """The expression that a statement evaluates first, and once."""
    if isinstance(stmt, ast.AugAssign) and not isinstance(stmt.target, ast.Name):
        return None
    return getattr(stmt, _HEADS.get(type(stmt), ""), None)


def _with_head(stmt: ast.stmt, value: ast.expr) -> ast.stmt:
    out = copy.copy(stmt)
    setattr(out, _HEADS[type(stmt)], value)
    return out


def _call_at(source: Source, value: ast.expr, at: Loc) -> ast.Call | None:
    found = (n for n in ast.walk(value) if isinstance(n, ast.Call) and source.loc(n) == at)
    return next(found, None)


def _may_go_first(value: ast.expr, call: ast.Call) -> bool:
    """Whether nothing that is evaluated before the call minds if it comes first."""
    node: ast.AST = value
    while node is not call:
        if not isinstance(node, _IN_ORDER):
            return False
        for child in _in_order(node):
            if any(n is call for n in ast.walk(child)):
                node = child
                break
            if any(isinstance(n, _ACTING) for n in ast.walk(child)):
                return False
        else:
            return False
    return True


_IN_ORDER = (
    ast.BinOp,
    ast.UnaryOp,
    ast.Call,
    ast.keyword,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    ast.Compare,
)
"""Nodes that evaluate all of their parts, once."""

_ACTING = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare) and len(node.comparators) > 1:
        yield node.left  # the others may not be evaluated
        return
    yield from (n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr | ast.keyword))


def _named(name: str, value: ast.expr) -> tuple[ast.stmt | None, ast.expr]:
    """A statement that computes an argument, where there is something to compute, and its name."""
    computes = isinstance(value, ast.BinOp | ast.Call | ast.UnaryOp)
    if not computes or not any(isinstance(n, ast.BinOp | ast.Call) for n in ast.walk(value)):
        return None, value
    return located(assigned(name, value), value), located(read(name), value)


N = TypeVar("N", bound=ast.AST)


def _replaced(node: N, old: ast.expr, new: N) -> N:
    """A tree with one of its nodes exchanged; only what is around the node is copied."""
    if node is old:
        return new
    if not any(n is old for n in ast.walk(node)):
        return node
    out = copy.copy(node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(out, field, [_replaced(v, old, new) if isinstance(v, ast.AST) else v for v in value])
        elif isinstance(value, ast.AST):
            setattr(out, field, _replaced(value, old, new))
    return out


def named_value(source: Source, stmt: ast.Return) -> tuple[ast.stmt, ast.Return]:
    """`return e` as `result = e; return result`."""
    assert stmt.value is not None
    name = FreshNames(source.ast)(f"result_in_line_{stmt.lineno}")
    first = located(assigned(name, stmt.value), stmt.value)
    return first, located(ast.Return(located(read(name), stmt.value)), stmt)


def compiled_callee(
    fn: FunctionType,
    source: Source,
    stmt: ast.stmt,
    at: Loc,
    called: Callable[[FunctionType], object] | None,
    callees: dict[str, object],
) -> ast.stmt:
    """The statement with what `called` makes of it instead of a Python function that it calls, and in
    which a library is called. What the statement then calls is added to `callees` by its name."""
    value = _head(stmt)
    call = _call_at(source, value, at) if value is not None else None
    if called is None or value is None or call is None or not isinstance(call.func, ast.Name):
        return stmt
    outer = closure_of(fn)
    found = outer.get(call.func.id, fn.__globals__.get(call.func.id))
    if call.func.id in names_assigned(source.ast.body) or not isinstance(found, FunctionType):
        return stmt
    name = f"{call.func.id}_compiled"
    callees[name] = called(found)
    again = located(ast.Call(located(read(name), call.func), call.args, call.keywords), call)
    return _with_head(stmt, _replaced(value, call, again))
