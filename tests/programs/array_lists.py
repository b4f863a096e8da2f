"""Lists of arrays that the function makes, and tuples of arrays that are indexed by loop variables."""

import numpy as np

from tests.programs.registry import Programs, floats

PROGRAMS = Programs(strict=True)
LEFT = Programs()


@PROGRAMS.on(3, 16)
@PROGRAMS.on(0, 4, joined=True)
def of_comprehension(k, n):
    xs = [np.zeros(n) for _ in range(k)]
    for i in range(k):
        for j in range(n):
            xs[i][j] = i * j
    s = 0.0
    for a in xs:
        for j in range(n):
            s += a[j]
    return s


@PROGRAMS.on(64, 4, 2)
def v_cycles(n, levels, cycles):
    us = [np.zeros(n // 2**k + 1) for k in range(levels)]
    fs = []
    size = n
    for _ in range(levels):
        fs.append(np.zeros(size + 1))
        size //= 2
    for i in range(n + 1):
        fs[0][i] = np.sin(3.0 * i / n)
    for _ in range(cycles):
        for k in range(levels - 1):
            u, f = us[k], fs[k]
            m = len(u) - 1
            h = 1.0 / m
            for i in range(1, m):
                u[i] = 0.5 * (u[i - 1] + u[i + 1] + h * h * f[i])
            r = np.zeros(m + 1)
            for i in range(1, m):
                r[i] = f[i] + (u[i - 1] - 2 * u[i] + u[i + 1]) / (h * h)
            us[k + 1][:] = 0.0
            for i in range(1, m // 2):
                fs[k + 1][i] = 0.25 * (r[2 * i - 1] + 2 * r[2 * i] + r[2 * i + 1])
        for k in range(levels - 2, -1, -1):
            u, e = us[k], us[k + 1]
            for i in range(len(e) - 1):
                u[2 * i] += e[i]
                u[2 * i + 1] += 0.5 * (e[i] + e[i + 1])
    return us


@PROGRAMS.on(floats(8), 10)
def runge_kutta(y, steps):
    a = [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.75, 0.0]]
    y = y.copy()
    for _ in range(steps):
        ks = []
        for i in range(3):
            yi = y.copy()
            for j in range(i):
                yi += 0.1 * a[i][j] * ks[j]
            ks.append(-yi * yi)
        for i in range(3):
            y += 0.01 * (i + 1) * ks[i]
    return y


@PROGRAMS.on(floats(8), 5)
def joined(x, steps):
    xs = [x.copy()]
    vs = [np.zeros_like(x)]
    for _ in range(steps):
        v = vs[-1] - 0.1 * xs[-1]
        vs.append(v)
        xs += [xs[-1] + 0.1 * v]
    return np.array(xs), np.stack(vs), np.concatenate(vs), len(xs), np.mean(xs, axis=0)


@PROGRAMS.on(4)
def run_over(n):
    xs = [np.arange(i, i + 3) for i in range(n)]
    ys = [np.arange(i, i + 4) * 0.5 for i in range(n)]
    s = 0.0
    for i, a in enumerate(xs):
        s += i * a[1]
    for a, b in zip(xs, ys, strict=True):
        a[0] += 5
        b += 1
        s += a.sum() * b.sum()
    for b in reversed(ys):
        s = s * 0.5 + b[0]
    return s + sum(a.sum() for a in xs), [b[0] for b in ys]


@PROGRAMS.on(6)
def of_matrices(n):
    xs = [np.ones((i, 3)) for i in range(n)]
    s = 0
    for i in range(n):
        s += xs[i].shape[0] * xs[i].size
        if i > 1:
            xs[i][1, 2] = 5.0
            xs[i][0, :] = xs[i - 1][0]
            xs[i] *= 2.0
    return s, xs[3].T @ xs[3], xs[4][1:, 1].sum(), np.vstack(xs)


@PROGRAMS.on(6)
def exchanged(n):
    xs = [np.full(3, float(i)) for i in range(n)]
    a = xs[0]
    for i in range(n - 1):
        xs[i], xs[i + 1] = xs[i + 1], xs[i]
    a[0] = 99.0
    return xs[n - 1], xs[0][0]


@PROGRAMS.on(6)
def replaced(n):
    """The old array keeps its name."""
    xs = [np.zeros(3) for _ in range(n)]
    a = xs[0]
    xs[0] = np.ones(3)
    a[1] = 7.0
    for i in range(10):
        xs[i % n] = xs[(i + 1) % n] * 0.5 + i
    xs[2] = np.arange(5.0)
    return float(a[1]), xs


@PROGRAMS.on(10, 5)
def buffers(n, steps):
    both = [np.zeros(n), np.ones(n)]
    for t in range(steps):
        source, target = both[t % 2], both[(t + 1) % 2]
        for i in range(1, n - 1):
            target[i] = source[i - 1] + source[i + 1]
    return both[steps % 2]


@PROGRAMS.on(6)
def none_at_first(n):
    memo = [None] * (n + 1)
    memo[0] = np.ones(3)
    for i in range(1, n):
        if memo[i] is None:
            memo[i] = memo[i - 1] * 2.0
    return memo, memo[n] is None


@LEFT.on(6)  # TypeError
def none_read(n):
    memo = [None] * (n + 1)
    memo[0] = np.ones(3)
    return memo[1][0]


@PROGRAMS.on(6)  # IndexError
def no_such_list(n):
    xs = [np.zeros(3) for _ in range(n)]
    return xs[n][0]


@PROGRAMS.on(6)  # IndexError
def no_such_item(n):
    xs = [np.zeros(3) for _ in range(n)]
    return xs[2][n]


@LEFT.on(6)
def one_array_twice(n):
    """The list has one array, which is stored into, several times."""
    x = np.zeros(3)
    xs = []
    for i in range(n):
        x[0] = i
        xs.append(x)
    ys = []
    for y in xs:
        ys.append(y)
    ys[0][1] = 5.0
    return xs


@LEFT.on(floats(3, 4))
def rows_are_views(a):
    rows = [a[i] for i in range(len(a))]
    rows[1][0] = 100.0
    return a


@LEFT.on(5)
def made_again(n):
    xs = [np.ones(i + 1) for i in range(n)]
    a = xs[1]
    xs = [x * 2 for x in xs]
    return a, xs[1]


@LEFT.on(5)
def made_again_of_a_part(n):
    xs = [np.ones(i + 1) for i in range(n)]
    a = xs[1]
    a[0] = 5.0
    xs = [np.zeros(4), a.copy()]
    return xs


@LEFT.on([1.0, 2.0])
def of_lists(x):
    out = []
    out.append(x)
    return out


@PROGRAMS.on(floats(5), 6)
def states(x, steps):
    """Each array that the list gets is new, though it keeps its name."""

    def moved(y):
        return y + 0.1 * np.sin(y)

    y = x.copy()
    ys = [y]
    for _ in range(steps):
        y = moved(y)
        ys.append(y)
    return ys


@PROGRAMS.on(floats(5), 6)
def energies(x, steps):
    y = x * 1.0
    found = [y]
    for _ in range(steps):
        y = y * 0.5
        found.append(y)
    return sum(np.dot(f, f) for f in found), y


@LEFT.on(floats(5), 6)
def with_an_argument(x, steps):
    ys = [x]
    for _ in range(steps):
        ys.append(ys[-1] * 0.5)
    return ys


@LEFT.on(5)
def beside_its_array(n):
    xs = [np.zeros(3) for _ in range(n)]
    first = xs[0]
    return first, xs


@LEFT.on(5)
def twice(n):
    y = np.zeros(3)
    xs = []
    for _ in range(n):
        xs.append(y)
    for i in range(n):
        xs.append(xs[i])
    return xs


@LEFT.on(5)
def stored_through_the_last(n):
    """Behind the loop, the name stands for one of the list's arrays."""
    xs = [np.zeros(3) for _ in range(n)]
    a = xs[0]
    for a in xs:
        a[0] += 1.0
    a[1] = 3.25
    return xs


_WEIGHTS = [floats(4, 4), floats(3, 4, seed=1), floats(2, 3, seed=2)]
_BIASES = [floats(4), floats(3, seed=1), floats(2, seed=2)]


@PROGRAMS.on(_WEIGHTS, _BIASES, floats(4), targets=("cpu", "threads"))
def layers(ws, bs, x):
    acts = [x]
    for i in range(len(ws)):
        acts.append(np.tanh(ws[i] @ acts[-1] + bs[i]))
    d = acts[-1] - 1.0
    for i in range(len(ws) - 1, -1, -1):
        d = (ws[i].T @ d) * (1.0 - acts[i] ** 2)
    return d


@PROGRAMS.on([floats(4) for i in range(12)])
def all_indexed(xs):
    s = 0.0
    for i in range(len(xs)):
        for j in range(len(xs[i])):
            xs[i][j] += 1.0
            s += xs[i][j]
    return s


@PROGRAMS.on(
    [floats(4, 4, seed=k) for k in range(4)],
    [floats(4, 4, seed=k) for k in range(4, 8)],
    [floats(4, seed=k) for k in range(4)],
    floats(6, 4),
    targets=("cpu", "threads"),
)
def long_short_term_memory(ws, us, bs, xs):
    """A comprehension that indexes lists of arrays."""
    h = np.zeros(len(bs[0]))
    c = np.zeros_like(h)
    hs = []
    for t in range(len(xs)):
        x = xs[t]
        z = [ws[k] @ x + us[k] @ h + bs[k] for k in range(4)]
        f, i, o = 1 / (1 + np.exp(-z[0])), 1 / (1 + np.exp(-z[1])), 1 / (1 + np.exp(-z[2]))
        c = f * c + i * np.tanh(z[3])
        h = o * np.tanh(c)
        hs.append(h)
    return np.array(hs)


@PROGRAMS.on([floats(8, 4), floats(8, 8)], floats(6, 4), targets=("cpu", "threads"))
def recurrent_layers(ws, xs):
    hs = [np.zeros(8) for _ in range(len(ws))]
    for t in range(len(xs)):
        given = xs[t]
        for k in range(len(ws)):
            hs[k] = np.tanh(ws[k] @ given + 0.5 * hs[k])
            given = hs[k]
    return hs[-1]


@PROGRAMS.on(floats(12, 2), 3, 4)
def k_means(x, k, rounds):
    n, d = x.shape
    centres = [x[i].copy() for i in range(k)]
    labels = np.zeros(n, np.int64)
    for _ in range(rounds):
        for i in range(n):
            best = np.inf
            for c in range(k):
                distance = np.sum((x[i] - centres[c]) ** 2)
                if distance < best:
                    best = distance
                    labels[i] = c
        sums = [np.zeros(d) for _ in range(k)]
        counts = [0] * k
        for i in range(n):
            sums[labels[i]] += x[i]
            counts[labels[i]] += 1
        for c in range(k):
            if counts[c]:
                centres[c] = sums[c] / counts[c]
    return labels, np.array(centres)


PROGRAMS.runs += LEFT.runs


def _slopes(t, y):
    return np.array([y[1] - t, -y[0]])


@PROGRAMS.on(floats(2), 12)
@PROGRAMS.on(floats(2), 0)
def states_kept_beside_an_array_that_gets_slopes(y, n):
    kept = [y.copy()]
    slopes = np.zeros((2, 2))
    for k in range(n):
        slopes[1] = _slopes(0.1 * k, y)
        new = y + 0.1 * (slopes[0] + slopes[1])
        if new[0] < 3.0:
            y = new
            slopes[0] = slopes[1]
            kept.append(y)
    return np.array(kept), slopes


@PROGRAMS.on(floats(2, 3))
def rows_of_an_array_that_become_those_of_a_list(a):
    kept = [np.zeros(3), np.zeros(3)]
    other = np.zeros((2, 3))
    for k in range(2):
        kept[k] = a[k] + 1
        other[k] = kept[k]
        kept[k][0] = 7.0
        other[k, 1] = 8.0
    return np.array(kept), other


@LEFT.on(np.eye(2), 3)
@LEFT.on(np.eye(2), 0)
def states_of_which_there_may_be_none(step, n):
    """Of no arrays NumPy makes a vector, and means that are nan; ValueError was raised."""
    x = np.ones(2)
    out = []
    for _ in range(n):
        x = step @ x + 1.0
        out.append(x.copy())
    return np.array(out), np.sum(out), len(np.asarray(out).shape)


@LEFT.on(3)
@LEFT.on(0)
def points_of_which_there_may_be_none(n):
    """The vector had two axes."""
    points = []
    for i in range(n):
        points.append((i, 2 * i))
    pairs = [(i, 0.5) for i in range(n)]
    return np.array(points), np.array(pairs)
