"""Programs whose tests keep indices in range. A sceptical reader found GPUs to access memory beyond arrays."""

import numpy as np

from tests.programs.registry import Programs, floats

PROGRAMS = Programs()

FAR = 100_000_000
"""So far behind an array no memory is."""


def on_indices(fn):
    """A call with indices in range, and with one that is beyond either end."""
    for beyond in (0, FAR, -FAR):
        indices = np.arange(40) % 7
        indices[4] += beyond
        PROGRAMS.on(indices, floats(40), np.zeros(40), np.zeros(40))(fn)
    return fn


@on_indices
def raised_before_another_test(q, a, b, c):
    for i in range(len(q)):
        k = q[i]
        if k < 0:
            raise ValueError
        elif k == 3:  # noqa: RET506
            c[i] = 1.0
        if k >= len(a):
            raise ValueError
        b[i] = a[k]


@on_indices
def raised_in_both_branches(q, a, b, c):
    for i in range(len(q)):
        k = q[i]
        if k < 0:
            if c[i] > 0:
                raise ValueError
            else:  # noqa: RET506
                raise KeyError
        if k >= len(a):
            raise ValueError
        b[i] = a[k]


@on_indices
def raised_in_the_else(q, a, b, c):
    for i in range(len(q)):
        k = q[i]
        if k >= 0:
            c[i] = 1.0
        else:
            raise ValueError
        if k < len(a):
            c[i] = 2.0
        else:
            raise ValueError
        b[i] = a[k]


@on_indices
def raised_before_a_loop(q, a, b, c):
    k = q[4]
    if k < 0:
        raise ValueError
    elif k == 3:  # noqa: RET506
        c[0] = 1.0
    if k >= len(a):
        raise ValueError
    t = 0.0
    for i in range(len(b)):
        t = t * 0.5 + b[i] + a[k]
    return t


@PROGRAMS.on(np.array([3, 4, 5]), floats(200), np.zeros(50))
def raised_before_a_launch(q, a, b):
    """The launch whose accesses are in range where nothing was raised was recorded with those before the test."""
    left = 10.0
    while left > 1.0:
        k = q[0]
        if k < 0 or k >= len(a):
            raise ValueError
        for i in range(len(b)):
            b[i] = a[k] * i
        for i in range(len(a)):
            a[i] += 1.0
        q[0] += FAR
        left -= a[0] * 0.001
    return left
