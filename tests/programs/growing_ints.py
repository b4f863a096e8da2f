"""Python ints that outgrow 64 bits, or stay just below: never wrapped unseen."""

import numpy as np

from tests.programs.registry import Programs, ints

PROGRAMS = Programs()


@PROGRAMS.on(10)
@PROGRAMS.on(92)
@PROGRAMS.on(93)
@PROGRAMS.on(300)
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@PROGRAMS.on(5)
@PROGRAMS.on(20)
@PROGRAMS.on(21)
@PROGRAMS.on(40)
def factorial(n):
    f = 1
    for i in range(2, n + 1):
        f *= i
    return f


@PROGRAMS.on(27)
@PROGRAMS.on(2**62 - 1)
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@PROGRAMS.on(np.zeros(40, np.int64), 1)
@PROGRAMS.on(np.zeros(5, np.int64), 2**60 + 7)
def collatz_of_each(out, first):
    for i in range(out.shape[0]):
        n = i + first
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        out[i] = steps


@PROGRAMS.on(1000)
@PROGRAMS.on(3000)
def sum_of_powers(n):
    total = 0
    for i in range(n):
        total += i * i * i * i
    return total


@PROGRAMS.on(5, 3)
@PROGRAMS.on(2**31, 3)
@PROGRAMS.on(2**33, -(2**33))
@PROGRAMS.on(2**62, 2**62)
@PROGRAMS.on(-(2**63), -(2**63))
def straight_line(a, b):
    return a * b + 1, a + b, a - b, -a, a * 3 - b, a << 2, (a * b) % 1000, (a + b) // 2, a * b * a


@PROGRAMS.on(3, 4)
@PROGRAMS.on(3, 39)
@PROGRAMS.on(3, 40)
@PROGRAMS.on(-1, 10**9 + 1)
@PROGRAMS.on(2, 62)
@PROGRAMS.on(2, 64)
def powers(a, b):
    return a**b, a**2 * a


@PROGRAMS.on(-(2**63), -1)
@PROGRAMS.on(7, -1)
@PROGRAMS.on(7, 2)
def quotient(a, b):
    return a // b, a % b


@PROGRAMS.on(np.arange(20), 31)
@PROGRAMS.on(np.arange(3), 31)
def unmasked_hash(a, k):
    h = 7
    for i in range(a.shape[0]):
        h = h * k + int(a[i])
    return h


@PROGRAMS.on(np.arange(40), 2**62)
@PROGRAMS.on(np.arange(40), 17)
def masked_hash(a, seed):
    h = seed
    for i in range(a.shape[0]):
        h = (h * 31 + int(a[i]) - (h << 3)) & 0xFFFFFFFF
    x = (seed * seed + 5) % 2**31
    return h, x


@PROGRAMS.on(42, 50)
@PROGRAMS.on(2**62 + 1, 50)
def linear_congruence(s, n):
    for _ in range(n):
        s = (s * 1103515245 + 12345) % 2**31
    return s


@PROGRAMS.on(3, 1000, 10**9 + 7)
@PROGRAMS.on(3, 1000, 2**61 - 1)
def modular_power(b, e, m):
    r = 1
    while e > 0:
        if e & 1:
            r = r * b % m
        b = b * b % m
        e >>= 1
    return r


@PROGRAMS.on(12345, 2**62)
@PROGRAMS.on(2**62 + 1, 6**20)
def bits_and_divisors(n, m):
    a, b = n, m
    while b:
        a, b = b, a % b
    count = 0
    while n:
        n &= n - 1
        count += 1
    return a, count


@PROGRAMS.on(np.array([2**62, 2**62, 5]))
@PROGRAMS.on(np.array([2**62, 5]))
def sum_of_elements(a):
    total = 0
    for i in range(a.shape[0]):
        total += int(a[i])
    return total


@PROGRAMS.on(np.array([2**62, 2**62, 5]))
def numpys_wrap(a):
    total = np.int64(0)
    for i in range(a.shape[0]):
        total += a[i] * 3
    return total


@PROGRAMS.on(ints(6), 2**63 - 3)
@PROGRAMS.on(ints(6), 1)
def as_an_index(a, k):
    return a[k + 2]


@PROGRAMS.on(ints(6), 2**32, 2**32)
@PROGRAMS.on(ints(6), 2, 2)
def as_a_product_in_an_index(a, k, m):
    return a[k * m]


@PROGRAMS.on(np.zeros(5), 60)
@PROGRAMS.on(np.zeros(5), 2**61)
def stored_as_floats(out, k):
    for i in range(5):
        out[i] = (k + i) * 3


@PROGRAMS.on(np.zeros(2, np.int64), 50)
@PROGRAMS.on(np.zeros(2, np.int64), 91)
def stored_results(out, n):
    a, b = 0, 1
    for i in range(n):
        out[i % 2] = a
        a, b = b, a + b
    out[0] = b


@PROGRAMS.on(10, 2**40)
@PROGRAMS.on(10, 2**61)
def leaves_early(n, step):
    x = 1
    while True:
        x = x + step
        if x > n * step:
            break
    return x


@PROGRAMS.on(10)
@PROGRAMS.on(9000)
def sum_of_a_generator(n):
    return sum(i * i * i * i for i in range(n))


@PROGRAMS.on(2**20)
@PROGRAMS.on(2**22)
def in_other_places(n):
    d = {"k": n}
    d["k"] *= n
    t = (d["k"] * n, n + 1)
    return t[0] * t[1] // 7, max(t), n * n * n > 5, float(n * n * n), sum((t[0], t[0], t[0]))
