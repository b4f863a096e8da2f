"""Loops around loops that each iteration leaves at its own time."""

from __future__ import annotations

import math

import numpy as np

from tests.programs.registry import C_ONLY, Programs, complexes, floats, ints

PROGRAMS = Programs(strict=True)


def plane(n, m, dtype=np.complex128):
    return (np.linspace(-2, 1, m)[None, :] + 1j * np.linspace(-1.2, 1.2, n)[:, None]).astype(dtype)


@PROGRAMS.on(plane(9, 37), np.zeros((9, 37), np.int64), 60)
@PROGRAMS.on(plane(3, 16, np.complex64), np.zeros((3, 16), np.int64), 30)
@PROGRAMS.on(plane(2, 1), np.zeros((2, 1), np.int64), 30)
@PROGRAMS.on(plane(0, 5), np.zeros((0, 5), np.int64), 30)
def escapes(c, steps, limit):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            z = c[i, j] * 0
            k = 0
            while abs(z) < 2 and k < limit:
                z = z * z + c[i, j]
                k += 1
            steps[i, j] = k


@PROGRAMS.on(plane(7, 35), np.zeros((7, 35), np.int64), 40)
def escapes_by_break(c, steps, limit):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            z = 0j
            k = 0
            for _ in range(limit):
                z = z * z + c[i, j]
                if z.real * z.real + z.imag * z.imag > 4.0:
                    break
                k += 1
            steps[i, j] = k


@PROGRAMS.on(np.linspace(-2, 1, 41), np.linspace(-1, 1, 5), np.zeros((5, 41), np.int32), 50)
def escapes_of_reals(xs, ys, steps, limit):
    for i in range(len(ys)):
        for j in range(len(xs)):
            x = 0.0
            y = 0.0
            k = 0
            while x * x + y * y <= 4.0 and k < limit:
                x, y = x * x - y * y + xs[j], 2 * x * y + ys[i]
                k += 1
            steps[i, j] = k


@PROGRAMS.on(np.linspace(-2, 1, 41), np.linspace(-1, 1, 5), 20)
def points_inside(xs, ys, limit):
    count = 0
    for i in range(len(ys)):
        for j in range(len(xs)):
            x = 0.0
            y = 0.0
            k = 0
            while k < limit and x * x + y * y <= 4.0:
                x, y = x * x - y * y + xs[j], 2 * x * y + ys[i]
                k += 1
            if k == limit:
                count += 1
    return count


@PROGRAMS.on(complexes(5, 33), 12)
@PROGRAMS.on(np.array([[0, 1, 1e-200, np.inf, np.nan, 1j]], complex), 3)
def newton_of_cubes(z, steps):
    out = np.empty_like(z)
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            w = z[i, j]
            for _ in range(steps):
                w = w - (w * w * w - 1) / (3 * w * w)
            out[i, j] = w
    return out


def special(dtype=np.complex128):
    """All pairs of zeros, ones, and what is no number or nearly none."""
    parts = np.array([0, 1, -1, np.inf, -np.inf, np.nan, np.finfo(dtype).max / 2, np.finfo(dtype).tiny])
    out = np.empty((len(parts), len(parts)), dtype)
    out.real, out.imag = parts[:, None], parts[None, :]
    return out.ravel()


@PROGRAMS.on(special(), 3)
def powers_of_what_is_no_number(z, n):
    """No recovery of infinities: NumPy multiplies parts."""
    out = np.zeros(len(z), complex)
    for i in range(len(z)):
        w = z[i]
        k = 0
        while k < n:
            w = w * z[i] + 1.0
            k += 1
        out[i] = w
    return out


@PROGRAMS.on(special())
@PROGRAMS.on(special(np.complex64))
@PROGRAMS.on(np.array([2, -2j, math.sqrt(2) * (1 + 1j), 1.2 + 1.6j, 2 - 4e-16, 1e-160j]))
def sizes_compared(z):
    out = np.zeros((8, len(z)), bool)
    for i in range(len(z)):
        w = z[i]
        out[0, i] = abs(w) < 2
        out[1, i] = abs(w) <= 2
        out[2, i] = abs(w) > 2
        out[3, i] = abs(w) >= 2
        out[4, i] = abs(w) > 1.5
        out[5, i] = abs(w) <= 0.3
        out[6, i] = abs(w) == 2
        out[7, i] = abs(w) > 1e-150
    return out


