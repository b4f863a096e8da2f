"""Launches of a host loop that are recorded: which ones, in which order, and that the results stay."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np
import pytest

from appyc.errors import GENERATED
from appyc.ir.gpu_program import Kernel, Launch, ReadBack, Recorded, ScheduledStmt
from appyc.ir.nodes import Stmt
from appyc.ir.types import DType
from appyc.passes.gpu.record_launches import record_launches
from tests.ir_makers import Program, alloc, assign, expr, load, store
from tests.triton_gen.source_runner import compare, program_of


def converges(a, b, limit):
    """Jacobi iterations until nothing moves by more than the limit."""
    moved = limit + 1.0
    while moved > limit:
        moved = 0.0
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        for i in range(1, a.shape[0] - 1):
            moved = max(moved, abs(b[i] - a[i]))
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i]
    return moved


def stops_early(a, b, limit, n):
    moved = 0.0
    for _ in range(n):
        moved = 0.0
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
            moved = max(moved, abs(b[i] - a[i]))
        for i in range(1, a.shape[0] - 1):
            a[i] = b[i]
        if moved < limit:
            break
    return moved


def scaled(n, a, b):
    """The second launch takes what the first one of the same iteration leaves; the third may not pass it."""
    for _ in range(n):
        largest = 1.0
        for i in range(a.shape[0]):
            largest = max(largest, a[i])
        for i in range(a.shape[0]):
            a[i] = a[i] / largest + 1.0
        for i in range(a.shape[0]):
            b[i] += a[a.shape[0] - 1 - i]
    return largest


p = Program()
a, n = p.array("a", 1), p.integer("n")
cell, value = p.local_array("cell", 1), p.local("value")


def launch(*body: Stmt) -> Launch:
    kernel = Kernel("k", body, 1, 1, None, 1, frozenset(), {}, loc=GENERATED)
    return Launch(kernel, expr(1), loc=GENERATED)


FIRST = launch(store(a, [0], 1.0))
SECOND = launch(store(a, [1], 2.0))
READ = ReadBack(value, cell, loc=GENERATED)


def recorded(*body: ScheduledStmt) -> list[ScheduledStmt]:
    return record_launches(body, lambda stmt: stmt in (FIRST, SECOND, FILLS), count())


FILLS = launch(store(cell, [0], load(a, 0)))


def test_a_launch_passes_what_the_host_does() -> None:
    count_ = p.local("count", DType.INT64)
    counted = assign(count_, n)
    (graph, *rest) = recorded(FIRST, READ, counted, SECOND)
    assert isinstance(graph, Recorded)
    assert graph.body == (FIRST, SECOND)
    assert rest == [READ, counted]


@pytest.mark.parametrize(
    "body",
    [
        [FIRST, READ],
        [FIRST, launch(store(a, [n], 1.0)), SECOND],
        [FIRST, alloc(a, 3), SECOND],
        [FIRST, READ, FILLS],
    ],
    ids=[
        "one launch is worth no graph",
        "one that changes is between",
        "memory is allocated",
        "fills a cell again",
    ],
)
def test_other_launches_stay_where_they_are(body: list[ScheduledStmt]) -> None:
    assert recorded(*body) == body


def test_text(golden: Callable[[str, str], None]) -> None:
    golden("ir/record_launches.txt", program_of(converges, np.ones(5), np.ones(5), 1e-3).host)


def test_no_launch_passes_one_that_changes() -> None:
    recorded = program_of(scaled, 3, np.ones(5), np.ones(5)).host.partition("rt.recorded(0):")[2]
    assert recorded.index("scaled_1_largest") < recorded.index("rt.read(") < recorded.index("scaled_2")
    assert "rt.recorded" not in recorded


@pytest.mark.sampled
@pytest.mark.parametrize("size", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("limit", [1e3, 0.1, 1e-3])
def test_results_of_loops_with_records(size: int, limit: float) -> None:
    a, b = np.arange(float(size)) ** 2, np.zeros(size)
    compare(converges, a, b, limit, build=False)
    compare(stops_early, a, b, limit, 7, build=False)
    compare(scaled, 3, a, b, build=False)
