"""NumPy's and SciPy's functions that appyc has as Python text (`appyc/library/`); nothing is left to Python."""

import math

import numpy as np
from scipy import special

from tests.programs.registry import Programs, bools, complexes, floats, ints

PROGRAMS = Programs(strict=True)

_NAN = np.array([[0.5, np.nan, -1.5, 2.0], [np.nan, np.nan, np.nan, np.nan], [3.0, -0.0, np.inf, 1.0]])
_SORTED = np.sort(floats(9, seed=3))


@PROGRAMS.on(floats(5, 3), floats(5, 3, seed=1))
@PROGRAMS.on(floats(3, dtype=np.float32), floats(4, 3, seed=1, dtype=np.float32))
@PROGRAMS.on(ints(2, 3), floats(1, 3))
@PROGRAMS.on(complexes(2, 3), floats(2, 3))
@PROGRAMS.on(floats(0, 3), floats(0, 3))
def vector_products(a, b):
    return np.cross(a, b), np.cross(a * 2, b, axis=-1) + 1


@PROGRAMS.on(floats(3, 4), floats(3, 4, seed=1))
def vector_products_of_columns(a, b):
    return (
        np.cross(a, b, axis=0),
        np.cross(a, b, axisa=0, axisb=0, axisc=1),
        np.cross(a[:, 0], [1.0, 2.0, 3.0]),
    )


@PROGRAMS.on(floats(5, 3), floats(5, 3, seed=1))
@PROGRAMS.on(complexes(2, 3), complexes(2, 3, seed=4))
@PROGRAMS.on(ints(2, 3, dtype=np.int8), ints(2, 3, seed=1, lo=60, hi=90, dtype=np.int8))
@PROGRAMS.on(floats(0, 3), floats(0, 3))
def products_of_vectors(a, b):
    return (
        np.vecdot(a, b), np.linalg.vecdot(a, b), np.linalg.vecdot(a, b, axis=0),
        np.linalg.tensordot(a, b, axes=((1,), (1,))), np.matrix_transpose(a) - np.linalg.matrix_transpose(b),
    )  # fmt: skip


@PROGRAMS.on(floats(4, 6), _SORTED, floats(9, seed=4))
@PROGRAMS.on(_NAN, _SORTED, floats(9, seed=4))
@PROGRAMS.on(ints(7, lo=-3, hi=12), np.arange(9), ints(9))
@PROGRAMS.on(floats(5, dtype=np.float32), _SORTED[:1], floats(1))
@PROGRAMS.on(np.array([1.0, 2.0, 1.5, np.inf]), np.array([1.0, 1.0, 2.0]), np.array([3.0, 4.0, np.inf]))
@PROGRAMS.on(floats(3), floats(0), floats(0))
@PROGRAMS.on(floats(3), floats(4), floats(3))
def interpolations(x, xp, fp):
    return np.interp(x, xp, fp), np.interp(x * 2, xp, fp, left=-7.0, right=np.nan), np.interp(0.25, xp, fp)


@PROGRAMS.on(floats(9), floats(4, seed=1))
@PROGRAMS.on(floats(4), floats(4, seed=1))
@PROGRAMS.on(floats(3), floats(6, seed=1))
@PROGRAMS.on(ints(6), floats(3, dtype=np.float32))
@PROGRAMS.on(complexes(7), complexes(3, seed=5))
@PROGRAMS.on(floats(1), floats(1))
@PROGRAMS.on(floats(0), floats(1))
def convolutions(a, v):
    return (
        np.convolve(a, v), np.convolve(a, v, "same"), np.convolve(v, a, mode="valid"),
        np.correlate(a, v), np.correlate(a, v, "same"), np.correlate(a, v, mode="full"),
    )  # fmt: skip


@PROGRAMS.on(floats(4), floats(3, 5))
@PROGRAMS.on(ints(3), ints(6))
@PROGRAMS.on(ints(3), floats(6, dtype=np.float32))
def polynomials(p, x):
    return np.polyval(p, x), np.polyval(p, 2), np.polyval(p, x[0] + 1)


@PROGRAMS.on(floats(7), floats(4, 5))
@PROGRAMS.on(floats(2, dtype=np.float32), floats(2, 2))
@PROGRAMS.on(ints(5), ints(3, 4))
@PROGRAMS.on(floats(1), floats(1, 1))
def gradients(a, b):
    return np.gradient(a), np.gradient(a, 0.5), np.gradient(b, axis=0), np.gradient(b, 2, axis=1)


@PROGRAMS.on(floats(3, 8))
@PROGRAMS.on(ints(2, 5))
def covariances(a):
    return np.cov(a), float(np.cov(a[0])), np.cov(a, rowvar=False), np.cov(a, bias=True), np.cov(a, ddof=0)


