"""Loops over generators, and over iterators of itertools."""

import itertools

import numpy as np

from tests.programs.registry import Programs, floats

PROGRAMS = Programs(strict=True)

_A = floats(150)
_N = np.arange(150) * 7 % 50


def pairs(n):
    """All i, j with j < i < n."""
    for i in range(n):
        for j in range(i):
            yield i, j


def steps(n, by=3):
    i = 0
    while i < n:
        yield 2 * i
        i += by


def nested(n):
    for i in range(n):
        yield from range(i)
        yield -i


def ends(n):
    yield 0
    yield from steps(n, by=5)
    yield n


@PROGRAMS.on(_A, 30)
@PROGRAMS.on(_A, 0, joined=True)
def sum_over_pairs(a, n):
    s = 0.0
    for i, j in pairs(n):
        s += a[i] * a[j]
    return s


@PROGRAMS.on(_A, 30)
def pairs_of_pairs(a, n):
    s = 0.0
    for i, j in pairs(6):
        for k, j2 in pairs(n % 7):
            s += a[i] * a[j] - a[k] * a[j2]
    return s


@PROGRAMS.on(_N, 100)
@PROGRAMS.on(_N, 3)
def left_early(a, n):
    s = 0
    for i, j in pairs(n):
        if j == 2:
            continue
        if a[i] + a[j] > 80:
            break
        s += i * j
    else:
        s = -s - 1
    return s


@PROGRAMS.on(_N)
def while_loops(a):
    s = 0
    for v in steps(60):
        if v % 4 == 0:
            continue
        s += a[v]
        if s > 200:
            break
    for v in steps(len(a), by=50):
        s = s * 2 + v
    return s


@PROGRAMS.on(_N, 9)
@PROGRAMS.on(_N, 0)
def delegating(a, n):
    s = 0
    for v in nested(n):
        if v == 5:
            break
        s = s * 3 % 1009 + v
    for v in ends(n):
        if v == 3:
            continue
        if v > 40:
            break
        s = s * 3 % 1009 + v
    return s


@PROGRAMS.on(_N)
def of_its_own(a):
    scale = 3

    def scaled(n):
        for i in range(n):
            yield scale * a[i]

    s = 0
    for v in scaled(20):
        s += v
        scale = 4
    return s


@PROGRAMS.on(_A)
@PROGRAMS.on(_A[:1])
@PROGRAMS.on(_A[:0], joined=True)
def neighbours_and_sums(a):
    s = 0.0
    for x, y in itertools.pairwise(a):
        s += abs(x - y)
    for total in itertools.accumulate(a):
        s = max(s, total)
    return s


@PROGRAMS.on(_N)
def choices(a):
    s = 0
    for i, j in itertools.combinations(range(12), 2):
        s += a[i] * a[j]
    for x, y, z in itertools.combinations(a[:7], 3):
        s = s * 31 % 10007 + x - y * z
    for t in itertools.combinations_with_replacement(range(5), 2):
        s = s * 31 % 10007 + t[0] - t[1]
    for x, y in itertools.permutations((2, 3, 5), r=2):
        s = s * 31 % 10007 + x - y
    return s


@PROGRAMS.on(_N)
def without_an_end(a):
    for i in itertools.count(3):
        if i * i > 500:
            return i
    return 0


@PROGRAMS.on(_N)
def one_behind_another(a):
    s = 0
    for x in itertools.chain(range(10), a):
        if x > 47:
            break
        s = s * 31 % 10007 + x
    return s


@PROGRAMS.on(np.zeros((40, 40)), _A)
def distances(out, a):
    # pragma parallel for
    for i, j in itertools.combinations(range(40), 2):
        out[i, j] = abs(a[i] - a[j])


def triples(items):
    n = 1
    for item in items:
        for other in items:
            yield n * item - other
            n += 1


@PROGRAMS.on(_N, 7)
def named_alike(a, n):
    s = 0
    for item in triples(range(n)):
        s = s * 31 % 10007 + item
    for m in steps(n):
        n = m
        s += n
    return s, n



@PROGRAMS.on(np.zeros(40), 5)
def pragmas_inside(out, n):
    for k in steps(n):
        # pragma parallel for
        for i in range(40):
            out[i] += k * i


@PROGRAMS.on(_N, 4)
def what_a_loop_changes(a, n):
    s = 1
    for x in itertools.chain(range(n), range(s)):
        s += x
        n += 1
    return s, n


def third_squares(n):
    for i in range(n):
        if i % 3 == 1:
            yield i * i - 0.5


