"""float32 and float64, complex numbers, math and NumPy functions, special values."""

import cmath
import math

import numpy as np

from tests.programs.registry import Programs, complexes, floats, ints

PROGRAMS = Programs()

SPECIAL = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-310, 1e300, 0.5, 2.5])
SPECIAL32 = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-40, 1e38, 0.5, 2.5], np.float32)


@PROGRAMS.on(floats(6), floats(6, dtype=np.float32), np.zeros((4, 6)), np.zeros((4, 6), np.float32))
def mixed_precision(a, b, wide, narrow):
    #pragma parallel for
    for i in range(6):
        wide[0, i] = a[i] * b[i]
        narrow[0, i] = a[i] * b[i]
        wide[1, i] = b[i] * 0.1
        narrow[1, i] = b[i] * 0.1 + 1
        wide[2, i] = b[i] * b[i]
        narrow[2, i] = b[i] * i
        wide[3, i] = np.float64(b[i]) / 3
        narrow[3, i] = np.sqrt(abs(b[i]))


@PROGRAMS.on(complexes(5), complexes(5, seed=4), np.zeros((5, 5), complex))
@PROGRAMS.on(
    complexes(5, dtype=np.complex64), complexes(5, dtype=np.complex64, seed=4), np.zeros((5, 5), np.complex64)
)
def complex_arithmetic(a, b, out):
    #pragma parallel for
    for i in range(5):
        out[0, i] = a[i] + b[i]
        out[1, i] = a[i] - b[i] * 2
        out[2, i] = a[i] * b[i]
        out[3, i] = a[i] / b[i]
        out[4, i] = -a[i] + 1j


@PROGRAMS.on(complexes(5), np.zeros((4, 5)))
def complex_parts(a, out):
    #pragma parallel for
    for i in range(5):
        out[0, i] = a[i].real
        out[1, i] = a[i].imag
        out[2, i] = abs(a[i])
        out[3, i] = (a[i] * a[i].conjugate()).real
    return a[0] == a[1], a[0] != a[1]


@PROGRAMS.on(1 + 2j, 0.5)
@PROGRAMS.on(np.complex64(1 + 2j), 3)
def complex_scalars(z, x):
    w = z * x + complex(x, 1)
    return w, w * 1j, w / (2 + 1j), z.real + w.imag, abs(w)


@PROGRAMS.on(complexes(6))
def complex_sum(a):
    s = 0j
    for i in range(6):
        s += a[i]
    return s


@PROGRAMS.on(0.3 + 0.4j)
def complex_functions(z):
    return cmath.exp(z), cmath.sqrt(z), np.exp(z), np.sqrt(z), np.abs(z), np.conj(z)


@PROGRAMS.on(-0.5 + 0.55j, 30)
def complex_iteration(c, limit):
    z = 0j
    n = 0
    while abs(z) <= 2.0 and n < limit:
        z = z * z + c
        n += 1
    return n, z


@PROGRAMS.on(np.abs(floats(6)) / 2.5, np.zeros((20, 6)))
def math_functions(a, out):
    for i in range(6):
        x = float(a[i])
        out[0, i] = math.sqrt(x)
        out[1, i] = math.exp(x)
        out[2, i] = math.log(x) + math.log(x, 2.0)
        out[3, i] = math.sin(x) + math.cos(x) + math.tan(x)
        out[4, i] = math.asin(x) + math.acos(x) + math.atan(x)
        out[5, i] = math.sinh(x) + math.cosh(x) + math.tanh(x)
        out[6, i] = math.log2(x) + math.log10(x) + math.log1p(x)
        out[7, i] = math.floor(x * 3) + math.ceil(x * 3) + math.trunc(x * 3)
        out[8, i] = math.pow(x, 2.5)
        out[9, i] = math.atan2(x, 2.0)
        out[10, i] = math.hypot(x, 2.0)
        out[11, i] = math.fabs(-x)
        out[12, i] = math.erf(x) + math.erfc(x)
        out[13, i] = math.expm1(x)
        out[14, i] = math.copysign(x, -1.0)
        out[15, i] = math.fmod(-7.5, x + 1)
        out[16, i] = math.degrees(x) + math.radians(x)
        out[17, i] = math.isnan(x) + math.isinf(x) + math.isfinite(x)
        out[18, i] = math.asinh(x) + math.acosh(x + 1) + math.atanh(x / 2)
        out[19, i] = math.pi * math.e


