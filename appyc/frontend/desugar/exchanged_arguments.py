"""Functions that begin with a call of themselves with exchanged arguments, whose test then fails: what else they do.

    def f(a, b):                              def rest(a, b):
        if len(a) < len(b):                       ...
            return f(b, a)         ->         if len(a) < len(b):
        ...                                       return rest(b, a)
                                              ...

Does not handle: tests with calls other than `len`, which may differ in the callee, and calls before that of the callee.
"""

from __future__ import annotations

import ast
import copy

from appyc.frontend.desugar.building import with_names
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.tree import bound_arguments, walk

_BINDS = ast.Lambda | ast.comprehension | ast.NamedExpr


def rest_of(function: ast.FunctionDef, call: ast.Call) -> ast.FunctionDef | None:
    """The function without its first `if`, whose test is false inside this call of itself; None if it may be true."""
    match function.body[ast.get_docstring(function) is not None :]:
        case [ast.If(test, [ast.Return(ast.expr() as value)], orelse=[]), *rest] if rest:
            if _is_first(call, value) and _fails(test, function, call):
                new = copy.copy(function)
                new.body = rest
                return new
    return None


def _is_first(call: ast.Call, value: ast.expr) -> bool:
    """Whether this call stands in the value, no other one before it, and no name is bound around it."""
    nodes = walk(value)
    calls = [n for n in nodes if isinstance(n, ast.Call)]
    own = [n for n in calls if _place(n) == _place(call)]
    return (
        own != [] and all(own[0] in walk(n) for n in calls) and not any(isinstance(n, _BINDS) for n in nodes)
    )


def _place(node: ast.expr) -> tuple[int | None, ...]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _fails(test: ast.expr, function: ast.FunctionDef, call: ast.Call) -> bool:
    """Whether a test that is true is false for these arguments: they exchange what `<` or `>` compares."""
    given = bound_arguments(function, call) or {}
    match test:
        case ast.Compare(left, [ast.Lt() | ast.Gt()], [right]) if given.keys() == parameter_names(
            function
        ) and _is_plain(test):
            inside = [ast.dump(with_names(copy.deepcopy(side), given)) for side in (left, right)]
            return inside == [ast.dump(right), ast.dump(left)]
    return False


def _is_plain(test: ast.expr) -> bool:
    """Whether the test has no calls but those of `len`."""
    calls = [n for n in walk(test) if isinstance(n, ast.Call)]
    return all(isinstance(n.func, ast.Name) and n.func.id == "len" for n in calls)
