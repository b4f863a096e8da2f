"""Division, modulus, powers, shifts and bits; widths, wrapping, unsigned mixing, bools."""

import numpy as np

from tests.programs.registry import Programs, bools, ints

PROGRAMS = Programs()

INT_TYPES = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


def _on_all_types(fn):
    for one, two in ((np.int8, np.int8), (np.uint8, np.int8), (np.int32, np.uint32), (np.uint64, np.uint64),
                     (np.int16, np.int64), (np.uint16, np.int16), (np.uint32, np.uint8)):  # fmt: skip
        a = ints(6, dtype=one, lo=-128, hi=128)
        b = ints(6, dtype=two, lo=-128, hi=128, seed=1)
        PROGRAMS.on(a, b, np.zeros((8, 6), np.result_type(a, b)))(fn)
    return fn


@_on_all_types
def arithmetic(a, b, out):
    for i in range(6):
        out[0, i] = a[i] + b[i]
        out[1, i] = a[i] - b[i]
        out[2, i] = a[i] * b[i]
        out[3, i] = a[i] // b[i]
        out[4, i] = a[i] % b[i]
        out[5, i] = a[i] & b[i]
        out[6, i] = a[i] | b[i]
        out[7, i] = a[i] ^ b[i]


@_on_all_types
def unary(a, b, out):
    #pragma parallel for
    for i in range(6):
        out[0, i] = -a[i]
        out[1, i] = ~a[i]
        out[2, i] = abs(a[i])
        out[3, i] = +b[i]
        out[4, i] = a[i] << 2
        out[5, i] = b[i] >> 1
        out[6, i] = max(a[i], b[i])
        out[7, i] = min(a[i], b[i])


@_on_all_types
def comparisons(a, b, out):
    n = 0
    for i in range(6):
        n += a[i] < b[i]
        n += (a[i] <= b[i]) * 10
        n += (a[i] == b[i]) * 100
        n += (a[i] != b[i]) * 1000
        n += (a[i] > 0) * 10000
        n += (b[i] >= 3) * 100000
    return n


@PROGRAMS.on(7, 2)
@PROGRAMS.on(-7, 2)
@PROGRAMS.on(7, -2)
@PROGRAMS.on(-7, -2)
@PROGRAMS.on(7, 0)
@PROGRAMS.on(0, 5)
def division(a, b):
    return a // b, a % b, a / b, divmod(a, b)


@PROGRAMS.on(7.5, 2.0)
@PROGRAMS.on(-7.5, 2.0)
@PROGRAMS.on(7.5, -2.0)
@PROGRAMS.on(-7.5, 0.0)
@PROGRAMS.on(-0.0, 3.0)
@PROGRAMS.on(np.float64(1.0), 0.0)
@PROGRAMS.on(np.float64(-1.0), np.float64(0.0))
@PROGRAMS.on(np.float32(7.5), np.float32(-2))
@PROGRAMS.on(1e300, 1e-10)
@PROGRAMS.on(float("inf"), 2.0)
@PROGRAMS.on(5.0, float("-inf"))
def float_division(a, b):
    return a // b, a % b, a / b


@PROGRAMS.on(np.int32(7), np.int32(0))
@PROGRAMS.on(np.int32(-(2**31)), np.int32(-1))
@PROGRAMS.on(np.int64(-(2**63)), np.int64(-1))
@PROGRAMS.on(np.int8(-128), np.int8(-1))
@PROGRAMS.on(np.uint8(7), np.uint8(0))
@PROGRAMS.on(np.int64(7), 0)
def numpy_division_by_zero(a, b):
    return a // b, a % b


@PROGRAMS.on(2, 10)
@PROGRAMS.on(-3, 5)
@PROGRAMS.on(-3, 0)
@PROGRAMS.on(0, 0)
def power(a, b):
    return a**b, a**2, a**3, 2**b, a**0.5 if a > 0 else 0.0


@PROGRAMS.on(2.5, 3)
@PROGRAMS.on(2.5, -1.5)
@PROGRAMS.on(0.0, 0)
def float_power(a, b):
    return a**b, a**2, a**-1 if a else 0.0, b**2


