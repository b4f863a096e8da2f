"""Chunks for arrays that come without: how they are accessed says along which axis, and the workers say how many.

for i in range(n):                    `a` is cut along axis 0, as the outermost loop moves along it:
    for j in range(m): a[i, j] = ...  for each thread some chunks, which several times over fit into its memory
"""

from __future__ import annotations

import itertools
import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import dask

from appyc.distributed.scattering import accesses_by_array
from appyc.ir.affine import linear_form
from appyc.ir.nodes import Load, Stmt, Symbol, Var
from appyc.ir.visit import arrays_written, loops_of

LEAST = 2 << 20
"""Bytes of an array of which further chunks are not worth their tasks."""

CHUNKS_OF_THREAD, PART_OF_MEMORY = 2, 32
"""Chunks for each thread, and how many of them fit into its memory at least: a block has several, and copies."""

COPIES_IN_MEMORY = 4

_IN_THIS_PROCESS = (None, "threads", "threading", "sync", "synchronous", "single-threaded")
"""Dask's names of schedulers whose tasks run as threads of this process."""


def _moved_along(body: Sequence[Stmt], array: Symbol) -> tuple[int | None, bool]:
    """The axis along which the outermost loops move that move along any, of stores if there are some; and whether all
    accesses do."""
    axes: dict[int, int] = {}
    accesses = accesses_by_array(body, [array]).get(array, [])
    for loop in loops_of(body):
        for node in accesses_by_array(loop, [array]).get(array, ()):
            for axis, e in enumerate(node.index):
                if Var(loop.var, loc=e.loc) in linear_form(e).terms:
                    axes.setdefault(id(node), axis)
    stores = [axes[id(n)] for n in accesses if id(n) in axes and not isinstance(n, Load)]
    votes = Counter(stores or axes.values()).most_common(1)
    return (votes[0][0] if votes else None), all(id(n) in axes for n in accesses)


def chosen_chunks(
    body: Sequence[Stmt], array: Symbol, shape: Sequence[int], beside: Iterable[tuple[int, ...]] = ()
) -> tuple[tuple[int, ...], ...]:
    """Chunks along one axis: like those of an axis that is as long, of these, or all of about the same size. One chunk
    of an array that is not stored into, and of which blocks take other parts too."""
    whole = tuple((length,) for length in shape)
    nbytes = math.prod(shape) * array.dtype.itemsize
    if nbytes <= LEAST:
        return whole
    axis, is_apart = _moved_along(body, array)
    if axis is None or not (is_apart or array in arrays_written(body)):
        return whole
    for side in beside:
        if len(side) > 1 and sum(side) == shape[axis]:
            return (*whole[:axis], side, *whole[axis + 1 :])
    threads, memory = _resources()
    count = max(math.ceil(nbytes * PART_OF_MEMORY / memory), min(CHUNKS_OF_THREAD * threads, nbytes // LEAST))
    ends = [shape[axis] * k // min(count, shape[axis]) for k in range(min(count, shape[axis]) + 1)]
    cut = tuple(b - a for a, b in itertools.pairwise(ends))
    return (*whole[:axis], cut, *whole[axis + 1 :])


def _client() -> Any:
    """The client of Dask's workers, None where there is none."""
    if "distributed" in sys.modules:
        with suppress(ValueError):  # there is none
            return sys.modules["distributed"].default_client()
    return None


def have_one_memory(nbytes: int) -> bool:
    """Whether the tasks of a call over so many bytes of arrays will run as threads of this process, and these fit into
    its memory several times. Where they do not, a chunk must not live longer than a task needs more than its sides."""
    if dask.config.get("scheduler", None) not in _IN_THIS_PROCESS or _client() is not None:
        return False
    return nbytes * COPIES_IN_MEMORY <= _memory()


def _resources() -> tuple[int, int]:
    """The threads that tasks run on, and the bytes of memory for each: those of Dask's workers, or of this machine."""
    client = _client()
    if client is not None and (threads := sum(client.nthreads().values())):
        workers = client.scheduler_info()["workers"].values()
        memory = min((w["memory_limit"] // w["nthreads"] for w in workers if w["memory_limit"]), default=0)
        return threads, memory or _memory() // threads
    threads = dask.config.get("num_workers", None) or os.cpu_count() or 1
    return threads, _memory() // threads


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
