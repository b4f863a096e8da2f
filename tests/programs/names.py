"""Names that mean something in C, in Triton or in generated code; scopes; odd spellings."""

import numpy as np

from tests.programs.registry import Programs, floats

PROGRAMS = Programs()


@PROGRAMS.on(floats(4), 3, 2.0)
def words_of_c(double, long, static):
    #pragma parallel for
    for register in range(long):
        auto = double[register] * static
        double[register] = auto + register
    void, char, struct = 1, 2.0, long
    return void, char, struct


@PROGRAMS.on(floats(4), np.zeros(4))
def names_of_generated_code(frame, fault):
    threads = trips = begin = end = 0
    tl = 1.5
    #pragma parallel for
    for host in range(4):
        lanes = frame[host]
        fault[host] = lanes * tl
        threads += 1
        trips = host
    kernel = program = mask = trips + begin + end
    return threads, trips, kernel, program, mask


@PROGRAMS.on(np.arange(300) % 4, floats(300), np.zeros(4), np.zeros(4), np.zeros(4))
def names_of_copies(part, base, e, copy, first):
    #pragma parallel for
    for last in range(300):
        e[part[last]] = max(e[part[last]], base[last])
        copy[part[last]] = min(copy[part[last]], base[last])
        first[part[last]] = max(first[part[last]], -base[last])


@PROGRAMS.on(floats(3), 2)
def unicode_and_underscores(α, _n):
    Δ = 0.0
    #pragma parallel for
    for _ in range(3):
        Δ += α[_]
    __x = Δ * _n
    été = __x + 1
    return été, Δ


@PROGRAMS.on(floats(3))
def größe(α):
    return α * 2.0


@PROGRAMS.on(floats(3))
def names_of_functions(exp):
    sin = 2.0
    int64_t, NAN, INFINITY, M_PI, I, errno, stdin = 1, 2, 3, 4, 5, 6, 7
    #pragma parallel for
    for floor in range(3):
        exp[floor] = np.exp(exp[floor]) * sin + np.floor(exp[floor])
    return int64_t + NAN + INFINITY + M_PI + I + errno + stdin


@PROGRAMS.on(floats(3), floats(3, seed=1))
def names_with_suffixes(a, a_2):
    a_n0 = 5
    a_0 = 7
    for i in range(3):
        a_i = a[i]
        i_2 = i
        a[i] = a_2[i_2] + a_i
    for i in range(3):
        a_2[i] = a[i]
    return a_n0 + a_0


def double_it(i, s):
    s += i
    return s * 2


@PROGRAMS.on(floats(3))
def callee_with_callers_names(a):
    s = 1.0
    for i in range(3):
        s = double_it(double_it(i, s), a[i]) + s
    return s


@PROGRAMS.on(4)
def same_name_in_several_types(n):
    x = n
    a = x / 3
    x = x * 0.5
    b = x
    x = x > 1
    return a, b, x


@PROGRAMS.on(floats(3))
def names_of_imports(a):
    import math as m
    from math import pi  # fmt: skip
    from math import sqrt as root

    import numpy as library

    if a.shape[0] > 2:
        import numpy.linalg
    else:
        import numpy
    s = 0.0
    for i in range(a.shape[0]):
        s += root(abs(a[i])) * pi + m.floor(s)
    return library.sum(a) + s + numpy.abs(a).max()
