"""Comprehensions and generators as loop nests.

    [f(x) for x in a if x > 2]          items = []
                              ->        for x in a:
                                            if x > 2:
                                                items.append(f(x))

    any(x > 2 for x in a)               found = False
                              ->        for x in a:
                                            if x > 2:
                                                found = True
                                                break

`any` and `all` short-circuit, as in Python: no item behind the deciding one is computed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from appyc.frontend.desugar.building import FreshNames, Names, located, read, renamed, template
from appyc.frontend.syntax.tree import walk

Comprehension: TypeAlias = ast.ListComp | ast.GeneratorExp
C = TypeVar("C", bound=ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp)


def with_own_names(node: C, unused: FreshNames, body: Sequence[ast.stmt] = ()) -> C:
    """A comprehension, changed in place, whose variables have names that the function does not use; also in `body`."""
    first, *_ = node.generators
    source, first.iter = first.iter, ast.Constant(None)  # which means the function's names
    parts = walk(*(generator.target for generator in node.generators))
    names = {part.id: unused(part.id) for part in parts if isinstance(part, ast.Name)}
    renamed([ast.Expr(node), *body], names)
    first.iter = source
    return node


def items_of(over: ast.expr, name: str) -> ast.ListComp:
    """`[name for name in over]`."""
    run = ast.comprehension(ast.Name(name, ast.Store()), over, [], 0)
    return located(ast.ListComp(read(name), [run]), over)


class Folding(NamedTuple):
    """A fold over a comprehension's items, as templates of statements: before the loops, for each item, and
    behind each inner loop."""

    before: str
    body: str
    leave: str = ""


LIST = Folding("it = []", "it.append(item)")
SUM = Folding("it = start", "it = it + item")
PRODUCT = Folding("it = start", "it = it * item")
ANY = Folding("it = False", "if item:\n    it = True\n    break", "if it: break")
ALL = Folding("it = True", "if not item:\n    it = False\n    break", "if not it: break")
JOINED = Folding("it = ''", "it += item")
JOINED_WITH = Folding(
    "it = ''; is_next = False", "if is_next:\n    it += between\nis_next = True\nit += item"
)
FIRST = Folding("", "it = item\nbreak")


def extreme_of(
    node: Comprehension,
    names: Mapping[str, str],
    is_max: bool,
    key: ast.expr | None,
    default: ast.expr | None,
) -> list[ast.stmt]:
    """The first of the largest, or smallest, items, as `max` and `min` take it. names: of "it", the result, and of
    "one", "rank" and "best": an item, its key, and the key of the result."""
    text = f"""
one = item
rank = {"one" if key is None else "key(one)"}
if best is None or rank {">" if is_max else "<"} best:
    it = one
    best = rank
"""
    name = "max" if is_max else "min"
    empty = f"raise ValueError('{name}() arg is an empty sequence')" if default is None else "it = default"
    given: dict[str, str | ast.expr] = {**names}
    given |= {word: value for word, value in {"key": key, "default": default}.items() if value is not None}
    loops = folded(node, names["it"], Folding("it = best = None", text), **given)
    return [*loops, *template(f"if it is None:\n    {empty}", given, node)]


def nest(
    generators: Sequence[ast.comprehension], body: list[ast.stmt], leave: Sequence[ast.stmt] = ()
) -> list[ast.stmt]:
    """The loops of a comprehension around `body`. leave: follows each inner loop."""
    behind: Sequence[ast.stmt] = ()
    for generator in reversed(generators):
        for condition in reversed(generator.ifs):
            body = [ast.If(condition, body, [])]
        body = [ast.For(generator.target, generator.iter, [*body, *behind], [])]
        behind = leave
    return body


def folded(node: Comprehension, name: str, how: Folding, **given: str | ast.expr) -> list[ast.stmt]:
    """The loops that fold the items of a comprehension into a variable `name`."""
    names: Names = {"it": name, "item": node.elt, **given}
    first, inner, behind = (template(text, names, node) for text in how)
    return [located(stmt, node) for stmt in (*first, *nest(node.generators, inner, behind))]