@PROGRAMS.on(70)
def steps_to_one(n):
    out = np.zeros(n, np.int64)
    for i in range(n):
        x = i + 1
        k = 0
        while x != 1:
            if x % 2 == 0:
                x = x // 2
            else:
                x = 3 * x + 1
            k += 1
        out[i] = k
    return out


@PROGRAMS.on(ints(40, lo=0, hi=30), floats(40))
@PROGRAMS.on(np.where(np.arange(40) % 13 == 0, 200, 1), floats(40))
@PROGRAMS.on(np.zeros(40, np.int64), floats(40))
def ends_of_their_own(m, x):
    out = np.zeros(len(m))
    for i in range(len(m)):
        s = x[i]
        for _ in range(m[i]):
            s = 0.9 * s + 0.5
        out[i] = s
    return out


@PROGRAMS.on(floats(21), floats(9), ints(21, lo=0, hi=9))
def ends_of_their_own_with_places(x, w, m):
    out = np.zeros(len(m))
    for i in range(len(m)):
        s = x[i]
        for k in range(m[i]):
            if s > 0:
                s = s * 0.5 - w[k]
            else:
                s = s + w[k] * w[k]
        out[i] = s
    return out


@PROGRAMS.on(floats(37), floats(37, seed=1))
def triangles(x, w):
    """All lanes that are left in the inner loop come to the same place of `w`."""
    out = np.zeros(len(x))
    for i in range(len(x)):
        s = x[i]
        for k in range(i):
            if s > 0:
                s = s * 0.5 - w[k]
            else:
                s = s + w[k] * w[k]
        out[i] = s
    return out


@PROGRAMS.on(np.abs(floats(50)) + 0.1)
@PROGRAMS.on((np.abs(floats(50)) + 0.1).astype(np.float32))
def roots(a):
    out = np.zeros_like(a)
    for i in range(len(a)):
        x = a[i]
        y = x * 0
        while abs(x - y) > 1e-6 * x:
            y = x
            x = (x + a[i] / x) / 2
        out[i] = x
    return out


@PROGRAMS.on(np.linspace(0, 6, 45), 0.4)
def anomalies(mean, e):
    out = np.zeros(len(mean))
    for i in range(len(mean)):
        x = mean[i]
        for _ in range(30):
            d = (x - e * math.sin(x) - mean[i]) / np.float64(1 - e * math.cos(x))
            x -= d
            if abs(d) < 1e-12:
                break
        out[i] = x
    return out


@PROGRAMS.on(ints(37, lo=1, hi=2**31), 20)
def hits(seeds, n):
    count = 0
    for i in range(len(seeds)):
        s = seeds[i]
        for _ in range(n):
            s = (s * 1103515245 + 12345) & 0x7FFFFFFF
            x = s / 2147483648.0
            s = (s * 1103515245 + 12345) & 0x7FFFFFFF
            y = s / 2147483648.0
            if x * x + y * y < 1.0:
                count += 1
    return count


@PROGRAMS.on(floats(39), 6, 25)
def loops_in_loops(x, n, limit):
    out = np.zeros((2, len(x)))
    for i in range(len(x)):
        s = x[i]
        total = 0.0
        for k in range(n):
            steps = 0
            while s < k and steps < limit:
                s = s + 0.25 * (k + 1)
                steps += 1
                if s > 3.5:
                    s = s - 7.0
                    continue
                total += s
            total = total - steps
        out[0, i] = s
        out[1, i] = total
    return out


@PROGRAMS.on(floats(39), 30)
def stores_on_the_way(x, n):
    out = np.zeros((n, len(x)))
    for i in range(len(x)):
        s = x[i]
        t = 0
        while t < n and s < 50:
            out[t, i] = s
            s = s * 1.5 + 0.01 * t
            t += 1
    return out


@PROGRAMS.on(floats(39), 30)
def backwards(x, n):
    out = np.zeros(len(x))
    largest = -1.0
    for i in range(len(x) - 1, -1, -2):
        s = x[i]
        k = 0
        while s < 1 and k < n:
            s = s + 0.1 * (k + 1)
            k += 1
        largest = max(largest, s)
        out[i] = s + k
    return out, largest


@PROGRAMS.on(floats(39), 30, targets=C_ONLY)
def values_from_before(x, n):
    """What a path leaves from an earlier step of the same loop."""
    out = np.zeros(len(x))
    for i in range(len(x)):
        s = x[i]
        last = 0.0
        k = 0
        while k < n and s < 9:
            if s > 0.5:
                last = s
            if k % 4 == 3:
                s = s + last
            else:
                s = s * 1.01 + 0.1
            k += 1
        out[i] = s - last
    return out


