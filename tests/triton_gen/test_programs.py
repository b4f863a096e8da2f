"""Whole programs: Python against the interpreter, and every kernel as a cubin."""

import math

import numpy as np
import pytest

from appyc.runtime.dispatch import GuardFailure
from appyc.runtime.triton_interpret import interpret
from tests.triton_gen.source_runner import compare, program_of

RNG = np.random.default_rng(7)


def scale(a, b, factor):
    # pragma parallel for
    for i in range(a.shape[0]):
        b[i] = a[i] * factor + 0.1


def add_rows(a, b, c):
    # pragma parallel for
    for i in range(a.shape[0]):
        # pragma parallel for
        for j in range(a.shape[1]):
            c[i, j] = a[i, j] + b[j]


def gemm(alpha, beta, C, A, B):
    # pragma parallel for
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] *= beta
            for k in range(A.shape[1]):
                C[i, j] += alpha * A[i, k] * B[k, j]


def gemm_rows(alpha, beta, C, A, B):
    # pragma parallel for
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(C.shape[1]):
                C[i, j] += alpha * A[i, k] * B[k, j]


def row_sums(a, out):
    # pragma parallel for
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s


def column_sums(a, out):
    # pragma parallel for
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        out[j] = s


def total(a):
    s = 0.5
    # pragma parallel for
    for i in range(a.shape[0]):
        s += a[i]
    return s


def several(a):
    s, p, low, high = 0.0, 1.0, a[0], a[0]
    # pragma parallel for
    for i in range(a.shape[0]):
        s += a[i]
        p *= 1.0 + a[i] / 1000.0
        low = min(low, a[i])
        high = max(high, a[i])
    return s, p, low, high


def bits(a):
    x, y, z = 0, 0, -1
    # pragma parallel for
    for i in range(a.shape[0]):
        x ^= a[i]
        y |= a[i]
        z &= a[i]
    return x, y, z


def jacobi(steps, a, b):
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        # pragma parallel for
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


def triangle(a, b):
    # pragma parallel for
    for i in range(a.shape[0]):
        for j in range(i + 1):
            b[i, j] = a[j, i] * 2.0


def triangular_product(A, B):
    # pragma parallel for
    for j in range(B.shape[1]):
        for i in range(A.shape[0]):
            for k in range(i + 1, A.shape[0]):
                B[i, j] += A[k, i] * B[k, j]


def lane_triangles(a, b, c):
    # pragma parallel for
    for i in range(a.shape[0]):
        s = 0.0
        for k in range(i):
            s += a[k] * 0.5
        for k in range(i, a.shape[0]):
            s -= a[k]
        for k in range(a.shape[0] - 1, i, -2):
            s += a[k] * 3.0
        b[i] = s
        c[i] = s


def gather(a, index, out):
    # pragma parallel for
    for i in range(index.shape[0]):
        out[i] = a[index[i]]


def scatter(a, index, out):
    # pragma parallel for independent
    for i in range(index.shape[0]):
        out[index[i]] = a[i]


def histogram(values, counts):
    # pragma parallel for
    for i in range(values.shape[0]):
        # pragma atomic
        counts[values[i]] += 1


def mandelbrot(xs, ys, counts, limit):
    # pragma parallel for
    for i in range(ys.shape[0]):
        for j in range(xs.shape[0]):
            zr, zi, n = 0.0, 0.0, 0
            while n < limit and zr * zr + zi * zi < 4.0:
                zr, zi = zr * zr - zi * zi + xs[j], 2.0 * zr * zi + ys[i]
                n += 1
            counts[i, j] = n


def first_negative(a, out):
    # pragma parallel for
    for i in range(a.shape[0]):
        at = -1
        for j in range(a.shape[1]):
            if a[i, j] > 0.9:
                continue
            if a[i, j] < 0.1:
                at = j
                break
        out[i] = at


def prefix(a, out):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
        out[i] = s
    return s


