"""A loop nest, restricted to a box of iterations and to windows of its arrays, as a function of its own."""

from __future__ import annotations

import functools
import hashlib
import itertools
import linecache
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from appyc.analysis.accesses.access_boxes import Regions
from appyc.analysis.accesses.scalar_flow import exposed, surely_assigned
from appyc.distributed.chunk_grids import NOTHING, Window, in_c_order, joined
from appyc.distributed.combining import Combination
from appyc.distributed.scattering import NAME, StoreList, with_store_lists
from appyc.ir import nodes as ir
from appyc.ir.expression_printer import is_numpy
from appyc.ir.integers import is_within, limits
from appyc.ir.names import NameSupply
from appyc.ir.printer import print_function
from appyc.ir.raising import GROWING, may_raise
from appyc.ir.types import DType
from appyc.ir.visit import arrays_written, loops_of, rewrite, rewrite_all, scalars_read, symbols_of, walk
from appyc.options import Options
from appyc.runtime.temporary_memory import limit_pool

Results: TypeAlias = list[tuple[int, tuple[slice, ...]]]

Bounds: TypeAlias = Sequence[tuple[int, int]]
"""The first iteration of each blocked loop, and the one after the last."""

Named: TypeAlias = Mapping[Any, list[int]]
"""The chunks that a block takes of large arrays, by array and axis."""

Launch: TypeAlias = tuple[str, Sequence[int], Sequence[Any]]
"""The text of a kernel, its arrays by the numbers of their windows, and its scalars."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """text: a Python function of windows, of scalars, of the extents and the origin of each array, and of the bounds
    of each blocked loop, which returns the scalars `results`. body: the same in indices of whole arrays. regions: what
    it touches, in these indices, where the bounds are parameters. reduced: arrays of which a block has a copy. listed:
    stores that it lists, into arrays that follow its other ones; how many these are it returns behind `results`.
    raises: whether it may, by a statement. divides: whether an operation may raise. numbers: of all extents, origins
    and bounds those that the text takes."""

    text: str
    body: tuple[ir.Stmt, ...]
    regions: Regions
    arrays: tuple[ir.Symbol, ...]
    written: tuple[ir.Symbol, ...]
    scalars: tuple[ir.Symbol, ...]
    bounds: tuple[tuple[ir.Symbol, ir.Symbol], ...]
    results: tuple[ir.Symbol, ...]
    reduced: Mapping[ir.Symbol, Combination]
    listed: tuple[StoreList, ...]
    raises: bool
    divides: bool
    numbers: tuple[int, ...]


def kernel_of(
    fn: ir.Function,
    body: tuple[ir.Stmt, ...],
    loops: Sequence[ir.For],
    arrays: Iterable[ir.Symbol],
    results: tuple[ir.Symbol, ...] = (),
    reduced: Mapping[ir.Symbol, Combination] = NOTHING,
    scattered: Mapping[ir.Symbol, Sequence[ir.Store | ir.Update]] = NOTHING,
) -> Kernel:
    """loops: those of the body that are blocked. arrays: those that live outside of the nest. results: scalars that
    the body computes for the caller; it takes those that it may leave as they are. reduced: arrays of which each block
    has a copy. scattered: stores that it lists.

        for i in range(1, n - 1): b[i] = a[i - 1]

    becomes

        for i in range(low, high): b[i - origin] = a[i - 1 - origin_2]
    """
    supply = NameSupply.after(fn)
    fresh = functools.partial(supply.fresh, type_=DType.INT64)
    bounds = {loop.var: (fresh("low"), fresh("high")) for loop in loops}
    body = tuple(rewrite(stmt, lambda n: _bounded(n, bounds)) for stmt in body)
    body, listed = with_store_lists(fn, body, scattered, supply)
    used = set(symbols_of(body))
    touched = tuple(a for a in arrays if a in used)
    ends = tuple(bounds.values())
    flat = tuple(s for pair in ends for s in pair)
    lists = tuple(s for of in listed for s in (of.where, of.values))
    taken = {*exposed(body), *results} - (surely_assigned(body) - exposed(body).keys())
    scalars = tuple(sorted(taken - {*(loop.var for loop in loops_of(body)), *flat}, key=lambda s: s.uid))
    returned = tuple(result_of(ir.Var(s, loc=fn.loc)) for s in (*results, *(of.count for of in listed)))
    tree = tuple(range(len(returned))) if returned else None
    whole = replace(fn, name=NAME, params=(*touched, *lists, *scalars, *flat), body=body, results=returned, tree=tree,
                    guards=())  # fmt: skip
    extents = {(a, k): fresh("extent") for a in touched for k in range(a.array.ndim)}
    origins = {of: fresh("origin") for of in extents}
    in_windows = rewrite_all(body, lambda n: _windowed(as_numpy(n), extents, origins))
    read, numbers = scalars_read(in_windows), (*extents.values(), *origins.values(), *flat)
    wanted = tuple(k for k, number in enumerate(numbers) if number in read)
    params = (*touched, *lists, *scalars, *(numbers[k] for k in wanted))
    windowed = replace(whole, params=params, body=in_windows)
    changed = arrays_written(body)
    written = tuple(a for a in touched if a in changed and a not in reduced)
    text, regions = print_function(windowed, located=True), Regions(whole)
    raises, divides = any(isinstance(n, ir.Fail) for n in walk(body)), may_raise(windowed.body)
    return Kernel(
        text,
        body,
        regions,
        touched,
        written,
        scalars,
        ends,
        results,
        reduced,
        listed,
        raises,
        divides,
        wanted,
    )


def python_of(fn: ir.Function, node: ir.Expr | ir.Fail) -> tuple[Sequence[ir.Symbol], Callable[..., Any]]:
    """A Python function that gives the value of a node which reads no elements of arrays, or raises; with its
    parameters, scalars and arrays."""
    params = (*{n.array for n in walk(node) if isinstance(n, ir.Extent)}, *scalars_read(node))
    new = rewrite(node, as_numpy)
    body, results = ((new,), ()) if isinstance(new, ir.Fail) else ((), (result_of(new),))
    made = replace(
        fn, name=NAME, params=params, body=body, tree=0 if results else None, guards=(), results=results
    )
    return params, function_of(print_function(made, located=True))


def is_pythons(scalar: ir.Expr | ir.Symbol) -> bool:
    """Whether kernels take and return it as a number of Python's, as which its type is known too."""
    return scalar.dtype in (DType.BOOL, DType.INT64, DType.FLOAT64, DType.COMPLEX128)