@PROGRAMS.on(complexes(33), complexes(33, seed=5), 8)
def complex_functions(z, c, n):
    out = np.zeros(len(z), complex)
    for i in range(len(z)):
        w = z[i]
        for _ in range(n):
            if w.real > 0:
                w = np.exp(-w) / c[i]
            else:
                w = np.sqrt(w * w + c[i]).conjugate()
        out[i] = w
    return out


@PROGRAMS.on(complexes(33), 4)
def complex_functions_that_stay_whole(z, n):
    out = np.zeros(len(z), complex)
    for i in range(len(z)):
        w = z[i]
        k = 0
        while abs(w) < 10 and k < n:
            w = np.log(w + 3) ** 5 + np.sin(w)
            k += 1
        out[i] = w
    return out


@PROGRAMS.on(floats(37), np.zeros(37))
@PROGRAMS.on(floats(37, dtype=np.float32), np.zeros(37, np.float32))
def sines_and_cosines_under_a_condition(x, out):
    for i in range(len(x)):
        if x[i] > 0.3:
            out[i] = np.sin(x[i]) * np.cos(x[i])


@PROGRAMS.on(ints(40, lo=1, hi=50), ints(40, lo=1, hi=50, seed=1))
def greatest_divisors(a, b):
    """Remainders have no vectors."""
    out = np.zeros(len(a), np.int64)
    for i in range(len(a)):
        x = a[i]
        y = b[i]
        while y != 0:
            x, y = y, x % y
        out[i] = x
    return out


@PROGRAMS.on(np.sort(floats(64)), floats(40))
def places_by_halves(table, x):
    """Reads all over an array have no vectors either."""
    out = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        low = 0
        high = len(table)
        while low < high:
            middle = (low + high) // 2
            if table[middle] < x[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low
    return out


WITH_GAPS = np.where(np.arange(70) % 9 == 4, np.nan, np.sin(np.arange(70.0) * 3))


@PROGRAMS.on(WITH_GAPS, 7, np.zeros(70))
@PROGRAMS.on(WITH_GAPS, 40, np.zeros(70))
@PROGRAMS.on(WITH_GAPS[:12], 100, np.zeros(12))
@PROGRAMS.on(WITH_GAPS[:0], 3, np.zeros(0))
def least_in_windows(a, width, out):
    for i in range(a.shape[0]):
        least = a[i]
        count = 0
        for j in range(max(i - width + 1, 0), i + 1):
            if np.isnan(a[j]):
                continue
            if np.isnan(least) or a[j] < least:
                least = a[j]
            count += 1
        out[i] = least if count > 1 else np.nan


@PROGRAMS.on(WITH_GAPS.reshape(35, 2), 6, np.zeros((35, 2)))
@PROGRAMS.on(np.asfortranarray(WITH_GAPS.reshape(35, 2)), 6, np.zeros((35, 2)))
def largest_around_in_columns(a, reach, out):
    n = a.shape[0]
    for c in range(a.shape[1]):
        for i in range(n):
            largest = -np.inf
            at = -1
            for j in range(max(i - reach, 0), min(i + reach, n)):
                if a[j, c] > largest:
                    largest = a[j, c]
                    at = j - i
            out[i, c] = largest * at


@PROGRAMS.on(np.cos(np.arange(45.0) * 2), np.zeros(45, np.int64))
def steps_to_a_larger_one(a, out):
    for i in range(len(a)):
        steps = 0
        for j in range(i + 1, len(a)):
            if a[j] > a[i]:
                break
            if a[j] > -0.5:
                steps += 1
        out[i] = steps


@PROGRAMS.on(np.cos(np.arange(45.0) * 2), np.zeros(45))
@PROGRAMS.on(np.cos(np.arange(16.0)), np.zeros(16))
def running_extremes(a, out):
    for i in range(len(a)):
        low = a[i]
        for j in range(i):
            if a[j] < low and a[j] > -0.8:
                low = a[j]
        out[i] = low


@PROGRAMS.on(floats(45), np.sort(floats(20, seed=1)), floats(45, seed=2))
def skipped_after_a_search(a, b, c):
    """A `continue` of the loop whose iterations become lanes."""
    for i in range(len(a)):
        k = 0
        for j in range(len(b)):
            if b[j] > a[i]:
                break
            k += 1
        if k > 8:
            if c[i] > 0:
                continue
            c[i] = -c[i]
        elif k > 4:
            c[i] *= 2
        a[i] += k
