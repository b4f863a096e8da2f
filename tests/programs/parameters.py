"""Parameters of all kinds, and questions about their types."""

import itertools
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)


class Line(NamedTuple):
    slope: Any
    start: Any = 2.0


Point = namedtuple("Point", "x y")
HERE = Point(1.5, 2)


@PROGRAMS.on(floats(5), floats(7))
@PROGRAMS.on(floats(5))
@PROGRAMS.on(joined=True)
def any_number_of_arrays(*arrays):
    total = 0.0
    for x in arrays:
        for v in x:
            total += v
    return total, len(arrays)


@PROGRAMS.on(2, floats(5), ints(5))
@PROGRAMS.on(2.5, floats(5))
def first_of_several(k, *arrays, scale=2.0):
    out = np.zeros_like(arrays[0])
    for x in arrays:
        out += x * k
    return out * scale, arrays[-1].sum()




@PROGRAMS.on(floats(5), 3)
def handed_on(x, n, *rest):
    return _sum_of(x, *rest, x, n), len(rest)


def _sum_of(first, *others):
    out = first * 1
    for other in others:
        out = out + other
    return out


@PROGRAMS.on(floats(5))
@PROGRAMS.on(2.0)
@PROGRAMS.on(3)
@PROGRAMS.on(np.float32(3))
@PROGRAMS.on((1, 2.0))
@PROGRAMS.on("text")
@PROGRAMS.on(None)
def what_kind(x):
    if isinstance(x, np.ndarray):
        return x.sum()
    if isinstance(x, bool):
        return 7
    if isinstance(x, (int, float)):
        return x + 1
    if isinstance(x, np.floating):
        return x * 2
    if isinstance(x, tuple):
        return x[0]
    return -1 if isinstance(x, str) else -2


@PROGRAMS.on(floats(3, 4))
@PROGRAMS.on(floats(0, 4), joined=True)
def pairs_of_places(a):
    total = 0.0
    for i, j in itertools.product(range(a.shape[0]), range(1, a.shape[1])):
        if j == 2:
            continue
        total += a[i, j] * (i + 10 * j)
    for place in itertools.product(range(2), range(3), range(2)):
        total += place[0] * 100 + place[1] * 10 + place[2]
    return total


@PROGRAMS.on(floats(3), floats(4), 3, 1)
def pairs_of_elements(a, b, lo, hi):
    total = 0.0
    for x, y in itertools.product(a, b):
        total += x * y
    for i, x in itertools.product(range(lo, hi), a):
        total += i * x
    return total


@PROGRAMS.on(floats(5), Line(2.0))
@PROGRAMS.on(floats(5), Line(3, start=floats(5)))
def named_parameter(x, line):
    slope, start = line
    return x * line.slope + line.start, line[0], len(line), slope * 2 + start


@PROGRAMS.on(floats(5), 3)
@PROGRAMS.on(floats(5), 0)
def made_in_a_loop(x, n):
    at = Point(x[0], y=1.0)
    for i in range(n):
        at = Point(at.x + x[i], at.y * 2)
    return at.x, at.y, x[0] * HERE.x + HERE.y


def _moved(point, by=1):
    return Point(point.x + by, point.y)


@PROGRAMS.on((Point(1, 2.0), 3))
@PROGRAMS.on((Point(floats(3), 2.0), 3))
def inside_a_tuple_and_a_call(pair):
    point, by = pair
    there = _moved(_moved(point), by)
    return there.x, there.y + pair[0].y


@PROGRAMS.on("text")
@PROGRAMS.on(b"bytes")
@PROGRAMS.on([1, 2])
@PROGRAMS.on([[1.0, 2.0]])
@PROGRAMS.on(np.arange(3))
def what_sequence(x):
    total = 0
    for k in range(len(x)):
        total += k
    return total, isinstance(x, str), isinstance(x, bytes), isinstance(x, list), isinstance(x, np.ndarray)


@PROGRAMS.on(Line(0.5), floats(5))
@PROGRAMS.on(Line(1.5, 2.5), floats(1))
def replaced_fields(line, a):
    for v in a:
        line = line._replace(start=line.start + v, slope=line.slope * 0.5)
    return line.slope, line.start


@PROGRAMS.on(floats(4))
@PROGRAMS.on(ints(4))
@PROGRAMS.on(ints(4, dtype=np.uint8))
def kinds_in_texts(a):
    s = a.sum() if a.dtype.kind in "iu" else a.max()
    return s, s if a.dtype.kind not in "fc" else 0