@PROGRAMS.on(np.int32(3), np.int32(40))
@PROGRAMS.on(np.int8(3), np.int8(4))
@PROGRAMS.on(np.uint8(3), np.uint8(7))
@PROGRAMS.on(np.int64(-3), np.int64(41))
def numpy_power_wraps(a, b):
    return a**b, a**2


@PROGRAMS.on(2**62, 2**62)
def shifts_of_python_ints(a, b):
    return a >> 3, b >> 61, (a >> 60) << 3, -a >> 62


@PROGRAMS.on(ints(6, dtype=np.int32, lo=0, hi=40), np.zeros((2, 6), np.int32))
@PROGRAMS.on(ints(6, dtype=np.uint8, lo=0, hi=12), np.zeros((2, 6), np.uint8))
@PROGRAMS.on(ints(6, dtype=np.int64, lo=0, hi=80), np.zeros((2, 6), np.int64))
def large_shifts(a, out):
    for i in range(6):
        out[0, i] = a[i] << a[i]
        out[1, i] = (a[i] - 20) >> a[i]


@PROGRAMS.on(ints(7, dtype=np.int8, lo=100, hi=128), np.zeros(7, np.int8))
@PROGRAMS.on(ints(7, dtype=np.int32, lo=100, hi=128), np.zeros(7, np.int16))
@PROGRAMS.on(ints(7, dtype=np.uint16, lo=100, hi=128), np.zeros(7, np.int64))
def wraps(a, out):
    #pragma parallel for
    for i in range(7):
        out[i] = a[i] + a[i] * 3


@PROGRAMS.on(ints(5, dtype=np.uint32, lo=0, hi=9))
def unsigned_underflow(a):
    for i in range(5):
        a[i] = a[i] - 5


@PROGRAMS.on(ints(5, dtype=np.uint64, lo=0, hi=9), ints(5, seed=2), np.zeros(5))
def uint64_with_int64_is_float(a, b, out):
    for i in range(5):
        out[i] = a[i] + b[i]
    return a[0] * b[0]


@PROGRAMS.on(bools(6), bools(6, seed=1), np.zeros((5, 6), bool))
def bool_arrays(a, b, out):
    #pragma parallel for
    for i in range(6):
        out[0, i] = a[i] & b[i]
        out[1, i] = a[i] | b[i]
        out[2, i] = a[i] ^ b[i]
        out[3, i] = not a[i]
        out[4, i] = ~a[i]


@PROGRAMS.on(bools(6), bools(6, seed=1))
def bool_arithmetic(a, b):
    s = 0
    t = 0
    for i in range(6):
        s += a[i]
        t = t + a[i] * 3 - b[i]
    return s, t, a[0] + b[0], a[1] * b[1]


@PROGRAMS.on(True, False)
def python_bool_arithmetic(a, b):
    return a + b, a - b, a * 3, -a, ~b, a & b, a ^ b, a / 2, a // 1, a < b


@PROGRAMS.on(ints(6), np.zeros(6, np.float32), np.zeros(6, bool), np.zeros(6, np.uint8))
def conversions_on_store(a, f, b, u):
    #pragma parallel for
    for i in range(6):
        f[i] = a[i]
        b[i] = a[i]
        u[i] = a[i] * a[i]


@PROGRAMS.on(np.array([1.9, -1.9, 0.5, -0.5, 100.7]), np.zeros(5, np.int32))
def float_to_int_truncates(a, out):
    for i in range(5):
        out[i] = a[i]
    return int(a[0]), int(a[1]), round(a[2]), round(2.5), round(-1.5)


@PROGRAMS.on(12345, 17)
def bits(a, b):
    n = 0
    while a:
        n += a & 1
        a >>= 1
    return n, b << 4 | 3, b ^ 0xFF, ~b, -b & 0xF


@PROGRAMS.on(ints(5, dtype=np.int8))
def explicit_types(a):
    x = np.int64(a[0]) * 1000
    y = np.uint8(a[1])
    z = np.float32(a[2]) / 3
    w = a[3].astype(np.int16) * np.int16(300)
    return x, y, z, w, int(a[4]), float(a[4])


