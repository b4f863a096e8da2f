"""Calls that take all that a generator of the program yields, as loops over it in front of their statement.

    return sum(pairs(n)) / n     ->      total = 0
                                         for item in pairs(n):
                                             total = total + item
                                         return total / n

`any` and `all` leave the loop at the item that decides. `max`, `min`, `sorted` and `set` get a list of the items, as
`list` and comprehensions do whose first loop is over a generator.
`generator_loops` replaces the loops. Sorting is made of the same parts:

    for u in sorted(d, key=d.get)   ->   total = list(d); ranks = [d[one] for one in total]
                                         arrange(total, ranks, False)
                                         for u in total

    median = sorted(window)[n // 2]  ->  total = sorted(window)
                                         median = total[n // 2]

Does not handle: generators that change elements.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from appyc.frontend.desugar.building import constant, located, read, template
from appyc.frontend.desugar.comprehension_loops import (
    ALL,
    ANY,
    LIST,
    SUM,
    Comprehension,
    Folding,
    folded,
    items_of,
    with_own_names,
)
from appyc.frontend.desugar.generator_loops import Finder, changes_elements
from appyc.frontend.desugar.hoisting import Hoisting
from appyc.frontend.desugar.rewriting import ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.tree import may_be_container
from appyc.library.sorting import arrange

_FOLDINGS = {sum: SUM, any: ANY, all: ALL, list: LIST}
_OF_LISTS = (max, min, sorted, set)
"""What gets a list of the items, and takes keywords."""
_TAKERS = (*_FOLDINGS, *_OF_LISTS)
_LOOKERS = (sum, max, min, sorted, len, any, all)
_ARRANGE = "ranks = [rank for one in total]; arrange(total, ranks, backwards)"
_SORTED = f"total = list(source); {_ARRANGE}"
_IN_ORDER = "total = sorted(source)\nif backwards: total.reverse()"
_TEXTS = {"arrange": constant(arrange)}


def without_generator_calls(source: Source, value_of: ValueOf) -> Source:
    """The function, with these calls replaced."""
    finder = Finder(source.ast, value_of)

    def is_one(node: ast.AST) -> bool:
        return isinstance(node, ast.Call | ast.ListComp) and (
            _taken(node, finder) or _order_of(node, value_of) is not None or _takes_new(node, finder)
        )

    return rewritten(source, lambda copied: _Calls(copied, finder), is_one)


def _takes_new(node: ast.AST, finder: Finder) -> bool:
    """Whether a call looks at a dict or set that has no name yet: `len(set(a))`."""
    match node:
        case ast.Call(func=ast.Name() as func, args=[ast.Call(args=[_], keywords=[]) as made]):
            return may_be_container(made) and finder.value_of(func) in _LOOKERS
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _Order:
    """The order that a call sorts in. items: the expression sorted, or the name of the list. key: None for
    the items themselves."""

    items: ast.expr
    key: ast.expr | None
    backwards: ast.expr


def _order_of(node: ast.AST, value_of: ValueOf) -> _Order | None:
    """The order that a call of `sorted` or of a list's `sort` asks for; None for others, and for the usual order of a
    list."""
    match node:
        case ast.Call(func=ast.Name() as func, args=[items]) if value_of(func) is sorted:
            pass
        case ast.Call(func=ast.Attribute(value=ast.Name() as items, attr="sort"), args=[], keywords=[_, *_]):
            pass
        case _:
            return None
    given = {word.arg: word.value for word in node.keywords}
    by, backwards = given.get("key"), given.get("reverse", ast.Constant(False))
    if given.keys() - {"key", "reverse"} or (by is None and isinstance(node.func, ast.Attribute)):
        return None
    return _Order(items, None if isinstance(by, ast.Constant) else by, backwards)


def _rank(key: ast.expr, items: ast.expr, value_of: ValueOf, one: str) -> tuple[ast.expr, str]:
    """The key of an item, and the item's name in it."""
    match key:
        case ast.Lambda(args=ast.arguments(args=[ast.arg(arg=name)], defaults=[]), body=body) if (
            parameter_names(key) == {name}
        ):
            return body, name
        case ast.Call(func=func, args=[ast.Constant() as at], keywords=[]) if value_of(func) is itemgetter:
            return ast.Subscript(read(one), at, ast.Load()), one
        case ast.Attribute(value=owner, attr="get") if ast.unparse(owner) == ast.unparse(items):
            return ast.Subscript(owner, read(one), ast.Load()), one
        case _:
            return ast.Call(key, [read(one)], []), one


