"""Calls of `heapq` on lists that the function makes: library text works on the storage of the list.

Does not handle: other arguments than such lists; `nsmallest`, `nlargest` and `merge`.
"""

from __future__ import annotations

import ast
import heapq
from collections.abc import Callable
from types import FunctionType

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.tensors import settled
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.expressions.inlining import inlined
from appyc.frontend.expressions.list_storage import learn_item, list_named
from appyc.frontend.expressions.lists import append, pop, refuse_out_of_order
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ListValue, Value
from appyc.ir.nodes import Compare, Fail, If, Var
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
    assert isinstance(text, FunctionType)
    return inlined(scope, text, {"heap": heap, **more}, loc, trusted=True)


def _fail_if_empty(scope: Scope, heap: ListValue, loc: Loc) -> None:
    empty = Compare("==", Var(heap.slots.count, loc=loc), integer(0, loc), loc=loc)
    scope.emit(If(empty, (Fail("IndexError", "index out of range", loc=loc),), loc=loc))


_WITH_ITEM = {heapq.heappush: _push, heapq.heapreplace: _replace}
_ALONE = {heapq.heappop: _pop, heapq.heapify: _order}


def lower_heap_call(scope: Scope, node: ast.Call, function: object, loc: Loc) -> Value | None:
    """The value of a call of `heapq`; None for other functions. Raises UnsupportedError for other arguments."""
    if function not in _WITH_ITEM and function not in _ALONE:
        return None
    match node.args:
        case [ast.Name(id=name), *given] if name in scope.list_names and not node.keywords:
            refuse_out_of_order(scope, name, loc)
        case _:
            raise UnsupportedError(
                "a heap is compiled if it is a list that the function makes, with a name", loc
            )
    items = [settled(scope, value) for value in expressions.lower_operands(scope, given)]
    heap = list_named(scope, name, loc)
    if function in _WITH_ITEM and len(items) == 1:
        return _WITH_ITEM[function](scope, name, heap, items[0], loc)
    if function in _ALONE and not items:
        return _ALONE[function](scope, name, heap, loc)
    raise UnsupportedError("heapq takes another number of arguments", loc)
