"""What NumPy programs say in Python's own words: functions inside functions, comprehensions, lists of indices."""

import numpy as np

from tests.programs.registry import Programs, bools, complexes, floats, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(floats(7), 2.0)
@PROGRAMS.on(floats(0), 2.0)
@PROGRAMS.on(floats(1), 2)
def function_defined_inside(v, k):
    def scaled(x, n=3):
        y = x * k
        if n > 4:
            y = y + n
        return y

    first = scaled(v)
    k = 5.0  # read at the call
    return first, scaled(v, n=7), scaled(k)


@PROGRAMS.on(floats(7))
def function_that_writes_around_it(v):
    out = np.zeros(len(v))

    def put(i, x):
        out[i] = x * 2

    for i in range(len(v)):
        put(i, v[i])
    return out


def applied(f, x):
    return f(f(x))


@PROGRAMS.on(floats(5))
def lambda_handed_on(v):
    double = lambda x, n=2.0: x * n  # noqa: E731
    return applied(lambda t: t * t + 1, v), double(v), double(v, n=3.0)


@PROGRAMS.on(floats(9))
@PROGRAMS.on(floats(2))
def closure_over_a_branch(v):
    def limit(x):
        return np.minimum(x, top)

    if v[0] > 0:
        top = 0.5
    else:
        top = 0.25
    return limit(v)


@PROGRAMS.on(floats(7), 4)
@PROGRAMS.on(floats(7), 0)
@PROGRAMS.on(floats(1), -1)
def comprehensions(v, n):
    x = 5
    squares = np.array([x * x + n for x in v])
    table = np.array([[i * j for j in range(3)] for i in range(2)])
    down = np.array([x + 1 for x in range(10, n, -3)])
    rows = np.stack([v * k for k in range(3)])
    return squares, table, down, rows, np.array([k + 1.5 for k in (1, 2)]), x


@PROGRAMS.on(floats(8), floats(8, seed=1), 8)
@PROGRAMS.on(floats(8), floats(8, seed=1), 0, joined=True)
def sums_of_generators(a, b, n):
    total = sum(a[i] * b[i] for i in range(n))
    return total, sum(x * y for x, y in zip(a, b)), sum(k * x for k, x in enumerate(a)), sum([1, 2, n])


@PROGRAMS.on(floats(4, 6), floats(6))
@PROGRAMS.on(floats(0, 6), floats(6))
def sum_in_a_loop(A, v):
    out = np.zeros(A.shape[0])
    #pragma parallel for
    for i in range(A.shape[0]):
        out[i] = sum(A[i, k] * v[k] for k in range(A.shape[1]))
    return out


@PROGRAMS.on(floats(6))
@PROGRAMS.on(ints(6))
@PROGRAMS.on(floats(6, dtype=np.float32))
@PROGRAMS.on(complexes(6))
@PROGRAMS.on(floats(0), joined=True)
def sum_of_a_vector(v):
    return sum(v), sum(v, 2)


@PROGRAMS.on(floats(5, 6))
def lists_as_indices(A):
    part = A[[0, -1]]
    part[[1], [2]] = 5.0
    for k in [1, 2]:
        A[k, [0, 3]] += k
    return part, A[:, [4, 2]], A[[True, False, True, False, True]], A[1, :, None][[2, 0]]


@PROGRAMS.on(floats(5))
def lists_as_arrays(v):
    return np.max((v[0], v[1], 2.0)), np.mean([v, v * 2]), np.dot(v[:3], [1, 2, 3]), v * (1, 2, 3, 4, 5)


@PROGRAMS.on(floats(6), 1)
@PROGRAMS.on(floats(6), -1)
@PROGRAMS.on(floats(0), 1)
def chosen_arrays(v, k):
    x = v if k > 0 else v[::-1]
    y = v * 2 if k > 0 else v[1:] + 1
    return (x + 1).sum(), y


@PROGRAMS.on(floats(3, 4))
@PROGRAMS.on(floats(4))
@PROGRAMS.on(floats(4, dtype=np.float32))
def decided_by_types(a):
    if a.ndim == 2:
        return a[0] * 2
    if a.dtype == np.float32:
        wide = a.astype(np.float64)
    else:
        wide = a + 1
    del a
    return wide


@PROGRAMS.on(complexes(4, 5), floats(4, 5))
@PROGRAMS.on(complexes(4, 5, dtype=np.complex64), floats(4, 5))
@PROGRAMS.on(floats(4, 5), floats(4, 5, seed=1))
def parts_of_complex_numbers(z, a):
    z.real[0] += 1
    z.real[1:, 2] = a[1:, 3]
    z.real[:, 1] *= a[:, 0]
    z.real[1:] = z.real[:-1]
    return z


@PROGRAMS.on(complexes(4, 5), floats(4, 5))
@PROGRAMS.on(complexes(0, 5), floats(0, 5))
def imaginary_parts(z, a):
    z.imag = a
    z.imag[::2] -= z.real[::2]
    z.real = 0
    return z, z.nbytes


