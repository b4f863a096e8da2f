"""Methods of random generators that choose from a sequence, or permute it.

Named as in `distributions.py`; the sizes of results are these texts' own. A list of Python's is a tuple here, so that
its length must be a constant.
"""

# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np

from appyc.library.distributions import bounded, interval, next_float, standard_uniform
from appyc.library.primitives import refuse
from appyc.library.python_random import index_below
from appyc.library.searching import insertion_points

# ---------------------------------------------------------------- sizes and weights


def _count(size):
    """The number of elements of an array of this shape."""
    if isinstance(size, tuple):
        count = 1
        for length in size:
            count *= length
        return count
    return size


def _shaped(flat, size):
    return flat.reshape(size) if isinstance(size, tuple) else flat


def _cumulative(p):
    """The sums of the first 1, 2, ... probabilities, divided by the last. They are added in order, as NumPy does: a
    loop that may be left is no scan, which would add in another."""
    out = np.empty(len(p))
    total = 0.0
    for i in range(len(p)):
        total += p[i]
        if total < 0.0:
            break
        out[i] = total
    return out / total


def _bin_of(cumulative, x):
    return insertion_points(cumulative, x, "right", True)


def _tolerance(p):
    """The greatest difference from 1 that a sum of probabilities may have."""
    return (
        math.sqrt(1.1920928955078125e-07) if p.dtype.name == "float32" else math.sqrt(2.220446049250313e-16)
    )


def _sum(p):
    """Kahan's sum."""
    total = p[0]
    error = 0.0
    for i in range(1, len(p)):
        part = p[i] - error
        longer = total + part
        error = (longer - total) - part
        total = longer
    return total


def _weights(p, population, not_flat, of_other_size, with_nan, negative, not_one):
    """The probabilities as float64. The other arguments are the texts of the errors that they may be."""
    if p.ndim != 1:
        raise ValueError(not_flat)
    if len(p) != population:
        raise ValueError(of_other_size)
    weights = p.astype(np.float64)
    total = _sum(weights) if len(weights) > 0 else 0.0
    if math.isnan(total):
        raise ValueError(with_nan)
    if np.any(weights < 0.0):
        raise ValueError(negative)
    if abs(total - 1.0) > _tolerance(p):
        raise ValueError(not_one)
    return weights


# ---------------------------------------------------------------- choices


def _population(a):
    return len(a) if isinstance(a, np.ndarray) else a


def _element(a, index):
    return a[index] if isinstance(a, np.ndarray) else int(index)


def _elements(a, indices, size):
    return _shaped(a[indices] if isinstance(a, np.ndarray) else indices, size)


def _weighted(rng, a, weights, size, replace):
    """Elements that are drawn with these probabilities."""
    cumulative = _cumulative(weights)
    if size is None:
        return _element(a, _bin_of(cumulative, standard_uniform(rng)))
    count = _count(size)
    indices = np.empty(count, np.int64)
    if replace:
        for i in range(count):
            indices[i] = _bin_of(cumulative, standard_uniform(rng))
    else:
        if np.count_nonzero(weights > 0.0) < count:
            raise ValueError("Fewer non-zero entries in p than size")
        _weighted_sample(rng, weights, indices)
    return _elements(a, indices, size)


def _even(rng, a, size, below):
    """Elements that are drawn with equal probabilities. below: what draws a number up to another."""
    if size is None:
        return _element(a, np.int64(below(rng, _population(a) - 1)))
    count = _count(size)
    indices = np.empty(count, np.int64)
    for i in range(count):
        indices[i] = np.int64(below(rng, _population(a) - 1))
    return _elements(a, indices, size)


