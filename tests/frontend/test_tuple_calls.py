"""`tuple(...)` where the types tell how many items there are."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.errors import UnsupportedError
from tests.e2e.harness import run_everywhere


def wrapped(place, offset, bound):
    return (place + offset) % bound


def local_maxima(data, mode=wrapped):
    out = np.ones(data.shape, dtype=bool)
    for place in np.ndindex(data.shape):
        for offset in np.ndindex(3, 3):
            beside = tuple(mode(p, o - 1, w) for (p, o, w) in zip(place, offset, data.shape))  # noqa: B905
            out[place] &= data[beside] <= data[place]
    return out


def halves(a):
    shape = tuple(n // 2 for n in a.shape)
    out = np.zeros(shape)
    more = tuple(a.shape) + tuple([1, 2]) + tuple()  # noqa: C408, C409
    for i in range(shape[0]):
        out[i] = a[2 * i, : shape[1]] + more[2]
    return out, more


def advanced(state, slope, h):
    return tuple(state[k] + h * slope[k] for k in range(len(state)))


def integrated(a):
    """A state of several numbers, as steps of integrators carry it."""
    state = (1.0, 0.5, -0.25)
    for k in range(a.shape[0]):
        x, y, z = state
        state = advanced(state, (y - x, x - z, x * y), a[k, 0])
    far = tuple(max(x, 0.0) if k > 0 else x for k, x in enumerate(state))
    return state, far, tuple(i * j for i in range(2) for j in range(3) if i != j)


def of_an_array(a):
    return tuple(x * 2 for x in a[0]), a.sum()


def of_ranges(a):
    sides = tuple(range(1, a.ndim)) + tuple(range(3, 0, -2))
    return np.expand_dims(a, tuple(range(a.ndim))), sum(sides), all(tuple(k > 0 for k in sides)), any(())


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [local_maxima, halves, of_ranges, integrated], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("shape", [(4, 5), (2, 3)])
def test_as_in_python(fn, shape):
    run_everywhere(fn, np.random.default_rng(1).random(shape), strict=True)


def test_lengths_that_only_the_call_tells_are_pythons():
    a = np.ones((2, 3))
    with pytest.raises(UnsupportedError, match="tuple is compiled of tuples"):
        appyc.jit(of_an_array, strict=True, cache=False)(a)
    run_everywhere(of_an_array, a)
