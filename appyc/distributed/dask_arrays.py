"""The tasks of a graph and what they compute, as Dask takes them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks
from dask.core import subs
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from appyc.distributed.chunk_choice import chosen_chunks
from appyc.distributed.chunk_grids import BLOCK, Graph, Grid, Grids, Key
from appyc.ir.nodes import Stmt, Symbol

MOST_IN_ONE = 16
"""Tasks that become one: Dask runs them by recursion."""


def keys_in(task: Any) -> Iterator[Key]:
    """The keys in a task, each as often as it is taken."""
    if isinstance(task, list):
        for each in task:
            yield from keys_in(each)
    elif type(task) is tuple and task:
        if isinstance(task[0], str):
            yield task
        elif callable(task[0]):
            for each in task[1:]:
                yield from keys_in(each)


def fuse_tasks(graph: Graph, scalars: Iterable[Key], grids: Iterable[Grid]) -> None:
    """Puts a task into the only one that takes its result, where nothing waits longer for that, and notes which ones
    others take. scalars, grids: the results that are wanted.

        total = sum of blocks; mean = mean of total          ->  mean = mean of (sum of blocks)

    Dask fuses such chains too, and then orders the tasks of each one anew whenever it runs it, which takes longer than
    a small task."""
    graph.tasks = tasks = dict(graph.tasks)  # arrays that have been given out keep the tasks that they name
    kept = {*scalars, *(key for grid in grids for key in grid.keys.values())}
    taken = {key: [*keys_in(task)] for key, task in tasks.items()}
    uses, needs = Counter(itertools.chain(*taken.values())), {key: {*each} for key, each in taken.items()}
    sizes: dict[Key, int] = {}
    for key in list(tasks):
        asked = list(needs[key])
        while asked:
            inner = asked.pop()
            both = sizes.get(key, 1) + sizes.get(inner, 1)
            if uses[inner] != 1 or inner not in tasks or inner in kept or both > MOST_IN_ONE:
                continue
            early = needs[inner].union(*(needs.get(need, ()) for need in needs[inner]))
            if BLOCK in inner[0] and BLOCK not in key[0]:
                continue
            if needs[inner] and not needs[key] - {inner} <= early:
                continue
            tasks[key], sizes[key] = subs(tasks[key], inner, tasks.pop(inner)), both
            needs[key] = (needs[key] - {inner}) | needs.pop(inner)
            asked += needs[key]
    graph.taken = {need for each in needs.values() for need in each}


def _with(name: str, layer: dict[Key, object], graph: Graph) -> HighLevelGraph:
    """The graph with one more layer, which may name all that it computes or has been given."""
    shared = f"tasks-{graph.token}"
    below = HighLevelGraph.from_collections(shared, graph.tasks, graph.sources)
    needs = {shared, *below.dependencies[shared]}
    return HighLevelGraph({**below.layers, name: layer}, {**below.dependencies, name: needs})


def array_of(name: str, grid: Grid) -> Any:
    """The present contents of a grid. Tasks that no others take get the names of chunks."""
    graph, taken = grid.graph, grid.graph.taken
    own = {at: k for at, k in grid.keys.items() if taken is not None and k in graph.tasks and k not in taken}
    of_block = next((key[0] for key in own.values() if BLOCK in key[0]), "")
    name = f"{of_block.removesuffix(graph.token)}{name}-{graph.token}"
    layer = {(name, *at): graph.tasks.pop(key) if at in own else key for at, key in grid.keys.items()}
    return da.Array(_with(name, layer, graph), name, grid.chunks, meta=grid.meta)


def zeros(body: Sequence[Stmt], symbol: Symbol, shape: tuple[int, ...], grids: Grids, graph: Graph) -> Grid:
    """A new array of a program, in chunks like those of another of its shape, or along each axis like those of one as
    long that is cut; with neither, in chunks that are chosen."""
    dtype = symbol.dtype.numpy
    known: dict[int, Any] = {}
    for grid in grids.values():
        for length, sizes in zip(grid.shape, grid.chunks, strict=True):
            if len(sizes) > 1:
                known.setdefault(length, sizes)
    like = next((grid for grid in grids.values() if grid.shape == shape), None)
    if like is not None:
        chunks = like.chunks
    elif known.keys() & {*shape}:
        chunks = normalize_chunks(tuple(known.get(length, "auto") for length in shape), shape, dtype=dtype)
    else:
        chunks = chosen_chunks(body, symbol, shape)
    of = like or next(iter(grids.values()), None)
    array = da.Array({}, "", chunks, dtype, None if of is None else of.meta)
    grid = Grid(symbol.name, array, graph)
    for at in grid.keys:
        grid.keys[at] = graph.add("zeros", _zeros, [high - low for low, high in grid.box(at)], grid.meta)
    return grid


def _zeros(shape: Sequence[int], like: Any) -> Any:
    """Zeros; NumPy's need the memory of one."""
    is_numpys = isinstance(like, np.ndarray)
    return np.broadcast_to(np.zeros((), like.dtype), shape) if is_numpys else np.zeros_like(like, shape=shape)


def number_of(name: str, key: Key, dtype: Any, graph: Graph) -> Any:
    """A scalar as an array without axes."""
    name = f"{name}-{graph.token}"
    return da.Array(_with(name, {(name,): (np.asarray, key, dtype)}, graph), name, (), dtype)


def run(graph: Graph, grids: Collection[Grid], keys: Sequence[Key]) -> list[Any]:
    """Computes scalars now, and with them what the arrays have become. The graph goes on from there."""
    changed = [grid for grid in grids if grid.is_ahead]
    fuse_tasks(graph, keys, grids)
    arrays = [array_of(f"until-{number}", grid) for number, grid in enumerate(changed)]
    name = f"numbers-{graph.token}"
    *arrays, numbers = dask.persist(*arrays, Delayed(name, _with(name, {name: (list, list(keys))}, graph)))
    for grid, array in zip(changed, arrays, strict=True):
        grid.keys = {at: (array.name, *at) for at in grid.keys}
        grid.is_ahead = False
    graph.go_on(arrays)
    return list(numbers.compute())
