"""NumPy's functions of windows, rows and small matrices inside loops, beside plain Python and Numba, in one process.

    python -m benchmarks.library_in_loops [--json FILE] [--only NAME]

Times are of the process, each the least of several rounds in turn, as in `benchmarks.fallbacks`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.fallbacks import Program, compare

R = np.random.default_rng(0)


def rolling_median(x, w):
    out = np.zeros(len(x) - w + 1)
    for i in range(len(out)):
        out[i] = np.median(x[i : i + w])
    return out


def rolling_spread(x, w):
    out = np.zeros(len(x) - w + 1)
    for i in range(len(out)):
        window = x[i : i + w]
        out[i] = np.percentile(window, 75) - np.percentile(window, 25)
    return out


def trimmed_means(x, w):
    out = np.zeros(len(x) - w + 1)
    for i in range(len(out)):
        out[i] = np.mean(np.sort(x[i : i + w])[2:-2])
    return out


def nearest(points, k):
    out = np.zeros(len(points))
    for i in range(len(points)):
        distances = np.sqrt(np.sum((points - points[i]) ** 2, axis=1))
        out[i] = distances[np.argsort(distances)[k]]
    return out


def rank_correlations(a):
    ranks = np.zeros(a.shape)
    for i in range(len(a)):
        order = np.argsort(a[i])
        for k in range(a.shape[1]):
            ranks[i, order[k]] = k
    out = np.zeros((len(a), len(a)))
    for i in range(len(a)):
        for j in range(len(a)):
            out[i, j] = np.mean(ranks[i] * ranks[j])
    return out


def empirical_distances(a, b):
    out = np.zeros(len(a))
    for i in range(len(a)):
        out[i] = np.mean(np.abs(np.sort(a[i]) - np.sort(b[i])))
    return out


def slopes(y):
    out = np.zeros(len(y))
    for i in range(len(y)):
        out[i] = np.polyfit(np.arange(y.shape[1]), y[i], 1)[0]
    return out


def planes(a, b):
    out = np.zeros((len(a), 3))
    for i in range(len(a)):
        out[i] = np.linalg.lstsq(a[i], b[i], rcond=-1.0)[0]
    return out


def triangles(a):
    out = np.zeros(a.shape[::2])
    for i in range(len(a)):
        _q, r = np.linalg.qr(a[i])
        out[i] = np.diag(r)
    return out


def ranks(a):
    out = np.zeros(len(a), np.int64)
    for i in range(len(a)):
        out[i] = np.linalg.matrix_rank(a[i])
    return out


def pseudo_inverses(a):
    out = np.zeros((len(a), a.shape[2], a.shape[1]))
    for i in range(len(a)):
        out[i] = np.linalg.pinv(a[i])
    return out


def least_eigenvalues(a):
    out = np.zeros(len(a))
    for i in range(len(a)):
        out[i] = np.linalg.eigvalsh(a[i])[0]
    return out


_TALL, _ROOTS = R.random((300, 6, 3)), R.random((300, 4, 4))

PROGRAMS = (
    Program(rolling_median, lambda: (R.random(2000), 21)),
    Program(rolling_spread, lambda: (R.random(1000), 21)),
    Program(trimmed_means, lambda: (R.random(2000), 21)),
    Program(nearest, lambda: (R.random((60, 3)), 5)),
    Program(rank_correlations, lambda: (R.random((20, 3000)),)),
    Program(empirical_distances, lambda: (R.random((50, 2000)), R.random((50, 2000)))),
    Program(slopes, lambda: (R.random((200, 12)),)),
    Program(planes, lambda: (_TALL, R.random((300, 6)))),
    Program(triangles, lambda: (_TALL,)),
    Program(ranks, lambda: (_TALL,)),
    Program(pseudo_inverses, lambda: (_TALL,)),
    Program(least_eigenvalues, lambda: (_ROOTS + _ROOTS.transpose(0, 2, 1),)),
)


def main(argv: Sequence[str] | None = None) -> None:
    compare(PROGRAMS, argv, __doc__)


if __name__ == "__main__":
    main()
