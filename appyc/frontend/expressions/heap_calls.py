"""Calls of `heapq` on lists that the function makes: library text works on the storage of the list.

Does not handle: other arguments than such lists; `nsmallest`, `nlargest` and `merge`.
"""

from __future__ import annotations

import ast
import heapq
from collections.abc import Callable
from functools import partial

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.tensors import equals, settled
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.inlining import inlined
from appyc.frontend.expressions.list_storage import learn_item, list_named
from appyc.frontend.expressions.lists import append, pop, refuse_out_of_order
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ListValue, Value
from appyc.ir.nodes import Var
from appyc.library import heaps


def _push(scope: Scope, name: str, heap: ListValue, item: Value, loc: Loc) -> Value:
    append(scope, name, item, loc)
    return _run(scope, heaps.rise, heap, loc)


def _pop(scope: Scope, name: str, heap: ListValue, loc: Loc) -> Value:
    _fail_if_empty(scope, heap, loc)
    return _run(scope, heaps.exchange, heap, loc, item=pop(scope, name, None, loc))


def _replace(scope: Scope, name: str, heap: ListValue, item: Value, loc: Loc) -> Value:
    _fail_if_empty(scope, heap, loc)
    learn_item(scope, name, item, loc)
    return _run(scope, heaps.exchange, heap, loc, item=item)


def _order(scope: Scope, name: str, heap: ListValue, loc: Loc) -> Value:
    return _run(scope, heaps.order, heap, loc)


def _run(scope: Scope, text: Callable[..., object], heap: ListValue, loc: Loc, **more: Value) -> Value:
    return inlined(scope, text, {"heap": heap, **more}, loc, trusted=True)


def _fail_if_empty(scope: Scope, heap: ListValue, loc: Loc) -> None:
    empty = equals(Var(heap.slots.count, loc=loc), 0, loc)
    scope.fail_if(empty, "IndexError", "index out of range", loc)


def _call(make: Callable[..., Value], items: int, scope: Scope, node: ast.Call, loc: Loc) -> Value:
    match node.args:
        case [ast.Name(id=name), *given] if name in scope.list_names and not node.keywords:
            refuse_out_of_order(scope, name, loc)
        case _:
            raise UnsupportedError(
                "a heap is compiled if it is a list that the function makes, with a name", loc
            )
    values = [settled(scope, value) for value in expressions.lower_operands(scope, given)]
    if len(values) != items:
        raise UnsupportedError("heapq takes another number of arguments", loc)
    return make(scope, name, list_named(scope, name, loc), *values, loc)


HEAP_CALLS: dict[object, Callable[[Scope, ast.Call, Loc], Value]] = {
    heapq.heappush: partial(_call, _push, 1),
    heapq.heapreplace: partial(_call, _replace, 1),
    heapq.heappop: partial(_call, _pop, 0),
    heapq.heapify: partial(_call, _order, 0),
}
"""How calls are lowered; they raise UnsupportedError for other arguments than such a list and its items."""
