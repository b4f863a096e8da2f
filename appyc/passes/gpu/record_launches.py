"""Launches of a host loop that a device may record in its first iterations, and run again in all others.

    while err > tol:                              while err > tol:
        launch(kernel_1, blocks, a, b)                recorded:
        err = read(cell)                  ->              launch(kernel_1, blocks, a, b)
        launch(kernel_2, blocks, b, a)                    launch(kernel_2, blocks, b, a)
                                                      err = read(cell)

A launch that is the same in each iteration moves ahead of copies to the host and of the arithmetic there, to the last
one like it: kernels do not change what the host knows, and each copy has a cell that one kernel writes. It stays behind
a check for faults that guards it.

Requires: the loop runs once in a call, so that one recording is its own. Does not handle: launches of a product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from appyc.ir.gpu_program import Branch, CheckFaults, ReadBack, Recorded, ScheduledStmt
from appyc.ir.nodes import Assign
from appyc.ir.visit import symbols_of, walk

FEWEST = 2
"""Launches that are worth a graph."""


def record_launches(
    body: Sequence[ScheduledStmt], is_same: Callable[[ScheduledStmt], bool], recordings: Iterator[int]
) -> list[ScheduledStmt]:
    """The body of a loop. is_same: whether each iteration makes a launch with the same arguments. recordings: their
    numbers."""
    groups: list[list[ScheduledStmt]] = []
    out: list[ScheduledStmt | list[ScheduledStmt]] = []
    passed: list[ScheduledStmt] = []
    for stmt in body:
        if not is_same(stmt):
            out.append(stmt)
            passed.append(stmt)
        elif groups and _may_pass(stmt, passed):
            groups[-1].append(stmt)
        else:
            groups.append([stmt])
            out.append(groups[-1])
            passed = []
    flat: list[ScheduledStmt] = []
    for item in out:
        if not isinstance(item, list):
            flat.append(item)
        elif len(item) < FEWEST:
            flat += item
        else:
            flat.append(Recorded(next(recordings), tuple(item), loc=item[0].loc))
    return flat


def _may_pass(launch: ScheduledStmt, passed: Sequence[ScheduledStmt]) -> bool:
    """Whether a launch may run before these statements."""
    cells = {n.cell for n in walk(passed) if isinstance(n, ReadBack)}
    return all(map(_is_of_host, passed)) and not any(s in cells for s in symbols_of(launch))


def _is_of_host(stmt: ScheduledStmt) -> bool:
    match stmt:
        case Assign() | ReadBack() | CheckFaults(guards=False):
            return True
        case Branch(_, then, orelse):
            return all(map(_is_of_host, (*then, *orelse)))
        case _:
            return False
