"""A call over Dask's arrays as a graph of tasks: the program runs here, its loop nests become tasks over blocks.

Loops around nests run while the graph is written, so that each of their iterations is a layer of tasks. The blocks of a
nest are taken in the order of the program, and each reads the arrays as the blocks before it left them. So a task
depends on those alone that wrote what it reads: blocks of a parallel loop are independent, and those of a loop that
carries dependences form a wavefront. Scalars into which a nest combines elements are trees of tasks, of the same shape
for the same chunks.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from appyc.analysis.accesses.access_boxes import Box
from appyc.analysis.accesses.scalar_flow import exposed
from appyc.analysis.sets.evaluate import evaluate
from appyc.compiler.analyse import Analysed
from appyc.distributed.chunk_grids import Graph, Grid, Key, Task
from appyc.distributed.combining import combined, reductions_of
from appyc.distributed.kernels import Kernel, Maker, kernel_of, run_block
from appyc.errors import UnsupportedError
from appyc.ir.array_accesses import array_of
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Assign,
    BoundsCheck,
    Break,
    Call,
    Continue,
    Draw,
    Expr,
    Fail,
    For,
    Function,
    If,
    Load,
    Stmt,
    Store,
    Symbol,
    Update,
    Var,
    View,
    While,
)
from appyc.ir.printer import print_function
from appyc.ir.results import ResultTree
from appyc.ir.visit import arrays_written, loops_of, scalars_read, scalars_written, walk
from appyc.options import Options


def is_chunked(value: object) -> bool:
    """Whether a value is an array of Dask's."""
    return type(value).__module__.startswith("dask.array") and hasattr(value, "__dask_graph__")


def stand_in(value: object) -> object:
    """A small array of the type that blocks of a chunked array have; another value is itself."""
    return np.empty((2,) * value.ndim, value.dtype) if is_chunked(value) else value  # type: ignore[attr-defined]


def distribute(analysed: Analysed, named: Mapping[str, Any], make: Maker, options: Options) -> object:
    """Rebinds the chunked arguments that the function writes to arrays that Dask computes, and gives its result.

    Raises UnsupportedError, with its location, for what cannot be distributed.
    """
    import dask.array as da  # noqa: PLC0415  (whoever has its arrays has it)
    from dask.base import tokenize  # noqa: PLC0415
    from dask.highlevelgraph import HighLevelGraph  # noqa: PLC0415

    fn = analysed.plain
    if analysed.outside.captures or fn.callees or len(fn.params) != len(named):
        raise UnsupportedError(
            f"{fn.name!r} takes more from outside than arrays and numbers", fn.loc,
            hints=("pass all arrays as arguments",),
        )  # fmt: skip
    values = dict(zip(fn.params, named.values(), strict=True))
    given = {s: v for s, v in values.items() if s.is_array}
    written = arrays_written(fn)
    for symbol, value in given.items():
        if not is_chunked(value):
            if symbol in written:
                raise UnsupportedError(f"{symbol.name!r} is written and is no array of Dask's", fn.loc)
            given[symbol] = da.from_array(value, chunks=-1)
    if len({id(v) for v in given.values()}) < len(given) and written:
        raise UnsupportedError(f"one array is two arguments of {fn.name!r}, which writes to arrays", fn.loc)
    for symbol, value in given.items():
        if np.isnan(value.shape).any():
            raise UnsupportedError(f"the sizes of the chunks of {symbol.name!r} are not known", fn.loc)
    graph = Graph(tokenize(print_function(fn), *values.values()), {})
    call = _Call(fn, graph, {s: Grid(a) for s, a in given.items()}, dict(values), make, options,
                 NameSupply.after(fn))  # fmt: skip
    call.block(fn.body)
    sources, before = list(given.values()), [copy(a) for a in given.values()]
    for number, (symbol, array) in enumerate(given.items()):
        grid = call.grids[symbol]
        if grid.is_changed:
            name = f"{fn.name}-{symbol.name}-{number}-{graph.token}"
            layer = {**graph.tasks, **{(name, *at): key for at, key in grid.keys.items()}}
            new = da.Array(
                HighLevelGraph.from_collections(name, layer, sources), name, grid.chunks, grid.dtype
            )
            array.dask, array._name, array._chunks = (
                new.dask,
                new._name,
                new._chunks,
            )  # as its `__setitem__` does

    def returned(tree: ResultTree) -> object:
        if tree is None:
            return None
        if isinstance(tree, tuple):
            return tuple(map(returned, tree))
        value = fn.results[tree].value if isinstance(tree, int) else None
        if isinstance(value, Symbol) and value in given:
            return given[value]
        if value is None or isinstance(value, Symbol):
            raise UnsupportedError(
                "a distributed function returns numbers and arrays that it was given", fn.loc
            )
        number = call.scalar(value)
        if not isinstance(number, Task):
            return number
        name = f"{fn.name}-result-{tree}-{graph.token}"
        layer = {**graph.tasks, (name,): (np.asarray, number.key, value.dtype.numpy)}
        return da.Array(HighLevelGraph.from_collections(name, layer, before), name, (), value.dtype.numpy)

    return returned(fn.tree)