@PROGRAMS.on(floats(6), np.zeros((20, 6)))
@PROGRAMS.on(floats(6, dtype=np.float32), np.zeros((20, 6), np.float32))
def numpy_functions(a, out):
    #pragma parallel for
    for i in range(6):
        x = a[i]
        out[0, i] = np.sqrt(np.abs(x))
        out[1, i] = np.exp(x)
        out[2, i] = np.log(np.abs(x))
        out[3, i] = np.sin(x) * np.cos(x)
        out[4, i] = np.tanh(x) + np.arctan(x)
        out[5, i] = np.floor(x) + np.ceil(x) + np.trunc(x) + np.rint(x)
        out[6, i] = np.minimum(x, 0.5)
        out[7, i] = np.maximum(x, 0.5)
        out[8, i] = np.where(x > 0, x, -1.0)
        out[9, i] = np.clip(x, -0.5, 0.5)
        out[10, i] = np.sign(x)
        out[11, i] = np.square(x)
        out[12, i] = np.power(np.abs(x), 1.5)
        out[13, i] = np.arctan2(x, 2.0)
        out[14, i] = np.hypot(x, 2.0)
        out[15, i] = np.fmod(x, 0.7)
        out[16, i] = np.fmin(x, 0.1) + np.fmax(x, 0.2)
        out[17, i] = np.isnan(x) | np.isfinite(x)
        out[18, i] = np.cbrt(x) + np.expm1(x) + np.log1p(np.abs(x))
        out[19, i] = np.reciprocal(x) + np.copysign(1.0, x)


@PROGRAMS.on(SPECIAL, np.zeros((14, 11)))
@PROGRAMS.on(SPECIAL32, np.zeros((14, 11), np.float32))
def special_values(a, out):
    for i in range(11):
        x = a[i]
        out[0, i] = np.sqrt(x)
        out[1, i] = np.floor(x)
        out[2, i] = np.sign(x)
        out[3, i] = np.rint(x)
        out[4, i] = x // 2
        out[5, i] = x % 2
        out[6, i] = x % -3
        out[7, i] = 1 / x
        out[8, i] = np.exp(x)
        out[9, i] = np.isnan(x) + np.isinf(x) * 2
        out[10, i] = max(x, 0.0)
        out[11, i] = min(0.0, x)
        out[12, i] = np.minimum(x, 1.0)
        out[13, i] = x**2


@PROGRAMS.on(SPECIAL, SPECIAL[::-1].copy(), np.zeros((7, 11)))
def special_pairs(a, b, out):
    for i in range(11):
        out[0, i] = a[i] // b[i]
        out[1, i] = a[i] % b[i]
        out[2, i] = np.arctan2(a[i], b[i])
        out[3, i] = np.hypot(a[i], b[i])
        out[4, i] = (a[i] < b[i]) + (a[i] == b[i]) * 2 + (a[i] != b[i]) * 4
        out[5, i] = np.fmin(a[i], b[i])
        out[6, i] = np.fmod(a[i], b[i])


@PROGRAMS.on(4.0)
@PROGRAMS.on(2.25)
def results_of_functions_have_pythons_types(x):
    return math.sqrt(x), np.sqrt(x), math.floor(x), np.floor(x), abs(x), int(x), x.real


@PROGRAMS.on(ints(5), np.zeros(5))
@PROGRAMS.on(ints(5, dtype=np.int32), np.zeros(5))
def functions_of_integers(a, out):
    for i in range(5):
        out[i] = np.sqrt(abs(a[i])) + np.sin(a[i]) + math.exp(a[i] * 0.1)
    return np.exp(a[0]), np.sign(a[1]), abs(a[2])


@PROGRAMS.on(floats(4, 3), floats(4, 3, seed=1), 0.01, 2)
def nbody(position, velocity, dt, steps):
    n = position.shape[0]
    for _ in range(steps):
        #pragma parallel for
        for i in range(n):
            ax = ay = az = 0.0
            for j in range(n):
                dx = position[j, 0] - position[i, 0]
                dy = position[j, 1] - position[i, 1]
                dz = position[j, 2] - position[i, 2]
                r = math.sqrt(dx * dx + dy * dy + dz * dz + 0.01)
                f = 1.0 / (r * r * r)
                ax += f * dx
                ay += f * dy
                az += f * dz
            velocity[i, 0] += dt * ax
            velocity[i, 1] += dt * ay
            velocity[i, 2] += dt * az
        #pragma parallel for
        for i in range(n):
            for k in range(3):
                position[i, k] += dt * velocity[i, k]


