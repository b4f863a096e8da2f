"""CUDA graphs of the launches that the loops of a host program repeat."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

STEPS_OF_A_GRAPH = 16
"""Iterations in a graph: one launch of it for so many."""


def graphed(steps: range, cupy: Any, on_stream: Callable[[int | None], None]) -> Iterator[int]:
    """The iterations of a loop that makes the same launches in each: the first one, which compiles and loads, then some
    that are captured in a CUDA graph. The graph runs as often as it fits the rest, without iterations here.

    on_stream: launches go to this stream from now on; None: to the current one.
    """
    yield from steps[:1]
    rest = steps[1:]
    size = min(len(rest), STEPS_OF_A_GRAPH)
    if size > 1:
        graph = yield from _captured(rest[:size], cupy, on_stream)
        for _ in range(len(rest) // size):
            graph.launch()
        rest = rest[len(rest) // size * size :]
    yield from rest


class Recording:
    """Launches that a loop makes in each iteration, between other things that the host does. As in `graphed`, the first
    iteration compiles and loads, the second one is captured in a graph, which all others launch."""

    def __init__(self, cupy: Any, on_stream: Callable[[int | None], None]) -> None:
        self._cupy, self._on_stream = cupy, on_stream
        self._is_loaded = False
        self._graph: Any = None

    def launches(self) -> Iterator[int]:
        """One iteration if the launches have to be made, else none."""
        if not self._is_loaded:
            yield 0
            self._is_loaded = True
            return
        if self._graph is None:
            self._graph = yield from _captured(range(1), self._cupy, self._on_stream)
        self._graph.launch()


def _captured(steps: range, cupy: Any, on_stream: Callable[[int | None], None]) -> Generator[int, None, Any]:
    """Iterations whose launches are captured in a graph, which is returned."""
    stream = cupy.cuda.Stream(non_blocking=True)
    stream.begin_capture()
    on_stream(stream.ptr)
    try:
        yield from steps
    finally:
        on_stream(None)
        graph = stream.end_capture()
    return graph