def last_value(a, b):
    x = 0.0
    # pragma parallel for
    for i in range(a.shape[0]):
        x = a[i] * 2.0
        b[i] = x
    return x


def converge(a, b, tolerance):
    steps = 0
    change = 1.0
    while change > tolerance:
        change = 0.0
        # pragma parallel for
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        # pragma parallel for
        for i in range(1, a.shape[0] - 1):
            change = max(change, abs(a[i] - b[i]))
            a[i] = b[i]
        steps += 1
    return steps, change


def normalised(a, out):
    s = 0.0
    # pragma parallel for
    for i in range(a.shape[0]):
        s += a[i]
    mean = s / a.shape[0]
    # pragma parallel for
    for i in range(a.shape[0]):
        out[i] = a[i] - mean


def wrap(a, b):
    # pragma parallel for
    for i in range(a.shape[0]):
        b[i] = a[i] * a[i] + a[i]


def divide(a, b, q, r):
    # pragma parallel for
    for i in range(a.shape[0]):
        q[i] = a[i] // b[i]
        r[i] = a[i] % b[i]


def backwards(a, b):
    n = a.shape[0]
    # pragma parallel for
    for i in range(n - 1, -1, -1):
        b[i] = a[n - 1 - i]
    # pragma parallel for
    for i in range(n - 1, -1, -3):
        b[i] = b[i] + 1.0


def functions(a, b):
    # pragma parallel for
    for i in range(a.shape[0]):
        b[i] = math.sqrt(a[i]) + np.exp(a[i]) * np.log(a[i]) + np.tanh(a[i]) + a[i] ** 1.5 + np.floor(a[i])


def choose(a, b, c):
    # pragma parallel for
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            c[i] = a[i]
        elif a[i] > 0.25 and b[i] < 0.5:
            c[i] = b[i] if b[i] > 0.1 else -1.0
        else:
            c[i] = 0.0


def caxpy(z, x, y):
    # pragma parallel for
    for i in range(x.shape[0]):
        y[i] = y[i] * z + x[i] / (y[i] + 2.0)


def csum(x):
    s = 0j
    # pragma parallel for
    for i in range(x.shape[0]):
        s += x[i] * x[i].conjugate()
    return s


def cfunctions(x, y, out):
    # pragma parallel for
    for i in range(x.shape[0]):
        z = x[i]
        n = 0
        while n < 4 and abs(z) < 3.0:
            z = z * z + y[i]
            n += 1
        if z == x[i]:
            out[i] = np.sqrt(z)
        else:
            out[i] = np.exp(z) / y[i] - 1j * z**2 if z.real > 0.5 else np.log(z + 1.0)


def cproduct(x, rows):
    p = 1 + 0j
    # pragma parallel for
    for i in range(x.shape[0]):
        p *= x[i]
    # pragma parallel for
    for i in range(rows.shape[0]):
        rows[i] *= x[0]
        for j in range(x.shape[0]):
            rows[i] += x[j] * x[i]
    return p


def a(*shape):
    return RNG.random(shape)


N = 300

