"""A chunked array while the graph is written: which task holds each chunk now."""

from __future__ import annotations

import itertools
import math
import mmap
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from appyc.analysis.accesses.access_boxes import WHOLE, Box
from appyc.ir.nodes import Symbol
from appyc.runtime.temporary_memory import copied, empty

_NOT_RESERVED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)

NOTHING: Mapping[Any, Any] = {}

BLOCK = "_line_"
"""In the names of tasks of blocks."""

MOST_KEPT = 1.25
"""Bytes that are kept for each of a chunk."""

Key: TypeAlias = Any
Slices: TypeAlias = tuple[slice, ...]

At: TypeAlias = tuple[int, ...]
"""The number of a chunk along each axis."""

ChunkPart: TypeAlias = tuple[At, Slices | None, Slices]
"""A chunk, the part of it where a result belongs, None for all, and the part of the result that belongs there."""

Piece: TypeAlias = tuple[At, Slices | None]
"""A chunk, or a part of it, for which there is a task of its own."""

Pieces: TypeAlias = Sequence[tuple[Symbol, Sequence[Piece]]]
"""Those of each array that a task takes."""


@dataclass(frozen=True, slots=True)
class Task:
    """A scalar that a task computes."""

    key: Key


@dataclass(frozen=True, slots=True)
class Window:
    """A part of an array in one piece. like: an array of its type. targets: where the results of the tasks belong of
    which it is joined, and the parts of these that it takes, None for all. fill: what else it holds."""

    shape: list[int]
    like: Any
    targets: Sequence[tuple[Slices, Slices | None]] = ()
    fill: Any = None


@dataclass(slots=True)
class Graph:
    """The tasks of one call. sources: the arrays of Dask's that they begin with. shares: whether tasks have chunks in
    one memory, so that one that needs a part of a chunk takes all of it. count: of the tasks so far, which are their
    numbers. taken: when the tasks are complete, those that others take, and chunks of sources."""

    token: str
    sources: list[Any]
    shares: bool = False
    count: int = 0
    taken: Collection[Key] | None = None
    tasks: dict[Key, object] = field(default_factory=dict)
    slices: dict[Any, Key] = field(default_factory=dict)

    def go_on(self, arrays: Iterable[Any]) -> None:
        """The tasks up to here have run, and their results are these arrays, beside those that there were."""
        self.token += "-"
        self.sources = [*self.sources, *arrays]
        self.tasks, self.slices, self.taken = {}, {}, None

    def slice(self, key: Key, part: Slices) -> Key:
        """The task that has a part of a chunk: one for all that read it."""
        known = (key, *((s.start, s.stop) for s in part))
        if known not in self.slices:
            self.slices[known] = self.add("slice", _part, key, part)
        return self.slices[known]

    def add(self, what: str, *task: object) -> Key:
        key = (f"{what}-{self.token}", self.count)
        self.count += 1
        self.tasks[key] = task
        return key


class Grid:
    """One array of the program: its chunks, and for each the key of the task that computes its present contents. meta:
    an array of the type of its chunks, which are NumPy's or CuPy's. is_ahead: some of them are not yet run."""

    def __init__(self, name: str, array: Any, graph: Graph) -> None:
        self.name, self.graph, self.dtype, self.meta = name, graph, array.dtype, array._meta
        self.shape: tuple[int, ...] = array.shape
        self.chunks: tuple[tuple[int, ...], ...] = array.chunks
        self.starts = [tuple(itertools.accumulate(sizes, initial=0)) for sizes in array.chunks]
        indices = itertools.product(*(range(len(sizes)) for sizes in self.chunks))
        self.keys: dict[At, Key] = {at: (array.name, *at) for at in indices}
        self.is_changed = self.is_ahead = False

    def overlaps(self, box: Box, window: Box | None = None) -> Iterator[tuple[At, Slices, Slices]]:
        """The chunks that a box overlaps: the part in the chunk, and the same part in a window, or in the box."""
        axes = []
        for (low, high), starts, (first, _) in zip(box, self.starts, window or box, strict=True):
            parts = [(n, max(low, starts[n]), min(high, starts[n + 1])) for n in _meeting(starts, low, high)]
            axes.append([(n, slice(a - starts[n], b - starts[n]), slice(a - first, b - first))
                         for n, a, b in parts if a < b])  # fmt: skip
        for each in itertools.product(*axes):
            yield tuple(p[0] for p in each), tuple(p[1] for p in each), tuple(p[2] for p in each)

    def joined(self, box: Box, axis: int) -> int:
        """The number of chunks along an axis of which a box has half or more; those of halos do not count."""
        (low, high), starts = box[axis], self.starts[axis]
        ends = [(starts[n], starts[n + 1]) for n in _meeting(starts, low, high)]
        return sum(2 * (min(high, b) - max(low, a)) >= b - a > 0 for a, b in ends)

    def _covers(self, at: At, part: Slices) -> bool:
        return all(p.stop - p.start == sizes[n] for p, n, sizes in zip(part, at, self.chunks, strict=True))

    def window(self, window: Box, parts: Iterable[Box], fill: Any = None) -> tuple[Window, list[Piece]]:
        """A window, and the pieces that it is joined of."""
        pieces: list[Piece] = []
        targets: list[tuple[Slices, Slices | None]] = []
        for at, part, target in (one for box in parts for one in self.chunk_parts(box, window)):
            pieces.append((at, None if self.graph.shares else part))
            targets.append((target, part if self.graph.shares else None))
        return Window([high - low for low, high in window], self.meta, targets, fill), pieces

    def taken(self, pieces: Iterable[Piece]) -> list[Key]:
        """The tasks that have these pieces."""
        held, slice_of = self.keys, self.graph.slice
        return [held[at] if part is None else slice_of(held[at], part) for at, part in pieces]

    def read(self, window: Box, parts: Iterable[Box]) -> tuple[Window, list[Key]]:
        """A window, and the tasks of its parts."""
        found, pieces = self.window(window, parts)
        return found, self.taken(pieces)

    def held(self) -> Key:
        """The task that has all of it."""
        if len(self.keys) == 1:
            return next(iter(self.keys.values()))
        return self.graph.add("whole", partial(joined, is_written=True), *self.read(self.whole, [self.whole]))

    def box(self, at: At) -> Box:
        """The elements of a chunk."""
        return tuple((starts[n], starts[n + 1]) for n, starts in zip(at, self.starts, strict=True))

    def chunk_around(self, box: Box) -> Box | None:
        """The elements of the chunk of which a box is a part; None where it is all of one, or of several."""
        parts = self.chunk_parts(box)
        return self.box(parts[0][0]) if len(parts) == 1 and parts[0][1] is not None else None

    @property
    def whole(self) -> Box:
        return tuple((0, length) for length in self.shape)

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * int(self.dtype.itemsize)

    @property
    def largest_chunk(self) -> int:
        """Its bytes."""
        return math.prod(map(max, self.chunks)) * int(self.dtype.itemsize)

    def chunk_parts(self, box: Box, window: Box | None = None) -> list[ChunkPart]:
        """The chunks that a box overlaps; the result is of a window, or of the box."""
        overlaps = self.overlaps(box, window)
        return [(at, None if self._covers(at, part) else part, target) for at, part, target in overlaps]

    def put(self, parts: Sequence[ChunkPart], key: Key, number: int | None) -> None:
        """Puts the result of a task into chunks. number: among its results, if it has several."""
        self.is_changed = self.is_ahead = True
        for at, part, target in parts:
            if part is not None:
                self.keys[at] = self.graph.add("patch", _patch, self.keys[at], key, number, part, target)
            elif number is None and are_chunk(parts):
                self.keys[at] = key
            else:
                self.keys[at] = self.graph.add("chunk", _result, key, number, target)


