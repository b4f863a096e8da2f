"""Which calls give or take lists that compiled code keeps: those of functions that are compiled with the caller.

    def grow(found, n):                     grow is inlined: `found` is the list of the caller's, whose
        for k in range(n):                  storage it uses
            found.append(k * k)

    out = []
    grow(out, 3)

A function takes a list for a parameter that it never binds, and uses as a function uses lists that it makes for itself
(`syntax/containers.py`). So no other name is bound to the list when the function has returned.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache

from appyc.frontend.access import AccessPath, python_function
from appyc.frontend.facts import Facts
from appyc.frontend.resolve import Names
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import ListCalls, list_parameters
from appyc.frontend.syntax.tree import walk


def list_calls(source: Source, names: Names, facts: Facts) -> ListCalls:
    """The list arguments and results of a function's calls, as far as they are known."""
    return ListCalls(
        names.is_of_library,
        lambda call: facts.makes_list(call) or names.draws_list(call.func),
        _takers(source, names),
    )


def _takers(source: Source, names: Names) -> Callable[[ast.Call, int], bool]:
    known = names.environment.callees.known
    nested = cache(
        lambda: [n for n in walk(source.ast) if isinstance(n, ast.FunctionDef) and n is not source.ast]
    )

    def takes(call: ast.Call, position: int) -> bool:
        called = _called(source, names, call.func, nested)
        if called is None:
            return False
        tree = called[0]
        positional = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args)]
        if tree not in known.list_parameters:
            known.list_parameters[tree] = frozenset(positional)  # for its calls of itself
            known.list_parameters[tree] = list_parameters(tree, list_calls(*called[1:], Facts()))
        return position < len(positional) and positional[position] in known.list_parameters[tree]

    return takes


def _called(
    source: Source, names: Names, func: ast.expr, nested: Callable[[], list[ast.FunctionDef]]
) -> tuple[ast.FunctionDef, Source, Names] | None:
    """The text of a Python function that is called by its name, and the names that it sees. nested: those inside."""
    if not isinstance(func, ast.Name):
        return None
    if found := [n for n in nested() if n.name == func.id]:
        return (found[0], source, names) if len(found) == 1 else None
    fn = python_function(names.plain(func))
    if fn is None:
        is_itself = func.id == source.ast.name  # a nested function, from inside
        return (source.ast, source, names) if is_itself else None
    text = names.environment.callees.known.source_of(fn, source)
    return text.ast, text, Names(fn, names.environment, AccessPath((("callee", fn.__qualname__),)))
