"""What a condition tells of names that may be None: in `if k is not None and a[k] > 0` no read of k asks again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from appyc.frontend.scope import Scope
from appyc.frontend.types.values import Slot, TupleSlots


def proven(test: ast.expr, truth: bool) -> frozenset[str]:
    """The names that are not None where the condition has come out so."""
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=None)]):
            is_number = isinstance(op, ast.IsNot | ast.NotEq) if truth else isinstance(op, ast.Is | ast.Eq)
            return frozenset({name}) if is_number else frozenset()
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return proven(operand, not truth)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == truth:
            return frozenset().union(*(proven(value, truth) for value in values))
        case ast.Name(id=name) if truth:
            return frozenset({name})
        case _:
            return frozenset()


def known_as_numbers(scope: Scope, names: frozenset[str]) -> None:
    """From here on these names are not None."""
    for name in names:
        binding = scope.env.get(name)
        if isinstance(binding, Slot | TupleSlots) and binding.optional:
            scope.env[name] = replace(binding, optional=False)


@contextmanager
def where_numbers(scope: Scope, names: frozenset[str]) -> Iterator[None]:
    """The same for an expression."""
    before = {name: scope.env[name] for name in names if name in scope.env}
    known_as_numbers(scope, names)
    try:
        yield
    finally:
        scope.env |= before
