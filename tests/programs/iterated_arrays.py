"""Loops over `np.nditer`: over elements in the order in which they lie in memory."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(floats(4, 5))
@PROGRAMS.on(np.asfortranarray(floats(4, 5)))
@PROGRAMS.on(floats(7))
@PROGRAMS.on(floats(2, 3, 4))
@PROGRAMS.on(floats(0, 3))
@PROGRAMS.on(ints(3, 3))
def weighed_as_they_lie(a):
    total = 0.0
    weight = 1.0
    for x in np.nditer(a):
        if x > 0 and not np.isnan(x):
            total += weight * x
        total += np.sqrt(abs(x)) + float(x) - x.item()
        weight *= 0.9
    return total


@PROGRAMS.on(floats(4, 5))
@PROGRAMS.on(np.asfortranarray(floats(4, 5)))
def clipped_in_place(a):
    with np.nditer(a, op_flags=["readwrite"]) as it:
        for x in it:
            if x < 0:
                x[...] = -0.5 * x
            else:
                x[...] *= 2
    return a


@PROGRAMS.on(floats(4, 5))
@PROGRAMS.on(np.asfortranarray(floats(4, 5)))
@PROGRAMS.on(floats(6))
def largest_place(a):
    row, best = -1, -np.inf
    it = np.nditer(a, flags=["multi_index"])
    for x in it:
        if x > best:
            best = x[()]
            row = it.multi_index[0]
    return row, best


@PROGRAMS.on(floats(4, 5), floats(4, 5, seed=1))
@PROGRAMS.on(floats(4, 5), floats(3, 5))
def differences_from_neighbours(a, b):
    it = np.nditer(a, ["multi_index"], [["readwrite"]])
    with it:
        while not it.finished:
            i, j = it.multi_index
            if i > 0:
                it[0] = it[0] - b[i - 1, j]
            it[0][...] += b[it.multi_index]
            it.iternext()
    return a


@PROGRAMS.on(floats(6, 4)[::2, ::-1], np.zeros(3, int))
@PROGRAMS.on(floats(3, 4), np.zeros(3, int))
def counted_in_rows(a, counts):
    for i in range(a.shape[0]):
        for x in np.nditer(a[i], order="C"):
            if x > 0:
                counts[i] += 1
        for x in np.nditer(counts, flags=["zerosize_ok"]):
            counts[0] += x
    return counts


@PROGRAMS.on(floats(3, 4), floats(5))
def nested(a, b):
    out = np.zeros((3, 4))
    with np.nditer(out, op_flags=["writeonly"], flags=["multi_index"]) as it:
        for x in it:
            near = a[it.multi_index]
            total = 0.0
            for y in np.nditer(b):
                total += y * near
            x[...] = total
    return out


@PROGRAMS.on(floats(4, 5), floats(3))
@PROGRAMS.on(np.asfortranarray(ints(4, 5)), ints(3))
def raised_in_place(a, b):
    for x in np.nditer(a, op_flags=["readwrite"]):
        x += b[0]
        x[...] *= b[1]
    b[1, ...] += 2