def result_of(expr: ir.Expr) -> ir.Result:
    """Returns a scalar such that a function that takes it knows its type."""
    return ir.Result(expr, python=is_pythons(expr), loc=expr.loc)


def as_numpy(node: ir.Node) -> ir.Node:
    """An operation of NumPy's numbers as one in text too, where scalars are Python's: integers do not wrap there,
    and powers of floats raise."""
    match node:
        case ir.Binary(trap=False, python=False) if (
            is_pythons(node)
            and not is_numpy(node)
            and (node.op == "**" or (node.op in GROWING and node.dtype is DType.INT64))
        ):
            return replace(node, lhs=ir.Cast(node.lhs, node.dtype, loc=node.loc))
        case ir.Unary("-", python=False) if node.dtype is DType.INT64 and not is_numpy(node):
            return replace(node, arg=ir.Cast(node.arg, DType.INT64, loc=node.loc))
        case ir.Update(trap=False, python=False, index=()) if node.op in ("+", "*") and (
            node.target.dtype is DType.INT64 and not is_numpy(node.value)
        ):
            return replace(node, value=ir.Cast(node.value, DType.INT64, loc=node.loc))
        case _:
            return node


def depends_on(bound: ir.Expr, variables: Iterable[ir.Symbol]) -> bool:
    """Whether a bound of a blocked loop depends on others: a block may have iterations beyond it then, or none."""
    return not scalars_read(bound).isdisjoint(variables)


