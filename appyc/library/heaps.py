"""Binary heaps in lists, as `heapq` keeps them: each item is at most its two children.

Items move as in CPython's `Lib/heapq.py`, so that the lists are the same after each call.
"""

# mypy: ignore-errors

from __future__ import annotations


def rise(heap):
    """Moves the last item, which is new, towards the root, past all that are greater."""
    at = len(heap) - 1
    item = heap[at]
    while at > 0:
        parent = (at - 1) >> 1
        if not item < heap[parent]:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = item


def exchange(heap, item):
    """The least item, which another one replaces; without a heap, that one itself.

    The hole at the root moves along the smaller children to a leaf; from there, the new item rises.
    """
    end = len(heap)
    if end == 0:
        return item
    least = heap[0]
    at, child = 0, 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    while at > 0:
        parent = (at - 1) >> 1
        if not item < heap[parent]:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = item
    return least


def order(heap):
    """Makes a heap of a list: each item that has children sinks to a leaf and rises as far as where it began."""
    end = len(heap)
    for root in range(end // 2 - 1, -1, -1):
        item = heap[root]
        at, child = root, 2 * root + 1
        while child < end:
            if child + 1 < end and not heap[child] < heap[child + 1]:
                child += 1
            heap[at] = heap[child]
            at, child = child, 2 * child + 1
        while at > root:
            parent = (at - 1) >> 1
            if not item < heap[parent]:
                break
            heap[at] = heap[parent]
            at = parent
        heap[at] = item
