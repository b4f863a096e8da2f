"""Sets of the module or of a closure, whose items are built into the code."""

from __future__ import annotations

from appyc.errors import Loc
from appyc.frontend.access import items_of
from appyc.frontend.resolve import MOST_ITEMS
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import Opaque, Value


def with_items_of_set(scope: Scope, value: Value, loc: Loc) -> Value:
    """The items of a short set of the module or a closure as a tuple, in the set's order, until the set changes;
    another value unchanged."""
    if not isinstance(value, Opaque) or not isinstance(value.obj, set | frozenset):
        return value
    items = items_of([*value.obj])
    if value.root is None or value.root.steps[0][0] == "param" or len(items) > MOST_ITEMS:
        return value
    scope.names.environment.depend(value.root.step("items", ""), items)
    return scope.names.constant(items, None, loc)
