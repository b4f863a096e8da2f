"""Floats that become Python's ints: those that fit, NaN, infinities, and what takes more than 64 bits."""

import math

import numpy as np

from tests.programs.registry import Programs

PROGRAMS = Programs()

VALUES = (2.5, -3.5, -0.0, 2.0**62, -(2.0**62), math.nan, math.inf, -math.inf)
LARGE = (1e30, 2.0**63, -1e25)


def on_numbers(fn):
    for value in (*VALUES, *LARGE, np.float64(math.nan), np.float32(math.inf), np.float32(1e20)):
        PROGRAMS.on(value)(fn)
    return fn


def on_vectors(*types):
    """A call in which one element is a value; the others fit. types: those of arrays that are stored into."""

    def add(fn):
        for value in VALUES if types else (*VALUES, *LARGE):
            x = np.linspace(-40.0, 40.0, 50)
            x[17] = value
            PROGRAMS.on(x, *(np.zeros(50, t) for t in types))(fn)
        return fn

    return add


@on_numbers
def truncated(x):
    return int(x)


@on_numbers
def rounded_in_all_ways(x):
    return math.floor(x), math.ceil(x), round(x)


@on_numbers
def of_a_computed_float(x):
    return int(x * 0.5 + 1.0) % 1000


@on_numbers
def in_one_branch(x):
    return int(x) if x > 0.0 else 0


@on_numbers
def behind_a_test(x):
    return 1 if abs(x) < 1e9 and math.trunc(float(x)) == 2 else 0


@on_vectors()
def summed(x):
    total = 0
    for i in range(len(x)):
        total += int(x[i])
    return total


@on_vectors()
def counted(x):
    found = 0
    for i in range(len(x)):
        if math.floor(x[i]) % 2 == 0:
            found += 1
    return found


@on_vectors()
def into_a_new_array(x):
    out = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        out[i] = int(x[i] / 4.0)
    return out


@on_vectors(np.float64)
def into_an_argument(x, out):
    for i in range(len(x)):
        k = int(x[i])
        out[i] = float(k % 7)


@on_vectors(np.int64)
def histogram(x, out):
    for i in range(len(x)):
        k = int(x[i]) + 40
        if 0 <= k < len(out):
            out[k] += 1


@on_vectors(np.float64)
def parallel(x, out):
    #pragma parallel for
    for i in range(len(x)):
        out[i] = math.ceil(x[i]) % 5


@on_vectors()
def in_a_while(x):
    i = k = 0
    while i < len(x):
        k = (k + int(x[i])) % 1000
        i += 1
    return k


def _halved(n, x):
    return int(x) % 10 if n == 0 else _halved(n - 1, x / 2.0)


@PROGRAMS.on(37.5)
@PROGRAMS.on(math.nan)
@PROGRAMS.on(-math.inf)
def in_a_recursive_function(x):
    return _halved(1, x)


@PROGRAMS.on(np.arange(5))
@PROGRAMS.on(np.arange(5.0, dtype=np.float32))
def to_the_type_that_none_is(a):
    return (a * 2).astype(None)
