"""Arrays of Dask's for what a graph computes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from appyc.distributed.chunk_choice import chosen_chunks
from appyc.distributed.chunk_grids import Graph, Grid, Key
from appyc.distributed.fused_tasks import BLOCK, fuse_tasks
from appyc.ir.nodes import Stmt, Symbol


def _with(name: str, layer: dict[Key, object], graph: Graph) -> HighLevelGraph:
    """The graph with one more layer, which may name all that it computes or has been given."""
    shared = f"tasks-{graph.token}"
    below = HighLevelGraph.from_collections(shared, graph.tasks, graph.sources)
    needs = {shared, *below.dependencies[shared]}
    return HighLevelGraph({**below.layers, name: layer}, {**below.dependencies, name: needs})


def array_of(name: str, grid: Grid, graph: Graph) -> Any:
    """The present contents of a grid. Tasks that no others take get the names of chunks."""
    taken = graph.taken
    own = {at: k for at, k in grid.keys.items() if taken is not None and k in graph.tasks and k not in taken}
    of_block = next((key[0] for key in own.values() if BLOCK in key[0]), None)
    name = (
        f"{of_block.removesuffix(graph.token)}{name}-{graph.token}" if of_block else f"{name}-{graph.token}"
    )
    layer = {(name, *at): graph.tasks.pop(key) if at in own else key for at, key in grid.keys.items()}
    return da.Array(_with(name, layer, graph), name, grid.chunks, meta=grid.meta)


def zeros(
    body: Sequence[Stmt], symbol: Symbol, shape: tuple[int, ...], grids: Iterable[Grid], graph: Graph
) -> Grid:
    """A new array of a program, in chunks like those of another of its shape, or along each axis like those of one as
    long that is cut; with neither, in chunks that are chosen."""
    dtype = symbol.dtype.numpy
    known: dict[int, Any] = {}
    new: Any = None
    meta = None
    for grid in grids:
        meta = grid.meta if meta is None else meta
        if grid.shape == shape:
            new, meta = grid.chunks, grid.meta
            break
        for length, chunks in zip(grid.shape, grid.chunks, strict=True):
            if len(chunks) > 1:
                known.setdefault(length, chunks)
    if new is None and known.keys() & set(shape):
        new = tuple(known.get(length, "auto") for length in shape)
    elif new is None:
        new = chosen_chunks(body, symbol, shape)
    name = f"zeros-{len(graph.sources)}-{graph.token}"  # to find one takes Dask milliseconds
    if "auto" in new or not isinstance(meta, np.ndarray):
        array = da.zeros(shape, dtype=dtype, chunks=new, meta=meta, name=name)
        graph.sources.append(array)
        return Grid(array)
    grid = Grid(da.Array({}, name, new, dtype))
    for at, box in [(at, grid.box(at)) for at in grid.keys]:
        grid.keys[at] = graph.add("zeros", _zeros, tuple(high - low for low, high in box), dtype)
    return grid


def _zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Zeros that need the memory of one."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def number_of(name: str, key: Key, dtype: Any, graph: Graph) -> Any:
    """A scalar as an array without axes."""
    name = f"{name}-{graph.token}"
    return da.Array(_with(name, {(name,): (np.asarray, key, dtype)}, graph), name, (), dtype)


def run(graph: Graph, grids: Sequence[Grid], keys: Sequence[Key]) -> list[Any]:
    """Computes scalars now, and with them what the arrays have become. The graph goes on from there."""
    changed = [grid for grid in grids if grid.is_ahead]
    fuse_tasks(graph, {*keys, *(key for grid in grids for key in grid.keys.values())})
    arrays = [array_of(f"until-{number}", grid, graph) for number, grid in enumerate(changed)]
    name = f"numbers-{graph.token}"
    *arrays, numbers = dask.persist(*arrays, Delayed(name, _with(name, {name: (list, list(keys))}, graph)))
    for grid, array in zip(changed, arrays, strict=True):
        grid.keys = {at: (array.name, *at) for at in grid.keys}
        grid.is_ahead = False
    graph.go_on(arrays)
    return list(numbers.compute())
