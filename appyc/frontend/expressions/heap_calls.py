"""Calls of `heapq` on lists that the function makes: library text works on the storage of the list.

Does not handle: other arguments than such lists; `nsmallest`, `nlargest` and `merge`.
"""

from __future__ import annotations

import ast
import heapq
from collections.abc import Callable
from functools import partial
from typing import Any

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.tensors import equals, settled
from appyc.frontend.expressions import expressions
from appyc.frontend.expressions.inlining import inlined
from appyc.frontend.expressions.list_storage import learn_item, list_named
from appyc.frontend.expressions.lists import append, pop, refuse_out_of_order
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import Value
from appyc.ir.nodes import Var
from appyc.library import heaps


def _call(function: str, scope: Scope, node: ast.Call, loc: Loc) -> Value:
    match node.args:
        case [ast.Name(id=name), *given] if name in scope.list_names and not node.keywords:
            refuse_out_of_order(scope, name, loc)
        case _:
            raise UnsupportedError(
                "a heap is compiled if it is a list that the function makes, with a name", loc
            )
    values = [settled(scope, value) for value in expressions.lower_operands(scope, given)]
    heap = list_named(scope, name, loc)
    text: Callable[..., Any] = heaps.exchange
    if function in ("heappop", "heapreplace"):
        empty = equals(Var(heap.slots.count, loc=loc), 0, loc)
        scope.fail_if(empty, "IndexError", "index out of range", loc)
    arguments: dict[str, Value] = {"heap": heap}
    match function, values:
        case "heappush", [item]:
            append(scope, name, item, loc)
            text = heaps.rise
        case "heapreplace", [item]:
            learn_item(scope, name, item, loc)
            arguments["item"] = item
        case "heappop", []:
            arguments["item"] = pop(scope, name, None, loc)
        case "heapify", []:
            text = heaps.order
        case _:
            raise UnsupportedError("heapq takes another number of arguments", loc)
    return inlined(scope, text, arguments, loc, trusted=True)


HEAP_CALLS: dict[object, Callable[[Scope, ast.Call, Loc], Value]] = {
    function: partial(_call, function.__name__)
    for function in (heapq.heappush, heapq.heapreplace, heapq.heappop, heapq.heapify)
}
"""How calls are lowered; they raise UnsupportedError for other arguments than such a list and its items."""