@dataclass(slots=True)
class _Call:
    """The walk over the program. values: the scalars that are known, and the arguments by their shapes."""

    fn: Function
    graph: Graph
    grids: dict[Symbol, Grid]
    values: dict[Symbol, Any]
    make: Maker
    options: Options
    names: NameSupply
    pending: dict[Symbol, Assign] = field(default_factory=dict)
    """Scalars that blocks compute for themselves, of others that are known."""
    computed: dict[Symbol, Task] = field(default_factory=dict)
    """Scalars that tasks compute."""
    kernels: dict[object, Kernel] = field(default_factory=dict)

    def block(self, body: tuple[Stmt, ...]) -> None:
        for stmt in body:
            match stmt:
                case Assign():
                    self._assign(stmt)
                case For() if not self._is_nest(stmt):
                    for value in range(self._number(stmt.lo), self._number(stmt.hi), stmt.step):
                        self._forget(stmt.var)
                        self.values[stmt.var] = value
                        self.block(stmt.body)
                case If() if not any(isinstance(n, Load) for n in walk(stmt.cond)):
                    self.block(stmt.then if self._number(stmt.cond) else stmt.orelse)
                case For() | Store() | Update() | If():
                    self._nest(stmt)
                case Fail():
                    raise UnsupportedError(stmt.message, stmt.loc)
                case BoundsCheck():
                    index, extent = self._number(stmt.index), self._number(stmt.extent)
                    if not -extent <= index < extent:
                        raise IndexError(stmt.site.message.format(value=index, extent=extent))
                case _:
                    raise _refused(stmt, f"{type(stmt).__name__}: this statement has no form over blocks")

    def _assign(self, stmt: Assign) -> None:
        try:
            value = evaluate(stmt.value, self.values)
        except (LookupError, TypeError):
            needed = self._with_pending((stmt,))
            if any(isinstance(n, Load) for n in walk(stmt.value)):
                raise _refused(stmt, "a number of the program depends on an element of an array") from None
            if stmt.target in scalars_read(stmt.value) or scalars_read(needed) & self.computed.keys():
                task = self._computed(stmt.value)
                self._forget(stmt.target)
                self.computed[stmt.target] = task
                return
            self._forget(stmt.target)
            self.pending[stmt.target] = stmt
        else:
            self._forget(stmt.target)
            self.values[stmt.target] = value

    def scalar(self, expr: Expr) -> Any:
        """The value of an expression over scalars: a number, or the task that computes it."""
        if isinstance(expr, Var) and expr.symbol in self.computed:
            return self.computed[expr.symbol]
        try:
            return evaluate(expr, self.values)
        except (LookupError, TypeError):
            return self._computed(expr)

    def _computed(self, expr: Expr) -> Task:
        """The task that computes a scalar of others."""
        target = self.names.fresh("result", expr.dtype)
        stmt = Assign(target, expr, loc=expr.loc)
        kernel = kernel_of(self.fn, self._with_pending((stmt,)), (), self.grids, (target,))
        numbers = self._numbers(kernel, {}, (), (), stmt)
        key = self.graph.add(f"{self.fn.name}_line_{stmt.loc.line}", run_block, self.make, kernel.text,
                             self.options, [], numbers, [])  # fmt: skip
        return Task(self.graph.add("scalar", operator.getitem, key, 0))

    def _with_pending(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Statements behind those that compute the scalars that they need."""
        for symbol in reversed(self.pending):
            if symbol in scalars_read(body):
                body = (self.pending[symbol], *body)
        return body

    def _number(self, expr: Expr) -> int:
        try:
            return int(evaluate(expr, self.values))
        except LookupError:
            raise UnsupportedError(
                "it must be known before the tasks run, and depends on them", expr.loc
            ) from None

    def _is_nest(self, loop: For) -> bool:
        """Whether the iterations of a loop become blocks: the elements that they write move with its variable, or it
        is an innermost loop over elements."""
        if loop.step != 1 or scalars_read((loop.lo, loop.hi)) - self.values.keys():
            return False
        if len(loops_of(loop)) == 1:
            return self._first_moving(loop) is not None
        outer = [n for n in walk(loop.body) if isinstance(n, Store | Update) and array_of(n) in self.grids]
        if not outer:
            return self._first_moving(loop) is not None
        return all(loop.var in scalars_read(n.index) for n in outer)

    def _first_moving(self, loop: For) -> tuple[Symbol, int] | None:
        """The array, and its axis, along which the first access moves with a loop; a write if there is one."""
        accesses = [
            n for n in walk(loop.body) if isinstance(n, Load | Store | Update) and array_of(n) in self.grids
        ]
        accesses.sort(key=lambda n: isinstance(n, Load))
        moving = (
            (n, axis) for n in accesses for axis, e in enumerate(n.index) if loop.var in scalars_read(e)
        )
        return next(((array_of(n), axis) for n, axis in moving), None)

    def _blocked(self, stmt: Stmt) -> list[For]:
        """The loops of a nest of which iterations become blocks: one, or parallel ones that nest perfectly."""
        if not isinstance(stmt, For):
            return []
        loops, inside = [stmt], stmt
        depth = _parallel_loops(stmt)
        while (inner := _only_loop(inside)) is not None:
            inside = inner
            depth = max(depth - 1, _parallel_loops(inside))
            if not depth or not self._is_nest(inside):
                break
            loops.append(inside)
        return loops if _parallel_loops(stmt) and self._are_apart(loops) else loops[:1]

    def _are_apart(self, loops: Sequence[For]) -> bool:
        """Whether different iterations surely touch different elements of what they write, so that blocks have no
        order: a loop that its pragma rightly calls parallel may still need values from before it."""
        indices: dict[Symbol, set[tuple[Expr, ...]]] = {}
        for node in walk(loops[-1].body):
            if isinstance(node, Load | Store | Update) and array_of(node) in self.grids:
                indices.setdefault(array_of(node), set()).add(node.index)
        variables = {loop.var for loop in loops}
        return all(
            len(indices[array]) == 1
            and variables <= {e.symbol for e in next(iter(indices[array])) if isinstance(e, Var)}
            for array in arrays_written(loops[-1].body) & indices.keys()
        )

    def _nest(self, stmt: Stmt) -> None:
        for node in walk(stmt):
            if isinstance(node, View | Call | Draw | While | Fail | Break | Continue):
                raise _refused(node, f"{type(node).__name__}: this has no form over blocks")
        loops = self._blocked(stmt)
        reductions = reductions_of(stmt)
        if carried := [s for s in exposed((stmt,)) if s in scalars_written(stmt) and s not in reductions]:
            raise _refused(
                stmt, f"the value of {carried[0].name!r} is carried from one iteration to the next"
            )
        body = self._with_pending((stmt,))
        starts = tuple(Assign(s, of.identity, loc=stmt.loc) for s, of in reductions.items())
        at = tuple(map(id, body))
        if at not in self.kernels:
            self.kernels[at] = kernel_of(self.fn, (*starts, *body), loops, self.grids, tuple(reductions))
        totals = {s: self.scalar(Var(s, loc=stmt.loc)) for s in reductions}
        ends = [self._task(self.kernels[at], bounds, stmt)
                for bounds in itertools.product(*(self._parts(loop) for loop in loops))]  # fmt: skip
        for symbol in scalars_written(stmt):
            self._forget(symbol)
        for number, (symbol, of) in enumerate(reductions.items(), start=-len(reductions)):
            key = combined(
                of.op, [key for key in ends if key is not None], number, totals[symbol], self.graph
            )
            self.computed[symbol] = Task(key)

    def _forget(self, symbol: Symbol) -> None:
        """A scalar has another value now: what blocks would compute of it has the old one."""
        for known in (self.values, self.pending, self.computed):
            known.pop(symbol, None)
        for target, assign in list(self.pending.items()):
            if symbol in scalars_read(assign.value):
                self._forget(target)

    def _parts(self, loop: For) -> list[tuple[int, int]]:
        """The blocks of a loop: they end where chunks of what it writes end."""
        low, high = self._number(loop.lo), self._number(loop.hi)
        moving = self._first_moving(loop)
        assert moving is not None
        array, axis = moving
        inner = [c for c in self.grids[array].starts[axis] if low < c < high]
        return list(itertools.pairwise([low, *inner, high])) if low < high else []

    def _task(self, kernel: Kernel, bounds: Sequence[tuple[int, int]], stmt: Stmt) -> Key | None:
        """The task of a block; None where it has no result."""
        known = {s: self.grids[s] for s in kernel.arrays}
        ends = {
            s: n
            for names, pair in zip(kernel.bounds, bounds, strict=True)
            for s, n in zip(names, pair, strict=True)
        }
        regions = kernel.regions.boxes({**self.values, **known, **ends})
        boxes: list[Box] = []
        windows: list[list[Any]] = []
        for array in kernel.arrays:
            region = regions.get(array)
            touched = region.touched if region is not None else None
            boxes.append(touched if touched is not None else ((0, 0),) * array.array.ndim)
            contents = region is not None and not region.is_overwritten
            windows.append(known[array].read(boxes[-1], self.graph, contents=contents))
        results = []
        for array in kernel.written:
            number = kernel.arrays.index(array)
            if array in regions and (box := regions[array].written) is not None:
                part = tuple(
                    slice(a - low, b - low) for (a, b), (low, _) in zip(box, boxes[number], strict=True)
                )
                results.append((array, box, (number, part)))
        if not results and not kernel.results:
            return None
        numbers = self._numbers(kernel, known, boxes, tuple(ends.values()), stmt)
        key = self.graph.add(f"{self.fn.name}_line_{stmt.loc.line}", run_block, self.make, kernel.text, self.options,
                             windows, numbers, [r for _, _, r in results])  # fmt: skip
        for at, (array, box, _) in enumerate(results):
            self.grids[array].write(box, key, at, self.graph)
        return key

    def _numbers(
        self,
        kernel: Kernel,
        grids: Mapping[Symbol, Grid],
        boxes: Sequence[Box],
        ends: Sequence[int],
        stmt: Stmt,
    ) -> list[Any]:
        """The scalar arguments of a kernel: numbers, and keys of tasks that compute them."""
        scalars = []
        for symbol in kernel.scalars:
            if symbol not in self.values and symbol not in self.computed:
                raise _refused(stmt, f"{symbol.name!r} depends on elements of arrays")
            scalars.append(self.computed[symbol].key if symbol in self.computed else self.values[symbol])
        extents = (n for array in grids.values() for n in array.shape)
        return [*scalars, *extents, *(low for box in boxes for low, _ in box), *ends]


def _only_loop(loop: For) -> For | None:
    """The loop that another one consists of, tests of indices aside."""
    match [stmt for stmt in loop.body if not isinstance(stmt, BoundsCheck)]:
        case [For() as inner]:
            return inner
        case _:
            return None


def _parallel_loops(loop: For) -> int:
    """How many loops from this one inwards a pragma says are parallel."""
    return loop.clauses.collapse if loop.clauses is not None and loop.clauses.request == "parallel" else 0


def _refused(node: Any, reason: str) -> UnsupportedError:
    return UnsupportedError(f"this cannot be distributed: {reason}", node.loc)
