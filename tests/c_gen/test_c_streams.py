"""Results written past the caches: whole lines, what is before and behind them, and when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import appyc
from appyc.ir.machine_model import Machine
from appyc.runtime import machine_rates

ALWAYS = replace(Machine(), past_bytes=0.0, byte_far=1e6)
"""A machine whose memory is so slow that every loop waits for it."""

LENGTHS = (0, 1, 127, 128, 1024, 2047, 2048, 2057, 4099, 16_383, 16_385, 17_001)


@pytest.fixture(autouse=True)
def _always() -> Iterator[None]:
    with machine_rates.using(ALWAYS):
        yield


def chain(a, x, y, z):
    return a * x + y - z


def into(x, y):
    y[3:] = x[3:] * 2


def two_kinds(x):
    return x * 2, x > 0


def rows(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def with_a_choice(x, y):
    for i in range(x.shape[0]):
        t = x[i] * 3.0
        if t > 1.0:
            t = t - 1.0
        y[i] = t


def mandelbrot_like(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = np.sqrt(abs(x[i, j])) + i * 2 - j
    return out


@pytest.mark.sampled
@pytest.mark.parametrize(
    "dtype", [np.int8, np.int32, np.int64, np.float32, np.float64, np.complex64, np.complex128]
)
def test_chain(dtype):
    compiled = appyc.jit(target="cpu")(chain)
    for n in LENGTHS:
        x, y, z = (np.arange(k, n + k).astype(dtype) for k in range(3))
        a = dtype(3)
        np.testing.assert_array_equal(compiled(a, x, y, z), chain(a, x, y, z))


def test_every_start_within_a_line():
    compiled = appyc.jit(target="cpu")(into)
    for dtype in (np.uint8, np.float32, np.float64, np.complex128):
        for start in range(0, 64 // np.dtype(dtype).itemsize + 1):
            space = np.zeros(17_100, dtype)
            x, y = np.arange(17_000).astype(dtype), space[start : start + 17_000]
            expected = space.copy()
            into(x, expected[start : start + 17_000])
            compiled(x, y)
            np.testing.assert_array_equal(space, expected)


def test_elements_that_lie_across_lines():
    """A complex number may start in the middle of what a line has room for."""
    compiled = appyc.jit(target="cpu")(into)
    space = np.zeros(16 * 1601, np.uint8)
    shift = (8 - space.ctypes.data) % 16
    y = space[shift : shift + 16 * 1600].view(np.complex128)
    assert y.ctypes.data % 16 == 8
    x = np.arange(1600) * (1 + 2j)
    compiled(x, y)
    np.testing.assert_array_equal(y[3:], x[3:] * 2)
    assert not y[:3].any()


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 1), (17, 130), (3, 2060), (2, 5003)])
def test_rows(shape):
    x = np.linspace(-1, 1, shape[0] * shape[1]).reshape(shape)
    np.testing.assert_array_equal(
        appyc.jit(target="cpu")(mandelbrot_like)(x), mandelbrot_like(x), strict=True
    )
    if shape[1]:
        np.testing.assert_allclose(appyc.jit(target="cpu")(rows)(x), rows(x), rtol=1e-12)


def test_results_of_several_sizes():
    x = np.linspace(-1, 1, 17_003)
    for found, expected in zip(appyc.jit(target="cpu")(two_kinds)(x), two_kinds(x), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


def test_scalars_of_an_iteration():
    x, y, expected = np.linspace(-1, 1, 2777), np.empty(2777), np.empty(2777)
    with_a_choice(x, expected)
    appyc.jit(target="cpu")(with_a_choice)(x, y)
    np.testing.assert_array_equal(y, expected)


def test_fortran_order():
    x = np.asfortranarray(np.linspace(-1, 1, 3000 * 7).reshape(3000, 7))
    np.testing.assert_array_equal(appyc.jit(target="cpu")(mandelbrot_like)(x), mandelbrot_like(x))


def test_sums_beside_the_results():
    def with_sums(x, y):
        total, most = 0.0, -1.0
        for i in range(x.shape[0]):
            y[i] = x[i] * 2.0
            total += x[i]
            most = max(most, x[i])
        return total, most

    compiled = appyc.jit(target="cpu", strict=True)(with_sums)
    for n in LENGTHS:
        x, y = np.arange(float(n)), np.zeros(n + 1)
        assert compiled(x, y[1:]) == with_sums(x, np.zeros(n))
        np.testing.assert_array_equal(y[1:], 2 * x)
    assert "stream_lines(" in compiled.source("c")
    assert "'y' goes past the caches where the loop touches more than they hold" in str(compiled.explain())
