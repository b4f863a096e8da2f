"""Arrays whose elements are at addresses that their type does not allow, as a buffer of bytes may have them."""

import numpy as np

from tests.programs.registry import Programs, complexes, floats, ints

PROGRAMS = Programs(strict=True)
_on = PROGRAMS.on


def _odd(array):
    """A copy one byte behind where it would be aligned."""
    array = np.asarray(array)
    out = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out


@_on(_odd(floats(40, 33)), _odd(np.zeros((40, 33))))
@_on(_odd(floats(40, 33)), np.zeros((40, 33)))
@_on(floats(40, 33), _odd(np.zeros((33, 40))).T)
@_on(_odd(floats(80, 66))[::-2, ::2], _odd(np.zeros((40, 33))))
@_on(_odd(floats(40, 33, dtype=np.float32)), _odd(np.zeros((40, 33))))
@_on(*[_odd(floats(9, 9))] * 2)
@_on(_odd(np.zeros((0, 3))), _odd(np.zeros((0, 3))))
def stencil(a, b):
    #pragma parallel for collapse(2)
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


@_on(_odd(floats(64, 64)), _odd(floats(64, 64, seed=1)))
@_on(_odd(floats(64, 64)), floats(64, 64, seed=1).T)
@_on(_odd(complexes(64, 64)), _odd(complexes(64, 64, seed=1)))
def products(a, b):
    return a @ b, a.T @ a, np.linalg.solve(a, b), (a + b).sum(axis=0)


@_on(_odd(floats(50)))
@_on(_odd(ints(50)))
@_on(_odd(ints(50, dtype=np.int16)))
def scanned_in_place(a):
    s = a[0]
    for i in range(1, len(a)):
        s += a[i]
        a[i] = s
    return s, a[::-1], type(a) is np.ndarray, np.sort(a)


@_on(_odd(np.zeros(10, np.int64)), _odd(ints(100, lo=0, hi=10, dtype=np.int32)))
@_on(np.zeros(10), _odd(ints(100, lo=-10, hi=11)))
def counted(counts, index):
    for i in range(index.shape[0]):
        counts[index[i]] += 1


@_on(_odd(np.float64(3)), _odd(floats(5)))
def of_no_axes(a, b):
    a[()] += 1
    for i in range(len(b)):
        b[i] += a
    return a + 1


_memory = _odd(floats(30))


@_on(_memory[1:], _memory[:-1])
@_on(_memory[:-1], _memory[1:])
def overlapping(a, b):
    for i in range(a.shape[0]):
        a[i] = 2 * b[i]


def _in_halves(a, low, high):
    if high - low < 2:
        return a[low] if high > low else 0.0
    middle = (low + high) // 2
    a[low] = a[low] + 1
    return _in_halves(a, low, middle) + _in_halves(a, middle, high)


@_on(_odd(floats(20)))
def recursive(a):
    return _in_halves(a, 0, len(a)), _in_halves(a[1:], 0, len(a) - 1)
