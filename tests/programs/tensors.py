"""Slices, operations on whole arrays, reductions over axes, new arrays; nothing is left to Python."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, bools, complexes, floats, ints

PROGRAMS = Programs(strict=True)

_GRID = floats(6, 7)
_LINE = floats(12)


# ---------------------------------------------------------------- slices


@PROGRAMS.on(floats(9), floats(9, seed=1))
@PROGRAMS.on(floats(2), floats(2, seed=1))
@PROGRAMS.on(floats(1), floats(1, seed=1))
@PROGRAMS.on(floats(0), floats(0))
@PROGRAMS.on(floats(9)[::-1], floats(18, seed=1)[::2])
@PROGRAMS.on(floats(9, dtype=np.float32), floats(9, seed=1))
@PROGRAMS.on(floats(40_000), floats(40_000), targets=C_ONLY)
def three_point(a, b):
    b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0


@PROGRAMS.on(floats(4), floats(3), 2)
@PROGRAMS.on(floats(1), floats(3), 2)
@PROGRAMS.on(floats(0), floats(3), 3)  # raises IndexError, though nothing is assigned
@PROGRAMS.on(floats(1), floats(3), -4)  # raises IndexError
def element_for_a_slice(b, a, k):
    b[1:] = a[k]


@PROGRAMS.on(floats(3), floats(3), 2)
@PROGRAMS.on(floats(0), floats(3), 2)
@PROGRAMS.on(floats(0), floats(3), 3)  # raises IndexError
def element_beside_a_slice(b, a, k):
    s = (b * a[k]).sum()
    b += a[k] - 1.0
    return s, b[1:] * a[k]


@PROGRAMS.on(floats(4, 3), floats(4, 3), np.array([0, 2, 1, 2]))
@PROGRAMS.on(floats(4, 1), floats(4, 3), np.array([0, 2, 1, 3]))  # raises IndexError
@PROGRAMS.on(floats(0, 1), floats(4, 3), np.array([0, 2, 1, 3]))
def elements_for_rows(b, a, at):
    for i in range(len(b)):
        b[i, 1:] = a[i, at[i]]


@PROGRAMS.on(floats(8), 2, 5)
@PROGRAMS.on(floats(8), -3, 100)
@PROGRAMS.on(floats(8), 5, 2)
@PROGRAMS.on(floats(8), -100, -1)
@PROGRAMS.on(floats(0), 0, 3)
def bounds_from_numbers(a, lo, hi):
    return a[lo:hi] * 2.0, a[lo:hi:2] + 1.0, a[hi:lo:-1] - 1.0


@PROGRAMS.on(_LINE)
@PROGRAMS.on(floats(3))
@PROGRAMS.on(floats(1))
@PROGRAMS.on(floats(0))
def steps(a):
    return a[::2] + 0.0, a[::-1] + 0.0, a[1::3] * 1.0, a[-2::-2] * 1.0, a[:-1:4] * 1.0


@PROGRAMS.on(_GRID)
@PROGRAMS.on(np.asfortranarray(_GRID))
@PROGRAMS.on(_GRID.T)
@PROGRAMS.on(ints(6, 7, dtype=np.int32))
def rows_and_columns(a):
    return a[1] + a[-1], a[:, 2] * 2, a[1:3, ::2] - 1, a[..., 0] + 0, a[2, ...] + 0, a[None, :, 1] * 1


@PROGRAMS.on(floats(3, 4, 5))
def planes(a):
    a[1] = a[0] * 2.0
    a[:, 1, :] += 1.0
    a[..., -1] = 7.0
    return a[:, :, 0].sum(axis=0), a[0, 1:, ::-1] + 0.0


@PROGRAMS.on(_GRID, 3)
@PROGRAMS.on(_GRID, -7)
@PROGRAMS.on(_GRID, 7)
@PROGRAMS.on(_GRID, -8)
def column_from_a_number(a, j):
    return a[:, j] * 2.0


@PROGRAMS.on(_GRID)
def view_of_a_view(a):
    inner = a[1:-1, 1:-1]
    inner[0, :] = 5.0
    corner = inner[:2]
    corner[:, -1] = 6.0
    corner[1, 0] = 8.0
    return inner[1, 1] + corner[0, 0]


@PROGRAMS.on(_GRID, 4)
@PROGRAMS.on(_GRID, -5)
@PROGRAMS.on(_GRID, 5)
def element_of_a_view(a, k):
    inner = a[1:, 2:]
    return inner[k, 0]


# ---------------------------------------------------------------- reading before storing


@PROGRAMS.on(floats(9))
@PROGRAMS.on(floats(1))
@PROGRAMS.on(floats(0))
@PROGRAMS.on(ints(9, dtype=np.int8))
def shifted_onto_itself(a):
    a[1:] = a[:-1]
    a[:-1] = a[1:] * 2


_PLACES = np.array([1, 0, 2, 4, 3])


@PROGRAMS.on(_PLACES, _PLACES)
@PROGRAMS.on(_PLACES[2::-1], _PLACES[:3])
@PROGRAMS.on(_PLACES, np.array([4, 0, 0]))
def index_that_is_stored_to(a, at):
    a[at] = 3
    a[a % 5] += 1


@PROGRAMS.on(floats(9))
def reversed_onto_itself(a):
    a[:] = a[::-1]


@PROGRAMS.on(floats(9))
def five_points_onto_itself(a):
    a[1:-1] += a[:-2] - a[2:]


@PROGRAMS.on(floats(5, 5))
def transposed_onto_itself(a):
    a[:] = a.T


@PROGRAMS.on(floats(6, 6))
def normalised_by_itself(a):
    a[:] = a / a.sum()
    a[:, :] = a - a.mean(axis=0)


@PROGRAMS.on(_LINE[1:], _LINE[:-1])
@PROGRAMS.on(_LINE[:-1], _LINE[1:])
@PROGRAMS.on(_LINE, _LINE)
@PROGRAMS.on(_LINE, _LINE[::-1])
def arguments_overlap(a, b):
    a[:] = b * 2.0 + 1.0


@PROGRAMS.on(floats(4), floats(4, seed=1))
def two_swapped(a, b):
    a[:], b[:] = b.copy(), a.copy()


# ---------------------------------------------------------------- broadcasting


@PROGRAMS.on(floats(4, 5), floats(5), floats(4, 1))
@PROGRAMS.on(floats(4, 1), floats(5), floats(1, 5))
@PROGRAMS.on(floats(1, 1), floats(1), floats(1, 1))
@PROGRAMS.on(floats(0, 5), floats(5), floats(1, 1))
@PROGRAMS.on(floats(4, 5), floats(4), floats(4, 1))
@PROGRAMS.on(floats(4, 5, dtype=np.float32), ints(5), floats(4, 1))
def stretched(a, b, c):
    return a + b, a * c, b - c, (a + b) / (c + 3.0)


@PROGRAMS.on(floats(4, 5), floats(5))
@PROGRAMS.on(floats(4, 5), floats(1))
@PROGRAMS.on(floats(4, 5), floats(1, 5))
@PROGRAMS.on(floats(4, 5), floats(1, 1, 5))
@PROGRAMS.on(floats(4, 1), floats(4, 1))
@PROGRAMS.on(floats(4, 5), floats(4, 1))
@PROGRAMS.on(floats(4, 5), floats(4))
def stored_stretched(a, b):
    a[...] = b


@PROGRAMS.on(floats(6), ints(4))
def table(a, b):
    return a[:, None] * b[None, :] + a[:, np.newaxis], np.outer(a, b), np.add.outer(b, a)


@PROGRAMS.on(floats(5))
def scalars_beside_arrays(a):
    return 2 * a, a**2, a**0.5, 1 / (a + 3), -a, +a, a // 0.3, a % 0.3, 3 - a, abs(a)


@PROGRAMS.on(ints(6), ints(6, lo=1, hi=5, seed=1))
@PROGRAMS.on(ints(6, dtype=np.int8), ints(6, lo=1, hi=5, dtype=np.int8))
@PROGRAMS.on(ints(6, lo=0, dtype=np.uint8), ints(6, lo=1, hi=5, dtype=np.int16))
@PROGRAMS.on(ints(6, lo=0, dtype=np.uint32), ints(6, lo=1, hi=5, dtype=np.uint8))
def integer_operators(a, b):
    return a + b, a * b, a - b, a // b, a % b, a / b, a & b, a | b, a ^ b, a << b, a >> b, ~a, a**2


@PROGRAMS.on(complexes(5), floats(5))
@PROGRAMS.on(complexes(5, dtype=np.complex64), floats(5, dtype=np.float32))
def complex_arrays(z, x):
    return z * x, z + 1j, np.conjugate(z), z.real - z.imag, np.abs(z), np.exp(1j * x), (z * z).sum()


@PROGRAMS.on(bools(6), bools(6, seed=3), floats(6))
def masks_as_values(p, q, x):
    return p & q, p | q, ~p, p ^ q, x > 0.0, np.logical_and(p, x < 1.0), (x > 0.0).sum(), p.any(), q.all()


# ---------------------------------------------------------------- functions


@PROGRAMS.on(floats(7) * 0.9)
@PROGRAMS.on(floats(7, dtype=np.float32) * np.float32(0.9))
@PROGRAMS.on(ints(7))
def place_by_place(x):
    return (
        np.exp(x), np.sqrt(np.abs(x)), np.sin(x) + np.cos(x), np.tanh(x), np.floor(x), np.where(x > 0, x, -x),
        np.clip(x, -0.5, 0.5), np.minimum(x, 0), np.maximum(x, 1), np.log1p(np.abs(x)), np.sign(x),
    )  # fmt: skip


@PROGRAMS.on(np.array([1.0, np.nan, np.inf, -np.inf, 0.0]))
def special_values(x):
    return np.isnan(x), np.isinf(x), np.maximum(x, 0.0), np.where(np.isnan(x), 0.0, x), x.max(), np.min(x)


# ---------------------------------------------------------------- reductions


@PROGRAMS.on(floats(4, 5))
@PROGRAMS.on(floats(4, 5)[::-1, ::2])
@PROGRAMS.on(floats(1, 1))
@PROGRAMS.on(ints(4, 5))
@PROGRAMS.on(ints(4, 5, dtype=np.int8))
@PROGRAMS.on(ints(4, 5, lo=0, dtype=np.uint16))
@PROGRAMS.on(bools(4, 5))
@PROGRAMS.on(floats(4, 5, dtype=np.float32))
def over_axes(a):
    return (
        a.sum(), a.sum(axis=0), np.sum(a, axis=1), a.sum(axis=-1, keepdims=True), a.prod(axis=0),
        a.min(axis=0), np.max(a, axis=1), a.max(), a.mean(axis=0), a.any(axis=0), np.all(a, axis=1),
    )  # fmt: skip


@PROGRAMS.on(floats(3, 4, 5))
def over_several_axes(a):
    return a.sum(axis=(0, 2)), a.max(axis=(1, 2), keepdims=True), a.mean(axis=(0, 1))


@PROGRAMS.on(floats(4, 5))
@PROGRAMS.on(floats(1, 3))
def spread(a):
    few = np.var(a[:1], axis=0, ddof=3) + 1.0, a[:2, 0].std(ddof=2)  # as many as nothing: no number, or none below 0
    return a.var(), a.std(axis=0), np.var(a, axis=1, ddof=1), np.std(a, axis=1, keepdims=True), few


@PROGRAMS.on(floats(0))
@PROGRAMS.on(floats(3))
def of_nothing(a):
    return a.sum(), a.prod(), a.any(), a.all()


@PROGRAMS.on(floats(0))
@PROGRAMS.on(floats(3))
def smallest_of_nothing(a):
    return a.min()


@PROGRAMS.on(floats(6, 7))
@PROGRAMS.on(floats(1, 1))
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# ---------------------------------------------------------------- products


@PROGRAMS.on(floats(3, 4), floats(4, 5), floats(4), floats(3))
@PROGRAMS.on(floats(3, 0), floats(0, 5), floats(0), floats(3))
@PROGRAMS.on(floats(4, 3).T, floats(5, 4).T, floats(8)[::2], floats(3))
@PROGRAMS.on(ints(3, 4), floats(4, 5), ints(4), floats(3))
@PROGRAMS.on(complexes(3, 4), floats(4, 5), floats(4), floats(3))
def products(a, b, x, y):
    return a @ b, a @ x, x @ b, y @ a, x @ x, np.dot(a, b), a.dot(x), np.dot(x, 2.0), a.T @ y


@PROGRAMS.on(floats(2, 3, 4), floats(2, 4, 5))
@PROGRAMS.on(floats(2, 3, 4), floats(4, 5))
@PROGRAMS.on(floats(2, 3, 4), floats(4))
@PROGRAMS.on(floats(1, 3, 4), floats(2, 4, 5))
def stacks_of_matrices(a, b):
    return a @ b


@PROGRAMS.on(floats(3, 4), floats(5, 6))
def matrices_that_do_not_fit(a, b):
    return a @ b


@PROGRAMS.on(floats(4, 5), floats(5, 3), floats(4, 3), 1.5, 0.5)
def gemm(a, b, c, alpha, beta):
    c[:] = alpha * a @ b + beta * c


@PROGRAMS.on(floats(8, 3))
def covariance(d):
    x = d - d.mean(axis=0)
    return x.T @ x / (d.shape[0] - 1.0)


# ---------------------------------------------------------------- shapes


@PROGRAMS.on(floats(3, 4, 5))
def axes_moved(a):
    return (
        a.T + 0.0, a.transpose(1, 0, 2) + 0.0, np.transpose(a, (1, 0, 2)) + 0.0,
        np.swapaxes(a, 0, 2) * 1.0, np.flip(a, 1) * 1.0, np.expand_dims(a, 1)[:, 0] * 1.0, a.shape, a.T.shape,
    )  # fmt: skip


@PROGRAMS.on(floats(3, 4), floats(3, 4, seed=1))
@PROGRAMS.on(floats(0, 4), floats(0, 4))
@PROGRAMS.on(np.asfortranarray(floats(3, 4)), floats(6, 4)[::2])
def reshaped(a, b):
    c = a.copy()
    d = c.reshape(-1)
    d[1:3] = 9.0
    return c, d + 0.0, np.reshape(c, (2, -1)) * 1.0, c.ravel() + 1.0, b.flatten(), a.copy().reshape((4, 3)) + 0.0


@PROGRAMS.on(floats(3, 4), floats(2, 4), floats(4))
@PROGRAMS.on(ints(3, 4), floats(2, 4), ints(4))
@PROGRAMS.on(floats(3, 4), floats(2, 5), floats(4))
def joined(a, b, x):
    return np.concatenate((a, b)), np.stack([x, x * 2.0]), np.hstack((x, x[1:])), np.concatenate([a, a], axis=1)


@PROGRAMS.on(floats(3, 4), floats(2, 4), floats(4))
@PROGRAMS.on(ints(3, 4), floats(2, 2, 2), ints(4))
def joined_in_order(a, b, x):
    """Over no axis: of any shapes, element after element."""
    return np.concatenate((a, b, x), axis=None), np.concatenate((a.T, a), None)


@PROGRAMS.on(floats(5), 2)
@PROGRAMS.on(floats(5), -7)
@PROGRAMS.on(floats(0), 1)
def rolled_and_repeated(a, k):
    return np.roll(a, k), np.repeat(a, 3), np.repeat(a[:, None] * 1.0, 2, axis=1)


@PROGRAMS.on(floats(4, 5), 2)
@PROGRAMS.on(floats(0, 3), 1)
def rolled_along_several_axes(a, k):
    return np.roll(a, (1, -k), axis=(0, 1)), np.roll(a, k, axis=(0, 1)), np.roll(a, (1, k), axis=1)


@PROGRAMS.on(floats(2, 3), floats(4), 2.0)
def outer_products(a, b, x):
    return np.outer(a.copy(), b), np.outer(x, b), np.multiply.outer(a, b), np.subtract.outer(b, b)


@PROGRAMS.on(5)
@PROGRAMS.on(1)
@PROGRAMS.on(0)
def made_here(n):
    a = np.zeros(n)
    b = np.ones((n, 2), dtype=np.int32)
    c = np.full(n, 2.5)
    a[:] = c * 2.0
    b[:, 1] = 7
    d = np.zeros_like(b)
    return a, b, c, d, np.arange(n), np.arange(1, n, 2), np.linspace(0.0, 1.0, n), np.eye(n), np.ones_like(c)


@PROGRAMS.on(-1)
def negative_length(n):
    return np.zeros(n)


@PROGRAMS.on(4, 7)
@PROGRAMS.on(7, 4)
def ranges(lo, hi):
    return np.arange(lo, hi), np.arange(hi, lo, -2), np.arange(0.0, 2.0, 0.3), np.arange(lo * 1.0)


@PROGRAMS.on(floats(4, 4))
@PROGRAMS.on(floats(3, 5))
def triangles(a):
    return np.triu(a), np.tril(a), np.triu(a, 1), np.tril(a, -1)


@PROGRAMS.on(floats(6), ints(4, lo=0, hi=6))
@PROGRAMS.on(floats(6), ints(4, lo=-6, hi=6, dtype=np.int32))
@PROGRAMS.on(floats(6), ints(4, lo=-6, hi=8))
def gathered(a, idx):
    return a[idx], a[idx[::-1]] * 2.0


@PROGRAMS.on(floats(6, 4), ints(3, lo=0, hi=6), ints(3, lo=0, hi=4))
def gathered_from_a_matrix(a, rows, columns):
    return a[rows], a[rows, columns], a[:, columns], a[1, columns]


@PROGRAMS.on(floats(6), np.array([1, 3, 1, 5]), floats(4, seed=2))
def scattered(a, idx, x):
    a[idx] = x
    a[idx] += 1.0


@PROGRAMS.on(floats(6))
def converted(a):
    b = a.astype(np.float32)
    c = (a * 10).astype(np.int64)
    d = a.copy()
    d[0] = 9.0
    return b, c, d, a.astype(np.float64)


# ---------------------------------------------------------------- in loops, with loops, in calls


@PROGRAMS.on(8, 4)
@PROGRAMS.on(3, 0)
def heat(n, steps):
    a = np.zeros((n, n))
    a[0, :] = 1.0
    b = a.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a[1:-1, 1:-1] = b[1:-1, 1:-1]
    return a


@PROGRAMS.on(floats(6, 6))
def triangular_slices(a):
    for i in range(a.shape[0]):
        a[i, :i] *= 0.5
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j, :j]
        if i > 0:
            a[i, i:] = a[i, i:] - a[:i, i:].sum(axis=0)


@PROGRAMS.on(floats(5, 5) + 5.0 * np.eye(5), floats(5))
def triangular_solve(a, b):
    x = np.zeros_like(b)
    for i in range(a.shape[0]):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


@PROGRAMS.on(floats(6, 5), floats(6))
@PROGRAMS.on(floats(300, 40), floats(300), targets=C_ONLY)
def rows_in_parallel(a, out):
    #pragma parallel for
    for i in range(a.shape[0]):
        out[i] = (a[i] * a[i]).sum()
        a[i, :] = a[i, :] / 2.0


@PROGRAMS.on(floats(5, 5))
def power_iteration(a):
    x = np.ones(a.shape[0])
    for _ in range(6):
        y = a @ x
        x[:] = y / np.sqrt((y * y).sum())
    return x


def _smoothed(a):
    return (a[:-1] + a[1:]) / 2.0


def _doubled(a):
    a *= 2.0


@PROGRAMS.on(floats(7))
def helpers(a):
    b = _smoothed(a)
    _doubled(a[1:3])
    return _smoothed(b) + 1.0, b


@PROGRAMS.on(floats(7), 1)
@PROGRAMS.on(floats(7), -1)
def in_branches(a, k):
    if k > 0:
        a[1:] = a[:-1] + 1.0
        s = a.sum()
    else:
        a[:] = 0.0
        s = a.max()
    return s


@PROGRAMS.on(12, 9)
def mandelbrot(n, limit):
    c = np.linspace(-2.0, 1.0, n)[None, :] + 1j * np.linspace(-1.5, 1.5, n)[:, None]
    z = np.zeros((n, n), dtype=np.complex128)
    count = np.zeros((n, n), dtype=np.int64)
    for _ in range(limit):
        inside = np.abs(z) < 2.0
        z[:] = np.where(inside, z * z + c, z)
        count += inside
    return count


@PROGRAMS.on(floats(9) + 3.0, floats(9, seed=1) + 3.0, floats(9, seed=2) + 3.0, 0.05, 0.2)
def black_scholes(s, k, t, r, v):
    d1 = (np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))
    d2 = d1 - v * np.sqrt(t)
    n1, n2 = 1.0 / (1.0 + np.exp(-1.702 * d1)), 1.0 / (1.0 + np.exp(-1.702 * d2))
    return s * n1 - k * np.exp(-r * t) * n2


@PROGRAMS.on(floats(9, 8), floats(8, 5), floats(5))
def layer(x, w, b):
    h = np.maximum(x @ w + b, 0)
    return (h - h.mean(axis=-1, keepdims=True)) / (h.std(axis=-1, keepdims=True) + 1e-5)


_EDGES = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-310, 1e300, 1e-160, 0.5, 2.5, -3.0])


@PROGRAMS.on(_EDGES)
@PROGRAMS.on(_EDGES[:7].astype(np.float32))
@PROGRAMS.on(np.array([1e-40, 1e30, 1e-20, -0.5], np.float32))
@PROGRAMS.on(floats(0))
@PROGRAMS.on(floats(1))
@PROGRAMS.on(floats(37))
def small_powers(a):
    return a**3, a**4, a**-2.0, a**1.5, a**-0.5, a**-1.5


@PROGRAMS.on(_EDGES)
@PROGRAMS.on(floats(61, dtype=np.float32))
@PROGRAMS.on(floats(61))
@PROGRAMS.on(floats(2))
def functions_under_conditions(a):
    grown = np.where(a > 0.0, np.exp(-a) * np.cos(a), np.tanh(a))
    return grown, np.where(np.isnan(a), 0.0, np.sin(a) ** 2), np.sum(np.exp2(np.minimum(a, 9.0)))