def _bounded(node: ir.Node, bounds: Mapping[ir.Symbol, tuple[ir.Symbol, ir.Symbol]]) -> ir.Node:
    if not isinstance(node, ir.For):
        return node
    # The block's own analysis finds parallel loops again: text would ask for them.
    node = replace(node, mode=ir.LoopMode.SEQUENTIAL)
    if node.var not in bounds:
        return node
    low, high = (ir.Var(s, loc=node.loc) for s in bounds[node.var])
    first = ir.Binary("max", node.lo, low, loc=node.loc) if depends_on(node.lo, bounds) else low
    end = ir.Binary("min", node.hi, high, loc=node.loc) if depends_on(node.hi, bounds) else high
    return replace(node, lo=first, hi=end)


def _windowed(
    node: ir.Node, extents: dict[Any, ir.Symbol], origins: dict[Any, ir.Symbol]
) -> ir.Node | tuple[ir.Node, ...]:
    def moved(array: ir.Symbol, index: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
        if (array, 0) not in origins:
            return index
        return tuple(
            ir.Binary("-", e, ir.Var(origins[array, k], loc=e.loc), loc=e.loc) for k, e in enumerate(index)
        )

    match node:
        case ir.Extent(array=array, axis=axis) if (array, axis) in extents:
            return ir.Var(extents[array, axis], loc=node.loc)
        case ir.Load() | ir.Store():
            return replace(node, index=moved(node.array, node.index))
        case ir.Update():
            return replace(node, index=moved(node.target, node.index))
        case ir.BoundsCheck():
            return ()  # `Regions` has tested it
        case _:
            return node


PART_KEPT = 8
"""Memory that is kept for the next task counts as a worker's: it is this part of what the worker may use at most."""

Maker: TypeAlias = Callable[[Any, Options], Callable[..., Any]]


@functools.lru_cache(maxsize=256)
def function_of(text: str) -> Callable[..., Any]:
    """The Python function of a text, which has the name NAME."""
    file = f"<appyc block {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {}
    exec(compile(text, file, "exec"), namespace)  # as the front end reads it
    return namespace[NAME]  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=256)
def compiled(make: Maker, text: str, options: Options) -> Callable[..., Any]:
    """The function of a text, compiled in the process that asks for it."""
    if (limit := _memory_limit()) is not None:
        limit_pool(limit // PART_KEPT)
    return make(function_of(text), options)


def _memory_limit() -> int | None:
    """The bytes of memory that the worker in which this runs may use; None where there is no worker, or no limit."""
    if "distributed" in sys.modules:
        with suppress(ValueError):  # no worker
            limit: int | None = sys.modules["distributed"].get_worker().memory_manager.memory_limit
            return limit
    return None


@dataclass(frozen=True, slots=True)
class Block:
    """The function of a task: kernels on windows. It takes the parts of one window after the other, and then
    the numbers that other tasks compute. make: compiles a Python function. launches: scalars that are taken
    are None in them.

    results: of each written array the number of its window, and the part of it that is written. The scalars that the
    last kernel returns come behind them. is_chunk: there is one result, which is no tuple then.
    """

    make: Maker
    options: Options
    windows: Sequence[Window]
    launches: Sequence[Launch]
    results: Results
    is_chunk: bool = False

    def __call__(self, *given: Any) -> Any:
        taken = iter(given)
        written = {number for number, _ in self.results}
        own = [joined(window, [*itertools.islice(taken, len(window.targets))], is_written=number in written)
               for number, window in enumerate(self.windows)]  # fmt: skip
        scalars: tuple[Any, ...] = ()
        for text, arrays, words in self.launches:
            numbers = [next(taken) if word is None else word for word in words]
            # Python has larger integers.
            is_large = any(type(n) is int and not is_within((n, n), limits(DType.INT64)) for n in numbers)
            function = function_of(text) if is_large else compiled(self.make, text, self.options)
            scalars = function(*(own[number] for number in arrays), *numbers) or ()
        found = (*(own[number][part] for number, part in self.results), *scalars)
        return in_c_order(found[0]) if self.is_chunk else found