@PROGRAMS.on(ints(6), ints(6, lo=0, hi=5))
@PROGRAMS.on(ints(6), np.array([0, 1, 2, -1, 3, 0]))
@PROGRAMS.on(ints(0), ints(0))
def powers_of_integers(a, n):
    return 2 ** n, a ** n, (a ** n)[::2] * 2


@PROGRAMS.on(ints(9, dtype=np.uint8, lo=0, hi=255))
@PROGRAMS.on(ints(9))
@PROGRAMS.on(ints(0))
@PROGRAMS.on(bools(9))
def bits_put_together(a):
    return np.bitwise_or.reduce(a), np.bitwise_and.reduce(a), np.bitwise_xor.reduce(a)


@PROGRAMS.on(floats(5), 1)
@PROGRAMS.on(floats(5), 0)
@PROGRAMS.on(floats(1), -1)
def returns_of_different_arrays(v, k):
    if k > 0:
        return v * 2, k
    elif k < 0:
        return v[1:] + 1, 5
    w = v - 1
    return w, -k


def positive(x, on):
    if not on:
        return x
    return np.maximum(x, 0)


@PROGRAMS.on(floats(5), 3)
@PROGRAMS.on(floats(1), 0, joined=True)
def callee_with_two_arrays(v, n):
    total = 0.0
    for k in range(n):
        total += positive(v, k > 1).sum()
    return total, positive(v, n > 2) + positive(v, n <= 2)


@PROGRAMS.on(floats(5))
@PROGRAMS.on(floats(1))
def array_of_one_element_stored(v):
    a = v.copy()
    a[..., -1] = v[:1] * 2
    a[..., 0] = np.array([[3.0]])
    return a


@PROGRAMS.on(ints(6, 7, lo=0, hi=2))
@PROGRAMS.on(ints(1, 1, lo=0, hi=2))
def game_of_life(g):
    for _ in range(2):
        around = sum(np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1)) - g
        g = ((around == 3) | ((g == 1) & (around == 2))).astype(np.int64)
    return g


@PROGRAMS.on(floats(5), 3)
@PROGRAMS.on(floats(5), 0)
@PROGRAMS.on(floats(0), 2)
def array_that_only_a_loop_binds(v, n):
    for i in range(n):
        w = v[i:] * i
    return w, w.sum()


@PROGRAMS.on(floats(5), floats(3, 4))
@PROGRAMS.on(-np.ones(5), floats(3, 4))
def array_that_one_branch_binds(v, a):
    for i in range(3):
        if v[i] > 0:
            best = a[i].copy()
            break
    best[0] = 1.0
    return best


@PROGRAMS.on(floats(9, 2), 3)
@PROGRAMS.on(floats(3, 2), 1)
def clusters(points, rounds):
    centres = points[:3].copy()
    for _ in range(rounds):
        label = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
        for c in range(3):
            if (label == c).any():
                centres[c] = points[label == c].mean(axis=0)
    return centres, label


@PROGRAMS.on(floats(6), 1.5 - 0.5j)
def complex_beside_floats(p, x):
    """np.float64 is a float of Python's, and complex numbers of Python's take it for one."""
    r = 0
    for c in p:
        r = r * x + c
    return r, x - p[0], p[0] - x, x * p[1], x / p[2], x + np.float32(1.5)


@PROGRAMS.on(np.frombuffer(b"GATTACA-GC", np.uint8))
def characters(s):
    g = c = 0
    for x in s:
        if x == ord("G"):
            g += 1
        elif x == ord("C"):
            c += 1
    return g, c


@PROGRAMS.on([2.675, 1.005, -0.125, 0.5, -0.4, 1e22, 1e300, float("inf"), -0.0, 123456.785, 5e-13])
def rounded_to_decimals(numbers):
    """Ties are told from what is beside them."""
    wholes, tenths, cents, more = [], [], [], []
    for x in numbers:
        wholes.append(round(x, 0))
        tenths.append(round(x, 1))
        cents.append(round(x, 2))
        more.append(round(x, 12))
    return wholes, tenths, cents, more


@PROGRAMS.on(floats(40), 7)
def rounded_elements(a, n):
    total = 0.0
    for x in a:
        total += round(x, 2)
    return total, round(n, 2), round(n > 3, 1)


@PROGRAMS.on(floats(9), True, 9)
@PROGRAMS.on(floats(9), False, 8)
@PROGRAMS.on(floats(9), True, 0)
def ranges_with_names(v, up, n):
    if up:
        order = range(n)
    else:
        order = range(n - 1, -1, -1)
    inner = range(1, 4) if up else range(3)
    total = 0.0
    for i in order:
        total = total * 0.5 + v[i]
        n = 2
        for j in inner:
            total += v[j] * j
    rows = [v[i] for i in inner]
    for k, i in enumerate(reversed(inner)):
        total += k * v[i]
    return total, len(order), rows


@PROGRAMS.on(floats(9), 9, 2)
@PROGRAMS.on(floats(9), 9, -2)
def numbers_in_ranges(v, n, step):
    count = 0
    for i in range(n):
        if i * 3 in range(5, n):
            count += 1
        if i not in range(n - 3, 2, -2):
            count += 100
        if v[i] * 10 // 1 in range(3, 9, step):
            count += 10000
    return count
