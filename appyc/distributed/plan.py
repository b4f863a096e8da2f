"""The plan of a call over chunked arrays: its layers of tasks, the bytes that they move between chunks, a picture."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TypeAlias

import numpy as np
from dask.core import keys_in_tasks

from appyc.analysis.accesses.access_boxes import Box, volume
from appyc.distributed.chunk_grids import At, Graph, Grid, Key, Slices
from appyc.distributed.scattering import StoreList

Holder: TypeAlias = tuple[tuple[tuple[int, ...], ...], At]
"""Where a chunk lies: chunks at one position of arrays that are cut alike are together."""

STORES = (
    "stores at indices that elements say: counted as one in each iteration, spread evenly over the chunks"
)
NO_STORES = "how many stores its blocks send to other chunks depends on data: not counted"


@dataclass(slots=True)
class Layer:
    """The tasks of one execution of a nest. first: the number of its first task. blocks: tasks that run the nest.
    tasks: all, with those that take chunks apart and put them together. moved: bytes of arrays that blocks take from
    other chunks, or store there. least: of these, the bytes of the elements that they touch. joined: how many chunks of
    an array, by name and axis, a block joins at most, halos aside. notes: what to add."""

    line: int
    first: int
    blocks: int = 0
    tasks: int = 0
    moved: int = 0
    least: int = 0
    joined: dict[tuple[str, int], int] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """`str()` is for reading, the fields are for programs. is_complete: false where what follows depends on values that
    tasks compute. step: the tasks of one step, with those that each one needs."""

    function: str
    layers: tuple[Layer, ...]
    step: dict[str, tuple[str, ...]]
    is_complete: bool

    def __str__(self) -> str:
        lines = [f"{self.function}, over chunked arrays: {_count(sum(x.tasks for x in self.layers), 'task')}"]
        by_line: dict[int, list[Layer]] = defaultdict(list)
        for layer in self.layers:
            by_line[layer.line].append(layer)
        for line, layers in by_line.items():
            blocks, tasks = sum(x.blocks for x in layers), sum(x.tasks for x in layers)
            moved, least = sum(x.moved for x in layers), sum(x.least for x in layers)
            lines.append(
                f"  line {line:<4} {_count(len(layers), 'layer')}, {_count(blocks, 'block')}, {_count(tasks, 'task')}; "
                f"moves {moved:,} bytes between chunks, of which it needs {least:,}"
            )
            notes = dict.fromkeys(note for layer in layers for note in layer.notes)
            lines += [f"             {note}" for note in notes]
            for name, axis in dict.fromkeys(of for layer in layers for of in layer.joined):
                most = max(layer.joined.get((name, axis), 0) for layer in layers)
                lines.append(f"             a block takes {most} chunks of {name!r} along axis {axis}")
        if not self.is_complete:
            lines.append("  what follows depends on values that these tasks compute")
        return "\n".join(lines) + "\n"

    @property
    def mermaid(self) -> str:
        """The text that Mermaid draws the tasks of one step from."""
        numbers = {name: f"t{n}" for n, name in enumerate(self.step)}
        lines = ["flowchart TD", *(f'  {numbers[name]}["{name}"]' for name in self.step)]
        lines += [
            f"  {numbers[need]} --> {numbers[name]}" for name, needs in self.step.items() for need in needs
        ]
        return "\n".join(lines) + "\n"

    @property
    def svg(self) -> str:
        """A picture of the tasks of one step: each below those that it needs."""
        rows: Counter[int] = Counter()
        at: dict[str, tuple[int, int]] = {}
        parts, boxes = list[str](), list[str]()
        for name, needs in self.step.items():
            y = max((at[need][1] + 60 for need in needs), default=10)
            x = 10 + 190 * rows[y]
            rows[y] += 1
            at[name] = x, y
            for a, b in (at[need] for need in needs):
                parts.append(f'<path d="M{a + 85} {b + 24}L{x + 85} {y}" stroke="#6b7a88"/>')
            boxes.append(f'<rect x="{x}" y="{y}" width="170" height="24" fill="#e3eefb" stroke="#3b6ea8"/>')
            boxes.append(
                f'<text x="{x + 6}" y="{y + 16}" font-family="monospace" font-size="11">{name}</text>'
            )
        parts += boxes
        width, height = 190 * max(rows.values(), default=0) + 10, 60 * len(rows) + 10
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{"".join(parts)}</svg>\n'

    def save(self, path: str | Path) -> None:
        """Writes the picture, or Mermaid's text where the name ends in ".mmd"."""
        Path(path).write_text(self.svg if Path(path).suffix == ".svg" else self.mermaid, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("s" if number != 1 else "")


@dataclass(slots=True)
class Counting:
    """Counts while a graph is written."""

    layers: list[Layer] = field(default_factory=list)
    seen: set[object] = field(default_factory=set)
    touched: dict[tuple[Key, Holder], tuple[Layer, int, list[Slices]]] = field(default_factory=dict)

    def begin(self, line: int, graph: Graph) -> None:
        self.layers.append(Layer(line, graph.count))

    def block(
        self,
        reads: Sequence[tuple[Grid, Sequence[Box], Sequence[Box]]],
        writes: Sequence[tuple[Grid, Box]],
        listed: Iterable[tuple[Grid, int | None, StoreList]] = (),
    ) -> None:
        """A block, which runs where most of its bytes are. reads: what it takes and what it touches of each array.
        listed: the stores that it lists, and how many, spread over the chunks as their elements are."""
        layer = self.layers[-1]
        layer.blocks += 1
        taken = [(grid, at, part) for grid, boxes, _ in reads for at, part in _pieces(grid, boxes)]
        put = [(grid, at, part) for grid, box in writes for at, part in _pieces(grid, [box])]
        for grid, box in [*((grid, box) for grid, boxes, _ in reads for box in boxes), *writes]:
            for side in ((grid.name, axis) for axis in range(len(grid.shape))):
                if (count := grid.joined(box, side[1])) > 1:
                    layer.joined[side] = max(count, layer.joined.get(side, 0))
        weights: Counter[Holder] = Counter()
        for grid, at, part in (*taken, *put):
            weights[grid.chunks, at] += _size(grid, part)
        holder = max(weights, key=weights.__getitem__, default=None)
        for grid, most, stores in listed:
            away = sum(volume(grid.box(at)) for at in grid.keys if (grid.chunks, at) != holder)
            count = round((most or 0) * away / max(math.prod(grid.shape), 1))
            layer.moved += count * stores.nbytes(stores.columns)
            layer.least += count * stores.nbytes(len(grid.shape))
            layer.notes[STORES if most is not None else NO_STORES] = None
        if holder is None:
            return
        for grid, at, part in taken:
            known = (grid.keys[at], str(part), holder)
            if (grid.chunks, at) != holder and known not in self.seen:
                self.seen.add(known)
                layer.moved += _size(grid, part)
        for grid, boxes, touched in reads:
            for at, part in _pieces(grid, touched) if boxes else ():
                if (grid.chunks, at) != holder:
                    of = (layer, grid.dtype.itemsize, list[Slices]())
                    self.touched.setdefault((grid.keys[at], holder), of)[2].append(part)
        for grid, at, part in put:
            if (grid.chunks, at) != holder:
                layer.moved += _size(grid, part)
                layer.least += _size(grid, part)

    def plan(self, function: str, graph: Graph, *, is_complete: bool) -> Plan:
        for layer, itemsize, parts in self.touched.values():
            layer.least += itemsize * _elements(parts)
        ends = [*(layer.first for layer in self.layers[1:]), graph.count]
        for layer, end in zip(self.layers, ends, strict=False):  # without a nest, there is no layer
            layer.tasks = sum(layer.first <= number < end for _, number in graph.tasks)
        lines = [layer.line for layer in self.layers]
        repeats = [n for n, line in enumerate(lines) if line in lines[:n]]
        end = ends[repeats[0] - 1] if repeats else graph.count
        step = {key: task for key, task in graph.tasks.items() if key[1] < end}
        names = {key: f"{key[0].removesuffix(graph.token).rstrip('-')} {key[1]}" for key in step}
        needs = {
            names[key]: tuple({names[k]: None for k in keys_in_tasks(names, [task], as_list=True)})
            for key, task in step.items()
        }
        return Plan(function, tuple(self.layers), needs, is_complete)


def _pieces(grid: Grid, boxes: Iterable[Box]) -> Iterator[tuple[At, Slices]]:
    return ((at, part) for box in boxes for at, part, _ in grid.overlaps(box))


def _size(grid: Grid, part: Slices) -> int:
    return int(math.prod(s.stop - s.start for s in part) * grid.dtype.itemsize)


def _elements(parts: Sequence[Slices]) -> int:
    """The number of elements in the union of some boxes."""
    cuts = [sorted({end for part in parts for end in (part[axis].start, part[axis].stop)})
            for axis in range(len(parts[0]))]  # fmt: skip
    is_in = np.zeros([len(ends) - 1 for ends in cuts], bool)
    for part in parts:
        sides = zip(part, cuts, strict=True)
        is_in[tuple(slice(ends.index(s.start), ends.index(s.stop)) for s, ends in sides)] = True
    sizes = reduce(np.multiply.outer, map(np.diff, cuts), np.array(1))
    return int(np.sum(is_in * sizes))