@PROGRAMS.on(floats(3, 8))
def correlations(a):
    return np.corrcoef(a), np.corrcoef(a, rowvar=False)


@PROGRAMS.on(ints(4, 5), ints(3, seed=1))
@PROGRAMS.on(ints(4), ints(0))
@PROGRAMS.on(_NAN, floats(2, 2))
def memberships(a, b):
    return np.isin(a, b), np.isin(a, b, invert=True), np.isin(a, (1, 2)), np.array_equiv(a, a)


@PROGRAMS.on(_NAN)
@PROGRAMS.on(_NAN.astype(np.float32))
@PROGRAMS.on(ints(3, 4))
def without_nan(a):
    return (
        np.nanvar(a), np.nanvar(a, axis=0, ddof=1), np.nanstd(a[0]), np.nanstd(a, axis=1, keepdims=True),
        np.nancumsum(a), np.nancumsum(a, axis=1), np.nancumprod(a, axis=0),
    )  # fmt: skip


@PROGRAMS.on(ints(20, lo=-40, hi=40), ints(20, lo=-9, hi=40, seed=1))
@PROGRAMS.on(ints(5, dtype=np.int16), ints(5, seed=2))
@PROGRAMS.on(ints(4, lo=0, dtype=np.uint8), ints(4, lo=0, seed=2, dtype=np.uint8))
def divisors(a, b):
    return np.gcd(a, b), np.lcm(a, b), np.gcd(a, 12), np.gcd(a[0], b[0])


@PROGRAMS.on(np.array([1.5, -2.25, 0.0, -0.0, np.inf, -np.inf, np.nan]))
@PROGRAMS.on(floats(2, 3, dtype=np.float32))
@PROGRAMS.on(ints(4))
def parts(x):
    below, whole = np.modf(x)
    return below, whole, np.modf(x[0])


@PROGRAMS.on(5)
@PROGRAMS.on(1)
@PROGRAMS.on(0)
def windows(n):
    return np.hanning(n), np.hamming(n), np.blackman(n), np.tri(n), np.triu_indices(n, 1), np.tril_indices(n)


@PROGRAMS.on(3)
@PROGRAMS.on(0)
@PROGRAMS.on(-1)  # raises ValueError
def points(n):
    return np.linspace(0.0, 1.0, n), np.logspace(0.0, 1.0, n)


@PROGRAMS.on(-2, 3)
@PROGRAMS.on(2, -1)
def triangle_of_no_rows(n, m):
    return np.tri(n), np.tri(n, m)


@PROGRAMS.on(0.0, 3.0)
def powers_of_one_distance(a, b):
    return np.logspace(a, b, 7), np.logspace(a, b, 4, base=2.0, endpoint=False)


@PROGRAMS.on(floats(3, 4), floats(2))
@PROGRAMS.on(ints(2, 2), ints(3))
def neighbours_and_ends(a, b):
    return np.ediff1d(a), np.ediff1d(b, to_begin=7), np.append(a, b), np.append(b, 3), np.append(a, a, axis=0)


@PROGRAMS.on(floats(20), bools(20))
@PROGRAMS.on(ints(9), bools(9))
@PROGRAMS.on(floats(6, dtype=np.float32), bools(6))
def shares(a, m):
    counts, edges = np.histogram(a, 5, density=True)
    return counts, edges, np.histogram_bin_edges(a, 4, range=(-1, 1)), np.average(a, weights=a * a + 1), a[m]


@PROGRAMS.on(np.array([0.0, -0.0, 0.25, -3.5, 7.5, 30.0, -40.0, np.inf, -np.inf, np.nan, 1.0, 0.5]))
@PROGRAMS.on(floats(3, 4))
@PROGRAMS.on(ints(6))
def error_functions(x):
    return special.erf(x), special.erfc(x), special.ndtr(x), special.expit(x), special.log_expit(x)


@PROGRAMS.on(np.array([0.25, 4.5, 12.0, -0.5, 150.0, 0.0, 1.0, -1.5]))
@PROGRAMS.on(floats(3, 4))
def gamma_functions(x):
    return (
        special.gamma(x),
        special.gammaln(x),
        special.beta(abs(x) + 1, 2.5),
        special.betaln(abs(x) + 1, 0.5),
    )


@PROGRAMS.on(np.array([0.0, -0.0, 0.25, -3.5, 8.0, -8.0, 30.0, -40.5, 710.0, np.nan, 1e-300, 1e4]))
@PROGRAMS.on(np.array([np.inf, -np.inf]))
@PROGRAMS.on(floats(3, 4) * 20)
@PROGRAMS.on(floats(9, dtype=np.float32))
@PROGRAMS.on(ints(6))
def bessel_functions(x):
    return (
        special.i0(x), special.i0e(x), special.i1(x), special.i1e(x), special.j0(x), special.j1(x), np.i0(x),
    )  # fmt: skip


