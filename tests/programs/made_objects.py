"""Objects that a function makes and keeps to itself; nothing is left to Python."""

from dataclasses import dataclass

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)


@dataclass
class Moments:
    n: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def push(self, x):
        self.n += 1
        d = x - self.mean
        self.mean += d / self.n
        self.squares += d * (x - self.mean)

    def variance(self):
        return self.squares / (self.n - 1) if self.n > 1 else 0.0


@PROGRAMS.on(floats(5, 6))
@PROGRAMS.on(floats(3, 1))
@PROGRAMS.on(floats(2, 0))
def moments_of_rows(a):
    out = np.zeros((a.shape[0], 2))
    for i, row in enumerate(a):
        moments = Moments()
        for x in row:
            moments.push(x)
        out[i] = moments.mean, moments.variance()
    return out


class Vector:
    axes = 2

    def __init__(self, x, y):
        self.x, self.y = x, y

    def plus(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def scaled(self, k):
        return Vector(self.x * k, self.y * k)

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    def move(self, by):
        self.x += by.x
        self.y += by.y

    def move_and_give(self, k):
        self.x += 1.0
        return k


@PROGRAMS.on(floats(9), floats(9, seed=1))
@PROGRAMS.on(floats(1), floats(1))
def vectors(xs, ys):
    total = Vector(0.25, xs[0])
    for i in range(len(xs)):
        v = Vector(xs[i], ys[i])
        if v.dot(v) < 2.0:
            total.move(v.scaled(0.5).plus(Vector(1.0, ys[0])))
    same = total
    before = total.x
    given = same.move_and_give(total.x)
    return total.x, total.y, before, given, isinstance(same, Vector), Vector.axes


@dataclass(frozen=True)
class Step:
    row: int
    weight: float = 2.5


class Tree:
    """Sums of beginnings, in lists that keep their lengths."""

    def __init__(self, n):
        self.n = n
        self.sums = [0] * (n + 1)
        self.order = list(range(n))

    def add(self, i, by):
        while i <= self.n:
            self.sums[i] += by
            i += i & -i

    def total(self, i):
        out = 0
        while i > 0:
            out += self.sums[i]
            i -= i & -i
        return out


@PROGRAMS.on(ints(30, lo=0, hi=9), 9)
@PROGRAMS.on(ints(1, lo=0, hi=9), 9)
def inversions(a, n):
    tree = Tree(n)
    out = 0
    weight = 0.0
    for k, x in enumerate(a):
        step = Step(int(x) + 1)
        out += k - tree.total(step.row) + tree.order[int(x)]
        tree.add(step.row, 1)
        weight += step.weight
    return out, weight, tree.n


class Mean:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def push(self, x):
        self.total += x
        self.count += 1

    @property
    def value(self):
        return self.total / self.count


@PROGRAMS.on(np.arange(3.0))
@PROGRAMS.on(np.arange(0.0))
def mean_of_an_object(a):
    """Of nothing the quotient was NaN: the fields are Python's numbers then."""
    mean = Mean()
    for x in a:
        mean.push(x)
    return mean.value


def _total_and_count(a):
    total, count = 0.0, 0
    for x in a:
        total += x
        count += 1
    return total, count


@PROGRAMS.on(np.arange(3.0))
@PROGRAMS.on(np.arange(0.0))
def mean_of_what_a_function_returns(a):
    total, count = _total_and_count(a)
    return total / count


class Arrow:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Arrow(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return self + -other

    def __neg__(self):
        return Arrow(-self.x, -self.y)

    def __mul__(self, k):
        return Arrow(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __truediv__(self, k):
        return self * (1.0 / k)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    @property
    def length(self):
        return np.sqrt(self @ self)

    def unit(self):
        return self / self.length


@PROGRAMS.on(floats(7, 2), floats(5, 2, seed=1))
@PROGRAMS.on(floats(0, 2), floats(5, 2, seed=1))
def lights_by_operators(points, lamps):
    out = np.zeros(len(points))
    for i in range(len(points)):
        here = Arrow(points[i, 0], points[i, 1])
        for k in range(len(lamps)):
            way = 2 * Arrow(lamps[k, 0], lamps[k, 1]) - here * 3
            out[i] += max(0.0, way.unit() @ Arrow(0.0, 1.0)) / (1.0 + way @ way)
    return out


class Both:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Both(self.x + (other if isinstance(other, float) else other.x))


class Other(Both):
    def __radd__(self, other):
        return Both(100.0)


LEFT = Programs()


@LEFT.on(1.5)
def a_method_of_the_right_operand(x):
    """A subclass is asked first."""
    return (Both(x) + Other(2.0)).x, (Both(x) + 2.5).x


@LEFT.on(1.5)  # TypeError
def no_method_for_the_left_operand(x):
    return (x + Both(x)).x
