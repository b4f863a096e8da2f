"""The walk over a program that writes its graph: loops around nests run, nests become tasks over blocks.

Scalars are known numbers, or tasks: what a nest combines elements into is a tree of tasks, of the same shape for the
same chunks, and what its iterations hand on goes from block to block.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from appyc.analysis.accesses.access_boxes import Box, Region
from appyc.analysis.accesses.scalar_flow import LoopScalars, scalars_of
from appyc.analysis.patterns.early_exits import leaves_early
from appyc.analysis.sets.evaluate import evaluate
from appyc.distributed.blocking import blocked_loops, first_moving, is_nest, until_break
from appyc.distributed.chunk_gathers import named_parts, tasks_of_names
from appyc.distributed.chunk_grids import Graph, Grid, Key, Task, inside, whole
from appyc.distributed.combining import Combination, arrays_reduced, combinations_of
from appyc.distributed.dask_arrays import run, zeros
from appyc.distributed.kernels import (
    NAME,
    NOTHING,
    Kernel,
    Maker,
    function_of,
    is_pythons,
    kernel_of,
    result_of,
    run_block,
)
from appyc.distributed.plan import Counting
from appyc.errors import Loc, UnsupportedError
from appyc.ir.array_accesses import is_access
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Alloc,
    Assign,
    BoundsCheck,
    Break,
    Call,
    Continue,
    Draw,
    Expr,
    Extent,
    Fail,
    For,
    Function,
    If,
    Load,
    Node,
    Stmt,
    Store,
    Symbol,
    Update,
    Var,
    View,
    While,
)
from appyc.ir.printer import print_function
from appyc.ir.visit import loops_of, scalars_read, scalars_written, walk
from appyc.options import Options
from appyc.passes.node_builders import combine, zero
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.pass_context import PassContext

Bounds: TypeAlias = Sequence[tuple[int, int]]
"""The first iteration of each blocked loop, and the one after the last."""

_FAR = 1 << 48
"""Beyond all indices."""


class DependsOnTasksError(Exception):
    """What follows depends on a value that tasks compute."""


@dataclass(slots=True)
class Prepared:
    """A function, and what is made of it for all calls, by the number of the node: kernels of its nests and scalars,
    what `until_break` makes of nests, and the values that updates of scalars give."""

    fn: Function
    flow: Mapping[Symbol, LoopScalars]
    names: NameSupply
    kernels: dict[object, Kernel] = field(default_factory=dict)
    until: dict[int, tuple[Symbol, Stmt]] = field(default_factory=dict)
    values: dict[int, Expr] = field(default_factory=dict)

    @classmethod
    def of(cls, fn: Function, options: Options) -> Prepared:
        fn = recognise_reductions(fn, PassContext(options))
        return cls(fn, scalars_of(fn), NameSupply.after(fn))


@dataclass(slots=True)
class Program:
    """values: scalars that are known, and the arguments by their shapes. computed: scalars that tasks compute.
    counting: counts what is written, where it is only planned: nothing runs then."""

    prepared: Prepared
    graph: Graph
    grids: dict[Symbol, Grid]
    values: dict[Symbol, Any]
    make: Maker
    options: Options
    computed: dict[Symbol, Task] = field(default_factory=dict)
    counting: Counting | None = None

    @property
    def fn(self) -> Function:
        return self.prepared.fn

    def block(self, body: tuple[Stmt, ...]) -> Break | Continue | None:
        """Runs statements. Gives the one by which they leave the loop around them."""
        for stmt in body:
            left = None
            match stmt:
                case Assign():
                    self._set(stmt.target, self.scalar(stmt.value))
                case Update() if not stmt.target.is_array:
                    new = combine(stmt.op, Var(stmt.target, loc=stmt.loc), stmt.value)
                    self._set(stmt.target, self.scalar(self.prepared.values.setdefault(id(stmt), new)))
                case For() if not is_nest(stmt, self.grids):
                    self.repeat(stmt, range(self._number(stmt.lo), self._number(stmt.hi), stmt.step))
                case While():
                    while self._number(stmt.cond) and not isinstance(self.block(stmt.body), Break):
                        pass
                case If() if self._decides(stmt):
                    left = self.block(stmt.then if self._number(stmt.cond) else stmt.orelse)
                case Break() | Continue():
                    left = stmt
                case For() | Store() | Update() | If():
                    self._nest(stmt)
                case Alloc(array=symbol):
                    shape = tuple(max(self._number(length), 0) for length in stmt.shape)
                    array = zeros(shape, symbol.dtype.numpy, self.grids.values())
                    self.graph.sources.append(array)
                    self.values[symbol] = self.grids[symbol] = Grid(array)
                case Fail():
                    raise UnsupportedError(stmt.message, stmt.loc)
                case BoundsCheck():
                    index, extent = self._number(stmt.index), self._number(stmt.extent)
                    if not -extent <= index < extent:
                        raise IndexError(stmt.site.message.format(value=index, extent=extent))
                case _:
                    raise _refused(stmt, f"{type(stmt).__name__}: this statement has no form over blocks")
            if left is not None:
                return left
        return None

    def repeat(self, loop: For, steps: range) -> None:
        """A loop around nests."""
        for step in steps:
            self._set(loop.var, step)
            if isinstance(self.block(loop.body), Break):
                break

    def _decides(self, stmt: If) -> bool:
        """Whether the program goes one way: the condition is known, or must be, since there are loops below it."""
        inside = walk((*stmt.then, *stmt.orelse))
        if any(isinstance(n, For | While | Break | Continue | Fail) for n in inside):
            return True
        reads = any(isinstance(n, Load) for n in walk(stmt.cond))
        return not reads and not scalars_read(stmt.cond) & self.computed.keys()

    def _set(self, symbol: Symbol, value: Any) -> None:
        for known in (self.values, self.computed):
            known.pop(symbol, None)
        (self.computed if isinstance(value, Task) else self.values)[symbol] = value

    def _number(self, expr: Expr) -> int:
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
        values = run(self.graph, tuple(self.grids.values()), keys)
        for symbol, other in zip(symbols, values[len(wanted) :], strict=True):
            self._set(symbol, other)
        return values[: len(wanted)]

    def scalar(self, expr: Expr) -> Any:
        """The value of an expression: a number, or the task that computes it, of elements of arrays for one."""
        if isinstance(expr, Var) and expr.symbol in self.computed:
            return self.computed[expr.symbol]
        reads = any(isinstance(n, Load) for n in walk(expr))
        if not reads and not scalars_read(expr) & self.computed.keys():
            try:
                return evaluate(expr, self.values)
            except (LookupError, TypeError):
                return self._in_python(expr)
        kernel = self.kernel(expr)
        if self.counting is not None:
            self.counting.begin(expr.loc.line, self.graph)
        return self._result(self._task(kernel, (), expr), 0)

    def kernel(
        self,
        node: Expr | Stmt,
        body: tuple[Stmt, ...] = (),
        loops: Sequence[For] = (),
        results: tuple[Symbol, ...] = (),
        reduced: Mapping[Symbol, Combination] = NOTHING,
    ) -> Kernel:
        """The kernel of an expression, or of a nest with what `kernel_of` wants to know of it."""
        at = (id(node), *(loop.var for loop in loops), *reduced)
        if at not in self.prepared.kernels:
            if isinstance(node, Expr):
                results = (self.prepared.names.fresh("result", node.dtype),)
                body = (Assign(*results, node, loc=node.loc),)
            self.prepared.kernels[at] = kernel_of(self.fn, body, loops, self.grids, results, reduced)
        return self.prepared.kernels[at]

    def _in_python(self, expr: Expr) -> Any:
        """What Python makes of an expression over known numbers."""
        params = tuple(scalars_read(expr))
        if missing := [s for s in params if s not in self.values]:
            raise _refused(expr, f"{missing[0].name!r} may have no value here")
        arrays = tuple({n.array for n in walk(expr) if isinstance(n, Extent)})
        fn = replace(self.fn, name=NAME, params=(*arrays, *params), body=(), tree=0, guards=(),
                     results=(result_of(expr),))  # fmt: skip
        given = (*(self.grids[a] for a in arrays), *(self.values[s] for s in params))
        return function_of(print_function(fn))(*given)

    def _nest(self, stmt: Stmt) -> None:
        for node in walk(stmt):
            if isinstance(node, View | Call | Draw | Fail):
                raise _refused(node, f"{type(node).__name__}: this has no form over blocks")
        loops = blocked_loops(stmt, self.grids)
        bounds = [e for n in walk(stmt) if is_access(n) for e in n.index]
        bounds += [e for loop in loops_of(stmt) for e in (loop.lo, loop.hi)]
        for symbol in scalars_read(bounds) & self.computed.keys():  # boxes depend on it
            self._number(Var(symbol, loc=stmt.loc))
        combined, block = combinations_of(stmt, self.prepared.flow), stmt
        if isinstance(stmt, For) and leaves_early(stmt):
            has_ended, block = self.prepared.until.setdefault(
                id(stmt), until_break(stmt, self.prepared.names)
            )
            self._set(has_ended, False)
            combined.append(Combination((has_ended,)))
        reduced = arrays_reduced(loops[0], self.grids) if loops else {}
        loops = loops[:1] if reduced or any(c.has_order for c in combined) else loops
        self._tasks(block, loops, combined, reduced)
        for symbol in scalars_written(block) - {s for c in combined for s in c.symbols}:
            self.values.pop(symbol, None)

    def _tasks(
        self,
        stmt: Stmt,
        loops: Sequence[For],
        combined: Sequence[Combination],
        reduced: Mapping[Symbol, Combination],
    ) -> None:
        """The tasks of a nest, and of what its blocks combine into."""
        pairs = [(s, start) for c in combined for s, start in zip(c.symbols, c.starts, strict=False)]
        body = (*(Assign(s, start, loc=stmt.loc) for s, start in pairs), stmt)
        kernel = self.kernel(stmt, body, loops, tuple(s for c in combined for s in c.symbols), reduced)
        if self.counting is not None:
            self.counting.begin(stmt.loc.line, self.graph)
        of_block = (*kernel.reduced.values(), *combined)
        numbers = [-sum(len(c.symbols) for c in of_block[k:]) for k in range(len(of_block))]
        blocks = []
        all_bounds = list(itertools.product(*(self._parts(loop, loops) for loop in loops)))
        for bounds, named in zip(all_bounds, self._chunks_named(kernel, all_bounds, stmt.loc), strict=True):
            if (block := self._task(kernel, bounds, stmt, named)) is None:
                continue
            blocks.append(block)
            for number, c in zip(numbers, of_block, strict=True):
                if c.op is None:
                    self._set(c.symbols[0], self._result(block, number))
        for number, c in zip(numbers, of_block, strict=True):
            if c.op is None:
                continue
            if (grid := self.grids.get(c.symbols[0])) is None:
                before = [self._argument(s, stmt, is_set=k > 0) for k, s in enumerate(c.symbols)]
                for symbol, key in zip(c.symbols, c.totals(blocks, number, before, self.graph), strict=True):
                    self._set(symbol, Task(key))
            elif blocks:
                held = self.graph.add("whole", whole, *grid.read(grid.whole, [grid.whole], self.graph))
                (total,) = c.totals(blocks, number, [held], self.graph)
                grid.write(grid.whole, total, None, self.graph)

    def _argument(self, symbol: Symbol, at: Node, *, is_set: bool) -> Any:
        """What a scalar is: a number, or the key of a task. is_set: it may have no value yet, and none is read."""
        if symbol in self.computed:
            return self.computed[symbol].key
        if symbol not in self.values and not is_set:
            raise _refused(at, f"{symbol.name!r} may have no value here")
        value = self.values.get(symbol, symbol.dtype.numpy.type(zero(symbol.dtype, at.loc).value))
        return value.item() if isinstance(value, np.generic) and is_pythons(symbol) else value

    def _result(self, block: Key, number: int) -> Task:
        return Task(self.graph.add("scalar", operator.getitem, block, number))

    def _parts(self, loop: For, loops: Sequence[For]) -> list[tuple[int, int]]:
        """The blocks of a loop, one of these: they end where chunks of what it writes end."""
        if scalars_read((loop.lo, loop.hi)) & {other.var for other in loops}:
            low, high = -_FAR, _FAR  # a triangle: blocks outside of it have no result
        else:
            low, high = self._number(loop.lo), self._number(loop.hi)
        moving = first_moving(loop, self.grids)
        assert moving is not None
        array, axis = moving
        inner = [c for c in self.grids[array].starts[axis] if low < c < high]
        return list(itertools.pairwise([low, *inner, high])) if low < high else []

    def _regions(self, kernel: Kernel, bounds: Bounds) -> dict[Symbol, Region]:
        pairs = zip(kernel.bounds, bounds, strict=True)
        ends = {s: n for names, pair in pairs for s, n in zip(names, pair, strict=True)}
        return kernel.regions.boxes({**self.values, **self.grids, **ends})

    def _chunks_named(self, kernel: Kernel, blocks: Sequence[Bounds], loc: Loc) -> list[dict[Any, list[int]]]:
        """For each block, the chunks of large arrays that elements of others name. Runs the graph up to these."""
        asked = []
        for bounds in blocks:
            regions = self._regions(kernel, bounds)
            asked.append(tasks_of_names(kernel.body, regions, self.grids, loc, self.graph)
                         if any(region.named for region in regions.values()) else {})  # fmt: skip
        keys = [key for names in asked for key in names.values()]
        found = iter(self._run(keys) if keys else ())
        return [dict(zip(names, found, strict=False)) for names in asked]

    def _task(
        self, kernel: Kernel, bounds: Bounds, at: Node, named: Mapping[Any, list[int]] = NOTHING
    ) -> Key | None:
        """The task of a block; None where it has no result. named: chunks of large arrays, by array and axis."""
        regions = self._regions(kernel, bounds)
        boxes, windows = list[Box](), list[list[Any]]()
        for array in kernel.arrays:
            grid, region, fill = self.grids[array], regions.get(array, Region()), None
            box = region.touched or ((0, 0),) * array.array.ndim
            parts = [] if region.is_overwritten else region.parts
            if array in kernel.reduced:
                box, parts, fill = grid.whole, [], kernel.reduced[array].starts[0].value
            for axis in region.named:
                parts = named_parts(parts, axis, named[array, axis], grid)
            boxes.append(box)
            windows.append(grid.read(box, parts, self.graph, fill))
        stored = [(a, regions[a].written) for a in kernel.written if a in regions]
        written = {a: box for a, box in stored if box is not None}
        if not written and not kernel.results and not regions.keys() & kernel.reduced:
            return None
        put = {**written, **{a: self.grids[a].whole for a in kernel.reduced}}
        order = {a: number for number, a in enumerate(kernel.arrays)}
        results = [(order[a], inside(box, boxes[order[a]])) for a, box in put.items()]
        launch = [kernel.text, [*order.values()], self._numbers(kernel, boxes, bounds, at)]
        key = self.graph.add(f"{self.fn.name}_line_{at.loc.line}", run_block, self.make, self.options,
                             windows, [launch], results)  # fmt: skip
        if self.counting is not None:
            read = [(self.grids[a], r) for a, r in regions.items() if a not in kernel.reduced]
            self.counting.block(
                [(grid, r.parts, r.boxes) for grid, r in read if not r.is_overwritten],
                [(self.grids[a], box) for a, box in written.items()],
            )
        for number, (array, box) in enumerate(written.items()):
            self.grids[array].write(box, key, number, self.graph)
        return key

    def _numbers(self, kernel: Kernel, boxes: Sequence[Box], bounds: Bounds, at: Node) -> list[Any]:
        """The scalar arguments of a kernel: numbers, and keys of tasks that compute them."""
        scalars = [self._argument(s, at, is_set=s in kernel.results) for s in kernel.scalars]
        extents = (n for array in kernel.arrays for n in self.grids[array].shape)
        return [*scalars, *extents, *(low for box in boxes for low, _ in box), *itertools.chain(*bounds)]


def _refused(node: Any, reason: str) -> UnsupportedError:
    return UnsupportedError(f"this cannot be distributed: {reason}", node.loc)
