"""Lists of numbers and of tuples that functions return to functions compiled with them; nothing is left to Python."""

from collections import namedtuple

import numpy as np

from tests.programs.registry import Programs

PROGRAMS = Programs(strict=True)


def _digits(n):
    out = []
    while n:
        out.append(n % 10)
        n //= 10
    return out


def _first_primes(n):
    if n < 2:
        return []
    out = [2]
    for k in range(3, n, 2):
        for p in out:
            if k % p == 0:
                break
        else:
            out.append(k)
    return out


def _itself(xs):
    return xs


@PROGRAMS.on(30)
@PROGRAMS.on(0)
def lists_of_helpers_are_read(n):
    total, longest = 0, 0
    for k in range(n):
        total += sum(_digits(k * k))
        longest = max(longest, len(_digits(k * k)))
        for d in _digits(k):
            total -= d % 2
    return total, longest, _first_primes(n), _digits(n + 12)[-1]


@PROGRAMS.on(30)
@PROGRAMS.on(1)
def lists_of_helpers_grow(n):
    primes = _first_primes(n)
    primes.append(n)
    digits = _digits(n)
    digits.sort()
    while len(primes) > 5:
        digits.append(primes.pop())
    return primes, digits


@PROGRAMS.on(31)
def a_list_of_a_helper_has_two_names(n):
    digits = _digits(n)
    same = _itself(digits)
    same[0] = 77

    def captured():
        return digits

    other = captured()
    other[1] += 5
    return digits[0], same[1], len(other)


@PROGRAMS.on([4, 5])
def a_list_of_the_caller_has_two_names(xs):
    same = _itself(xs)
    same[0] = 77
    return xs[0] + same[1]


def _behind_the_first(xs):
    return xs[1:]


def _increased(xs):
    return [x + 1 for x in xs]


@PROGRAMS.on(4)
def lists_that_helpers_make_of_lists_get_names(n):
    xs = [n, 1, 2]
    tail = _behind_the_first(xs)
    more = _increased(tail)
    more = _increased(more)
    tail[0] = 8
    more.append(n)
    return xs, tail, more


@PROGRAMS.on([0, -1, 2**63 - 1, -(2**63), 5])
def numbers_of_all_kinds_are_returned(xs):
    ints, floats, truths, rows = [], [], [], []
    for k in range(len(xs)):
        ints.append(xs[k])
        floats.append(-0.0 if k == 0 else xs[k] / 2)
        truths.append(xs[k] > 0)
        rows.append((xs[k], k * 0.5, k == 2))
    return ints, floats, truths, rows


@PROGRAMS.on(-1)
@PROGRAMS.on(0)
@PROGRAMS.on(9)
def a_list_or_none_first(n):
    halves = []
    if n < 0:
        return None
    while n:
        halves.append(n)
        n //= 2
    return halves


@PROGRAMS.on(-1)
@PROGRAMS.on(5)
@PROGRAMS.on(9)
@PROGRAMS.on(101)
def one_of_several_lists_or_none(n):
    if n < 0:
        return None
    if n > 100:
        return [1.5, 2.5]
    halves = []
    while n:
        halves.append(n / 2)
        n //= 2
    if len(halves) == 3:
        return None
    return halves


@PROGRAMS.on(3)  # noqa: RET503  (Python returns None there)
@PROGRAMS.on(6)
def a_list_or_the_end(n):
    squares = []
    for i in range(n):
        squares.append(i * i)
        if i > 4:
            return squares


@PROGRAMS.on(3)
@PROGRAMS.on(4)
@PROGRAMS.on(5)
def lists_beside_none(n):
    ints, pairs = [], []
    for i in range(n):
        ints.append(i)
        pairs.append((i, i * 0.5))
    if n == 3:
        return ints, None
    if n == 4:
        return None, pairs
    return ints, pairs


def _path(cost):
    steps, i, j = [], cost.shape[0] - 1, cost.shape[1] - 1
    while i > 0 and j > 0:
        steps.append((i, j))
        if cost[i - 1, j] < cost[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return steps[::-1]


def _path_and_cost(cost):
    return _path(cost), cost[-1, -1]


def _marked(path, n, m):
    marks = np.zeros((n, m))
    for i, j in path:
        marks[i, j] = 1.0
    return marks


@PROGRAMS.on(1, 5)
@PROGRAMS.on(5, 1)
@PROGRAMS.on(6, 7)
def tuples_of_helpers_are_returned(n, m):
    cost = np.sin(np.arange(n * m) * 1.7).reshape(n, m)
    return _path(cost), _path_and_cost(-cost)


@PROGRAMS.on(1, 5)
@PROGRAMS.on(6, 7)
def tuples_of_helpers_are_read(n, m):
    cost = np.sin(np.arange(n * m) * 1.7).reshape(n, m)
    path, total = _path_and_cost(cost)
    other = _path(-cost)
    for k, (i, j) in enumerate(path):
        total += k * cost[i, j]
    for (i, _), (_, j) in zip(path, other):
        total -= cost[i, j]
    if path:
        total += path[-1][0]
    return total, len(path), sorted(other), _marked(path, n, m), [j for _, j in other]


def _indexed(xs):
    return [(k, xs[k]) for k in range(xs.shape[0])]


@PROGRAMS.on(0)
@PROGRAMS.on(4)
def tuples_of_helpers_keep_types(n):
    return _indexed(np.arange(n) * 0.5)


@PROGRAMS.on(3, 4, targets=("cpu", "threads"))
def paths_of_iterations(n, m):
    cost = np.sin(np.arange(5 * n * m) * 1.7).reshape(5, n, m)
    sums = np.zeros(5)
    # pragma parallel for
    for k in range(5):
        for i, j in _path(cost[k]):
            sums[k] += cost[k, i, j]
    return sums


@PROGRAMS.on(30, targets=("cpu", "threads"))
def digits_of_iterations(n):
    sums = np.zeros(n)
    # pragma parallel for
    for k in range(n):
        for d in _digits(k * k):
            sums[k] += d
    return sums


Step = namedtuple("Step", "index value")


def _steps(xs):
    return [Step(k, xs[k]) for k in range(xs.shape[0])]


@PROGRAMS.on(4)
def named_tuples_of_helpers(n):
    steps = _steps(np.arange(n) * 0.5)
    total = 0.0
    for step in steps:
        total += step.index * step.value
    return total, steps[1].value, steps
