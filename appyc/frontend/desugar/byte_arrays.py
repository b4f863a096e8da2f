"""Arrays of bytes as lists of numbers, each of which is tested to be a byte.

    out = bytearray(n)                   items = items_of(n)
    out[i] = data[i] ^ 255       ->      items[i] = byte(data[i] ^ 255)
    return bytes(out)                    return made(items)

The functions are those of `appyc.library.byte_lists`.

Requires: each binding of the name makes a bytearray, and each other use is one that a rule replaces.

Does not handle: slices; joined and compared bytes; `bytes(out)` that is not returned.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import Any

from appyc.frontend.desugar.building import constant
from appyc.frontend.desugar.rewriting import Containers, Kind, ValueOf, bindings, replaced
from appyc.frontend.source import Source
from appyc.frontend.types.values import ReturnedContainer
from appyc.library.byte_lists import byte, items_of


def without_byte_arrays(source: Source, value_of: ValueOf) -> Source:
    """The function, with its bytearrays replaced."""
    return replaced(source, bindings(source.ast, partial(_made, value_of=value_of)), _ByteArrays, value_of)


def _made(value: ast.expr, value_of: ValueOf) -> Kind | None:
    match value:
        case ast.Call(func=func, args=[] | [_], keywords=[]) if value_of(func) is bytearray:
            return Kind("bytearray")
        case _:
            return None


def _listed(value: ast.expr) -> ast.expr | None:
    """Bytes that stand in the text, as a list of their numbers."""
    if not isinstance(value, ast.Constant) or not isinstance(value.value, bytes):
        return None
    return ast.List([ast.Constant(number) for number in value.value], ast.Load())


class _ByteArrays(Containers):
    PARTS = ("items",)
    TEMPORARIES = ("at", "one")
    STATEMENTS = {
        "it[index] = given": "items[index] = byte(given)",
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
    CONSTANTS = {
        "byte": constant(byte), "items_of": constant(items_of), "made_bytes": constant(ReturnedContainer("bytes"))
    }  # fmt: skip
    FULL = "len(items) > 0"
    RETURNED = "made(items)"
    HINT = "append, extend, pop and clear are compiled, and to index, measure, run over and return it, as bytes too"

    def value(self, word: str, found: ast.expr) -> ast.expr:
        return _listed(found) or super().value(word, found)

    def made(self, name: str, value: ast.expr, at: ast.stmt) -> list[ast.stmt]:
        assert isinstance(value, ast.Call), "it makes a bytearray"
        known = _listed(value.args[0]) if value.args else ast.List([], ast.Load())
        text = "items = items_of(given)" if known is None else "items = given"
        return self.statements(text, name, at, given=known or self.visit(value.args[0]))

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for k, (target, value) in enumerate(zip(targets, values, strict=False)):
                    of = self.owner(target.value) if isinstance(target, ast.Subscript) else None
                    if isinstance(target, ast.Subscript) and of is not None:
                        target.value = self.expression("items", of, target)
                        values[k] = self.expression("byte(given)", of, value, given=value)
        return super().visit_Assign(node)
