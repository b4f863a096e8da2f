"""Inlined helpers, closures, globals, methods, enumerate, zip, reversed, tuple arguments, prange."""

import math

import numpy as np

import appyc
from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs()

SCALE = 2.5
COUNT = 3
TABLE = np.array([1.0, 4.0, 9.0, 16.0])
PAIR = (2, 0.5)


def clamp(x, lo=-1.0, hi=1.0):
    if x < lo:
        return lo
    if x > hi:
        return hi
    return x


def horner(x, coefficients):
    s = 0.0
    for k in range(len(coefficients) - 1, -1, -1):
        s = s * x + coefficients[k]
    return s


def find(a, x):
    for i in range(len(a)):
        if a[i] == x:
            return i
    return -1


def both(a, b):
    return a + b, a - b


def total(row):
    s = 0.0
    for x in row:
        s += x
    return s


def shadow(i, x):
    i = i * 10
    x = x + i
    return x


@PROGRAMS.on(floats(7), np.zeros(7))
def helper_with_early_return(a, b):
    #pragma parallel for
    for i in range(7):
        b[i] = clamp(a[i])


@PROGRAMS.on(floats(7), np.zeros(7))
def keyword_and_default_arguments(a, b):
    for i in range(7):
        b[i] = clamp(a[i], hi=0.5) + clamp(hi=3.0, x=a[i], lo=0)


@PROGRAMS.on(floats(5), floats(3), np.zeros(5))
def helper_with_array(x, coefficients, out):
    #pragma parallel for
    for i in range(5):
        out[i] = horner(x[i], coefficients)


@PROGRAMS.on(ints(6), 3)
@PROGRAMS.on(ints(6), 77)
def helper_with_loop_return(a, x):
    return find(a, x), find(a, a[2])


@PROGRAMS.on(3, 4.5)
def helper_returns_tuple(a, b):
    s, d = both(a, b)
    t = both(s, d)
    return t, t[0] + t[1]


@PROGRAMS.on(floats(4))
def no_capture_of_names(a):
    x = 1.0
    for i in range(4):
        a[i] = shadow(i, a[i]) + x + i
    return x


@PROGRAMS.on(floats(4), np.zeros(4))
def global_numbers(a, b):
    #pragma parallel for
    for i in range(COUNT):
        b[i] = a[i] * SCALE + PAIR[1]


@PROGRAMS.on(floats(4))
def global_array(a):
    #pragma parallel for
    for i in range(4):
        a[i] *= TABLE[i]
    return TABLE[-1]


def _with_closure(power, table):
    @PROGRAMS.on(floats(4), np.zeros(4))
    def closure(a, b):
        #pragma parallel for
        for i in range(4):
            b[i] = a[i] ** power + table[i]
    return closure


_with_closure(2, np.arange(4.0))


class Grid:
    scale = 3.0

    def __init__(self, n):
        self.cells = np.arange(float(n))
        self.step = 0.25
        self.size = n

    def weight(self, i):
        return self.step * i

    def smooth(self, times):
        for _ in range(times):
            for i in range(1, self.size - 1):
                self.cells[i] = (self.cells[i - 1] + self.cells[i + 1]) * self.step * self.scale
        return self.cells[1]


@PROGRAMS.on(Grid(6), 2)
def method(grid, times):
    return grid.smooth(times) + grid.weight(3)


@PROGRAMS.on(Grid(6))
def attributes(self):
    s = 0.0
    #pragma parallel for
    for i in range(self.size):
        s += self.cells[i] * self.step
    return s


@PROGRAMS.on(floats(5))
def over_elements(a):
    s = 0.0
    for x in a:
        s += x * x
    return s


@PROGRAMS.on(floats(4, 3))
def over_rows(a):
    s = 0.0
    for row in a:
        for x in row:
            s = s * 0.5 + x
    return s


@PROGRAMS.on(floats(5), np.zeros(5))
@PROGRAMS.on(floats(0), np.zeros(0))
def enumerates(a, b):
    #pragma parallel for
    for i, x in enumerate(a):
        b[i] = x * i


@PROGRAMS.on(floats(5))
def enumerates_from(a):
    s = 0.0
    for k, x in enumerate(a, 10):
        s += k * x
    return s


@PROGRAMS.on(floats(5), floats(7))
@PROGRAMS.on(floats(5)[::2], floats(2))
def zips(a, b):
    s = 0.0
    for x, y in zip(a, b):
        s += x * y
    return s


@PROGRAMS.on(floats(5), floats(5))
def zip_enumerate(a, b):
    s = 0.0
    for i, (x, y) in enumerate(zip(a, b)):
        s += i * x - y
    return s


@PROGRAMS.on(floats(6), 4)
def reverses(a, n):
    out = 0.0
    for i in reversed(range(n)):
        out = out * 2 + a[i]
    for i in reversed(range(1, n)):
        out = out * 2 - a[i]
    return out


@PROGRAMS.on(floats(6))
def over_tuple(a):
    s = 0.0
    for k, w in ((0, 0.5), (1, 2.0), (5, -1.0)):
        s += a[k] * w
    for d in (-1, 1):
        s += a[2 + d]
    return s


