"""Starred targets of assignments: `a, *b = t`."""

from __future__ import annotations

import ast

from appyc.errors import LengthError, Loc, UnsupportedError
from appyc.frontend.expressions.expressions import wrong_kind
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.values import TupleValue, Value


def gathered(
    scope: Scope, elts: list[ast.expr], value: Value, starred: int, loc: Loc
) -> tuple[list[ast.expr], TupleValue]:
    """`a, *b = ...` as `a, b = ...`, where b is bound to a tuple; the program must only read b."""
    star = elts[starred]
    assert isinstance(star, ast.Starred)
    if not isinstance(star.value, ast.Name) or star.value.id not in scope.read_lists:
        raise UnsupportedError("this starred target gets a list, which cannot be compiled", scope.loc(star),
                               "a list that is only indexed or looped over can")  # fmt: skip
    if not isinstance(value, TupleValue):
        raise wrong_kind(value)(f"{describe(value)} cannot be unpacked into a starred target", loc,
                                "only tuples can be")  # fmt: skip
    behind = len(elts) - starred - 1
    if len(value.items) < starred + behind:
        raise LengthError(
            f"{len(value.items)} values cannot be unpacked into {len(elts) - 1} targets and more", loc
        )
    items = value.items
    last = len(items) - behind
    together = TupleValue(items[starred:last])
    return [*elts[:starred], star.value, *elts[starred + 1 :]], TupleValue(
        (*items[:starred], together, *items[last:])
    )
