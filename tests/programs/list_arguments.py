"""Lists as arguments of functions that only look at them; nothing is left to Python."""

from functools import partial

import numpy as np

from tests.programs.registry import Programs, floats

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))


@_on(floats(6, 5), [floats(5, 4), floats(4, 4, seed=1), floats(4, 2, seed=2)], [floats(4), floats(4), floats(2)])
@_on(floats(6, 5), [floats(5, 4)], [floats(4)])
@_on(floats(6, 5), (floats(5, 4),), [floats(4)])
def layers(x, weights, biases):
    a = x
    for w, b in zip(weights, biases):
        a = np.maximum(a @ w + b, 0)
    return a, len(weights)


@_on([1, 2, 5, 10], 30)
@_on([], 30)
def ways_to_pay(coins, target):
    ways = [0] * (target + 1)
    ways[0] = 1
    for c in coins:
        for i in range(c, target + 1):
            ways[i] += ways[i - c]
    return ways[target]


@_on([[1.0, 2.0], [3.0, 4.0]], [2, 3])
def of_lists(rows, shape):
    n, m = shape
    out = np.zeros((n, m))
    out[0, 0] = rows[1][0] + rows[0][1]
    return out + np.array(rows).sum(), 3 in shape


@_on([floats(5), floats(3)], 0.5)
def changed_in_place(arrays, scale):
    """The arrays are the caller's."""
    for a in arrays:
        a *= scale
        for i in range(a.shape[0]):
            a[i] += i
    return arrays[0].sum()


@_on(floats(5))
@_on(floats(5), [2, 3])
def with_a_default(x, steps=[1, 4]):  # noqa: B006
    s = 0.0
    for k in steps:
        s += x[k]
    return s