@PROGRAMS.on(Line(0.5), floats(5), 0)
@PROGRAMS.on(Line(1.5, 2.5), floats(6), 9)
def named_tuples_out(line, a, n):
    point = Point(0.0, n)
    for v in a:
        point = Point(point.x + v, point.y)
        line = line._replace(start=line.start + point.x)
    return line, Point(a * 2, point), HERE, [n]


@PROGRAMS.on(floats(5), 0.5)
@PROGRAMS.on(floats(5), 50.0)
def a_named_tuple_or_none(a, least):
    for k in range(len(a)):
        if a[k] > least:
            return Line(k, a[k])
    return None


def item_of_any(a, i):
    """An element, or the number that the array is."""
    if a.ndim == 0:
        return a.item()
    return a[i]


def _doubled_in_a_type_for_both(a, by):
    is_text = isinstance(a, str)
    if is_text:
        kind = unknown_anywhere(a)  # no path gets here
    else:
        kind = np.promote_types(a.dtype, np.asarray(by).dtype)

    def doubled(a):
        out = np.empty(len(a), kind)
        for i in range(len(a)):
            out[i] = 2 * a[i]
        return out

    if not is_text:
        return doubled(a)
    return doubled


@PROGRAMS.on(floats(5), 3)
@PROGRAMS.on(ints(5), 0.5)
@PROGRAMS.on(ints(5, dtype=np.int32), np.float32(1.5))
@PROGRAMS.on(ints(5), ints(5, seed=1))
@PROGRAMS.on(ints(5), np.array(7))
def numbers_as_arrays(a, by):
    bys = np.asarray(by)
    out = _doubled_in_a_type_for_both(a, by)
    for i in range(len(a)):
        step = item_of_any(bys, i) * a[i]
        if i == 0:
            steps = np.empty(len(a), np.asarray(step).dtype)
        steps[i] = step
    return out, steps, bys


@PROGRAMS.on(floats(3), 2**40)
@PROGRAMS.on(ints(3, dtype=np.int8), True)
def arrays_without_axes(a, n):
    made, wide = np.array(n), np.array(a[1], np.float32)
    wide[()] += 1
    return made, wide, made + 1, np.array(a[0]).max(), wide.sum(), np.array(made), np.array(1j)


@PROGRAMS.on(floats(6))
@PROGRAMS.on(-abs(floats(6)))
@PROGRAMS.on(floats(0))
def flags_that_stand_in_the_program(a):
    is_first, done, count = True, False, 0
    for i in range(len(a)):
        if is_first:
            is_first = False
            best = a[i]
        if not done and a[i] > best:
            done = True
        elif done:
            count += 1
    while not done:
        count += 100
        if count > 350:
            done = True
    was = done
    if len(a) > 3:
        done = False
    if done:
        count += 1000
    return count, was, done, 0 if is_first else 1


@PROGRAMS.on(5)
@PROGRAMS.on(1)
def lists_of_named_tuples(n):
    points = [Point(0.5 * k, k) for k in range(n)]
    points[0] = Point(points[0].x + 2.0, points[-1].y)
    total = 0.0
    for point in points:
        total += point.x * point.y
    last = points.pop()
    points += [last]
    return points, sorted([last, Point(1.0, n)]), last, max(points), total


def _deeper(points, n):
    if n > 0:
        points.append(Point(1.0 / n, n))
        _deeper(points, n - 2)
        _deeper(points, n - 3)


@PROGRAMS.on(6)
def named_tuples_on_a_stack(n):
    points = [Point(9.0, 9)]
    _deeper(points, n)
    return points, points[-1].x


@PROGRAMS.on((Point(1.5, 2), Point(2.5, 4)), 1)
@PROGRAMS.on([Point(1.5, 2.0), Point(2.5, 4.0), Point(0.5, 1.0)], 2)
def named_tuples_picked_at_run_time(points, k):
    nested = ((Point(1, 2), Point(3, 4)), (Point(5, 6), Point(7, 8)))
    return points[k], points[k - 1].y, nested[k - 1][0], nested[k - 1][1].x


def _of_its_class(z):
    kind = type(z)
    return kind(0.5) * z + kind(1)


@PROGRAMS.on(floats(6), 2.0)
@PROGRAMS.on(floats(6, dtype=np.float32), np.float32(2.0))
@PROGRAMS.on(floats(6), 3)
@PROGRAMS.on(ints(6), np.int16(3))
def classes_of_numbers(x, scale):
    inverse = type(scale)(1) / scale
    out = np.zeros(len(x))
    #pragma parallel for
    for i in range(len(x)):
        out[i] = _of_its_class(x[i]) * inverse
    return out, _of_its_class(scale), type(scale) is float, type(x) is np.ndarray
