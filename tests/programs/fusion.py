"""Loops that may become one, and loops that look as if they might."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, complexes, floats, ints

PROGRAMS = Programs(strict=True)


# ---------------------------------------------------------------- what the first loop leaves behind


@PROGRAMS.on(floats(6), floats(6))
@PROGRAMS.on(floats(1), floats(1))
@PROGRAMS.on(floats(0), floats(0))
def last_value_of_the_first_loop(a, c):
    """The loops were joined, and each iteration saw its own `t`, not the last one."""
    w = np.empty(a.shape[0])
    t = 0.0
    for i in range(a.shape[0]):
        t = a[i]
        w[i] = t * 2
    for j in range(a.shape[0]):
        c[j] = w[j] + t


@PROGRAMS.on(floats(6), floats(6))
@PROGRAMS.on(floats(0), floats(2))
def sum_from_the_last_value(a, c):
    """The same with a sum that starts from there."""
    w = np.empty(a.shape[0])
    t = 0.0
    for i in range(a.shape[0]):
        t = a[i]
        w[i] = t * 2
    for j in range(a.shape[0]):
        t += w[j]
    for k in range(2):
        c[k] = t


@PROGRAMS.on(floats(6), floats(6), 5)
@PROGRAMS.on(floats(6), floats(6), 0)
def bound_that_the_first_loop_changes(a, c, n):
    for i in range(n):
        c[i] = a[i]
        n = i
    for j in range(n):
        c[j] = c[j] + a[j]


# ---------------------------------------------------------------- one pass over memory


@PROGRAMS.on(floats(13))
@PROGRAMS.on(ints(13))
@PROGRAMS.on(ints(7, dtype=np.int32))
@PROGRAMS.on(complexes(5))
@PROGRAMS.on(floats(26)[::-2])
@PROGRAMS.on(floats(1))
@PROGRAMS.on(floats(0))
def two_sums(x):
    s = x[:1].sum()
    q = x[:1].sum()
    for i in range(x.shape[0]):
        s += x[i]
    for i in range(x.shape[0]):
        q += x[i] * x[i]
    return s, q


@PROGRAMS.on(floats(13, dtype=np.float32))
@PROGRAMS.on(np.array([1.0, np.nan, 3.0]))
def extremes_and_norm(x):
    return x.min(), x.max(), abs(x).max(), np.sqrt((x * x).sum())


@PROGRAMS.on(2.0, floats(9), floats(9), floats(9))
@PROGRAMS.on(2.0, floats(1), floats(1), floats(1))
@PROGRAMS.on(2.0, floats(0), floats(0), floats(0))
@PROGRAMS.on(2.0, floats(18)[::2], floats(9)[::-1], floats(9))
@PROGRAMS.on(3, ints(9), floats(9), complexes(9))
def chain_through_parameters(a, x, y, z):
    y[:] = a * x
    z[:] = y + 1.0
    z[:] = z * y


@PROGRAMS.on(floats(5, 7), floats(5, 7), floats(5, 7))
@PROGRAMS.on(floats(1, 1), floats(1, 1), floats(1, 1))
@PROGRAMS.on(floats(0, 3), floats(0, 3), floats(0, 3))
@PROGRAMS.on(floats(7, 5).T, floats(5, 7), floats(5, 7))
def plane_chain(x, y, z):
    y[:] = x * 2.0
    z[:] = y - x


@PROGRAMS.on(floats(9), floats(9))
@PROGRAMS.on(floats(0), floats(0))
def shifted_read_is_no_chain(x, y):
    """The second loop needs what later iterations of the first write."""
    n = x.shape[0]
    for i in range(n):
        y[i] = x[i] * 2.0
    for i in range(n):
        x[i] = y[n - 1 - i]


@PROGRAMS.on(floats(9), floats(9), floats(9))
def pragma_and_tensor_statement(x, y, z):
    #pragma parallel for
    for i in range(x.shape[0]):
        y[i] = x[i] * 2.0
    z[:] = y + x


@PROGRAMS.on(floats(6, 4), floats(6, 4), floats(4))
@PROGRAMS.on(floats(1, 1), floats(1, 1), floats(1))
def two_products_over_one_vector(a, b, x):
    return 1.5 * (a @ x) + 0.5 * (b @ x)


@PROGRAMS.on(floats(7), floats(7))
def stored_and_read_again(a, b):
    """The element that is stored first is stored again before it is read under another name."""
    n = a.shape[0]
    for i in range(n):
        b[i] = a[i] + 1.0
    for i in range(n):
        b[i] = b[i] * 2.0
        a[i] = b[i] - a[i]


# ---------------------------------------------------------------- temporaries that are not stored


@PROGRAMS.on(floats(6), floats(6), 9)
@PROGRAMS.on(floats(0), floats(0), 9)
def array_that_a_while_keeps(a, out, k):
    """The array was taken for a scalar that starts as 0 each time."""
    t = np.zeros(a.shape[0])
    while k > 0:
        for i in range(a.shape[0]):
            out[i] += t[i]
            t[i] = a[i] + k
        k = k // 2


@PROGRAMS.on(floats(7, 9), floats(7, 9))
@PROGRAMS.on(floats(3, 3), floats(3, 3))
@PROGRAMS.on(floats(2, 2), floats(2, 2))
@PROGRAMS.on(floats(9, 7).T, floats(7, 9))
@PROGRAMS.on(floats(7, 9, dtype=np.float32), floats(7, 9, dtype=np.float32))
@PROGRAMS.on(ints(7, 9), floats(7, 9))
@PROGRAMS.on(ints(7, 9, dtype=np.int32), complexes(7, 9))
def nine_points_of_a_temporary(a, b):
    t = a * 2 + 1
    b[1:-1, 1:-1] = (
        t[:-2, :-2] + t[:-2, 1:-1] + t[:-2, 2:] + t[1:-1, :-2] + t[1:-1, 1:-1]
        + t[1:-1, 2:] + t[2:, :-2] + t[2:, 1:-1] + t[2:, 2:]
    )  # fmt: skip


@PROGRAMS.on(floats(9))
@PROGRAMS.on(floats(2))
@PROGRAMS.on(floats(18)[::-2])
def stencils_of_stencils(a):
    t = a * 2.0
    u = t[:-1] + t[1:]
    return u[:-1] - u[1:], u.max()


@PROGRAMS.on(floats(9))
def temporary_of_what_changes(a):
    t = a * 2.0
    a[1:] = t[:-1] + t[1:]


@PROGRAMS.on(floats(5, 7), floats(5, 7))
@PROGRAMS.on(floats(1, 1), floats(1, 1))
@PROGRAMS.on(np.full((3, 4), np.nan), floats(3, 4))
@PROGRAMS.on(floats(7, 5, dtype=np.float32).T, floats(5, 7, dtype=np.float32))
def softmax_of_rows(x, y):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    y[:] = e / e.sum(axis=1, keepdims=True)


@PROGRAMS.on(floats(5, 8), floats(8), floats(8), floats(5, 8))
@PROGRAMS.on(floats(1, 1), floats(1), floats(1), floats(1, 1))
def layer_norm(x, g, b, y):
    m = x.mean(axis=1, keepdims=True)
    v = ((x - m) ** 2).mean(axis=1, keepdims=True)
    y[:] = (x - m) / np.sqrt(v + 1e-5) * g + b


@PROGRAMS.on(floats(6), floats(6))
def array_that_nobody_reads(a, b):
    t = np.zeros(a.shape[0])
    t[:] = a * 3.0
    b[:] = a + 1.0


@PROGRAMS.on(-1, floats(4), floats(4))
@PROGRAMS.on(4, floats(4), floats(4))
def negative_length_of_an_array_that_is_not_needed(n, a, out):
    t = np.empty(n)
    u = np.zeros(n)
    for i in range(n):
        t[i] = a[i] * 2
        u[i] = a[i]
    for i in range(n):
        out[i] = t[i] + 1


@PROGRAMS.on(floats(9))
@PROGRAMS.on(floats(1))
@PROGRAMS.on(np.array([-0.0, -0.0]))
@PROGRAMS.on(np.array([1.0, np.nan]))
@PROGRAMS.on(ints(9))
@PROGRAMS.on(floats(9, dtype=np.float32))
@PROGRAMS.on(complexes(5))
def mean_and_deviation(x):
    return x.mean(), x.std(), x.mean() * 2


@PROGRAMS.on(floats(5, 7))
def means_and_deviations_of_rows(x):
    return x.mean(axis=1), x.std(axis=1), (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)


# ---------------------------------------------------------------- deviations in blocks


@PROGRAMS.on(floats(9001))
@PROGRAMS.on(1e8 + floats(9001))
@PROGRAMS.on(floats(9001)[::-2])
@PROGRAMS.on(ints(4097))
@PROGRAMS.on(floats(3, 5003))
@PROGRAMS.on(floats(2111, 3))
@PROGRAMS.on(floats(2, 3, 1500))
@PROGRAMS.on(floats(70, 90).T)
def mean_and_deviation_of_blocks(x):
    return x.mean(), x.std(), np.var(x, ddof=1), (x * x).std()


@PROGRAMS.on(floats(9001), floats(9001, seed=1))
@PROGRAMS.on(floats(1), floats(1))
@PROGRAMS.on(np.array([1.0, np.inf]), np.array([np.nan, 0.0]))
def correlation_of_two_lines(x, y):
    n = x.shape[0]
    a = x.sum() / n
    b = y.sum() / n
    c = p = q = 0.0
    for i in range(n):
        c += (x[i] - a) * (y[i] - b)
        p += (x[i] - a) ** 2
        q += (b - y[i]) ** 2
    return c, p, q


# ---------------------------------------------------------------- stencils of what is dear to compute


@PROGRAMS.on(floats(70, 9))
@PROGRAMS.on(floats(35, 40).T)
@PROGRAMS.on(floats(33, 3, dtype=np.float32))
@PROGRAMS.on(floats(2, 2))
@PROGRAMS.on(complexes(40, 5))
def nine_points_of_roots(a):
    t = np.sqrt(a * a + 1.0)
    return (
        t[:-2, :-2] + t[:-2, 1:-1] + t[:-2, 2:] + t[1:-1, :-2] + t[1:-1, 1:-1]
        + t[1:-1, 2:] + t[2:, :-2] + t[2:, 1:-1] + t[2:, 2:]
    )  # fmt: skip


@PROGRAMS.on(floats(8300))
@PROGRAMS.on(floats(16601)[::-2])
@PROGRAMS.on(floats(3))
def slopes_of_exponentials(a):
    t = np.exp(a)
    return t[:-2] + t[1:-1] * t[2:] - t[2:] / (1.0 + t[:-2] * t[1:-1])


@PROGRAMS.on(floats(20, 4, 5), floats(20, 4, 5))
@PROGRAMS.on(floats(1, 4, 5), floats(1, 4, 5))
def planes_of_a_room(a, b):
    t = np.exp(a) / (1.0 + np.exp(b))
    b[1:-1] = t[:-2] + t[1:-1] * t[2:] - t[:-2] * t[1:-1]


# ---------------------------------------------------------------- loops in blocks


@PROGRAMS.on(floats(8200), floats(8200), 3)
@PROGRAMS.on(floats(3), floats(3), 3)
@PROGRAMS.on(floats(2), floats(2), 1)
@PROGRAMS.on(floats(9000, dtype=np.float32)[::2], floats(4500, dtype=np.float32), 2)
def jacobi_of_a_line(a, b, steps):
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3


@PROGRAMS.on(floats(70, 5), floats(70, 5), floats(70, 5))
@PROGRAMS.on(floats(33, 2), floats(33, 2), floats(33, 2))
@PROGRAMS.on(floats(1, 2), floats(1, 2), floats(1, 2))
def waves_in_a_plane(ey, ex, hz):
    for _ in range(2):
        ey[1:, :] = ey[1:, :] - 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] = ex[:, 1:] - 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] = hz[:-1, :-1] - 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def wide_and_tall(*shape, dtype=np.float64):
    n, m = shape
    a = floats(n, m, dtype=dtype)
    if n > 2:
        a[n // 2, m // 2] = np.nan
    return a, *(floats(k, dtype=dtype, seed=k) for k in (n, m, m, n))


@PROGRAMS.on(*wide_and_tall(13, 7))
@PROGRAMS.on(*wide_and_tall(0, 3))
@PROGRAMS.on(*wide_and_tall(2, 1))
@PROGRAMS.on(*wide_and_tall(67, 131), targets=C_ONLY)
@PROGRAMS.on(*wide_and_tall(131, 67, dtype=np.float32), targets=C_ONLY)
@PROGRAMS.on(np.asfortranarray(wide_and_tall(17, 9)[0]), *wide_and_tall(17, 9)[1:], targets=C_ONLY)
@PROGRAMS.on(wide_and_tall(17, 18)[0][::-1, ::2], *wide_and_tall(17, 9)[1:], targets=C_ONLY)
@PROGRAMS.on(*(part + 1j * part[::-1] for part in wide_and_tall(13, 7)), targets=C_ONLY)
def update_and_products_with_it(a, u, v, x, y):
    a += np.outer(u, v)
    x += 0.5 * y @ a
    y += a @ x
    return a


@PROGRAMS.on(floats(9), floats(9, seed=1))
@PROGRAMS.on(floats(9000), floats(9000, seed=1))
def last_value_of_a_loop_in_blocks(a, b):
    """Iterations that are peeled from the blocks ran last, and set the values that are read after the loop."""
    n = len(a)
    t = last = 0.0
    for i in range(n):
        a[i] = b[i] * 2.0
    for i in range(1, n - 1):
        t = a[i - 1] + a[i + 1]
        if t > 0.25:
            last = t
        b[i] = t
    return t, last


@PROGRAMS.on(floats(9), floats(9, seed=1), 0.5)
@PROGRAMS.on(floats(2), floats(2, seed=1), 0.5)
@PROGRAMS.on(floats(1), floats(1, seed=1), 0.5)
def forces_inside(x, v, k):
    """The forces are 0 at both ends."""
    for _ in range(3):
        f = np.zeros(len(x))
        for i in range(1, len(x) - 1):
            f[i] = k * (x[i - 1] - 2 * x[i] + x[i + 1])
        v += 0.01 * f
        x += 0.01 * v
    return x


@PROGRAMS.on(floats(7, 9))
@PROGRAMS.on(floats(1, 3))
def laplacian_inside(u):
    out = np.zeros_like(u)
    out[1:-1, 2:-1] = u[2:, 2:-1] + u[:-2, 2:-1] - 2 * u[1:-1, 2:-1]
    edges = np.zeros_like(u)
    edges[1:] = u[1:] - u[:-1]
    return u + 0.1 * out, (edges * edges).sum(), edges


@PROGRAMS.on(floats(8))
def parts_that_are_not_all(x):
    """Other statements store into the array."""
    a, b, c = np.zeros(len(x)), np.zeros(len(x)), np.zeros(len(x), np.int64)
    a[0] = 3.0
    for i in range(1, len(x) - 1):
        a[i] = 2 * x[i]
        b[i] = x[i]
    b[-1] = 5.0
    for i in range(2, len(x)):
        c[i] = i + b[i]
    return a + x, b * x, c - 1
