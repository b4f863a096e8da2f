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
from collections.abc import Sequence
from typing import TypeAlias

from appyc.frontend.desugar.building import assigned, located, negated, read

Comprehension: TypeAlias = ast.ListComp | ast.GeneratorExp


def items_of(over: ast.expr, name: str) -> ast.ListComp:
    """`[name for name in over]`."""
    run = ast.comprehension(ast.Name(name, ast.Store()), over, [], 0)
    return located(ast.ListComp(read(name), [run]), over)


def appended(node: Comprehension, name: str) -> list[ast.stmt]:
    """The items in a list of this name."""
    append = ast.Call(ast.Attribute(read(name), "append", ast.Load()), [node.elt], [])
    return _behind(node, assigned(name, ast.List([], ast.Load())), [ast.Expr(append)])


def summed(node: Comprehension, name: str, start: ast.expr) -> list[ast.stmt]:
    """The sum of the items, from `start` on, in this name."""
    total = ast.BinOp(read(name), ast.Add(), node.elt)
    return _behind(node, assigned(name, start), [assigned(name, total)])


def searched(node: Comprehension, name: str, is_any: bool) -> list[ast.stmt]:
    """Whether any, or all, of the items are true, in this name."""
    test, decided = (node.elt, read(name)) if is_any else (negated(node.elt), negated(read(name)))
    found = ast.If(test, [assigned(name, is_any), ast.Break()], [])
    return _behind(node, assigned(name, not is_any), [found], [ast.If(decided, [ast.Break()], [])])


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


def _behind(
    node: Comprehension, start: ast.stmt, body: list[ast.stmt], leave: Sequence[ast.stmt] = ()
) -> list[ast.stmt]:
    """The first statement, and the loops of the comprehension around `body`."""
    return [located(stmt, node) for stmt in (start, *nest(node.generators, body, leave))]