CASES = {
    "scale": (scale, [a(N), a(N), 3.0]),
    "scale one": (scale, [a(1), a(1), 3.0]),
    "scale none": (scale, [a(0), a(0), 3.0]),
    "scale strided": (scale, [a(2 * N)[::2], a(N)[::-1], 3.0]),
    "scale float32": (scale, [a(N).astype(np.float32), a(N).astype(np.float32), 3.0]),
    "add_rows": (add_rows, [a(5, 140), a(140), a(5, 140)]),
    "add_rows fortran": (add_rows, [np.asfortranarray(a(5, 140)), a(140), np.asfortranarray(a(5, 140))]),
    "add_rows empty": (add_rows, [a(0, 3), a(3), a(0, 3)]),
    "jacobi": (jacobi, [3, a(9, 12), a(9, 12)]),
    "triangle": (triangle, [a(9, 9), a(9, 9)]),
    "gather": (gather, [a(20), RNG.integers(-20, 20, 150), a(150)]),
    "scatter": (scatter, [a(150), RNG.permutation(150), a(150)]),
    "histogram": (histogram, [RNG.integers(0, 10, 500), np.zeros(10, np.int64)]),
    "mandelbrot": (mandelbrot, [np.linspace(-2, 1, 20), np.linspace(-1, 1, 5), np.zeros((5, 20), np.int64), 20]),
    "first_negative": (first_negative, [a(7, 30), np.zeros(7, np.int64)]),
    "prefix": (prefix, [RNG.integers(0, 9, 20) / 4.0, a(20)]),  # sums that are exact in any order
    "last_value": (last_value, [a(N), a(N)]),
    "bits": (bits, [RNG.integers(0, 1000, N)]),
    "int8 wraps": (wrap, [np.arange(-128, 128).astype(np.int8), np.zeros(256, np.int8)]),
    "uint16 wraps": (wrap, [np.arange(60000, 60200).astype(np.uint16), np.zeros(200, np.uint16)]),
    "divide ints": (divide, [RNG.integers(-9, 9, N), RNG.integers(-3, 3, N), np.zeros(N, int), np.zeros(N, int)]),
    "divide uint8": (
        divide,
        [RNG.integers(0, 255, N).astype(np.uint8), RNG.integers(0, 3, N).astype(np.uint8)]
        + [np.zeros(N, np.uint8)] * 2,
    ),
    "divide floats": (divide, [RNG.normal(size=N) * 5, RNG.normal(size=N), a(N), a(N)]),
    "backwards": (backwards, [a(N), a(N)]),
    "choose": (choose, [a(N), a(N), a(N)]),
}  # fmt: skip

ROUNDED = {
    "gemm": (gemm, [1.5, 1.2, a(6, 70), a(6, 8), a(8, 70)]),
    "gemm_rows": (gemm_rows, [1.5, 1.2, a(6, 70), a(6, 8), a(8, 70)]),
    "row_sums": (row_sums, [a(4, N), a(4)]),
    "column_sums": (column_sums, [a(7, N), a(N)]),
    "total": (total, [a(1000)]),
    "total none": (total, [a(0)]),
    "several": (several, [a(N)]),
    "triangular_product": (triangular_product, [a(7, 7), a(7, 9)]),
    "lane_triangles": (lane_triangles, [a(20), a(20), a(20)]),
    "converge": (converge, [a(12), a(12), 0.01]),
    "normalised": (normalised, [a(N), a(N)]),
    "functions": (functions, [a(N) + 0.1, a(N)]),
    "caxpy": (caxpy, [1 + 2j, a(N) + 1j * a(N), a(N) - 1j * a(N)]),
    "cfunctions": (cfunctions, [a(N) + 1j * a(N), a(N) - 1j * a(N), np.zeros(N, complex)]),
    "cproduct": (cproduct, [a(30) + 1j * a(30), a(8) - 1j * a(8)]),
    "csum": (csum, [a(N) + 1j * a(N)]),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_interpreter_gives_exactly_what_python_gives(name):
    fn, args = CASES[name]
    compare(fn, *args)


@pytest.mark.sampled
@pytest.mark.parametrize("name", ROUNDED)
def test_interpreter_gives_what_python_gives_but_for_rounding(name):
    fn, args = ROUNDED[name]
    compare(fn, *args, exact=False, libm="functions" in name)


def test_guard_that_does_not_hold_stops_before_anything_is_written():
    args = [np.ones(5), np.zeros(3), 2.0]
    with pytest.raises(GuardFailure):
        interpret(program_of(scale, *args))(args)
    assert not args[1].any()
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 of 'b' with size 3"):
        interpret(program_of(scale, *args, checked=True))(args)
