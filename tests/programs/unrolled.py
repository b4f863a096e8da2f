"""Loops over tuples, which are unrolled, left by break, continue and return; nothing is left to Python."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(np.array([1.0, -1.0, 1.0]))
@PROGRAMS.on(np.array([-1.0, -1.0, 1.0]))
@PROGRAMS.on(-np.ones(3))
def first_of_some_places(a):
    for d in (0, 1, 2):
        if a[d] > 0:
            return d
    return -1


@PROGRAMS.on(np.array([1.0, -1.0, 1.0]))
@PROGRAMS.on(np.array([-1.0, -1.0, 1.0]))
def returned_from_an_inner_loop(a):
    n = 0
    for d in (0, 1, 2):
        n += 1
        for k in range(3):
            if a[d] * k > 1:
                return d, n
        a[d] += 10
    return -1, n


@PROGRAMS.on(floats(9), 3.0)
@PROGRAMS.on(floats(9), -30.0)
def returned_within_a_loop(a, limit):
    n = 0
    for i in range(a.shape[0]):
        for d in (1, 2):
            n += 1
            if a[i] * d > limit:
                return i, n
    return -1, n


@PROGRAMS.on(np.array([1.0, -1.0, 1.0, 5.0, 7.0]))
@PROGRAMS.on(floats(12))
@PROGRAMS.on(floats(0), joined=True)
def sums_of_neighbours(a):
    """The ways through the second `if` end in a jump, in its arms too, or go on."""
    s = 0.0
    n = 0
    for i in range(a.shape[0]):
        for d, w in ((-1, 0.5), (0, 1.0), (1, 2.0)):
            if i + d < 0 or i + d >= a.shape[0]:
                continue
            s += w * a[i + d]
            if s > 20:
                n += 1
                break
            if s > 10:
                if a[i] > 3:
                    continue
                n += 100
            n += 10
        else:
            n += 1000
    return s, n


@PROGRAMS.on(np.array([1.0, -1.0, 1.0]))
@PROGRAMS.on(np.array([1.0, -9.0, 1.0]))
@PROGRAMS.on(np.array([-5.0, -9.0, -7.0]))
def jumps_of_a_loop_inside(a):
    n = 0
    for d in (0, 1, 2):
        k = 0
        while True:
            k += 1
            if a[d] + k > 3:
                break
            if k % 2:
                continue
            n += k
        if n > 100:
            return -1, n, k
        n += 1
        if a[d] > 0 and n > 3:
            break
    else:
        n = 77
    return n, d, k


@PROGRAMS.on(np.array([1.0, -1.0, 1.0, 5.0, 7.0]))
@PROGRAMS.on(np.zeros(5))
@PROGRAMS.on(np.array([9.0, 1.0, 1.0, 5.0, 7.0]))
@PROGRAMS.on(np.array([-9.0, -9.0, 1.0, 5.0, 7.0]))
def what_is_found_or_not(a):
    for d in (3, 0, 1, 2):
        if a[d] > 3:
            found = d
            break
    else:
        found = -1
    for d in (0, 1):
        if a[d] > 8:
            raise ValueError("big")
        if a[d] < -2:
            continue
        return found, d
    return 5, 5


@PROGRAMS.on(floats(7))
@PROGRAMS.on(floats(1))
def stencil_that_ends_at_the_border(a):
    out = np.zeros(a.shape[0])
    #pragma parallel for
    for i in range(a.shape[0]):
        for d in (-2, -1, 1, 2):
            j = i + d
            if j < 0:
                continue
            if j >= a.shape[0]:
                break
            out[i] += a[j]
    return out


@PROGRAMS.on(ints(6, 7, lo=0, hi=2, dtype=np.uint8))
def thinned(img):
    changed = True
    while changed:
        changed = False
        for step in (0, 1):
            gone = []
            for i in range(1, img.shape[0] - 1):
                for j in range(1, img.shape[1] - 1):
                    if img[i, j] != 1:
                        continue
                    around = [img[i - 1, j], img[i, j + 1], img[i + 1, j], img[i, j - 1]]
                    if sum(around) < 2 or around[step] + around[step + 1] == 0:
                        continue
                    gone.append((i, j))
            if not gone:
                continue
            changed = True
            for i, j in gone:
                img[i, j] = 0
    return img


@PROGRAMS.on(floats(20, 2) + 2, 4)
@PROGRAMS.on(floats(0, 2), 4)
def neighbours_in_cells(pos, n):
    """Around the `while`, the tuples of neighbours are ranges."""
    head = -np.ones((n, n), dtype=np.int64)
    behind = -np.ones(pos.shape[0], dtype=np.int64)
    for i in range(pos.shape[0]):
        x, y = int(pos[i, 0]), int(pos[i, 1])
        behind[i] = head[x, y]
        head[x, y] = i
    out = np.zeros(pos.shape[0])
    for i in range(pos.shape[0]):
        for dx in (-1, 0, 1):
            for dy in (1, 0, -1):
                x, y = int(pos[i, 0]) + dx, int(pos[i, 1]) + dy
                if x < 0 or y < 0 or x >= n or y >= n:
                    continue
                j = head[x, y]
                while j != -1:
                    out[i] += (dx + 2) * (dy + 3) * pos[j, 0]
                    j = behind[j]
    return out, dx, dy
