"""Queues as lists, whose first `head[0]` items are gone. They are changed in place, and raise what a deque does."""

# mypy: ignore-errors

from __future__ import annotations


def item_of(items, head, index):
    """The item at an index, which may count from the end."""
    length = len(items) - head[0]
    at = index + length if index < 0 else index
    if at < 0 or at >= length:
        raise IndexError("deque index out of range")
    return items[head[0] + at]


def pop(items, head):
    """Removes the last item, and gives it."""
    if head[0] == len(items):
        raise IndexError("pop from an empty deque")
    return items.pop()


def pop_left(items, head):
    """Removes the first item, and gives it. An item is moved once on average, as the list loses most of its items."""
    first = head[0]
    if first == len(items):
        raise IndexError("pop from an empty deque")
    item = items[first]
    head[0] = first + 1
    if first > 1024 and 2 * first > len(items):
        drop_front(items, head)
    return item


def push_left(items, head, item):
    """Puts an item in front. Where the list has no room there, all items are moved behind room for half as many."""
    length = len(items)
    if length == head[0]:
        items.append(item)
        return
    if head[0] == 0:
        room = length // 2 + 16
        for _ in range(room):
            items.append(item)
        for i in range(length - 1, -1, -1):
            items[i + room] = items[i]
        head[0] = room
    head[0] -= 1
    items[head[0]] = item


def rotate(items, head, count):
    """Moves the last `count` items to the front, or where that is less work the others to the end."""
    length = len(items) - head[0]
    if length < 2:
        return
    to_front = count % length
    if 2 * to_front <= length:
        for _ in range(to_front):
            last = items.pop()
            push_left(items, head, last)
    else:
        for _ in range(length - to_front):
            front = pop_left(items, head)
            items.append(front)


def drop_front(items, head):
    """Moves the items to the front of the list."""
    if head[0] == 0:
        return
    length = len(items) - head[0]
    for i in range(length):
        items[i] = items[head[0] + i]
    while len(items) > length:
        items.pop()
    head[0] = 0


def bound(most):
    """The most items of a queue."""
    if most < 0:
        raise ValueError("maxlen must be non-negative")
    return most


def leave_room(items, head, most):
    """Removes the first item where there is no room for another one."""
    if len(items) - head[0] >= most > 0:
        pop_left(items, head)
