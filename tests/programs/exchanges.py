"""Loops whose names exchange arrays, and returns of one array or another; nothing is left to Python."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)

_X = floats(9)


@PROGRAMS.on(_X, floats(9, seed=1), 5)
@PROGRAMS.on(_X, floats(9, seed=1), 4)
@PROGRAMS.on(_X, floats(9, seed=1), 1)
@PROGRAMS.on(_X, floats(9, seed=1), 0)
@PROGRAMS.on(_X, _X, 3)
@PROGRAMS.on(_X[1:], _X[:-1], 3)
@PROGRAMS.on(floats(18)[::-2], floats(9, dtype=np.float32), 3)
@PROGRAMS.on(ints(9), _X, 3)
@PROGRAMS.on(_X, floats(7, seed=1), 3)  # raises IndexError
@PROGRAMS.on(floats(1), floats(1), 3)
@PROGRAMS.on(floats(0), floats(0), 3)
def parameters(a, b, n):
    for t in range(n):
        for i in range(1, a.shape[0] - 1):
            b[i] = a[i - 1] + a[i + 1] + t
        a, b = b, a
    return a.shape[0], b[1:].shape[0]


@PROGRAMS.on(_X, floats(9, seed=1), 3)
@PROGRAMS.on(_X, floats(9, seed=1), 0)
@PROGRAMS.on(_X, _X, 3)
def returned(a, b, n):
    for _ in range(n):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        spare = a
        a = b
        b = spare
    return a, b, n


@PROGRAMS.on(_X, floats(9, seed=1), floats(9, seed=2), 0.5)
@PROGRAMS.on(_X, floats(9, seed=1), floats(9, seed=2), 1e9)
@PROGRAMS.on(_X, floats(9, seed=1), floats(9, seed=2), -1.0)
@PROGRAMS.on(floats(2), floats(2, seed=1), floats(2, seed=2), 1e-3)
def three_in_a_row(u, v, w, limit):
    """A wave, until it is over: the loop is left with any of three arrangements, on two ways."""
    steps = 0
    while np.abs(v).max() > limit:
        w[1:-1] = v[:-2] + v[2:] - u[1:-1]
        if steps == 7:
            break
        steps += 1
        if steps == 2:
            continue
        u, v, w = v, w, u
    return v, steps


@PROGRAMS.on(_X, 5)
@PROGRAMS.on(_X, 2)
@PROGRAMS.on(_X, 0)
@PROGRAMS.on(floats(2, 3), 3)
def where_it_is_better(x, n):
    """Only some iterations exchange; a loop around it starts from what was left."""
    y = np.zeros_like(x)
    for k in range(2):
        for t in range(n):
            y[:] = x * 0.5 + t - k
            if y.sum() > x.sum():
                x, y = y, x
    return x + y, y


def _smoothed(a, b, n):
    for _ in range(n):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a, b = b, a
    return a


@PROGRAMS.on(_X, 3)
@PROGRAMS.on(_X, 2)
def in_a_function_that_is_called(x, n):
    y = x.copy()
    z = _smoothed(x.copy(), y, n)
    return z * 2 + y


@PROGRAMS.on(_X, 50)
@PROGRAMS.on(_X, 1)
@PROGRAMS.on(_X, 0)
@PROGRAMS.on(floats(0), 3)
def from_a_loop(x, n):
    y = x.copy()
    for k in range(n):
        y = y * 0.5
        if np.abs(y).sum() < 0.2:
            return y, k
    return x, -1