@PROGRAMS.on(
    np.array([0.0, 0.25, 0.5, 0.9, 1.0, np.nan, 2.0]), np.array([0.5, 0.0, 1.5, 0.9, np.nan, 2.0, 0.0])
)
@PROGRAMS.on(abs(floats(5)), abs(floats(2, 5)))
@PROGRAMS.on(abs(floats(5, dtype=np.float32)), abs(floats(5, dtype=np.float32, seed=1)))
def entropies(x, y):
    return (
        special.xlogy(x, y), special.xlog1py(x, y), special.entr(x), special.rel_entr(x, y), special.kl_div(x, y),
        special.logit(x), special.boxcox(x + 0.5, 0.3), special.exp10(x),
    )  # fmt: skip


@PROGRAMS.on(np.array([0, 1, 2, 3, 255, 256, -1, -8, 2**62 + 5, -(2**63) + 1]))
@PROGRAMS.on(ints(5, dtype=np.uint8))
@PROGRAMS.on(ints(0))
def binary_digits(a):
    counts = np.zeros((4, len(a)), np.int64)
    for i in range(len(a)):
        counts[0, i] = int(a[i]).bit_length() - (i * 5).bit_length()
        counts[1, i] = int.bit_count(int(a[i]) + i)
        counts[2, i] = bin(a[i]).count("1") + bin(i).count("1")
        counts[3, i] = (i * 0.5).is_integer()
    return counts, np.bitwise_count(a)


@PROGRAMS.on(np.array([-1, -(2**63), 2**63 - 1]), np.array([2**64 - 1, 2**63, 0], np.uint64))
def binary_digits_of_the_largest(a, b):
    return np.bitwise_count(a), np.bitwise_count(b), np.bitwise_count(b[0]), np.bitwise_count(a[1])


@PROGRAMS.on(np.array([0, 1, 12, 18, -30, 97]), 12)
@PROGRAMS.on(ints(4, dtype=np.uint8), 0)
@PROGRAMS.on(ints(0), 1)
def functions_of_integers(a, k):
    out = np.zeros((6, len(a)), np.int64)
    for i in range(len(a)):
        out[0, i] = math.gcd(a[i], k) + math.gcd(i, k, 8) + math.gcd()
        out[1, i] = math.lcm(a[i], k) + math.lcm(i + 1, 6, 4)
        out[2, i] = math.isqrt(i * i * i) + math.isqrt(2**62 - i)
        out[3, i] = math.comb(9, i) + math.perm(7, i) + math.perm(i)
        out[4, i] = math.factorial(i) + pow(i - 3, k, 1000003) + pow(k, i, -7)
        out[5, i] = math.isclose(a[i], k) + 2 * math.isclose(i * 1.0, 2.1, rel_tol=0.05)
    return out


@PROGRAMS.on(floats(6) * 30)
@PROGRAMS.on(np.array([0.0, -0.0, -2.0, 1e300, np.inf, -np.inf, np.nan]))
def fractions_of_floats(x):
    out = np.zeros((2, len(x)))
    for i in range(len(x)):
        out[0, i], out[1, i] = math.modf(x[i])
    return out


@PROGRAMS.on(ints(50, lo=0, hi=900))
def digits_of_integers(a):
    ones = length = 0
    whole = 0
    for x in a:
        ones += bin(x).count("1") + int(x).bit_count()
        length += int(x).bit_length()
        whole += (float(x) / 4.0).is_integer()
    return ones, length, whole, float(a[0]).is_integer()


@PROGRAMS.on(floats(4) * 8.0 - 4.0, floats(4), 3)
@PROGRAMS.on(np.arange(1.0, 5.0), np.arange(4), 2)
@PROGRAMS.on(np.zeros(4), np.zeros(3), 2)  # ValueError: other dimensions
@PROGRAMS.on(np.array([1.0, 0.0, 2.0, 3.0]), floats(4), 2)  # ValueError: a pole
def lengths_and_products(a, b, k):
    out = np.zeros((4, 4))
    for i in range(4):
        out[0, i] = math.dist(a, b) + math.dist((a[i], 1.0), (b[i], i))
        out[1, i] = math.hypot(a[i], b[i], k) + math.hypot() + math.hypot(a[i])
        out[2, i] = math.prod(a) + math.prod(b[:i], start=k) + math.prod([2, k, i]) + math.prod(x + 1 for x in b)
        out[3, i] = math.gamma(a[i]) + math.lgamma(a[i]) + math.gamma(i + 1)
    return out, math.prod((k, 3)), math.prod(range(1, k + 3)), math.prod([k, 0.5])
