"""Sums and products of Python ints that may take more than 64 bits, in parallel loops and in others."""

import numpy as np

import appyc
from tests.programs.registry import C_ONLY, Programs, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(10)
@PROGRAMS.on(1000)  # beyond 64 bits
@PROGRAMS.on(100_000, targets=C_ONLY)  # each term is
def powers(n):
    s = 0
    for i in appyc.prange(n):
        s += i**7
    return s


@PROGRAMS.on(10)
@PROGRAMS.on(1000)
def subtracted(n):
    s = 5
    for i in appyc.prange(n):
        s -= i**7
    return s


@PROGRAMS.on(np.full(3, -(2**63)))
@PROGRAMS.on(np.arange(3) - 2**63 // 4)
def subtracted_elements(a):
    s = -1
    #pragma parallel for reduction(+: s)
    for i in range(len(a)):
        s -= int(a[i])
    return s


@PROGRAMS.on(np.array([2**62, 2**62, -(2**62), -(2**62)] * 20))
@PROGRAMS.on(ints(200))
def partial_sums(a):
    s = 0
    for i in appyc.prange(len(a)):
        s += int(a[i])
    return s


@PROGRAMS.on([1, 2, 3], 5)
@PROGRAMS.on([2**62, 2**62, 3], 5)
def items(a, s):
    for i in appyc.prange(len(a)):
        s += a[i]
    return s


@PROGRAMS.on(10)
@PROGRAMS.on(21)
@PROGRAMS.on(22)
def product(n):
    s = 1
    for i in appyc.prange(1, n):
        s *= i
    return s


@PROGRAMS.on(20, 8)
@PROGRAMS.on(3000, 400, targets=C_ONLY)
def two_loops(n, m):
    s = 5
    for i in appyc.prange(n):
        for j in range(m):
            s += (i * j) ** 3 - i
    return s


@PROGRAMS.on(20, ints(20))
@PROGRAMS.on(20, ints(20) * 2**60)
def where_a_condition_holds(n, a):
    s = 0
    for i in appyc.prange(n):
        if a[i] > 0:
            s += int(a[i])
    return s


@PROGRAMS.on(50, np.zeros(50))
@PROGRAMS.on(50, np.zeros(49))  # IndexError
def beside_stores(n, out):
    s = 0
    for i in appyc.prange(n):
        out[i] = i
        s += i**7
    return s


@PROGRAMS.on(8, 9)
@PROGRAMS.on(8, 4000, targets=C_ONLY)
def of_each_row(n, m):
    out = np.zeros(n)
    for i in appyc.prange(n):
        s = 0
        for j in range(m):
            s += (i + j) ** 5
        out[i] = s
    return out


@PROGRAMS.on(30)
@PROGRAMS.on(600)
def unmarked(n):
    s, t = 0, 1
    for i in range(n):
        s += i**7
        t *= 2 - i % 2
    return s, t


@PROGRAMS.on(np.zeros(8), np.array([5, 1, 7, 0, 3, 2, 6, 4]), 3, 4)
@PROGRAMS.on(np.zeros(8), np.array([5, 1, 7, 5, 3, 2, 6, 4]), 3, 4)  # an element twice
def beside_scattered_stores(a, idx, m, steps):
    k = 0
    for t in range(steps):
        for i in range(idx.shape[0]):
            a[idx[i]] = t
            k += m * i * m
    return k
