"""Queues and arrays of bytes, as lists; methods of lists.

Queues of numbers, or of tuples of numbers, as a list of their items and the number of those that are gone.

    q = deque([start])                   items = [start]; head = [0]
    while q:                             while len(items) > head[0]:
        i = q.popleft()                      i = pop_left(items, head)
        if not seen[i]:           ->         if not seen[i]:
            q.append(i + 1)                      items.append(i + 1)

The functions are those of `appyc.library.queues`.

Requires: each binding of the name makes a deque (`deque()`, `deque([a, b])`, `deque(items)`), and each other use is one
that a rule replaces.

Does not handle: loops over a queue that change it; nested functions; what extends, rotates or
returns a queue with `maxlen`, or puts items in front of it.

Arrays of bytes as lists of numbers, each of which is tested to be a byte.

    out = bytearray(n)                   items = items_of(n)
    out[i] = data[i] ^ 255       ->      items[i] = byte(data[i] ^ 255)
    return bytes(out)                    return made(items)

The functions are those of `appyc.library.byte_lists`.

Requires: each binding of the name makes a bytearray, and each other use is one that a rule replaces.

Does not handle: slices that are read; joined and compared bytes; `bytes(out)` that is not returned.

Methods and operators of lists, by those that are compiled and by library text.

    del xs[i]                         xs.pop(i)
    xs.remove(v)              ->      xs.pop(index(xs, v))
    xs.sort(reverse=True)             xs.reverse(); xs.sort(); xs.reverse()
    xs.count(v), xs == ys             count(xs, v), equal(xs, ys)
    len(xs[a:b:c])                    part_length(xs, a, b, c)

Requires: the name is bound to new lists alone. The functions are those of `appyc.library.list_lookups`.

Does not handle: slices that are deleted; comparisons of lists of floats, whose NaNs may be one object; `index` with
bounds; the order of lists; lists that are parameters.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any

from appyc.frontend.desugar.building import constant, functions_of, matched
from appyc.frontend.desugar.rewriting import (
    Containers,
    Kind,
    Rules,
    ValueOf,
    bindings,
    new_lists,
    replaced,
    rewritten,
)
from appyc.frontend.source import Source
from appyc.frontend.types.values import ReturnedContainer
from appyc.library import byte_lists, list_lookups, queues


def without_deques(source: Source, value_of: ValueOf) -> Source:
    """The function, with its deques replaced."""
    return replaced(source, bindings(source.ast, partial(_made, value_of=value_of)), _Deques, value_of)


def _made(value: ast.expr, value_of: ValueOf) -> Kind | None:
    match value:
        case ast.Call(func=func, args=[] | [_], keywords=[]) if value_of(func) is deque:
            return Kind("deque")
        case ast.Call(func=func, args=[], keywords=[ast.keyword(arg="maxlen")]) if value_of(func) is deque:
            return Kind("deque", is_bounded=True)
        case _:
            return None


class _Deques(Containers):
    PARTS = ("items", "head", "most")
    STATEMENTS = {
        "it.append(given)": "items.append(given)",
        "it.append(last)": "leave_room(items, head, most)\nif most > 0: items.append(last)",
        "it.appendleft(given)": "push_left(items, head, given)",
        "it.extend(given)": "items.extend(given)",
        "it.rotate(given)": "rotate(items, head, given)",
        "it.clear()": "items.clear(); head = [0]",
    }
    EXPRESSIONS = {
        "len(it)": "len(items) - head[0]",
        "it.pop()": "pop(items, head)",
        "it.popleft()": "pop_left(items, head)",
        "it[index]": "item_of(items, head, index)",
        "it.maxlen": "most",
        "item in it": "item in items[head[0] :]",
        "item not in it": "item not in items[head[0] :]",
    }
    OVER = {"it": "items"}
    ITEMS = {"it": "items[head[0] :]"}
    LOOKERS = frozenset({"sum", "min", "max", "any", "all", "list", "sorted"})
    CONSTANTS = functions_of(queues)
    FULL = "len(items) > head[0]"
    RETURNED = "made(items)"
    HINT = (
        "append, appendleft, extend, popleft, pop, rotate and clear are compiled, and to index, measure, sum up, look "
        "into, run over and return it"
    )

    def takes(self, pattern: str, node: ast.AST, name: str, found: Mapping[str, ast.expr]) -> bool:
        bounded = self.kinds[name].is_bounded
        if pattern in ("it.append(given)", "it.appendleft(given)", "it.rotate(given)", "it.extend(given)"):
            return not bounded
        return bounded or pattern not in ("it.append(last)", "it.maxlen")

    def as_lists(self, name: str, at: ast.AST) -> list[ast.stmt]:
        return self.statements("drop_front(items, head)", name, at)

    def made(self, name: str, value: ast.expr, at: ast.stmt) -> list[ast.stmt]:
        assert isinstance(value, ast.Call), "it makes a deque"
        given = [self.visit(arg) for arg in (*value.args, *(word.value for word in value.keywords))]
        if self.kinds[name].is_bounded:
            return self.statements("most = bound(given); items = []; head = [0]", name, at, given=given[0])
        first = given[0] if given else ast.List([], ast.Load())
        text = "items = given" if isinstance(first, ast.List) else "items = list(given)"
        return self.statements(f"{text}; head = [0]", name, at, given=first)


# ---------------------------------------------------------------- bytearrays


def without_byte_arrays(source: Source, value_of: ValueOf) -> Source:
    """The function, with its bytearrays replaced."""
    return replaced(
        source, bindings(source.ast, partial(_made_of_bytes, value_of=value_of)), _ByteArrays, value_of
    )


def _made_of_bytes(value: ast.expr, value_of: ValueOf) -> Kind | None:
    match value:
        case ast.Call(func=func, args=[] | [_], keywords=[]) if value_of(func) is bytearray:
            return Kind("bytearray")
        case ast.BinOp(left=left, op=ast.Mult()):
            return _made_of_bytes(left, value_of)
        case _:
            return None


def _listed(value: ast.expr) -> ast.expr | None:
    """Bytes that stand in the text, as a list of their numbers."""
    match value:
        case ast.Constant(value=bytes() as text):
            return ast.List([ast.Constant(number) for number in text], ast.Load())
        case ast.List(elts=[ast.Constant(value=int(number))]) if number in range(256):
            return ast.List([ast.Constant(int(number))], ast.Load())
        case ast.Call(func=ast.Name(id="bytes" | "bytearray"), args=[inner], keywords=[]):
            return _listed(inner)
        case ast.BinOp(left=left, op=ast.Mult() as op, right=times):
            items = _listed(left)
            is_one = isinstance(items, ast.List) and len(items.elts) == 1
            return ast.BinOp(items, op, times) if items is not None and is_one else None
        case _:
            return None


class _ByteArrays(Containers):
    PARTS = ("items",)
    TEMPORARIES = ("at", "one", "more")
    STATEMENTS = {
        "it[index] = given": "items[index] = byte(given)",
        "it[start:stop:step] = part": "more = part; items[start:stop:step] = more",
        "it[index] @= given": "at = index; items[at] = byte(items[at] @ given)",
        "it.append(given)": "items.append(byte(given))",
        "it.extend(given)": "for one in given: items.append(byte(one))",
        "it.clear()": "items.clear()",
    }
    EXPRESSIONS = {
        "len(it)": "len(items)",
        "it[index]": "items[index]",
        "it.pop()": "items.pop()",
        "bytes(it)": "made_bytes(items)",
    }
    OVER = ITEMS = {"it": "items"}
    LOOKERS = frozenset({"sum", "min", "max", "enumerate", "reversed"})
    CONSTANTS = {**functions_of(byte_lists), "made_bytes": constant(ReturnedContainer("bytes"))}
    FULL = "len(items) > 0"
    RETURNED = "made(items)"
    HINT = "append, extend, pop and clear are compiled, and to index, measure, run over and return it, as bytes too"

    def value(self, word: str, found: ast.expr) -> ast.expr:
        known = _listed(found)
        if known is not None or word != "part":
            return known or super().value(word, found)
        made = matched("of(it)", found) or {}
        is_bytes = "of" in made and ast.unparse(made["of"]) in ("bytes", "bytearray")
        items = super().value(word, made["it"] if is_bytes else found)
        return ast.Call(constant(byte_lists.items_of), [items], [])

    def made(self, name: str, value: ast.expr, at: ast.stmt) -> list[ast.stmt]:
        if isinstance(value, ast.BinOp) and _listed(value) is None:
            return [at]
        args = value.args if isinstance(value, ast.Call) else []
        known = _listed(value) or (ast.List([], ast.Load()) if not args else None)
        text = "items = items_of(given)" if known is None else "items = given"
        return self.statements(text, name, at, given=known or self.visit(args[0]))

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for k, (target, value) in enumerate(zip(targets, values, strict=False)):
                    of = self.owner(target.value) if isinstance(target, ast.Subscript) else None
                    if isinstance(target, ast.Subscript) and of is not None:
                        target.value = self.expression("items", of, target)
                        values[k] = self.expression("byte(given)", of, value, given=value)
        return super().visit_Assign(node)


# ---------------------------------------------------------------- methods of lists


def without_list_methods(source: Source, value_of: ValueOf) -> Source:
    """The function, with these methods of its own lists replaced."""
    lists = new_lists(source.ast)
    if not lists:
        return source
    rules = _Methods(source.ast, lists, value_of)
    return rewritten(source, lambda _: rules, rules.rule_for)


class _Methods(Rules):
    STATEMENTS = {
        "del it[at]": "it.pop(at)",
        "it.remove(item)": "it.pop(index(it, item))",
        "it.sort(reverse=True)": "it.reverse(); it.sort(); it.reverse()",
        "it.sort(reverse=False)": "it.sort()",
    }
    EXPRESSIONS = {
        "it.index(item)": "index(it, item)",
        "it.count(item)": "count(it, item)",
        "len(it[start:stop:step])": "part_length(it, start, stop, step)",
        "it == other": "equal(it, other)",
        "it != other": "not equal(it, other)",
    }
    CONSTANTS = functions_of(list_lookups)

    def takes(self, pattern: str, node: ast.AST, name: str, found: Mapping[str, ast.expr]) -> bool:
        return "other" not in found or self.owner(found["other"]) is not None
