"""Names that loops and branches bind to other arrays; nothing is left to Python."""

import numpy as np

from tests.programs.registry import Programs, complexes, floats, ints

PROGRAMS = Programs(strict=True)

_SQUARE = floats(5, 5)


@PROGRAMS.on(_SQUARE, floats(5), 4)
@PROGRAMS.on(_SQUARE, floats(5), 1)
@PROGRAMS.on(_SQUARE, floats(5), 0)
@PROGRAMS.on(floats(1, 1), floats(1), 3)
@PROGRAMS.on(floats(0, 0), floats(0), 3)
@PROGRAMS.on(floats(4, 5), floats(5), 1)  # another length, once
@PROGRAMS.on(floats(4, 5), floats(5), 2)  # raises in the second iteration
@PROGRAMS.on(_SQUARE.astype(np.float32), floats(5, dtype=np.float32), 3)
@PROGRAMS.on(complexes(3, 3), complexes(3), 3)
@PROGRAMS.on(ints(3, 3), ints(3), 3)
@PROGRAMS.on(_SQUARE.T, floats(10)[::-2], 3)
def powers(A, x, n):
    for _ in range(n):
        x = A @ x
    return x


@PROGRAMS.on(floats(7), 3)
@PROGRAMS.on(floats(7)[::-1], 2)
@PROGRAMS.on(floats(1), 3)
@PROGRAMS.on(floats(0), 2)
@PROGRAMS.on(floats(7, dtype=np.float32), 0)
def place_by_place(x, n):
    for k in range(n):
        x = x * 0.5 + k
        x = np.where(x > 0.5, x, 1.0 - x)
    return x, x.sum()


