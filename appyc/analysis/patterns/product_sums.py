"""Matrix products within larger nests, for loop distribution: sums that may be computed before the rest of a nest,
and statements of a loop that may be distributed over loops of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.statement_graph import statement_graph
from appyc.analysis.patterns.matrix_products import added_up, product_of
from appyc.analysis.patterns.product_terms import Term, is_fixed, is_one_place_each, terms_of
from appyc.ir.array_accesses import touches
from appyc.ir.blocks import perfect_nest
from appyc.ir.nodes import Alloc, Assign, Break, Continue, For, Stmt, Store, Symbol, Update, Var, While
from appyc.ir.raising import may_raise
from appyc.ir.schedule import Operand
from appyc.ir.visit import arrays_written, contains, scalars_read, scalars_written, walk


@dataclass(frozen=True, slots=True)
class ProductSum:
    """The sum `total += ...` of a loop, which is statement `at` in the body of two nested loops.

    loop: with this update alone; the loop itself may have others.
    """

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
    if not is_fixed([bound for loop in nest for bound in loop.bounds], nest):
        return []
    written = arrays_written(rows.body)
    out: list[ProductSum] = []
    for at in range(len(columns.body)):
        found = sums_at(columns, at, nest)
        if not any({t.left.array, t.right.array} & written for one in found for t in one.terms) and all(
            is_fixed((one.loop.lo, one.loop.hi), (*nest, one.loop)) for one in found
        ):
            out += found
    return out


def is_still(loop: For) -> bool:
    """Whether nothing in a nest raises, ends before its time or makes memory, and its two outer loops count by one."""
    if may_raise(loop) or contains(loop, While | Alloc | Break | Continue):
        return False
    return all(n.step == 1 for n in perfect_nest(loop)[:2])


def sums_at(columns: For, at: int, nest: tuple[For, For]) -> tuple[ProductSum, ...]:
    """The sums of products of statement `at` in the columns' body; empty where it is anything but a loop of
    these."""
    loop = columns.body[at]
    updates = added_up(loop) if isinstance(loop, For) else ()
    if not isinstance(loop, For) or any(u.target.is_array for u in updates) or are_seen(loop, nest[0]):
        return ()
    found = []
    for update in updates:
        terms = terms_of(update.value, nest, loop)
        if terms is None:
            return ()
        found.append(ProductSum(at, replace(loop, body=(update,)), update, tuple(terms)))
    return tuple(found)


def are_seen(loop: For, nest: For) -> bool:
    """Whether anything in a nest reads what a loop in it computes beside its sum."""
    own = scalars_written(stmt for stmt in loop.body if isinstance(stmt, Assign))
    inside = {id(n) for n in walk(loop)}
    return any(isinstance(n, Var) and n.symbol in own and id(n) not in inside for n in walk(nest))


def memory_of_result(found: ProductSum, nest: tuple[For, For]) -> Operand | None:
    """The elements in which an iteration of the nest leaves its result, if they can hold the sum before that."""
    for at, stmt in enumerate(nest[1].body):
        if not isinstance(stmt, Store) or at < found.at or stmt.mask is not None:
            continue
        touched = [n for n in walk(nest[0].body) if touches(n, stmt.array)]
        is_own = len(touched) == 1 and stmt.array.dtype is found.total.dtype
        if is_own and is_one_place_each(stmt.index, nest, nest):
            return Operand(stmt.array, stmt.index, loc=stmt.loc)
    return None


def pieces_of(loop: For, legality: Legality) -> list[tuple[Stmt, ...]]:
    """A loop's statements, each product by itself; empty where all iterations of one cannot be done before the
    next one is."""
    if len(loop.body) < 2 or may_raise(loop) or not is_fixed(loop.bounds, (loop,)):
        return []
    alone = [product_of(replace(loop, body=(stmt,))) is not None for stmt in loop.body]
    own = [scalars_written(stmt) for stmt in loop.body]
    for at, is_product in enumerate(alone):
        others = [stmt for number, stmt in enumerate(loop.body) if number != at]
        if is_product and own[at] & scalars_read(others):
            return []
    if not any(alone) or contains(loop, While | Alloc | Break | Continue):
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
