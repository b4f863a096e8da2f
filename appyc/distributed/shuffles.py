"""Stores through index arrays over blocks: each block lists its stores for each chunk, and a task a chunk does them.

    blocks of iterations      lists               chunks of the target
    ┌─────────┐    for chunk 0, 1, 2, ...    ┌──────────────────────────┐
    │ block 0 │ ───────────┬───────────────► │ chunk 0: those of 0, 1.. │
    │ block 1 │ ───────────┴───────────────► │ chunk 1: those of 0, 1.. │
    └─────────┘                              └──────────────────────────┘

A chunk takes the lists in the order of the blocks, so that its stores come in the order of the iterations.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from appyc.distributed.chunk_grids import Grid, Key, Window, in_c_order
from appyc.distributed.kernels import Block, Maker, Results, compiled
from appyc.distributed.scattering import StoreList
from appyc.options import Options

Stores: TypeAlias = tuple[np.ndarray, np.ndarray]
"""The indices and the values of stores into one chunk."""

Target: TypeAlias = list[Any]
"""The target of a shuffle, an array that is stored into: its name, where its chunks begin along each axis,
the type of values, the number of columns of a list of indices, and the location of the statements."""


def target_of(stores: StoreList, grid: Grid) -> Target:
    starts = [np.array(axis) for axis in grid.starts]
    return [stores.array.name, starts, stores.values.dtype.numpy, stores.columns, list(stores.locations)]


@dataclass(frozen=True, slots=True)
class ListingBlock:
    """A block whose kernel lists stores into some arrays. For each of these the result has the stores into each chunk.
    A kernel with more stores than there is room for runs again."""

    block: Block
    targets: Sequence[Target]

    def __call__(self, *given: Any) -> tuple[Any, ...]:
        ((text, arrays, numbers),) = self.block.launches
        windows, targets = self.block.windows, self.targets
        sizes = [max((math.prod(window.shape) for window in windows), default=1)] * len(targets)
        while True:
            lists = [
                Window(shape, np.empty(0, dtype))
                for size, (_, _, of, columns, _) in zip(sizes, targets, strict=True)
                for shape, dtype in (([size, columns], np.int64), ([size], of))
            ]
            order = range(len(windows), len(windows) + len(lists))
            of_lists: Results = [(n, (slice(None),)) for n in order]
            launches, results = [(text, [*arrays, *order], numbers)], [*of_lists, *self.block.results]
            listing = replace(self.block, windows=[*windows, *lists], launches=launches, results=results)
            made = listing(*given)
            counts = made[len(made) - len(targets) :]
            if all(count <= size for count, size in zip(counts, sizes, strict=True)):
                break
            sizes = [max(pair) for pair in zip(counts, sizes, strict=True)]
        found = zip(targets, made[: len(lists) : 2], made[1 : len(lists) : 2], counts, strict=True)
        by_chunk = [_by_chunk(target, where[:n], values[:n]) for target, where, values, n in found]
        return (*by_chunk, *made[len(lists) : len(made) - len(targets)])


def _by_chunk(target: Target, where: np.ndarray, values: np.ndarray) -> list[Stores]:
    """The stores into each chunk, with indices in the chunk. Raises IndexError for those outside of the array."""
    name, starts, _, _, locations = target
    chunk = np.zeros(len(where), np.int64)
    for axis, begins in enumerate(starts):
        index, extent = where[:, axis], begins[-1]
        outside = (index < -extent) | (index >= extent)
        if outside.any():
            first = int(outside.argmax())
            location = locations[where[first, -1] if len(locations) > 1 else 0]
            raise IndexError(
                f"{location}: index {index[first]} is out of bounds for axis {axis} of {name!r} with size {extent}"
            )
        index[index < 0] += extent
        number = np.searchsorted(begins, index, side="right") - 1
        index -= begins[number]
        chunk = chunk * (len(begins) - 1) + number
    chunks = math.prod(len(begins) - 1 for begins in starts)
    short = chunk.astype(np.min_scalar_type(chunks))  # which sort in one pass
    order = np.argsort(short, kind="stable")
    ends = itertools.pairwise([0, *np.cumsum(np.bincount(chunk, minlength=chunks))])
    return [(where[part], values[part]) for part in (order[first:end] for first, end in ends)]


def store_lists(
    stores: StoreList, number: int, grid: Grid, blocks: Sequence[Key], make: Maker, options: Options
) -> None:
    """Writes the tasks that do the stores of all blocks, one for each chunk. number: of the list among the results."""
    graph, grid.is_changed, grid.is_ahead = grid.graph, True, True
    for chunk, (at, held) in enumerate(grid.keys.items()):
        lists = [graph.add("stores", _stores, block, number, chunk) for block in blocks]
        grid.keys[at] = graph.add("store", _stored, make, options, stores.apply, held, lists)


def _stores(results: Sequence[Any], number: int, chunk: int) -> Stores:
    stores: Stores = results[number][chunk]
    return stores


def _stored(
    make: Maker, options: Options, text: str, chunk: np.ndarray, lists: Sequence[Stores]
) -> np.ndarray:
    """A chunk behind some stores."""
    new = chunk.copy()
    in_order = replace(options, auto=False, boundscheck=False)  # the indices are tested
    for where, values in lists:
        if len(values):
            compiled(make, text, in_order)(new, in_c_order(where), in_c_order(values))
    return new
