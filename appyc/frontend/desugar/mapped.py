"""`map` and `filter` of the program's own calls, as the generators that they are.

    sum(map(abs, x))                ->   sum(abs(item) for item in x)
    list(map(f, a, b))              ->   [f(item, item_2) for item, item_2 in zip(a, b)]
    max(filter(is_prime, x))        ->   max(item for item in x if is_prime(item))
    for p in map(f, x):             ->   for item in x:
        total += p                           p = f(item)
                                             total += p

Does not handle: functions that are no name, attribute or lambda, which would be evaluated once for each item.
"""

from __future__ import annotations

import ast
from typing import Any

from appyc.frontend.desugar.building import FreshNames, expression, template
from appyc.frontend.desugar.rewriting import ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.tree import walk


def without_maps(source: Source, value_of: ValueOf) -> Source:
    """The function, with its calls of `map` and `filter` replaced."""
    if not any(_mapper(node, value_of) for node in walk(source.ast)):
        return source
    return rewritten(source, lambda copied: _Maps(value_of, FreshNames(copied)))


def _mapper(node: ast.AST, value_of: ValueOf) -> object:
    """`map` or `filter` where an expression is a call of it that can be replaced; None for others."""
    match node:
        case ast.Call(func=ast.Name() as func, args=[function, _, *others], keywords=[]) if not any(
            isinstance(arg, ast.Starred) for arg in node.args
        ):
            callee = value_of(func)
            is_known = isinstance(function, ast.Name | ast.Attribute | ast.Lambda)
            is_none = isinstance(function, ast.Constant) and not others
            return (
                callee if (callee is map and is_known) or (callee is filter and is_known | is_none) else None
            )
        case _:
            return None


class _Maps(ast.NodeTransformer):
    def __init__(self, value_of: ValueOf, unused: FreshNames) -> None:
        self.value_of, self.unused = value_of, unused

    def visit_For(self, node: ast.For) -> Any:
        match node.iter:
            case ast.Call(args=[function, *sources]) if _mapper(node.iter, self.value_of) is map:
                items, over, names = self._items(sources)
                names |= {"f": function, "target": node.target}
                node.body[:0] = template(f"target = f({items})", names, node.iter)
                node.target = expression(f"({items})", names, node.iter)
                node.iter = expression(over, names, node.iter)
                for name in ast.walk(node.target):
                    if isinstance(name, ast.Name | ast.Tuple):
                        name.ctx = ast.Store()
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        mapper = _mapper(node, self.value_of)
        match node.args:
            case [function, *sources] if mapper is not None:
                items, over, names = self._items(sources)
                holds = items if isinstance(function, ast.Constant) else f"f({items})"
                one, test = (holds, "") if mapper is map else (items, f" if {holds}")
                text = f"({one} for {items} in {over}{test})"
                return expression(text, {**names, "f": function}, node)
            case [ast.GeneratorExp(elt=elt, generators=generators)] if self.value_of(node.func) is list:
                return ast.copy_location(ast.ListComp(elt, generators), node)
        return node

    def _items(self, sources: list[ast.expr]) -> tuple[str, str, dict[str, Any]]:
        """The items of what is mapped and what is run over, as text, and what its names stand for."""
        items = {f"item{k}": self.unused("item") for k in range(len(sources))}
        over = {f"source{k}": source for k, source in enumerate(sources)}
        text = f"zip({', '.join(over)})" if len(over) > 1 else "source0"
        return ", ".join(items), text, {**items, **over}
