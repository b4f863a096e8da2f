"""Lists that nested functions use: they keep their lengths, and are arrays of Python's own numbers."""

from __future__ import annotations

import ast

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor, materialise
from appyc.frontend.expressions.list_storage import list_named
from appyc.frontend.expressions.lists import bind_list
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ListValue
from appyc.ir.types import Container


def bind_shared(scope: Scope, name: str, value: ast.expr, loc: Loc) -> None:
    """Binds a name that nested functions use to a new list that keeps its length: an array of Python's numbers."""
    own = f"items of {name}"
    scope.list_names |= {own}
    bind_list(scope, own, value, loc)
    slots = list_named(scope, own, loc).slots
    if slots.of_tuples or not slots.kinds[0].python:
        raise UnsupportedError(f"{name!r} holds no numbers of Python's own, and a nested function uses it", loc,
                               hints=("use an array",))  # fmt: skip
    items = as_tensor(scope, ListValue(slots), loc)
    scope.bind(name, materialise(scope, items, name, loc, Container.LIST), loc)
