"""Plain Python with the iterations of chosen loops in another order: what a parallel loop may do."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from tests.e2e.harness import TIGHT, Mismatch, Outcome, Tolerance, compare

Order: TypeAlias = Callable[[range], list[int]]
Function: TypeAlias = Callable[..., Any]


def orders() -> Iterator[Order]:
    """Reverse, and a few random ones."""
    yield lambda r: list(r)[::-1]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        yield lambda r, rng=rng: [int(i) for i in rng.permutation(list(r))]


class _Reordered(ast.NodeTransformer):
    """Passes the ranges of chosen loops, by their number in the text, through `in_order`."""

    def __init__(self, chosen: set[int]) -> None:
        self.chosen = chosen
        self.number = -1

    def visit_For(self, node: ast.For) -> ast.For:
        self.number += 1
        if self.number in self.chosen:
            name = ast.Name("in_order", ast.Load())
            node.iter = ast.Call(name, [node.iter, ast.Constant(self.number)], [])
        self.generic_visit(node)
        return node


def reordered(
    text: str,
    name: str,
    chosen: set[int],
    order: Order,
    keep_last: set[int],
    blocks: dict[int, int] | None = None,
) -> Function:
    """The function of this text with some loops run in another order; `keep_last`: but for the
    last iteration, whose values are read after the loop. blocks: loops where only so many
    iterations in a row may change places."""

    def in_order(r: range, number: int) -> list[int]:
        if size := (blocks or {}).get(number):
            return [i for start in range(0, len(r), size) for i in order(r[start : start + size])]
        if number in keep_last and len(r):
            return [*order(r[:-1]), r[-1]]
        return order(r)

    tree = ast.fix_missing_locations(_Reordered(chosen).visit(ast.parse(text)))
    scope: dict[str, Any] = {"np": np, "in_order": in_order}
    exec(compile(tree, f"<reordered {name}>", "exec"), scope)
    return scope[name]  # type: ignore[no-any-return]


def same(expected: Outcome, found: Outcome, tolerance: Tolerance = TIGHT) -> bool:
    try:
        compare(expected, found, "reordered", tolerance=tolerance)
    except Mismatch:
        return False
    return True
