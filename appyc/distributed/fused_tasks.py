"""A task into the only one that takes its result, where nothing waits longer for that.

    total = sum of blocks; mean = mean of total          ->  mean = mean of (sum of blocks)

Dask fuses such chains too, and then orders the tasks of each one anew whenever it runs it, which takes longer than a
small task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from appyc.distributed.chunk_grids import Graph, Key

MOST_IN_ONE = 16
"""Tasks that become one: Dask runs them by recursion."""

BLOCK = "_line_"
"""In the names of blocks, which they keep."""


def keys_in(task: Any) -> Iterator[Key]:
    """The keys in a task, each as often as it is taken."""
    if isinstance(task, list):
        for each in task:
            yield from keys_in(each)
    elif type(task) is tuple and task:
        if isinstance(task[0], str):
            yield task
        elif callable(task[0]):
            for each in task[1:]:
                yield from keys_in(each)


def _with_task(task: Any, key: Key, put: object) -> Any:
    if isinstance(task, list):
        return [_with_task(each, key, put) for each in task]
    if type(task) is tuple and task:
        if isinstance(task[0], str):
            return put if task == key else task
        if callable(task[0]):
            return tuple(_with_task(each, key, put) for each in task)
    return task


def fuse_tasks(graph: Graph, kept: Collection[Key]) -> None:
    """Fuses tasks of the graph, and notes which ones others take. kept: those whose results are wanted."""
    tasks = graph.tasks
    needs = {key: {*keys_in(task)} for key, task in tasks.items()}
    users = Counter(need for each in needs.values() for need in each)
    sizes: dict[Key, int] = {}
    for key in list(tasks):
        asked = list(needs[key])
        while asked:
            inner = asked.pop()
            if users[inner] != 1 or inner not in tasks or inner in kept:
                continue
            both = sizes.get(key, 1) + sizes.get(inner, 1)
            if both > MOST_IN_ONE or (BLOCK in inner[0] and BLOCK not in key[0]):
                continue
            early = needs[inner].union(*(needs.get(need, ()) for need in needs[inner]))
            if needs[inner] and not needs[key] - {inner} <= early:
                continue
            if sum(need == inner for need in keys_in(tasks[key])) > 1:
                continue
            tasks[key] = _with_task(tasks[key], inner, tasks.pop(inner))
            sizes[key] = both
            users.subtract(needs[key] & needs[inner])
            needs[key] = (needs[key] - {inner}) | needs.pop(inner)
            asked += needs[key]
    graph.taken = {need for each in needs.values() for need in each}
