"""Sorting of lists and of windows, in compiled loops; nothing is left to Python."""

from functools import partial
from operator import itemgetter

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)
_on = partial(PROGRAMS.on, targets=("cpu", "interpret"))


@_on(ints(7, 8, lo=0, hi=255, dtype=np.uint8), 3)
@_on(floats(6, 6), 3)
@_on(floats(8, 7, dtype=np.float32), 5)
def median_of_lists(img, size):
    h, w = img.shape
    r = size // 2
    out = img.copy()
    for i in range(r, h - r):
        for j in range(r, w - r):
            window = []
            for di in range(-r, r + 1):
                for dj in range(-r, r + 1):
                    window.append(img[i + di, j + dj])
            window.sort()
            out[i, j] = window[len(window) // 2]
    return out


_HOLES = np.where(floats(6, 7) > 1.5, np.nan, floats(6, 7, seed=1))


@PROGRAMS.on(ints(7, 8, lo=0, hi=255, dtype=np.uint8))
@PROGRAMS.on(floats(6, 6))
@PROGRAMS.on(floats(6, 5, dtype=np.float32))
@PROGRAMS.on(_HOLES)
def medians_of_windows(img):
    h, w = img.shape
    out = np.zeros(img.shape)
    #pragma parallel for
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            out[i, j] = np.median(img[i - 1 : i + 2, j - 1 : j + 2]) + np.sort(img[i - 1 : i + 2, j])[0]
    return out


@_on(floats(4, 6))
@_on(_HOLES)
def medians_of_beginnings(a):
    """Of even and odd lengths, and of nothing."""
    out = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = np.median(a[i, :j])
    return out


@_on(ints(30))
@_on(floats(20))
@_on(floats(300))
@_on(np.array([3.0, np.inf, 1.0, -np.inf, 1.0]))
@_on(ints(1))
def sorted_lists(x):
    s = sorted(x)
    t = [v * 2 for v in x]
    t.sort()
    n = len(s)
    few = sorted(x[:4])
    middle = s[n // 2] if n % 2 else (s[n // 2 - 1] + s[n // 2]) // 2
    return s, t, few, middle


@_on(ints(30))
def sorted_items_that_are_written_out(x):
    total = 0
    for i in range(5):
        three = sorted([x[i + a] for a in (0, 1, 2)])
        four = sorted(x[i + a] for a in range(4))
        nine = sorted([x[i + a + b] for a in (0, 3, 6) for b in (0, 1, 2)])
        total += three[1] * four[2] + nine[4]
    return total


@PROGRAMS.on(floats(20), ints(9, 30, lo=0, hi=20))
def medians_of_samples(x, places):
    out = np.zeros(places.shape[0])
    #pragma parallel for
    for b in range(places.shape[0]):
        out[b] = np.median(x[places[b]])
    return out


@PROGRAMS.on(ints(5, 7, lo=0, hi=4))
@PROGRAMS.on(ints(5, 30, lo=0, hi=9, dtype=np.uint8))
@PROGRAMS.on(floats(4, 1))
@PROGRAMS.on(_HOLES)
def orders_of_rows(a):
    """Indices that sort, quantiles and distinct elements, where elements are equal and where there are NaN."""
    ranks = np.zeros(a.shape, np.int64)
    middle = np.zeros((a.shape[0], 3))
    #pragma parallel for
    for i in range(a.shape[0]):
        ranks[i] = np.argsort(a[i], kind="stable")
        middle[i, 0] = np.quantile(a[i], 0.3)
        middle[i, 1] = np.percentile(a[i], 80)
        middle[i, 2] = np.unique(a[i]).shape[0]
    return ranks, middle


@_on(ints(30, lo=0, hi=5), ints(30, lo=0, hi=9, seed=1))
@_on(ints(30, lo=0, hi=5), floats(30))
@_on(ints(2), ints(2))
def sorted_by_keys(x, y):
    """Lists of numbers and tuples, in the order of a key, of equal keys in their own order."""
    order = sorted(range(len(x)), key=lambda i: x[i])
    pairs = [(y[i], x[i]) for i in range(len(x))]
    backwards = sorted(pairs, key=itemgetter(1), reverse=True)
    pairs.sort()
    by_second = [b for _, b in sorted(pairs, key=lambda pair: (pair[1], -pair[0]))]
    order.sort(key=lambda i: -y[i])
    total = 0
    for k, v in enumerate(sorted(x, reverse=True)):
        total += k * v
    return order, backwards, pairs, by_second, total


@_on(ints(30, lo=0, hi=5))
@_on(ints(1))
def sorted_dicts_and_sets(x):
    """Containers that have a name, and those that are made in an argument."""
    votes = {}
    for v in x:
        votes[v] = votes.get(v, 0) + 1
    most, last = max(votes, key=votes.get), min(votes.items(), key=lambda item: (item[1], -item[0]))
    ranked = [k for k, _ in sorted(votes.items(), key=lambda item: item[1])]
    at, value = max(enumerate(x), key=lambda pair: pair[1])
    seen = set(x)
    seen.add(x[0] + 40)
    return most, last, ranked, at, value, sorted(set(zip(x, x[::-1]))), len(set(x)), sum(seen), max(seen)


@PROGRAMS.on([3, 1, 2], targets=("cpu",))
@PROGRAMS.on([], targets=("cpu",))
def extreme_of_a_dict(x):
    votes = {}
    for v in x:
        votes[v] = v % 3
    return max(votes, key=votes.get)


@_on(ints(5, 6, lo=0, hi=255, dtype=np.uint8), 1)
@_on(floats(5, 6), 0)
@_on(floats(5, 12)[:, ::2], -1)
@_on(floats(5, 6), 4)  # of fewer elements at the corner: raises
def items_of_sorted_windows(img, k):
    out = np.empty_like(img)
    s = 0.0
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            window = img[max(0, i - 1) : i + 2, max(0, j - 1) : j + 2].ravel()
            out[i, j] = sorted(window)[k]
            s += sorted(img[i])[len(img) // 2]
    return out, s


@PROGRAMS.on(floats(9), 8)
@PROGRAMS.on(floats(9), 0, joined=True)
def pairs_in_order(x, n):
    total = 0.0
    for k in range(n):
        low, high = sorted((k * 5 % 7, n % (k + 1)))
        a, b, c = sorted([x[low], x[high], 0.5])
        total += a * 1.5 - b + c * low
    return total


@PROGRAMS.on(ints(3))
@PROGRAMS.on(ints(4))  # ValueError
def three_items(a):
    x, y, z = sorted(a)
    return x + 2 * y + 3 * z


@PROGRAMS.on(2)
def written_items_of_several_types(n):
    pairs = sorted(((n, 2), (1, 0.5)))
    least = sorted([n, 0.5, 3])[0]
    items = list((n, n + 1))  # noqa: C410
    items.append(3)
    return pairs[0][1] + pairs[1][0], least, sorted((n, 1.5, 3)), items


@PROGRAMS.on(floats(5, 7))
@PROGRAMS.on(floats(7, 5).T)
@PROGRAMS.on(ints(4, 6, dtype=np.int32))
@PROGRAMS.on(_HOLES)
def rows_in_place(a):
    a = a.copy()
    order = np.zeros(a.shape, np.int64)
    #pragma parallel for
    for i in range(len(a)):
        order[i] = a[i].argsort(kind="mergesort")
        a[i, 1:].sort()
    return a, order


def _both(a, b):
    together = np.concatenate((a, b))
    together.sort()
    return together[1:][together[1:] == together[:-1]]


def _each_once(a):
    ordered = np.sort(a)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


@_on(ints(20), ints(9, seed=1))
@_on(ints(500, lo=0, hi=90), ints(20, seed=1))
@_on(ints(0), ints(3))
def sorted_by_functions(a, b):
    both, once = _both(_each_once(a), _each_once(b)), _each_once(a)
    return both, len(both) / max(1, len(once)), once.sum()