Grids: TypeAlias = Mapping[Symbol, Grid]


def are_chunk(parts: Sequence[ChunkPart]) -> bool:
    """Whether these are all of one chunk. Without axes, the result of a task may be a number and no array."""
    return len(parts) == 1 and parts[0][0] != () and parts[0][1] is None


def _meeting(starts: Sequence[int], low: int, high: int) -> range:
    """The chunks that may have an element from `low` to below `high`. starts: where they begin, and the last ends."""
    return range(max(bisect_right(starts, low) - 1, 0), bisect_left(starts, high, hi=len(starts) - 1))


def inside(box: Box, window: Box) -> Slices:
    """The part of a window that a box in it is."""
    sides = zip(box, window, strict=True)
    return tuple(slice(low - first, high - first) for (low, high), (first, _) in sides)


def in_c_order(array: np.ndarray) -> np.ndarray:
    """The array, or a copy where it is not as kernels take it: after messages it need not be."""
    flags = array.flags
    return array if flags.c_contiguous and getattr(flags, "aligned", True) else copied(array)


def on_host(array: Any) -> np.ndarray:
    """The array as one of NumPy's."""
    return array if isinstance(array, np.ndarray) else array.get()


def _part(chunk: np.ndarray, part: Slices) -> np.ndarray:
    index: tuple[Any, ...] = (*part, ...)  # an array has it where it has no axes too
    return in_c_order(chunk[index])


def joined(of: Window, pieces: Sequence[np.ndarray], *, is_written: bool) -> np.ndarray:
    """The array of a window. One that is not written may be a chunk itself."""
    shape, like = of.shape, of.like
    pieces = [p if part is None else p[part] for p, (_, part) in zip(pieces, of.targets, strict=True)]
    if len(pieces) == 1 and list(pieces[0].shape) == shape and not is_written:
        return in_c_order(pieces[0])
    size = math.prod(shape) * like.dtype.itemsize
    if of.fill is not None:
        window = np.full_like(like, of.fill, shape=shape)
    elif (
        isinstance(like, np.ndarray)
        and not is_written
        and size > max(WHOLE, 2 * sum(p.nbytes for p in pieces))
    ):
        # most of it may never be touched
        window = np.frombuffer(mmap.mmap(-1, size, flags=_NOT_RESERVED), like.dtype).reshape(shape)
    else:
        window = empty(like, shape)
    for piece, (target, _) in zip(pieces, of.targets, strict=True):
        window[target] = piece
    return window


def _result(results: Any, number: int | None, target: Slices) -> np.ndarray:
    """A chunk. It is a part of the window of the task where that is hardly larger: who takes it copies it anyway."""
    found: np.ndarray = (results if number is None else results[number])[(*target, ...)]
    window = found.base if isinstance(found, np.ndarray) else None
    is_most = isinstance(window, np.ndarray) and window.nbytes <= MOST_KEPT * found.nbytes
    return found if is_most else in_c_order(found)


def _patch(chunk: np.ndarray, results: Any, number: int | None, part: Slices, target: Slices) -> np.ndarray:
    new = copied(chunk)
    new[part] = (results if number is None else results[number])[target]
    return new
