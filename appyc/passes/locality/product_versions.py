"""The version of a nest in which each matrix product is a marked nest of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from appyc.analysis.patterns.matrix_products import product_of
from appyc.analysis.patterns.product_sums import ProductSum, memory_of_result
from appyc.analysis.patterns.product_terms import is_fixed
from appyc.ir import nodes as ir
from appyc.ir.blocks import nested
from appyc.ir.machine_model import ENOUGH_APART, ENOUGH_FOR_ALL, FEWEST
from appyc.ir.names import NameSupply
from appyc.ir.product_call import widest
from appyc.ir.schedule import Operand
from appyc.ir.types import ArrayType, Layout
from appyc.ir.visit import loops_of
from appyc.passes.node_builders import at_least, conjunction, numbers_of, product_of_all, trip_count, zero
from appyc.passes.pass_context import PassContext

Index: TypeAlias = tuple[ir.Expr, ...]


def from_memory(update: ir.Update, memory: Operand) -> ir.Update:
    """The update by a sum, as one by what is in memory."""
    return replace(update, value=ir.Load(memory.array, memory.index, checked=False, loc=memory.loc))


@dataclass(frozen=True, slots=True)
class ProductVersions:
    """Makes them."""

    names: NameSupply
    ctx: PassContext

    def of_sums(
        self,
        nest: tuple[ir.For, ir.For],
        axes: tuple[ir.For, ir.For],
        sums: Sequence[ProductSum],
        large: ir.Expr,
    ) -> ir.If:
        """The nest as it was for small products, and with the sums in memory for large ones. axes: its loops as those
        over rows and columns of the matrices."""
        apart: list[ir.Stmt] = []
        replaced: dict[int, tuple[ir.Stmt, ...]] = {}
        taken: set[ir.Symbol] = set()
        for found in sums:
            memory = memory_of_result(found, nest)
            if memory is None or memory.array in taken:
                shape = tuple(trip_count(loop.lo, loop.hi, loop.step) for loop in axes)
                memory = self.memory(found, numbers_of(axes), shape, apart)
            taken.add(memory.array)
            apart += self.computed(*axes, found, memory)
            replaced[found.at] = (*replaced.get(found.at, ()), from_memory(found.update, memory))
        body = tuple(s for at, stmt in enumerate(nest[1].body) for s in replaced.get(at, (stmt,)))
        return ir.If(large, (*apart, self.copy(nested(nest, body))), (nest[0],), loc=nest[0].loc)

    def memory(
        self, found: ProductSum, index: Index, shape: Index, out: list[ir.Stmt], name: str = ""
    ) -> Operand:
        """A matrix for a sum, which is allocated in `out`, in terms of the loops that walk through it."""
        loc = found.loop.loc
        array = self.names.fresh(name or found.total.name, ArrayType(found.total.dtype, 2, Layout.C))
        out.append(ir.Alloc(array, shape, zero=False, loc=loc))
        return Operand(array, index, loc=loc)

    def computed(
        self, rows: ir.For, columns: ir.For, found: ProductSum, memory: Operand
    ) -> Iterator[ir.Stmt]:
        """The nests that compute a sum: one for each term."""
        loc, dtype = found.loop.loc, found.update.value.dtype
        array, index = memory.array, memory.index
        for number, term in enumerate(found.terms):
            total = self.names.fresh(found.total.name, dtype)
            start = ir.Load(array, index, checked=False, loc=loc) if number else zero(dtype, loc)
            inner: tuple[ir.Stmt, ...] = (
                ir.Assign(total, start, loc=loc),
                replace(
                    found.loop, clauses=None, body=(ir.Update(total, (), "+", term.value(loc), loc=loc),)
                ),
                ir.Store(array, index, ir.Var(total, loc=loc), checked=False, loc=loc),
            )
            nest = self.copy(nested([replace(loop, clauses=None) for loop in (rows, columns)], inner))
            product = product_of(nest, of_sums=True)
            assert product is not None, "what was found as a term is one on its own"
            yield replace(nest, product=product)

    def of_pieces(self, loop: ir.For, pieces: list[tuple[ir.Stmt, ...]]) -> ir.If:
        """The loop as it was for small products, and one for each piece for large ones."""
        apart: list[ir.Stmt] = []
        tests: list[ir.Expr] = []
        for piece in pieces:
            nest = replace(loop, body=piece)
            product = product_of(nest)
            if product is not None:
                tests.append(is_large(widest(product, nest)))
            part = self.copy(nest)
            apart.append(replace(part, product=product_of(part)))
        return ir.If(conjunction(tests), tuple(apart), (loop,), loc=loop.loc)

    def of_stack(self, loop: ir.For, marked: ir.For) -> ir.Stmt:
        """The loop as it was, for threads to share, and marked for products that keep all threads busy.

        marked: the loop with its products marked, which may be none.
        """
        nests = [n for n in loops_of(marked.body) if n.product is not None]
        sides: list[ir.For] = []
        for nest in nests:
            assert nest.product is not None
            sides += widest(nest.product, nest)
        if not nests or not is_fixed([e for n in sides for e in n.bounds], loops_of(marked)):
            return loop
        tests = [is_large(sides[at : at + 3], ENOUGH_FOR_ALL) for at in range(0, len(sides), 3)]
        return ir.If(conjunction(tests), (self.copy(marked),), (loop,), loc=loop.loc)

    def copy(self, loop: ir.For) -> ir.For:
        """The nest with loop variables of its own."""
        return self.ctx.copied(loop, self.names)


def is_large(nest: Sequence[ir.For], least: int = ENOUGH_APART) -> ir.Expr:
    """Whether a product is worth a call: no side too short, and multiplications enough."""
    sides = [trip_count(loop.lo, loop.hi, loop.step) for loop in nest]
    return conjunction([*(at_least(side, FEWEST) for side in sides), at_least(product_of_all(sides), least)])
