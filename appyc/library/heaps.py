"""Binary heaps in lists, as `heapq` keeps them: each item is at most its two children.

Items move as in CPython's `Lib/heapq.py`, so that the lists are the same after each call.
"""

# mypy: ignore-errors

from __future__ import annotations

from appyc.library.table import list_loop


def settle(heap, root, at, item):
    """Puts an item at an index, or nearer to the root of a part of the heap, past all that are greater."""
    while at > root:
        parent = (at - 1) >> 1
        if not item < heap[parent]:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = item


@list_loop
def rise(heap):
    """Moves the last item, which is new, towards the root."""
    last = len(heap) - 1
    settle(heap, 0, last, heap[last])


@list_loop
def sink(heap, root, item):
    """Replaces an item: the hole moves along the smaller children to a leaf, and from there the new one rises."""
    end = len(heap)
    at, child = root, 2 * root + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    settle(heap, root, at, item)


def exchange(heap, item):
    """The least item, which another one replaces; without a heap, that one itself."""
    if len(heap) == 0:
        return item
    least = heap[0]
    sink(heap, 0, item)
    return least


def order(heap):
    """Makes a heap of a list."""
    for root in range(len(heap) // 2 - 1, -1, -1):
        sink(heap, root, heap[root])
