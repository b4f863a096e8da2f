"""Integers that may outgrow 64 bits are refused where results must be exactly Python's."""

from __future__ import annotations

import numpy as np
import pytest

import appyc


def compile_exactly(fn, *args):
    appyc.jit(exact=True, strict=True, cache=False)(fn).compile(*args)


def product(a):
    out = 1
    for i in range(a.shape[0]):
        out *= i
    a[0] = out


def doubling(a):
    x, y = 0, 1
    for _ in range(a.shape[0]):
        x, y = y, x + y
    a[0] = x


def sum_of_products(a, n):
    total = 0
    for i in range(n):
        for j in range(n):
            total += i * j
    a[0] = total


def triple_product(a, n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                a[i] += i * j * k


def shifted(a):
    mask = 1
    for i in range(a.shape[0]):
        mask = mask << i
    a[0] = mask


def wide_generator(a):
    seed = 1
    for i in range(a.shape[0]):
        seed = (seed * 6364136223846793005 + 1) % 18446744073709551557
        a[i] = seed


@pytest.mark.parametrize("fn", [product, doubling, shifted, wide_generator])
def test_unbounded_growth_is_refused(fn):
    with pytest.raises(appyc.CompileError):
        compile_exactly(fn, np.zeros(3))


@pytest.mark.parametrize("fn", [sum_of_products, triple_product])
def test_large_products_are_refused(fn):
    with pytest.raises(appyc.UnsupportedError, match="beyond 64 bits"):
        compile_exactly(fn, np.zeros(3), 3)


def counter(a):
    count = 0
    for i in range(a.shape[0]):
        if a[i] > 0:
            count += 1
    return count


def generator(a):
    seed = 1
    for i in range(a.shape[0]):
        seed = (seed * 1103515245 + 12345) % 2147483648
        a[i] = seed


def masked(a):
    h = 5
    for i in range(a.shape[0]):
        h = (h * 33 + i) & 0xFFFFFFFF
        a[i] = h


def linear_index(a, n, m, k):
    for i in range(n):
        for j in range(m):
            for l in range(k):
                a[(i * m + j) * k + l] = 1.0


def mean(a):
    n, m, k = a.shape
    for i in range(n):
        for j in range(m):
            for l in range(k):
                a[i, j, l] /= n * m * k


def floats(a):
    f = 1.0
    for i in range(1, a.shape[0]):
        f *= i
        a[i] = f


def bounded_powers(a):
    for i in range(a.shape[0]):
        a[i] += 2 ** (i % 10) + (1 << (i % 8))


@pytest.mark.parametrize("fn", [bounded_powers, counter, generator, masked, floats])
def test_bounded_integers_pass(fn):
    compile_exactly(fn, np.zeros(3))


def test_indices_and_sizes_pass():
    compile_exactly(linear_index, np.zeros(8), 2, 2, 2)
    compile_exactly(mean, np.zeros((2, 2, 2)))


def test_nothing_is_refused_without_exact():
    appyc.jit(strict=True, cache=False)(product).compile(np.zeros(3))


def test_an_empty_function_passes():
    def nothing():
        pass

    compile_exactly(nothing)
