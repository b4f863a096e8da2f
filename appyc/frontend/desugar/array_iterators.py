"""`np.nditer` over one array, as a loop over the indices of its elements.

    with np.nditer(a, flags=["multi_index"], op_flags=["readwrite"]) as it:
        for x in it:                              for at in in_memory_order(a):
            x[...] = x * it.multi_index[0]   ->       a[at] = a[at] * at[0]

`while not it.finished: ... it.iternext()` is such a loop, in which `it[0]` is the element.

Requires: a loop that follows its iterator at once. Does not handle: several arrays; `external_loop` and buffers; an
element that is kept as an array.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from appyc.errors import UnsupportedError
from appyc.frontend.desugar.building import block_of, constant, expression, located, part_of, read, template
from appyc.frontend.desugar.rewriting import Rule, ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import walk
from appyc.library.primitives import in_memory_order

_MADE = """
items = asarray(given)
if items.size == 0:
    raise ValueError("Iteration of zero-sized operands is not enabled")
"""
_FLAGS = {"multi_index", "zerosize_ok", "refs_ok"}
_WRITING = {"readwrite", "writeonly"}


def without_array_iterators(source: Source, value_of: ValueOf) -> Source:
    """The function, with its loops over `np.nditer` replaced. Raises UnsupportedError for other uses of it."""
    return rewritten(
        source, lambda copied: _Iterators(copied, source, value_of), lambda node: _is_iterator(node, value_of)
    )


def _is_iterator(node: ast.AST | None, value_of: ValueOf) -> bool:
    return isinstance(node, ast.Call) and value_of(node.func) is np.nditer


class _Iterators(Rule):
    """made: the iterator that the statement before has made, and what it was given. name: that of the loop at hand.
    elements: how the text has an element of it. writes: whether these may be assigned. names: of all iterators."""

    def __init__(self, function: ast.FunctionDef, source: Source, value_of: ValueOf) -> None:
        super().__init__(function, value_of)
        self.source = source
        self.made: tuple[str, ast.Call] | None = None
        self.prefix = self.name = ""
        self.elements: tuple[str, ...] = ()
        self.writes = False
        self.names: set[str] = set()

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt) and not isinstance(node, ast.For | ast.While | ast.With):
            self.made = None
        return super().visit(node)

    def visit_With(self, node: ast.With) -> Any:
        match node.items:
            case [ast.withitem(call, ast.Name(id=name))] if _is_iterator(call, self.value_of):
                start: list[ast.stmt] = [located(ast.Assign([ast.Name(name, ast.Store())], call), node)]
            case [ast.withitem(ast.Name(id=name), None)] if self.made is not None and self.made[0] == name:
                start = []
            case _:
                return self.generic_visit(node)
        return block_of([*start, *node.body], self.visit)

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if _is_iterator(
                call, self.value_of
            ):
                self.made = name, call
                self.names.add(name)
                return []
        self._refuse_kept("kept", node.value)
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        made, self.made = self.made, None
        name = node.iter.id if isinstance(node.iter, ast.Name) else ""
        call = made[1] if made is not None and made[0] == name else node.iter
        match node.target, call:
            case ast.Name(id=element), ast.Call() if _is_iterator(call, self.value_of):
                return self._loop(node, name, call, element)
        return self.generic_visit(node)

    def visit_While(self, node: ast.While) -> Any:
        made, self.made = self.made, None
        match node:
            case ast.While(
                test=ast.UnaryOp(ast.Not(), ast.Attribute(ast.Name(id=name), "finished")),
                body=[*body, ast.Expr(ast.Call(ast.Attribute(ast.Name(id=stepped), "iternext")))],
            ) if made is not None and name == stepped == made[0]:
                if any(isinstance(n, ast.Continue) for n in walk(*body)):
                    self._refuse(node, "a loop over np.nditer with `continue`")
                loop = located(ast.For(ast.Name("", ast.Store()), read(name), body, node.orelse), node)
                return self._loop(loop, name, made[1], "")
        return self.generic_visit(node)

    def _loop(self, node: ast.For, name: str, call: ast.Call, element: str) -> list[ast.stmt]:
        array, words = self._read(call)
        outer = self.prefix, self.name, self.elements, self.writes
        self.prefix, self.name = self.unused("elements"), name
        self.elements = (*filter(None, [element]), *([f"{name}[0]"] if name else []))
        self.writes = bool(_WRITING & words["op_flags"])
        items, at = part_of(self.prefix, "items"), part_of(self.prefix, "at")
        names: dict[str, str | ast.expr] = {"items": items, "given": array, "asarray": constant(np.asarray),
                 "ndindex": constant(np.ndindex), "in_memory_order": constant(in_memory_order)}  # fmt: skip
        start = template(_MADE, names, node)
        node.target = located(ast.Name(at, ast.Store()), node.target)
        shape = "ndindex(items.shape)" if words["order"] == {"C"} else "in_memory_order(items)"
        node.iter = expression(shape, names, node.iter)
        self.generic_visit(node)
        self.prefix, self.name, self.elements, self.writes = outer
        return [*(start[:1] if "zerosize_ok" in words["flags"] else start), node]

    def _read(self, call: ast.Call) -> tuple[ast.expr, dict[str, set[object]]]:
        """The array that is iterated over, and the words of the other arguments."""
        words: dict[str, set[object]] = {"flags": set(), "op_flags": set(), "order": {"K"}}
        given = [*zip(words, call.args[1:], strict=False), *((k.arg or "", k.value) for k in call.keywords)]
        for name, value in given:
            parts = [*ast.walk(value)]
            is_literal = all(isinstance(n, ast.Constant | ast.List | ast.Tuple | ast.Load) for n in parts)
            if name not in words or not is_literal:
                self._refuse(call, "np.nditer with such arguments")
            words[name] = {n.value for n in parts if isinstance(n, ast.Constant)}
        several = not call.args or isinstance(call.args[0], ast.List | ast.Tuple)
        if several or not (words["flags"] <= _FLAGS and words["order"] <= {"C", "K"}):
            self._refuse(call, "np.nditer of several arrays, or with such flags,")
        return self.visit(call.args[0]), words

    def _is_element(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name | ast.Subscript) and ast.unparse(node) in self.elements

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        is_whole = ast.unparse(node.slice) in ("...", "()") and self._is_element(node.value)
        return self._item(node) if is_whole or self._is_element(node) else self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """`x += 1` and `x[...] += 1` change an array without axes, which takes no result of another kind."""
        target = node.target.value if isinstance(node.target, ast.Subscript) else node.target
        if not self._is_element(node.target) and not self._is_element(target):
            return self.generic_visit(node)
        item = self._item(ast.copy_location(ast.Name("", ast.Store()), node.target))
        index = [ast.Starred(item.slice, ast.Load()), ast.Constant(...)]
        item.slice = located(ast.Tuple(index, ast.Load()), node)
        node.target, node.value = item, self.visit(node.value)
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in self.names:
            self._refuse(node, "np.nditer apart from a loop that follows at once")
        if isinstance(node.ctx, ast.Store) and self._is_element(node):
            self._refuse(node, "a loop over np.nditer that assigns its variable")
        return self._item(node) if self._is_element(node) else node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if self.name and ast.unparse(node) == f"{self.name}.multi_index":
            return located(read(part_of(self.prefix, "at")), node)
        return self.generic_visit(node)

    def _item(self, node: Any) -> ast.Subscript:
        if isinstance(node.ctx, ast.Store) and not self.writes:
            self._refuse(node, "an assignment to an element of an np.nditer without 'readwrite'")
        items, at = (read(part_of(self.prefix, part)) for part in ("items", "at"))
        return located(ast.Subscript(items, at, node.ctx), node)

    def visit_Return(self, node: ast.Return) -> Any:
        for part in ast.walk(node):
            if isinstance(part, ast.Return | ast.Tuple):
                self._refuse_kept("returned", *ast.iter_child_nodes(part))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("append", "add", "insert"):
            self._refuse_kept("kept", *node.args)
        if _is_iterator(node, self.value_of):
            self._refuse(node, "np.nditer apart from a loop over it")
        return self.generic_visit(node)

    def _refuse_kept(self, how: str, *values: ast.AST) -> None:
        for value in filter(self._is_element, values):
            self._refuse(value, f"an element that is {how}")

    def _refuse(self, node: ast.AST, what: str) -> None:
        raise UnsupportedError(
            f"{what} is not compiled", self.source.loc(node),
            "iterate over one array's elements, and read them with x.item(), or loop over np.ndindex(a.shape)",
        )  # fmt: skip
