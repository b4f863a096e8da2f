"""Names to which a loop gives another type or number of axes than they had before it."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)

_SINGLE = floats(6, dtype=np.float32)
_ROWS = floats(4, 6)


@PROGRAMS.on(_SINGLE, floats(6), 3)
@PROGRAMS.on(_SINGLE, floats(6), 1)
@PROGRAMS.on(_SINGLE, floats(6), 0)  # single precision still
@PROGRAMS.on(ints(6), floats(6), 2)
@PROGRAMS.on(_SINGLE, floats(6).astype(complex), 2)
def wider_elements(x, b, n):
    for _ in range(n):
        x = x * b
    return x


@PROGRAMS.on(_ROWS)
@PROGRAMS.on(_ROWS[:1])
@PROGRAMS.on(_ROWS[:0])  # the number that it was
@PROGRAMS.on(ints(3, 4))
@PROGRAMS.on(floats(4))  # numbers all the way
def sum_from_a_number(rows):
    total = 0
    for i in range(rows.shape[0]):
        total = total + rows[i]
    return total


@PROGRAMS.on(_ROWS)
@PROGRAMS.on(_ROWS[:0])
def sum_in_place_from_a_number(rows):
    total = 0.0
    for row in rows:
        total += row
        total *= 2
    return total


@PROGRAMS.on(_ROWS)
@PROGRAMS.on(_ROWS[:0])
def nothing_at_first(rows):
    best = None
    for i in range(rows.shape[0]):
        best = rows[i] * 1 if best is None else np.maximum(best, rows[i])
    return best


@PROGRAMS.on(floats(3), floats(4, 3), 2)
@PROGRAMS.on(floats(3), floats(4, 3), 0)
def more_axes(x, b, n):
    t = 0
    while t < n:
        x = x + b
        t += 1
    return x, t


@PROGRAMS.on(floats(5), floats(3, 3))
@PROGRAMS.on(floats(0), floats(3, 3))
@PROGRAMS.on(floats(1), floats(3))
def polynomial_of_an_array(c, x):
    out = 0
    for k in range(len(c) - 1, -1, -1):
        out = out * x + c[k]
    return out


@PROGRAMS.on(_SINGLE, floats(6), 4)
@PROGRAMS.on(_SINGLE, floats(6), 2)
@PROGRAMS.on(_SINGLE, floats(6), 1)
@PROGRAMS.on(_SINGLE, floats(6), 0)
def one_from_another(a, b, n):
    x = y = z = a
    for _ in range(n):
        z = y
        y = x
        x = x * b
    return x + 0, y + 0, z + 0


@PROGRAMS.on(_SINGLE, floats(6), 5, 1.0)
@PROGRAMS.on(_SINGLE, floats(6), 5, 1e9)
@PROGRAMS.on(_SINGLE, floats(6), 1, -1e9)
@PROGRAMS.on(_SINGLE, floats(6), 0, 1.0)
def left_by_break(x, b, n, enough):
    steps = 0
    for _ in range(n):
        x = x * b
        if x.sum() < enough:
            steps += 100
            break
        steps += 1
        x = x + 1
    return x, steps


@PROGRAMS.on(_SINGLE, floats(6), 5)
@PROGRAMS.on(_SINGLE, floats(6), 0)
def some_passed_over(x, b, n):
    for k in range(n):
        if k % 2:
            continue
        x = x * b
        if k == 3:
            x = x + 1
    return x


@PROGRAMS.on(_SINGLE, floats(6))
def without_end(x, b):
    steps = 0
    while True:
        x = x * b
        steps += 1
        if steps > 4:
            break
    return x


@PROGRAMS.on(_ROWS, 3)
@PROGRAMS.on(_ROWS[:0], 2)
@PROGRAMS.on(_ROWS, 0)
def inside_another_loop(rows, n):
    out = np.zeros(n)
    for t in range(n):
        total = 0
        for i in range(rows.shape[0]):
            total = total + rows[i] * t
        out[t] = np.sum(total)
    return out


@PROGRAMS.on(_ROWS)
def loop_that_may_not_run(rows):
    out = np.zeros(rows.shape[0])
    for i in range(rows.shape[0]):
        total = 0
        for j in range(i):
            total = total + rows[j]
            out[i] = total.sum()
    return out


@PROGRAMS.on(_ROWS, floats(4))
@PROGRAMS.on(_ROWS[:0], floats(4))  # Python runs it from the beginning
def stored_before_the_loop(rows, out):
    out[0] += 7.0
    total = 0
    for i in range(rows.shape[0]):
        total = total + rows[i]
    return total


@PROGRAMS.on(_ROWS, 4)
@PROGRAMS.on(_ROWS, 0)
def bound_that_changes(rows, n):
    total = 0
    for i in range(n):
        n = 1
        total = total + rows[i]
    return total, n


@PROGRAMS.on(_ROWS, 0, 3)
@PROGRAMS.on(_ROWS, 3, 3)
def backwards(rows, lo, hi):
    total = 0
    for i in range(hi, lo, -2):
        total = total + rows[i] * i
    return total


@PROGRAMS.on(_ROWS, floats(4))
def pairs(rows, weights):
    total = 0
    for i, (row, w) in enumerate(zip(rows, weights)):
        total = total + row * w + i
    return total


def _summed(rows):
    total = 0
    for row in rows:
        total = total + row
    return total


@PROGRAMS.on(_ROWS, 3)
@PROGRAMS.on(_ROWS[:0], 3)
def in_a_call(rows, n):
    out = 0.0
    for t in range(n):
        out += np.sum(_summed(rows)) + t
    return out


@PROGRAMS.on(_ROWS, 3)
@PROGRAMS.on(_ROWS, 0)
def inside_a_tuple(rows, n):
    state = (rows, 0)
    for k in range(n):
        state = (state[0] * 1.5, state[1] + rows[k])
    return state


@PROGRAMS.on(floats(6), True, np.zeros(6))
@PROGRAMS.on(floats(6), False, np.zeros(6))
@PROGRAMS.on(floats(6), False, np.zeros(0))  # raises behind the branch
def branch_to_another_type(a, flag, out):
    x = a
    if flag:
        x = x.astype(np.float32) * 3
    out[:] = x * 2
    return out


@PROGRAMS.on(floats(6), 0, np.zeros(6))
@PROGRAMS.on(floats(6), 1, np.zeros(6))
@PROGRAMS.on(floats(6), 2, np.zeros(6))
def one_of_three(a, k, out):
    if k == 0:
        x = a
    elif k == 1:
        x = np.stack((a, a)).sum(axis=1)[0]
    else:
        x = 2.0
    out[:] = x * 2 + 1
    for i in range(3):
        out += x * i
    return out.sum()


@PROGRAMS.on(floats(6), 0, 0)
@PROGRAMS.on(floats(6), 1, 0)
@PROGRAMS.on(floats(6), 0, 1)
@PROGRAMS.on(floats(6), 1, 1)
def inside_another_branch(a, f, g):
    out = np.zeros(len(a))
    x = a
    if f:
        out[0] = 1.0
        if g:
            x = a.sum()
    out[1:] += np.ones(len(a))[1:] * np.sum(x)
    return out


@PROGRAMS.on(floats(4, 6), 2)
def in_an_iteration(rows, k):
    out = np.zeros(rows.shape[0])
    for i in range(rows.shape[0]):
        if i % 2:
            x = rows[i]
        else:
            x = 1.5
        if i == 3:
            continue
        out[i] = np.sum(x) * k
    return out


@PROGRAMS.on(floats(6), True)
@PROGRAMS.on(floats(6), False)
def nothing_or_an_array(a, flag):
    weights = None
    if flag:
        weights = a * 2
    total = 0.0
    for i in range(len(a)):
        total += a[i] if weights is None else weights[i]
    if weights is not None and total > 0:
        return -total
    return total


@PROGRAMS.on(_ROWS)
@PROGRAMS.on(_ROWS[:0])
def best_so_far(rows):
    best = None
    cost = 0.0
    for row in rows:
        c = row.sum()
        if best is None or c < cost:
            best = row.copy()
            cost = c
    return best, cost


@PROGRAMS.on(np.arange(1, 9), 20, 1e-6)
@PROGRAMS.on(np.arange(1, 9), 1, 1e-6)
@PROGRAMS.on(np.arange(1, 9), 0, 1e-6)
def until_it_changes_little(x, n, enough):
    for k in range(n):
        step = (x**2 - 2) / (2 * x)
        x = x - step
        if np.abs(step).max() < enough:
            return x, k
    return x, n


@PROGRAMS.on(floats(5), 1)  # the array that was passed
@PROGRAMS.on(floats(5), 2)
def returned_with_one_type_or_another(a, n):
    x = a
    if n > 1:
        x = x + 1j
    return x


@PROGRAMS.on(_ROWS, 3)
@PROGRAMS.on(_ROWS, 1)
@PROGRAMS.on(_ROWS, 0)
def rows_of_what_is_bound_anew(m, n):
    for _ in range(n):
        total = 0
        for row in m:
            total = total + row
        m = m + total
    return m


@PROGRAMS.on(_ROWS)
@PROGRAMS.on(_ROWS[:1])
@PROGRAMS.on(_ROWS[:0])
def one_name_handed_to_another(m):
    a, b = 0, 1
    for row in m:
        a, b = b, a + row
    return a + 0, b + 0
