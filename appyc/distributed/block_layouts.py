"""What a block reads and writes, whichever tasks have the chunks and whatever its numbers are: found once for all calls
over the same chunks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from appyc.analysis.accesses.access_boxes import Box, Region
from appyc.distributed.chunk_gathers import named_parts
from appyc.distributed.chunk_grids import ChunkPart, Grids, Piece, Pieces, Window, are_chunk, inside
from appyc.distributed.kernels import Bounds, Kernel, Named, Results
from appyc.ir.nodes import Symbol

MOST_KNOWN = 1 << 14
"""Layouts that are kept."""


@dataclass(frozen=True, slots=True)
class Layout:
    """regions, chunks: what it depends on. windows, pieces: of each array of the kernel. results: see `Block`. numbers:
    the arguments of the kernel behind its scalars. written: the boxes that it writes, and where they belong.
    raises: whether it may raise. is_chunk: whether the result is one chunk. has_result: whether it has any, else there
    is no task."""

    regions: Mapping[Symbol, Region]
    chunks: Sequence[object]
    windows: Sequence[Window] = ()
    pieces: Pieces = ()
    results: Results = field(default_factory=list)
    numbers: Sequence[int] = ()
    written: Mapping[Symbol, tuple[Box, Sequence[ChunkPart]]] = field(default_factory=dict)
    raises: bool = False
    is_chunk: bool = False
    has_result: bool = True


def layout_of(
    kernel: Kernel, bounds: Bounds, regions: Mapping[Symbol, Region], grids: Grids, named: Named
) -> Layout:
    chunks = [grids[array].chunks for array in kernel.arrays]
    boxes, windows, taken = list[Box](), list[Window](), list[tuple[Symbol, list[Piece]]]()
    whole = dict[Symbol, Box]()
    for array in kernel.arrays:
        grid, region, fill = grids[array], regions.get(array, Region()), None
        box = region.touched or ((0, 0),) * array.array.ndim
        parts = [] if region.is_overwritten else region.parts
        if array in kernel.reduced:
            box, parts, fill = grid.whole, [], kernel.reduced[array].starts[0].value
        elif region.is_overwritten and (around := grid.chunk_around(box)) is not None:
            # The rest of the chunk comes back with the result, which needs no copy to be put into it.
            whole[array], box, parts = around, around, [around]
        for axis in region.named:
            parts = named_parts(parts, axis, named[array, axis], grid)
        window, pieces = grid.window(box, parts, fill)
        boxes.append(box)
        windows.append(window)
        taken.append((array, pieces))
    # Arrays without elements, of which indices are computed all the same.
    without = {a for a in kernel.arrays if 0 in grids[a].shape}
    stored = [(a, regions[a].written) for a in kernel.written if a in regions]
    written = {a: box for a, box in stored if box is not None and a not in without}
    raises = bool(kernel.raises or (kernel.divides and without))
    if not (written or kernel.results or kernel.listed or regions.keys() & kernel.reduced or raises):
        return Layout(regions, chunks, has_result=False)
    put = {**written, **whole, **{a: grids[a].whole for a in kernel.reduced}}
    order = {a: number for number, a in enumerate(kernel.arrays)}
    parts_of = {a: (box, grids[a].chunk_parts(whole.get(a, box))) for a, box in written.items()}
    results = [(order[a], inside(box, boxes[order[a]])) for a, box in put.items()]
    has_others = kernel.results or kernel.listed or kernel.reduced or len(put) != 1
    is_chunk = not has_others and all(are_chunk(parts) for _, parts in parts_of.values())
    numbers = numbers_of(kernel, boxes, bounds, grids)
    return Layout(regions, chunks, windows, taken, results, numbers, parts_of, raises, is_chunk)


def numbers_of(kernel: Kernel, boxes: Sequence[Box], bounds: Bounds, grids: Grids) -> list[int]:
    """The arguments of a kernel behind its scalars."""
    extents = (n for array in kernel.arrays for n in grids[array].shape)
    numbers = [*extents, *(low for box in boxes for low, _ in box), *itertools.chain(*bounds)]
    return [numbers[k] for k in kernel.numbers]
