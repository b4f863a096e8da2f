"""The tasks of one program's blocks and scalars: what is known while its graph is written.

Scalars are known numbers, or tasks: what a nest combines elements into is a tree of tasks, of the same shape for the
same chunks, and what its iterations hand on goes from block to block.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from appyc.analysis.accesses import access_boxes
from appyc.analysis.accesses.access_boxes import Region
from appyc.analysis.accesses.scalar_flow import LoopScalars, scalars_of
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.sets.evaluate import evaluate
from appyc.distributed.block_layouts import MOST_KNOWN, Layout, layout_of
from appyc.distributed.block_scans import BlockScans, block_scans
from appyc.distributed.blocking import first_moving
from appyc.distributed.chunk_gathers import tasks_of_names
from appyc.distributed.chunk_grids import BLOCK, NOTHING, Graph, Grid, Key, Pieces, Task
from appyc.distributed.combining import Combination
from appyc.distributed.dask_arrays import run
from appyc.distributed.kernels import (
    Block,
    Bounds,
    Kernel,
    Maker,
    Named,
    depends_on,
    is_pythons,
    kernel_of,
    python_of,
)
from appyc.distributed.plan import Counting
from appyc.distributed.scattering import StoreList
from appyc.distributed.shuffles import ListingBlock, target_of
from appyc.errors import UnsupportedError
from appyc.ir import nodes as ir
from appyc.ir.names import NameSupply
from appyc.ir.raising import may_raise
from appyc.ir.visit import scalars_read, walk
from appyc.options import Options
from appyc.passes.checks.check_bounds import check_bounds
from appyc.passes.node_builders import zero
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.pass_context import PassContext

Tile: TypeAlias = tuple[Bounds, Named]
"""A block."""

_FAR = 1 << 48
"""Beyond all indices."""


class DependsOnTasksError(Exception):
    """Raised where writing the graph needs a value that tasks compute."""


@dataclass(slots=True)
class Prepared:
    """A function, and what is made of it for all calls, by the number of the node: kernels of its nests and scalars,
    what `until_break` makes of nests, the values that updates of scalars give, and scans. known: see
    `in_python`. analysed: the function as scans are found in it."""

    fn: ir.Function
    flow: Mapping[ir.Symbol, LoopScalars]
    names: NameSupply
    kernels: dict[object, Kernel] = field(default_factory=dict)
    until: dict[int, tuple[ir.Symbol, ir.Stmt]] = field(default_factory=dict)
    values: dict[int, ir.Expr] = field(default_factory=dict)
    scans: dict[int, BlockScans | None] = field(default_factory=dict)
    known: dict[int, tuple[ir.Expr, Sequence[ir.Symbol], Callable[..., Any]]] = field(default_factory=dict)
    analysed: tuple[Legality, ir.Function] | None = None

    @classmethod
    def of(cls, fn: ir.Function, options: Options) -> Prepared:
        fn = recognise_reductions(fn, PassContext(options))
        return cls(fn, scalars_of(fn), NameSupply.after(fn))

    def scans_of(self, loop: ir.For, handed_on: Collection[ir.Symbol]) -> BlockScans | None:
        if id(loop) not in self.scans:
            if self.analysed is None:
                inside = check_bounds(self.fn, PassContext(Options()))
                self.analysed = Legality.of(inside), inside
            self.scans[id(loop)] = block_scans(*self.analysed, loop, handed_on, self.names)
        return self.scans[id(loop)]

    def in_python(self, node: ir.Expr | ir.Fail) -> tuple[Sequence[ir.Symbol], Callable[..., Any]]:
        """See `python_of`. That of a raise is made for one call."""
        if isinstance(node, ir.Fail):
            return python_of(self.fn, node)
        if id(node) not in self.known:
            self.known[id(node)] = node, *python_of(self.fn, node)
        return self.known[id(node)][1:]


@dataclass(slots=True)
class Plans:
    """What calls over the same chunks and numbers have in common. nests: plans of nests, by the number of the
    statement. loops: of what blocked loops move along, what is known of those around nests, and of tasks of several of
    their steps. layouts: of blocks."""

    nests: dict[int, Any] = field(default_factory=dict)
    loops: dict[object, Any] = field(default_factory=dict)
    layouts: dict[object, Layout] = field(default_factory=dict)


@dataclass(slots=True)
class BlockTasks:
    """values: scalars that are known, and the arguments by their shapes. computed: scalars that tasks compute.
    counting: counts what is written, where it is only planned: nothing runs then. unseen: tasks of the
    nest that may raise and write to no array, as the program would have done, so that nothing else need run them.
    raising: tasks of scalars that may raise, or need such, and that no other task takes so far."""

    prepared: Prepared
    graph: Graph
    grids: dict[ir.Symbol, Grid]
    values: dict[ir.Symbol, Any]
    make: Maker
    options: Options
    computed: dict[ir.Symbol, Task] = field(default_factory=dict)
    counting: Counting | None = None
    unseen: list[Key] = field(default_factory=list)
    raising: set[Key] = field(default_factory=set)
    plans: Plans = field(default_factory=Plans)

    @property
    def fn(self) -> ir.Function:
        return self.prepared.fn

    def is_set(self, symbol: ir.Symbol) -> bool:
        """Whether a scalar has a value."""
        return symbol in self.values or symbol in self.computed

    def unset(self, symbol: ir.Symbol) -> None:
        for known in (self.values, self.computed):
            known.pop(symbol, None)

    def _set(self, symbol: ir.Symbol, value: Any) -> None:
        self.unset(symbol)
        (self.computed if isinstance(value, Task) else self.values)[symbol] = value

    def _number(self, expr: ir.Expr) -> int:
        value = self.scalar(expr)
        if isinstance(value, Task):
            (value,) = self._run([value.key])
        return int(value)  # of one type, whatever it is made of: a kernel is compiled for its types

    def _run(self, wanted: list[Key]) -> list[Any]:
        """Runs the graph up to these tasks, and gives their results. All scalars are numbers then."""
        if self.counting is not None:
            raise DependsOnTasksError
        symbols = tuple(self.computed)
        keys = [*wanted, *(task.key for task in self.computed.values())]
        self.raising.difference_update(keys)
        values = run(self.graph, self.grids.values(), keys)
        for symbol, other in zip(symbols, values[len(wanted) :], strict=True):
            self._set(symbol, other)
        return values[: len(wanted)]

    def scalar(self, expr: ir.Expr) -> Any:
        """The value of an expression: a number, or the task that computes it, of elements of arrays for one."""
        if isinstance(expr, ir.Var) and expr.symbol in self.computed:
            return self.computed[expr.symbol]
        reads = any(isinstance(n, ir.Load) for n in walk(expr))
        if not reads and not scalars_read(expr) & self.computed.keys():
            return self._known(expr)
        kernel = self.kernel(expr)
        if self.counting is not None:
            self.counting.begin(expr.loc.line, self.graph)
        taken = {self.computed[s].key for s in scalars_read(expr) & self.computed.keys()} & self.raising
        result = self._result(self._task(kernel, (), expr), 0)
        if taken or may_raise(expr):
            self.raising.add(result.key)
        return result

    def run_raising(self) -> None:
        """Runs the tasks of scalars that may raise and that nothing needs."""
        if self.raising:
            self._run([*self.raising])

    def kernel(
        self,
        node: ir.Expr | ir.Stmt,
        body: tuple[ir.Stmt, ...] = (),
        loops: Sequence[ir.For] = (),
        results: tuple[ir.Symbol, ...] = (),
        reduced: Mapping[ir.Symbol, Combination] = NOTHING,
        scattered: Mapping[ir.Symbol, Sequence[ir.Store | ir.Update]] = NOTHING,
    ) -> Kernel:
        """The kernel of an expression, or of a nest with what `kernel_of` wants to know of it."""
        at = (id(node), *(loop.var for loop in loops), *reduced, None, *scattered)
        if at not in self.prepared.kernels:
            if isinstance(node, ir.Expr):
                results = (self.prepared.names.fresh("result", node.dtype),)
                body = (ir.Assign(*results, node, loc=node.loc),)
            self.prepared.kernels[at] = kernel_of(self.fn, body, loops, self.grids, results, reduced,
                                                   scattered)  # fmt: skip
        return self.prepared.kernels[at]

    def _known(self, node: ir.Expr | ir.Fail) -> Any:
        """The value of an expression over known numbers, evaluated in Python. Raises what the program raises."""
        if isinstance(node, ir.Var) and node.symbol in self.values:
            return self.values[node.symbol]
        params, function = self.prepared.in_python(node)
        if missing := [s for s in params if s not in self.values and not s.is_array]:
            raise refused(node, f"{missing[0].name!r} may have no value here")
        return function(*(self.grids[s] if s.is_array else self.values[s] for s in params))

    def _argument(self, symbol: ir.Symbol, at: ir.Node, *, is_set: bool) -> Any:
        """The value of a scalar as a task's argument: a number, or the key of a task. is_set: it may have no
        value yet, and none is read."""
        if symbol in self.computed:
            key = self.computed[symbol].key
            self.raising.discard(key)
            return key
        if symbol not in self.values and not is_set:
            raise refused(at, f"{symbol.name!r} may have no value here")
        value = self.values.get(symbol, symbol.dtype.numpy.type(zero(symbol.dtype, at.loc).value))
        return value.item() if isinstance(value, np.generic) and is_pythons(symbol) else value

    def _blocks(
        self, kernel: Kernel, tiles: Sequence[Tile], at: ir.Stmt, begins: Mapping[ir.Symbol, Key] = NOTHING
    ) -> Iterator[Key]:
        """The tasks of blocks that have a result. begins: the tasks that have what scalars are where each begins."""
        for number, (bounds, named) in enumerate(tiles):
            for symbol, each in begins.items():
                self._set(symbol, self._result(each, number))
            if (block := self._task(kernel, bounds, at, named)) is not None:
                yield block

    def _result(self, block: Key, number: int) -> Task:
        return Task(self.graph.add("scalar", operator.getitem, block, number))

    def _range(self, loop: ir.For, loops: Sequence[ir.For]) -> tuple[int, int]:
        """The iterations of a blocked loop. Of a triangle, blocks outside of it have no result."""
        variables = [other.var for other in loops]
        low = -_FAR if depends_on(loop.lo, variables) else self._number(loop.lo)
        return low, _FAR if depends_on(loop.hi, variables) else self._number(loop.hi)

    def _parts(self, loop: ir.For, loops: Sequence[ir.For]) -> list[tuple[int, int]]:
        """The blocks of a loop, one of these: they end where chunks of what it writes end."""
        low, high = self._range(loop, loops)
        known = "moves", id(loop)
        if known not in self.plans.loops:
            self.plans.loops[known] = first_moving(loop, self.grids)
        array, axis = self.plans.loops[known]
        inner = [c for c in self.grids[array].starts[axis] if low < c < high]
        return list(itertools.pairwise([low, *inner, high])) if low < high else []

    def _known_in(self, kernel: Kernel, bounds: Bounds) -> dict[ir.Symbol, Any]:
        """The numbers that a block has, and its arrays by their shapes."""
        pairs = zip(kernel.bounds, bounds, strict=True)
        ends = {s: n for names, pair in pairs for s, n in zip(names, pair, strict=True)}
        return {**self.values, **self.grids, **ends}

    def _regions(self, kernel: Kernel, bounds: Bounds) -> dict[ir.Symbol, Region]:
        return kernel.regions.boxes(self._known_in(kernel, bounds))

    def _most(self, stores: StoreList, kernel: Kernel, bounds: Bounds) -> int | None:
        """The most stores that a block executes; None where the number is not known before it runs."""
        if stores.most is not None:
            with suppress(LookupError):
                most: int = round(evaluate(stores.most, self._known_in(kernel, bounds)))
                return most
        return None

    def _tiles(self, kernel: Kernel, loops: Sequence[ir.For], at: ir.Stmt) -> list[Tile]:
        """The blocks of a nest, and the chunks of large arrays that elements of others name for each. Runs the graph up
        to these."""
        blocks = list(itertools.product(*(self._parts(loop, loops) for loop in loops)))
        if all(self.grids[array].nbytes <= access_boxes.WHOLE for array in kernel.arrays):
            return [(block, NOTHING) for block in blocks]
        asked = [tasks_of_names(kernel.body, self._regions(kernel, b), self.grids, at.loc) for b in blocks]
        keys = [key for names in asked for key in names.values()]
        found = iter(self._run(keys) if keys else ())
        named = (dict(zip(names, found, strict=False)) for names in asked)
        return list(zip(blocks, named, strict=True))

    def _task(self, kernel: Kernel, bounds: Bounds, at: ir.Node, named: Named = NOTHING) -> Key | None:
        """The task of a block; None where it has no result."""
        layout = self._layout(kernel, bounds, named)
        if not layout.has_result:
            return None
        scalars = self._scalars(kernel, at)
        words = [None if isinstance(word, tuple) else word for word in scalars]
        launch = kernel.text, range(len(kernel.arrays)), [*words, *layout.numbers]
        block = Block(self.make, self.options, layout.windows, [launch], layout.results, layout.is_chunk)
        targets = [target_of(stores, self.grids[stores.array]) for stores in kernel.listed]
        taken = [word for word in scalars if isinstance(word, tuple)]
        key = self.add_block(at, ListingBlock(block, targets) if targets else block, layout.pieces, taken)
        if self.counting is not None:
            read = ((a, r) for a, r in layout.regions.items() if a not in kernel.reduced)
            self.counting.block(
                [(self.grids[a], r.parts, r.boxes) for a, r in read if not r.is_overwritten],
                [(self.grids[a], box) for a, (box, _) in layout.written.items()],
                [(self.grids[s.array], self._most(s, kernel, bounds), s) for s in kernel.listed],
            )
        for number, (array, (_, parts)) in enumerate(layout.written.items(), len(targets)):
            self.grids[array].put(parts, key, None if layout.is_chunk else number)
        if layout.raises and not layout.written and not targets and (kernel.written or not kernel.results):
            self.unseen.append(key)
        return key

    def add_block(self, at: ir.Node, block: object, pieces: Pieces, taken: Sequence[Key] = ()) -> Key:
        """The task of a block. pieces: those of the arrays that it takes. taken: the numbers that it takes."""
        of_arrays = (key for array, of in pieces for key in self.grids[array].taken(of))
        return self.graph.add(f"{self.fn.name}{BLOCK}{at.loc.line}", block, *of_arrays, *taken)

    def _layout(self, kernel: Kernel, bounds: Bounds, named: Named) -> Layout:
        regions, known, at = self._regions(kernel, bounds), self.plans.layouts, (id(kernel), *bounds)
        chunks, found = [self.grids[array].chunks for array in kernel.arrays], known.get(at)
        if found is None or found.regions is not regions or found.chunks != chunks or named:
            if len(known) >= MOST_KNOWN:
                known.clear()
            found = known[at] = layout_of(kernel, bounds, regions, self.grids, named)
        return found

    def _scalars(self, kernel: Kernel, at: ir.Node) -> list[Any]:
        """The scalar arguments of a kernel: numbers, and keys of tasks that compute them."""
        return [self._argument(s, at, is_set=kernel.raises or s in kernel.results) for s in kernel.scalars]


def refused(node: Any, reason: str) -> UnsupportedError:
    return UnsupportedError(f"this cannot be distributed: {reason}", node.loc)
