"""Python ints of 64 bits: random generators and hashes that cut their state with a mask or a modulus."""

import math

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs()

A, C, M = 6364136223846793005, 1442695040888963407, 2**64 - 1


@PROGRAMS.on(np.zeros(5))
def linear_congruence(out):
    s = 42
    for i in range(out.shape[0]):
        s = (s * A + C) % 2**64
        out[i] = (s >> 11) / 2**53
    return s


@PROGRAMS.on(42, np.zeros(5))
@PROGRAMS.on(-1, np.zeros(5))
@PROGRAMS.on(2**63 + 7, np.zeros(5))
@PROGRAMS.on(3, np.zeros(0))
def seeded(s, out):
    for i in range(out.shape[0]):
        s = (A * s + C) & M
        out[i] = s / 2**64
    return s


@PROGRAMS.on(88172645463325252, 5)
@PROGRAMS.on(2**64 - 1, 9)
def xorshift(x, n):
    x = x & 0xFFFFFFFFFFFFFFFF
    for _ in range(n):
        x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
    return x


@PROGRAMS.on(1234567, np.zeros(6, np.uint64))
def splitmix(state, out):
    mask = (1 << 64) - 1
    state &= mask
    for i in range(out.shape[0]):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        out[i] = z ^ (z >> 31)


@PROGRAMS.on(ints(9, lo=0, hi=256, dtype=np.uint8))
@PROGRAMS.on(np.zeros(0, np.uint8))
def fnv(data):
    h = 0xCBF29CE484222325
    for i in range(len(data)):
        h ^= int(data[i])
        h *= 0x100000001B3
        h &= 0xFFFFFFFFFFFFFFFF
    return h


@PROGRAMS.on(9, np.zeros(9))
@PROGRAMS.on(0, np.zeros(0))
def xorshift_of_a_constant(n, out):
    """Its last operation is no cut."""
    x = 88172645463325252
    for i in range(n):
        for shift in range(2):
            x ^= (x << 13 + shift) & M
            x ^= x >> 7
            x ^= (x << 17) & M
        out[i] = x / 2**64
    return x


@PROGRAMS.on(9)
@PROGRAMS.on(1)
def one_name_of_two(n):
    """One name is cut, the other one may be negative."""
    s, low = 1, 7
    for i in range(n):
        s ^= (s << 9) & M
        low -= s >> 60
        s ^= s >> 3
    return s, low


@PROGRAMS.on(np.zeros(6, np.uint32))
def pcg(out):
    state = 0x853C49E6748FEA9B
    for i in range(out.shape[0]):
        old = state
        state = (old * 6364136223846793005 + 0xDA3E39CB94B95BDB) & 0xFFFFFFFFFFFFFFFF
        x = (((old >> 18) ^ old) >> 27) & 0xFFFFFFFF
        r = old >> 59
        out[i] = ((x >> r) | (x << ((-r) & 31))) & 0xFFFFFFFF


@PROGRAMS.on(ints(9, lo=0, hi=256, dtype=np.uint8))
def djb2(data):
    h = 5381
    for c in data:
        h = ((h << 5) + h + int(c)) & 0xFFFFFFFFFFFFFFFF
    return h, h % 1000, h >> 1, h // 3, ~h & 0xFF, -h % 2**32, h > 2**63, h / 3


@PROGRAMS.on(7, 11)
@PROGRAMS.on(-7, 2**62)
def below_64_bits(a, b):
    return (a * b) % 2**63, (a * b) % 2**40, (a + b) & 0xFFFF, (a - b) % 2**64, (a << 60) & M, (a ^ b) & M


@PROGRAMS.on(5, np.zeros(4, np.int64))
def park_miller(seed, out):
    for i in range(4):
        seed = (16807 * seed) % 2147483647
        out[i] = seed
    return seed


@PROGRAMS.on(3)
def constants(k):
    big = 2**64
    return big // 2**10 + k, 2**64 - 1, 2**63, -(2**63), 2**63 - 1, (1 << 70) % 1000, 2**200 / 2**199, k / 2**64


@PROGRAMS.on(2**63)
@PROGRAMS.on(2**64 - 5)
def large_arguments(k):
    return k, k & 255, k >> 3, k % 10, k // 7, k == 2**63, k > 5, k < 2**64, float(k), k | 1, min(k, 3), max(k, -1)


@PROGRAMS.on(ints(4, lo=0, dtype=np.uint64), 2**63 + 1)
@PROGRAMS.on(ints(4, lo=0, dtype=np.uint64), 3)
@PROGRAMS.on(ints(4, lo=0, dtype=np.int64), 2**63 + 1)
def beside_arrays(a, k):
    for i in range(4):
        a[i] = a[i] + k


@PROGRAMS.on(ints(3, lo=0), 2**63)
def as_an_index(a, k):
    return a[k]


