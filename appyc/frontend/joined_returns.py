"""Returns of different arrays become one return of a name.

    if n > 0:                    if n > 0:
        return a * n     ->          result = a * n
    return a[::-1]               else:
                                     result = a[::-1]
                                 return result

What a name that paths bind to different arrays stands for is known (`frontend/homes.py`). Only asked for
where the returns do not agree on one array.

Does not handle: returns inside loops, and paths that end without one.
"""

from __future__ import annotations

import ast

from appyc.frontend.pragmas import read_pragmas
from appyc.frontend.returns import may_return
from appyc.frontend.scope import assigned_names
from appyc.frontend.source import Part, Source
from appyc.ir.names import unused


def with_joined_returns(source: Source) -> Source | None:
    """The function with one return at its end; None where its returns do not stand at ends of paths."""
    function = source.ast
    name = unused("result", assigned_names(function))
    body = _joined(function.body, name)
    if body is None:
        return None
    at = function.body[-1]
    end = ast.copy_location(ast.Return(ast.copy_location(ast.Name(name, ast.Load()), at)), at)
    tree = ast.FunctionDef(function.name, function.args, [*body, end], [])
    return Part(
        source.name, source.file, source.lines, source.first_line, source.indent,
        ast.copy_location(tree, function), read_pragmas(source),
    )  # fmt: skip


def _joined(body: list[ast.stmt], name: str) -> list[ast.stmt] | None:
    """The statements with each return as an assignment; None where that is not the same."""
    for k, stmt in enumerate(body):
        match stmt:
            case ast.Return(value=value):
                if value is None:
                    return None
                target = ast.copy_location(ast.Name(name, ast.Store()), stmt)
                return [*body[:k], ast.copy_location(ast.Assign([target], value), stmt)]
            case ast.If(test=test, body=then, orelse=orelse) if may_return(stmt):
                rest = body[k + 1 :]
                arms = [_joined([*arm, *([] if _ends(arm) else rest)], name) for arm in (then, orelse)]
                if any(arm is None for arm in arms):
                    return None
                joined = ast.If(test, arms[0] or [], arms[1] or [])
                return [*body[:k], ast.copy_location(joined, stmt)]
            case _ if may_return(stmt):
                return None
            case _:
                pass
    ends_in_error = bool(body) and isinstance(body[-1], ast.Raise)
    return body if ends_in_error else None


def _ends(body: list[ast.stmt]) -> bool:
    """Whether nothing behind these statements runs."""
    if not body:
        return False
    match body[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=then, orelse=orelse):
            return _ends(then) and _ends(orelse)
        case _:
            return False
