"""Methods of random.Random that draw numbers; where there is none here, the standard library's own text is inlined."""

# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np

from appyc.library.distributions import gauss, next_below, next_bits, next_float


def index_below(rng, n):
    return int(np.int64(next_below(rng, n)))


def python_random(rng):
    return next_float(rng)


def python_getrandbits(rng, k):
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    return int(np.int64(next_bits(rng, k)))


def python_randrange(rng, start, stop=None, step=1):
    if stop is None:
        if start <= 0:
            raise ValueError("empty range for randrange()")
        return index_below(rng, start)
    if step == 0:
        raise ValueError("zero step for randrange()")
    count = (stop - start + step - 1) // step if step > 0 else (stop - start + step + 1) // step
    if count <= 0:
        raise ValueError("empty range for randrange()")
    return start + step * index_below(rng, count)


def python_randint(rng, a, b):
    if b < a:
        raise ValueError("empty range for randrange()")
    return a + index_below(rng, b - a + 1)


def python_gauss(rng, mu=0.0, sigma=1.0):
    stored = gauss(rng)
    z = stored[1]
    if stored[0] != 0.0:
        stored[0] = 0.0
    else:
        angle = next_float(rng) * math.tau
        radius = np.sqrt(-2.0 * np.log(1.0 - next_float(rng)))
        z = np.cos(angle) * radius
        stored[0] = 1.0
        stored[1] = np.sin(angle) * radius
    return mu + float(z) * sigma


def python_triangular(rng, low=0.0, high=1.0, mode=None):
    u = next_float(rng)
    if mode is not None and high == low:
        return float(low)
    c = 0.5 if mode is None else (mode - low) / (high - low)
    if u > c:
        return high + (low - high) * math.sqrt((1.0 - u) * (1.0 - c))
    return low + (high - low) * math.sqrt(u * c)
