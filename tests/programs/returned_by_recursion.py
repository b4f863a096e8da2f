"""Recursive functions that return new arrays and lists; nothing is left to Python."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(floats(33))
@PROGRAMS.on(floats(1))
@PROGRAMS.on(floats(0))
@PROGRAMS.on(ints(20)[::-2])
def merge_sorted(a):
    n = len(a)
    if n < 2:
        return a.copy()
    left = merge_sorted(a[: n // 2])
    right = merge_sorted(a[n // 2 :])
    out = np.empty_like(a)
    i = j = 0
    for k in range(n):
        if j >= len(right) or (i < len(left) and left[i] <= right[j]):
            out[k] = left[i]
            i += 1
        else:
            out[k] = right[j]
            j += 1
    return out


@PROGRAMS.on(floats(16))
@PROGRAMS.on(floats(1))
def fourier(x):
    n = len(x)
    if n == 1:
        return x.astype(np.complex128)
    even, odd = fourier(x[::2]), fourier(x[1::2])
    turned = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate((even + turned, even - turned))


@PROGRAMS.on(4)
@PROGRAMS.on(1)
def permutations(n):
    if n == 1:
        return np.zeros((1, 1), np.int64)
    part = permutations(n - 1)
    m = len(part)
    out = np.empty((m * n, n), np.int64)
    for k in range(n):
        for r in range(m):
            for j in range(n):
                out[k * m + r, j] = n - 1 if j == k else part[r, j if j < k else j - 1]
    return out


@PROGRAMS.on(floats(3, 3), 0)
@PROGRAMS.on(floats(3, 4), 3)
def squared(a, times):
    """The array has another shape after each call."""
    if times == 0:
        return a * 2
    b = squared(a, times - 1)
    return b @ b.T


@PROGRAMS.on(np.arange(3.0), 3)
@PROGRAMS.on(np.arange(0.0), 4)
def exchanged(x, d):
    if d == 0:
        return x + 1.0, x * 2.0, len(x)
    a, b, n = exchanged(x, d - 1)
    return b, a, n + 1


def _haar(x):
    n = len(x)
    if n == 1:
        return x * 1.0
    s, d = np.empty(n // 2), np.empty(n // 2)
    for i in range(n // 2):
        s[i] = x[2 * i] + x[2 * i + 1]
        d[i] = x[2 * i] - x[2 * i + 1]
    return np.concatenate((_haar(s), d))


@PROGRAMS.on(floats(4, 8))
@PROGRAMS.on(floats(0, 8))
def wavelets_of_rows(a):
    out = np.zeros_like(a)
    #pragma parallel for
    for i in range(len(a)):
        out[i] = _haar(a[i])
    return out


@PROGRAMS.on(5)
@PROGRAMS.on(0)
def collected(d):
    out = []
    if d > 0:
        for s in collected(d - 1):
            out.append(s * 2)
    out.append(d)
    return out


@PROGRAMS.on(4)
@PROGRAMS.on(0)
def sum_of_collected(d):
    total = 0
    for x in collected(d):
        total += x
    return total, len(collected(2))


@PROGRAMS.on(3)
@PROGRAMS.on(0)
def pairs(d):
    out = [(0, 1.5)]
    if d > 0:
        for i, x in pairs(d - 1):
            out.append((i + 1, x * 2))
    return out


@PROGRAMS.on(3)
def sum_of_pairs(d):
    total = 0.0
    for i, x in pairs(d):
        total += i * x
    return total


@PROGRAMS.on(5)
@PROGRAMS.on(2)
def last_row(n):
    a = np.arange(n * 2.0).reshape(n, 2)
    if n > 3:
        a[0] = last_row(n - 1)
    return a[n - 1]


@PROGRAMS.on(4)
def transposed_and_reversed(n):
    a = np.arange(n * n * 1.0).reshape(n, n)
    if n > 2:
        b, c = transposed_and_reversed(n - 1)
        a[1:, 1:] += b
        a[0, 1:] -= c
    return a.T, np.arange(n * 1.0)[::-1]


@PROGRAMS.on(floats(5), 6)
@PROGRAMS.on(floats(5), 0)
def in_turn(x, n):
    """The results of two functions that call each other."""
    return _grown(x, n)


def _grown(x, n):
    return x + 1 if n == 0 else np.append(_shrunk(x, n - 1), n)


def _shrunk(x, n):
    return x * 2 if n == 0 else _grown(x, n - 1)[1:].copy()


@PROGRAMS.on(floats(6), 3)
def changed_afterwards(x, n):
    """What a call returns is the caller's own."""
    if n == 0:
        return x.copy()
    y = changed_afterwards(x, n - 1)
    z = changed_afterwards(x, n - 1)
    y[n] += 1
    z[0] = y[n]
    return y + z


@PROGRAMS.on(floats(8), True)
@PROGRAMS.on(floats(8), False)
@PROGRAMS.on(floats(1), True)
def several_new_ones(x, is_first):
    """Each return makes an array of its own, of zeros too."""
    n = len(x)
    if n == 1:
        return x * 2 if is_first else np.zeros(3)
    low = several_new_ones(x[: n // 2], is_first)
    high = several_new_ones(x[n // 2 :], not is_first)
    if is_first:
        out = np.zeros(len(low) + len(high))
        for i in range(len(low)):
            out[i] = low[i] + 1
        out[len(low) :] = high
        return out
    out = low
    if len(high) > len(low):
        out = high.copy()
    return out


@PROGRAMS.on(floats(9), 4)
def in_a_loop(x, n):
    """What a call returned last is read while the next one makes its result."""
    last, total = x, np.zeros(len(x))
    for k in range(n):
        new = _scaled(last, k)
        total[: len(new)] += new * last[: len(new)]
        last = new
    return total, last


def _scaled(x, k):
    return x[:5] * 0.5 if k < 2 else _scaled(x, k - 1) + 1


@PROGRAMS.on(floats(32, 32), floats(32, 32, seed=1))
@PROGRAMS.on(floats(16, 16), floats(16, 16, seed=1).T)
def strassen(a, b):
    n = a.shape[0]
    if n <= 16:
        return a @ b
    h = n // 2
    first = strassen(a[:h, :h] + a[h:, h:], b[:h, :h] + b[h:, h:])
    second = strassen(a[h:, :h] + a[h:, h:], b[:h, :h])
    third = strassen(a[:h, :h], b[:h, h:] - b[h:, h:])
    fourth = strassen(a[h:, h:], b[h:, :h] - b[:h, :h])
    fifth = strassen(a[:h, :h] + a[:h, h:], b[h:, h:])
    sixth = strassen(a[h:, :h] - a[:h, :h], b[:h, :h] + b[:h, h:])
    seventh = strassen(a[:h, h:] - a[h:, h:], b[h:, :h] + b[h:, h:])
    c = np.empty((n, n))
    c[:h, :h] = first + fourth - fifth + seventh
    c[:h, h:] = third + fifth
    c[h:, :h] = second + fourth
    c[h:, h:] = first - second + third + sixth
    return c


@PROGRAMS.on(floats(12, 12), floats(12, 12, seed=1), 3)
def products_into_arguments(a, b, n):
    """A product whose result may be a factor, by another name."""
    if n == 0:
        return a.sum()
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            a[i, j] = s / 12
    return products_into_arguments(a, a, n - 1)