@PROGRAMS.on(np.int16(300), np.int16(200), joined=True)
@PROGRAMS.on(np.uint8(200), np.uint8(100), joined=True)
@PROGRAMS.on(np.int8(100), 27, joined=True)
@PROGRAMS.on(np.float32(0.1), 0.2, joined=True)
@PROGRAMS.on(np.float32(0.1), np.float64(0.2), joined=True)
@PROGRAMS.on(np.float32(0.1), np.int32(3), joined=True)
@PROGRAMS.on(np.float32(0.1), np.int16(3), joined=True)
@PROGRAMS.on(np.uint64(5), 3, joined=True)
@PROGRAMS.on(np.bool_(True), 3, joined=True)
@PROGRAMS.on(np.bool_(True), 2.5, joined=True)
@PROGRAMS.on(np.bool_(True), np.int8(3), joined=True)
@PROGRAMS.on(3, 2.5, joined=True)
@PROGRAMS.on(True, 2.5, joined=True)
def promotion(a, b):
    return a + b, a * b, a - 1 if a > 5 else a + 1, b / a, a // b, max(a, b)


@PROGRAMS.on(np.array([3, 1, 2, 3, 0]), np.zeros(4, np.int64))
def histogram(keys, counts):
    for i in range(len(keys)):
        counts[keys[i]] += 1


@PROGRAMS.on(1103515245, 12345, 5)
def linear_congruential(a, c, n):
    x = 42
    for _ in range(n):
        x = (a * x + c) % 2147483648
    return x


@PROGRAMS.on(np.uint64(14695981039346656037), ints(6, lo=0, hi=256, dtype=np.uint8))
def fnv_hash(h, data):
    for i in range(6):
        h = h ^ np.uint64(data[i])
        h = h * np.uint64(1099511628211)
    return h


@PROGRAMS.on(np.arange(1), 4)
@PROGRAMS.on(np.arange(3), 0)
@PROGRAMS.on(np.arange(3), 4)
def remainders_that_are_known_of_what_may_raise(a, k):
    for i in range(len(a)):
        a[a[2] % 1] += 5
    return (5 // k) % 1


@PROGRAMS.on(np.array([-9, -8, -1, 0, 1, 7, 8, 2**62, -(2**63)]))
@PROGRAMS.on(np.array([-128, -65, -1, 0, 1, 64, 127], np.int8))
@PROGRAMS.on(np.array([0, 1, 64, 127, 255], np.uint8))
@PROGRAMS.on(np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
def quotients_by_powers_of_two(a):
    return a // 1, a % 1, a // 2, a % 2, a // 64, a % 64


@PROGRAMS.on(-9)
@PROGRAMS.on(-(2**62))
@PROGRAMS.on(2**62 + 5)
def pythons_quotients_by_powers_of_two(n):
    return n // 2, n % 2, n // 1024, n % 1024, n // 2**40, n % 2**40


@PROGRAMS.on(5, 3)
@PROGRAMS.on(5, 0)
@PROGRAMS.on(5, -1)
def shifted_by_a_parameter(n, k):
    return n << k, n >> k


@PROGRAMS.on(np.array([4, 3, 2, 1]), np.zeros(4))
@PROGRAMS.on(np.array([4, 3, -2, 1]), np.zeros(4))
def shifted_by_elements(counts, out):
    for i in range(len(counts)):
        out[i] = (1 << int(counts[i])) + (i >> int(counts[i]))


@PROGRAMS.on(2, 3)
@PROGRAMS.on(2, 0)
@PROGRAMS.on(2, -3)
@PROGRAMS.on(-2, -3)
def power_by_a_parameter(base, k):
    return float(base**k)


@PROGRAMS.on(np.array([4, 3, 2, 1]))
@PROGRAMS.on(np.array([4, 3, -2, 1]))
def sum_of_powers(exponents):
    total = 0.0
    for i in range(len(exponents)):
        total += 2 ** int(exponents[i])
    return total


@PROGRAMS.on(bools(7))
@PROGRAMS.on(bools(0))
def squares_of_bools(b):
    return b**2, b**3, (b**2).sum(), b[:3] ** 2 * 100