@PROGRAMS.on(20)
@PROGRAMS.on(5)
def all_at_once(n):
    total = sum(third_squares(n), 1.0) / n
    total -= 2 * max(third_squares(n)) - min(third_squares(n - 2))
    items = list(third_squares(n))
    items.append(total)
    return items, sorted(steps(n))


@PROGRAMS.on(0)
def the_largest_of_none(n):
    return max(third_squares(n))


@PROGRAMS.on(floats(12), 3, 9)
@PROGRAMS.on(floats(12), 3, 30)
@PROGRAMS.on(floats(2), 3, 9)
@PROGRAMS.on(floats(12), -1, 9)
@PROGRAMS.on(floats(0), 0, 0, joined=True)
def parts_of_sequences(a, low, high):
    total = 0.0
    squares = [i * i for i in range(high)]
    for x in itertools.islice(a, low):
        total += x
    for x in itertools.islice(a, low, high):
        total = 0.5 * total + x
    for k, x in enumerate(itertools.islice(a, 1, None, 2)):
        total += k * x
    for i in itertools.islice(range(100), high):
        total += i
    for square in itertools.islice(squares, low, None):
        if square > 50:
            break
        total += square
    return total


def _odd_squares(n):
    for i in range(n):
        if i % 2:
            yield i * i


@PROGRAMS.on(9)
@PROGRAMS.on(0)
def numbered_squares(n):
    total = 0
    k = -1
    for k, square in enumerate(_odd_squares(n)):
        if square == 25:
            continue
        total += k * square
        k = 7
    for i, (a, b) in enumerate(itertools.pairwise(range(n))):
        if i > 4:
            break
        total = total * 3 + a * b
    return total, k


@PROGRAMS.on(_N)
@PROGRAMS.on(_N[:1])
def iterators_taken_whole(a):
    counts = [0] * 50
    for k in a:
        counts[k] += 1
    below = list(itertools.accumulate(counts))
    most = max(itertools.accumulate(counts))
    return below, most, list(itertools.pairwise(a))


@PROGRAMS.on(_N)
@PROGRAMS.on(_N[:0], joined=True)
def comprehensions_over_generators(a):
    i, x = 3, 2
    total = sum(x * y for x, y in itertools.pairwise(a)) + sum(i for i, j in pairs(5) if j > 1)
    most = [i * k - j for i, j in pairs(x + i) if i > 2 for k in range(2)]
    return total, most, max(j - i for i, j in pairs(4)), sorted(k for k in steps(i * 5)), i, x


@PROGRAMS.on(_N)
def appends_while_it_runs_over_an_iterator(a):
    rises = []
    for x, y in itertools.pairwise(a):
        if x < y:
            rises.append(y - x)
    return rises


@PROGRAMS.on(9)
@PROGRAMS.on(0)
def taken_whole_in_conditions(n):
    s = 0
    for k in range(n):
        if sum(i + j for i, j in pairs(k)) > 20:
            s += 1
        elif max(i - j for i, j in pairs(k + 2)) == 1:
            s += sorted([k, 2, 5], key=abs)[1]
    return s + -sum(i for i, _ in pairs(3)) + (sum(j for _, j in pairs(n)) - 1)


@PROGRAMS.on(9)
@PROGRAMS.on(0)
def taken_whole_with_keywords(n):
    first, last = min(third_squares(n), default=-1.0), max(steps(n), default=7)
    least = max(steps(n + 1), key=lambda step: -step)
    return first, last, least, sorted(third_squares(n), reverse=True), len(set(ends(n)))


@PROGRAMS.on(9)
@PROGRAMS.on(1)
def any_and_all_of_generators(n):
    is_early = any(100 // (k - 40) < -2 for k in steps(n + 50))  # the item that decides is before the one that raises
    return is_early, any(steps(n)), all(ends(n)), all(k < 30 for k in steps(n, 2)), any(third_squares(n))


@PROGRAMS.on(9)
def lists_of_generators_in_expressions(n):
    table = np.array(list(steps(n)))
    last = list(third_squares(n))[-1]
    total = np.sum([k + 1 for k in steps(n)])
    return table, last, total, np.array(sorted(ends(n)))


@PROGRAMS.on(9)
def a_parameter_that_gets_what_a_generator_sums_to(n, m=9):
    m = max(steps(m))
    n = sum(steps(n))
    return n, m


@PROGRAMS.on(3, 19, -2)
@PROGRAMS.on(19, 3, -2)
@PROGRAMS.on(-4, 11, 3)
def choices_from_other_ranges(low, high, step):
    total = 0
    for i, j in itertools.pairwise(range(high, low, -2)):
        total = total * 3 % 1009 + i * j
    for i, j in itertools.combinations(range(low, high, step), 2):
        total = total * 3 % 1009 + i - 2 * j
    return total
