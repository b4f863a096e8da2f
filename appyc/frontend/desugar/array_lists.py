"""Lists of arrays, as one list of all elements, and for each array where it begins in it and its shape.

    us = [np.zeros(n >> k) for k in range(4)]     items, starts, shapes = [], [], []
                                                  for k in range(4):
                                                      item = np.zeros(n >> k); starts.append(len(items))
                                          ->          items.extend(item.ravel()); shapes.append(item.shape)
    for a in us:                                  for a in array_in(items, starts, shapes):
        a[0] = us[-1][0]                              a[0] = array_in(items, ..., row_of(starts, -1))[0]

`array_in` is a view of the items, whatever these move to (`frontend/expressions/array_list_calls.py`). An array that is
put into a list is copied. Where the list or the array is stored into, and the array may have another name, `new_array`
refuses what is not new.

Requires: the name is bound to lists of arrays of one type and number of axes (`Facts.array_lists`), and each other
use is one that a rule replaces.

Does not handle: arrays that are removed; lists that nested functions use or that are given to functions.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from appyc.frontend.desugar.array_aliases import ArrayNames
from appyc.frontend.desugar.building import constant, functions_of, located, read
from appyc.frontend.desugar.rewriting import Containers, Kind, ValueOf, bindings, replaced
from appyc.frontend.source import Source
from appyc.frontend.syntax.liveness import names_read
from appyc.frontend.types.made_values import ArrayListCall
from appyc.library import list_rows

_ADD = "item = given; starts.append(len(items)); shapes.append(item.shape); items.extend(item.ravel())"
_MOVE = "shapes[row] = item.shape; starts[row] = len(items); items.extend(item.ravel())"
_ONE = "array_in(items, starts, shapes, row_of(starts, index))"


def without_array_lists(source: Source, ranks: Mapping[str, int], value_of: ValueOf) -> Source:
    """The function, with these lists of arrays replaced. ranks: the number of axes of their arrays."""
    kinds = bindings(source.ast, _kind_of)
    ranked = {name: replace(kind, rank=ranks[name]) for name, kind in kinds.items() if name in ranks}
    return replaced(source, ranked, _ArrayLists, value_of)


def _kind_of(value: ast.expr) -> Kind | None:
    match value:
        case ast.List(elts=elts) if not any(isinstance(item, ast.Starred) for item in elts):
            return Kind("arrays")
        case ast.ListComp():
            return Kind("arrays")
        case ast.BinOp(left=ast.List(elts=[ast.Constant(value=None)]), op=ast.Mult()):
            return Kind("arrays", has_none=True)
        case _:
            return None


class _ArrayLists(Containers):
    PARTS = ("items", "starts", "shapes")
    STATEMENTS = {
        "it.append(given)": _ADD,
        "it[index], it[other] = it[other], it[index]": (
            "swap_arrays(starts, shapes, row_of(starts, index), row_of(starts, other))"
        ),
        "it[index] = anew": f"item = anew; row = row_of(starts, index); {_MOVE}",
        "it[index] = given": (
            "item = given; row = row_of(starts, index)\n"
            "if item.shape == shapes[row]: array_in(items, starts, shapes, row)[...] = item\n"
            f"else: {_MOVE}"
        ),
        "it[index] @= given": f"item = {_ONE}; item @= given",
        "it[index] = None": "starts[row_of(starts, index)] = -1",
        "it += [given]": _ADD,
    }
    """Templates of statements. `anew` matches only where other names may be aliases of the array that is
    replaced."""
    EXPRESSIONS = {
        "len(it)": "len(starts)",
        "it[index]": _ONE,
        "it[index] is None": "starts[row_of(starts, index)] < 0",
        "it[index] is not None": "starts[row_of(starts, index)] >= 0",
    }
    OVER = ITEMS = {"it": "array_in(items, starts, shapes)"}
    LOOKERS = frozenset({"enumerate", "zip", "reversed"})
    TEMPORARIES = ("item", "row", "count")
    CONSTANTS = functions_of(list_rows)
    FULL = "len(starts) > 0"
    RETURNED = "made(items_of(items), starts, shapes)"
    HINT = "lists of arrays may get arrays at their end, be indexed, measured, run over, joined and returned"

    def __init__(self, function: ast.FunctionDef, kinds: dict[str, Kind], value_of: ValueOf) -> None:
        super().__init__(function, kinds, value_of)
        self.names = ArrayNames(function, kinds, value_of)

    def takes(self, pattern: str, node: ast.AST, name: str, found: Mapping[str, ast.expr]) -> bool:
        return pattern != "it[index] = anew" or self.names.has_live_part(name, node)

    def from_template(
        self, text: str, name: str, at: ast.AST, given: Mapping[str, str | ast.expr]
    ) -> list[ast.stmt]:
        part = ArrayListCall.PART_OR_NONE if self.kinds[name].has_none else ArrayListCall.PART
        return super().from_template(text, name, at, {"array_in": constant(part), **given})

    def value(self, word: str, found: ast.expr) -> ast.expr:
        return super().value(word, self._own(found) if word in ("given", "anew") else found)

    def _own(self, item: ast.expr) -> ast.expr:
        """An array that is put into a list."""
        made = constant(ArrayListCall.NEW)
        return located(ast.Call(made, [item], []), item) if item in self.names.shared else item

    def visit_Assign(self, node: ast.Assign) -> Any:
        if isinstance(node.targets[0], ast.Name):
            node.value = self._own(node.value)
        return super().visit_Assign(node)

    def visit_Return(self, node: ast.Return) -> Any:
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        if any(self.owner(value) in self.names.parted for value in values):
            return node  # a name for an array of the list is returned, too
        return super().visit_Return(node)

    def made(self, name: str, value: ast.expr, at: ast.stmt) -> list[ast.stmt]:
        is_again = name not in self.names.made_once
        is_read = bool(names_read(value) & {name, *self.names.parts[name]})
        if is_again and (is_read or self.names.has_live_part(name, at)):
            return [at]  # the old list is in use
        match value:
            case ast.BinOp(right=count):
                empty = ast.Tuple([ast.Constant(0)] * self.kinds[name].rank, ast.Load())
                text = "count = given; items = []; starts = [-1] * count; shapes = [empty] * count"
                return self.statements(text, name, at, given=self.visit(count), empty=empty)
            case ast.List(elts=items):
                pass
            case _:
                assert isinstance(value, ast.ListComp), "nothing else makes such a list"
                items = [value.elt]
        first: list[ast.stmt] = [
            ast.Expr(ast.Call(ast.Attribute(read(name), "append", ast.Load()), [self._own(item)], []))
            for item in items
        ]
        return [
            *self.statements("items = []; starts = []; shapes = []", name, at),
            *self.filled(value, [located(stmt, at) for stmt in first]),
        ]

    # ------------------------------------------------------------ whole lists

    def visit_Call(self, node: ast.Call) -> Any:
        called = self.value_of(node.func)
        if (name := self.owner(node.args[0]) if len(node.args) == 1 else None) is None:
            return super().visit_Call(node)
        of_vectors = self.kinds[name].rank == 1
        if called in (np.array, np.asarray, np.mean, np.sum):
            node.args = [self.expression("array_of(items, starts, shapes)", name, node)]
        elif not node.keywords and called in (np.stack, np.vstack, np.concatenate, np.hstack):
            if called is np.stack or (called is np.vstack and of_vectors):
                return self.expression("stacked(items, starts, shapes)", name, node)
            if called is not np.hstack or of_vectors:
                return self.expression("joined(items, starts, shapes)", name, node)
        return super().visit_Call(node)
