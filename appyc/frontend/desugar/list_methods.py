"""Methods and operators of lists, by those that are compiled and by library text.

    del xs[i]                         xs.pop(i)
    xs.remove(v)              ->      xs.pop(index(xs, v))
    xs.sort(reverse=True)             xs.reverse(); xs.sort(); xs.reverse()
    xs.count(v), xs == ys             count(xs, v), equal(xs, ys)

Requires: the name is bound to new lists alone. The functions are those of `appyc.library.list_lookups`.

Does not handle: slices that are deleted; comparisons of lists of floats, whose NaNs may be one object; `index` with
bounds; the order of lists; lists that are parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Container
from typing import Any

from appyc.frontend.desugar.building import constant, template
from appyc.frontend.desugar.rewriting import Kind, ValueOf, bindings, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.new_containers import is_new_list
from appyc.frontend.syntax.tree import walk
from appyc.library.list_lookups import count, equal, index

_FUNCTIONS = {f.__name__: constant(f) for f in (count, equal, index)}


def without_list_methods(source: Source, value_of: ValueOf) -> Source:
    """The function, with these methods of its own lists replaced."""
    if not any(map(_may_be_one, walk(source.ast))):
        return source
    lists = bindings(source.ast, lambda value: Kind("list") if is_new_list(value) else None)
    return rewritten(source, lambda _: _Methods(lists)) if lists else source


def _may_be_one(node: ast.AST) -> bool:
    match node:
        case ast.Delete() | ast.Call(func=ast.Attribute(attr="remove" | "index" | "count")):
            return True
        case ast.Call(func=ast.Attribute(attr="sort"), keywords=[_]):
            return True
        case ast.Compare(left=ast.Name(), ops=[ast.Eq() | ast.NotEq()]):
            return True
        case _:
            return False


class _Methods(ast.NodeTransformer):
    def __init__(self, lists: Container[str]) -> None:
        self.lists = lists

    def _made(self, text: str, at: ast.AST, **given: ast.expr) -> list[ast.stmt]:
        return template(text, {**_FUNCTIONS, **given}, at)

    def _value(self, text: str, at: ast.AST, **given: ast.expr) -> ast.expr:
        (stmt,) = self._made(text, at, **given)
        assert isinstance(stmt, ast.Expr)
        return stmt.value

    def visit_Delete(self, node: ast.Delete) -> Any:
        match node.targets:
            case [ast.Subscript(value=ast.Name(id=name) as xs, slice=at)] if (
                name in self.lists and not isinstance(at, ast.Slice)
            ):
                return self._made("xs.pop(where)", node, xs=ast.Name(xs.id, ast.Load()), where=self.visit(at))
            case _:
                return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name) as xs, attr=method)) as call if (
                name in self.lists
            ):
                match method, call.args, call.keywords:
                    case "remove", [item], []:
                        return self._made("xs.pop(index(xs, item))", node, xs=xs, item=self.visit(item))
                    case "sort", [], [ast.keyword(arg="reverse", value=ast.Constant(value=turned))]:
                        text = "xs.reverse(); xs.sort(); xs.reverse()" if turned else "xs.sort()"
                        return self._made(text, node, xs=xs)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name) as xs, attr="index" | "count" as method),
                args=[item],
                keywords=[],
            ) if name in self.lists:
                return self._value(f"{method}(xs, item)", node, xs=xs, item=item)
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        match node:
            case ast.Compare(
                ast.Name(id=name) as xs, [ast.Eq() | ast.NotEq() as op], [ast.Name(id=other) as ys]
            ) if name in self.lists and other in self.lists:
                text = "equal(xs, ys)" if isinstance(op, ast.Eq) else "not equal(xs, ys)"
                return self._value(text, node, xs=xs, ys=ys)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node
