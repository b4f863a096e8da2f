"""`map` and `filter` of the program's own calls, as the generators that they are; calls that make dicts and sets.

    sum(map(abs, x))                ->   sum(abs(item) for item in x)
    list(map(f, a, b))              ->   [f(item, item_2) for item, item_2 in zip(a, b)]
    max(filter(is_prime, x))        ->   max(item for item in x if is_prime(item))
    for p in map(f, x):             ->   for item in x:
        total += p                           p = f(item)
                                             total += p

    dict(zip(keys, values))         ->   {k: v for k, v in zip(keys, values)}
    dict.fromkeys(keys, 0)          ->   {k: 0 for k in keys}
    set(x % 7 for x in a)           ->   {x % 7 for x in a}

Does not handle: functions that are no name, attribute or lambda, which would be evaluated once for each item; in
`fromkeys` values other than numbers, which all keys would share.

Loops over `zip(..., strict=True)`, as those without it and a test behind them.

    for x, y in zip(a, b, strict=True):       for x, y in zip(a, b):
        s += x * y                                s += x * y
                                       ->     else:
                                                  refuse_unequal((len(a), len(b)))

Requires: arguments that can be measured again: names, attributes, slices. Does not handle: comprehensions.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Container
from functools import cache
from typing import Any, TypeAlias

from appyc.frontend.desugar.building import constant, expression, template
from appyc.frontend.desugar.rewriting import Rule, ValueOf, new_lists, rewritten
from appyc.frontend.source import Source
from appyc.library.zipping import refuse_unequal

Lists: TypeAlias = Callable[[], Container[str]]
"""A function that returns the names of lists. It is called only where they are needed."""


def without_maps(source: Source, value_of: ValueOf) -> Source:
    """The function, with its calls of `map` and `filter`, and those that make dicts of pairs, replaced."""
    lists = cache(lambda: new_lists(source.ast))
    return rewritten(
        source,
        lambda copied: _Maps(copied, value_of, lists),
        lambda node: (
            _mapper(node, value_of) or _dict_of_pairs(node, value_of, lists) or _is_set(node, value_of)
        ),
    )


def _is_set(node: ast.AST, value_of: ValueOf) -> bool:
    """`set(x for ...)`, a set comprehension"""
    match node:
        case ast.Call(func=ast.Name() as func, args=[ast.GeneratorExp()], keywords=[]):
            return value_of(func) is set
        case _:
            return False


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


def _dict_of_pairs(node: ast.AST, value_of: ValueOf, lists: Lists) -> str:
    """The dict comprehension, as a template, that such a call is; "" for others."""
    match node:
        case ast.Call(func=ast.Name() as func, args=[pairs], keywords=[]) if value_of(func) is dict:
            match pairs:
                case ast.Call(func=ast.Name() as maker):
                    is_sequence = any(value_of(maker) is f for f in (zip, enumerate, sorted, list))
                case ast.Call(func=ast.Attribute(attr="items" | "most_common"), keywords=[]):
                    is_sequence = True
                case ast.Name(id=name):
                    is_sequence = name in lists()
                case ast.GeneratorExp(elt=elt) | ast.ListComp(elt=elt):
                    is_sequence = isinstance(elt, ast.Tuple) and len(elt.elts) == 2
                case _:
                    is_sequence = isinstance(pairs, ast.List)
            return "{k: v for k, v in items}" * is_sequence
        case ast.Call(
            func=ast.Attribute(value=ast.Name() as func, attr="fromkeys"), args=[_, value], keywords=[]
        ) if value_of(func) is dict:
            return "{k: v for k in items}" * isinstance(value, ast.Constant | ast.UnaryOp)
        case _:
            return ""


class _Maps(Rule):
    def __init__(self, function: ast.FunctionDef, value_of: ValueOf, lists: Lists) -> None:
        super().__init__(function, value_of)
        self.lists = lists

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
            case [ast.GeneratorExp(elt=elt, generators=generators)] if self.value_of(node.func) in (
                list,
                set,
            ):
                made = ast.ListComp if self.value_of(node.func) is list else ast.SetComp
                return ast.copy_location(made(elt, generators), node)
            case [
                ast.GeneratorExp(elt=ast.Tuple(elts=[k, v])) | ast.ListComp(elt=ast.Tuple(elts=[k, v])) as of
            ] if _dict_of_pairs(node, self.value_of, self.lists):
                return ast.copy_location(ast.DictComp(k, v, of.generators), node)
            case [items, *value] if text := _dict_of_pairs(node, self.value_of, self.lists):
                given = value[0] if value else self.unused("v")
                return expression(text, {"k": self.unused("k"), "v": given, "items": items}, node)
        return node

    def _items(self, sources: list[ast.expr]) -> tuple[str, str, dict[str, Any]]:
        """The items of what is mapped and what is run over, as text, and what its names stand for."""
        items = {f"item{k}": self.unused("item") for k in range(len(sources))}
        over = {f"source{k}": source for k, source in enumerate(sources)}
        text = f"zip({', '.join(over)})" if len(over) > 1 else "source0"
        return ", ".join(items), text, {**items, **over}


# ---------------------------------------------------------------- zip(..., strict=True)

_MEASURED = (ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant, ast.UnaryOp, ast.USub, ast.Load)


def without_strict_zips(source: Source, value_of: ValueOf) -> Source:
    """The function, with its loops over `zip(..., strict=True)` replaced; `strict=False` is the default."""
    return rewritten(
        source,
        lambda copied: _StrictZips(copied, value_of),
        lambda node: isinstance(node, ast.Call) and node.keywords and value_of(node.func) is zip,
    )


class _StrictZips(Rule):
    def visit_Call(self, node: ast.Call) -> Any:
        match node:
            case ast.Call(keywords=[ast.keyword(arg="strict", value=ast.Constant(False))]) if (
                self.value_of(node.func) is zip
            ):
                node.keywords = []
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        call = node.iter
        if isinstance(call, ast.Call) and call.args and self.value_of(call.func) is enumerate:
            call = call.args[0]
        match call:
            case ast.Call(keywords=[ast.keyword(arg="strict", value=ast.Constant(True))]) if self.value_of(
                call.func
            ) is zip and all(isinstance(part, _MEASURED) for arg in call.args for part in ast.walk(arg)):
                call.keywords = []
                lengths = [expression("len(it)", {"it": copy.deepcopy(arg)}, call) for arg in call.args]
                names = {"test": constant(refuse_unequal), "lengths": ast.Tuple(lengths, ast.Load())}
                node.orelse = [*template("test(lengths)", names, call), *node.orelse]
        return node
