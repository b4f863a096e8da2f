"""Products of matrices in the middle of other work: sums that may be computed before the rest of a nest, and
statements of a loop that may be done one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.legality import Legality
from appyc.analysis.matrix_products import chain_of, product_of
from appyc.analysis.product_terms import Term, is_fixed, is_one_place_each, terms_of
from appyc.analysis.statement_graph import statement_graph
from appyc.ir.nodes import (
    Alloc,
    Break,
    Continue,
    For,
    Load,
    Node,
    Operand,
    Stmt,
    Store,
    Symbol,
    Update,
    While,
)
from appyc.ir.raising import may_raise
from appyc.ir.visit import arrays_written, walk


@dataclass(frozen=True, slots=True)
class ProductSum:
    """A loop, number `at` in the body of two around it, that adds up terms: `total += ...`."""

    at: int
    loop: For
    update: Update
    terms: tuple[Term, ...]

    @property
    def total(self) -> Symbol:
        return self.update.target


def sums_in(rows: For) -> list[ProductSum]:
    """The sums for each pair of row and column that may be computed before all else in the nest.

    What they read the nest does not write, and their bounds are the same in all of its iterations.
    """
    if len(rows.body) != 1 or not isinstance(columns := rows.body[0], For) or not is_still(rows):
        return []
    nest = (rows, columns)
    if not is_fixed([bound for loop in nest for bound in (loop.lo, loop.hi)], nest):
        return []
    written = arrays_written(rows.body)
    found = (sum_in(columns, at, nest) for at in range(len(columns.body)))
    return [
        one
        for one in found
        if one is not None
        and not any({t.left.array, t.right.array} & written for t in one.terms)
        and is_fixed((one.loop.lo, one.loop.hi), (*nest, one.loop))
    ]


def is_still(loop: For) -> bool:
    """Whether nothing in a nest raises, ends before its time or makes memory, and its two outer loops count by one."""
    if may_raise(loop) or any(isinstance(n, While | Alloc | Break | Continue) for n in walk(loop)):
        return False
    return all(n.step == 1 for n in chain_of(loop)[:2])


def sum_in(columns: For, at: int, nest: tuple[For, For]) -> ProductSum | None:
    """Statement `at` of the columns' body, if it is such a sum."""
    loop = columns.body[at]
    if not isinstance(loop, For) or len(loop.body) != 1 or not isinstance(update := loop.body[0], Update):
        return None
    if update.op != "+" or update.target.is_array or update.mask is not None or update.atomic:
        return None
    terms = terms_of(update.value, nest, loop)
    return None if terms is None else ProductSum(at, loop, update, tuple(terms))


def memory_of_result(found: ProductSum, nest: tuple[For, For]) -> Operand | None:
    """The elements in which an iteration of the nest leaves its result, if they can hold the sum before that."""
    for at, stmt in enumerate(nest[1].body):
        if not isinstance(stmt, Store) or at < found.at or stmt.mask is not None:
            continue
        touched = [n for n in walk(nest[0].body) if _array_of(n) == stmt.array]
        is_own = len(touched) == 1 and stmt.array.dtype is found.total.dtype
        if is_own and is_one_place_each(stmt.index, nest, nest):
            return Operand(stmt.array, stmt.index, loc=stmt.loc)
    return None


def _array_of(node: Node) -> Symbol | None:
    match node:
        case Load() | Store():
            return node.array
        case Update():
            return node.target
        case _:
            return None


def pieces_of(loop: For, legality: Legality) -> list[tuple[Stmt, ...]]:
    """A loop's statements, each product by itself; empty where all iterations of one cannot be done before the
    next one is."""
    if len(loop.body) < 2 or may_raise(loop) or not is_fixed((loop.lo, loop.hi), (loop,)):
        return []
    alone = [product_of(replace(loop, body=(stmt,))) is not None for stmt in loop.body]
    if not any(alone) or any(isinstance(n, While | Alloc | Break | Continue) for n in walk(loop)):
        return []
    graph = statement_graph(legality, loop)
    if graph is None or graph.copied or any(edge.source > edge.sink for edge in graph.carried):
        return []
    if any(source > sink for source, sink in graph.ordered):
        return []
    pieces: list[tuple[Stmt, ...]] = []
    for number, stmt in enumerate(loop.body):
        if pieces and not alone[number] and not alone[number - 1]:
            pieces[-1] += (stmt,)
        else:
            pieces.append((stmt,))
    return pieces
