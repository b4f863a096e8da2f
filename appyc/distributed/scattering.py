"""Arrays that a nest stores into at indices that are known only when it runs, and a nest that lists its stores instead.

    for i in range(n): out[p[i]] = a[i]

becomes

    for i in range(n):
        if count < values.shape[0]: where[count, 0] = p[i]; values[count] = a[i]
        count += 1

No iteration may read such an array. So all stores can be done behind the nest, in the order of the list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from appyc.analysis.algebra.amounts import number, product, total
from appyc.analysis.cost.costs import trips_of, with_middle
from appyc.distributed.chunk_grids import Grid
from appyc.ir import nodes as ir
from appyc.ir.array_accesses import AccessNode, array_of, is_access
from appyc.ir.blocks import blocks_of
from appyc.ir.names import NameSupply
from appyc.ir.printer import print_function
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import contains, rewrite_all, scalars_read, scalars_written, walk
from appyc.passes.node_builders import integer

NAME = "block"
"""The name of each function that is made of a nest."""


@dataclass(frozen=True, slots=True)
class StoreList:
    """The list that a block makes of its stores into an array. where: a row of indices for each, and, where there are
    several statements, the number of the statement. count: how many there are, be they more than the list has room for.
    apply: the text of a function of a chunk and of such a list, with indices in the chunk, which does the stores.
    locations: the source locations of the statements. most: how many stores there are where each statement does one in
    each iteration; None where that depends on data."""

    array: ir.Symbol
    where: ir.Symbol
    values: ir.Symbol
    count: ir.Symbol
    apply: str
    locations: tuple[str, ...]
    most: ir.Expr | None

    @property
    def columns(self) -> int:
        return self.array.array.ndim + (len(self.locations) > 1)

    def nbytes(self, columns: int) -> int:
        """Bytes of a store with so many indices."""
        return columns * DType.INT64.itemsize + self.values.dtype.itemsize


def accesses_by_array(
    node: ir.Node | Sequence[ir.Stmt], arrays: Collection[ir.Symbol]
) -> dict[ir.Symbol, list[AccessNode]]:
    """The accesses of each of some arrays."""
    out: dict[ir.Symbol, list[AccessNode]] = {}
    for found in walk(node):
        if is_access(found) and array_of(found) in arrays:
            out.setdefault(array_of(found), []).append(found)
    return out


def arrays_scattered(
    stmt: ir.Stmt, arrays: Mapping[ir.Symbol, Grid], reduced: Collection[ir.Symbol]
) -> dict[ir.Symbol, list[ir.Store | ir.Update]]:
    """The statements that store into arrays at indices that are elements of arrays, or scalars that the nest computes.
    All accesses of such an array in the nest are such statements, all with one operator, or none."""
    accesses = accesses_by_array(stmt, arrays.keys() - set(reduced))
    computed = scalars_written(stmt)
    out: dict[ir.Symbol, list[ir.Store | ir.Update]] = {}
    for array, nodes in accesses.items():
        stores = [n for n in nodes if isinstance(n, ir.Store | ir.Update) and n.mask is None]
        kinds = {(n.op, n.value.dtype) if isinstance(n, ir.Update) else None for n in stores}
        is_scattered = any(is_indirect(n.index, computed) for n in stores)
        if is_scattered and len(stores) == len(nodes) and len(kinds) == 1:
            out[array] = stores
    return out


def is_indirect(index: Iterable[ir.Expr], computed: Collection[ir.Symbol]) -> bool:
    """Whether an index has an element of an array in it, or one of these scalars, which a nest computes."""
    return contains(index, ir.Load) or bool(scalars_read(index) & {*computed})


def with_store_lists(
    fn: ir.Function,
    body: tuple[ir.Stmt, ...],
    scattered: Mapping[ir.Symbol, Sequence[ir.Store | ir.Update]],
    supply: NameSupply,
) -> tuple[tuple[ir.Stmt, ...], tuple[StoreList, ...]]:
    """The statements of a nest that lists its stores into some arrays."""
    lists: dict[ir.Symbol, StoreList] = {}
    for array, (first, *others) in scattered.items():
        dtype = first.value.dtype if isinstance(first, ir.Update) else array.dtype
        where = supply.fresh("where", ArrayType(DType.INT64, 2))
        values = supply.fresh("values", ArrayType(dtype, 1))
        text = print_function(_apply(fn, first, where, values, supply.fresh("k", DType.INT64)), located=True)
        locations = tuple(dict.fromkeys(str(node.loc) for node in (first, *others)))
        count, each = supply.fresh("count", DType.INT64), [*_executions(body, array, number(1), {})]
        most = reduce(total, [n for n in each if n is not None]) if None not in each else None
        lists[array] = StoreList(array, where, values, count, text, locations, most)

    def rule(node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
        if not isinstance(node, ir.Store | ir.Update) or array_of(node) not in lists:
            return node
        of, loc = lists[array_of(node)], node.loc
        row = list(node.index) + [integer(of.locations.index(str(loc)), loc)] * (len(of.locations) > 1)
        count, room = ir.Var(of.count, loc=loc), ir.Extent(of.values, 0, loc=loc)
        stores = [
            ir.Store(of.where, (count, integer(column, loc)), ir.Cast(e, DType.INT64, loc=loc), loc=loc)
            for column, e in enumerate(row)
        ]
        value = ir.Store(of.values, (count,), node.value, loc=loc)
        counted = ir.Update(of.count, (), "+", integer(1, loc), loc=loc)
        return ir.If(ir.Compare("<", count, room, loc=loc), (*stores, value), loc=loc), counted

    starts = tuple(ir.Assign(of.count, integer(0, fn.loc), loc=fn.loc) for of in lists.values())
    return (*starts, *rewrite_all(body, rule)), tuple(lists.values())


def _executions(
    body: Iterable[ir.Stmt], array: ir.Symbol, runs: ir.Expr | None, around: Mapping[ir.Symbol, ir.Expr]
) -> Iterator[ir.Expr | None]:
    """The number of executions of each store into an array, conditions aside; None where it depends on data.
    runs: the executions of the statements. around: the loops around them, each in its middle."""
    for stmt in body:
        known, again = around, runs
        match stmt:
            case ir.Store() | ir.Update() if array_of(stmt) == array:
                yield runs
            case ir.For() if runs is not None and not contains(stmt.bounds, ir.Load):
                known, again = with_middle(stmt, around), product(runs, trips_of(stmt, around))
            case ir.For() | ir.While():
                again = None
        for block in blocks_of(stmt):
            yield from _executions(block, array, again, known)


def _apply(
    fn: ir.Function, store: ir.Store | ir.Update, where: ir.Symbol, values: ir.Symbol, k: ir.Symbol
) -> ir.Function:
    """The function that does the stores of a list, in order."""
    array, loc = array_of(store), store.loc
    var = ir.Var(k, loc=loc)
    index = tuple(ir.Load(where, (var, integer(axis, loc)), loc=loc) for axis in range(array.array.ndim))
    done = replace(store, index=index, value=ir.Load(values, (var,), loc=loc))
    loop = ir.For(k, integer(0, loc), ir.Extent(values, 0, loc=loc), 1, (done,),
                  clauses=ir.Clauses("sequential", loc=loc), loc=loc)  # fmt: skip
    return replace(
        fn, name=NAME, params=(array, where, values), body=(loop,), results=(), tree=None, guards=()
    )
