"""Which statements compute with whole arrays, as far as the text and the arguments' types tell.

What is wrong here costs time only: a statement that is taken for one without arrays runs in
NumPy, and one that has none becomes compiled arithmetic on numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FunctionType, ModuleType

from appyc.frontend.access import closure_of
from appyc.frontend.library.host_calls import LIBRARIES
from appyc.frontend.syntax.liveness import names_assigned

_NOT_THE_ARRAY = ("shape", "size", "ndim", "dtype", "itemsize", "nbytes", "strides", "flags")
"""Attributes of an array that are none."""


class ArrayNames:
    """The names of a function that may stand for arrays, from those of its parameters that do."""

    def __init__(self, fn: FunctionType, body: list[ast.stmt], given: frozenset[str]) -> None:
        self.outer = {**fn.__globals__, **closure_of(fn)}
        self.local = given | names_assigned(body)
        self.names = set(given)
        assigned = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Assign | ast.AnnAssign)]
        while True:
            before = len(self.names)
            for stmt in assigned:
                targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
                if stmt.value is not None and (self._uses(stmt.value) or self._calls_library(stmt.value)):
                    self.names |= names_assigned(targets)
            if len(self.names) == before:
                return

    def computes(self, stmt: ast.stmt) -> bool:
        """Whether the statement does something with whole arrays."""
        return any(self._operates(n) for n in ast.walk(stmt))

    def _operates(self, node: ast.AST) -> bool:
        match node:
            case ast.BinOp() | ast.UnaryOp() | ast.Compare():
                return self._uses(node)
            case ast.AugAssign(target=target, value=value):
                return self._uses(value) or (isinstance(target, ast.Name) and target.id in self.names)
            case ast.Subscript(value=owner, slice=index, ctx=ast.Store()):
                return self._uses(owner) and any(isinstance(n, ast.Slice) for n in ast.walk(index))
            case ast.Call():
                return (self._uses(node) and self._is_compiled(node.func)) or self._calls_library(node)
            case _:
                return False

    def _is_compiled(self, func: ast.expr) -> bool:
        """Whether a callee is a method of an array, a library's function, or a function in Python."""
        if isinstance(func, ast.Name):
            return isinstance(self.outer.get(func.id), FunctionType)
        return isinstance(func, ast.Attribute) and (self._uses(func.value) or self._calls_library(func))

    def _calls_library(self, node: ast.AST) -> bool:
        return any(
            isinstance(n, ast.Name) and n.id not in self.local and self._is_library(n.id)
            for call in ast.walk(node)
            if isinstance(call, ast.Call)
            for n in ast.walk(call.func)
        )

    def _is_library(self, name: str) -> bool:
        module = self.outer.get(name)
        return isinstance(module, ModuleType) and module.__name__.partition(".")[0] in LIBRARIES

    def _uses(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id in self.names for n in _values(node))


def _values(node: ast.AST) -> Iterator[ast.AST]:
    """The AST nodes of an expression, without those inside parts whose value is no array."""
    yield node
    match node:
        case ast.Attribute(attr=name) if name in _NOT_THE_ARRAY:
            return
        case ast.Call(func=ast.Name(id="len" | "float" | "int" | "bool" | "range" | "isinstance" | "print")):
            return
        case ast.Subscript(value=owner):
            yield from _values(owner)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _values(child)