@PROGRAMS.on((3, 4.5), floats(3))
@PROGRAMS.on((1.0, np.float32(2)), floats(3))
def tuple_argument(pair, a):
    x, y = pair
    for i in range(3):
        a[i] += x * y
    return pair[0], y


@PROGRAMS.on((floats(3), floats(3, seed=1)), np.zeros(3))
def tuple_of_arrays(arrays, out):
    a, b = arrays
    #pragma parallel for
    for i in range(3):
        out[i] = a[i] * b[i]


@PROGRAMS.on(floats(6), np.zeros(6))
def with_prange(a, b):
    s = 0.0
    for i in appyc.prange(6):
        b[i] = a[i] * 3
        s += b[i]
    return s


@PROGRAMS.on(floats(6), np.zeros(6))
def prange_with_start(a, b):
    for i in appyc.prange(1, 6):
        b[i] = a[i - 1]


@PROGRAMS.on(None, 3)
@PROGRAMS.on(floats(3), 3)
def optional_array(weights, n):
    s = 0.0
    for i in range(n):
        if weights is None:
            s += 1.0
        else:
            s += weights[i]
    return s


@PROGRAMS.on(4)
@PROGRAMS.on(4, 5)
@PROGRAMS.on(4, 5, 6.5)
def default_arguments(a, b=2, c=0.5):
    return a * b + c


@PROGRAMS.on(2.0, 3.0)
def nested_helpers(a, b):
    def inner(x, y):
        return clamp(x * y, -5.0, 5.0) + a

    return inner(a, b) + inner(b, 1.0)


@PROGRAMS.on(floats(4, 4), np.zeros(4))
def row_helper(a, out):
    #pragma parallel for
    for i in range(4):
        out[i] = total(a[i])


@PROGRAMS.on(floats(4, 4))
def shape_unpacking(a):
    m, n = a.shape
    return m * n, a.ndim, a.size, len(a), a.shape[1], math.pi * m


@PROGRAMS.on(floats(3), floats(3))
def returns_array(a, b):
    for i in range(3):
        a[i] += b[i]
    return a


@PROGRAMS.on(2, 9, 4)
@PROGRAMS.on(5, 2, 3)
@PROGRAMS.on(-3, 4, 0)
def ranges_by_position(lo, hi, n):
    """Of ranges with any beginning and step, positions and items go together."""
    s = 0
    for i, k in enumerate(range(lo, hi, 2), start=n):
        s = s * 3 % 1009 + i * k
    for i, k in zip(range(hi, lo, -3), range(n, 9)):
        s = s * 3 % 1009 + i - k
    for i, (j, k) in enumerate(zip(reversed(range(hi, lo, -2)), reversed(range(lo, hi)))):
        s = s * 3 % 1009 + i * j - k
    return s


@PROGRAMS.on("abcaab", 2)
@PROGRAMS.on("", 2)
def characters_counted_from(text, first):
    s = 0
    for i, c in enumerate(text, first):
        s = s * 2 + i * (c == "a")
    return s


@PROGRAMS.on("abcaab")
@PROGRAMS.on(b"abcaab")
def arrays_of_characters(text):
    codes = np.array([c == text[0] for c in text])
    return codes, np.sum([c != text[-1] for c in text[1:]])


def _middle(a):
    return a[0] / 2, a[1] / 2


def _turned(scale, x, y):
    return scale * (x - y), scale * (x + y)


@PROGRAMS.on(floats(3), 2.0)
def items_of_what_a_call_gives_as_arguments(a, scale):
    s = _turned(scale, *_middle(a))
    return s, min(*_middle(a), *_turned(1.0, *s)), math.hypot(*_turned(scale, *_middle(a[1:])))


@PROGRAMS.on(floats(4, 5) > 0.5)
@PROGRAMS.on(floats(0, 3) > 0.5, joined=True)
def pairs_of_indices_of_what_is_true(mask):
    pairs = list(zip(*np.nonzero(mask)))
    total = 0
    for i, j in zip(*np.where(mask)):
        total += 3 * i + j
    while pairs:
        i, j = pairs.pop()
        total -= i - j
    return total


# The sorted pairs of a dict are Python's.
@PROGRAMS.on(np.array([3, -1, 3, 2**62, -(2**63), 0, -1]), [2, 1, 0, 5, 4, 3, 9], targets=("cpu", "interpret"))
@PROGRAMS.on(ints(40, lo=0, hi=9), ints(30, lo=0, hi=9).tolist(), targets=("cpu", "interpret"))
@PROGRAMS.on(np.zeros(0, int), [1], targets=("cpu", "interpret"))
def made_of_pairs(a, xs):
    by_key = dict(zip(a, xs))
    place = dict(enumerate(xs))
    back = dict((int(v), i) for i, v in enumerate(a))  # noqa: C402  (as users write it)
    pairs = [(x, x * x) for x in xs]
    squares = dict(pairs)
    ordered = dict(sorted(squares.items()))
    total = place[0] + len(back)
    for i, k in enumerate(ordered):
        total += i * k * squares[k]
    return by_key, total