@PROGRAMS.on(0.1, 0.2)
@PROGRAMS.on(np.float32(0.1), np.float32(0.2))
@PROGRAMS.on(np.float32(0.1), 0.2)
def no_fused_multiply_add(a, b):
    return a * b + a, a * a - b * b


@PROGRAMS.on(floats(5, dtype=np.float32))
def float32_stays_float32(a):
    s = np.float32(0)
    for i in range(5):
        s += a[i] * 2 + 1
    return s, a[0] * 2.0, a[0] + 1, -a[0], a[0] ** 2


@PROGRAMS.on(10_000)
def pi_by_sum(n):
    s = 0.0
    #pragma parallel for
    for i in range(n):
        x = (i + 0.5) / n
        s += 4.0 / (1.0 + x * x)
    return s / n


@PROGRAMS.on(2.0, 0.0)
@PROGRAMS.on(2.0, 4.0)
@PROGRAMS.on(2, 0)
def division_raises(a, b):
    c = a + 1
    return c / b


@PROGRAMS.on(floats(5), np.array([1.0, 2.0, 0.0, 4.0, 5.0]))
def division_in_loop_does_not_raise(a, b):
    #pragma parallel for
    for i in range(5):
        a[i] = a[i] / b[i]


@PROGRAMS.on(floats(5), 0)
@PROGRAMS.on(floats(5), 2)
def python_division_in_loop(a, k):
    #pragma parallel for
    for i in range(5):
        a[i] = i // k


_EDGES = np.array([0.0, -0.0, 3.0, -4.0, 720.0, -720.0, 5e-324, 1e-160, 1e160, 1.2e308, np.inf, -np.inf, np.nan])
_PLANE = np.array([complex(x, y) for x in _EDGES for y in _EDGES])


@PROGRAMS.on(_PLANE)
@PROGRAMS.on(_PLANE[::-3])
@PROGRAMS.on(_PLANE.astype(np.complex64))
@PROGRAMS.on(_PLANE[:0])
def powers_of_e(z):
    return np.exp(z), np.exp(1j * z.real)


@PROGRAMS.on(_PLANE)
@PROGRAMS.on(_PLANE[::-3])
@PROGRAMS.on(_PLANE.astype(np.complex64))
@PROGRAMS.on(_PLANE[:0])
def size_of_complex_numbers(z):
    """The squares of the parts leave the range, and an infinite part outweighs a NaN."""
    return np.abs(z), np.abs(z * 0.5).max(initial=0.0)


@PROGRAMS.on(np.array([-2.0, -1.0, 3.0, -100.5, 0.0, 2.0**63, -(2.0**33)]), np.zeros((2, 7), np.uint64))
@PROGRAMS.on(np.array([-2.0, -1.0, 3.0, -100.5, 0.0, 2.0**63, -(2.0**33)], np.float32), np.zeros((2, 7), np.uint64))
def negative_floats_into_unsigned(x, out):
    for i in range(len(x)):
        out[0, i] = x[i]
    out[1] = x


_NAN = np.nan
_UNORDERED = np.array([1 + 1j, 1 - 1j, 0, complex(_NAN, 1), complex(1, _NAN), complex(0, _NAN), np.inf + 1j, -0.0])


@PROGRAMS.on(_UNORDERED, _UNORDERED[::-1].copy())
@PROGRAMS.on(_UNORDERED, np.arange(8.0))
@PROGRAMS.on(_UNORDERED.astype(np.complex64), np.arange(8))
def order_of_complex_numbers(z, w):
    """NumPy's operators on two numbers do not look at imaginary parts that are NaN, its ufuncs do."""
    told = np.zeros((len(z), 5), dtype=np.bool_)
    for i in range(len(z)):
        told[i, 0] = z[i] < w[i]
        told[i, 1] = z[i] <= w[i]
        told[i, 2] = w[i] > z[i]
        told[i, 3] = z[i] >= 1
        told[i, 4] = np.less(z[i], w[i])
    return told, z > w, z <= 1 + 1j