@PROGRAMS.on(floats(9), 3)
@PROGRAMS.on(floats(2), 2)
@PROGRAMS.on(floats(9), 0)
def stencil_into_a_copy(u, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = (u[:-2] + u[2:]) * 0.5
        u = new
    return u


@PROGRAMS.on(floats(9), 3)
@PROGRAMS.on(floats(9), 2)
@PROGRAMS.on(floats(9), 0)
@PROGRAMS.on(floats(2), 1)
def swapped(start, n):
    u, v = start.copy(), start * 2
    for _ in range(n):
        v[1:-1] = u[:-2] + u[2:]
        u, v = v, u
    return u, v


@PROGRAMS.on(floats(4), floats(4, seed=1), floats(4, seed=2), 4)
@PROGRAMS.on(floats(4), floats(4, seed=1), floats(4, seed=2), 0)
def rotated(a, b, c, n):
    for _ in range(n):
        a, b, c = b, c, a + b
    return a + 0, b + 0, c + 0


@PROGRAMS.on(floats(6), 3)
@PROGRAMS.on(floats(6), 6)
@PROGRAMS.on(floats(6), 0)
@PROGRAMS.on(floats(2, 3), 1)
def shrinking(x, n):
    for _ in range(n):
        x = x[1:] + x[:-1]
    return x


@PROGRAMS.on(floats(3), 2)
@PROGRAMS.on(floats(0), 2)
@PROGRAMS.on(floats(1), 4)
def growing(x, n):
    for _ in range(n):
        x = np.concatenate((x, x * 2))
    return x, x.shape[0]


@PROGRAMS.on(floats(3, 4), 3)
@PROGRAMS.on(floats(4, 4), 2)
def transposed(x, n):
    for _ in range(n):
        x = x.T * 2
    return x


@PROGRAMS.on(floats(5), 3)
@PROGRAMS.on(floats(1), 1)
def reversed_in_place(x, n):
    for _ in range(n):
        x = x[::-1]
    return x + 0


@PROGRAMS.on(_SQUARE @ _SQUARE.T, floats(5), 4)
@PROGRAMS.on(np.eye(2), floats(2), 1)
def conjugate_gradients(A, b, n):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r
    before = r @ r
    for _ in range(n):
        q = A @ p
        alpha = before / (p @ q)
        x = x + alpha * p
        r = r - alpha * q
        now = r @ r
        if now < 1e-20:
            break
        p = r + (now / before) * p
        before = now
    return x


@PROGRAMS.on(floats(5), 3)
@PROGRAMS.on(floats(5), 0)
def the_value_before(x, n):
    before = x
    for _ in range(n):
        before = x
        x = x * x
    return before - x


@PROGRAMS.on(floats(4), 1)
@PROGRAMS.on(floats(4), 0)
@PROGRAMS.on(floats(0), 1)
def in_branches(x, c):
    if c > 0:
        y = x * 2
    else:
        y = x + 1
    if c > 0:
        x = x[1:]
    y[0:1] = 5.0
    return y, x + 0


@PROGRAMS.on(floats(4), 1.0)
@PROGRAMS.on(floats(4), 0.0)
def in_one_branch_of_a_loop(x, limit):
    for k in range(5):
        if x.sum() > limit:
            x = x * 0.25 - k
        else:
            x = x + 1.5
    return x


@PROGRAMS.on(floats(4))
@PROGRAMS.on(np.zeros(4))
def until_small(x):
    rounds = 0
    while np.abs(x).max() > 0.01:
        x = x * 0.5
        rounds += 1
    return x, rounds


@PROGRAMS.on(floats(3, 4), 2)
@PROGRAMS.on(floats(3, 4), 0)
def loops_in_loops(x, n):
    for _ in range(n):
        for k in range(n):
            x = x + k
            if k == 1:
                continue
            x = x * 2
        x = x - 1
    return x


def _step(state, rate):
    for _ in range(2):
        state = state + rate * state
    return state


@PROGRAMS.on(floats(5), 0.5)
def in_a_function_that_is_called(x, rate):
    y = _step(x, rate)
    for _ in range(2):
        y = _step(y, rate)
    return y, x


@PROGRAMS.on(floats(4), floats(4, seed=1), 3)
def written_to_after_it_is_bound(x, b, n):
    for _ in range(n):
        x = x * 2
        x[1:] += b[:-1]
        x[0] = 7.0
    return x


@PROGRAMS.on(floats(4), 2)
def a_name_for_the_body_alone(a, n):
    t = a * 2
    a[0] = t[1]
    for k in range(n):
        t = a + k
        a[1:] = t[:-1]
    if n > 1:
        t = a * 3
        a[:] = t


@PROGRAMS.on(floats(3), floats(1, seed=1))
@PROGRAMS.on(floats(1), floats(2, seed=1))
def exchanged_before_a_name_is_bound_anew(a, b):
    """What follows a loop that exchanges arrays stood once for each arrangement, with results of two kinds."""
    first = a.std(axis=-1, keepdims=True)
    second = first[::-1].max(axis=-1, keepdims=True)
    for _ in range(3):
        first, second = second, first
    for _ in range(3):
        second = second - b[-2:]
    return first, second


@PROGRAMS.on(floats(5), floats(5, seed=1), 4, 0.5)
@PROGRAMS.on(floats(5), floats(5, seed=1), 4, -1e9)
@PROGRAMS.on(floats(5), floats(5, seed=1), 0, 0.5)
def returned_from_the_loop_or_behind_it(a, b, n, enough):
    x = a * 1
    for _ in range(n):
        x = x * b
        if x.sum() < enough:
            return x
    return x


@PROGRAMS.on(floats(5), 4)
@PROGRAMS.on(floats(5), 1)
def returned_beside_what_it_was(a, n):
    x = y = a * 1
    if n > 2:
        x = x + 1
    return x + 0, y + 0


@PROGRAMS.on(floats(3, 4), 3)
@PROGRAMS.on(floats(3, 4), 0, joined=True)
def rows_of_what_is_bound_anew(m, n):
    total = 0.0
    for _ in range(n):
        for row in m:
            total += row.sum()
        for row in m:
            total += row.max()
        m = m * 0.5 + 1
    return m, total


@PROGRAMS.on(floats(5), np.array(1.0), 2.5)
@PROGRAMS.on(ints(5), np.array(7), 3)
@PROGRAMS.on(floats(5, dtype=np.float32), np.array(1.0, np.float32), 0.5)
def arrays_without_axes(a, t, x):
    """In-place operations on them change what other names, and the caller, see."""
    made = np.zeros((), a.dtype)
    same = made
    for i in range(a.shape[0]):
        made += a[i]
        t += a[i]
    t *= 2
    made -= 1
    k = np.sum(a)
    k += x
    return made, same, float(t), k


@PROGRAMS.on(floats(9), targets=("cpu", "interpret"))
@PROGRAMS.on(floats(1), targets=("cpu", "interpret"))
@PROGRAMS.on(floats(9, dtype=np.float32), targets=("cpu", "interpret"))
def list_then_array(a):
    xs = []
    for x in a:
        xs.append(2 * x)
    xs = np.array(xs)
    return xs.max(), xs


@PROGRAMS.on(ints(9), targets=("cpu", "interpret"))
def list_then_number_then_list(a):
    xs = [int(v) for v in a]
    s = sum(xs)
    xs = sum(xs) / len(xs)
    s += xs
    xs = [s, s + xs]
    return xs


@PROGRAMS.on(floats(9), 3, targets=("cpu", "interpret"))
@PROGRAMS.on(floats(9), 0, targets=("cpu", "interpret"), joined=True)
def list_then_array_in_each_iteration(a, n):
    total = 0.0
    xs = [1.0]
    for k in range(n):
        if k == 1:
            continue
        xs = []
        for x in a:
            if x > 0.2 * k:
                xs.append(x)
        xs, n = np.array(xs), len(xs)
        if n > 4:
            total += xs[0]
            continue
        total += xs.sum()
    return total


@PROGRAMS.on(ints(9), targets=("cpu", "interpret"))
def dict_then_list(a):
    d = {}
    for x in a:
        d[int(x)] = d.get(int(x), 0) + 1
    d = sorted(d.values())
    s = 0
    for k, v in enumerate(d):
        s += k * v
    return s


@PROGRAMS.on(floats(7, 3))
@PROGRAMS.on(floats(1, 3))
@PROGRAMS.on(floats(0, 3))  # raises UnboundLocalError
def made_in_the_first_iteration(a):
    for i in range(a.shape[0]):
        row = a[i] * 2
        if i == 0:
            out = np.empty((a.shape[0], 3), a.dtype)
        out[i] = row
    return out


@PROGRAMS.on(floats(9), 3)
@PROGRAMS.on(floats(9), 1)
@PROGRAMS.on(floats(9), 20)
def made_anew_in_some_iterations(a, every):
    total = 0 * a[0]
    for i in range(len(a)):
        if i % every == 0:
            if i > 0:
                total += 10 * part.sum()
            part = np.zeros(i + 1)
        part[i // 2 % len(part)] += a[i]
        total += len(part)
    return total, part


@PROGRAMS.on(floats(9), floats(9, seed=1))
def another_array_in_some_iterations(a, b):
    out = np.zeros(9)
    for i in range(len(a)):
        kept = out
        if a[i] > 0:
            out = a + i
        else:
            out = out - b[i] * kept[0]
    return out, kept