EDGES = np.array([0, 1, 5, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)


@PROGRAMS.on(EDGES, np.zeros(6, np.int64))
def of_elements(u, out):
    for i in range(u.shape[0]):
        v = int(u[i])
        out[i] = v % 97 + int(~u[i]) % 89 + (v >> 5) // 7 + (v > 2**63 - 1)


@PROGRAMS.on(EDGES, np.zeros(6, np.int64))
@PROGRAMS.on(EDGES, np.zeros(6, np.uint64))
@PROGRAMS.on(EDGES[:3], np.zeros(6, np.int32))
@PROGRAMS.on(EDGES, np.zeros(6))
def of_elements_stored(u, out):
    for i in range(u.shape[0]):
        out[i] = int(u[i])


@PROGRAMS.on(EDGES, 4, np.zeros(6))
@PROGRAMS.on(EDGES, -4, np.zeros(6))
def of_elements_beside_ints(u, k, out):
    for i in range(u.shape[0]):
        out[i] = max(int(u[i]), k) % 10 + (int(u[i]) == k) + int(u[i]) * 0.5 + int(u[i] >> np.uint64(11)) * 3


@PROGRAMS.on(EDGES)
def of_one_element(u):
    return int(u[5]), int(u[2]), abs(int(u[4]))


@PROGRAMS.on(EDGES, floats(6, 4))
@PROGRAMS.on(EDGES[:1], floats(6, 4))
def bounds_beyond_int64(u, m):
    """Of uint64: they became negative, and counted from the end."""
    total = 0.0
    for i in range(len(u)):
        total += m[: u[i], :].sum() + len(m[u[i] :]) - m[u[i] :: 2, 1].sum()
        for j in range(u[i]):
            if j == 7:
                break
            total += j
    return total


@PROGRAMS.on(-1)
@PROGRAMS.on(26)
@PROGRAMS.on(5)
def functions_of_an_integer_that_raise_or_grow(n):
    return math.isqrt(n + 10) + math.factorial(n)


@PROGRAMS.on(7, 0)
@PROGRAMS.on(2**62, 2**63 - 25)
@PROGRAMS.on(3, 11)
def a_power_with_a_modulus(base, mod):
    return pow(base, 1000, mod)


@PROGRAMS.on(7, -3, 10)
@PROGRAMS.on(-7, -1, -10)
@PROGRAMS.on(6, -1, 9)
@PROGRAMS.on(5, -4, 1)
def a_power_of_an_inverse(base, exp, mod):
    return pow(base, exp, mod)


@PROGRAMS.on(np.array([3, -(2**63), 7]))
def the_least_integer(a):
    best = -9223372036854775808
    for i in range(a.shape[0]):
        best = max(best, a[i])
    return best


@PROGRAMS.on(20)
@PROGRAMS.on(0)
def states_in_a_list(n):
    """Lists of zeros that get ints of 64 bits, and a name that is only combined with such."""
    state = [0, 0, 0, 0]
    for i in range(4):
        state[i] = (i * 0x9E3779B97F4A7C15 + 7) & M
    seen = 0
    drawn = [0]
    for _ in range(n):
        t = (state[1] << 17) & M
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= t
        state[3] = ((state[3] << 45) | (state[3] >> 19)) & M
        seen ^= state[0]
        drawn.append((state[0] + state[3]) & M)
    return seen, state, drawn


@PROGRAMS.on(np.zeros(1, np.int64), -(2**63))
@PROGRAMS.on(np.zeros(1, np.int64), 2**63 - 1)
def differences(out, y):
    s = -1
    for k in range(out.shape[0]):
        out[k] = k
        s -= y
    t = -1 - y
    return s, t


@PROGRAMS.on(ints(9, lo=-65536, hi=65537), np.zeros(9, np.int64))
def rotated(angles, out):
    for i in range(len(angles)):
        x, y, z = 39797, 0, int(angles[i])
        for k in range(16):
            if z >= 0:
                x, y, z = x - (y >> k), y + (x >> k), z - (65536 >> k)
            else:
                x, y, z = x + (y >> k), y - (x >> k), z + (65536 >> k)
        out[i] = x


@PROGRAMS.on(3, np.zeros(4, np.int64))
@PROGRAMS.on(2**40, np.zeros(4, np.int64))
def doubled_in_turn(n, out):
    s = n
    for k in range(4):
        if k == 2 and s < 0:
            continue
        for j in range(3, 0, -1):
            s = s * 2 + j
            if s > 2**45:
                break
        out[k] = s
    return s


@PROGRAMS.on(-(2**63), [3, -(2**63), 2])
@PROGRAMS.on(-4, [3, -5])
def magnitudes(n, items):
    largest = 0
    for x in items:
        largest = max(largest, abs(x))
    return abs(n) % 300, largest, abs(-n), abs(True)