def numpy_choice(rng, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    population = _population(a)
    if population <= 0 and (size is None or _count(size) != 0):
        if isinstance(a, np.ndarray):
            raise ValueError("a cannot be empty unless no samples are taken")
        raise ValueError("a must be a positive integer unless no samples are taken")
    if p is not None:
        weights = _weights(
            p,
            population,
            "p must be 1-dimensional",
            "a and p must have same size",
            "Probabilities contain NaN",
            "Probabilities are not non-negative",
            "Probabilities do not sum to 1. See Notes section of docstring for more information.",
        )
    if size is not None and not replace and _count(size) > population:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    if p is not None:
        return _weighted(rng, a, weights, size, replace)
    if replace or size is None:
        return _even(rng, a, size, bounded)
    return _elements(a, _sample(rng, population, _count(size), shuffle), size)


def legacy_choice(rng, a, size=None, replace=True, p=None):
    population = _population(a)
    if population <= 0 and (size is None or _count(size) != 0):
        if isinstance(a, np.ndarray):
            raise ValueError("'a' cannot be empty unless no samples are taken")
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if p is not None:
        weights = _weights(
            p,
            population,
            "'p' must be 1-dimensional",
            "'a' and 'p' must have same size",
            "probabilities contain NaN",
            "probabilities are not non-negative",
            "probabilities do not sum to 1",
        )
    if size is not None and not replace and _count(size) > population:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    if p is not None:
        return _weighted(rng, a, weights, size, replace)
    if replace:
        return _even(rng, a, size, interval)
    order = _shuffled(rng, np.arange(population))
    if size is None:
        return _element(a, order[0])
    return _elements(a, order[: _count(size)], size)


def _shuffled_from(rng, indices, first):
    """Shuffles the elements from the last down to the one at `first`."""
    for i in range(len(indices) - 1, first - 1, -1):
        j = np.int64(bounded(rng, i))
        kept = indices[j]
        indices[j] = indices[i]
        indices[i] = kept


def _sample(rng, population, count, shuffle):
    """Different numbers below the population: a tail shuffle, or Floyd's algorithm with a table of hashes."""
    if population > 10000 and count > population // (50 if shuffle else 20):
        order = np.arange(population)
        _shuffled_from(rng, order, max(population - count, 1))
        return order[population - count :].copy()
    indices = np.empty(count, np.int64)
    room = 1
    while room <= int(1.2 * count):
        room *= 2
    table = np.full(room, -1)
    for j in range(population - count, population):
        drawn = np.int64(bounded(rng, j))
        at = drawn & (room - 1)
        while table[at] != -1 and table[at] != drawn:
            at = (at + 1) & (room - 1)
        if table[at] != -1:
            drawn = np.int64(j)
            at = drawn & (room - 1)
            while table[at] != -1:
                at = (at + 1) & (room - 1)
        table[at] = drawn
        indices[j - population + count] = drawn
    if shuffle:
        _shuffled_from(rng, indices, 1)
    return indices


def _weighted_sample(rng, weights, indices):
    """Fills an array by different numbers: what is drawn twice is drawn again, without those that are there."""
    left = weights.copy()
    taken = np.zeros(len(weights), np.bool_)
    found = 0
    while found < len(indices):
        cumulative = _cumulative(left)
        missing = len(indices) - found
        for _ in range(missing):
            at = _bin_of(cumulative, standard_uniform(rng))
            if not taken[at]:
                taken[at] = True
                left[at] = 0.0
                indices[found] = at
                found += 1


# ---------------------------------------------------------------- orders


def numpy_shuffle(rng, x):
    for i in range(len(x) - 1, 0, -1):
        j = np.int64(interval(rng, i))
        kept = x[i].copy() if x.ndim > 1 else x[i]
        x[i] = x[j]
        x[j] = kept


def _shuffled(rng, x):
    numpy_shuffle(rng, x)
    return x


def numpy_permutation(rng, x):
    if not isinstance(x, np.ndarray):
        return _shuffled(rng, np.arange(x))
    if x.ndim == 1:
        return _shuffled(rng, x.copy())
    return x[_shuffled(rng, np.arange(len(x)))]


def numpy_permuted(rng, x, axis=None):
    if x.ndim == 1:
        return _shuffled(rng, x.copy())
    if x.ndim != 2 or axis is None:
        refuse("permuted of this is not compiled")
    table = x.copy()
    if axis in (0, -2):
        for k in range(table.shape[1]):
            numpy_shuffle(rng, table[:, k])
    else:
        for k in range(len(table)):
            numpy_shuffle(rng, table[k, :])
    return table


legacy_shuffle, legacy_permutation = numpy_shuffle, numpy_permutation


# ---------------------------------------------------------------- Python's


def python_choice(rng, seq):
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[index_below(rng, len(seq))]


def python_shuffle(rng, x):
    for i in range(len(x) - 1, 0, -1):
        j = index_below(rng, i + 1)
        kept = x[i]
        x[i] = x[j]
        x[j] = kept


def python_sample(rng, population, k, counts=None):
    n = len(population)
    if counts is not None:
        refuse("random.sample with counts is not compiled")
    if not 0 <= k <= n:
        raise ValueError("Sample larger than population or is negative")
    indices = np.empty(k, np.int64)
    room = 21
    if k > 5:
        room += 4 ** math.ceil(math.log(k * 3) / math.log(4))
    if n <= room:
        pool = np.arange(n)
        for i in range(k):
            j = index_below(rng, n - i)
            indices[i] = pool[j]
            pool[j] = pool[n - i - 1]
    else:
        for i in range(k):
            drawn = index_below(rng, n)
            while np.any(indices[:i] == drawn):
                drawn = index_below(rng, n)
            indices[i] = drawn
    return np.array([population[indices[i]] for i in range(k)])


def python_choices(rng, population, weights=None, cum_weights=None, k=1):
    n = len(population)
    if cum_weights is not None:
        refuse("random.choices with cum_weights is not compiled")
    indices = np.empty(k, np.int64)
    if weights is None:
        for i in range(k):
            indices[i] = int(next_float(rng) * (n + 0.0))
    else:
        if len(weights) != n:
            raise ValueError("The number of weights does not match the population")
        sums = np.empty(n)
        total = 0.0
        for i in range(n):
            total += weights[i]
            sums[i] = total
        if total <= 0.0:
            raise ValueError("Total of weights must be greater than zero")
        if not math.isfinite(total):
            raise ValueError("Total of weights must be finite")
        for i in range(k):
            indices[i] = min(_bin_of(sums, next_float(rng) * total), n - 1)
    return np.array([population[indices[i]] for i in range(k)])