def _taken(node: ast.expr, finder: Finder) -> bool:
    """Whether a call, or the loop of a comprehension, takes all that a generator yields."""
    match node:
        case ast.Call(func=ast.Name() as func, args=[source, *others], keywords=words):
            taker = finder.value_of(func)
            few = not others or (taker is sum and len(others) == 1)
            if isinstance(source, ast.GeneratorExp):
                source = source.generators[0].iter
            return few and taker in (_OF_LISTS if words else _TAKERS) and _only_yields(source, finder)
        case ast.ListComp(generators=[first, *_]):
            return _only_yields(first.iter, finder)
        case _:
            return False


def _only_yields(node: ast.expr, finder: Finder) -> bool:
    """Whether an expression is a call of a generator that changes nothing."""
    generator = finder.found(node)
    return generator is not None and (generator.is_of_library or not changes_elements(generator.tree.body))


class _Calls(Hoisting):
    def __init__(self, function: ast.FunctionDef, finder: Finder) -> None:
        super().__init__(function, finder.value_of)
        self.finder = finder
        self.given = parameter_names(function)

    def visit_Assign(self, node: Any) -> list[ast.stmt]:
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Subscript()], value=ast.Call(keywords=[]) as call) if (
                _order_of(call, self.value_of) is not None and not _taken(call, self.finder)
            ):
                before: list[ast.stmt] = []
                self._name_new(call, before)
                return [*before, node]
        is_list = self._is_list(node.value)
        is_taken = is_list and _taken(node.value, self.finder)
        out = super().visit_Assign(node)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() as total) if is_taken or (
                is_list and name in self.given and len(out) > 1
            ):  # a new list, which gets a name of its own
                node.value = located(ast.Call(read("list"), [total], []), node)
        return out

    def _is_list(self, value: ast.expr | None) -> bool:
        """Whether an expression makes a list, by a comprehension or a call."""
        match value:
            case ast.Call(func=ast.Name() as func):
                return self.value_of(func) in (list, sorted)
            case _:
                return isinstance(value, ast.ListComp)

    def visit_Expr(self, node: ast.Expr) -> Any:
        order = _order_of(node.value, self.value_of)
        if order is None or order.key is None or not isinstance(order.items, ast.Name):
            return self.visit_Assign(node)
        return self._arranged(_ARRANGE, order, {"total": order.items.id}, node)

    def _arranged(self, text: str, order: _Order, names: Mapping[str, str], at: ast.AST) -> list[ast.stmt]:
        """The statements of a template that sorts."""
        given: dict[str, str | ast.expr] = {"source": order.items, "backwards": order.backwards}
        if order.key is not None:
            rank, one = _rank(order.key, order.items, self.value_of, self.unused("one"))
            given |= {"rank": rank, "one": one, "ranks": self.unused("ranks")}
        return template(text, {**_TEXTS, **names, **given}, at)

    def instead(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr | None:
        self._name_new(node, before)
        is_taken = _taken(node, self.finder)
        order = None if is_taken else _order_of(node, self.value_of)
        if order is not None:
            total = self.unused("total")
            text = _SORTED if order.key is not None else _IN_ORDER
            before += self._arranged(text, order, {"total": total}, node)
            return ast.copy_location(read(total), node)
        match node:
            case ast.Call(func=ast.Name() as func, args=[source, *start]) if is_taken:
                how = _FOLDINGS.get(self.value_of(func))
                items = source if isinstance(source, ast.GeneratorExp) else items_of(source, "item")
                first = start[0] if start else ast.Constant(0)
                result = self._folded(items, how or LIST, before, start=first)
                if how is not None:
                    return result
                node.args = [result]
                return self.instead(node, before) or self.named(node, before, func.id)
            case ast.ListComp() if is_taken:
                return self._folded(node, LIST, before)
            case _:
                return node if self.finder.found(node) is not None else None

    def _folded(
        self, node: Comprehension, how: Folding, before: list[ast.stmt], **given: ast.expr
    ) -> ast.expr:
        """The name of what the items are folded into."""
        total = self.unused("total")
        before += folded(with_own_names(node, self.unused), total, how, **given)
        return located(read(total), node)

    def _name_new(self, node: ast.expr, before: list[ast.stmt]) -> None:
        """Gives the dict or set that a call looks at a name."""
        if isinstance(node, ast.Call) and _takes_new(node, self.finder):
            made = self.hoisted(node.args[0], before)
            node.args[0] = made if isinstance(made, ast.Name) else self.named(made, before)
