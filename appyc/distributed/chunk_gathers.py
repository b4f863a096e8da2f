"""Reads of large arrays at indices that are elements of others: which chunks they name is computed before the blocks
are written, and a block takes these alone.

    for i in range(n): b[i] = a[index[i] + 1]         # the chunks of `a` that `index[low:high] + 1` names
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from appyc.analysis.accesses.access_boxes import Box, Region
from appyc.distributed.chunk_grids import Grid, Grids, Key, joined, on_host
from appyc.errors import Loc, Note, UnsupportedError
from appyc.ir.affine import linear_form
from appyc.ir.nodes import Cast, Load, Stmt, Symbol
from appyc.ir.types import DType
from appyc.ir.visit import walk


def tasks_of_names(
    body: Iterable[Stmt], regions: Mapping[Symbol, Region], grids: Grids, loc: Loc
) -> dict[tuple[Symbol, int], Key]:
    """The tasks that name the chunks of each large array that a block reads, for each axis indexed by elements of other
    arrays. Raises UnsupportedError for an index that is no element of an array, but for a constant."""
    out: dict[tuple[Symbol, int], Key] = {}
    for array, region in regions.items():
        for axis in sorted(region.named):
            windows = []
            reads = [n for n in walk(body) if isinstance(n, Load) and n.array == array]
            for node in reads:
                if not any(isinstance(n, Load) for n in walk(node.index[axis])):
                    continue
                form = linear_form(node.index[axis])
                match list(form.terms.items()):
                    case [((Load() as inner) | Cast(Load() as inner, DType.INT64), 1)] if (
                        touched := regions[inner.array].touched
                    ) is not None:
                        read = grids[inner.array].read(touched, regions[inner.array].parts)
                        windows.append([*read, int(form.constant)])
                    case _:
                        raise UnsupportedError(
                            f"which chunks of {array.name!r} a block reads is not known before it runs", node.loc,
                            "index it with an element of an array, plus a constant",
                            label="reads where elements of arrays say",
                            related=tuple(Note(n.loc, f"this element of {n.array.name!r} is one of them")
                                          for n in walk(node.index[axis]) if isinstance(n, Load)),
                        )  # fmt: skip
            starts = grids[array].starts[axis]
            out[array, axis] = grids[array].graph.add(f"names_line_{loc.line}", _names, starts, windows)
    return out


def _names(starts: Sequence[int], windows: list[list[Any]]) -> list[int]:
    """The chunks along an axis that indices name, negative ones from the end."""
    found: set[int] = set()
    for window, pieces, constant in windows:
        index = on_host(joined(window, pieces, is_written=False)).astype(np.int64) + constant
        index = np.where(index < 0, index + starts[-1], index)
        inside = index[(index >= 0) & (index < starts[-1])]
        found.update(np.unique(np.searchsorted(starts, inside, side="right") - 1).tolist())
    return sorted(found)


def named_parts(parts: Iterable[Box], axis: int, chunks: Sequence[int], grid: Grid) -> list[Box]:
    """The parts of a window, along one axis only the chunks of these numbers where a part has all of the axis."""
    starts = grid.starts[axis]
    runs = [(starts[n], starts[n + 1]) for n in chunks if starts[n] < starts[n + 1]]
    out: list[Box] = []
    for box in parts:
        sides = runs if box[axis] == (0, starts[-1]) else [box[axis]]
        out += [(*box[:axis], side, *box[axis + 1 :]) for side in sides]
    return out
